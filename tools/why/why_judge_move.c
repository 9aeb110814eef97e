/*
 * why_judge_move.c - why a reassignment or a deletion does not come to its end
 */
#include "tools/why/why.h"

#include <inttypes.h>

/* ---- reassignments ---- */

static void note_rate(const struct why_facts *f, const struct why_partition *p, int32_t to,
                      struct why_finding *w)
{
    struct arena *a = f->arena;
    const struct why_broker *b = why_find_broker(f, to);
    int64_t rate = why_rate(f, p, to), left = why_bytes_behind(p, to);

    if (rate < 0 || why_replica_cause(f, p, to) != WHY_BEHIND)
        return;
    if (rate == 0) {
        why_because(a, w, arena_printf(a, "broker %d may fetch 0 bytes/s: it never arrives", to),
                    STR("DescribeConfigs"));
        return;
    }
    if (left < 0 || !b)
        return;
    left = MAX(b->to_fetch, left); /* all that it is to fetch shares its rate */
    why_because(a, w,
                arena_printf(a,
                             "broker %d has about %" PRId64 " bytes to fetch at %" PRId64
                             " bytes/s: about %.*s, and what is written meanwhile",
                             to, left, rate, STR_ARG(why_duration(a, left / rate * 1000))),
                STR("DescribeLogDirs, DescribeConfigs"));
}

static void unblock_cancel(const struct why_facts *f, struct why_finding *w)
{
    why_unblock(f->arena, w,
                arena_printf(f->arena,
                             "or take the move back: klamm reassign --bootstrap-server %.*s "
                             "--cancel --reassignment-json-file <(echo "
                             "'{\"version\":1,\"partitions\":[{\"topic\":\"{topic}\","
                             "\"partition\":{partition},\"replicas\":{replicas}}]}')",
                             STR_ARG(f->bootstrap)));
}

static bool has_controller(const struct why_facts *f)
{
    int32_t id = f->zk.answers == WHY_YES ? f->zk.controller : f->controller;

    return id >= 0 && why_is_alive(f, id);
}

static void blame_controller(const struct why_facts *f, struct why_finding *w)
{
    why_because(f->arena, w, STR("the controller is not there, or does not answer"),
                f->zk.answers == WHY_YES ? STR("/controller") : f->source);
    why_unblock(f->arena, w, STR("see klamm why controller"));
}

void why_judge_move(const struct why_facts *f, const struct why_partition *p,
                    struct why_findings *ret)
{
    struct arena *a = f->arena;
    struct why_partition timeless = *p; /* when leader or ISR changed is not when the move began */
    bool is_stuck = !has_controller(f) || p->leader < 0;
    int32_t waits = 0;

    if (p->adding.count == 0 && p->removing.count == 0)
        return;
    timeless.changed_ms = 0;
    struct why_finding w = why_begin(a, WHY_NOTE, "reassignment", why_partition_item(f, &timeless));
    if (!has_controller(f))
        blame_controller(f, &w);
    if (p->leader < 0)
        why_explain_leaderless(f, p, &w);
    struct why_ids all = why_ids_sorted(a, &p->replicas);
    for (int32_t i = 0; i < all.count; i++) {
        int32_t id = all.v[i];
        if (why_has(&p->isr, id) || why_has(&p->removing, id) || p->leader < 0)
            continue;
        waits++;
        is_stuck |= why_replica_cause(f, p, id) != WHY_BEHIND || why_rate(f, p, id) == 0;
        why_explain_replica(f, p, id, &w);
        note_rate(f, p, id, &w);
    }
    if (waits == 0 && !is_stuck)
        why_because(a, &w, STR("all its new replicas are in sync: the controller finishes it"),
                    f->source);
    w.severity = is_stuck ? WHY_BLOCKED : WHY_NOTE;
    w.what = is_stuck ? STR("stuck") : STR("under way");
    if (is_stuck)
        unblock_cancel(f, &w);
    why_done(ret, &w);
}

void why_judge_legacy_moves(const struct why_facts *f, struct why_findings *ret)
{
    struct arena *a = f->arena;

    if (f->zk.answers != WHY_YES || !f->zk.has_legacy)
        return;
    struct why_finding w =
        why_begin(a, WHY_BLOCKED, "reassignment",
                  (struct why_item){.name = STR("/admin/reassign_partitions"), .detail = STR("")});
    w.what = STR("asked for through ZooKeeper, and not taken up or not over");
    why_because(a, &w,
                arena_printf(a,
                             "the znode is there, with %d partition(s): the controller takes it "
                             "up, and removes what is done",
                             f->zk.legacy_count),
                STR("/admin/reassign_partitions"));
    if (!has_controller(f))
        blame_controller(f, &w);
    why_unblock(a, &w,
                arena_printf(a,
                             "klamm reassign --bootstrap-server %.*s --list shows what is under "
                             "way; where nothing is, the znode is a leftover: zookeeper-shell "
                             "... delete /admin/reassign_partitions",
                             STR_ARG(f->bootstrap)));
    why_done(ret, &w);
}

/* ---- deletions ---- */

static struct why_item topic_item(struct why_facts const *f, const struct why_deletion *d)
{
    struct arena *a = f->arena;

    return (struct why_item){
        .name = d->topic,
        .detail = d->since_ms
                      ? arena_printf(a, "asked for at %.*s", STR_ARG(why_time(a, d->since_ms)))
                      : STR(""),
        .topic = d->topic,
    };
}

/* True where one of its replicas cannot be deleted. */
static bool explain_replicas(const struct why_facts *f, const struct why_deletion *d,
                             struct why_finding *w)
{
    struct why_ids blamed = {arena_new_array(f->arena, int32_t, (size_t)f->brokers_count + 64), 0};

    for (int32_t i = 0; i < d->nodes.count; i++) {
        const struct why_partition *p = &d->nodes.v[i];
        for (int32_t k = 0; k < p->replicas.count; k++) {
            int32_t id = p->replicas.v[k];
            const struct why_broker *b = why_find_broker(f, id);
            bool has_bad_dir = false;
            for (int32_t n = 0; b && n < b->dirs_count; n++)
                has_bad_dir |= b->dirs[n].error != 0;
            if (why_has(&blamed, id) || blamed.count >= f->brokers_count + 64 ||
                (why_replica_cause(f, p, id) == WHY_BEHIND && !has_bad_dir))
                continue;
            blamed.v[blamed.count++] = id;
            struct why_partition on_bad_dir = *p;
            if (has_bad_dir)
                on_bad_dir.offline = (struct why_ids){&id, 1};
            why_explain_replica(f, &on_bad_dir, id, w);
        }
    }
    return blamed.count > 0;
}

static bool is_moving(const struct why_deletion *d)
{
    for (int32_t i = 0; i < d->nodes.count; i++) {
        if (d->nodes.v[i].adding.count || d->nodes.v[i].removing.count)
            return true;
    }
    return false;
}

enum { DELETION_TAKES_MS = 60000 };

static void explain_deletion(const struct why_facts *f, const struct why_deletion *d,
                             struct why_finding *w)
{
    struct arena *a = f->arena;
    bool is_stuck = false;

    if (!has_controller(f)) {
        blame_controller(f, w);
        is_stuck = true;
    }
    if (f->deletes_topics == WHY_NO) {
        why_because(a, w, STR("delete.topic.enable=false on the controller"),
                    arena_printf(a, "DescribeConfigs of broker %d", f->controller));
        why_unblock(a, w,
                    STR("set delete.topic.enable=true in server.properties of the brokers and "
                        "restart them, the controller last"));
        is_stuck = true;
    }
    is_stuck |= explain_replicas(f, d, w);
    if (is_moving(d)) {
        why_because(a, w,
                    STR("partitions of it are being reassigned: it waits for the end of that"),
                    arena_printf(a, "/brokers/topics/%.*s", STR_ARG(d->topic)));
        why_unblock(a, w,
                    STR("see klamm why reassignment; or take the move back: klamm reassign "
                        "--cancel"));
        is_stuck = true;
    }
    if (is_stuck || f->now_ms - d->since_ms > DELETION_TAKES_MS)
        w->severity = WHY_BLOCKED;
    if (is_stuck)
        return;
    why_because(a, w, STR("nothing that can be seen stands in its way"),
                STR("/brokers/ids, /brokers/topics"));
    why_unblock(a, w,
                STR("wait; if it stays, the log of the controller says which replica it waits "
                    "for, and an election of another controller makes it try again"));
}

void why_judge_deletion(const struct why_facts *f, const struct why_deletion *d,
                        struct why_findings *ret)
{
    struct arena *a = f->arena;
    struct why_finding w = why_begin(a, WHY_NOTE, "deletion", topic_item(f, d));

    why_because(a, &w, STR("its deletion was asked for and is not over"),
                STR("/admin/delete_topics"));
    if (d->holders.count)
        why_because(
            a, &w,
            arena_printf(a, "%.*s still have logs of it", STR_ARG(why_ids_text(a, &d->holders))),
            STR("DescribeLogDirs"));
    explain_deletion(f, d, &w);
    w.what = w.severity == WHY_NOTE ? STR("under way") : STR("stuck");
    why_done(ret, &w);
}

void why_judge_no_deletion(const struct why_facts *f, struct str topic, struct why_findings *ret)
{
    struct arena *a = f->arena;
    const struct why_item item = {.name = topic, .detail = STR(""), .topic = topic};
    struct why_finding w = why_begin(a, WHY_NOTE, "deletion", item);
    bool is_there = why_find_topic(f, topic) != NULL;

    if (f->zk.answers != WHY_YES && f->brokers_answer != WHY_YES)
        return;
    if (f->zk.answers != WHY_YES) {
        w.severity = is_there ? WHY_DEGRADED : WHY_NOTE;
        w.what = is_there ? STR("may have been asked for: that is in ZooKeeper alone")
                          : STR("is over, as far as the brokers know");
        why_because(a, &w, is_there ? STR("the topic is there") : STR("the topic is not there"),
                    f->source);
        why_unblock(a, &w, STR("ask again with --zookeeper"));
    } else if (is_there) {
        w.severity = WHY_DEGRADED;
        w.what = STR("has not been asked for");
        why_because(a, &w, STR("the topic is there, and the brokers serve it"), f->source);
        why_because(a, &w, STR("nothing says that it is to be deleted"),
                    arena_printf(a, "/admin/delete_topics/%.*s", STR_ARG(topic)));
        if (f->deletes_topics == WHY_NO)
            why_because(a, &w,
                        STR("delete.topic.enable=false: requests to delete are refused, and "
                            "taken out of ZooKeeper"),
                        arena_printf(a, "DescribeConfigs of broker %d", f->controller));
        why_unblock(a, &w,
                    f->deletes_topics == WHY_NO
                        ? STR("set delete.topic.enable=true and restart the brokers")
                        : arena_printf(a,
                                       "klamm topics --bootstrap-server %.*s --delete --topic "
                                       "{topic}",
                                       STR_ARG(f->bootstrap)));
    } else {
        w.what = STR("is over: there is no such topic");
        why_because(a, &w, STR("it is not in the metadata"), f->source);
    }
    why_done(ret, &w);
}
