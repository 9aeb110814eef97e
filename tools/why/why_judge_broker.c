/*
 * why_judge_broker.c - what is wrong with ZooKeeper, the controller and the brokers themselves
 */
#include "common/base/err.h"
#include "tools/why/why.h"

#include <inttypes.h>

static struct why_item item_of(struct str name)
{
    return (struct why_item){.name = name, .detail = STR("")};
}

static struct why_item broker_item(const struct why_facts *f, int32_t id)
{
    return item_of(arena_printf(f->arena, "%d", id));
}

static struct str node_of(const struct why_facts *f, int32_t id)
{
    return arena_printf(f->arena, "/brokers/ids/%d", id);
}

/* ---- ZooKeeper ---- */

static void judge_chroot(const struct why_facts *f, struct why_findings *ret)
{
    struct why_finding w = why_begin(f->arena, WHY_BLOCKED, "ZooKeeper", item_of(f->zookeeper));

    w.what = STR("the chroot is not there: no broker has ever been started with it");
    why_because(f->arena, &w, STR("its root does not exist"), STR("exists / below the chroot"));
    why_unblock(f->arena, &w,
                STR("compare with zookeeper.connect of the brokers (the chroot stands once, at the "
                    "end); the first broker that starts with it makes it"));
    why_done(ret, &w);
}

static void judge_other_cluster(const struct why_facts *f, struct why_findings *ret)
{
    struct arena *a = f->arena;
    struct why_finding w = why_begin(a, WHY_BLOCKED, "ZooKeeper", item_of(f->zookeeper));

    w.what = STR("it is another cluster's than the brokers'");
    why_because(a, &w, arena_printf(a, "/cluster/id is %.*s", STR_ARG(f->zk.cluster_id)),
                STR("/cluster/id"));
    why_because(a, &w, arena_printf(a, "the brokers' is %.*s", STR_ARG(f->cluster_id)), f->source);
    why_unblock(a, &w,
                STR("give --zookeeper as zookeeper.connect of these brokers has it, chroot "
                    "included; a broker whose meta.properties names the other id refuses to start "
                    "with this ZooKeeper"));
    why_done(ret, &w);
}

void why_judge_zk(const struct why_facts *f, struct why_findings *ret)
{
    struct arena *a = f->arena;

    if (f->zk.answers == WHY_UNKNOWN)
        return;
    if (f->zk.has_no_chroot) {
        judge_chroot(f, ret);
    } else if (f->zk.is_other_cluster) {
        judge_other_cluster(f, ret);
    } else if (f->zk.answers == WHY_NO) {
        struct why_finding w = why_begin(a, WHY_BLOCKED, "ZooKeeper", item_of(f->zookeeper));
        w.what = STR("not to be reached: brokers can neither register nor change anything");
        why_because(a, &w, f->zk.silence, STR("connecting"));
        why_unblock(a, &w, STR("start its servers: a majority has to run and see each other"));
        why_done(ret, &w);
    } else if (f->zk.is_read_only) {
        struct why_finding w = why_begin(a, WHY_BLOCKED, "ZooKeeper", item_of(f->zookeeper));
        w.what = STR("read only: it has no quorum, and brokers have no session");
        why_because(a, &w, STR("the server offers a read-only session"), STR("connecting"));
        why_unblock(a, &w, STR("start the other ZooKeeper servers: a majority has to run"));
        why_done(ret, &w);
    }
}

void why_judge_reach(const struct why_facts *f, struct why_findings *ret)
{
    struct arena *a = f->arena;

    if (f->brokers_answer != WHY_NO)
        return;
    struct why_finding w = why_begin(a, WHY_DOWN, "address", item_of(f->bootstrap));
    w.what = STR("no broker answers there");
    why_because(a, &w, f->silence, STR("connecting"));
    why_unblock(a, &w,
                STR("start a broker; or is it the wrong address, or a listener with TLS "
                    "(--bootstrap-server, --command-config)?"));
    why_done(ret, &w);
}

/* ---- the controller ---- */

static int32_t registered_count(const struct why_facts *f)
{
    int32_t n = 0;

    for (int32_t i = 0; i < f->brokers_count; i++)
        n += f->brokers[i].registered == WHY_YES;
    return n;
}

static void judge_no_controller(const struct why_facts *f, struct why_findings *ret)
{
    struct arena *a = f->arena;
    struct why_finding w = why_begin(a, WHY_DOWN, "controller", item_of(STR("none")));
    bool knows_zk = f->zk.answers == WHY_YES;
    int32_t registered = registered_count(f);

    w.what = STR("there is none: no leader is elected, no topic made or deleted, nothing moved");
    if (!knows_zk) {
        why_because(a, &w, STR("the brokers know none"), f->source);
        why_unblock(a, &w, STR("ask again with --zookeeper: who could be elected is known there"));
        why_done(ret, &w);
        return;
    }
    if (f->zk.is_controller_garbled) {
        why_because(a, &w,
                    STR("what /controller holds names no broker, and keeps all of them from "
                        "making it"),
                    STR("/controller"));
        why_unblock(a, &w, STR("delete /controller: another controller is elected at once"));
        why_done(ret, &w);
        return;
    }
    why_because(a, &w, STR("/controller is missing"), STR("/controller"));
    if (registered == 0) {
        why_because(a, &w, STR("no broker is registered, so nobody can be elected"),
                    STR("/brokers/ids"));
        why_unblock(a, &w, STR("start a broker"));
    } else {
        why_because(a, &w,
                    arena_printf(a,
                                 "%d broker(s) are registered; each of them tries to make it as "
                                 "soon as it is gone",
                                 registered),
                    STR("/brokers/ids"));
        why_unblock(a, &w,
                    STR("wait a moment; if it stays missing, see the brokers' logs and restart one "
                        "of them"));
    }
    why_done(ret, &w);
}

static void add_since(const struct why_facts *f, struct why_finding *w)
{
    struct arena *a = f->arena;

    why_because(a, w,
                arena_printf(a,
                             "/controller names broker %d since %.*s, held by session 0x%" PRIx64
                             ", controller epoch %d",
                             f->zk.controller, STR_ARG(why_time(a, f->zk.controller_since_ms)),
                             (uint64_t)f->zk.controller_session, f->zk.controller_epoch),
                STR("/controller, /controller_epoch"));
}

/* True where /controller belongs to a session that its broker does not have (any more). */
static bool judge_dead_session(const struct why_facts *f, const struct why_broker *b,
                               struct why_findings *ret)
{
    struct arena *a = f->arena;
    bool is_registered = b && b->registered == WHY_YES;

    if (f->zk.is_kraft || (is_registered && b->session == f->zk.controller_session))
        return false;
    struct why_finding w = why_begin(a, WHY_DOWN, "controller", broker_item(f, f->zk.controller));
    w.what = STR("held by a dead session: nobody decides until it ends");
    add_since(f, &w);
    if (is_registered)
        why_because(a, &w,
                    arena_printf(a, "broker %d is registered by another session, 0x%" PRIx64, b->id,
                                 (uint64_t)b->session),
                    node_of(f, b->id));
    else
        why_because(a, &w, arena_printf(a, "broker %d is not registered", f->zk.controller),
                    node_of(f, f->zk.controller));
    why_unblock(a, &w,
                STR("wait: the session ends within zookeeper.session.timeout.ms, then another "
                    "broker is elected; if it does not, as a last resort: zookeeper-shell ... "
                    "delete /controller"));
    why_done(ret, &w);
    return true;
}

static void judge_silent_controller(const struct why_facts *f, const struct why_broker *b,
                                    struct why_findings *ret)
{
    struct arena *a = f->arena;
    struct why_finding w = why_begin(a, WHY_DOWN, "controller", broker_item(f, b->id));

    w.what = STR("does not answer: no leader is elected, no topic made or deleted, nothing moved");
    if (f->zk.answers == WHY_YES)
        add_since(f, &w);
    why_because(a, &w, arena_printf(a, "broker %d: %.*s", b->id, STR_ARG(b->silence)),
                arena_printf(a, "a request to broker %d", b->id));
    why_unblock(a, &w,
                arena_printf(a,
                             "make the process of broker %d go on, or kill it: its session ends "
                             "within zookeeper.session.timeout.ms and another one is elected",
                             b->id));
    why_done(ret, &w);
}

static void note_controller(const struct why_facts *f, int32_t id, struct why_findings *ret)
{
    struct why_finding w = why_begin(f->arena, WHY_NOTE, "controller", broker_item(f, id));

    w.what = STR("is there and answers");
    if (f->zk.answers == WHY_YES)
        add_since(f, &w);
    else
        why_because(f->arena, &w, arena_printf(f->arena, "the brokers name broker %d", id),
                    f->source);
    why_done(ret, &w);
}

void why_judge_controller(const struct why_facts *f, bool is_asked, struct why_findings *ret)
{
    bool knows_zk = f->zk.answers == WHY_YES;
    int32_t id = knows_zk ? f->zk.controller : f->controller;
    const struct why_broker *b = why_find_broker(f, id);

    if (!knows_zk && f->brokers_answer != WHY_YES)
        return;
    if (id < 0)
        judge_no_controller(f, ret);
    else if (knows_zk && judge_dead_session(f, b, ret))
        return;
    else if (b && b->answers == WHY_NO)
        judge_silent_controller(f, b, ret);
    else if (is_asked)
        note_controller(f, id, ret);
}

enum { NOTICES_TAKE_MS = 10000 };

static void judge_notices(const struct why_facts *f, const struct why_notices *n, const char *path,
                          struct why_findings *ret)
{
    struct arena *a = f->arena;

    if (n->count == 0 || n->since_ms == 0 || f->now_ms - n->since_ms < NOTICES_TAKE_MS)
        return;
    struct why_finding w =
        why_begin(a, WHY_DEGRADED, "controller",
                  f->zk.controller >= 0 ? broker_item(f, f->zk.controller) : item_of(STR("none")));
    w.what = arena_printf(a, "does not take up what brokers tell it through %s", path);
    why_because(a, &w,
                arena_printf(a, "%zu notification(s) wait there, the oldest since %.*s", n->count,
                             STR_ARG(why_time(a, n->since_ms))),
                str_of(path));
    why_unblock(a, &w,
                STR("see klamm why controller; where one is there and answers, its log says why, "
                    "and the next one to be elected reads them (restart it)"));
    why_done(ret, &w);
}

void why_judge_notices(const struct why_facts *f, struct why_findings *ret)
{
    if (f->zk.answers != WHY_YES)
        return;
    judge_notices(f, &f->zk.isr_changes, "/isr_change_notification", ret);
    judge_notices(f, &f->zk.dir_events, "/log_dir_event_notification", ret);
}

/* ---- a broker ---- */

static int32_t replicas_on(const struct why_facts *f, int32_t id)
{
    int32_t n = 0;

    for (int32_t i = 0; i < f->topics_count; i++) {
        for (int32_t k = 0; k < f->topics[i].count; k++)
            n += why_has(&f->topics[i].v[k].replicas, id);
    }
    return n;
}

static void add_weight(const struct why_facts *f, int32_t id, struct why_finding *w)
{
    int32_t n = replicas_on(f, id);

    if (n > 0)
        why_because(f->arena, w, arena_printf(f->arena, "%d partition(s) have a replica on it", n),
                    f->source);
}

static void judge_unregistered(const struct why_facts *f, int32_t id, const struct why_broker *b,
                               struct why_findings *ret)
{
    struct arena *a = f->arena;
    struct why_finding w = why_begin(a, WHY_DEGRADED, "broker", broker_item(f, id));
    bool knows_zk = f->zk.answers == WHY_YES;

    w.what = STR("not registered");
    if (knows_zk)
        why_because(a, &w,
                    STR("there is no znode of it: it has no session with ZooKeeper, or another "
                        "ZooKeeper or chroot"),
                    node_of(f, id));
    else
        why_because(a, &w, STR("the brokers do not list it"), f->source);
    add_weight(f, id, &w);
    if (b && b->answers == WHY_YES) {
        why_because(a, &w,
                    arena_printf(a,
                                 "its process lives and answers at %.*s: it has lost its "
                                 "session",
                                 STR_ARG(b->address)),
                    arena_printf(a, "a request to broker %d", id));
        why_unblock(
            a, &w,
            STR("it registers again by itself when it reaches ZooKeeper: check the way from "
                "its host to zookeeper.connect; its log says what it waits for"));
    } else {
        why_unblock(a, &w, arena_printf(a, "start broker %d", id));
        why_unblock(a, &w,
                    STR("if its process runs: its log says what it waits for - ZooKeeper out of "
                        "reach, a wrong zookeeper.connect or chroot, a cluster.id in "
                        "meta.properties that is another cluster's, an earlier session of its id "
                        "that has not ended"));
    }
    if (!knows_zk && replicas_on(f, id) == 0)
        why_because(a, &w, STR("no partition names it either: is the id right?"), f->source);
    why_done(ret, &w);
}

static void add_registration(const struct why_facts *f, const struct why_broker *b,
                             struct why_finding *w)
{
    struct arena *a = f->arena;

    if (b->registered == WHY_YES)
        why_because(a, w,
                    arena_printf(a,
                                 "its id is held by %.*s, session 0x%" PRIx64 ", since %.*s: "
                                 "while that session lives, another broker with id %d is "
                                 "refused",
                                 STR_ARG(str_is_null(b->address) ? STR("somebody") : b->address),
                                 (uint64_t)b->session, STR_ARG(why_time(a, b->registered_ms)),
                                 b->id),
                    node_of(f, b->id));
    else
        why_because(a, w, arena_printf(a, "the brokers list it at %.*s", STR_ARG(b->address)),
                    f->source);
}

static void judge_silent(const struct why_facts *f, const struct why_broker *b,
                         struct why_findings *ret)
{
    struct arena *a = f->arena;
    struct why_finding w = why_begin(a, WHY_BLOCKED, "broker", broker_item(f, b->id));

    w.what = STR("registered, but does not answer: what it leads waits, and so do writes with "
                 "acks=all to what it follows in sync");
    add_registration(f, b, &w);
    why_because(a, &w, arena_printf(a, "%.*s", STR_ARG(b->silence)),
                arena_printf(a, "a request to %.*s", STR_ARG(b->address)));
    add_weight(f, b->id, &w);
    why_unblock(a, &w,
                arena_printf(a,
                             "if its process is gone: its session ends within "
                             "zookeeper.session.timeout.ms, others take over; start broker %d "
                             "again (Klamm waits for the end of that session by itself, Apache "
                             "Kafka is to be started after it)",
                             b->id));
    why_unblock(a, &w,
                STR("if its process is there: it stands still (stopped, swapping, a hanging disk) "
                    "or cannot be reached from here; make it go on (kill -CONT), or kill it"));
    why_done(ret, &w);
}

static void judge_unlisted(const struct why_facts *f, const struct why_broker *b,
                           struct why_findings *ret)
{
    struct arena *a = f->arena;
    struct why_finding w = why_begin(a, WHY_DEGRADED, "broker", broker_item(f, b->id));

    w.what = STR("registered, but the brokers do not list it: the controller has not taken it in");
    add_registration(f, b, &w);
    why_because(a, &w, STR("it is not in the list of brokers"), f->source);
    if (b->is_garbled) {
        why_because(a, &w,
                    STR("what its node holds is no registration: nobody can read where it "
                        "listens"),
                    node_of(f, b->id));
        why_unblock(a, &w, arena_printf(a, "restart broker %d: it registers anew", b->id));
    } else {
        why_unblock(a, &w, STR("wait a moment; if it stays, see klamm why controller"));
    }
    why_done(ret, &w);
}

static void judge_dirs(const struct why_facts *f, const struct why_broker *b,
                       struct why_findings *ret)
{
    struct arena *a = f->arena;

    for (int32_t i = 0; i < b->dirs_count; i++) {
        if (!b->dirs[i].error)
            continue;
        struct why_finding w = why_begin(a, WHY_DEGRADED, "broker", broker_item(f, b->id));
        w.what = arena_printf(a, "its log dir %.*s is offline", STR_ARG(b->dirs[i].path));
        why_because(a, &w, arena_printf(a, "it answers %s", err_name(b->dirs[i].error)),
                    arena_printf(a, "DescribeLogDirs of broker %d", b->id));
        why_unblock(a, &w,
                    arena_printf(a,
                                 "mend that disk (the log of broker %d names the failed call) "
                                 "and restart broker %d",
                                 b->id, b->id));
        why_done(ret, &w);
    }
}

/* It answers, and believes in another controller: it has not been told, or tells nobody. */
static void judge_view(const struct why_facts *f, const struct why_broker *b,
                       struct why_findings *ret)
{
    struct arena *a = f->arena;
    int32_t real = f->zk.answers == WHY_YES ? f->zk.controller : f->controller;

    if (b->sees_controller == -2 || real < 0 || b->sees_controller == real)
        return;
    struct why_finding w = why_begin(a, WHY_DEGRADED, "broker", broker_item(f, b->id));
    w.what = STR("has an old view of the cluster");
    why_because(a, &w,
                b->sees_controller < 0
                    ? STR("it knows no controller")
                    : arena_printf(a, "it takes broker %d for the controller", b->sees_controller),
                arena_printf(a, "Metadata of broker %d", b->id));
    why_because(a, &w, arena_printf(a, "it is broker %d", real),
                f->zk.answers == WHY_YES ? STR("/controller") : f->source);
    why_unblock(a, &w,
                arena_printf(a,
                             "wait a moment; if it stays, the controller does not reach broker "
                             "%d: check the way between them (control.plane.listener.name), "
                             "restart it",
                             b->id));
    why_done(ret, &w);
}

static void note_broker(const struct why_facts *f, const struct why_broker *b,
                        struct why_findings *ret)
{
    struct why_finding w = why_begin(f->arena, WHY_NOTE, "broker", broker_item(f, b->id));

    w.what = b->answers == WHY_YES ? STR("is registered and answers") : STR("is registered");
    add_registration(f, b, &w);
    add_weight(f, b->id, &w);
    why_done(ret, &w);
}

void why_judge_broker(const struct why_facts *f, int32_t id, bool is_asked,
                      struct why_findings *ret)
{
    const struct why_broker *b = why_find_broker(f, id);
    bool knows_zk = f->zk.answers == WHY_YES, knows_list = f->brokers_answer == WHY_YES;

    if (!knows_zk && !knows_list)
        return;
    if (!b || (knows_zk ? b->registered != WHY_YES : !b->is_listed)) {
        judge_unregistered(f, id, b, ret);
        return;
    }
    if (b->answers == WHY_NO) {
        judge_silent(f, b, ret);
        return;
    }
    if (knows_list && !b->is_listed)
        judge_unlisted(f, b, ret);
    judge_dirs(f, b, ret);
    judge_view(f, b, ret);
    if (is_asked)
        note_broker(f, b, ret);
}
