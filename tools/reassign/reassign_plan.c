/*
 * reassign_plan.c - plans as JSON: {"version":1,"partitions":[{"topic":"t","partition":0,
 * "replicas":[1,2],"log_dirs":["any","/data/a"]}]} and {"version":1,"topics":[{"topic":"t"}]}
 */
#include "common/base/err.h"
#include "common/base/mem.h"
#include "tools/reassign/reassign.h"

#include <inttypes.h>
#include <jansson.h>

static void json_put(json_t **j)
{
    json_decref(*j);
}

static int refuse(struct strbuf *why, const char *text)
{
    strbuf_addz(why, text);
    return -EINVAL;
}

/* The object with a version that we know. */
static int parse_root(struct str text, json_t **ret, struct strbuf *why)
{
    CLEANUP(json_put) json_t *root = json_loadb(text.p, text.len, 0, NULL);
    const json_t *version = json_object_get(root, "version");

    if (!json_is_object(root))
        return refuse(why, "The input string is not a valid JSON");
    if (version && !json_is_integer(version))
        return refuse(why, "The version field is no number");
    if (version && json_integer_value(version) != 1) {
        strbuf_addf(why, "Not supported version field value %" PRId64,
                    (int64_t)json_integer_value(version));
        return -EINVAL;
    }
    *ret = TAKE(root);
    return 0;
}

static bool to_i32(const json_t *j, int32_t *ret)
{
    if (!json_is_integer(j) || json_integer_value(j) < INT32_MIN ||
        json_integer_value(j) > INT32_MAX)
        return false;
    *ret = (int32_t)json_integer_value(j);
    return true;
}

static struct str text_of(const json_t *j, struct arena *a)
{
    return arena_str(a, (struct str){json_string_value(j), json_string_length(j)});
}

static int wrong_field(struct strbuf *why, const char *field)
{
    strbuf_addf(why, "The field \"%s\" of a partition is missing, or of the wrong kind", field);
    return -EINVAL;
}

static int parse_replicas(const json_t *list, struct arena *a, struct replica_ids *ret,
                          struct strbuf *why)
{
    if (!json_is_array(list))
        return wrong_field(why, "replicas");
    ret->v = arena_new_array(a, int32_t, json_array_size(list) + 1);
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (!to_i32(json_array_get(list, i), &ret->v[ret->count++]))
            return wrong_field(why, "replicas");
    }
    return 0;
}

static int wrong_size(const struct plan_entry *e, const json_t *dirs, struct strbuf *why)
{
    strbuf_addz(why, "Size of replicas list [");
    replica_ids_print(&e->replicas, ", ", why);
    strbuf_addz(why, "] is different from size of log dirs list [");
    for (size_t i = 0; i < json_array_size(dirs); i++)
        strbuf_addf(why, "%s%s", i ? ", " : "", json_string_value(json_array_get(dirs, i)));
    strbuf_addf(why, "] for partition %.*s-%d", STR_ARG(e->topic), e->partition);
    return -EINVAL;
}

static int parse_dirs(const json_t *dirs, struct arena *a, struct plan_entry *e, struct strbuf *why)
{
    bool all_any = true;

    if (!dirs)
        return 0;
    if (!json_is_array(dirs))
        return wrong_field(why, "log_dirs");
    e->dirs = arena_new_array(a, struct str, json_array_size(dirs) + 1);
    for (size_t i = 0; i < json_array_size(dirs); i++) {
        const json_t *dir = json_array_get(dirs, i);
        if (!json_is_string(dir))
            return wrong_field(why, "log_dirs");
        e->dirs[i] = text_of(dir, a);
        all_any &= str_eqz(e->dirs[i], REASSIGN_ANY_DIR);
    }
    if (json_array_size(dirs) != (size_t)e->replicas.count)
        return wrong_size(e, dirs, why);
    if (all_any)
        e->dirs = NULL;
    return 0;
}

static int parse_entry(const json_t *j, struct arena *a, struct plan_entry *e, struct strbuf *why)
{
    const json_t *topic = json_object_get(j, "topic");

    if (!json_is_string(topic))
        return wrong_field(why, "topic");
    e->topic = text_of(topic, a);
    if (!to_i32(json_object_get(j, "partition"), &e->partition))
        return wrong_field(why, "partition");
    int r = parse_replicas(json_object_get(j, "replicas"), a, &e->replicas, why);
    return r < 0 ? r : parse_dirs(json_object_get(j, "log_dirs"), a, e, why);
}

int plan_parse(struct str json, struct arena *a, struct plan *ret, struct strbuf *why)
{
    CLEANUP(json_put) json_t *root = NULL;
    int r = parse_root(json, &root, why);

    if (r < 0)
        return r;
    const json_t *list = json_object_get(root, "partitions");
    ret->v = arena_new_array(a, struct plan_entry, json_array_size(list) + 1);
    ret->count = 0;
    for (size_t i = 0; r == 0 && i < json_array_size(list); i++)
        r = parse_entry(json_array_get(list, i), a, &ret->v[ret->count++], why);
    return r;
}

/* ---- checks ---- */

int plan_order(struct str topic, int32_t partition, struct str other, int32_t other_partition)
{
    size_t n = MIN(topic.len, other.len);
    int order = n ? memcmp(topic.p, other.p, n) : 0; /* as Java's strings, not shorter first */

    if (!order && topic.len != other.len)
        order = topic.len < other.len ? -1 : 1;
    return order ? order : (partition > other_partition) - (partition < other_partition);
}

static int by_partition(const void *a, const void *b)
{
    const struct plan_entry *x = a, *y = b;

    return plan_order(x->topic, x->partition, y->topic, y->partition);
}

/* Kafka's tool names the doubles in no order; here in that of the plan. */
static int check_doubles(const struct plan *p, struct strbuf *why)
{
    CLEANUP(strbuf_deinit) struct strbuf twice = {0};
    struct plan_entry *CLEANUP(free_p) sorted = xnew_array(struct plan_entry, p->count + 1);

    memcpy(sorted, p->v, p->count * sizeof *sorted);
    qsort(sorted, p->count, sizeof *sorted, by_partition);
    for (size_t i = 1; i < p->count; i++) {
        bool is_new = i == 1 || by_partition(&sorted[i - 2], &sorted[i - 1]) != 0;
        if (by_partition(&sorted[i - 1], &sorted[i]) == 0 && is_new)
            strbuf_addf(&twice, "%s%.*s-%d", twice.len ? "," : "", STR_ARG(sorted[i].topic),
                        sorted[i].partition);
    }
    if (twice.len == 0)
        return 0;
    strbuf_addf(why, "Partition reassignment contains duplicate topic partitions: %s", twice.s);
    return -EINVAL;
}

static void add_repeated(const struct plan_entry *e, struct strbuf *out)
{
    CLEANUP(strbuf_deinit) struct strbuf ids = {0};

    for (int32_t i = 0; i < e->replicas.count; i++) {
        const struct replica_ids before = {e->replicas.v, i};
        int seen = 0;
        for (int32_t j = 0; j < i; j++)
            seen += e->replicas.v[j] == e->replicas.v[i];
        if (seen == 1 && replica_ids_has(&before, e->replicas.v[i]))
            strbuf_addf(&ids, "%s%d", ids.len ? "," : "", e->replicas.v[i]);
    }
    if (ids.len)
        strbuf_addf(out, "%s%.*s-%d contains multiple entries for %s", out->len ? ". " : "",
                    STR_ARG(e->topic), e->partition, ids.s);
}

int plan_check(const struct plan *p, struct strbuf *why)
{
    CLEANUP(strbuf_deinit) struct strbuf repeated = {0};

    if (p->count == 0)
        return refuse(why, "Partition reassignment list cannot be empty");
    for (size_t i = 0; i < p->count; i++) {
        if (p->v[i].replicas.count == 0)
            return refuse(why, "Partition replica list cannot be empty");
    }
    int r = check_doubles(p, why);
    for (size_t i = 0; i < p->count; i++)
        add_repeated(&p->v[i], &repeated);
    if (r < 0 || repeated.len == 0)
        return r;
    strbuf_addf(why, "Partition replica lists may not contain duplicate entries: %s", repeated.s);
    return -EINVAL;
}

/* Those that are equal keep their order, so that the last one is the last. */
static void sort_stably(struct plan_entry *v, size_t count)
{
    struct plan_entry *CLEANUP(free_p) room = xnew_array(struct plan_entry, count + 1);

    for (size_t width = 1; width < count; width *= 2) {
        for (size_t at = 0; at < count; at += 2 * width) {
            size_t a = at, mid = MIN(at + width, count), b = mid, end = MIN(at + 2 * width, count);
            for (size_t i = at; i < end; i++)
                room[i] =
                    b == end || (a < mid && by_partition(&v[a], &v[b]) <= 0) ? v[a++] : v[b++];
        }
        memcpy(v, room, count * sizeof *v);
    }
}

void plan_sort(struct plan *p)
{
    size_t n = 0;

    sort_stably(p->v, p->count);
    for (size_t i = 0; i < p->count; i++) {
        if (i + 1 == p->count || by_partition(&p->v[i], &p->v[i + 1]) != 0)
            p->v[n++] = p->v[i];
    }
    p->count = n;
}

const struct plan_entry *plan_find(const struct plan *p, struct str topic, int32_t partition)
{
    const struct plan_entry key = {.topic = topic, .partition = partition};

    return p->count ? bsearch(&key, p->v, p->count, sizeof key, by_partition) : NULL;
}

static int by_broker(const void *a, const void *b)
{
    const struct dir_move *x = a, *y = b;

    if (x->broker != y->broker)
        return x->broker < y->broker ? -1 : 1;
    return plan_order(x->topic, x->partition, y->topic, y->partition);
}

void plan_moves(const struct plan *p, struct arena *a, struct dir_moves *ret)
{
    size_t n = 0;

    for (size_t i = 0; i < p->count; i++)
        n += p->v[i].dirs ? (size_t)p->v[i].replicas.count : 0;
    *ret = (struct dir_moves){arena_new_array(a, struct dir_move, n + 1), 0};
    for (size_t i = 0; i < p->count; i++) {
        const struct plan_entry *e = &p->v[i];
        for (int32_t k = 0; e->dirs && k < e->replicas.count; k++) {
            if (!str_eqz(e->dirs[k], REASSIGN_ANY_DIR))
                ret->v[ret->count++] =
                    (struct dir_move){e->topic, e->partition, e->replicas.v[k], e->dirs[k]};
        }
    }
    if (ret->count)
        qsort(ret->v, ret->count, sizeof *ret->v, by_broker);
}

/* ---- print ---- */

void replica_ids_print(const struct replica_ids *ids, const char *separator, struct strbuf *out)
{
    for (int32_t i = 0; i < ids->count; i++)
        strbuf_addf(out, "%s%d", i ? separator : "", ids->v[i]);
}

bool replica_ids_has(const struct replica_ids *ids, int32_t id)
{
    for (int32_t i = 0; i < ids->count; i++) {
        if (ids->v[i] == id)
            return true;
    }
    return false;
}

bool replica_ids_eq(const struct replica_ids *a, const struct replica_ids *b)
{
    return a->count == b->count &&
           (a->count == 0 || memcmp(a->v, b->v, (size_t)a->count * sizeof *a->v) == 0);
}

void plan_print(const struct plan *p, struct strbuf *out)
{
    strbuf_addz(out, "{\"version\":1,\"partitions\":[");
    for (size_t i = 0; i < p->count; i++) {
        const struct plan_entry *e = &p->v[i];
        strbuf_addf(out, "%s{\"topic\":\"%.*s\",\"partition\":%d,\"replicas\":[", i ? "," : "",
                    STR_ARG(e->topic), e->partition);
        replica_ids_print(&e->replicas, ",", out);
        strbuf_addz(out, "],\"log_dirs\":[");
        for (int32_t k = 0; k < e->replicas.count; k++)
            strbuf_addf(out, "%s\"" REASSIGN_ANY_DIR "\"", k ? "," : "");
        strbuf_addz(out, "]}");
    }
    strbuf_addz(out, "]}");
}

/* ---- topics ---- */

int plan_parse_topics(struct str json, struct arena *a, struct str **ret, size_t *ret_count,
                      struct strbuf *why)
{
    CLEANUP(json_put) json_t *root = NULL;
    int r = parse_root(json, &root, why);

    if (r < 0)
        return r;
    const json_t *list = json_object_get(root, "topics");
    struct str *topics = arena_new_array(a, struct str, json_array_size(list) + 1);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *topic = json_object_get(json_array_get(list, i), "topic");
        if (!json_is_string(topic))
            return refuse(why, "The field \"topic\" of a topic is missing, or of the wrong kind");
        topics[i] = text_of(topic, a);
    }
    *ret = topics;
    *ret_count = json_array_size(list);
    return 0;
}
