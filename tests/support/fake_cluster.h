/*
 * fake_cluster.h - brokers with a controller each, on one fake ZooKeeper, without threads
 *
 *   struct fake_cluster f; fake_cluster_init(&f, 3);   -- brokers 1, 2, 3 registered, 1 is
 *   controller fake_cluster_create(&f, "t", "1,2,3");
 *   ck_assert_str_eq(fake_cluster_trace(&f), ...);
 *   fake_cluster_kill(&f, 2);                           -- its session ends
 *   fake_cluster_deinit(&f);
 *
 * fake_cluster_run() turns all controllers until nothing is left to do; most calls here end with
 * it.
 */
#pragma once

#include "controller/core.h"
#include "tests/support/fake_channels.h"
#include "tests/support/fake_zk.h"
#include "zk/zk_register.h"

enum { FAKE_BROKERS_MAX = 8 };

struct fake_broker {
    int32_t id;
    struct fake_cluster *cluster;
    struct fake_zk *zk;
    struct zk_register reg;
    struct node_broker node;
    struct node_endpoint endpoint;
    struct fake_channels channels;
    struct controller *c;
    bool is_up;
    bool unclean;   /* unclean.leader.election.enable of its configuration */
    bool is_silent; /* does not answer */
};

struct fake_cluster {
    struct clock_fake clock;
    struct fake_zk_server *server;
    struct fake_zk *admin_zk;
    struct zk_store *admin;
    struct fake_broker brokers[FAKE_BROKERS_MAX + 1]; /* by id, from 1 */
    int count;
    struct controller_opts
        opts; /* what new controllers get; change it before init's brokers start */
    struct arena arena;
};

/* Without brokers; count is how many fake_cluster_start_all() starts. */
void fake_cluster_prepare(struct fake_cluster *f, int count);
void fake_cluster_start_all(struct fake_cluster *f);
/* Both, and the messages of the start are looked at no more. */
void fake_cluster_init(struct fake_cluster *f, int count);
void fake_cluster_deinit(struct fake_cluster *f);

/* Everything until it is quiet: watches, events, answers. */
void fake_cluster_run(struct fake_cluster *f);
/* The same without answers of brokers. */
void fake_cluster_run_unanswered(struct fake_cluster *f);

void fake_cluster_start(struct fake_cluster *f, int id);
/* kill -9: the session ends. */
void fake_cluster_kill(struct fake_cluster *f, int id);
/* The session expires, the process lives; a new session follows. */
void fake_cluster_expire(struct fake_cluster *f, int id);
/* The sessions of all of them expire, and they are registered again before anybody is elected. */
void fake_cluster_blink(struct fake_cluster *f, const struct node_ids *ids);

/* partitions: "1,2,3" or "1,2;2,1" ... */
void fake_cluster_create(struct fake_cluster *f, const char *topic, const char *partitions);
void fake_cluster_set_config(struct fake_cluster *f, const char *topic, const char *key,
                             const char *value);
void fake_cluster_delete(struct fake_cluster *f, const char *topic);

/* The broker whose controller is active; NULL if there is none, asserts that there is but one. */
struct fake_broker *fake_cluster_active(struct fake_cluster *f);
/* What the active controller sent since the last look. */
const char *fake_cluster_trace(struct fake_cluster *f);
/* "L1 e0 isr 1,2,3 v0", or "none". */
const char *fake_cluster_state(struct fake_cluster *f, const char *topic, int partition);
bool fake_cluster_topic_exists(struct fake_cluster *f, const char *topic);

/* An AlterPartition as leader would send it; version 3. Returns the partition's error, or the top
 * level one. */
int fake_cluster_alter(struct fake_cluster *f, const char *topic, int partition, const char *isr);
/* AlterPartitionReassignments of one partition; NULL cancels. Returns the partition's error, or the
 * top level one. */
int fake_cluster_reassign(struct fake_cluster *f, const char *topic, int partition,
                          const char *replicas);
/* As the topic's node has it: "1,2,3", "4,1 add 4 remove 1". */
const char *fake_cluster_assignment(struct fake_cluster *f, const char *topic, int partition);
/* Returns the error, and how many partitions are left. */
int fake_cluster_shutdown(struct fake_cluster *f, int id, int *ret_left);
