/*
 * partition_fetch.h - what one partition gives to a fetch: the checks in Kafka's order, the
 * offsets, the records as a file range (controller.md B6, B11.2; protocol.md 11.2)
 *
 * Thread: any; the partition's lock is taken inside, not over the read itself.
 */
#pragma once

#include "broker/replica/partition.h"
#include "common/base/arena.h"
#include "common/wire/messages.h"

/* Who fetches; the same for all partitions of a request. */
struct fetch_who {
    int32_t replica_id; /* -1 consumer */
    int16_t version;
    bool is_read_committed; /* as it was asked for; fetch_is_committed() */
    struct str rack;        /* of a consumer that may read from a follower */
    /* Only the first read of a request moves the follower's record, not the one after waiting. */
    bool moves_replica;
};

static inline bool fetch_is_replica(const struct fetch_who *who)
{
    return who->replica_id >= 0;
}

/* Whether transactions that are open hold it up. Not replicas, nor who reads as one that is being
 * moved between log dirs: they get all there is. */
static inline bool fetch_is_committed(const struct fetch_who *who)
{
    enum { FUTURE_REPLICA = -3 };

    return who->is_read_committed && !fetch_is_replica(who) && who->replica_id != FUTURE_REPLICA;
}

/* What is wanted of one partition. */
struct fetch_want {
    struct str topic;
    struct uuid topic_id;
    int32_t partition;
    int32_t current_leader_epoch; /* -1: none */
    int64_t offset;
    int32_t last_fetched_epoch; /* -1: none */
    int64_t log_start;          /* the follower's */
    int32_t max_bytes;
};

struct fetch_read {
    const struct fetch_who *who;
    const struct fetch_want *want;
    uint32_t max_bytes;
    bool min_one_batch; /* the first batch comes whole even where it is larger */
    struct arena *arena;
};

struct fetch_got {
    struct fetch_response_partition
        data; /* records.file, where not NULL, is the caller's to unref */
    /* Nothing to tell until there is news: it was read up to the end, and the follower is in the
     * set. */
    bool is_settled;
    bool is_throttled; /* its records count against the quota of throttled followers */
    bool is_held;      /* out of sync, while that quota is used up: it gets nothing */
};

/* An error is in ret->data. A read error of the disk takes the log dir offline. */
void partition_fetch(struct partition *part, const struct fetch_read *read, struct fetch_got *ret);
/* As an error's answer: everything -1, no records. */
void partition_fetch_error(int32_t partition, int error, struct fetch_response_partition *ret);

/* How many bytes could be read now, up to want->max_bytes; or that the answer cannot wait. */
struct fetch_ready {
    bool must_answer;
    int64_t bytes;
};

/* With only_any, bytes is 1 where there are some: that costs no look-up of positions. */
struct fetch_ready partition_fetch_ready(struct partition *part, const struct fetch_who *who,
                                         const struct fetch_want *want, bool only_any);
