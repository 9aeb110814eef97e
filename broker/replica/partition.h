/*
 * partition.h - one replica on this broker: its role and epochs, appends, what followers have, and
 * who waits for news of it
 *
 * Everything below `lock` is guarded by it (LOCK_PARTITION); it is held over an append to the log
 * and the bookkeeping around it, never over the network or ZooKeeper. `log` is set once and then
 * stays as long as the partition lives, so a reference to the partition keeps the log too. Offsets
 * are read from the log's own atomics. Watches are told under the lock: they may note something and
 * post, no more.
 *
 * Split over partition.c (table life, watches, append, high watermark), partition_role.c (leader,
 * follower, offline), partition_fetch.c (what a fetch sees and leaves), partition_isr.c (shrink,
 * expand, answers of the controller), partition_move.c (into another log dir). Thread: any.
 */
#pragma once

#include "broker/meta/metadata.h"
#include "broker/quota/repl_quota.h"
#include "broker/replica/isr.h"
#include "broker/storage/log_manager.h"
#include "common/base/lock.h"

struct fetch_slot;
struct refused;
struct partition;

/* What a leader wants the controller to agree to. */
struct isr_proposal {
    struct partition *part; /* borrowed */
    int32_t leader_epoch;
    int32_t partition_epoch;
    int32_t controller_epoch;
    const struct id_list *isr; /* borrowed */
};

/* What all partitions share; constant once made, outlives them. */
struct replica_env {
    const struct clock *clock;
    struct metadata *metadata;
    struct log_manager *logs;
    int32_t broker_id;
    int64_t lag_ms;
    bool is_rack_aware;
    _Atomic bool is_stopping;         /* what waits is to end */
    struct repl_quota leader_quota;   /* of what throttled followers are given */
    struct repl_quota follower_quota; /* of what throttled replicas fetch */
    void *ctx;
    /* Queues a change for the controller; called with the partition's lock held. False: not taken,
     * the change is reverted. */
    bool (*propose)(void *ctx, const struct isr_proposal *p);
    _Atomic int64_t isr_shrinks;
    _Atomic int64_t isr_expands;
    _Atomic int64_t isr_update_failures;
};

enum partition_role { ROLE_NONE, ROLE_LEADER, ROLE_FOLLOWER, ROLE_OFFLINE };

enum partition_news {
    NEWS_END = BIT(0),   /* records were appended */
    NEWS_HW = BIT(1),    /* the high watermark moved */
    NEWS_START = BIT(2), /* the log start moved */
    NEWS_LOW = BIT(3),   /* another replica's log start moved */
    NEWS_STATE = BIT(4), /* role, epoch, ISR, topic id: whoever waits has to look */
};

/* Embedded in what waits. Told with the partition's lock held. */
struct partition_watch {
    struct partition_watch *prev, *next;
    unsigned wants;
    void (*news)(struct partition_watch *w, unsigned news);
};

/* Waits for the high watermark; taken off the list before reached() runs, with the lock held. */
struct hw_wait {
    struct hw_wait *prev, *next;
    int64_t offset;
    /* 0, NOT_ENOUGH_REPLICAS_AFTER_APPEND, NOT_LEADER_OR_FOLLOWER, UNKNOWN_TOPIC_OR_PARTITION,
     * KAFKA_STORAGE_ERROR */
    void (*reached)(struct hw_wait *w, int error);
};

/* Its way into another log dir (partition_move.h). */
struct partition_move {
    struct log *future; /* NULL: it is not moving */
    bool is_aligned;    /* the future log is known to be a prefix of the log */
    bool is_held;       /* it failed, or its replica was stopped: not until it is begun anew */
    int64_t cut;        /* the log was cut to here since the mover looked; INT64_MAX: it was not */
};

struct partition {
    _Atomic unsigned refs;
    struct partition *next; /* in its shard of the table, under LOCK_REPLICAS */
    struct replica_env *env;
    struct str topic; /* NUL-terminated */
    int32_t id;
    uint32_t hash;

    /* Under LOCK_FETCHERS: */
    struct fetch_slot *fetch_slot; /* NULL: not fetched */
    int32_t fetch_index;           /* in that slot */
    uint64_t fetch_order;          /* the last one to fetch it */
    bool has_failed;               /* given up by its fetcher */

    bool is_moving; /* a mover has it; under LOCK_MOVER */

    struct mutex lock;
    struct log *log; /* NULL until it was found or made */
    struct partition_move move;
    enum partition_role role;
    bool is_gone; /* deleted: not in the table any more */
    int32_t controller_epoch;
    int32_t leader;
    int32_t leader_epoch;    /* -1 before the first LeaderAndIsr */
    int32_t partition_epoch; /* version of the state znode, -1 unknown */
    int64_t epoch_start;     /* log end when this leader epoch began; -1 on a follower */
    struct id_list replicas;
    struct id_list adding;
    struct id_list removing;
    struct isr isr;
    struct remote_list remotes;
    struct partition_watch *watches;
    struct hw_wait *hw_waits; /* by offset */
    struct refused *refused;  /* NULL: no batch of an idempotent producer was refused */
};

/* ---- life ---- */

/* Finds its log, if it has one, and sets the checkpointed high watermark. One reference. */
struct partition *partition_new(struct replica_env *env, struct str topic, int32_t id);
struct partition *partition_ref(struct partition *part);
/* NULL-safe, returns NULL. */
struct partition *partition_unref(struct partition *part);
void partition_unref_p(struct partition **part);

void partition_watch(struct partition *part, struct partition_watch *w);
/* Not told any more when this returns. */
void partition_unwatch(struct partition *part, struct partition_watch *w);
/* Takes w off the list; false where reached() has run already. */
bool partition_hw_unwait(struct partition *part, struct hw_wait *w);

/* Tells watches; fails hw_waits with error where it is not 0. The lock is held. */
void partition_tell(struct partition *part, unsigned news) REQUIRES(part->lock);
void partition_fail_waits(struct partition *part, int error) REQUIRES(part->lock);
/* Raises the high watermark as far as rule B8 lets it, and ends the waits for it; true where it
 * moved: the caller then tells NEWS_HW. The lock is held. */
bool partition_advance_hw(struct partition *part) REQUIRES(part->lock);
/* Whether the topic's settings throttle this broker's replica while it leads, while it follows. */
bool partition_leads_throttled(const struct partition *part) REQUIRES(part->lock);
bool partition_follows_throttled(struct partition *part);
/* The topic's settings with a reference, NULL while there is no log. */
struct topic_conf *partition_conf(struct partition *part);
int32_t partition_min_isr(const struct partition *part) REQUIRES(part->lock);
/* An I/O error in its log: the dir fails. No lock is held. Returns KAFKA_STORAGE_ERROR, or r where
 * it is none. */
int partition_io_error(struct partition *part, int r, const char *what);

/* ---- append ---- */

struct partition_append_opts {
    struct slice records; /* offsets are written into it */
    int16_t acks;
    enum append_origin origin;
    struct hw_wait *wait; /* with acks -1: parked where the high watermark has not come so far */
    struct arena *arena;
};

struct partition_append {
    struct log_append log;
    bool is_waiting;
    int32_t leader; /* for NOT_LEADER_OR_FOLLOWER: whom to ask; -1 unknown */
    int32_t leader_epoch;
};

/* 0, KAFKA_STORAGE_ERROR, NOT_LEADER_OR_FOLLOWER, NOT_ENOUGH_REPLICAS (nothing appended),
 * NOT_ENOUGH_REPLICAS_AFTER_APPEND, and those of log_append_leader(), negative ones too. */
int partition_append(struct partition *part, const struct partition_append_opts *opts,
                     struct partition_append *ret) MUST_CHECK;

struct follower_append {
    int32_t leader_epoch;
    int64_t fetch_offset;   /* must be the log end */
    struct slice records;   /* may be empty */
    int64_t high_watermark; /* the leader's */
    int64_t log_start;
};

/* 0; FENCED_LEADER_EPOCH where the role or epoch has changed; CORRUPT_MESSAGE and other codes of
 * log_append_follower(): try again; < 0: the partition has failed. *ret_next is the next offset. */
int partition_append_follower(struct partition *part, const struct follower_append *f,
                              int64_t *ret_next) MUST_CHECK;
