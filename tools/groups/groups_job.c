#include "tools/groups/groups_job.h"

#include "common/base/err.h"
#include "common/base/mem.h"

enum { BATCH_GROUPS_MAX = 200 };

/* ---- failures in words ---- */

bool groups_as_kafka(const struct groups *g)
{
    return g->output == GROUPS_KAFKA;
}

struct str groups_trouble(struct groups *g, int16_t code, struct str message)
{
    CLEANUP(strbuf_deinit) struct strbuf sb = {0};

    if (groups_as_kafka(g)) {
        strbuf_addz(&sb, "org.apache.kafka.common.errors.");
        cluster_exception(code, &sb);
        strbuf_addz(&sb, ": ");
    }
    strbuf_add_str(&sb, cluster_error_text(code, message));
    return arena_str(&g->arena, strbuf_str(&sb));
}

int groups_say(struct groups *g, int error, struct str trouble)
{
    if (groups_as_kafka(g) && g->is_wrapped)
        strbuf_addz(&g->why, "java.util.concurrent.ExecutionException: ");
    strbuf_add_str(&g->why, trouble);
    return error;
}

static const char *exception_of(int r)
{
    if (r == -EPROTONOSUPPORT)
        return "org.apache.kafka.common.errors.UnsupportedVersionException: ";
    return cluster_is_lost(r) ? "org.apache.kafka.common.errors.TimeoutException: "
                              : "org.apache.kafka.common.KafkaException: ";
}

int groups_ask(struct groups *g, const struct cluster_call *call, const void **ret,
               struct str *ret_trouble)
{
    CLEANUP(strbuf_deinit) struct strbuf text = {0}, all = {0};
    int r = cluster_call(g->cluster, call, &g->arena, ret, &text);

    if (r < 0) {
        strbuf_addf(&all, "%s%s", groups_as_kafka(g) ? exception_of(r) : "",
                    text.len ? text.s : "");
        *ret_trouble = arena_str(&g->arena, strbuf_str(&all));
    }
    return r;
}

void group_fail(struct group *group, int error, struct str trouble)
{
    group->error = error;
    group->trouble = trouble;
    group->is_pending = false;
}

/* What a coordinator answered for a group. */
void group_settle(struct groups *g, struct group *group, int16_t code)
{
    group->error = code;
    switch (code) {
    case NOT_COORDINATOR:
    case COORDINATOR_NOT_AVAILABLE:
        group->coordinator = -1;
        return;
    case COORDINATOR_LOAD_IN_PROGRESS:
    case REBALANCE_IN_PROGRESS:
    case REQUEST_TIMED_OUT: /* its followers are slow, or one has just died */
        return;
    default:
        group_fail(group, code, code ? groups_trouble(g, code, STR_NULL) : STR_NULL);
    }
}

/* ---- finding coordinators ---- */

static int by_id(const void *a, const void *b)
{
    return str_cmp(((const struct group *)a)->id, ((const struct group *)b)->id);
}

size_t groups_sort(struct group *v, size_t n)
{
    size_t kept = 0;

    if (n)
        qsort(v, n, sizeof *v, by_id);
    for (size_t i = 0; i < n; i++) {
        if (kept == 0 || by_id(&v[kept - 1], &v[i]) != 0)
            v[kept++] = v[i];
    }
    return kept;
}

static struct group *find_group(struct group *v, size_t n, struct str id)
{
    const struct group key = {.id = id};

    return n ? bsearch(&key, v, n, sizeof key, by_id) : NULL;
}

static void take_coordinator(struct groups *g, struct group *group,
                             const struct find_coordinator_response_coordinator *c)
{
    if (c->error_code == 0) {
        group->coordinator = c->node_id;
        group->host = c->host;
        group->port = c->port;
    } else {
        group_settle(g, group, c->error_code);
    }
}

/* v is sorted. */
static int find_coordinators(struct groups *g, struct group *v, size_t n, const char *job,
                             struct str *ret_trouble)
{
    struct find_coordinator_request req;
    struct str name = arena_printf(&g->arena, "%s(api=FIND_COORDINATOR)", job);
    const struct cluster_call call = {name.p, SEED_ANY, API_FIND_COORDINATOR, 6, &req, false};
    const struct find_coordinator_response *resp;
    const void *response;

    msg_init(&find_coordinator_request_desc, &req);
    req.coordinator_keys = arena_new_array(&g->arena, struct str, n + 1);
    req.coordinator_keys_count = 0;
    for (size_t i = 0; i < n; i++) {
        if (v[i].is_pending && v[i].coordinator < 0)
            req.coordinator_keys[req.coordinator_keys_count++] = v[i].id;
    }
    if (req.coordinator_keys_count == 0)
        return 0;
    int r = groups_ask(g, &call, &response, ret_trouble);
    if (r < 0)
        return r;
    resp = response;
    for (int32_t i = 0; i < resp->coordinators_count; i++) {
        struct group *group = find_group(v, n, resp->coordinators[i].key);
        if (group)
            take_coordinator(g, group, &resp->coordinators[i]);
    }
    return 0;
}

/* ---- jobs ---- */

/* The next pending groups of one coordinator, from v[*at] on, which are marked in seen. */
static bool next_batch(struct group *v, size_t n, bool *seen, struct batch *b)
{
    b->count = 0;
    for (size_t i = 0; i < n && b->count < BATCH_GROUPS_MAX; i++) {
        if (seen[i] || !v[i].is_pending || v[i].coordinator < 0)
            continue;
        if (b->count && v[i].coordinator != b->to)
            continue;
        b->to = v[i].coordinator;
        b->v[b->count++] = &v[i];
        seen[i] = true;
    }
    return b->count > 0;
}

/* One round: every coordinator that is known is asked once. */
static void ask_coordinators(struct groups *g, struct group *v, size_t n, const struct job *job)
{
    bool *seen = arena_new_array(&g->arena, bool, n + 1);
    struct batch b = {.job = job, .v = arena_new_array(&g->arena, struct group *, n + 1)};

    while (next_batch(v, n, seen, &b)) {
        struct str trouble = STR_NULL;
        int r = job->send(g, &b, &trouble);
        for (size_t i = 0; r < 0 && i < b.count; i++) {
            b.v[i]->coordinator = -1;
            b.v[i]->error = r;
            b.v[i]->trouble = trouble;
            if (!cluster_is_lost(r))
                group_fail(b.v[i], r, trouble);
        }
    }
}

static bool is_anything_pending(const struct group *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (v[i].is_pending)
            return true;
    }
    return false;
}

static void fail_pending(struct groups *g, struct group *v, size_t n, int r, struct str trouble)
{
    for (size_t i = 0; i < n; i++) {
        if (!v[i].is_pending)
            continue;
        if (v[i].error > 0) /* what it was told again and again */
            group_fail(&v[i], v[i].error, groups_trouble(g, (int16_t)v[i].error, STR_NULL));
        else
            group_fail(&v[i], r, v[i].trouble.len ? v[i].trouble : trouble);
    }
}

static void start_job(struct groups *g, struct group *v, size_t n)
{
    cluster_start(g->cluster);
    for (size_t i = 0; i < n; i++) {
        v[i].is_pending = true;
        v[i].error = 0;
        v[i].trouble = STR_NULL;
    }
}

void job_run(struct groups *g, struct group *v, size_t n, const struct job *job)
{
    start_job(g, v, n);
    for (;;) {
        struct str trouble = STR_NULL;
        int r = find_coordinators(g, v, n, job->name, &trouble);
        if (r < 0) {
            fail_pending(g, v, n, r, trouble);
            return;
        }
        ask_coordinators(g, v, n, job);
        if (!is_anything_pending(v, n))
            return;
        if (!cluster_wait(g->cluster)) {
            fail_pending(g, v, n, -ETIMEDOUT, STR("the coordinator does not answer"));
            return;
        }
    }
}

int groups_first_error(struct groups *g, const struct group *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (v[i].error)
            return groups_say(g, v[i].error, v[i].trouble);
    }
    return 0;
}

struct group *batch_find(const struct batch *b, struct str id)
{
    size_t from = 0, to = b->count;

    while (from < to) {
        size_t mid = from + (to - from) / 2;
        int r = str_cmp(b->v[mid]->id, id);
        if (r == 0)
            return b->v[mid];
        if (r < 0)
            from = mid + 1;
        else
            to = mid;
    }
    return NULL;
}

struct str *batch_ids(struct groups *g, const struct batch *b)
{
    struct str *ids = arena_new_array(&g->arena, struct str, b->count + 1);

    for (size_t i = 0; i < b->count; i++)
        ids[i] = b->v[i]->id;
    return ids;
}
