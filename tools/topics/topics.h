/*
 * topics.h - what the parts of `klamm topics` share
 *
 * cmd_topics.c reads the command line, topics_change.c creates, alters and deletes,
 * topics_view.c lists and describes, topics_print.c writes what was found. Functions return 0, a
 * negative errno or a Kafka code, with the words that the user is told in t->why. Everything that
 * was learned lives in t->arena until the end. Thread: the main one.
 */
#pragma once

#include "tools/base/cluster.h"
#include "tools/base/opts.h"
#include "tools/base/topic_filter.h"

enum topics_opt {
    TOPICS_BOOTSTRAP,
    TOPICS_CONFIG_FILE,
    TOPICS_LIST,
    TOPICS_CREATE,
    TOPICS_DELETE,
    TOPICS_ALTER,
    TOPICS_DESCRIBE,
    TOPICS_TOPIC,
    TOPICS_TOPIC_ID,
    TOPICS_CONFIG,
    TOPICS_DELETE_CONFIG,
    TOPICS_PARTITIONS,
    TOPICS_REPLICATION,
    TOPICS_ASSIGNMENT,
    TOPICS_UNDER_REPLICATED,
    TOPICS_UNAVAILABLE,
    TOPICS_UNDER_MIN_ISR,
    TOPICS_AT_MIN_ISR,
    TOPICS_OVERRIDES,
    TOPICS_IF_EXISTS,
    TOPICS_IF_NOT_EXISTS,
    TOPICS_EXCLUDE_INTERNAL,
    TOPICS_SIZE_LIMIT,
    TOPICS_OUTPUT,
    TOPICS_DRY_RUN,
    TOPICS_WAIT,
    TOPICS_HELP,
    TOPICS_VERSION,
};

enum topics_output { OUTPUT_KAFKA, OUTPUT_TABLE, OUTPUT_JSON };

struct topics {
    const struct opts *o;
    struct cluster *cluster;
    enum topics_output output;
    const char *topic; /* --topic, NULL where it is not there */
    struct arena arena;
    struct strbuf why;
};

/* A list of the brokers of one partition. */
struct topics_replicas {
    int32_t *ids;
    int32_t count;
};

/* Asks for the topics' names, sorted, that --topic and --exclude-internal let through. -EINVAL
 * where none does and must_exist. */
int topics_find(struct topics *t, bool must_exist, const struct metadata_response **ret,
                const struct metadata_response_topic ***ret_topics, int32_t *ret_count) MUST_CHECK;

int topics_create(struct topics *t) MUST_CHECK;
int topics_alter(struct topics *t) MUST_CHECK;
int topics_delete(struct topics *t) MUST_CHECK;
int topics_list(struct topics *t) MUST_CHECK;
int topics_describe(struct topics *t) MUST_CHECK;

/* ---- describing ---- */

struct topics_config {
    struct str name, value;
};

struct topics_partition {
    const struct metadata_response_partition *meta;
    const struct list_partition_reassignments_response_partition *move; /* NULL: none */
    int32_t leader;                                                     /* -1: none alive */
    int32_t replication_factor; /* without the replicas that are being added */
};

struct topics_topic {
    const struct metadata_response_topic *meta;
    struct topics_partition *partitions; /* ascending */
    int32_t partition_count;
    struct topics_config *configs; /* those that are no default, sorted */
    int32_t config_count;
    int32_t min_isr; /* -1: not asked for */
};

/* Which lines are wanted: --under-replicated-partitions and so on. */
struct topics_report {
    bool under_replicated, unavailable, under_min_isr, at_min_isr;
    bool overrides;
};

void topics_print_list(const struct topics *t, const struct metadata_response_topic *const *topics,
                       int32_t count);
void topics_print(const struct topics *t, const struct topics_topic *topics, int32_t count,
                  const struct topics_report *report);
