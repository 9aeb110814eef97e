/*
 * join_judge_zk.c - the ensemble and what the cluster has one of
 */
#include "broker/config/zk_options.h"
#include "tools/join/join.h"
#include "zk/zk_paths.h"

#define FOUND(severity, where, what, todo) join_found(ret, (severity), (where), (what), STR(todo))

static void judge_reach(const struct join_facts *f, struct join_findings *ret)
{
    const struct why_zk_facts *z = &f->zk.zk;

    if (z->has_no_chroot)
        FOUND(JOIN_BLOCKS, f->zookeeper, STR("there is no such chroot: no cluster lives here"),
              "take zookeeper.connect of a running broker, the chroot included");
    else if (z->answers == WHY_NO)
        FOUND(JOIN_BLOCKS, f->zookeeper,
              arena_printf(f->arena, "ZooKeeper cannot be read: %.*s", STR_ARG(z->silence)),
              "bring it back, correct --zookeeper, or give this session the right to read; nothing "
              "of "
              "what it holds has been checked");
    else if (z->answers == WHY_YES && z->is_read_only)
        FOUND(JOIN_BLOCKS, f->zookeeper,
              STR("the ensemble has no quorum: it takes no writes, and no broker can register"),
              "start the servers that are down");
}

static void judge_servers(const struct join_facts *f, struct join_findings *ret)
{
    for (size_t i = 0; i < f->nodes.servers_count; i++) {
        const struct join_server *s = &f->nodes.servers[i];
        if (s->answers && !s->is_read_only)
            continue;
        FOUND(JOIN_WARNING, s->name,
              s->answers ? STR("this server has no quorum")
                         : arena_printf(f->arena, "this server does not answer: %.*s",
                                        STR_ARG(s->silence)),
              "start it, or name the servers that there are: with one more gone there may be no "
              "quorum");
    }
}

static bool has_digest(const struct join_facts *f)
{
    return f->conf && props_get(&f->conf->props, "zookeeper.digest.auth");
}

static void judge_rights(const struct join_facts *f, struct join_findings *ret)
{
    for (size_t i = 0; i < f->nodes.forbidden.count; i++)
        FOUND(JOIN_BLOCKS, f->nodes.forbidden.v[i],
              STR("may not be read by a session without an identity"),
              "open it to everybody (zookeeper-security-migration --zookeeper.acl=unsecure), or "
              "give Klamm zookeeper.digest.auth where its ACL has the scheme digest");
    for (size_t i = 0; i < f->nodes.guarded.count; i++) {
        struct str rest = f->nodes.guarded.v[i], path;
        if (!str_split(&rest, ':', &path))
            continue;
        FOUND(has_digest(f) ? JOIN_WARNING : JOIN_BLOCKS, path,
              arena_printf(f->arena, "not everybody may change it: %.*s", STR_ARG(str_trim(rest))),
              "Klamm's session has no SASL identity: open the nodes "
              "(zookeeper-security-migration --zookeeper.acl=unsecure, zookeeper.set.acl=false in "
              "all brokers), or guard them with digest and set zookeeper.digest.auth");
    }
}

static void judge_bad(const struct join_facts *f, struct join_findings *ret)
{
    for (size_t i = 0; i < f->zk.zk.bad_count; i++) {
        const struct why_bad_node *bad = &f->zk.zk.bad[i];
        bool is_setting = str_starts_with(bad->path, STR("/config/"));
        join_found(ret, is_setting ? JOIN_WARNING : JOIN_BLOCKS, bad->path,
                   arena_printf(f->arena, "cannot be understood: %.*s", STR_ARG(bad->why)),
                   is_setting ? STR("write it again, or delete it: until then it counts as empty")
                              : STR("mend it, or delete it if nothing is lost with it: one such "
                                    "node can stop the next controller's election"));
    }
}

static bool is_running(const struct join_facts *f)
{
    for (int32_t i = 0; i < f->zk.brokers_count; i++) {
        if (f->zk.brokers[i].registered == WHY_YES)
            return true;
    }
    return false;
}

static bool is_bad(const struct join_facts *f, const char *path)
{
    for (size_t i = 0; i < f->zk.zk.bad_count; i++) {
        if (str_eqz(f->zk.zk.bad[i].path, path))
            return true;
    }
    return false;
}

static void judge_controller(const struct join_facts *f, struct join_findings *ret)
{
    const struct why_zk_facts *z = &f->zk.zk;
    const struct why_broker *b = why_find_broker(&f->zk, z->controller);

    if (z->is_kraft)
        FOUND(JOIN_BLOCKS, STR(ZK_PATH_CONTROLLER),
              arena_printf(f->arena, "a KRaft controller (%d) owns the cluster", z->controller),
              "Klamm stays on ZooKeeper: roll the migration back first");
    else if (z->controller >= 0 && (!b || b->registered != WHY_YES))
        FOUND(JOIN_BLOCKS, STR(ZK_PATH_CONTROLLER),
              arena_printf(f->arena, "it names broker %d, which is not registered", z->controller),
              "wait until its session has expired; if the node stays, find out who holds it");
    else if (z->controller >= 0 && z->controller_session == 0)
        FOUND(JOIN_BLOCKS, STR(ZK_PATH_CONTROLLER),
              STR("the node is persistent: no controller's end takes it away"),
              "no broker can become controller until it is deleted: find out who made it");
    else if (z->controller < 0 && is_running(f) && !is_bad(f, ZK_PATH_CONTROLLER))
        FOUND(JOIN_BLOCKS, STR(ZK_PATH_CONTROLLER),
              STR("there is no controller: nobody elects leaders when a broker stops"),
              "klamm why controller says why; ask again when there is one");
    if (z->controller >= 0 && z->controller_epoch < 0 && !is_bad(f, ZK_PATH_CONTROLLER_EPOCH))
        FOUND(JOIN_BLOCKS, STR(ZK_PATH_CONTROLLER_EPOCH),
              STR("it is missing though there is a controller"),
              "let the controller be elected anew, by restarting that broker");
}

static void judge_identity(const struct join_facts *f, struct join_findings *ret)
{
    if (f->zk.zk.cluster_id.len == 0 && !is_bad(f, ZK_PATH_CLUSTER_ID))
        FOUND(JOIN_BLOCKS, STR(ZK_PATH_CLUSTER_ID),
              STR("there is no cluster id: no Kafka 3.x cluster lives here"),
              "take zookeeper.connect of a running broker, the chroot included");
    else if (!is_running(f))
        FOUND(JOIN_WARNING, STR(ZK_PATH_BROKER_IDS),
              STR("no broker is registered: the cluster is down"),
              "if that is not meant, start it: what brokers know has not been checked");
}

void join_judge_zk(const struct join_facts *f, struct join_findings *ret)
{
    judge_reach(f, ret);
    judge_servers(f, ret);
    judge_rights(f, ret);
    judge_bad(f, ret);
    if (f->zk.zk.answers != WHY_YES)
        return;
    judge_identity(f, ret);
    judge_controller(f, ret);
}
