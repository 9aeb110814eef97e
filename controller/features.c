#include "controller/features.h"

#include "zk/zk_cluster.h"

/* What the node should say, given what it says. */
static struct node_features wanted(const struct controller *c, const struct node_features *now)
{
    struct node_features f = {
        .version = c->opts.ibp >= IBP_3_3_IV0 ? 2 : 1,
        .enabled = c->opts.ibp >= IBP_2_7_IV0,
    };

    if (f.enabled && now && now->enabled) {
        f.list = now->list;
        f.count = now->count;
    }
    return f;
}

/* The same but for the list: that is either kept or emptied. */
static bool is_same(const struct node_features *a, const struct node_features *b)
{
    return a->version == b->version && a->enabled == b->enabled && a->count == b->count;
}

enum zk_result features_set_up(struct controller *c)
{
    struct node_features now;
    int32_t epoch;

    arena_reset(&c->finalized_arena);
    c->finalized = (struct node_features){0};
    enum zk_result r = zk_features_read(c->store, &c->finalized_arena, &epoch, &now);
    if (r == ZK_MALFORMED) {
        say_error("controller: /feature cannot be read; Kafka brokers do not start like that. Its "
                  "content should be {\"features\":{},\"version\":%d,\"status\":%d}",
                  c->opts.ibp >= IBP_3_3_IV0 ? 2 : 1, c->opts.ibp >= IBP_2_7_IV0);
        return ZK_OK;
    }
    if (r != ZK_OK && r != ZK_NO_NODE)
        return r;
    bool is_absent = r == ZK_NO_NODE;
    struct node_features f = wanted(c, is_absent ? NULL : &now);
    if (is_absent)
        r = zk_features_create(c->store, &f);
    else if (!is_same(&f, &now))
        r = zk_features_set(c->store, &f, &epoch);
    else
        r = ZK_OK;
    if (r == ZK_NODE_EXISTS) /* our own create, whose answer was lost */
        r = ZK_OK;
    if (r == ZK_OK && f.enabled)
        c->finalized = f;
    return r;
}

/* ---- UpdateFeatures ---- */

enum upgrade { UPGRADE_UNKNOWN, UPGRADE_UP, UPGRADE_SAFE_DOWN, UPGRADE_UNSAFE_DOWN };

typedef struct update_features_request_feature_update feature_update;

static enum upgrade upgrade_of(const struct controller_call *call, const feature_update *u)
{
    if (call->version == 0)
        return u->allow_downgrade ? UPGRADE_SAFE_DOWN : UPGRADE_UP;
    return u->upgrade_type >= UPGRADE_UP && u->upgrade_type <= UPGRADE_UNSAFE_DOWN
               ? (enum upgrade)u->upgrade_type
               : UPGRADE_UNKNOWN;
}

/* Its place among the finalized ones, -1: it is not. */
static int32_t finalized_at(const struct controller *c, struct str feature)
{
    for (int32_t i = 0; i < c->finalized.count; i++)
        if (str_eq(c->finalized.list[i].name, feature))
            return i;
    return -1;
}

/* In Kafka's order and words; *ret_why null where the feature may be taken away. */
static void judge(const struct controller *c, const struct controller_call *call,
                  const feature_update *u, struct str *ret_why)
{
    enum upgrade kind = upgrade_of(call, u);
    int32_t at = finalized_at(c, u->feature);
    int level = u->max_version_level, now = at < 0 ? 0 : c->finalized.list[at].max_version;

    if (u->feature.len == 0)
        *ret_why = STR("Feature name can not be empty.");
    else if (kind == UPGRADE_UNKNOWN)
        *ret_why = STR("Received unknown upgrade type.");
    else if (level < 1 && kind != UPGRADE_UP)
        *ret_why = at < 0 ? STR("Can not delete non-existing finalized feature.") : STR_NULL;
    else if (level < 1)
        *ret_why = arena_printf(call->arena,
                                "Can not provide versionLevel: %d less than 1 without setting the "
                                "SAFE downgradeType in the request.",
                                level);
    else if (at >= 0 && level == now)
        *ret_why = arena_printf(call->arena,
                                "Can not %s a finalized feature from existing versionLevel:%d to "
                                "the same value.",
                                kind == UPGRADE_SAFE_DOWN ? "downgrade" : "upgrade", now);
    else if (at >= 0 && level < now && kind != UPGRADE_SAFE_DOWN)
        *ret_why = arena_printf(call->arena,
                                "Can not downgrade finalized feature from existing versionLevel:%d "
                                "to provided versionLevel:%d without setting the downgradeType in "
                                "the request.",
                                now, level);
    else if (at >= 0 && level > now && kind != UPGRADE_UP)
        *ret_why = arena_printf(call->arena,
                                "When the downgradeType is set in the request, provided "
                                "versionLevel:%d can not be greater than existing versionLevel:%d.",
                                level, now);
    else
        *ret_why = STR("Could not apply finalized feature update because the provided feature is "
                       "not supported.");
}

/* By name, and those of a name as they stand in the request. */
static int by_name(const void *a, const void *b)
{
    const feature_update *const *x = a, *const *y = b;
    int order = str_cmp((*x)->feature, (*y)->feature);

    return order ? order : (*x > *y) - (*x < *y);
}

static const feature_update **sorted(struct arena *a, const struct update_features_request *req)
{
    size_t n = (size_t)req->feature_updates_count;
    const feature_update **v = arena_new_array(a, const feature_update *, n);

    for (size_t i = 0; i < n; i++)
        v[i] = &req->feature_updates[i];
    if (n)
        qsort(v, n, sizeof *v, by_name);
    return v;
}

static enum zk_result write_without(struct controller *c, struct update_features_response *resp)
{
    struct node_features f = c->finalized;
    int32_t epoch;

    f.count = 0;
    for (int32_t i = 0; i < c->finalized.count; i++) {
        bool goes = false;
        for (int32_t k = 0; k < resp->results_count && !goes; k++)
            goes = !resp->results[k].error_code &&
                   str_eq(resp->results[k].feature, c->finalized.list[i].name);
        if (!goes)
            f.list[f.count++] = c->finalized.list[i];
    }
    if (f.count == c->finalized.count)
        return ZK_OK;
    enum zk_result r = zk_features_set(c->store, &f, &epoch);
    c->finalized.count = f.count;
    for (int32_t k = 0; r != ZK_OK && k < resp->results_count; k++) {
        if (resp->results[k].error_code)
            continue;
        resp->results[k].error_code = FEATURE_UPDATE_FAILED;
        resp->results[k].error_message =
            STR("Unable to update finalized features due to an unexpected server error.");
    }
    return r;
}

/* Of several updates of one feature the first one counts. */
enum zk_result features_update(struct controller *c, struct controller_call *call)
{
    const struct update_features_request *req = call->request;
    struct update_features_response *resp = arena_zalloc(call->arena, sizeof *resp);
    const feature_update **v = sorted(call->arena, req);
    int32_t n = req->feature_updates_count;

    call->response = resp;
    resp->error_message = STR_NULL;
    resp->results = arena_new_array(call->arena, struct update_features_response_result, (size_t)n);
    for (int32_t i = 0; i < n; i++) {
        struct update_features_response_result *res = &resp->results[resp->results_count];

        if (i > 0 && str_eq(v[i]->feature, v[i - 1]->feature))
            continue;
        res->feature = v[i]->feature;
        judge(c, call, v[i], &res->error_message);
        res->error_code = str_is_null(res->error_message) ? NONE : INVALID_REQUEST;
        resp->results_count++;
    }
    return write_without(c, resp);
}
