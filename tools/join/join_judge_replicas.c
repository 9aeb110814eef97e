/*
 * join_judge_replicas.c - whether every partition keeps a leader and its min ISR while the broker
 * is away: of what can-stop found where brokers were asked, else of what ZooKeeper holds
 *
 * What time brings about blocks: wait, and ask again. A topic that has no replica to spare will
 * never have one, so its pause is a warning, and its owner's to decide.
 */
#include "tools/join/join.h"

#define FOUND(severity, where, what, todo) join_found(ret, (severity), (where), (what), STR(todo))

static struct str name_of(const struct join_facts *f, const struct why_partition *p)
{
    return arena_printf(f->arena, "%.*s-%d", STR_ARG(p->topic->name), p->partition);
}

static int32_t min_isr_of(const struct join_facts *f, const struct why_partition *p)
{
    return p->topic->min_isr > 0 ? p->topic->min_isr : join_default_min_isr(f);
}

static bool is_registered(const struct join_facts *f, int32_t id)
{
    const struct why_broker *b = why_find_broker(&f->zk, id);

    return b && b->registered == WHY_YES;
}

/* In sync and registered, without the one that goes. */
static int32_t left_of(const struct join_facts *f, const struct why_partition *p)
{
    int32_t n = 0;

    for (int32_t i = 0; i < p->isr.count; i++)
        n += p->isr.v[i] != f->broker && is_registered(f, p->isr.v[i]);
    return n;
}

static bool is_whole(const struct join_facts *f, const struct why_partition *p)
{
    for (int32_t i = 0; i < p->replicas.count; i++) {
        int32_t id = p->replicas.v[i];
        if (id != f->broker && (!why_has(&p->isr, id) || !is_registered(f, id)))
            return false;
    }
    return true;
}

static void judge_absence(const struct join_facts *f, const struct why_partition *p,
                          struct join_findings *ret)
{
    int32_t left = left_of(f, p), min = min_isr_of(f, p);

    if (left >= MAX(min, 1))
        return;
    if (is_whole(f, p))
        FOUND(JOIN_WARNING, name_of(f, p),
              left == 0 ? STR("lies on this broker only: it is away while the broker is replaced")
                        : arena_printf(f->arena,
                                       "takes no writes with acks=all while the broker is "
                                       "replaced: %d of %d needed are left",
                                       left, min),
              "give it another replica before, or accept the pause");
    else
        FOUND(JOIN_BLOCKS, name_of(f, p),
              arena_printf(f->arena, "without this broker %d of %d needed are in sync", left,
                           MAX(min, 1)),
              "wait until its other replicas are in sync, and ask again");
}

static void judge_now(const struct join_facts *f, const struct why_partition *p,
                      struct join_findings *ret)
{
    int32_t min = min_isr_of(f, p);

    if (p->leader < 0 || !is_registered(f, p->leader))
        FOUND(JOIN_BLOCKS, name_of(f, p), STR("has no leader"),
              "klamm why topic TOPIC says why; ask again when it has one");
    else if (p->isr.count < min)
        FOUND(JOIN_BLOCKS, name_of(f, p),
              arena_printf(f->arena, "is below min ISR now (%d of %d)", p->isr.count, min),
              "wait until its replicas are in sync, and ask again");
    else if (p->isr.count < p->replicas.count)
        FOUND(JOIN_WARNING, name_of(f, p),
              arena_printf(f->arena, "%d of %d replicas are in sync", p->isr.count,
                           p->replicas.count),
              "wait until all are before any broker is stopped: klamm why says what they wait "
              "for");
}

static void judge_move(const struct join_facts *f, const struct why_partition *p,
                       struct join_findings *ret)
{
    bool is_ours = f->broker < 0 || why_has(&p->replicas, f->broker);

    if (p->adding.count == 0 && p->removing.count == 0)
        return;
    FOUND(is_ours ? JOIN_WARNING : JOIN_NOTE, name_of(f, p), STR("is being reassigned"),
          "let it end, or cancel it: what is added has to be fetched again after a restart");
}

/* The broker has been stopped already: what it alone had in sync waits for it, or for Klamm. */
static void judge_waiting(const struct join_facts *f, const struct why_partition *p,
                          struct join_findings *ret)
{
    if (p->leader >= 0 && is_registered(f, p->leader))
        return;
    if (why_has(&p->isr, f->broker))
        FOUND(JOIN_NOTE, name_of(f, p), STR("has no leader, and waits for this broker"),
              "Klamm leads it as soon as it has started");
    else
        judge_now(f, p, ret);
}

static bool is_down(const struct join_facts *f)
{
    return f->broker >= 0 && !is_registered(f, f->broker);
}

static void judge_partition(const struct join_facts *f, const struct why_partition *p,
                            struct join_findings *ret)
{
    judge_move(f, p, ret);
    if (f->broker < 0)
        judge_now(f, p, ret);
    else if (!why_has(&p->replicas, f->broker))
        return;
    else if (is_down(f))
        judge_waiting(f, p, ret);
    else if (!f->stop && (p->leader < 0 || !is_registered(f, p->leader)))
        judge_now(f, p, ret);
    else if (!f->stop)
        judge_absence(f, p, ret);
}

/* Where nobody is registered nobody leads: that is a finding of its own (join_judge_zk.c). */
static bool is_running(const struct join_facts *f)
{
    for (int32_t i = 0; i < f->zk.brokers_count; i++) {
        if (f->zk.brokers[i].registered == WHY_YES)
            return true;
    }
    return false;
}

static bool is_named(const struct join_facts *f)
{
    for (int32_t i = 0; i < f->zk.topics_count; i++) {
        for (int32_t k = 0; k < f->zk.topics[i].count; k++) {
            if (why_has(&f->zk.topics[i].v[k].replicas, f->broker))
                return true;
        }
    }
    return false;
}

static void judge_unknown(const struct join_facts *f, struct join_findings *ret)
{
    if (is_down(f) && !is_named(f))
        FOUND(JOIN_WARNING, arena_printf(f->arena, "broker %d", f->broker),
              STR("is not registered, and no partition lies on it"),
              "is that the right id? Klamm would join as a new broker");
}

/* ---- what can-stop says ---- */

/* It has no replica to spare even when all are in sync. */
static bool is_for_ever(const struct join_facts *f, const struct why_item *item)
{
    const struct why_partition *p =
        why_find_partition(f->stop->first, item->topic, item->partition);

    if (!p || (p->replicas.count > 1 && p->topic->min_isr < p->replicas.count))
        return false;
    return p->leader >= 0 && !why_is_unwell(p);
}

static void take_finding(const struct join_facts *f, const struct why_finding *w,
                         struct join_findings *ret)
{
    bool is_note = w->severity == WHY_NOTE;

    for (size_t i = 0; i < w->items_count; i++) {
        const struct why_item *item = &w->items[i];
        bool is_partition = !str_is_null(item->topic);
        enum join_severity severity = is_note ? JOIN_NOTE : JOIN_BLOCKS;
        if (!is_note && is_partition && is_for_ever(f, item))
            severity = JOIN_WARNING;
        struct str because = w->reasons_count ? w->reasons[0].text : STR("");
        join_found(
            ret, severity,
            is_partition ? item->name
                         : arena_printf(f->arena, "%s %.*s", w->kind, STR_ARG(item->name)),
            because.len ? arena_printf(f->arena, "%.*s: %.*s", STR_ARG(w->what), STR_ARG(because))
                        : w->what,
            severity == JOIN_WARNING ? STR("give it another replica before, or accept the pause")
            : is_note                ? STR("")
                                     : arena_printf(f->arena,
                                                    "wait, and ask again: klamm can-stop %d says "
                                                                   "more",
                                                    f->broker));
    }
}

static void take_stop(const struct join_facts *f, struct join_findings *ret)
{
    struct why_findings all = {.arena = f->arena};

    (void)stop_judge(f->stop, &all);
    why_finish(&all);
    for (size_t i = 0; i < all.count; i++)
        take_finding(f, &all.v[i], ret);
}

void join_judge_replicas(const struct join_facts *f, struct join_findings *ret)
{
    bool knows_zk = f->zk.zk.answers == WHY_YES;

    if (f->stop && f->broker >= 0 && !(knows_zk && is_down(f)))
        take_stop(f, ret);
    if (!knows_zk)
        return;
    judge_unknown(f, ret);
    for (int32_t i = 0; is_running(f) && i < f->zk.topics_count; i++) {
        for (int32_t k = 0; k < f->zk.topics[i].count; k++)
            judge_partition(f, &f->zk.topics[i].v[k], ret);
    }
}
