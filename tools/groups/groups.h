/*
 * groups.h - what the parts of `klamm groups` share
 *
 * cmd_groups.c reads the command line; groups_plan.c reads reset plans, topics, moments and
 * durations; groups_cluster.c asks and tells coordinators, groups_logs.c the leaders of partitions;
 * groups_view.c lists and describes, groups_print.c writes what was found; groups_reset.c and
 * groups_change.c change things; groups_lag.c watches.
 *
 * Functions return 0, a negative errno or a Kafka code, with the words that the user is told in
 * g->why. Everything that was learned lives in g->arena. Thread: the main one.
 */
#pragma once

#include "tools/base/cluster.h"
#include "tools/base/opts.h"
#include "tools/groups/groups_plan.h"

enum groups_opt {
    GR_BOOTSTRAP,
    GR_CONFIG_FILE,
    GR_TIMEOUT,
    GR_LIST,
    GR_DESCRIBE,
    GR_DELETE,
    GR_RESET,
    GR_DELETE_OFFSETS,
    GR_GROUP,
    GR_ALL_GROUPS,
    GR_TOPIC,
    GR_ALL_TOPICS,
    GR_OFFSETS,
    GR_MEMBERS,
    GR_STATE,
    GR_VERBOSE,
    GR_TYPE,
    GR_DRY_RUN,
    GR_EXECUTE,
    GR_EXPORT,
    GR_TO_OFFSET,
    GR_TO_CURRENT,
    GR_TO_DATETIME,
    GR_FROM_FILE,
    GR_BY_DURATION,
    GR_TO_EARLIEST,
    GR_TO_LATEST,
    GR_SHIFT_BY,
    GR_WATCH,
    GR_OUTPUT,
    GR_HELP,
    GR_VERSION,
};

enum groups_output { GROUPS_KAFKA, GROUPS_TABLE, GROUPS_JSON };

/* Returned beside 0 and errors: g->why is about the command line. */
enum { GROUPS_MISUSED = -100000 };

struct groups {
    const struct opts *o;
    struct cluster *cluster;
    enum groups_output output;
    struct arena arena;
    struct strbuf why;
    bool is_wrapped;   /* Kafka's tool shows the failure inside an ExecutionException */
    bool has_failures; /* some of what was asked for failed, and that was said */
};

struct group_member {
    struct str id, instance, client, host; /* instance: null where it is dynamic */
    struct part *parts;                    /* sorted */
    size_t count;
};

/* A partition's committed offset. */
struct committed {
    struct part part;
    int64_t offset;
};

struct group {
    struct str id;
    struct str state, type, strategy;
    struct group_member *members; /* in the coordinator's order */
    size_t member_count;
    struct committed *committed; /* sorted */
    size_t committed_count;
    int error;          /* 0, a Kafka code or a negative errno */
    struct str trouble; /* the same in words */

    /* groups_cluster.c: */
    int32_t coordinator; /* -1: not known */
    struct str host;
    int32_t port;
    bool is_pending;
};

/* One partition's question to its leader, and the answer. */
struct log_ask {
    struct part part;
    int64_t offset; /* -1: the leader knows of none */
    int error;      /* Kafka's code where is_lenient */

    /* groups_logs.c: */
    int32_t leader;
    bool is_pending;
};

/* What a group is to commit. */
struct new_offset {
    struct part part;
    int64_t current; /* -1: nothing is committed */
    int64_t offset;
    bool is_applied;
    bool is_in_doubt; /* it was sent, and no answer came */
};

bool groups_as_kafka(const struct groups *g);

/* ---- groups_cluster.c ---- */

/* --list's filters; a null list lets everything through. */
struct groups_filter {
    struct str *states, *types;
    int32_t state_count, type_count;
};

/* Every consumer group of the cluster, sorted. */
int groups_list(struct groups *g, const struct groups_filter *filter, struct group **ret,
                size_t *ret_count) MUST_CHECK;
/* Those that --group names, or all with --all-groups; sorted, each once; only their ids are set. */
int groups_named(struct groups *g, struct group **ret, size_t *ret_count) MUST_CHECK;
/* Sorts groups by id and drops doubles; returns how many are left. */
size_t groups_sort(struct group *v, size_t n);
/*
 * Each asks the groups' coordinators, one request for all groups of a coordinator, and leaves what
 * went wrong in the groups; the first error of all comes back.
 */
int groups_describe(struct groups *g, struct group *v, size_t n) MUST_CHECK;
int groups_committed(struct groups *g, struct group *v, size_t n) MUST_CHECK;
/* What became of each is in its error only. */
void groups_delete(struct groups *g, struct group *v, size_t n);
/*
 * Commits for a group without members, in requests that fit into a batch of __consumer_offsets.
 * What was stored is marked in rows, whatever comes back. step(ctx, n) hears of every n that were.
 */
struct commit_opts {
    struct new_offset *rows; /* sorted */
    size_t count;
    bool (*step)(void *ctx, size_t count); /* false: stop */
    void *ctx;
};
int groups_commit(struct groups *g, struct group *group, const struct commit_opts *opts) MUST_CHECK;
/* Forgets offsets; parts are sorted, errors gets a code for each. What the group as a whole is told
 * comes back. */
int groups_delete_offsets(struct groups *g, struct group *group, const struct parts *parts,
                          int16_t *errors) MUST_CHECK;
/* Puts a failure in words into why, as the tool in use says it. */
int groups_say(struct groups *g, int error, struct str trouble);
/* The words for a Kafka code, in the arena. */
struct str groups_trouble(struct groups *g, int16_t code, struct str message);
int groups_ask(struct groups *g, const struct cluster_call *call, const void **ret,
               struct str *ret_trouble) MUST_CHECK;
const struct committed *group_committed(const struct group *group, const struct part *part);

/* ---- groups_logs.c ---- */

enum { LOG_LATEST = -1, LOG_EARLIEST = -2 };

/*
 * The offset of each partition for a time, or LOG_LATEST or LOG_EARLIEST. One request for all
 * partitions of a leader. v is sorted, without doubles. is_lenient: a partition that cannot say has
 * an error, and the others are answered.
 */
int groups_log_offsets(struct groups *g, struct log_ask *v, size_t n, int64_t time, bool is_lenient)
    MUST_CHECK;
struct log_ask *log_ask_find(struct log_ask *v, size_t n, const struct part *part);
/* The partitions of whole topics; an unknown topic is an error, in its trouble where given. */
int groups_topic_parts(struct groups *g, struct str topic, struct parts *ret, struct str *trouble)
    MUST_CHECK;

/* ---- the actions ---- */

int groups_show_list(struct groups *g) MUST_CHECK;
int groups_show(struct groups *g) MUST_CHECK;
int groups_remove(struct groups *g) MUST_CHECK;
int groups_remove_offsets(struct groups *g) MUST_CHECK;
int groups_reset(struct groups *g) MUST_CHECK;
int groups_lag(struct groups *g) MUST_CHECK;
