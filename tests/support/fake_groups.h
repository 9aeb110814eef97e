/*
 * fake_groups.h - a cluster of one fake broker, for what `klamm groups` asks and tells
 *
 * Topics "t" with 3 leaders for their partitions in turn (all of them are this broker); one
 * coordinator, which is this broker too. What arrives is counted, what is committed is kept. The
 * test turns the knobs before it asks. Thread: the test's; the broker's own reads them.
 */
#pragma once

#include "tests/support/fake_broker.h"
#include "tools/groups/groups.h"

enum { FAKE_TOPIC_PARTITIONS = 12000 };

struct fake_groups {
    struct fake_broker *broker;
    struct groups g;
    struct opts opts;
    struct invocation inv;

    int finds, commits, metadatas, list_offsets; /* how many requests came */
    int commit_of[64];                           /* partitions in each commit */
    int64_t committed[FAKE_TOPIC_PARTITIONS];    /* -1: nothing */

    int refuse_at; /* the commit, from 1, that all partitions are refused with refuse_code */
    int16_t refuse_code;
    int16_t partition_code; /* what partition 1 is always told */
    int too_many;           /* INVALID_COMMIT_OFFSET_SIZE above so many partitions; 0: never */
    int hang_up_at;         /* the commit, from 1, at which the connection is cut */
    int16_t find_code;      /* what whoever looks for the coordinator is told after that */
    int stale_leaders;      /* so many ListOffsets are told NOT_LEADER_OR_FOLLOWER */
    int no_leader;          /* this partition has none; -1: each has */
};

void fake_groups_start(struct fake_groups *f);
void fake_groups_stop(struct fake_groups *f);
