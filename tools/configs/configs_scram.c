/*
 * configs_scram.c - SCRAM credentials of users, by way of the brokers
 *
 * Salt and salted password are made here: the password itself never leaves this machine.
 */
#include "tools/configs/configs_scram.h"

#include "common/base/err.h"
#include "common/base/mem.h"
#include "tools/configs/configs.h"

/* ---- changing ---- */

/* One without a password is not sent: 1. */
static int add_upsertion(struct configs *c, enum scram_mechanism m, const char *text,
                         struct alter_user_scram_credentials_request *req)
{
    struct scram_given given;
    uint8_t *room = arena_alloc(&c->arena, SCRAM_SALT + SCRAM_KEY_MAX);
    int r = scram_parse(m, text, false, &given, &c->why);

    if (r < 0 || given.password.len == 0)
        return r < 0 ? r : 1;
    scram_salt(room);
    scram_salted_password(m, given.password, slice_of(room, SCRAM_SALT), given.iterations,
                          room + SCRAM_SALT);
    req->upsertions[req->upsertions_count++] =
        (struct alter_user_scram_credentials_request_upsertion){
            .name = str_of(c->names.v[0]),
            .mechanism = (int8_t)m,
            .iterations = given.iterations,
            .salt = slice_of(room, SCRAM_SALT),
            .salted_password = slice_of(room + SCRAM_SALT, scram_key_size(m)),
        };
    return 0;
}

static int fill(struct configs *c, struct alter_user_scram_credentials_request *req,
                bool *ret_is_empty)
{
    int r = 0;

    *ret_is_empty = false;

    msg_init(&alter_user_scram_credentials_request_desc, req);
    req->deletions = arena_new_array(
        &c->arena, struct alter_user_scram_credentials_request_deletion, c->drop.count + 1);
    req->upsertions = arena_new_array(
        &c->arena, struct alter_user_scram_credentials_request_upsertion, c->add.count + 1);
    for (size_t i = 0; i < c->drop.count; i++)
        req->deletions[req->deletions_count++] =
            (struct alter_user_scram_credentials_request_deletion){
                str_of(c->names.v[0]), (int8_t)scram_mechanism(str_of(c->drop.v[i]))};
    for (size_t i = 0; i < c->add.count && r >= 0; i++) {
        r = add_upsertion(c, (enum scram_mechanism)scram_mechanism(str_of(c->add.v[i].key)),
                          c->add.v[i].value, req);
        *ret_is_empty = *ret_is_empty || r > 0;
    }
    return MIN(r, 0);
}

static int send(struct configs *c, const struct alter_user_scram_credentials_request *req)
{
    const struct cluster_call call = {"alterUserScramCredentials", SEED_CONTROLLER,
                                      API_ALTER_USER_SCRAM_CREDENTIALS, 0, req};
    const struct alter_user_scram_credentials_response_result *bad;
    const void *got;

    cluster_start(c->cluster);
    do {
        int r = cluster_call(c->cluster, &call, &c->arena, &got, &c->why);
        if (r < 0)
            return configs_lost(c, r, "ALTER_USER_SCRAM_CREDENTIALS");
        const struct alter_user_scram_credentials_response *response = got;
        bad = NULL;
        for (int32_t i = 0; i < response->results_count && !bad; i++) {
            if (response->results[i].error_code)
                bad = &response->results[i];
        }
    } while (bad && cluster_again(c->cluster, bad->error_code));
    return bad ? configs_refused(c, bad->error_code, bad->error_message) : 0;
}

static void say_changed(struct configs *c)
{
    struct config_change *changes =
        arena_new_array(&c->arena, struct config_change, c->add.count + c->drop.count + 1);
    size_t n = 0;

    for (size_t i = 0; i < c->add.count; i++)
        changes[n++] = (struct config_change){c->add.v[i].key, STR("(hidden)"), STR("(hidden)")};
    for (size_t i = 0; i < c->drop.count; i++)
        changes[n++] = (struct config_change){c->drop.v[i], STR("(hidden)"), STR_NULL};
    configs_print_changes(
        c, arena_strz(&c->arena, arena_printf(&c->arena, "user %s", c->names.v[0])), changes, n);
}

int configs_alter_scram(struct configs *c)
{
    struct alter_user_scram_credentials_request req;

    if (c->names.count != 1)
        return configs_throw(c, "java.lang.IllegalStateException",
                             "Altering user SCRAM credentials should never occur for more zero or "
                             "multiple users: List(%s, %s)",
                             c->names.v[0], c->names.v[1]);
    bool is_empty;
    int r = fill(c, &req, &is_empty);
    if (r == 0 && c->add.count + c->drop.count && !c->is_dry)
        r = send(c, &req);
    if (r == 0 && is_empty)
        r = configs_refused(c, UNACCEPTABLE_CREDENTIAL, STR("Password must not be empty"));
    if (r == 0 && !c->as_kafka)
        say_changed(c);
    return r;
}

/* ---- describing ---- */

/* Rows of the table that has the quotas. */
static void table_user(struct table *t,
                       const struct describe_user_scram_credentials_response_result *user)
{
    for (int32_t i = 0; i < user->credential_infos_count; i++) {
        const char *name = scram_name(user->credential_infos[i].mechanism);

        table_cell(t, "user-principal '%.*s'", STR_ARG(user->user));
        table_cell(t, "%s", name ? name : "unknown");
        table_cell(t, "iterations=%d", user->credential_infos[i].iterations);
    }
}

static void print_failure(const struct describe_user_scram_credentials_response_result *user)
{
    CLEANUP(strbuf_deinit) struct strbuf exception = {0};

    cluster_exception(user->error_code, &exception);
    printf("Error retrieving SCRAM credential configs for user-principal '%.*s': "
           "ExecutionException: org.apache.kafka.common.errors.%s: %.*s\n",
           STR_ARG(user->user), exception.s,
           STR_ARG(cluster_error_text(user->error_code, user->error_message)));
}

static void print_users(const struct configs *c,
                        const struct describe_user_scram_credentials_response *response,
                        struct table *t)
{
    for (int32_t i = 0; i < response->results_count; i++) {
        const struct describe_user_scram_credentials_response_result *user = &response->results[i];

        if (user->error_code == RESOURCE_NOT_FOUND)
            continue;
        if (user->error_code)
            print_failure(user);
        else if (c->as_kafka)
            configs_print_scram(user->user, user->credential_infos, user->credential_infos_count,
                                stdout);
        else
            table_user(t, user);
    }
}

int configs_describe_scram(struct configs *c, struct table *t)
{
    struct describe_user_scram_credentials_request m;
    const struct cluster_call call = {"describeUserScramCredentials", SEED_ANY,
                                      API_DESCRIBE_USER_SCRAM_CREDENTIALS, 0, &m};
    const struct describe_user_scram_credentials_response *response;
    const void *got;

    msg_init(&describe_user_scram_credentials_request_desc, &m);
    m.users_count = c->names.count ? (int32_t)c->names.count : -1;
    m.users = arena_new_array(&c->arena, struct describe_user_scram_credentials_request_user,
                              c->names.count + 1);
    for (size_t i = 0; i < c->names.count; i++)
        m.users[i].name = str_of(c->names.v[i]);
    cluster_start(c->cluster);
    do {
        int r = cluster_call(c->cluster, &call, &c->arena, &got, &c->why);
        if (r == -EPROTONOSUPPORT && !c->as_kafka) {
            strbuf_reset(&c->why);
            return 0; /* brokers without SCRAM: there is nothing to show */
        }
        if (r < 0)
            return configs_lost(c, r, "DESCRIBE_USER_SCRAM_CREDENTIALS");
        response = got;
    } while (response->error_code && cluster_again(c->cluster, response->error_code));
    if (response->error_code)
        return configs_refused(c, response->error_code, response->error_message);
    print_users(c, response, t);
    return 0;
}
