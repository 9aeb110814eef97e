/*
 * why.h - what the parts of `klamm why` share, and others that ask and judge with them
 *
 *   cmd_why.c          why_ask_*() and why_zk_ask() fill struct why_facts
 *                      why_judge_*() turn facts into findings
 *                      why_print() prints them, worst first
 *
 * A finding is a statement about things of one kind (partitions, brokers, ...), the reasons for it,
 * each with what it was concluded from, and what unblocks it. Things with the same statement,
 * reasons and ways out are one finding. Thread: the main one.
 */
#pragma once

#include "tools/base/cluster.h"
#include "tools/why/why_facts.h"

#include <stdio.h>

/* Worst first. Notes explain what is under way: nothing is wrong. */
enum why_severity { WHY_DOWN, WHY_BLOCKED, WHY_DEGRADED, WHY_NOTE };

struct why_reason {
    struct str text;
    struct str source;
};

struct why_item {
    struct str name;   /* "orders-3", "2" */
    struct str detail; /* "since ..., 120 records behind"; may be empty */
    struct str topic;  /* of a partition; null: something else */
    int32_t partition;
    struct str replicas; /* "[1,2,3]" */
};

struct why_finding {
    enum why_severity severity;
    const char *kind; /* "partition", "broker", "group", "topic", "controller", "ZooKeeper" */
    struct str what;
    struct why_item *items;
    size_t items_count, items_cap;
    struct why_reason *reasons;
    size_t reasons_count, reasons_cap;
    struct why_texts unblocks;
};

struct why_findings {
    struct arena *arena;
    struct why_finding *v;
    size_t count, cap;
};

/* ---- why_finding.c ---- */

/* With one item; completed by the next two, and then why_done(). In texts {topic}, {partition} and
 * {replicas} stand for those of the item. */
struct why_finding why_begin(struct arena *a, enum why_severity severity, const char *kind,
                             struct why_item item);
void why_because(struct arena *a, struct why_finding *w, struct str text, struct str source);
void why_unblock(struct arena *a, struct why_finding *w, struct str text);
/* Adds it, or its items to the one that says the same. */
void why_done(struct why_findings *all, const struct why_finding *w);
/* When all are there: worst first, causes in front, then by number of items; placeholders filled
 * in. */
void why_finish(struct why_findings *all);
void why_drop_notes(struct why_findings *all);
/* Something is worse than a note. */
bool why_is_wrong(const struct why_findings *all);

/* ---- judging; pure ---- */

/* No broker answers; ZooKeeper; the controller. */
void why_judge_reach(const struct why_facts *f, struct why_findings *ret);
void why_judge_zk(const struct why_facts *f, struct why_findings *ret);
void why_judge_controller(const struct why_facts *f, bool is_asked, struct why_findings *ret);
/* What brokers have told the controller, and it has not taken up. */
void why_judge_notices(const struct why_facts *f, struct why_findings *ret);
/* One; is_asked: notes too, and one that nobody has heard of is a finding. */
void why_judge_broker(const struct why_facts *f, int32_t id, bool is_asked,
                      struct why_findings *ret);
void why_judge_partition(const struct why_facts *f, const struct why_partition *p,
                         struct why_findings *ret);
/* Also says that it is under way, as a note. */
void why_judge_move(const struct why_facts *f, const struct why_partition *p,
                    struct why_findings *ret);
void why_judge_legacy_moves(const struct why_facts *f, struct why_findings *ret);
void why_judge_deletion(const struct why_facts *f, const struct why_deletion *d,
                        struct why_findings *ret);
/* A topic that is not being deleted. */
void why_judge_no_deletion(const struct why_facts *f, struct str topic, struct why_findings *ret);
void why_judge_group(const struct why_facts *f, const struct why_group *g,
                     struct why_findings *ret);
/* Of two looks at a group: what is read by somebody, and where no commit came. */
void why_judge_progress(const struct why_facts *f, const struct why_group *before,
                        const struct why_group *now, struct why_findings *ret);
/* Everything: what is not well, without notes. */
void why_judge_all(const struct why_facts *f, struct why_findings *ret);

/* Why a replica is not in the ISR, or cannot do what it is to do. */
enum why_cause {
    WHY_GONE,    /* its broker is not registered */
    WHY_SILENT,  /* registered, and does not answer */
    WHY_NO_DISK, /* its log dir is offline */
    WHY_BEHIND,  /* fetches, is not there yet; or nobody could say */
};

enum why_cause why_replica_cause(const struct why_facts *f, const struct why_partition *p,
                                 int32_t broker);
/* Adds the reason and what unblocks it. */
void why_explain_replica(const struct why_facts *f, const struct why_partition *p, int32_t broker,
                         struct why_finding *w);
/* Its broker serves: listed, and answers as far as known. */
bool why_is_alive(const struct why_facts *f, int32_t broker);
/* "records" behind the leader, -1 where not known; bytes likewise. */
int64_t why_records_behind(const struct why_partition *p, int32_t broker);
int64_t why_bytes_behind(const struct why_partition *p, int32_t broker);
/* Bytes a second that a broker may fetch of a partition; -1: as many as it can. */
int64_t why_rate(const struct why_facts *f, const struct why_partition *p, int32_t to);
/* When replicas have been asked: what each broker is to fetch at its rate. */
void why_sum_up(struct why_facts *f);
/* "2026-11-30 10:11:12Z", "3 min 20 s" */
struct str why_time(struct arena *a, int64_t ms);
struct str why_duration(struct arena *a, int64_t ms);
struct why_item why_partition_item(const struct why_facts *f, const struct why_partition *p);
/* Why it has no leader: reasons and what unblocks it. */
void why_explain_leaderless(const struct why_facts *f, const struct why_partition *p,
                            struct why_finding *w);

/* ---- printing ---- */

struct why_print_opts {
    bool json;
    bool lists_all;      /* every item, and not the first few */
    const char *well;    /* what is said when there is nothing to say */
    const char *verdict; /* can-stop's, on top; NULL: none */
};

void why_print(const struct why_facts *f, const struct why_findings *all,
               const struct why_print_opts *o, FILE *out);

/* ---- asking ---- */

struct why_asker {
    struct why_facts *f;
    struct cluster *cluster;
    struct arena *arena;
    struct str topic; /* only this one; null: all */
};

/* why_ask.c: Metadata, from the controller where it answers. False where nobody answers, which is
 * put down. */
bool why_ask_metadata(struct why_asker *ask);
/* Whether each broker answers, and which controller it sees. */
void why_ask_brokers(struct why_asker *ask);
/* One request to one broker, or to SEED_ANY: NULL where it does not answer, which is put down. A
 * broker that did not answer once is not asked again. */
const void *why_call(struct why_asker *ask, const struct cluster_call *call);
/* why_ask_configs.c */
void why_ask_topic_configs(struct why_asker *ask);
void why_ask_controller_config(struct why_asker *ask);
/* Where an unwell topic is throttled. */
void why_ask_rates(struct why_asker *ask);
/* why_ask_replicas.c */
void why_ask_moves(struct why_asker *ask);
/* Log dirs of all brokers; logs and end offsets of what is unwell. */
void why_ask_replicas(struct why_asker *ask);
/* Who still has logs of a topic that is being deleted. */
void why_ask_holders(struct why_asker *ask, struct why_deletion *d);
/* Topics that lie on a broker, and that Metadata does not show though they are there. */
void why_ask_hidden(struct why_asker *ask, int32_t broker, struct why_texts *ret);
/* why_ask_group.c: into f->groups */
void why_ask_group(struct why_asker *ask, struct str name);
/* All that are rebalancing. */
void why_ask_groups(struct why_asker *ask);

struct zk;
struct zk_conf;
struct zk_store;

/* why_zk.c: how a session is opened in which is only read, by whom how says (TLS, digest). */
struct zk_conf why_zk_conf(const struct zk_conf *how, const char *connect, int64_t timeout_ms);
/* A session, and what why_zk_read() takes; NULL where there is none to be had. how says
 * who we are (TLS, digest); NULL: nobody. */
struct zk *why_zk_ask(struct why_facts *f, const char *connect, int64_t timeout_ms,
                      const struct zk_conf *how);
/* why_zk_read.c: all but states. */
void why_zk_read(struct why_facts *f, struct zk_store *s);
/* Since when what is unwell is as it is; all topics, where no broker has told of any. */
void why_zk_states(struct why_facts *f, struct zk_store *s);
