/*
 * reassign.h - what the parts of `klamm reassign` share
 *
 * cmd_reassign.c reads the command line; reassign_plan.c reads and prints plans as JSON;
 * reassign_cluster.c asks the cluster; reassign_act.c executes, verifies, cancels and lists;
 * reassign_throttle.c limits and frees replication; reassign_dirs.c moves replicas between
 * directories; reassign_generate.c proposes. Functions return 0, a negative errno or a Kafka code,
 * with the words that the user is told in ra->why. Everything that was learned lives in ra->arena
 * until the end. Thread: the main one.
 */
#pragma once

#include "tools/base/cluster.h"
#include "tools/base/opts.h"

#define REASSIGN_ANY_DIR "any"

struct replica_ids {
    int32_t *v;
    int32_t count;
};

/* One partition: where its replicas are to be, or are. */
struct plan_entry {
    struct str topic;
    int32_t partition;
    struct replica_ids replicas;
    struct str *dirs; /* of each replica; NULL: any */
};

struct plan {
    struct plan_entry *v; /* sorted by topic and partition once plan_sort() has run */
    size_t count;
};

/* One replica that is to lie in a certain directory. */
struct dir_move {
    struct str topic;
    int32_t partition;
    int32_t broker;
    struct str dir;
};

struct dir_moves {
    struct dir_move *v;
    size_t count;
};

/* What a partition is doing, as ListPartitionReassignments tells. */
struct running {
    struct str topic;
    const struct list_partition_reassignments_response_partition *p;
};

struct runnings {
    struct running *v; /* sorted */
    size_t count;
};

struct reassign {
    const struct opts *o;
    struct cluster *cluster;
    struct arena arena;
    struct strbuf why;
    bool is_terse;        /* why stands alone: no "Error: " in front */
    int64_t throttle;     /* -1: none */
    int64_t dir_throttle; /* -1: none */
    int64_t timeout_ms;
    bool is_additional;
    bool keeps_throttles;
    bool is_table; /* --output: list and verify print a table */
    bool as_json;  /* of which the rows are JSON */
    bool dry_run;  /* execute, cancel: say what would be done */
    int file_id;   /* the flags that name the file and the brokers, for messages */
    int brokers_id;
};

/* ---- reassign_plan.c; pure ---- */

/* A file with partitions and replicas. */
int plan_parse(struct str json, struct arena *a, struct plan *ret, struct strbuf *why) MUST_CHECK;
/* What --execute asks of a plan: no doubles, nothing empty. */
int plan_check(const struct plan *p, struct strbuf *why) MUST_CHECK;
/* Of several entries of a partition the last one stays. */
void plan_sort(struct plan *p);
/* NULL where it is not in there; sorted. */
const struct plan_entry *plan_find(const struct plan *p, struct str topic, int32_t partition);
/* Sorted by broker, topic, partition. */
void plan_moves(const struct plan *p, struct arena *a, struct dir_moves *ret);
/* One line of JSON; directories are always "any". */
void plan_print(const struct plan *p, struct strbuf *out);
/* A file with topics. */
int plan_parse_topics(struct str json, struct arena *a, struct str **ret, size_t *ret_count,
                      struct strbuf *why) MUST_CHECK;
int plan_order(struct str topic, int32_t partition, struct str other, int32_t other_partition);
void replica_ids_print(const struct replica_ids *ids, const char *separator, struct strbuf *out);
bool replica_ids_has(const struct replica_ids *ids, int32_t id);
/* The same, in the same order. */
bool replica_ids_eq(const struct replica_ids *a, const struct replica_ids *b);

/* ---- reassign_cluster.c ---- */

/* Partitions of these topics as they are now, sorted; an unknown topic is an error where
 * must_exist, else left out. */
int reassign_current(struct reassign *ra, const struct str *topics, size_t count, bool must_exist,
                     struct plan *ret) MUST_CHECK;
/* The topics of a plan, each once, sorted. */
struct str *reassign_topics(struct reassign *ra, const struct plan *p, size_t *ret_count);
int reassign_brokers(struct reassign *ra, const struct metadata_response **ret) MUST_CHECK;
/* What is under way; everything where only is NULL. */
int reassign_running(struct reassign *ra, const struct plan *only, struct runnings *ret) MUST_CHECK;
const struct running *running_find(const struct runnings *r, struct str topic, int32_t partition);
/* Starts what the plan says, or cancels. Partitions that were refused are listed in why. */
int reassign_alter(struct reassign *ra, const struct plan *p, bool cancels) MUST_CHECK;

/* ---- the actions ---- */

int reassign_generate(struct reassign *ra, struct str topics_json, const char *brokers,
                      bool uses_racks) MUST_CHECK;
int reassign_execute(struct reassign *ra, struct str json) MUST_CHECK;
int reassign_verify(struct reassign *ra, struct str json) MUST_CHECK;
int reassign_cancel(struct reassign *ra, struct str json) MUST_CHECK;
int reassign_list(struct reassign *ra) MUST_CHECK;
/* Verify, again and again until nothing of the plan is under way; how far it is, meanwhile. */
int reassign_wait(struct reassign *ra, struct str json) MUST_CHECK;

/* ---- reassign_print.c ---- */

struct dir_status;

void reassign_print_list(const struct reassign *ra, const struct runnings *running);
/* How the partitions and the directories of a plan are. */
struct reassign_states {
    const struct plan *plan;
    const struct plan *current;
    const struct runnings *running;
    const struct dir_status *dirs;
    size_t dir_count;
};
void reassign_print_states(const struct reassign *ra, const struct reassign_states *s);
/* What --execute would do. */
void reassign_print_plan(const struct reassign *ra, const struct plan *plan,
                         const struct plan *current);

/* ---- reassign_throttle.c ---- */

struct throttling {
    const struct plan *plan;
    const struct plan *current;
    const struct runnings *running;
};

int reassign_throttle(struct reassign *ra, const struct throttling *th) MUST_CHECK;
int reassign_throttle_dirs(struct reassign *ra, const struct dir_moves *moves) MUST_CHECK;
int reassign_unthrottle(struct reassign *ra, const struct plan *plan) MUST_CHECK;

/* ---- reassign_dirs.c ---- */

enum dir_state { DIR_DONE, DIR_ACTIVE, DIR_ELSEWHERE, DIR_CANCELLED, DIR_MISSING, DIR_NO_REPLICA };

struct dir_status {
    const struct dir_move *move;
    enum dir_state state;
    struct str now;    /* where it lies; null unknown */
    struct str future; /* where it is being moved to; null: nowhere */
};

/* ret has moves->count elements. */
int reassign_dir_states(struct reassign *ra, const struct dir_moves *moves, struct dir_status *ret)
    MUST_CHECK;
/* Starts the moves, again and again until all have begun or the timeout is over. */
int reassign_move_dirs(struct reassign *ra, struct dir_moves *moves) MUST_CHECK;
