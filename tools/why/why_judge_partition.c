/*
 * why_judge_partition.c - why a partition has no leader, too few replicas in sync, or a replica
 * less
 */
#include "common/base/err.h"
#include "tools/why/why.h"

#include <inttypes.h>

bool why_is_alive(const struct why_facts *f, int32_t broker)
{
    const struct why_broker *b = why_find_broker(f, broker);

    if (!b || b->registered == WHY_NO || b->answers == WHY_NO)
        return false;
    return f->brokers_answer == WHY_YES ? b->is_listed : b->registered == WHY_YES;
}

enum why_cause why_replica_cause(const struct why_facts *f, const struct why_partition *p,
                                 int32_t broker)
{
    const struct why_broker *b = why_find_broker(f, broker);

    if (!b || b->registered == WHY_NO)
        return WHY_GONE;
    if (b->answers == WHY_NO)
        return WHY_SILENT;
    if (f->brokers_answer == WHY_YES ? !b->is_listed : b->registered != WHY_YES)
        return WHY_GONE;
    return why_has(&p->offline, broker) ? WHY_NO_DISK : WHY_BEHIND;
}

static const struct why_copy *leaders_copy(const struct why_partition *p)
{
    return p->leader >= 0 ? why_find_copy(p, p->leader) : NULL;
}

int64_t why_records_behind(const struct why_partition *p, int32_t broker)
{
    const struct why_copy *leader = leaders_copy(p), *own = why_find_copy(p, broker);

    if (!leader || !own || leader->end_offset < 0 || own->end_offset < 0)
        return -1;
    return MAX(leader->end_offset - own->end_offset, (int64_t)0);
}

int64_t why_bytes_behind(const struct why_partition *p, int32_t broker)
{
    const struct why_copy *leader = leaders_copy(p), *own = why_find_copy(p, broker);

    if (!leader || !own || leader->size < 0 || own->size < 0)
        return -1;
    return MAX(leader->size - own->size, (int64_t)0);
}

int64_t why_rate(const struct why_facts *f, const struct why_partition *p, int32_t to)
{
    const struct why_broker *target = why_find_broker(f, to);
    const struct why_broker *leader = why_find_broker(f, p->leader);
    int64_t rate = -1;

    if (target && why_throttles(&p->topic->follower_throttle, p->partition, to))
        rate = target->follower_rate;
    if (leader && leader->leader_rate >= 0 && (rate < 0 || leader->leader_rate < rate) &&
        why_throttles(&p->topic->leader_throttle, p->partition, p->leader))
        rate = leader->leader_rate;
    return rate;
}

void why_sum_up(struct why_facts *f)
{
    for (int32_t i = 0; i < f->topics_count; i++) {
        for (int32_t k = 0; k < f->topics[i].count; k++) {
            const struct why_partition *p = &f->topics[i].v[k];
            for (int32_t n = 0; n < p->replicas.count; n++) {
                struct why_broker *b = why_find_broker(f, p->replicas.v[n]);
                if (b && !why_has(&p->isr, b->id) && why_rate(f, p, b->id) >= 0)
                    b->to_fetch += MAX(why_bytes_behind(p, b->id), (int64_t)0);
            }
        }
    }
}

/* ---- a replica ---- */

static struct str address_text(const struct why_facts *f, const struct why_broker *b)
{
    return b && b->address.len ? arena_printf(f->arena, " (%.*s)", STR_ARG(b->address)) : STR("");
}

static void explain_gone(const struct why_facts *f, const struct why_broker *b, int32_t id,
                         struct why_finding *w)
{
    struct arena *a = f->arena;

    if (b && b->registered == WHY_YES)
        why_because(a, w,
                    arena_printf(a,
                                 "broker %d%.*s is registered in ZooKeeper, but the brokers do "
                                 "not list it: the controller has not taken it in",
                                 id, STR_ARG(address_text(f, b))),
                    arena_printf(a, "/brokers/ids/%d; %.*s", id, STR_ARG(f->source)));
    else
        why_because(a, w, arena_printf(a, "broker %d is not registered: it is down", id),
                    f->zk.answers == WHY_YES ? arena_printf(a, "/brokers/ids/%d", id) : f->source);
    if (b && b->registered == WHY_YES)
        why_unblock(a, w, STR("see klamm why controller"));
    else
        why_unblock(
            a, w, arena_printf(a, "start broker %d again (klamm why broker %d says more)", id, id));
}

static void explain_silent(const struct why_facts *f, const struct why_broker *b,
                           struct why_finding *w)
{
    struct arena *a = f->arena;

    why_because(a, w,
                arena_printf(a, "broker %d%.*s is registered, but does not answer", b->id,
                             STR_ARG(address_text(f, b))),
                arena_printf(a, "a request to broker %d: %.*s", b->id, STR_ARG(b->silence)));
    why_unblock(a, w,
                arena_printf(a,
                             "make the process of broker %d go on, or restart it: klamm why "
                             "broker %d",
                             b->id, b->id));
}

static void explain_no_disk(const struct why_facts *f, const struct why_broker *b,
                            struct why_finding *w)
{
    struct arena *a = f->arena;
    struct str source = arena_printf(a, "%.*s: offline_replicas", STR_ARG(f->source));
    struct str dir = STR("a log dir");

    for (int32_t i = 0; i < b->dirs_count; i++) {
        if (!b->dirs[i].error)
            continue;
        dir = arena_printf(a, "the log dir %.*s", STR_ARG(b->dirs[i].path));
        source =
            arena_printf(a, "DescribeLogDirs of broker %d: %s", b->id, err_name(b->dirs[i].error));
        break;
    }
    why_because(a, w, arena_printf(a, "%.*s of broker %d is offline", STR_ARG(dir), b->id), source);
    why_unblock(a, w,
                arena_printf(a,
                             "mend that disk and restart broker %d; or, where its data are lost, "
                             "put an empty one in its place: the replicas are copied anew",
                             b->id));
}

static void explain_throttle(const struct why_facts *f, int64_t rate, struct why_finding *w)
{
    struct arena *a = f->arena;

    why_because(a, w, arena_printf(a, "its replication is throttled to %" PRId64 " bytes/s", rate),
                STR("DescribeConfigs: *.replication.throttled.rate, *.replication.throttled."
                    "replicas"));
    why_unblock(a, w,
                arena_printf(a,
                             "a higher rate, or none: klamm reassign --bootstrap-server %.*s "
                             "--execute --additional --throttle BYTES --reassignment-json-file "
                             "FILE; --verify takes it away when a move is done",
                             STR_ARG(f->bootstrap)));
}

static void explain_behind(const struct why_facts *f, const struct why_partition *p, int32_t id,
                           struct why_finding *w)
{
    struct arena *a = f->arena;
    const struct why_copy *copy = why_find_copy(p, id);
    int64_t behind = why_records_behind(p, id), rate = why_rate(f, p, id);

    if (rate >= 0)
        explain_throttle(f, rate, w);
    if (copy && copy->was_asked && !copy->is_there) {
        why_because(a, w,
                    arena_printf(a,
                                 "broker %d is alive, but has no log of it: it has not done, or "
                                 "not heard, what the controller wants",
                                 id),
                    arena_printf(a, "DescribeLogDirs of broker %d", id));
        why_unblock(a, w,
                    arena_printf(a, "see klamm why controller, and the log of broker %d", id));
        return;
    }
    struct str source = arena_printf(a, "ListOffsets of brokers %d and %d", p->leader, id);
    if (behind > 0) {
        why_because(a, w, arena_printf(a, "the replica on broker %d lags behind the leader", id),
                    source);
        why_unblock(a, w,
                    arena_printf(a,
                                 "wait until broker %d has caught up; if its lag does not "
                                 "shrink, its disk, its network or num.replica.fetchers is the "
                                 "limit",
                                 id));
    } else if (behind == 0) {
        why_because(a, w,
                    arena_printf(a,
                                 "the replica on broker %d has caught up and waits for its "
                                 "leader to take it into the ISR",
                                 id),
                    source);
        why_unblock(a, w,
                    STR("wait: the leader asks the controller with the next fetch; if it stays, "
                        "see klamm why controller"));
    } else {
        why_because(a, w,
                    arena_printf(a,
                                 "broker %d is alive and its replica is not in the ISR; how far "
                                 "behind it is could not be asked",
                                 id),
                    f->source);
        why_unblock(a, w, arena_printf(a, "wait until broker %d has caught up", id));
    }
}

void why_explain_replica(const struct why_facts *f, const struct why_partition *p, int32_t broker,
                         struct why_finding *w)
{
    const struct why_broker *b = why_find_broker(f, broker);

    switch (why_replica_cause(f, p, broker)) {
    case WHY_GONE:
        explain_gone(f, b, broker, w);
        break;
    case WHY_SILENT:
        explain_silent(f, b, w);
        break;
    case WHY_NO_DISK:
        explain_no_disk(f, b, w);
        break;
    default:
        explain_behind(f, p, broker, w);
    }
}

/* ---- a partition ---- */

static void add_detail(struct strbuf *sb, struct str text)
{
    strbuf_addf(sb, "%s%.*s", sb->len ? ", " : "", STR_ARG(text));
}

struct why_item why_partition_item(const struct why_facts *f, const struct why_partition *p)
{
    struct arena *a = f->arena;
    CLEANUP(strbuf_deinit) struct strbuf sb = {0};

    if (p->changed_ms)
        add_detail(&sb, arena_printf(a, "since %.*s", STR_ARG(why_time(a, p->changed_ms))));
    if (p->adding.count || p->removing.count)
        add_detail(&sb, arena_printf(a, "adding %.*s, removing %.*s",
                                     STR_ARG(why_ids_text(a, &p->adding)),
                                     STR_ARG(why_ids_text(a, &p->removing))));
    if (p->isr.count < p->replicas.count || p->leader < 0)
        add_detail(&sb, arena_printf(a, "ISR %.*s of %.*s", STR_ARG(why_ids_text(a, &p->isr)),
                                     STR_ARG(why_ids_text(a, &p->replicas))));
    for (int32_t i = 0; i < p->replicas.count; i++) {
        int32_t id = p->replicas.v[i];
        const struct why_copy *copy = why_find_copy(p, id);
        if (p->leader < 0 && copy && copy->end_offset >= 0)
            add_detail(&sb, arena_printf(a, "the copy of broker %d ends at offset %" PRId64, id,
                                         copy->end_offset));
        else if (why_records_behind(p, id) > 0)
            add_detail(&sb, arena_printf(a, "broker %d is %" PRId64 " records behind", id,
                                         why_records_behind(p, id)));
    }
    return (struct why_item){
        .name = arena_printf(a, "%.*s-%d", STR_ARG(p->topic->name), p->partition),
        .detail = arena_str(a, strbuf_str(&sb)),
        .topic = p->topic->name,
        .partition = p->partition,
        .replicas = why_ids_text(a, &p->replicas),
    };
}

static bool can_lead(const struct why_facts *f, const struct why_partition *p, int32_t id)
{
    return why_replica_cause(f, p, id) == WHY_BEHIND;
}

static struct why_ids able(const struct why_facts *f, const struct why_partition *p, bool is_in_isr)
{
    struct why_ids ids = {arena_new_array(f->arena, int32_t, (size_t)p->replicas.count + 1), 0};
    struct why_ids all = why_ids_sorted(f->arena, &p->replicas);

    for (int32_t i = 0; i < all.count; i++) {
        int32_t id = all.v[i];
        if (why_has(&p->isr, id) == is_in_isr && can_lead(f, p, id))
            ids.v[ids.count++] = id;
    }
    return ids;
}

static void explain_unclean(const struct why_facts *f, const struct why_partition *p,
                            const struct why_ids *others, struct why_finding *w)
{
    struct arena *a = f->arena;
    struct str ids = why_ids_text(a, others);
    struct why_ids isr = why_ids_sorted(a, &p->isr);

    if (others->count == 0)
        return;
    if (p->topic->unclean == WHY_YES) {
        why_because(a, w,
                    arena_printf(a,
                                 "unclean.leader.election.enable=true, so %.*s, which are "
                                 "alive, may lead: the controller has not elected one",
                                 STR_ARG(ids)),
                    STR("DescribeConfigs"));
        why_unblock(a, w, STR("see klamm why controller"));
        return;
    }
    why_because(
        a, w,
        arena_printf(
            a, "%.*s are alive, but were not in the ISR%s: they may not lead", STR_ARG(ids),
            p->topic->unclean == WHY_NO ? ", and unclean.leader.election.enable=false" : ""),
        p->topic->unclean == WHY_NO ? STR("DescribeConfigs") : f->source);
    why_unblock(a, w,
                arena_printf(a,
                             "as a last resort, at the price of the records that only %.*s has: "
                             "kafka-leader-election --bootstrap-server %.*s --election-type "
                             "unclean --topic {topic} --partition {partition}",
                             STR_ARG(why_ids_text(a, &isr)), STR_ARG(f->bootstrap)));
}

static void explain_garbled(const struct why_facts *f, const struct why_partition *p,
                            const struct why_ids *ready, struct why_finding *w)
{
    struct arena *a = f->arena;

    why_because(a, w,
                STR("what its state's node holds is no state: no controller can read it, and so "
                    "none elects a leader"),
                arena_printf(a, "/brokers/topics/%.*s/partitions/%d/state", STR_ARG(p->topic->name),
                             p->partition));
    why_unblock(a, w,
                arena_printf(a,
                             "write a state into it, as that of another partition, with %.*s as "
                             "its isr and one of them as its leader; then delete /controller: the "
                             "next controller reads it",
                             STR_ARG(why_ids_text(a, ready))));
}

void why_explain_leaderless(const struct why_facts *f, const struct why_partition *p,
                            struct why_finding *w)
{
    struct arena *a = f->arena;
    struct why_ids ready = able(f, p, true), others = able(f, p, false);
    struct why_ids isr = why_ids_sorted(a, &p->isr);

    if (p->is_garbled && ready.count > 0) {
        explain_garbled(f, p, &ready, w);
        return;
    }
    if (ready.count > 0) {
        why_because(a, w,
                    arena_printf(a,
                                 "%.*s of the ISR are alive: the controller has not elected one "
                                 "of them yet",
                                 STR_ARG(why_ids_text(a, &ready))),
                    f->source);
        why_unblock(a, w, STR("wait a moment; if it stays, see klamm why controller"));
        return;
    }
    if (isr.count > 0)
        why_because(a, w,
                    arena_printf(a,
                                 "%.*s had every acknowledged record: nobody else was in the "
                                 "ISR",
                                 STR_ARG(why_ids_text(a, &isr))),
                    f->source);
    for (int32_t i = 0; i < isr.count; i++)
        why_explain_replica(f, p, isr.v[i], w);
    explain_unclean(f, p, &others, w);
}

static void judge_leaderless(const struct why_facts *f, const struct why_partition *p,
                             struct why_findings *ret)
{
    struct why_finding w = why_begin(f->arena, WHY_DOWN, "partition", why_partition_item(f, p));

    w.what = STR("no leader: nobody can write to it or read it");
    why_explain_leaderless(f, p, &w);
    why_done(ret, &w);
}

/* Gone: whoever of the ISR lives is elected. Silent: it leads on until its session ends. */
static void judge_absent_leader(const struct why_facts *f, const struct why_partition *p,
                                struct why_findings *ret)
{
    struct why_finding w = why_begin(f->arena, WHY_DOWN, "partition", why_partition_item(f, p));
    bool is_gone = why_replica_cause(f, p, p->leader) == WHY_GONE;

    w.what = arena_printf(f->arena, "its leader, broker %d, %s: clients wait", p->leader,
                          is_gone ? "is down" : "does not serve");
    if (is_gone)
        why_explain_leaderless(f, p, &w);
    else
        why_explain_replica(f, p, p->leader, &w);
    why_done(ret, &w);
}

/* Replicas that are wanted, and not in the ISR: those that are only being added are a move's. */
static struct why_ids missing(const struct why_facts *f, const struct why_partition *p)
{
    struct why_ids ids = {arena_new_array(f->arena, int32_t, (size_t)p->replicas.count + 1), 0};
    struct why_ids all = why_ids_sorted(f->arena, &p->replicas);

    for (int32_t i = 0; i < all.count; i++) {
        int32_t id = all.v[i];
        if (!why_has(&p->isr, id) && !why_has(&p->adding, id))
            ids.v[ids.count++] = id;
    }
    return ids;
}

/* min.insync.replicas is more than there are replicas: no broker that comes back will help. */
static void judge_impossible(const struct why_facts *f, const struct why_partition *p,
                             struct why_findings *ret)
{
    struct arena *a = f->arena;
    struct why_finding w = why_begin(a, WHY_BLOCKED, "partition", why_partition_item(f, p));

    w.what = STR("below min ISR for ever: writes with acks=all are refused (NOT_ENOUGH_REPLICAS)");
    why_because(a, &w,
                arena_printf(a, "min.insync.replicas=%d, but it has %d replica(s)",
                             p->topic->min_isr, p->replicas.count),
                STR("DescribeConfigs"));
    why_unblock(a, &w,
                arena_printf(a,
                             "kafka-configs --bootstrap-server %.*s --alter --topic {topic} "
                             "--add-config min.insync.replicas=%d",
                             STR_ARG(f->bootstrap), p->replicas.count));
    why_unblock(a, &w, STR("or give it more replicas: klamm reassign"));
    why_done(ret, &w);
}

static void judge_missing(const struct why_facts *f, const struct why_partition *p,
                          const struct why_ids *ids, struct why_findings *ret)
{
    struct arena *a = f->arena;
    struct why_finding w = why_begin(a, WHY_DEGRADED, "partition", why_partition_item(f, p));
    int32_t min = p->topic->min_isr;

    w.what = arena_printf(a, "under-replicated: %.*s not in sync", STR_ARG(why_ids_text(a, ids)));
    if (min >= 0 && p->isr.count < min) {
        w.severity = WHY_BLOCKED;
        w.what = arena_printf(a,
                              "below min ISR (%d of %d): writes with acks=all are refused "
                              "(NOT_ENOUGH_REPLICAS)",
                              p->isr.count, min);
    } else if (min >= 0 && p->isr.count == min) {
        w.what = arena_printf(a,
                              "under-replicated, at min ISR (%d): %.*s not in sync; one more "
                              "loss stops writes with acks=all",
                              min, STR_ARG(why_ids_text(a, ids)));
    }
    if (min >= 0 && p->isr.count <= min)
        why_because(a, &w, arena_printf(a, "min.insync.replicas=%d", min), STR("DescribeConfigs"));
    for (int32_t i = 0; i < ids->count; i++)
        why_explain_replica(f, p, ids->v[i], &w);
    why_done(ret, &w);
}

void why_judge_partition(const struct why_facts *f, const struct why_partition *p,
                         struct why_findings *ret)
{
    struct why_ids ids = missing(f, p);
    int32_t wanted = p->replicas.count - p->removing.count;

    if (p->leader < 0)
        judge_leaderless(f, p, ret);
    else if (!why_is_alive(f, p->leader))
        judge_absent_leader(f, p, ret);
    else if (p->topic->min_isr > p->replicas.count && wanted > 0)
        judge_impossible(f, p, ret);
    else if (ids.count > 0)
        judge_missing(f, p, &ids, ret);
}
