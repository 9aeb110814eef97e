/*
 * why_judge_stop.c - whether a broker may be stopped: every partition that it holds must keep a
 * leader and its min ISR
 *
 * Pessimistic throughout. A replica counts as one that carries on only where it is in the ISR in
 * both looks and its broker is listed in both and has answered; whatever is not known is a doubt,
 * and a doubt is never a yes. What no look can show is somebody else who stops another broker a
 * moment later: stop one at a time, and ask again before the next.
 */
#include "common/base/err.h"
#include "tools/why/why_stop.h"

static void doubt(struct why_findings *ret, const struct stop_facts *s, struct str what)
{
    struct arena *a = s->first->arena;
    const struct why_item item = {.name = arena_printf(a, "%d", s->broker), .detail = STR("")};
    struct why_finding w = why_begin(a, WHY_DEGRADED, "broker", item);

    w.what = STR("whether it may be stopped cannot be known");
    why_because(a, &w, what, s->first->source);
    why_unblock(a, &w, STR("ask again; if it stays, do not stop it before this is cleared up"));
    why_done(ret, &w);
}

static bool is_listed(const struct why_facts *f, int32_t id)
{
    const struct why_broker *b = why_find_broker(f, id);

    return b && b->is_listed;
}

static bool carries_on(const struct stop_facts *s, const struct why_partition *then,
                       const struct why_partition *now, int32_t id)
{
    return id != s->broker && why_has(&then->isr, id) && why_has(&now->isr, id) &&
           why_replica_cause(s->first, then, id) == WHY_BEHIND && is_listed(s->second, id);
}

static int32_t carriers(const struct stop_facts *s, const struct why_partition *then,
                        const struct why_partition *now)
{
    int32_t n = 0;

    for (int32_t i = 0; i < now->isr.count; i++)
        n += carries_on(s, then, now, now->isr.v[i]);
    return n;
}

/* The other replicas that do not carry on, and what brings them back. */
static void explain_others(const struct stop_facts *s, const struct why_partition *then,
                           const struct why_partition *now, struct why_finding *w)
{
    struct arena *a = s->first->arena;
    struct why_ids all = why_ids_sorted(a, &now->replicas);

    for (int32_t i = 0; i < all.count; i++) {
        int32_t id = all.v[i];
        if (id == s->broker || carries_on(s, then, now, id))
            continue;
        if (why_has(&then->isr, id) && why_replica_cause(s->first, then, id) == WHY_BEHIND) {
            why_because(a, w, arena_printf(a, "broker %d has just left the ISR", id),
                        s->second->source);
            why_unblock(a, w, STR("ask again when it is in sync"));
        } else {
            why_explain_replica(s->first, then, id, w);
        }
    }
}

static void explain_no_spare(const struct stop_facts *s, const struct why_partition *p,
                             struct why_finding *w)
{
    struct arena *a = s->first->arena;
    int32_t min = p->topic->min_isr;
    struct str bootstrap = s->first->bootstrap;

    if (p->replicas.count == 1)
        why_because(a, w, arena_printf(a, "broker %d has its only replica", s->broker),
                    s->first->source);
    else if (min >= p->replicas.count)
        why_because(a, w,
                    arena_printf(a, "min.insync.replicas=%d with %d replicas leaves none to spare",
                                 min, p->replicas.count),
                    STR("DescribeConfigs"));
    else
        return;
    why_unblock(a, w,
                arena_printf(a,
                             "give it more replicas, or move it away: klamm reassign "
                             "--bootstrap-server %.*s",
                             STR_ARG(bootstrap)));
    if (p->replicas.count > 1)
        why_unblock(a, w,
                    arena_printf(a,
                                 "or lower it for that time: kafka-configs --bootstrap-server "
                                 "%.*s --alter --topic {topic} --add-config "
                                 "min.insync.replicas=%d",
                                 STR_ARG(bootstrap), p->replicas.count - 1));
}

static void stands_in_the_way(const struct stop_facts *s, const struct why_partition *then,
                              const struct why_partition *now, struct why_findings *ret)
{
    struct arena *a = s->first->arena;
    struct why_finding w =
        why_begin(a, WHY_BLOCKED, "partition", why_partition_item(s->first, then));
    int32_t left = carriers(s, then, now), min = then->topic->min_isr;
    bool is_in_isr = why_has(&then->isr, s->broker) || why_has(&now->isr, s->broker);

    if (left == 0)
        w.severity = WHY_DOWN;
    if (!is_in_isr)
        w.what = arena_printf(a,
                              "has %d in sync of the %d it needs, and waits for broker %d among "
                              "others",
                              left, MAX(min, 1), s->broker);
    else if (left == 0)
        w.what = STR("would have no leader: nobody else is in sync");
    else
        w.what = arena_printf(a,
                              "would be below min ISR (%d of %d): writes with acks=all would be "
                              "refused",
                              left, min);
    explain_no_spare(s, then, &w);
    explain_others(s, then, now, &w);
    why_done(ret, &w);
}

struct tally {
    bool is_blocked, is_doubtful;
};

static void judge_partition(const struct stop_facts *s, const struct why_partition *now,
                            struct why_findings *ret, struct tally *t)
{
    const struct why_partition *then =
        why_find_partition(s->first, now->topic->name, now->partition);

    if (!why_has(&now->replicas, s->broker) && !(then && why_has(&then->replicas, s->broker)))
        return;
    if (!then || then->topic->min_isr < 0) {
        doubt(ret, s,
              then ? arena_printf(s->first->arena, "min.insync.replicas of %.*s is not known",
                                  STR_ARG(now->topic->name))
                   : arena_printf(s->first->arena, "%.*s-%d has just been made",
                                  STR_ARG(now->topic->name), now->partition));
        t->is_doubtful = true;
        if (!then)
            return;
    }
    if (carriers(s, then, now) >= MAX(then->topic->min_isr, 1))
        return;
    stands_in_the_way(s, then, now, ret);
    t->is_blocked = true;
}

static bool is_answered(const struct stop_facts *s)
{
    return s->first->brokers_answer == WHY_YES && s->second->brokers_answer == WHY_YES;
}

static bool is_named(const struct why_facts *f, int32_t id)
{
    for (int32_t i = 0; i < f->topics_count; i++) {
        for (int32_t k = 0; k < f->topics[i].count; k++) {
            if (why_has(&f->topics[i].v[k].replicas, id))
                return true;
        }
    }
    return false;
}

static void note(const struct stop_facts *s, struct why_findings *ret, struct str what,
                 struct str because)
{
    struct arena *a = s->first->arena;
    const struct why_item item = {.name = arena_printf(a, "%d", s->broker), .detail = STR("")};
    struct why_finding w = why_begin(a, WHY_NOTE, "broker", item);

    w.what = what;
    why_because(a, &w, because, s->second->source);
    why_done(ret, &w);
}

static void note_duties(const struct stop_facts *s, struct why_findings *ret)
{
    const struct why_facts *f = s->first;
    int32_t moves = 0;

    if (f->controller == s->broker)
        note(s, ret, STR("it is the controller: another one is elected when it stops"),
             STR("Metadata names it as that"));
    for (int32_t i = 0; i < f->topics_count; i++) {
        for (int32_t k = 0; k < f->topics[i].count; k++)
            moves += why_has(&f->topics[i].v[k].adding, s->broker);
    }
    if (moves)
        note(s, ret,
             arena_printf(f->arena,
                          "%d partition(s) are being moved to it: that waits until it is "
                          "back",
                          moves),
             STR("ListPartitionReassignments has it among the adding replicas"));
}

/* It is down already: where it alone was in sync it is waited for, not stopped. */
static enum stop_verdict judge_down(const struct stop_facts *s, struct why_findings *ret)
{
    struct arena *a = s->first->arena;

    for (int32_t i = 0; i < s->second->topics_count; i++) {
        for (int32_t k = 0; k < s->second->topics[i].count; k++) {
            const struct why_partition *p = &s->second->topics[i].v[k];
            if (!why_has(&p->isr, s->broker) || p->leader >= 0)
                continue;
            const struct why_partition *then =
                why_find_partition(s->first, p->topic->name, p->partition);
            struct why_finding w =
                why_begin(a, WHY_DOWN, "partition", why_partition_item(s->second, p));
            w.what =
                arena_printf(a, "has no leader and waits for broker %d, which is down", s->broker);
            why_explain_leaderless(s->first, then ? then : p, &w);
            why_done(ret, &w);
        }
    }
    if (ret->count)
        return STOP_NO;
    note(s, ret, STR("is down already: nothing changes"), STR("the brokers do not list it"));
    return STOP_YES;
}

/* True where something was found that makes every yes doubtful. */
static bool judge_looks(const struct stop_facts *s, struct why_findings *ret)
{
    struct arena *a = s->first->arena;
    size_t before = ret->count;

    if (!is_answered(s))
        doubt(ret, s, s->first->brokers_answer != WHY_YES ? s->first->silence : s->second->silence);
    else if (s->first->controller != s->second->controller)
        doubt(ret, s, STR("the controller has changed meanwhile"));
    else if (s->first->controller < 0 || !why_is_alive(s->first, s->first->controller))
        doubt(ret, s, STR("there is no controller that answers: nobody would elect new leaders"));
    for (size_t i = 0; i < s->hidden.count; i++)
        doubt(ret, s,
              arena_printf(a, "%.*s lies on it, and may not be looked at (DESCRIBE)",
                           STR_ARG(s->hidden.v[i])));
    for (int32_t i = 0; i < s->second->topics_count; i++) {
        int16_t error = s->second->topics[i].error;
        if (error && error != LEADER_NOT_AVAILABLE)
            doubt(ret, s,
                  arena_printf(a, "Metadata of %.*s: %s", STR_ARG(s->second->topics[i].name),
                               err_name(error)));
    }
    for (size_t i = 0; i < s->first->unasked.count; i++)
        doubt(ret, s, s->first->unasked.v[i]);
    for (size_t i = 0; i < s->second->unasked.count; i++)
        doubt(ret, s, s->second->unasked.v[i]);
    return ret->count > before;
}

enum stop_verdict stop_judge(const struct stop_facts *s, struct why_findings *ret)
{
    bool is_up = is_listed(s->first, s->broker) || is_listed(s->second, s->broker);
    struct tally t = {.is_doubtful = judge_looks(s, ret)};

    if (!is_up && !t.is_doubtful)
        return is_named(s->first, s->broker) || is_named(s->second, s->broker)
                   ? judge_down(s, ret)
                   : STOP_UNKNOWN_BROKER;
    for (int32_t i = 0; is_up && i < s->second->topics_count; i++) {
        for (int32_t k = 0; k < s->second->topics[i].count; k++)
            judge_partition(s, &s->second->topics[i].v[k], ret, &t);
    }
    if (t.is_blocked)
        return STOP_NO;
    note_duties(s, ret);
    return t.is_doubtful ? STOP_IN_DOUBT : STOP_YES;
}
