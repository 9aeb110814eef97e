/*
 * topics_view.c - list and describe topics
 *
 * Describing takes one question each for the topics, their settings where a line needs them, and
 * the reassignments that are under way. A --topic that is a plain name is asked for alone, so that
 * it costs the same in a cluster of any size.
 */
#include "common/base/err.h"
#include "common/base/mem.h"
#include "tools/topics/topics.h"

#include <ctype.h>

enum { RESOURCE_TOPIC = 2, SOURCE_DEFAULT_CONFIG = 5 };

static bool is_internal(struct str name)
{
    return str_eqz(name, "__consumer_offsets") || str_eqz(name, "__transaction_state");
}

static int by_name(const void *a, const void *b)
{
    return str_cmp((*(const struct metadata_response_topic *const *)a)->name,
                   (*(const struct metadata_response_topic *const *)b)->name);
}

static bool is_missing(const struct metadata_response_topic *topic)
{
    return topic->error_code == UNKNOWN_TOPIC_OR_PARTITION ||
           topic->error_code == INVALID_TOPIC_EXCEPTION ||
           topic->error_code == TOPIC_AUTHORIZATION_FAILED;
}

int topics_find(struct topics *t, bool must_exist, const struct metadata_response **ret,
                const struct metadata_response_topic ***ret_topics, int32_t *ret_count)
{
    CLEANUP(topic_filter_free_p) struct topic_filter *filter = NULL;
    bool no_internal = opts_has(t->o, TOPICS_EXCLUDE_INTERNAL);
    struct str literal = STR_NULL;
    int32_t count = 0;

    int r = t->topic ? topic_filter_new(t->topic, &filter, &t->why) : 0;
    r = opts_blame(t->o, TOPICS_TOPIC, r, &t->why);
    if (filter)
        literal = topic_filter_literal(filter);
    r = r < 0 ? r : cluster_metadata(t->cluster, literal, &t->arena, ret, &t->why);
    if (r < 0)
        return r;
    const struct metadata_response *m = *ret;
    const struct metadata_response_topic **found =
        arena_new_array(&t->arena, const struct metadata_response_topic *, (size_t)m->topics_count);
    for (int32_t i = 0; i < m->topics_count; i++) {
        const struct metadata_response_topic *topic = &m->topics[i];
        if ((!filter || topic_filter_match(filter, topic->name)) && !is_missing(topic) &&
            !(no_internal && is_internal(topic->name)))
            found[count++] = topic;
    }
    if (count == 0 && must_exist && t->topic && *t->topic) {
        strbuf_addf(&t->why,
                    t->o->inv->as_kafka ? "Topic 'Optional[%s]' does not exist as expected"
                                        : "no topic matches %s (--topic)",
                    t->topic);
        return -EINVAL;
    }
    if (count > 1)
        qsort(found, (size_t)count, sizeof(*found), by_name);
    *ret_topics = found;
    *ret_count = count;
    return 0;
}

int topics_list(struct topics *t)
{
    const struct metadata_response *meta;
    const struct metadata_response_topic **found;
    int32_t count;
    int r = topics_find(t, false, &meta, &found, &count);

    if (r == 0)
        topics_print_list(t, found, count);
    return r;
}

/* ---- by id ---- */

/* Java's words for an id that is none. */
static int read_id(struct topics *t, const char *text, struct uuid *ret)
{
    size_t len = strlen(text), bytes;

    if (uuid_from_text(str_of(text), ret) == 0)
        return 0;
    if (len > 24) {
        strbuf_addf(&t->why,
                    "Input string with prefix `%.24s` is too long to be decoded as a "
                    "base64 UUID",
                    text);
        return -EINVAL;
    }
    for (const char *p = text; *p; p++) {
        if (!isalnum((unsigned char)*p) && *p != '-' && *p != '_' && *p != '=') {
            strbuf_addf(&t->why, "Illegal base64 character %x", (unsigned char)*p);
            return -EINVAL;
        }
    }
    while (len > 0 && text[len - 1] == '=')
        len--;
    bytes = len * 3 / 4;
    if (len == 1 || len % 4 == 1)
        strbuf_addz(&t->why, len == 1 ? "Input byte[] should at least have 2 bytes for base64 bytes"
                                      : "Last unit does not have enough valid bits");
    else
        strbuf_addf(&t->why,
                    "Input string `%s` decoded as %zu bytes, which is not equal to the "
                    "expected 16 bytes of a base64-encoded UUID",
                    text, bytes);
    return -EINVAL;
}

static int find_by_id(struct topics *t, const struct uuid *id, const char *text,
                      const struct metadata_response **ret,
                      const struct metadata_response_topic **ret_topic)
{
    int r = cluster_metadata(t->cluster, STR_NULL, &t->arena, ret, &t->why);

    *ret_topic = NULL;
    for (int32_t i = 0; r == 0 && i < (*ret)->topics_count; i++) {
        const struct metadata_response_topic *topic = &(*ret)->topics[i];
        if (uuid_eq(topic->topic_id, *id) &&
            !(opts_has(t->o, TOPICS_EXCLUDE_INTERNAL) && is_internal(topic->name)))
            *ret_topic = topic;
    }
    if (r == 0 && !*ret_topic && !opts_has(t->o, TOPICS_IF_EXISTS)) {
        strbuf_addf(&t->why, "TopicId '%s' does not exist as expected", text);
        return -EINVAL;
    }
    return r;
}

/* ---- describe ---- */

static int find_described(struct topics *t, const struct metadata_response **ret,
                          const struct metadata_response_topic ***ret_topics, int32_t *ret_count)
{
    struct uuid id = {0};
    const char *text;
    int r = opts_text(t->o, TOPICS_TOPIC_ID, &text, &t->why);

    if (r == 0 && text)
        r = opts_blame(t->o, TOPICS_TOPIC_ID, read_id(t, text, &id), &t->why);
    if (r < 0)
        return r;
    if (uuid_is_zero(id))
        return topics_find(t, !opts_has(t->o, TOPICS_IF_EXISTS), ret, ret_topics, ret_count);
    *ret_topics = arena_new_array(&t->arena, const struct metadata_response_topic *, 1);
    r = find_by_id(t, &id, text, ret, *ret_topics);
    *ret_count = r == 0 && **ret_topics ? 1 : 0;
    return r;
}

static bool is_alive(const struct metadata_response *meta, int32_t broker)
{
    for (int32_t i = 0; i < meta->brokers_count; i++) {
        if (meta->brokers[i].node_id == broker)
            return true;
    }
    return false;
}

static int by_index(const void *a, const void *b)
{
    int32_t x = ((const struct topics_partition *)a)->meta->partition_index;
    int32_t y = ((const struct topics_partition *)b)->meta->partition_index;

    return (x > y) - (x < y);
}

static void fill_partitions(struct topics *t, const struct metadata_response *meta,
                            struct topics_topic *topic)
{
    topic->partition_count = topic->meta->partitions_count;
    topic->partitions =
        arena_new_array(&t->arena, struct topics_partition, (size_t)topic->partition_count);
    for (int32_t i = 0; i < topic->partition_count; i++) {
        const struct metadata_response_partition *p = &topic->meta->partitions[i];
        topic->partitions[i] = (struct topics_partition){
            .meta = p,
            .leader = is_alive(meta, p->leader_id) ? p->leader_id : -1,
            .replication_factor = p->replica_nodes_count,
        };
    }
    if (topic->partition_count > 1)
        qsort(topic->partitions, (size_t)topic->partition_count, sizeof *topic->partitions,
              by_index);
}

/* The topic in a sorted list. */
static struct topics_topic *find_topic(struct topics_topic *topics, int32_t count, struct str name)
{
    int32_t low = 0, high = count;

    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        int order = str_cmp(topics[middle].meta->name, name);
        if (order == 0)
            return &topics[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static int by_config(const void *a, const void *b)
{
    return str_cmp(((const struct topics_config *)a)->name,
                   ((const struct topics_config *)b)->name);
}

static void take_configs(struct topics *t, const struct describe_configs_response_result *from,
                         struct topics_topic *topic)
{
    topic->configs =
        arena_new_array(&t->arena, struct topics_config, (size_t)MAX(from->configs_count, 0));
    for (int32_t i = 0; i < from->configs_count; i++) {
        const struct describe_configs_response_config *c = &from->configs[i];
        bool is_default =
            c->config_source == SOURCE_DEFAULT_CONFIG || (c->config_source < 0 && c->is_default);
        if (!is_default)
            topic->configs[topic->config_count++] = (struct topics_config){c->name, c->value};
        if (str_eqz(c->name, "min.insync.replicas") &&
            str_to_i32(c->value, 0, INT32_MAX, &topic->min_isr) < 0)
            topic->min_isr = -1;
    }
    if (topic->config_count > 1)
        qsort(topic->configs, (size_t)topic->config_count, sizeof *topic->configs, by_config);
}

static int ask_configs(struct topics *t, struct topics_topic *topics, int32_t count)
{
    struct describe_configs_request m;
    const struct cluster_call call = {"describeConfigs", SEED_ANY, API_DESCRIBE_CONFIGS, 4, &m};
    const void *got;

    msg_init(&describe_configs_request_desc, &m);
    m.resources_count = count;
    m.resources =
        arena_new_array(&t->arena, struct describe_configs_request_resource, (size_t)count);
    for (int32_t i = 0; i < count; i++) {
        struct_init(&describe_configs_request_resource_desc, &m.resources[i]);
        m.resources[i].resource_type = RESOURCE_TOPIC;
        m.resources[i].resource_name = topics[i].meta->name;
        m.resources[i].configuration_keys_count = -1;
    }
    cluster_start(t->cluster);
    int r = cluster_call(t->cluster, &call, &t->arena, &got, &t->why);
    if (r < 0)
        return r;
    const struct describe_configs_response *response = got;
    for (int32_t i = 0; i < response->results_count; i++) {
        const struct describe_configs_response_result *result = &response->results[i];
        if (result->error_code) {
            strbuf_add_str(&t->why, cluster_error_text(result->error_code, result->error_message));
            return result->error_code < 0 ? -EIO : result->error_code;
        }
        struct topics_topic *topic = find_topic(topics, count, result->resource_name);
        if (topic)
            take_configs(t, result, topic);
    }
    return 0;
}

static void take_moves(const struct list_partition_reassignments_response_topic *from,
                       struct topics_topic *topic)
{
    for (int32_t i = 0; i < from->partitions_count; i++) {
        const struct list_partition_reassignments_response_partition *move = &from->partitions[i];
        for (int32_t k = 0; k < topic->partition_count; k++) {
            struct topics_partition *p = &topic->partitions[k];
            if (p->meta->partition_index != move->partition_index)
                continue;
            p->move = move;
            p->replication_factor = move->replicas_count - move->adding_replicas_count;
        }
    }
}

static void fill_moves_request(struct topics *t, const struct topics_topic *topics, int32_t count,
                               struct list_partition_reassignments_request *m)
{
    msg_init(&list_partition_reassignments_request_desc, m);
    m->timeout_ms = cluster_request_timeout_ms(t->cluster);
    m->topics_count = count;
    m->topics = arena_new_array(&t->arena, struct list_partition_reassignments_request_topic,
                                (size_t)count);
    for (int32_t i = 0; i < count; i++) {
        struct list_partition_reassignments_request_topic *to = &m->topics[i];
        to->name = topics[i].meta->name;
        to->partition_indexes_count = topics[i].partition_count;
        to->partition_indexes =
            arena_new_array(&t->arena, int32_t, (size_t)topics[i].partition_count);
        for (int32_t k = 0; k < topics[i].partition_count; k++)
            to->partition_indexes[k] = topics[i].partitions[k].meta->partition_index;
    }
}

/* Where the broker cannot say, or will not say it to us, there are none. */
static int ask_moves(struct topics *t, struct topics_topic *topics, int32_t count)
{
    CLEANUP(strbuf_deinit) struct strbuf ignored = {0};
    struct list_partition_reassignments_request m;
    const struct cluster_call call = {"listPartitionReassignments", SEED_CONTROLLER,
                                      API_LIST_PARTITION_REASSIGNMENTS, 0, &m};
    const struct list_partition_reassignments_response *response;
    const void *got;

    fill_moves_request(t, topics, count, &m);
    cluster_start(t->cluster);
    do {
        int r = cluster_call(t->cluster, &call, &t->arena, &got, &ignored);
        if (r == -EPROTONOSUPPORT)
            return 0;
        if (r < 0) {
            strbuf_addz(&t->why, ignored.s);
            return r;
        }
        response = got;
    } while (response->error_code && cluster_again(t->cluster, response->error_code));
    if (response->error_code == CLUSTER_AUTHORIZATION_FAILED ||
        response->error_code == UNSUPPORTED_VERSION)
        return 0;
    if (response->error_code) {
        strbuf_add_str(&t->why, cluster_error_text(response->error_code, response->error_message));
        return response->error_code < 0 ? -EIO : response->error_code;
    }
    for (int32_t i = 0; i < response->topics_count; i++) {
        struct topics_topic *topic = find_topic(topics, count, response->topics[i].name);
        if (topic)
            take_moves(&response->topics[i], topic);
    }
    return 0;
}

static struct topics_report read_report(const struct topics *t)
{
    return (struct topics_report){
        .under_replicated = opts_has(t->o, TOPICS_UNDER_REPLICATED),
        .unavailable = opts_has(t->o, TOPICS_UNAVAILABLE),
        .under_min_isr = opts_has(t->o, TOPICS_UNDER_MIN_ISR),
        .at_min_isr = opts_has(t->o, TOPICS_AT_MIN_ISR),
        .overrides = opts_has(t->o, TOPICS_OVERRIDES),
    };
}

int topics_describe(struct topics *t)
{
    const struct topics_report report = read_report(t);
    const struct metadata_response *meta;
    const struct metadata_response_topic **found;
    int32_t count, limit = 0;
    int r = opts_i32(t->o, TOPICS_SIZE_LIMIT, &limit, &t->why);

    r = r < 0 ? r : find_described(t, &meta, &found, &count);
    if (r < 0)
        return r;
    struct topics_topic *topics = arena_new_array(&t->arena, struct topics_topic, (size_t)count);
    for (int32_t i = 0; i < count; i++) {
        if (found[i]->error_code) {
            strbuf_add_str(&t->why, cluster_error_text(found[i]->error_code, STR_NULL));
            return found[i]->error_code < 0 ? -EIO : found[i]->error_code;
        }
        topics[i] = (struct topics_topic){.meta = found[i], .min_isr = -1};
        fill_partitions(t, meta, &topics[i]);
    }
    bool configs = !(report.under_replicated || report.unavailable) || report.under_min_isr ||
                   report.at_min_isr;
    if (count > 0 && configs)
        r = ask_configs(t, topics, count);
    if (r == 0 && count > 0)
        r = ask_moves(t, topics, count);
    if (r == 0)
        topics_print(t, topics, count, &report);
    return r;
}
