/*
 * group_node.h - one broker's group coordinator in a test: a real log for partition 0 of
 * __consumer_offsets, the only one, and a worker
 *
 *   group_node_open(&n);  group_node_elect(&n);  group_node_commit(&n, "g", 0, 42);
 *   group_node_move(&n);                    // given up, and read again from the log
 *
 * The clock is a fake one; the reactor turns on the test's thread, the worker is waited for.
 */
#pragma once

#include "broker/group/coordinator.h"
#include "broker/group/group_cleanup.h"
#include "broker/group/group_commit.h"
#include "tests/support/group_world.h"
#include "tests/support/replica_node.h"

struct group_node {
    struct node_world world;
    struct node node;
    struct workq *workq;
    struct group_manager *m;
    int32_t epoch;
    /* Set before group_node_open(): */
    bool has_follower; /* in the ISR, and never heard of: what waits for all replicas waits */
    int32_t load_buffer_size;
};

/* Leads the partition; the coordinator is started and has not heard of that. */
void group_node_open(struct group_node *n);
void group_node_close(struct group_node *n);
/* Waits for the worker, and turns the reactor. */
void group_node_settle(struct group_node *n);
void group_node_run(struct group_node *n, int64_t ms);
/* With the next leader epoch; waits until all is loaded. */
void group_node_elect(struct group_node *n);
void group_node_resign(struct group_node *n);
void group_node_move(struct group_node *n);
/* LeaderAndIsr that makes another broker the partition's leader: the replica is told, not the
 * coordinator. */
void group_node_follow(struct group_node *n);

/* Appended as it is. */
void group_node_append(struct group_node *n, struct batch_builder *bb);
void group_node_append_marker(struct group_node *n, int64_t producer_id, bool is_commit);

/* A commit of no member for a partition of topic "t". */
struct fake_commit {
    struct group_commit commit;
    struct commit_entry entry;
    int ended;
};

void group_node_start_commit(struct group_node *n, struct fake_commit *c, const char *group,
                             int32_t partition, int64_t offset);
/* Until it has ended; its error. */
int group_node_commit(struct group_node *n, const char *group, int32_t partition, int64_t offset);
/* What is committed for "t", -1 nothing; below -1: minus its error. */
int64_t group_node_offset(struct group_node *n, const char *group, int32_t partition);

/* NULL where there is none; else group_unref() it. */
struct group *group_node_find(struct group_node *n, const char *group);
void group_node_join(struct group_node *n, struct fake_join *j, const char *group,
                     struct joining who);
void group_node_sync(struct group_node *n, struct fake_sync *s, const char *group,
                     struct syncing who);
/* A stable group of one member that has subscribed to a topic. */
void group_node_member(struct group_node *n, struct fake_join *j, const char *group,
                       const char *type, const char *topic);
