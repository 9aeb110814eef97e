#include "broker/config/topic_conf.h"

#include "broker/config/live_conf.h"
#include "broker/config/throttled.h"
#include "broker/config/topic_defaults.h"
#include "common/base/mem.h"
#include "common/conf/checks.h"

#include <errno.h>
#include <inttypes.h>
#include <strings.h>

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
        props_deinit(&c->overrides);
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
    copy->overrides = (struct props){0};
    props_add(&copy->overrides, &c->overrides);
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

/* Where the protocol of the brokers still lets a topic choose. A version above that protocol does
 * not count, as other brokers may not know it. */
static int8_t record_version_of(const struct broker_conf *broker, const char *topics)
{
    enum ibp version;

    if (!broker || ibp_ignores_message_format(broker->ibp))
        return RECORD_VERSION_NEWEST;
    if (ibp_parse(str_trim(str_of(topics)), &version) == 0 && version <= broker->ibp)
        return ibp_record_version(version);
    if (ibp_parse(str_trim(str_of(broker->log_message_format_version)), &version) == 0)
        return ibp_record_version(version);
    return RECORD_VERSION_NEWEST;
}

static struct topic_conf *from_values(const struct broker_conf *broker,
                                      const struct topic_values *v)
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
        .record_version = record_version_of(broker, v->message_format_version),
        .allows_zstd = !broker || broker->ibp >= IBP_2_1_IV0,
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
    return from_values(NULL, &v);
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
        r = -EDOM;
    }
    bool is_default = v->compression_gzip_level == -1;
    if (r == 0 && !is_default && (v->compression_gzip_level < 1 || v->compression_gzip_level > 9)) {
        strbuf_addf(why,
                    "Invalid value %d for configuration compression.gzip.level: Value must be "
                    "between 1 and 9 or equal to -1",
                    v->compression_gzip_level);
        r = -EINVAL;
    }
    return r;
}

static int check_names(const struct topic_override *overrides, size_t count, struct strbuf *why)
{
    for (size_t i = 0; i < count; i++) {
        if (conf_find(topic_options, topic_option_count, overrides[i].name))
            continue;
        strbuf_addf(why, "Unknown topic config name: %.*s", STR_ARG(overrides[i].name));
        return -ENOENT;
    }
    return 0;
}

static int apply(const struct conf_option *option, struct str value, struct topic_values *v,
                 struct strbuf *why)
{
    enum ibp version;

    if (str_is_null(value)) {
        strbuf_addf(why, "Null value not supported for topic configs: %s", option->key);
        return -EINVAL;
    }
    if (strcmp(option->key, "message.format.version") == 0 &&
        ibp_parse(value = str_trim(value), &version) < 0) {
        strbuf_addf(why,
                    "Invalid value %.*s for configuration message.format.version: Version %.*s is "
                    "not a valid version",
                    STR_ARG(value), STR_ARG(value));
        return -EINVAL;
    }
    return conf_set(option, v, value, why);
}

/* In the order of the settings, as they are checked in Kafka; of a name that stands twice the last
 * value counts. */
static int apply_all(const struct topic_override *overrides, size_t count, struct topic_values *v,
                     struct strbuf *why)
{
    int r = check_names(overrides, count, why);

    for (size_t i = 0; i < topic_option_count && r == 0; i++) {
        for (size_t k = 0; k < count && r == 0; k++) {
            if (str_eqz(overrides[k].name, topic_options[i].key))
                r = apply(&topic_options[i], overrides[k].value, v, why);
        }
    }
    return r;
}

static void keep_overrides(struct topic_conf *c, const struct topic_override *overrides,
                           size_t count)
{
    for (size_t i = 0; i < count; i++) {
        CLEANUP(free_p) char *name = str_dup(overrides[i].name);
        CLEANUP(free_p) char *value = str_dup(overrides[i].value);

        props_set(&c->overrides, name, value);
    }
}

int topic_conf_build(const struct broker_conf *broker, const struct topic_override *overrides,
                     size_t count, struct topic_conf **ret, struct strbuf *why)
{
    CLEANUP(values_deinit) struct topic_values v = {0};
    int r = 0;

    conf_set_defaults(topic_options, topic_option_count, &v);
    for (size_t i = 0; broker && i < topic_option_count && r == 0; i++)
        r = conf_set(&topic_options[i], &v, str_of(broker->topic_default_texts[i]), why);
    if (r == 0)
        r = apply_all(overrides, count, &v, why);
    if (r == 0)
        r = check_values(&v, why);
    if (r < 0)
        return r;
    *ret = from_values(broker, &v);
    keep_overrides(*ret, overrides, count);
    return 0;
}

int topic_conf_rebase(const struct broker_conf *broker, const struct topic_conf *c,
                      struct topic_conf **ret, struct strbuf *why)
{
    size_t count = c->overrides.count;
    CLEANUP(free_p) struct topic_override *list = xnew_array(struct topic_override, count + 1);

    for (size_t i = 0; i < count; i++)
        list[i] =
            (struct topic_override){str_of(c->overrides.v[i].key), str_of(c->overrides.v[i].value)};
    return topic_conf_build(broker, list, count, ret, why);
}

static bool is_switched_on(const struct topic_override *overrides, size_t count, const char *key)
{
    bool is_on = false;

    for (size_t i = 0; i < count; i++) {
        if (str_eqz(overrides[i].name, key)) {
            struct str value = str_trim(overrides[i].value);

            is_on = value.len == 4 && strncasecmp(value.p, "true", 4) == 0;
        }
    }
    return is_on;
}

int topic_conf_check(const struct broker_conf *broker, const struct topic_override *overrides,
                     size_t count, struct strbuf *why)
{
    struct topic_conf *c = NULL;
    int r = topic_conf_build(broker, overrides, count, &c, why);

    topic_conf_unref(c);
    if (r < 0)
        return r;
    if (is_switched_on(overrides, count, "remote.log.copy.disable") ||
        is_switched_on(overrides, count, "remote.log.delete.on.disable")) {
        strbuf_addz(why, "It is invalid to set `remote.log.delete.on.disable` or "
                         "`remote.log.copy.disable` under Zookeeper's mode.");
        return -EDOM;
    }
    if (is_switched_on(overrides, count, "remote.storage.enable")) {
        strbuf_addz(why, "Tiered Storage functionality is disabled in the broker. Topic cannot be "
                         "configured with remote log storage.");
        return -EINVAL;
    }
    return 0;
}

void topic_conf_settings(const struct conf_snapshot *s, const struct topic_override *overrides,
                         size_t count, struct topic_setting *ret)
{
    for (size_t i = 0; i < topic_option_count; i++) {
        struct origin origins[ORIGINS_MAX];
        struct str override = STR_NULL;

        for (size_t k = 0; k < count; k++) {
            if (str_eqz(overrides[k].name, topic_options[i].key))
                override = overrides[k].value;
        }
        size_t n = topic_origins(s, &topic_options[i], override, origins);
        ret[i] = (struct topic_setting){
            .option = &topic_options[i],
            .value = str_is_null(override) ? str_of(s->conf->topic_default_texts[i]) : override,
            .source = n ? origins[0].source : SOURCE_DEFAULT,
        };
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
        wrong = "requirement failed: log.roll.ms must be greater than or equal to 1";
    else if (c->log_roll_jitter_ms != CONF_UNSET_LONG && c->log_roll_jitter_ms < 0)
        wrong = "requirement failed: log.roll.jitter.ms must be greater than or equal to 0";
    else if (retention_ms(c) == 0)
        wrong = "requirement failed: log.retention.ms must be unlimited (-1) or, greater than or "
                "equal to 1";
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
