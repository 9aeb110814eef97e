/*
 * join.h - what the parts of `klamm check-join` share
 *
 *   cmd_check_join.c   join_read_*() fill struct join_facts, only ever reading
 *                      join_judge_*() turn facts into findings; pure
 *                      join_print() prints them, worst first
 *
 * What klamm why reads of ZooKeeper and of brokers is read by its readers. Whatever could not be
 * known stays unknown, and facts->zk.unasked says why. Everything lives in facts->arena. Thread:
 * the main one.
 */
#pragma once

#include "broker/config/broker_conf.h"
#include "common/io/fs.h"
#include "tools/join/join_finding.h"
#include "tools/why/why_stop.h"
#include "zk/node_broker.h"
#include "zk/node_cluster.h"
#include "zk/node_config.h"

/* One of several that are named. */
struct join_server {
    struct str name;
    bool answers, is_read_only;
    struct str silence;
};

/* Nodes that klamm why has no use for. */
struct join_nodes {
    struct join_server *servers; /* none where only one is named */
    size_t servers_count;
    bool has_migration;
    struct node_migration migration;
    bool has_features;
    struct node_features features;
    bool has_producer_block;
    struct node_producer_block producer_block;
    bool has_preferred;         /* /admin/preferred_replica_election */
    struct why_texts acls;      /* resources that have some */
    struct why_texts tokens;    /* delegation tokens */
    struct why_texts scram;     /* users with SCRAM credentials */
    struct why_texts quotas;    /* "users/alice", "clients/c", "ips/1.2.3.4" */
    struct node_config of_all;  /* settings of brokers: for all, */
    struct node_config of_one;  /* and for the one that is to be replaced */
    struct why_texts guarded;   /* "/brokers/ids sasl:kafka:cdrwa" that everybody may not change */
    struct why_texts forbidden; /* paths that could not be read (no right to) */
};

struct join_log {
    struct str topic;
    int32_t partition;
    bool is_future;
    bool has_id;
    struct uuid id;
    struct str dir; /* its path */
};

/* One of log.dirs. */
struct join_dir {
    struct str path;
    bool is_there;
    int read_error;  /* errno: why it cannot be read; 0 */
    int write_error; /* errno: why files in it could not be changed by whoever runs this; 0 */
    bool is_in_use;  /* somebody holds its lock */
    int32_t used_by; /* pid, where known */
    bool has_meta;   /* meta.properties */
    int32_t broker_id;
    struct str cluster_id; /* null: none */
    struct str meta_wrong; /* why meta.properties cannot be; null: it can */
    bool is_clean;         /* .kafka_cleanshutdown */
    struct why_bad_node *bad;
    size_t bad_count, bad_cap;   /* files that cannot be read, or not understood */
    struct why_texts strangers;  /* directories that are no partition's */
    struct why_texts kraft;      /* of a KRaft broker */
    struct why_texts tiered;     /* left by tiered storage */
    struct why_texts strays;     /* topics that were gone when a migration looked */
    struct why_texts old_format; /* partitions whose oldest segment is of format v0 or v1 */
    struct join_log *logs;
    size_t logs_count, logs_cap;
    int64_t segments;
    bool knows_space;
    struct fs_space space;
};

/* What a running broker says of itself. */
struct join_live {
    int32_t id;
    struct str ibp, authorizer, migrates; /* null: not told */
    int64_t transactional_ids;            /* that it coordinates; -1: not told */
};

struct zk_direct_acls;

struct join_facts {
    struct arena *arena;
    struct str zookeeper; /* where it is */
    const char *config;   /* path of server.properties; NULL: none */
    int32_t wanted;       /* --broker; -1: none */
    int32_t broker;       /* the one that is to be replaced; -1: not known */
    struct why_facts zk;  /* as ZooKeeper has it: brokers_answer stays WHY_UNKNOWN */
    bool asked_zk;        /* it could be asked at all */
    struct join_nodes nodes;
    struct broker_conf *conf; /* NULL: none, or nothing can be made of it */
    struct why_texts refused; /* why a start would refuse the file */
    struct join_dir *dirs;
    size_t dirs_count;
    int64_t open_files;            /* that a process may have at most; -1: not known */
    const struct stop_facts *stop; /* NULL: brokers were not asked */
    struct join_live *live;
    size_t live_count;
};

/* min.insync.replicas of a topic that has none of its own. */
int32_t join_default_min_isr(const struct join_facts *f);
/* What is set in the file, or at run time above it; NULL where neither is known. */
const char *join_setting(const struct join_facts *f, const char *key);

/* ---- reading ---- */

/* join_read_conf.c: the file, and whether a start would take it. */
void join_read_conf(struct join_facts *f, const char *path);
/* join_read_dirs.c: log.dirs of the file. */
void join_read_dirs(struct join_facts *f);
/* The id in meta.properties, -1: none has one. */
int32_t join_stored_broker(const struct broker_conf *conf);
void join_read_dir(struct arena *a, struct join_dir *d, const char *path);
/* join_read_zk.c: the nodes; f->zk has been read. */
void join_read_nodes(struct join_facts *f, struct zk_store *s);
/* join_read_session.c: who may change the nodes; each server that is named, on its own. */
void join_read_guards(struct join_facts *f, int64_t timeout_ms);
void join_read_servers(struct join_facts *f, int64_t timeout_ms);
/* The servers of a connect string, its chroot with each. */
struct why_texts join_servers_of(struct arena *a, struct str connect);
/* "sasl:kafka:cdrwa" where an ACL does not let everybody do everything; null where it does. */
struct str join_guard_text(struct arena *a, const struct zk_direct_acls *acls);
/* join_ask.c: brokers, of themselves. */
void join_ask_live(struct join_facts *f, struct why_asker *ask);

/* ---- judging; pure ---- */

void join_judge_zk(const struct join_facts *f, struct join_findings *ret);
void join_judge_nodes(const struct join_facts *f, struct join_findings *ret);
void join_judge_brokers(const struct join_facts *f, struct join_findings *ret);
void join_judge_topics(const struct join_facts *f, struct join_findings *ret);
void join_judge_replicas(const struct join_facts *f, struct join_findings *ret);
void join_judge_conf(const struct join_facts *f, struct join_findings *ret);
void join_judge_dynamic(const struct join_facts *f, struct join_findings *ret);
void join_judge_dirs(const struct join_facts *f, struct join_findings *ret);
void join_judge_logs(const struct join_facts *f, struct join_findings *ret);
void join_judge_live(const struct join_facts *f, struct join_findings *ret);
/* All of them. */
void join_judge(const struct join_facts *f, struct join_findings *ret);
