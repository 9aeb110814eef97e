/*
 * topics_change.c - create, alter and delete topics
 *
 * What can be seen without asking is refused here, in the order in which Kafka's tool looks at it;
 * the rest is the broker's to say, in its words.
 */
#include "broker/config/topic_conf.h"
#include "common/base/err.h"
#include "common/base/mem.h"
#include "tools/base/progress.h"
#include "tools/base/stop.h"
#include "tools/topics/topics.h"

#include <ctype.h>

enum { WAIT_MS = 200 };

/* What is to be made, as the command line says it. */
struct plan {
    int32_t partitions, replication; /* -1: not given */
    struct topics_replicas *assignment;
    int32_t assignment_count;
    struct create_topics_request_config *configs;
    int32_t config_count;
};

static int refuse_number(struct topics *t, struct str text)
{
    strbuf_addf(&t->why, "For input string: \"%.*s\"", STR_ARG(text));
    return -EINVAL;
}

/* Java's split() leaves out empty parts at the end. */
static struct str without_trailing(struct str s, char sep)
{
    while (s.len > 0 && s.p[s.len - 1] == sep)
        s.len--;
    return s;
}

/* "1:2:3" */
static int read_replicas(struct topics *t, struct str text, struct topics_replicas *ret)
{
    CLEANUP(strbuf_deinit) struct strbuf twice = {0};
    struct str rest = without_trailing(text, ':'), item;

    ret->ids = arena_new_array(&t->arena, int32_t, text.len + 1);
    while (str_split(&rest, ':', &item)) {
        item = str_trim(item);
        int32_t id;
        if (str_to_i32(item, INT32_MIN, INT32_MAX, &id) < 0)
            return refuse_number(t, item);
        for (int32_t i = 0; i < ret->count; i++) {
            if (ret->ids[i] == id)
                strbuf_addf(&twice, "%s%d", twice.len ? "," : "", id);
        }
        ret->ids[ret->count++] = id;
    }
    if (twice.len == 0)
        return 0;
    strbuf_addf(&t->why, "Partition replica lists may not contain duplicate entries: %s", twice.s);
    return -EINVAL;
}

static void add_ids(struct strbuf *out, const struct topics_replicas *replicas)
{
    for (int32_t i = 0; i < replicas->count; i++)
        strbuf_addf(out, "%s%d", i ? ", " : "", replicas->ids[i]);
}

static int read_assignment(struct topics *t, struct plan *plan)
{
    const char *text;
    struct str rest, item;
    int r = opts_text(t->o, TOPICS_ASSIGNMENT, &text, &t->why);

    if (r < 0 || !text || !*text)
        return r;
    plan->assignment = arena_new_array(&t->arena, struct topics_replicas, strlen(text) + 1);
    rest = without_trailing(str_of(text), ',');
    if (rest.len == 0)
        return 0;
    while (r == 0 && str_split(&rest, ',', &item)) {
        struct topics_replicas *to = &plan->assignment[plan->assignment_count];
        r = read_replicas(t, item, to);
        if (r == 0 && to->count != plan->assignment[0].count) {
            strbuf_addf(&t->why, "Partition %d has different replication factor: [",
                        plan->assignment_count);
            add_ids(&t->why, to);
            strbuf_add_char(&t->why, ']');
            r = -EINVAL;
        }
        plan->assignment_count++;
    }
    return r;
}

/* "key = value": exactly one '=', something behind it. */
static int read_config(struct topics *t, const char *text, struct create_topics_request_config *ret)
{
    const char *eq = strchr(text, '=');
    struct str value = eq ? str_trim(str_of(eq + 1)) : STR_NULL;

    if (value.len == 0 || memchr(value.p, '=', value.len)) {
        strbuf_addz(&t->why, "requirement failed: Invalid topic config: all configs to be added "
                             "must be in the format \"key=val\".");
        return -EINVAL;
    }
    ret->name = str_trim((struct str){text, (size_t)(eq - text)});
    ret->value = value;
    return 0;
}

/* As Kafka's tool: unknown names first, before any value is looked at. */
static int check_configs(struct topics *t, const struct plan *plan)
{
    struct topic_override *overrides =
        arena_new_array(&t->arena, struct topic_override, (size_t)plan->config_count);
    struct topic_conf *conf = NULL;

    for (int32_t i = 0; i < plan->config_count; i++) {
        overrides[i] = (struct topic_override){plan->configs[i].name, plan->configs[i].value};
        if (!conf_find(topic_options, topic_option_count, overrides[i].name)) {
            strbuf_addf(&t->why, "Unknown topic config name: %.*s", STR_ARG(overrides[i].name));
            return INVALID_CONFIG;
        }
    }
    int r = topic_conf_build(NULL, overrides, (size_t)plan->config_count, &conf, &t->why);
    topic_conf_unref(conf);
    return r;
}

/* Of a key that stands twice the last value counts. */
static int read_configs(struct topics *t, struct plan *plan)
{
    int n = opts_count(t->o, TOPICS_CONFIG);

    plan->configs = arena_new_array(&t->arena, struct create_topics_request_config, (size_t)n);
    for (int i = 0; i < n; i++) {
        struct create_topics_request_config *last = &plan->configs[plan->config_count];
        int32_t k = 0;
        const char *text = opts_nth(t->o, TOPICS_CONFIG, i);
        int r = read_config(t, text, last);
        if (r < 0 && !t->o->inv->as_kafka)
            strbuf_addf(&t->why, " (--config %s)", text);
        if (r < 0)
            return r;
        while (!str_eq(plan->configs[k].name, last->name))
            k++;
        plan->configs[k].value = last->value;
        plan->config_count += k == plan->config_count;
    }
    return check_configs(t, plan);
}

static int read_plan(struct topics *t, struct plan *plan)
{
    *plan = (struct plan){.partitions = -1, .replication = -1};
    int r = opts_i32(t->o, TOPICS_PARTITIONS, &plan->partitions, &t->why);

    r = r < 0 ? r : opts_i32(t->o, TOPICS_REPLICATION, &plan->replication, &t->why);
    r = r < 0 ? r : opts_blame(t->o, TOPICS_ASSIGNMENT, read_assignment(t, plan), &t->why);
    return r < 0 ? r : read_configs(t, plan);
}

/* ---- create ---- */

static int check_numbers(struct topics *t, const struct plan *plan)
{
    if (opts_has(t->o, TOPICS_REPLICATION) &&
        (plan->replication < 1 || plan->replication > INT16_MAX)) {
        strbuf_addz(&t->why, "The replication factor must be between 1 and 32767 inclusive");
        return -EINVAL;
    }
    if (opts_has(t->o, TOPICS_PARTITIONS) && plan->partitions < 1) {
        strbuf_addz(&t->why, "The partitions must be greater than 0");
        return -EINVAL;
    }
    if (t->topic[0] == '\0') {
        strbuf_addz(&t->why, "The given topic name '' cannot be represented in a request.");
        return INVALID_TOPIC_EXCEPTION;
    }
    return 0;
}

static void fill_create(struct topics *t, const struct plan *plan,
                        struct create_topics_request_topic *topic)
{
    struct_init(&create_topics_request_topic_desc, topic);
    topic->name = str_of(t->topic);
    topic->num_partitions = plan->partitions;
    topic->replication_factor = (int16_t)plan->replication;
    topic->configs = plan->configs;
    topic->configs_count = plan->config_count;
    topic->assignments_count = plan->assignment_count;
    topic->assignments = arena_new_array(&t->arena, struct create_topics_request_assignment,
                                         (size_t)plan->assignment_count);
    for (int32_t i = 0; i < plan->assignment_count; i++) {
        topic->assignments[i] = (struct create_topics_request_assignment){
            i, plan->assignment[i].ids, plan->assignment[i].count};
    }
}

/* A code that the answer holds for one topic, as what the user is told. */
static int refuse(struct topics *t, int16_t error, struct str message)
{
    struct str text = cluster_error_text(error, message);

    strbuf_add_str(&t->why, text);
    return error == UNKNOWN_SERVER_ERROR ? -EIO : error;
}

static bool is_dry(const struct topics *t)
{
    return opts_has(t->o, TOPICS_DRY_RUN);
}

static int send_create(struct topics *t, struct create_topics_request_topic *topic)
{
    struct create_topics_request m;
    const struct cluster_call call = {"createTopics", SEED_CONTROLLER, API_CREATE_TOPICS, 7, &m};
    const void *got;
    const struct create_topics_response_topic *answer;
    int r;

    msg_init(&create_topics_request_desc, &m);
    m.topics = topic;
    m.topics_count = 1;
    m.validate_only = is_dry(t);
    m.timeout_ms = cluster_request_timeout_ms(t->cluster);
    cluster_start(t->cluster);
    do {
        r = cluster_call(t->cluster, &call, &t->arena, &got, &t->why);
        if (r < 0)
            return r;
        const struct create_topics_response *response = got;
        if (response->topics_count != 1)
            return refuse(t, UNKNOWN_SERVER_ERROR, STR_NULL);
        answer = &response->topics[0];
    } while (answer->error_code && cluster_again(t->cluster, answer->error_code));
    if (answer->error_code == TOPIC_ALREADY_EXISTS && opts_has(t->o, TOPICS_IF_NOT_EXISTS))
        return 0;
    if (answer->error_code)
        return refuse(t, answer->error_code, answer->error_message);
    if (is_dry(t))
        printf("would create topic %s: partitions %d, replicas of each %d\n", t->topic,
               answer->num_partitions, answer->replication_factor);
    else
        printf("Created topic %s.\n", t->topic);
    return 0;
}

int topics_create(struct topics *t)
{
    struct create_topics_request_topic topic;
    struct plan plan;
    int r = read_plan(t, &plan);

    if (r != 0)
        return r;
    if (strpbrk(t->topic, "._"))
        puts("WARNING: Due to limitations in metric names, topics with a period ('.') or "
             "underscore ('_') could collide. To avoid issues it is best to use either, but not "
             "both.");
    r = check_numbers(t, &plan);
    if (r != 0)
        return r;
    fill_create(t, &plan, &topic);
    return send_create(t, &topic);
}

/* ---- alter ---- */

/* Kafka's tool drops the first of the given assignments: those of partitions that are there. */
static void fill_alter(struct topics *t, const struct plan *plan,
                       const struct metadata_response_topic *meta,
                       struct create_partitions_request_topic *ret)
{
    int32_t there = MIN(meta->partitions_count, plan->assignment_count);

    struct_init(&create_partitions_request_topic_desc, ret);
    ret->name = meta->name;
    ret->count = plan->partitions;
    if (plan->assignment_count == 0) {
        ret->assignments_count = -1;
        return;
    }
    ret->assignments_count = plan->assignment_count - there;
    ret->assignments = arena_new_array(&t->arena, struct create_partitions_request_assignment,
                                       (size_t)ret->assignments_count);
    for (int32_t i = 0; i < ret->assignments_count; i++) {
        const struct topics_replicas *from = &plan->assignment[there + i];
        ret->assignments[i] = (struct create_partitions_request_assignment){from->ids, from->count};
    }
}

static int send_alter(struct topics *t, struct create_partitions_request_topic *topics,
                      int32_t count)
{
    struct create_partitions_request m;
    const struct cluster_call call = {"createPartitions", SEED_CONTROLLER, API_CREATE_PARTITIONS, 3,
                                      &m};
    const struct create_partitions_response_result *bad;
    const void *got;
    int r;

    msg_init(&create_partitions_request_desc, &m);
    m.topics = topics;
    m.topics_count = count;
    m.validate_only = is_dry(t);
    m.timeout_ms = cluster_request_timeout_ms(t->cluster);
    cluster_start(t->cluster);
    do {
        r = cluster_call(t->cluster, &call, &t->arena, &got, &t->why);
        if (r < 0)
            return r;
        const struct create_partitions_response *response = got;
        bad = NULL;
        for (int32_t i = 0; i < response->results_count && !bad; i++) {
            if (response->results[i].error_code)
                bad = &response->results[i];
        }
    } while (bad && cluster_again(t->cluster, bad->error_code));
    return bad ? refuse(t, bad->error_code, bad->error_message) : 0;
}

int topics_alter(struct topics *t)
{
    const struct metadata_response *meta;
    const struct metadata_response_topic **found;
    struct create_partitions_request_topic *topics;
    struct plan plan;
    int32_t count;
    int r = read_plan(t, &plan);

    r = r ? r : topics_find(t, !opts_has(t->o, TOPICS_IF_EXISTS), &meta, &found, &count);
    if (r != 0 || count == 0)
        return r;
    topics = arena_new_array(&t->arena, struct create_partitions_request_topic, (size_t)count);
    for (int32_t i = 0; i < count; i++)
        fill_alter(t, &plan, found[i], &topics[i]);
    r = send_alter(t, topics, count);
    for (int32_t i = 0; r == 0 && is_dry(t) && i < count; i++)
        printf("would give topic %.*s %d partitions, it has %d\n", STR_ARG(found[i]->name),
               plan.partitions, found[i]->partitions_count);
    return r;
}

/* ---- delete ---- */

/* Names as version 6 wants them, and as the older ones do. */
static void fill_delete(struct topics *t, const struct metadata_response_topic *const *found,
                        int32_t count, struct delete_topics_request *m)
{
    msg_init(&delete_topics_request_desc, m);
    m->timeout_ms = cluster_request_timeout_ms(t->cluster);
    m->topics = arena_new_array(&t->arena, struct delete_topics_request_topic, (size_t)count);
    m->topic_names = arena_new_array(&t->arena, struct str, (size_t)count);
    m->topics_count = m->topic_names_count = count;
    for (int32_t i = 0; i < count; i++) {
        struct_init(&delete_topics_request_topic_desc, &m->topics[i]);
        m->topics[i].name = m->topic_names[i] = found[i]->name;
    }
}

static int send_delete(struct topics *t, struct delete_topics_request *m)
{
    struct cluster_call call = {"deleteTopics", SEED_CONTROLLER, API_DELETE_TOPICS, 6, m};
    const struct delete_topics_response_response *bad;
    const void *got;
    int r;

    cluster_start(t->cluster);
    do {
        r = cluster_call(t->cluster, &call, &t->arena, &got, &t->why);
        if (r == -EINVAL && call.version == 6) { /* a broker older than 2.8: by names only */
            call.version = 5;
            m->topics_count = 0;
            strbuf_reset(&t->why);
            r = cluster_call(t->cluster, &call, &t->arena, &got, &t->why);
        }
        if (r < 0)
            return r;
        const struct delete_topics_response *response = got;
        bad = NULL;
        for (int32_t i = 0; i < response->responses_count && !bad; i++) {
            if (response->responses[i].error_code)
                bad = &response->responses[i];
        }
    } while (bad && cluster_again(t->cluster, bad->error_code));
    return bad ? refuse(t, bad->error_code, bad->error_message) : 0;
}

/* topics_find() sorts them. */
static bool has_name(const struct metadata_response_topic *const *found, int32_t count,
                     struct str name)
{
    int32_t low = 0, high = count;

    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        int order = str_cmp(found[middle]->name, name);
        if (order == 0)
            return true;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

/* How many of the topics are still there; each look is in an arena of its own. */
static int count_left(struct topics *t, const struct metadata_response_topic *const *found,
                      int32_t count, int32_t *ret)
{
    struct arena a = {0};
    const struct metadata_response *m;
    /* one question is asked for one topic, which costs the same in a cluster of any size */
    int r = cluster_metadata(t->cluster, count == 1 ? found[0]->name : STR_NULL, &a, &m, &t->why);

    *ret = 0;
    for (int32_t i = 0; r == 0 && i < m->topics_count; i++) {
        if (m->topics[i].error_code != UNKNOWN_TOPIC_OR_PARTITION)
            *ret += has_name(found, count, m->topics[i].name);
    }
    arena_deinit(&a);
    return r;
}

static int wait_gone(struct topics *t, const struct metadata_response_topic *const *found,
                     int32_t count)
{
    struct progress progress;
    int32_t left = 0;
    int r = count_left(t, found, count, &left);

    stop_catch(t->o->inv);
    progress_start(&progress, "deleted", (uint64_t)count, false);
    while (r == 0 && left > 0 && !stop_wanted()) {
        progress_things(&progress, "topics", (uint64_t)(count - left));
        stop_sleep(WAIT_MS);
        r = count_left(t, found, count, &left);
    }
    progress_wipe(&progress);
    if (r < 0 || left == 0)
        return r;
    strbuf_addf(&t->why, "stopped waiting: %d of %d topics are still there, and will be deleted",
                left, count);
    return -EINTR;
}

int topics_delete(struct topics *t)
{
    const struct metadata_response *meta;
    const struct metadata_response_topic **found;
    struct delete_topics_request m;
    int32_t count;
    int r = topics_find(t, !opts_has(t->o, TOPICS_IF_EXISTS), &meta, &found, &count);

    if (r != 0 || count == 0)
        return r;
    for (int32_t i = 0; is_dry(t) && i < count; i++)
        printf("would delete topic %.*s: partitions %d\n", STR_ARG(found[i]->name),
               found[i]->partitions_count);
    if (is_dry(t))
        return 0;
    fill_delete(t, found, count, &m);
    r = send_delete(t, &m);
    return r || !opts_has(t->o, TOPICS_WAIT) ? r : wait_gone(t, found, count);
}
