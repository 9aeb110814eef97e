#include "broker/config/topic_conf.h"

#include "broker/config/broker_conf.h"
#include "broker/config/throttled.h"
#include "broker/config/topic_defaults.h"
#include "common/base/mem.h"
#include "common/conf/checks.h"

#include <errno.h>
#include <inttypes.h>

/* The values by type, before they become a struct topic_conf. */
struct topic_values {
#define TOPIC_OPTION(key, type, dflt, check, synonym, field) CONF_C_##type field;
#define UNUSED_TOPIC_OPTION(key, type, dflt, check, synonym)
#include "broker/config/topic_conf.def"
#undef TOPIC_OPTION
#undef UNUSED_TOPIC_OPTION
};

const struct conf_option topic_options[] = {
#define TOPIC_OPTION(key, type, dflt, check, synonym, field)                                       \
    {(key),                                                                                        \
     CONF_##type,                                                                                  \
     dflt,                                                                                         \
     check,                                                                                        \
     CONF_MEDIUM,                                                                                  \
     CONF_CLUSTER_WIDE,                                                                            \
     offsetof(struct topic_values, field)},
#define UNUSED_TOPIC_OPTION(key, type, dflt, check, synonym)                                       \
    {(key), CONF_##type, dflt, check, CONF_MEDIUM, CONF_CLUSTER_WIDE, -1},
#include "broker/config/topic_conf.def"
#undef TOPIC_OPTION
#undef UNUSED_TOPIC_OPTION
};

const size_t topic_option_count = ARRAY_LEN(topic_options);

static const char *const synonyms[] = {
#define TOPIC_OPTION(key, type, dflt, check, synonym, field) synonym,
#define UNUSED_TOPIC_OPTION(key, type, dflt, check, synonym) synonym,
#include "broker/config/topic_conf.def"
#undef TOPIC_OPTION
#undef UNUSED_TOPIC_OPTION
};

const char *topic_option_synonym(const struct conf_option *option)
{
    return synonyms[option - topic_options];
}

/* ---- the object ---- */

struct topic_conf *topic_conf_ref(struct topic_conf *c)
{
    c->refs++;
    return c;
}

struct topic_conf *topic_conf_unref(struct topic_conf *c)
{
    if (c && --c->refs == 0) {
        throttled_free(c->leader_throttled);
        throttled_free(c->follower_throttled);
        free(c->leader_throttled_replicas);
        free(c->follower_throttled_replicas);
        free(c);
    }
    return NULL;
}

struct topic_conf *topic_conf_copy(const struct topic_conf *c)
{
    struct topic_conf *copy = xmalloc(sizeof *copy);

    *copy = *c;
    copy->leader_throttled = throttled_parse(c->leader_throttled_replicas);
    copy->follower_throttled = throttled_parse(c->follower_throttled_replicas);
    copy->refs = 1;
    copy->leader_throttled_replicas = xstrdup(c->leader_throttled_replicas);
    copy->follower_throttled_replicas = xstrdup(c->follower_throttled_replicas);
    return copy;
}

static enum compression compression_of(const char *name)
{
    static const char *const names[] = {"uncompressed", "gzip", "snappy", "lz4", "zstd"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (strcmp(name, names[i]) == 0)
            return (enum compression)i;
    }
    return COMPRESSION_PRODUCER;
}

/* The deprecated message.timestamp.difference.max.ms counts where the newer key is left at its
 * maximum. */
static int64_t timestamp_limit(int64_t limit, int64_t difference)
{
    return limit == INT64_MAX ? difference : limit;
}

static struct topic_conf *from_values(const struct topic_values *v)
{
    struct topic_conf *c = xnew(struct topic_conf);

    *c = (struct topic_conf){
        .refs = 1,
        .cleanup_policy = (conf_list_has(v->cleanup_policy, "delete") ? CLEANUP_DELETE : 0u) |
                          (conf_list_has(v->cleanup_policy, "compact") ? CLEANUP_COMPACT : 0u),
        .compression = compression_of(v->compression_type),
        .compression_gzip_level = v->compression_gzip_level,
        .compression_lz4_level = v->compression_lz4_level,
        .compression_zstd_level = v->compression_zstd_level,
        .delete_retention_ms = v->delete_retention_ms,
        .file_delete_delay_ms = v->file_delete_delay_ms,
        .flush_messages = v->flush_messages,
        .flush_ms = v->flush_ms,
        .index_interval_bytes = v->index_interval_bytes,
        .max_compaction_lag_ms = v->max_compaction_lag_ms,
        .max_message_bytes = v->max_message_bytes,
        .message_downconversion_enable = v->message_downconversion_enable,
        .timestamp_after_max_ms = timestamp_limit(v->message_timestamp_after_max_ms,
                                                  v->message_timestamp_difference_max_ms),
        .timestamp_before_max_ms = timestamp_limit(v->message_timestamp_before_max_ms,
                                                   v->message_timestamp_difference_max_ms),
        .timestamp_type = strcmp(v->message_timestamp_type, "LogAppendTime") == 0
                              ? TIMESTAMP_LOG_APPEND_TIME
                              : TIMESTAMP_CREATE_TIME,
        .min_cleanable_dirty_ratio = v->min_cleanable_dirty_ratio,
        .min_compaction_lag_ms = v->min_compaction_lag_ms,
        .min_insync_replicas = v->min_insync_replicas,
        .preallocate = v->preallocate,
        .retention_bytes = v->retention_bytes,
        .retention_ms = v->retention_ms,
        .segment_bytes = v->segment_bytes,
        .segment_index_bytes = v->segment_index_bytes,
        .segment_jitter_ms = v->segment_jitter_ms,
        .segment_ms = v->segment_ms,
        .unclean_leader_election_enable = v->unclean_leader_election_enable,
        .leader_throttled_replicas = xstrdup(v->leader_replication_throttled_replicas),
        .follower_throttled_replicas = xstrdup(v->follower_replication_throttled_replicas),
    };
    c->leader_throttled = throttled_parse(v->leader_replication_throttled_replicas);
    c->follower_throttled = throttled_parse(v->follower_replication_throttled_replicas);
    return c;
}

static void values_deinit(struct topic_values *v)
{
    conf_release(topic_options, topic_option_count, v);
}

struct topic_conf *topic_conf_new(void)
{
    CLEANUP(values_deinit) struct topic_values v = {0};

    conf_set_defaults(topic_options, topic_option_count, &v);
    return from_values(&v);
}

/* ---- overrides ---- */

/* Java prints the list as it prints all lists: [a, b]. */
static int refuse_throttled(const char *key, const char *list, struct strbuf *why)
{
    struct str rest = str_of(list), item;
    bool first = true;

    strbuf_addz(why, "Invalid value [");
    while (str_split(&rest, ',', &item)) {
        item = str_trim(item);
        strbuf_addf(why, "%s%.*s", first ? "" : ", ", STR_ARG(item));
        first = false;
    }
    strbuf_addf(why,
                "] for configuration %s: %s must be the literal '*' or a list of replicas in the "
                "following format: [partitionId]:[brokerId],[partitionId]:[brokerId],...",
                key, key);
    return -EINVAL;
}

static int check_throttled(const char *key, const char *list, struct strbuf *why)
{
    struct str rest = str_trim(str_of(list)), item, partition;
    int32_t n;

    if (rest.len == 0 || str_eqz(rest, "*"))
        return 0;
    while (str_split(&rest, ',', &item)) {
        item = str_trim(item);
        if (!str_split(&item, ':', &partition) || str_to_i32(partition, 0, INT32_MAX, &n) < 0 ||
            str_is_null(item) || str_to_i32(item, 0, INT32_MAX, &n) < 0)
            return refuse_throttled(key, list, why);
    }
    return 0;
}

static int check_values(const struct topic_values *v, struct strbuf *why)
{
    int r = check_throttled("leader.replication.throttled.replicas",
                            v->leader_replication_throttled_replicas, why);

    if (r == 0)
        r = check_throttled("follower.replication.throttled.replicas",
                            v->follower_replication_throttled_replicas, why);
    if (r == 0 && v->min_compaction_lag_ms > v->max_compaction_lag_ms) {
        strbuf_addf(why,
                    "conflict topic config setting min.compaction.lag.ms (%" PRId64
                    ") > max.compaction.lag.ms (%" PRId64 ")",
                    v->min_compaction_lag_ms, v->max_compaction_lag_ms);
        r = -EINVAL;
    }
    if (r == 0 && v->compression_gzip_level == 0) {
        strbuf_addz(why, "Invalid value 0 for configuration compression.gzip.level: Value must be "
                         "between 1 and 9 or equal to "
                         "-1");
        r = -EINVAL;
    }
    return r;
}

static int apply(const struct topic_override *o, struct topic_values *v, struct strbuf *why)
{
    const struct conf_option *option = conf_find(topic_options, topic_option_count, o->name);

    if (!option) {
        strbuf_addf(why, "Unknown topic config name: %.*s", STR_ARG(o->name));
        return -EINVAL;
    }
    if (str_is_null(o->value)) {
        strbuf_addf(why, "Null value not supported for topic configs: %s", option->key);
        return -EINVAL;
    }
    return conf_set(option, v, o->value, why);
}

int topic_conf_build(const struct broker_conf *broker, const struct topic_override *overrides,
                     size_t count, struct topic_conf **ret, struct strbuf *why)
{
    CLEANUP(values_deinit) struct topic_values v = {0};
    int r = 0;

    conf_set_defaults(topic_options, topic_option_count, &v);
    for (size_t i = 0; broker && i < topic_option_count && r == 0; i++)
        r = conf_set(&topic_options[i], &v, str_of(broker->topic_default_texts[i]), why);
    for (size_t i = 0; i < count && r == 0; i++)
        r = apply(&overrides[i], &v, why);
    if (r == 0)
        r = check_values(&v, why);
    if (r == 0)
        *ret = from_values(&v);
    return r;
}

void topic_conf_settings(const struct broker_conf *broker, const struct topic_override *overrides,
                         size_t count, struct topic_setting *ret)
{
    for (size_t i = 0; i < topic_option_count; i++) {
        const char *synonym = synonyms[i];

        ret[i] = (struct topic_setting){
            .option = &topic_options[i],
            .value = str_of(broker->topic_default_texts[i]),
            .source = synonym && props_get(&broker->props, synonym) ? SOURCE_STATIC_BROKER
                                                                    : SOURCE_DEFAULT,
        };
        for (size_t k = 0; k < count; k++) {
            if (!str_eqz(overrides[k].name, topic_options[i].key))
                continue;
            ret[i].value = overrides[k].value;
            ret[i].source = SOURCE_TOPIC;
        }
    }
}

/* ---- defaults from server.properties ---- */

static char *text_of_ms(int64_t ms)
{
    return xasprintf("%" PRId64, ms);
}

static int64_t retention_ms(const struct broker_conf *c)
{
    int64_t ms = c->log_retention_ms;

    if (ms == CONF_UNSET_LONG && c->log_retention_minutes != CONF_UNSET_INT)
        ms = (int64_t)c->log_retention_minutes * 60000;
    else if (ms == CONF_UNSET_LONG)
        ms = (int64_t)c->log_retention_hours * 3600000;
    return ms < 0 ? -1 : ms;
}

static char *or_hours(int64_t ms, int32_t hours)
{
    return text_of_ms(ms == CONF_UNSET_LONG ? (int64_t)hours * 3600000 : ms);
}

static char *default_text(const struct broker_conf *c, size_t i)
{
    const char *key = topic_options[i].key;
    const char *value = synonyms[i] ? broker_conf_text(c, synonyms[i], NULL) : NULL;

    if (strcmp(key, "retention.ms") == 0)
        return text_of_ms(retention_ms(c));
    if (strcmp(key, "segment.ms") == 0)
        return or_hours(c->log_roll_ms, c->log_roll_hours);
    if (strcmp(key, "segment.jitter.ms") == 0)
        return or_hours(c->log_roll_jitter_ms, c->log_roll_jitter_hours);
    if (strcmp(key, "flush.ms") == 0)
        return text_of_ms(c->log_flush_interval_ms == CONF_UNSET_LONG
                              ? c->log_flush_scheduler_interval_ms
                              : c->log_flush_interval_ms);
    return str_dup(str_trim(str_of(value ? value : topic_options[i].default_text)));
}

void topic_defaults_free(char **texts)
{
    for (size_t i = 0; texts && i < topic_option_count; i++)
        free(texts[i]);
    free(texts);
}

static int check_times(const struct broker_conf *c, struct strbuf *why)
{
    const char *wrong = NULL;

    if (c->log_roll_ms != CONF_UNSET_LONG && c->log_roll_ms < 1)
        wrong = "log.roll.ms must be greater than or equal to 1";
    else if (c->log_roll_jitter_ms != CONF_UNSET_LONG && c->log_roll_jitter_ms < 0)
        wrong = "log.roll.jitter.ms must be greater than or equal to 0";
    else if (retention_ms(c) == 0)
        wrong = "log.retention.ms must be unlimited (-1) or, greater than or equal to 1";
    if (!wrong)
        return 0;
    strbuf_addz(why, wrong);
    return -EINVAL;
}

int topic_defaults_make(const struct broker_conf *c, char ***ret, struct strbuf *why)
{
    int r = check_times(c, why);

    if (r < 0)
        return r;
    char **texts = xnew_array(char *, topic_option_count);
    for (size_t i = 0; i < topic_option_count; i++)
        texts[i] = default_text(c, i);
    *ret = texts;
    return 0;
}
