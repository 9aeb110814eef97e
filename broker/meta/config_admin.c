#include "broker/meta/config_admin.h"

#include "broker/config/dynamic_keys.h"
#include "broker/config/passwords.h"
#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/base/say.h"
#include "zk/zk_configs.h"
#include "zk/zk_paths.h"

#include <errno.h>

static const char *const levels[SAY_LEVELS] = {"TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"};

struct config_admin {
    struct config_admin_opts opts;
};

/* One request on its way. */
struct run {
    struct config_admin *ca;
    struct arena *a;
    bool is_incremental;
    bool is_dry_run;
    /* Of the alteration just now: */
    int32_t version;  /* of the node that it changes */
    bool is_outdated; /* others have written that since it was read */
};

/* How often a change is made anew as others were faster: each time one of them has succeeded. */
enum { ROUNDS_MAX = 100 };

struct config_admin *config_admin_new(const struct config_admin_opts *opts)
{
    struct config_admin *ca = xnew(struct config_admin);

    ca->opts = *opts;
    return ca;
}

struct config_admin *config_admin_free(struct config_admin *ca)
{
    free(ca);
    return NULL;
}

static int refuse(struct config_alteration *c, int16_t error, struct str message)
{
    c->error = error;
    c->message = message;
    return error;
}

/* Kafka's way to tell that a value cannot be taken. */
static int refuse_value(struct run *run, struct config_alteration *c, const char *why)
{
    return refuse(c, INVALID_CONFIG,
                  arena_printf(run->a,
                               "Invalid config value for resource ConfigResource(type=%s, "
                               "name='%.*s'): %s",
                               c->type == RESOURCE_TOPIC ? "TOPIC" : "BROKER", STR_ARG(c->name),
                               why));
}

static int refuse_zk(struct run *run, struct config_alteration *c, const char *what,
                     enum zk_result r)
{
    if (r == ZK_CONTROLLER_MOVED)
        return refuse(c, STALE_CONTROLLER_EPOCH,
                      STR("There is no controller just now, or it has changed meanwhile; try "
                          "again."));
    return refuse(
        c, UNKNOWN_SERVER_ERROR,
        arena_printf(run->a, "The settings cannot be %s ZooKeeper: %s", what, zk_result_name(r)));
}

/* ---- ZooKeeper ---- */

static int read_props(struct run *run, struct config_alteration *c, const char *type,
                      struct str name, struct props *ret)
{
    struct zk_config stored = {.name = name};
    const struct node_config *node = &stored.node;
    enum zk_result r = zk_config_look(run->ca->opts.zk, type, run->a, &stored);

    if (r != ZK_OK)
        return refuse_zk(run, c, "read from", r);
    if (node->count > BROKER_SETTINGS_MAX)
        return refuse(c, INVALID_REQUEST, STR("More settings than one resource can have"));
    for (int32_t i = 0; i < node->count; i++)
        props_set(ret, arena_strz(run->a, node->entries[i].key),
                  arena_strz(run->a, node->entries[i].value));
    run->version = stored.version;
    return 0;
}

static int write_props(struct run *run, struct config_alteration *c, const char *type,
                       struct str name, const struct props *p)
{
    struct node_config node = {arena_new_array(run->a, struct node_config_entry, p->count),
                               (int32_t)p->count};

    for (size_t i = 0; i < p->count; i++)
        node.entries[i] = (struct node_config_entry){str_of(p->v[i].key), str_of(p->v[i].value)};
    enum zk_result r = zk_config_update(run->ca->opts.zk, type, name, &node, run->version);
    run->is_outdated = r == ZK_BAD_VERSION;
    if (run->is_outdated)
        return 0;
    if (r == ZK_OK)
        r = zk_config_notify(run->ca->opts.zk, type, name);
    return r == ZK_OK ? 0 : refuse_zk(run, c, "written to", r);
}

/* ---- what all resources have in common ---- */

static bool has_nul(struct str s)
{
    return s.len > 0 && memchr(s.p, '\0', s.len);
}

static int check_keys(struct config_alteration *c)
{
    for (int32_t i = 0; i < c->edit_count; i++) {
        if (has_nul(c->edits[i].key) || has_nul(c->edits[i].value))
            return refuse(c, INVALID_REQUEST, STR("A key or value holds a NUL character"));
    }
    if (c->edit_count > BROKER_SETTINGS_MAX)
        return refuse(c, INVALID_REQUEST, STR("More settings than one resource can have"));
    return 0;
}

static int check_nulls(struct run *run, struct config_alteration *c)
{
    CLEANUP(strbuf_deinit) struct strbuf message = {0};

    for (int32_t i = 0; i < c->edit_count; i++) {
        const struct config_edit *e = &c->edits[i];

        if (e->op == CONFIG_OP_DELETE || !str_is_null(e->value))
            continue;
        strbuf_addf(&message, "%s%.*s",
                    message.len ? ", " : "Null value not supported for : ", STR_ARG(e->key));
    }
    if (message.len == 0)
        return 0;
    return refuse(c, INVALID_REQUEST, arena_str(run->a, strbuf_str(&message)));
}

static int apply_edits(struct run *run, struct config_alteration *c, struct config_keys keys,
                       struct props *p)
{
    for (int32_t i = 0; i < c->edit_count; i++) {
        struct str message = STR_NULL;
        int16_t r = config_edit_apply(&c->edits[i], keys, p, run->a, &message);

        if (r)
            return refuse(c, r, message);
    }
    return 0;
}

/* ---- topics ---- */

static int check_topic_exists(struct run *run, struct config_alteration *c)
{
    const struct metadata_snapshot *CLEANUP(metadata_put_p) s =
        metadata_get(run->ca->opts.metadata);

    if (!metadata_topic(s, c->name))
        return refuse(c, UNKNOWN_TOPIC_OR_PARTITION,
                      arena_printf(run->a, "The topic '%.*s' does not exist.", STR_ARG(c->name)));
    enum zk_result r = zk_store_exists(run->ca->opts.zk, zk_path_topic(run->a, c->name), NULL);
    if (r == ZK_NO_NODE)
        return refuse(c, UNKNOWN_TOPIC_OR_PARTITION,
                      arena_printf(run->a, "Topic '%.*s' does not exist.", STR_ARG(c->name)));
    return r == ZK_OK ? 0 : refuse_zk(run, c, "read from", r);
}

static int check_topic_values(struct run *run, struct config_alteration *c, const struct props *p)
{
    const struct conf_snapshot *CLEANUP(conf_snapshot_put_p) now =
        live_conf_get(run->ca->opts.live);
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    struct topic_override *list = arena_new_array(run->a, struct topic_override, p->count);

    for (size_t i = 0; i < p->count; i++)
        list[i] = (struct topic_override){str_of(p->v[i].key), str_of(p->v[i].value)};
    int r = topic_conf_check(now->conf, list, p->count, &why);
    if (r == -EINVAL)
        return refuse_value(run, c, why.s);
    return r < 0 ? refuse(c, INVALID_CONFIG, arena_str(run->a, strbuf_str(&why))) : 0;
}

/* A name such as ".." is a node of no topic; Kafka says so only where it reads the node. */
static int check_node(struct run *run, struct config_alteration *c)
{
    struct str fault = zk_path_fault(run->a, ZK_PATH_CONFIG "/topics/", c->name);

    return str_is_null(fault) ? 0 : refuse_value(run, c, fault.p);
}

static void alter_topic(struct run *run, struct config_alteration *c)
{
    CLEANUP(props_deinit) struct props p = {0};
    int r = 0;

    if (c->name.len == 0) {
        refuse(c, INVALID_REQUEST, STR("Default topic resources are not allowed."));
        return;
    }
    if (run->is_incremental)
        r = check_node(run, c);
    if (r == 0 && run->is_incremental)
        r = read_props(run, c, "topics", c->name, &p);
    if (r == 0)
        r = apply_edits(run, c, (struct config_keys){topic_options, topic_option_count}, &p);
    if (r == 0)
        r = check_topic_exists(run, c);
    if (r == 0)
        r = check_topic_values(run, c, &p);
    if (r == 0 && !run->is_dry_run)
        write_props(run, c, "topics", c->name, &p);
}

/* ---- brokers ---- */

static int parse_id(struct run *run, struct config_alteration *c, int32_t *ret)
{
    if (str_to_i32(c->name, INT32_MIN, INT32_MAX, ret) == 0)
        return 0;
    return refuse(
        c, INVALID_REQUEST,
        arena_printf(run->a, "Node id must be an integer, but it is: %.*s", STR_ARG(c->name)));
}

static int check_id(struct run *run, struct config_alteration *c)
{
    int32_t id;
    int r = parse_id(run, c, &id);

    if (r || id == run->ca->opts.broker_id)
        return r;
    return refuse(c, INVALID_REQUEST,
                  arena_printf(run->a, "Unexpected broker id, expected %d, but received %.*s",
                               run->ca->opts.broker_id, STR_ARG(c->name)));
}

static int check_ops(struct run *run, struct config_alteration *c)
{
    for (int32_t i = 0; i < c->edit_count; i++) {
        if (c->edits[i].op < CONFIG_OP_SET || c->edits[i].op > CONFIG_OP_SUBTRACT)
            return refuse(c, INVALID_REQUEST,
                          arena_printf(run->a, "Unknown operations type %d", c->edits[i].op));
    }
    return 0;
}

static int write_broker(struct run *run, struct config_alteration *c, struct str node,
                        struct props *p)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};

    if (passwords_encode(live_conf_file(run->ca->opts.live), p, &why) < 0)
        return refuse_value(run, c, why.s);
    return write_props(run, c, "brokers", node, p);
}

static void alter_broker(struct run *run, struct config_alteration *c)
{
    CLEANUP(props_deinit) struct props p = {0};
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    bool is_own = c->name.len > 0;
    struct str node =
        is_own ? arena_printf(run->a, "%d", run->ca->opts.broker_id) : STR("<default>");
    int r = is_own ? check_id(run, c) : 0;

    if (r == 0)
        r = check_ops(run, c);
    if (r == 0 && run->is_incremental)
        r = read_props(run, c, "brokers", node, &p);
    if (r)
        return;
    passwords_decode(live_conf_file(run->ca->opts.live), &p);
    dynamic_props_clean(&p, is_own);
    if (apply_edits(run, c, (struct config_keys){broker_options, broker_option_count}, &p))
        return;
    if (live_conf_check(run->ca->opts.live, &p, is_own, &why) < 0) {
        refuse(c, INVALID_REQUEST, arena_str(run->a, strbuf_str(&why)));
        return;
    }
    if (run->is_dry_run)
        return;
    /* A file that is named again, as it was before, is read again. */
    if (is_own && live_conf_check_files(run->ca->opts.live, &p, &why) < 0)
        refuse_value(run, c, why.s);
    else
        write_broker(run, c, node, &p);
}

/* ---- loggers ---- */

const char *config_admin_logger(struct arena *a, int logger, const char **ret_level)
{
    struct str name = arena_str(a, str_of(say_logger_name(logger)));

    for (char *c = (char *)(uintptr_t)name.p; *c; c++)
        *c = *c == '/' ? '.' : *c;
    *ret_level = levels[say_logger_level(logger)];
    return name.p;
}

static int find_logger(struct arena *a, struct str name)
{
    const char *level;

    for (int i = 0; i < say_logger_count(); i++) {
        if (str_eqz(name, config_admin_logger(a, i, &level)))
            return i;
    }
    return -1;
}

static int find_level(struct str name)
{
    for (int i = 0; i < SAY_LEVELS; i++) {
        if (str_eqz(name, levels[i]))
            return i;
    }
    return -1;
}

static int check_logger(struct run *run, struct config_alteration *c, const struct config_edit *e)
{
    if (e->op < CONFIG_OP_SET || e->op > CONFIG_OP_SUBTRACT)
        return refuse(c, UNKNOWN_SERVER_ERROR, STR_NULL);
    if (e->op >= CONFIG_OP_APPEND)
        return refuse(c, INVALID_REQUEST,
                      arena_printf(run->a,
                                   "%s operation is not allowed for the BROKER_LOGGER resource",
                                   e->op == CONFIG_OP_APPEND ? "APPEND" : "SUBTRACT"));
    if (find_logger(run->a, e->key) < 0)
        return refuse(c, INVALID_CONFIG,
                      arena_printf(run->a, "Logger %.*s does not exist!", STR_ARG(e->key)));
    if (e->op == CONFIG_OP_DELETE && !str_eqz(e->key, "root"))
        return 0;
    if (e->op == CONFIG_OP_DELETE)
        return refuse(c, INVALID_REQUEST,
                      STR("Removing the log level of the root logger is not allowed"));
    if (find_level(e->value) < 0)
        return refuse(c, INVALID_CONFIG,
                      arena_printf(run->a,
                                   "Cannot set the log level of %.*s to %.*s as it is not a "
                                   "supported log level. Valid log levels are DEBUG, ERROR, FATAL, "
                                   "INFO, TRACE, WARN",
                                   STR_ARG(e->key), STR_ARG(e->value)));
    return 0;
}

static void set_logger(struct run *run, const struct config_edit *e)
{
    int logger = find_logger(run->a, e->key);

    if (e->op == CONFIG_OP_DELETE)
        say_logger_unset(logger);
    else
        say_logger_set(logger, (enum say_level)find_level(e->value));
}

static void alter_logger(struct run *run, struct config_alteration *c)
{
    int32_t id, mine = run->ca->opts.broker_id;
    int r = parse_id(run, c, &id);

    /* Kafka tells the wrong number here, too. */
    if (r == 0 && id != mine)
        r = refuse(
            c, INVALID_REQUEST,
            arena_printf(run->a, "Unexpected node id. Expected %d, but received %d", mine, mine));
    for (int32_t i = 0; r == 0 && i < c->edit_count; i++)
        r = check_logger(run, c, &c->edits[i]);
    for (int32_t i = 0; r == 0 && i < c->edit_count && !run->is_dry_run; i++)
        set_logger(run, &c->edits[i]);
}

/* ---- one after the other ---- */

static void alter_now(struct run *run, struct config_alteration *c)
{
    run->is_outdated = false;
    run->version = ZK_ANY_VERSION; /* what is not incremental replaces whatever there is */
    if (c->type == RESOURCE_TOPIC)
        alter_topic(run, c);
    else if (c->type == RESOURCE_BROKER)
        alter_broker(run, c);
    else if (c->type == RESOURCE_BROKER_LOGGER && run->is_incremental)
        alter_logger(run, c);
    else if (c->type == RESOURCE_CLIENT_METRICS)
        refuse(c, INVALID_REQUEST,
               STR("AlterConfigs is only supported for topics and brokers, but resource type is "
                   "CLIENT_METRICS"));
    else
        refuse(c, INVALID_REQUEST, arena_printf(run->a, "Unknown resource type %d", c->type));
}

static void alter_one(struct run *run, struct config_alteration *c)
{
    if (c->error || check_keys(c) || check_nulls(run, c))
        return;
    for (int round = 0; round < ROUNDS_MAX; round++) {
        alter_now(run, c);
        if (!run->is_outdated)
            return;
    }
    refuse(c, UNKNOWN_SERVER_ERROR,
           STR("Others change these settings all the time; nothing was changed, try again."));
}

void config_admin_alter(struct config_admin *ca, struct arena *a, const struct config_request *req)
{
    struct run run = {
        .ca = ca, .a = a, .is_incremental = req->is_incremental, .is_dry_run = req->is_dry_run};

    for (size_t i = 0; i < req->count; i++)
        alter_one(&run, &req->list[i]);
}
