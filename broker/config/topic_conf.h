/*
 * topic_conf.h - the settings of one topic: its overrides from ZooKeeper over the broker's defaults
 *
 * Immutable and reference-counted: a change makes a new one, which is swapped in. Thread: any.
 */
#pragma once

#include "common/base/props.h"
#include "common/conf/conf.h"
#include "common/conf/ibp.h"
#include "common/record/batch.h"

struct throttled;

enum { CLEANUP_DELETE = 1, CLEANUP_COMPACT = 2 };

struct topic_conf {
    _Atomic unsigned refs;
    unsigned cleanup_policy;              /* CLEANUP_ bits */
    struct throttled *leader_throttled;   /* while they send; NULL: none */
    struct throttled *follower_throttled; /* while they fetch; NULL: none */
    enum compression compression;
    int compression_gzip_level; /* -1 = the library's own */
    int compression_lz4_level;
    int compression_zstd_level;
    int64_t delete_retention_ms;
    int64_t file_delete_delay_ms;
    int64_t flush_messages;
    int64_t flush_ms;
    int32_t index_interval_bytes;
    int64_t max_compaction_lag_ms;
    int32_t max_message_bytes;
    bool message_downconversion_enable;
    int8_t record_version; /* the format that a leader writes: 0, 1, 2 */
    bool allows_zstd;      /* brokers before protocol 2.1 do not know it */
    int64_t timestamp_after_max_ms;
    int64_t timestamp_before_max_ms;
    enum timestamp_type timestamp_type;
    double min_cleanable_dirty_ratio;
    int64_t min_compaction_lag_ms;
    int32_t min_insync_replicas;
    bool preallocate;
    int64_t retention_bytes; /* -1 = no limit */
    int64_t retention_ms;    /* -1 = for ever */
    int32_t segment_bytes;
    int32_t segment_index_bytes;
    int64_t segment_jitter_ms;
    int64_t segment_ms;
    bool unclean_leader_election_enable;
    char *leader_throttled_replicas;   /* as given; "" none */
    char *follower_throttled_replicas; /* as given; "" none */
    struct props overrides;            /* what it was built from, over the broker's defaults */
};

/* Kafka's built-in defaults, one reference; for tests and as the base that overrides are applied
 * to. */
struct topic_conf *topic_conf_new(void);
struct topic_conf *topic_conf_copy(const struct topic_conf *c);
struct topic_conf *topic_conf_ref(struct topic_conf *c);
/* NULL-safe, returns NULL. */
struct topic_conf *topic_conf_unref(struct topic_conf *c);

/* ---- overrides and how they are shown ---- */

struct broker_conf;
struct conf_snapshot;

struct topic_override {
    struct str name;
    struct str value; /* null is refused */
};

/* Of the wire (DescribeConfigs, CreateTopics v5+). */
enum conf_source {
    SOURCE_TOPIC = 1,
    SOURCE_DYNAMIC_BROKER = 2,
    SOURCE_DYNAMIC_DEFAULT = 3,
    SOURCE_STATIC_BROKER = 4,
    SOURCE_DEFAULT = 5,
    SOURCE_LOGGER = 6
};

struct topic_setting {
    const struct conf_option *option;
    struct str value; /* borrowed from the overrides or the snapshot */
    enum conf_source source;
};

extern const struct conf_option topic_options[];
extern const size_t topic_option_count;

/*
 * The broker's defaults (Kafka's own where it is NULL) with the overrides applied and checked, with
 * Kafka's words in why where they are refused: -ENOENT for a name that no setting has, -EINVAL for
 * a value that is none of its setting, -EDOM for values that do not go together. One reference.
 */
int topic_conf_build(const struct broker_conf *broker, const struct topic_override *overrides,
                     size_t count, struct topic_conf **ret, struct strbuf *why) MUST_CHECK;
/* The same overrides over other defaults. One reference. */
int topic_conf_rebase(const struct broker_conf *broker, const struct topic_conf *c,
                      struct topic_conf **ret, struct strbuf *why) MUST_CHECK;
/* Whether a topic may be given these overrides; as topic_conf_build(), and some that are read
 * where they stand already are not given any more. */
int topic_conf_check(const struct broker_conf *broker, const struct topic_override *overrides,
                     size_t count, struct strbuf *why) MUST_CHECK;
/* All settings in the order of topic_options; ret has topic_option_count elements. */
void topic_conf_settings(const struct conf_snapshot *s, const struct topic_override *overrides,
                         size_t count, struct topic_setting *ret);
/* The key of server.properties that gives a setting's default, NULL where there is none. */
const char *topic_option_synonym(const struct conf_option *option);
