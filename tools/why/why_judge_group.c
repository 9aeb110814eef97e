/*
 * why_judge_group.c - why a consumer group does not get on
 */
#include "common/base/err.h"
#include "common/base/hash.h"
#include "tools/why/why.h"

#include <inttypes.h>

enum { MEMBERS_NAMED = 3 };

static const struct str offsets_topic = {"__consumer_offsets", 18};

static struct str source_of(const struct why_facts *f, const struct why_group *g, const char *what)
{
    return arena_printf(f->arena, "%s of broker %d", what, g->coordinator);
}

static struct why_finding begin(const struct why_facts *f, const struct why_group *g,
                                enum why_severity severity, struct str detail)
{
    const struct why_item item = {.name = g->name, .detail = detail};

    return why_begin(f->arena, severity, "group", item);
}

/* ---- the coordinator ---- */

/* The partition that keeps the group; NULL where there is no __consumer_offsets. */
static const struct why_partition *home_of(const struct why_facts *f, const struct why_group *g)
{
    const struct why_topic *t = why_find_topic(f, offsets_topic);

    if (!t || t->count == 0)
        return NULL;
    return why_find_partition(f, t->name, (hash_java(g->name) & INT32_MAX) % t->count);
}

static void explain_no_home(const struct why_facts *f, struct why_finding *w)
{
    why_because(f->arena, w, STR("__consumer_offsets does not exist"), f->source);
    why_unblock(f->arena, w,
                STR("the first consumer makes it, where at least "
                    "offsets.topic.replication.factor brokers are up: start the missing brokers, "
                    "or set that lower"));
}

static void explain_home(const struct why_facts *f, const struct why_partition *p,
                         struct why_finding *w)
{
    struct arena *a = f->arena;
    struct str name = arena_printf(a, "%.*s-%d", STR_ARG(p->topic->name), p->partition);

    if (p->leader < 0) {
        why_because(a, w, arena_printf(a, "%.*s, which keeps it, has no leader", STR_ARG(name)),
                    f->source);
        why_explain_leaderless(f, p, w);
    } else if (!why_is_alive(f, p->leader)) {
        why_because(a, w,
                    arena_printf(a,
                                 "%.*s, which keeps it, is led by broker %d, which does not "
                                 "serve",
                                 STR_ARG(name), p->leader),
                    f->source);
        why_explain_replica(f, p, p->leader, w);
    } else {
        why_because(a, w,
                    arena_printf(a,
                                 "broker %d leads %.*s, which keeps it: it has just taken it "
                                 "over, or reads it still",
                                 p->leader, STR_ARG(name)),
                    f->source);
        why_unblock(a, w,
                    arena_printf(a,
                                 "wait: reading takes as long as %.*s is big; if it stays, see "
                                 "the log of broker %d",
                                 STR_ARG(name), p->leader));
    }
}

static void judge_no_coordinator(const struct why_facts *f, const struct why_group *g,
                                 int16_t error, struct why_findings *ret)
{
    struct why_finding w = begin(f, g, WHY_DOWN, STR(""));
    const struct why_partition *home = home_of(f, g);

    w.what = STR("no coordinator: nobody can join it, commit or read offsets");
    if (error)
        why_because(f->arena, &w, str_of(err_name(error)), STR("FindCoordinator, DescribeGroups"));
    if (home)
        explain_home(f, home, &w);
    else
        explain_no_home(f, &w);
    why_done(ret, &w);
}

static bool is_refused(int16_t error)
{
    return error == GROUP_AUTHORIZATION_FAILED || error == INVALID_GROUP_ID;
}

/* True where there is nobody to ask more. */
static bool judge_coordinator(const struct why_facts *f, const struct why_group *g,
                              struct why_findings *ret)
{
    const struct why_broker *b = why_find_broker(f, g->coordinator);
    int16_t error = g->find_error ? g->find_error : g->error;

    if (is_refused(error)) {
        struct why_finding w = begin(f, g, WHY_DEGRADED, STR(""));
        w.what = STR("cannot be looked at");
        why_because(f->arena, &w, str_of(err_name(error)), STR("FindCoordinator, DescribeGroups"));
        why_unblock(f->arena, &w, STR("ask as somebody who may DESCRIBE it (--command-config)"));
        why_done(ret, &w);
    } else if (error || g->coordinator < 0) {
        judge_no_coordinator(f, g, error, ret);
    } else if (b && b->answers == WHY_NO) {
        struct why_finding w = begin(f, g, WHY_DOWN, STR(""));
        const struct why_partition *home = home_of(f, g);
        w.what = arena_printf(f->arena, "its coordinator, broker %d, does not answer", b->id);
        if (home)
            explain_home(f, home, &w);
        why_done(ret, &w);
    } else {
        return false;
    }
    return true;
}

/* ---- members ---- */

static int64_t lag_of(const struct why_commit *c)
{
    if (c->latest < 0)
        return 0;
    return MAX(c->latest - (c->committed >= 0 ? c->committed : MAX(c->earliest, (int64_t)0)),
               (int64_t)0);
}

static int64_t total_lag(const struct why_group *g)
{
    int64_t sum = 0;

    for (size_t i = 0; i < g->commits_count; i++)
        sum += lag_of(&g->commits[i]);
    return sum;
}

static struct str lag_text(const struct why_facts *f, const struct why_group *g)
{
    return arena_printf(f->arena, "%" PRId64 " record(s) wait in %zu partition(s)", total_lag(g),
                        g->commits_count);
}

static struct str members_text(const struct why_facts *f, const struct why_group *g,
                               bool (*is_one)(const struct why_member *))
{
    CLEANUP(strbuf_deinit) struct strbuf sb = {0};
    int n = 0;

    for (int32_t i = 0; i < g->members_count; i++) {
        const struct why_member *m = &g->members[i];
        if (is_one && !is_one(m))
            continue;
        if (n++ < MEMBERS_NAMED)
            strbuf_addf(&sb, "%s%.*s at %.*s", n > 1 ? ", " : "", STR_ARG(m->client_id),
                        STR_ARG(m->host));
    }
    if (n > MEMBERS_NAMED)
        strbuf_addf(&sb, " and %d more", n - MEMBERS_NAMED);
    return arena_str(f->arena, strbuf_str(&sb));
}

static void judge_dead(const struct why_facts *f, const struct why_group *g,
                       struct why_findings *ret)
{
    struct why_finding w = begin(f, g, WHY_DEGRADED, STR(""));

    w.what = STR("there is no such group");
    why_because(f->arena, &w, STR("it has no member, and no offset is kept for it"),
                source_of(f, g, "DescribeGroups"));
    why_unblock(f->arena, &w,
                STR("compare with group.id of the consumers; offsets of a group without members "
                    "are forgotten after offsets.retention.minutes"));
    why_done(ret, &w);
}

static void judge_empty(const struct why_facts *f, const struct why_group *g,
                        struct why_findings *ret)
{
    struct why_finding w = begin(f, g, total_lag(g) > 0 ? WHY_BLOCKED : WHY_DEGRADED, STR(""));

    w.what = STR("no members: nobody reads for it");
    why_because(f->arena, &w, STR("its state is Empty"), source_of(f, g, "DescribeGroups"));
    if (g->commits_count)
        why_because(f->arena, &w, lag_text(f, g), STR("OffsetFetch, ListOffsets"));
    why_unblock(f->arena, &w,
                STR("start its consumers; where they run, compare their group.id and bootstrap "
                    "servers, and look for errors in their logs. Consumers with assign() never "
                    "become members"));
    why_done(ret, &w);
}

static void judge_rebalancing(const struct why_facts *f, const struct why_group *g,
                              struct why_findings *ret)
{
    struct arena *a = f->arena;
    struct why_finding w = begin(f, g, WHY_BLOCKED, STR(""));
    bool is_joining = str_eqz(g->state, "PreparingRebalance");

    w.what = is_joining ? STR("rebalancing: waits for its members to join again")
                        : STR("rebalancing: waits for the assignment by one of its members");
    why_because(a, &w,
                arena_printf(a, "its state is %.*s; the protocol does not tell since when",
                             STR_ARG(g->state)),
                source_of(f, g, "DescribeGroups"));
    if (g->members_count)
        why_because(a, &w,
                    arena_printf(a, "%d member(s): %.*s", g->members_count,
                                 STR_ARG(members_text(f, g, NULL))),
                    source_of(f, g, "DescribeGroups"));
    if (is_joining)
        why_unblock(a, &w,
                    STR("wait: who does not join within its max.poll.interval.ms (rebalance "
                        "timeout) is left out. Members that stand still in their processing hold "
                        "up all the others: restart those, or lower max.poll.interval.ms"));
    else
        why_unblock(a, &w,
                    STR("wait: the leader has until its session.timeout.ms; if this comes again "
                        "and again, members come and go: see their logs"));
    if (g->commits_count)
        why_because(a, &w, lag_text(f, g), STR("OffsetFetch, ListOffsets"));
    why_done(ret, &w);
}

static bool is_idle(const struct why_member *m)
{
    return m->count == 0;
}

static int32_t partitions_subscribed(const struct why_facts *f, const struct why_group *g)
{
    int32_t n = 0;

    for (size_t i = 0; i < g->subscribed.count; i++) {
        const struct why_topic *t = why_find_topic(f, g->subscribed.v[i]);
        n += t ? t->count : 0;
    }
    return n;
}

static void judge_idle(const struct why_facts *f, const struct why_group *g,
                       struct why_findings *ret)
{
    struct arena *a = f->arena;
    struct why_finding w = begin(f, g, WHY_DEGRADED, STR(""));
    int32_t idle = 0, there_are = partitions_subscribed(f, g);

    for (int32_t i = 0; i < g->members_count; i++)
        idle += is_idle(&g->members[i]);
    if (idle == 0)
        return;
    w.what = arena_printf(a, "%d of %d member(s) have no partition", idle, g->members_count);
    why_because(a, &w, members_text(f, g, is_idle), source_of(f, g, "DescribeGroups"));
    for (size_t i = 0; i < g->subscribed.count; i++) {
        if (!why_find_topic(f, g->subscribed.v[i]))
            why_because(a, &w,
                        arena_printf(a, "it subscribes to %.*s, which does not exist",
                                     STR_ARG(g->subscribed.v[i])),
                        f->source);
    }
    if (g->members_count > there_are) {
        why_because(a, &w,
                    arena_printf(a,
                                 "there are more members (%d) than partitions (%d) in the "
                                 "topics it subscribes to",
                                 g->members_count, there_are),
                    f->source);
        why_unblock(a, &w,
                    arena_printf(a,
                                 "stop %d of them, or make more partitions: klamm topics "
                                 "--bootstrap-server %.*s --alter --topic TOPIC --partitions %d",
                                 idle, STR_ARG(f->bootstrap), g->members_count));
    } else {
        why_unblock(a, &w,
                    STR("there are enough partitions: these members subscribe to other topics than "
                        "the rest, or their assignor gave them none"));
    }
    why_done(ret, &w);
}

/* ---- offsets ---- */

static void judge_range(const struct why_facts *f, const struct why_group *g,
                        const struct why_commit *c, struct why_findings *ret)
{
    struct arena *a = f->arena;
    bool is_past = c->latest >= 0 && c->committed > c->latest;
    bool is_before = c->earliest >= 0 && c->committed >= 0 && c->committed < c->earliest;

    if (!is_past && !is_before)
        return;
    struct why_finding w = begin(f, g, WHY_BLOCKED, STR(""));
    w.what = arena_printf(a, "its offset of %.*s-%d is out of range", STR_ARG(c->tp.topic),
                          c->tp.partition);
    why_because(a, &w,
                arena_printf(a, "it has committed %" PRId64 "; the log has %" PRId64 " to %" PRId64,
                             c->committed, c->earliest, c->latest),
                STR("OffsetFetch, ListOffsets"));
    why_because(a, &w,
                is_past ? STR("the log is shorter than what was read: the topic was made anew, or "
                              "an unclean election has cut it")
                        : STR("what it was to read next has been deleted by retention"),
                STR("comparison"));
    why_unblock(a, &w,
                arena_printf(a,
                             "auto.offset.reset of its consumers decides (none: they fail); to "
                             "choose, with its consumers stopped: kafka-consumer-groups "
                             "--bootstrap-server %.*s --group %.*s --topic %.*s:%d "
                             "--reset-offsets --to-earliest --execute",
                             STR_ARG(f->bootstrap), STR_ARG(g->name), STR_ARG(c->tp.topic),
                             c->tp.partition));
    why_done(ret, &w);
}

static void judge_unread(const struct why_facts *f, const struct why_group *g,
                         const struct why_commit *c, struct why_findings *ret)
{
    struct arena *a = f->arena;
    const struct why_partition *p = why_find_partition(f, c->tp.topic, c->tp.partition);

    if (p && p->leader < 0) {
        struct why_finding w = begin(f, g, WHY_DOWN, STR(""));
        w.what = arena_printf(a, "%.*s-%d, which it reads, has no leader", STR_ARG(c->tp.topic),
                              c->tp.partition);
        why_explain_leaderless(f, p, &w);
        why_done(ret, &w);
        return;
    }
    if (lag_of(c) == 0 || (c->is_assigned && c->committed >= 0))
        return;
    struct why_finding w = begin(f, g, WHY_BLOCKED, STR(""));
    if (!c->is_assigned) {
        w.what = arena_printf(a, "no member reads %.*s-%d", STR_ARG(c->tp.topic), c->tp.partition);
        why_because(
            a, &w,
            arena_printf(a, "%" PRId64 " record(s) wait, and it is assigned to nobody", lag_of(c)),
            STR("DescribeGroups, OffsetFetch, ListOffsets"));
        why_unblock(a, &w,
                    STR("subscribe a consumer to that topic; or delete the offsets, where it is "
                        "not to be read any more: kafka-consumer-groups --delete-offsets"));
    } else {
        w.what = arena_printf(a, "nothing has been committed for %.*s-%d", STR_ARG(c->tp.topic),
                              c->tp.partition);
        why_because(a, &w,
                    arena_printf(a,
                                 "it is assigned, %" PRId64 " record(s) wait, and there is no "
                                 "offset",
                                 lag_of(c)),
                    STR("DescribeGroups, OffsetFetch, ListOffsets"));
        why_unblock(a, &w,
                    STR("its consumer has read nothing yet, fails on the first records, or does "
                        "not commit (enable.auto.commit): see its log"));
    }
    why_done(ret, &w);
}

static void note_stable(const struct why_facts *f, const struct why_group *g,
                        struct why_findings *ret)
{
    struct arena *a = f->arena;
    struct why_finding w = begin(f, g, WHY_NOTE, STR(""));

    w.what = arena_printf(a, "stable, %d member(s)", g->members_count);
    why_because(a, &w, lag_text(f, g), STR("OffsetFetch, ListOffsets"));
    if (total_lag(g) > 0)
        why_because(a, &w,
                    STR("one look does not tell whether that shrinks: ask again, or with "
                        "--watch SECONDS"),
                    STR("OffsetFetch"));
    why_done(ret, &w);
}

void why_judge_group(const struct why_facts *f, const struct why_group *g, struct why_findings *ret)
{
    if (judge_coordinator(f, g, ret) || str_is_null(g->state))
        return;
    if (str_eqz(g->state, "Dead") || (str_eqz(g->state, "Empty") && g->commits_count == 0)) {
        judge_dead(f, g, ret);
        return;
    }
    for (size_t i = 0; i < g->commits_count; i++)
        judge_range(f, g, &g->commits[i], ret);
    if (str_eqz(g->state, "Empty")) {
        judge_empty(f, g, ret);
    } else if (str_eqz(g->state, "PreparingRebalance") ||
               str_eqz(g->state, "CompletingRebalance")) {
        judge_rebalancing(f, g, ret);
    } else {
        judge_idle(f, g, ret);
        for (size_t i = 0; i < g->commits_count; i++)
            judge_unread(f, g, &g->commits[i], ret);
        note_stable(f, g, ret);
    }
}

/* ---- two looks ---- */

static const struct why_commit *find_commit(const struct why_group *g, const struct why_commit *c)
{
    for (size_t i = 0; i < g->commits_count; i++) {
        if (g->commits[i].tp.partition == c->tp.partition &&
            str_eq(g->commits[i].tp.topic, c->tp.topic))
            return &g->commits[i];
    }
    return NULL;
}

static const struct why_member *owner_of(const struct why_group *g, const struct why_commit *c)
{
    for (int32_t i = 0; i < g->members_count; i++) {
        for (int32_t k = 0; k < g->members[i].count; k++) {
            const struct why_tp *tp = &g->members[i].assigned[k];
            if (tp->partition == c->tp.partition && str_eq(tp->topic, c->tp.topic))
                return &g->members[i];
        }
    }
    return NULL;
}

void why_judge_progress(const struct why_facts *f, const struct why_group *before,
                        const struct why_group *now, struct why_findings *ret)
{
    struct arena *a = f->arena;

    for (size_t i = 0; i < now->commits_count; i++) {
        const struct why_commit *c = &now->commits[i], *old = find_commit(before, c);
        const struct why_member *m = owner_of(now, c);
        if (!old || !m || lag_of(c) == 0 || lag_of(old) == 0 || c->committed != old->committed)
            continue;
        struct why_finding w = begin(f, now, WHY_BLOCKED, STR(""));
        w.what = arena_printf(a, "%.*s-%d does not get on: nothing is committed",
                              STR_ARG(c->tp.topic), c->tp.partition);
        why_because(a, &w,
                    arena_printf(a,
                                 "its offset was %" PRId64 " at both looks, %" PRId64
                                 " record(s) wait; it is read by %.*s at %.*s",
                                 c->committed, lag_of(c), STR_ARG(m->client_id), STR_ARG(m->host)),
                    STR("OffsetFetch and ListOffsets, twice; DescribeGroups"));
        why_unblock(a, &w,
                    STR("that consumer stands still in its processing, fails on one record again "
                        "and again, or commits more rarely than you have watched "
                        "(auto.commit.interval.ms): see its log"));
        why_done(ret, &w);
    }
}
