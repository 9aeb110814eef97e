/*
 * why_facts.h - what `klamm why` and `klamm can-stop` know when they judge
 *
 * Gathered by why_ask*.c (brokers) and why_zk.c (ZooKeeper), judged by why_judge_*.c, which are
 * pure functions of this. Whatever could not be asked stays unknown: NULL, -1, WHY_UNKNOWN, and
 * facts->unasked says why. Everything lives in facts->arena. Thread: the main one.
 */
#pragma once

#include "common/base/strbuf.h"
#include "common/base/uuid.h"
#include "tools/why/why_lists.h"

struct node_broker;
struct node_config;

struct why_dir {
    struct str path;
    int16_t error; /* KAFKA_STORAGE_ERROR: offline */
};

/* Of *.replication.throttled.replicas: "*", or "0:1,0:2" as partition:broker. */
struct why_throttle {
    bool is_all;
    int64_t *v; /* sorted */
    size_t count;
};

struct why_broker {
    int32_t id;
    struct str address;             /* host:port; null: not known */
    bool is_listed;                 /* in Metadata */
    enum why_known registered;      /* /brokers/ids/N */
    int64_t session;                /* its owner */
    bool is_garbled;                /* what it holds is no registration */
    int64_t registered_ms;          /* when it was made */
    const struct node_broker *node; /* what it says; NULL: not known, or not decodable */
    enum why_known answers;
    struct str silence;      /* how it did not answer */
    int32_t sees_controller; /* in its own Metadata; -1: none, -2: not asked */
    struct why_dir *dirs;
    int32_t dirs_count;
    int64_t leader_rate, follower_rate; /* bytes a second; -1: none, or not known */
    int64_t to_fetch; /* bytes of throttled replicas that it is behind: see why_sum_up() */
};

/* A replica's log as its own broker has it. */
struct why_copy {
    int32_t broker;
    bool was_asked;     /* DescribeLogDirs was answered */
    bool is_there;      /* and has it */
    int64_t size;       /* bytes; -1 unknown */
    int64_t end_offset; /* ListOffsets by a debugging replica; -1 unknown */
};

struct why_topic;

struct why_partition {
    struct why_topic *topic;
    int32_t partition;
    int32_t leader; /* -1: none */
    struct why_ids replicas, isr, offline, adding, removing;
    bool is_garbled;         /* what its state's node holds is no state */
    int64_t changed_ms;      /* when leader or ISR changed last: mtime of the state; 0 unknown */
    struct why_copy *copies; /* of each replica; NULL: not asked */
};

struct why_topic {
    struct str name;
    int16_t error; /* of Metadata */
    struct why_partition *v;
    int32_t count;
    int32_t min_isr;                  /* -1 unknown */
    enum why_known unclean;           /* unclean.leader.election.enable */
    struct uuid id;                   /* of its znode; zero: it has none, or that was not read */
    const struct node_config *config; /* its own settings in ZooKeeper; NULL: not read */
    struct why_throttle leader_throttle, follower_throttle;
};

/* A topic below /admin/delete_topics. */
struct why_deletion {
    struct str topic;
    int64_t since_ms;
    bool is_there;          /* /brokers/topics/T still is */
    struct why_topic nodes; /* its replicas, adding, removing, as ZooKeeper has them */
    struct why_ids holders; /* brokers that still have logs of it */
};

struct why_tp {
    struct str topic;
    int32_t partition;
};

struct why_member {
    struct str id, client_id, host;
    const struct why_tp *assigned;
    int32_t count;
};

struct why_commit {
    struct why_tp tp;
    int64_t committed;        /* -1: nothing */
    int64_t earliest, latest; /* -1: not known */
    bool is_assigned;
};

struct why_group {
    struct str name;
    int32_t coordinator; /* -1: none */
    int16_t find_error;  /* of FindCoordinator */
    int16_t error;       /* of DescribeGroups or OffsetFetch */
    struct str state;    /* null: not asked */
    struct why_member *members;
    int32_t members_count;
    struct why_texts subscribed; /* topics */
    struct why_commit *commits;  /* assigned or committed; sorted */
    size_t commits_count;
};

/* Notifications that brokers leave for the controller, which takes them away. */
struct why_notices {
    size_t count;
    int64_t since_ms; /* of the oldest; 0 unknown */
};

/* A znode that is there, and that no broker can read. */
struct why_bad_node {
    struct str path, why;
};

struct why_zk_facts {
    enum why_known answers; /* WHY_UNKNOWN: nobody told us where it is */
    struct str silence;
    bool is_read_only, has_no_chroot;
    bool is_other_cluster; /* its id is not that of the brokers: nothing else was taken from it */
    struct str cluster_id; /* null: none */
    int32_t controller;    /* -1: /controller is missing, or names nobody */
    int64_t controller_session;
    int64_t controller_since_ms;
    bool is_kraft, is_controller_garbled;
    int32_t controller_epoch; /* -1: none */
    struct why_deletion *deletions;
    size_t deletions_count;
    struct why_notices isr_changes, dir_events;
    bool has_legacy; /* /admin/reassign_partitions is there */
    int32_t legacy_count;
    struct why_bad_node *bad; /* as far as nodes were read; the first WHY_BAD_MAX */
    size_t bad_count, bad_cap;
};

struct why_facts {
    struct arena *arena;
    int64_t now_ms;
    struct str bootstrap, zookeeper; /* null: not given */
    enum why_known brokers_answer;   /* WHY_UNKNOWN: nobody told us where they are */
    struct str silence;
    struct str source;    /* "Metadata of broker 1" */
    int32_t asked_broker; /* who gave the Metadata; -1 */
    struct str cluster_id;
    int32_t controller;            /* in Metadata; -1: none */
    bool knows_moves;              /* reassignments were told */
    enum why_known deletes_topics; /* delete.topic.enable of the controller */
    struct why_broker *brokers;    /* sorted by id */
    int32_t brokers_count;
    struct why_topic *topics; /* sorted by name */
    int32_t topics_count;
    struct why_zk_facts zk;
    struct why_group *groups;
    int32_t groups_count;
    struct why_texts unasked; /* "what: why", one each */
};

/* NULL where there is none. */
struct why_broker *why_find_broker(const struct why_facts *f, int32_t id);
struct why_topic *why_find_topic(const struct why_facts *f, struct str name);
struct why_partition *why_find_partition(const struct why_facts *f, struct str topic,
                                         int32_t partition);
/* The one there is, or a new one about which nothing is known. Moves the others. */
struct why_broker *why_add_broker(struct why_facts *f, int32_t id);
/* NULL where the broker is none of its replicas, or was not asked. */
const struct why_copy *why_find_copy(const struct why_partition *p, int32_t broker);
int32_t why_partition_count(const struct why_facts *f);
/* Something is to be explained: no leader, not all in the ISR, on the move. */
bool why_is_unwell(const struct why_partition *p);
/* Puts down what could not be asked, and why; once each. */
void why_unasked(struct why_facts *f, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Puts a node down that cannot be decoded. */
void why_add_bad(struct why_facts *f, struct str path, const char *why);
/* When both have been asked: where ZooKeeper is another cluster's nothing that it said counts; a
 * broker without a znode is not registered. */
void why_settle(struct why_facts *f);

/* What cannot be read of it is left out. */
struct why_throttle why_throttle_parse(struct arena *a, struct str text);
bool why_throttles(const struct why_throttle *t, int32_t partition, int32_t broker);

enum { WHY_BAD_MAX = 1000 };
enum { WHY_ASKED_MAX = 20000 }; /* unwell partitions whose replicas and states are asked for */
