/*
 * join_judge_nodes.c - what was done to the cluster, and what its users rely on that Klamm does not
 * serve
 */
#include "tools/join/join.h"
#include "zk/zk_paths.h"

#define FOUND(severity, where, what, todo) join_found(ret, (severity), (where), (what), STR(todo))

enum { STUCK_MS = 60 * 1000 };

static void judge_migration(const struct join_facts *f, struct join_findings *ret)
{
    if (f->nodes.has_migration)
        FOUND(JOIN_BLOCKS, STR(ZK_PATH_MIGRATION),
              arena_printf(f->arena,
                           "a migration to KRaft has begun (KRaft controller %d, epoch %d)",
                           f->nodes.migration.controller_id, f->nodes.migration.controller_epoch),
              "roll it back, until brokers run on ZooKeeper alone, and delete /migration; or "
              "finish it, and stay with Kafka");
}

static void judge_features(const struct join_facts *f, struct join_findings *ret)
{
    const struct node_features *n = &f->nodes.features;

    for (int32_t i = 0; f->nodes.has_features && i < n->count; i++)
        FOUND(n->enabled ? JOIN_BLOCKS : JOIN_NOTE, STR(ZK_PATH_FEATURE),
              arena_printf(f->arena, "the feature %.*s is finalized at level %d%s",
                           STR_ARG(n->list[i].name), n->list[i].max_version,
                           n->enabled ? "" : " (features are disabled)"),
              "no 3.9 broker in ZooKeeper mode knows it: take it back with kafka-features");
}

static void judge_producer_ids(const struct join_facts *f, struct join_findings *ret)
{
    if (f->nodes.has_producer_block &&
        f->nodes.producer_block.end > INT64_MAX - NODE_PRODUCER_BLOCK_SIZE)
        FOUND(JOIN_BLOCKS, STR(ZK_PATH_PRODUCER_IDS), STR("producer ids are used up"),
              "idempotent producers get none any more, of no broker");
}

static void count(struct join_findings *ret, const struct why_texts *t, enum join_severity severity,
                  struct str what, struct str todo)
{
    for (size_t i = 0; i < t->count; i++)
        join_found(ret, severity, t->v[i], what, todo);
}

/* Where the file has no authorizer its owner has decided: they are not enforced today either. */
static void judge_acls(const struct join_facts *f, struct join_findings *ret)
{
    bool is_without = f->conf && !f->conf->authorizer_class_name[0];

    count(ret, &f->nodes.acls, is_without ? JOIN_WARNING : JOIN_BLOCKS,
          STR("has ACLs, which Klamm does not enforce yet: everybody may do everything at its "
              "listeners"),
          is_without ? STR("the configuration has no authorizer, so that is so already; remove "
                           "them if they are not wanted")
                     : STR("keep brokers with an authorizer on Kafka, or give access control up "
                           "and remove the ACLs"));
}

static void judge_users(const struct join_facts *f, struct join_findings *ret)
{
    count(ret, &f->nodes.tokens, JOIN_WARNING,
          STR("is a delegation token, which Klamm does not take"),
          STR("clients that use it cannot go to Klamm's listeners: give them TLS, or another "
              "broker"));
    count(ret, &f->nodes.scram, JOIN_WARNING, STR("has SCRAM credentials: SASL is not served yet"),
          STR("clients that log in cannot go to Klamm's listeners: give them TLS, or another "
              "broker"));
    count(ret, &f->nodes.quotas, JOIN_WARNING,
          STR("has a quota: Klamm keeps it, tells it, and does not enforce it yet"),
          STR("make sure that the broker stands what these clients do without it"));
}

static void judge_notices(const struct join_facts *f, struct str path, const struct why_notices *n,
                          struct join_findings *ret)
{
    int64_t age = f->zk.now_ms - n->since_ms;

    if (n->count == 0)
        return;
    if (n->since_ms && age < STUCK_MS)
        FOUND(
            JOIN_NOTE, path,
            arena_printf(f->arena, "%zu notification(s) on their way to the controller", n->count),
            "they are gone in a moment");
    else
        FOUND(JOIN_WARNING, path,
              arena_printf(f->arena, "%zu notification(s) that no controller has taken away",
                           n->count),
              "klamm why controller says why; the next election takes them away");
}

static void judge_wishes(const struct join_facts *f, struct join_findings *ret)
{
    const struct why_zk_facts *z = &f->zk.zk;

    for (size_t i = 0; i < z->deletions_count; i++) {
        const struct why_deletion *d = &z->deletions[i];
        bool is_new = d->since_ms && f->zk.now_ms - d->since_ms < STUCK_MS;
        FOUND(is_new ? JOIN_NOTE : JOIN_WARNING,
              arena_printf(f->arena, "%s/%.*s", ZK_PATH_DELETE_TOPICS, STR_ARG(d->topic)),
              is_new ? STR("a topic is being deleted")
                     : STR("a topic has been waiting to be deleted"),
              "klamm why deletion TOPIC says what it waits for");
    }
    if (z->has_legacy)
        FOUND(
            JOIN_WARNING, STR(ZK_PATH_REASSIGN),
            arena_printf(f->arena, "an old tool has asked for %d reassignment(s)", z->legacy_count),
            "let them end, or cancel them, before a broker is stopped");
    if (f->nodes.has_preferred)
        FOUND(JOIN_NOTE, STR(ZK_PATH_PREFERRED_ELECTION),
              STR("an election of preferred leaders has been asked for"),
              "the controller takes it away");
}

void join_judge_nodes(const struct join_facts *f, struct join_findings *ret)
{
    if (f->zk.zk.answers != WHY_YES)
        return;
    judge_migration(f, ret);
    judge_features(f, ret);
    judge_producer_ids(f, ret);
    judge_acls(f, ret);
    judge_users(f, ret);
    judge_wishes(f, ret);
    judge_notices(f, STR(ZK_PATH_ISR_CHANGES), &f->zk.zk.isr_changes, ret);
    judge_notices(f, STR(ZK_PATH_LOG_DIR_EVENTS), &f->zk.zk.dir_events, ret);
}
