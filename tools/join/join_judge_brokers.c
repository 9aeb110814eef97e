/*
 * join_judge_brokers.c - the others, as they are registered: whether Klamm can talk to them, and
 * they to it; and the one that is to be replaced
 */
#include "tools/join/join.h"
#include "zk/zk_paths.h"

#define FOUND(severity, where, what, todo) join_found(ret, (severity), (where), (what), STR(todo))

static struct str place_of(const struct join_facts *f, const struct why_broker *b)
{
    return arena_printf(f->arena, "%s/%d", ZK_PATH_BROKER_IDS, b->id);
}

/* ---- one of the others ---- */

static bool is_sasl(enum node_protocol p)
{
    return p == NODE_SASL_PLAINTEXT || p == NODE_SASL_SSL;
}

/* Without a file it is not known which listener is between brokers: only where all speak SASL that
 * one does. */
static void judge_sasl(const struct join_facts *f, const struct why_broker *b,
                       struct join_findings *ret)
{
    int32_t n = 0;

    for (int32_t i = 0; i < b->node->endpoint_count; i++)
        n += is_sasl(b->node->endpoints[i].protocol);
    if (n > 0 && n == b->node->endpoint_count)
        FOUND(JOIN_BLOCKS, place_of(f, b),
              STR("all its listeners speak SASL, which Klamm does not speak yet"),
              "give all brokers a PLAINTEXT or SSL listener, and move inter.broker.listener.name "
              "to it");
    else if (n > 0)
        FOUND(JOIN_WARNING, place_of(f, b),
              STR("has a listener that speaks SASL, which Klamm does not serve yet"),
              "clients of that listener cannot go to Klamm: give them SSL, and make sure that "
              "inter.broker.listener.name names another one");
}

static void judge_peer(const struct join_facts *f, const struct why_broker *b,
                       const struct listener_conf *l, const char *key, struct join_findings *ret)
{
    const struct node_endpoint *e = node_broker_endpoint(b->node, str_of(l->name));

    if (!e)
        join_found(ret, JOIN_BLOCKS, place_of(f, b),
                   arena_printf(f->arena, "has no listener %s, which %s names", l->name, key),
                   STR("every broker needs it in listeners and advertised.listeners: one without "
                       "it stops all controllers"));
    else if ((int)e->protocol != (int)l->protocol)
        join_found(ret, JOIN_BLOCKS, place_of(f, b),
                   arena_printf(f->arena, "its listener %s speaks %s, that of the file %s", l->name,
                                node_protocol_name(e->protocol),
                                security_protocol_name(l->protocol)),
                   STR("make listener.security.protocol.map the same in all brokers"));
}

static void judge_collision(const struct join_facts *f, const struct why_broker *b,
                            struct join_findings *ret)
{
    const struct listeners *all = &f->conf->listener;

    for (int i = 0; i < all->count; i++) {
        for (int32_t k = 0; k < b->node->endpoint_count; k++) {
            const struct node_endpoint *e = &b->node->endpoints[k];
            if (all->v[i].is_advertised && all->v[i].advertised_port == e->port && e->port &&
                str_eqz(e->host, all->v[i].advertised_host))
                FOUND(JOIN_BLOCKS, place_of(f, b),
                      arena_printf(f->arena, "advertises %.*s:%d, which the file advertises too",
                                   STR_ARG(e->host), e->port),
                      "a start refuses that: correct advertised.listeners, or broker.id");
        }
    }
}

static void judge_other(const struct join_facts *f, const struct why_broker *b,
                        struct join_findings *ret)
{
    const struct listener_conf *control =
        f->conf ? listeners_control_plane(&f->conf->listener) : NULL;

    if (b->session == 0)
        FOUND(JOIN_BLOCKS, place_of(f, b),
              STR("the node is persistent: no broker can be behind it"),
              "find out who made it, and delete it");
    if (!b->node)
        return;
    judge_sasl(f, b, ret);
    if (b->node->feature_count)
        FOUND(JOIN_WARNING, place_of(f, b), STR("it registers features of its own"),
              "no 3.9 broker in ZooKeeper mode has any: find out what it is");
    if (!f->conf)
        return;
    judge_peer(f, b, listeners_inter_broker(&f->conf->listener),
               "inter.broker.listener.name (or security.inter.broker.protocol)", ret);
    if (control)
        judge_peer(f, b, control, "control.plane.listener.name", ret);
    judge_collision(f, b, ret);
}

/* ---- the one that is to be replaced ---- */

static bool advertises(const struct join_facts *f, const struct node_endpoint *e)
{
    const struct listeners *all = &f->conf->listener;

    for (int i = 0; i < all->count; i++) {
        const struct listener_conf *l = &all->v[i];
        if (l->is_advertised && str_eqz(e->listener, l->name) &&
            (!*l->advertised_host || str_eqz(e->host, l->advertised_host)) &&
            (!l->advertised_port || e->port == l->advertised_port))
            return true;
    }
    return false;
}

static void judge_self(const struct join_facts *f, const struct why_broker *b,
                       struct join_findings *ret)
{
    for (int32_t i = 0; i < b->node->endpoint_count; i++) {
        const struct node_endpoint *e = &b->node->endpoints[i];
        if (!advertises(f, e))
            FOUND(JOIN_WARNING, place_of(f, b),
                  arena_printf(f->arena, "it advertises %.*s://%.*s:%d, and the file does not",
                               STR_ARG(e->listener), STR_ARG(e->host), e->port),
                  "is this the file of that broker? Clients that know that address would find "
                  "nobody there");
    }
    struct str rack = str_of(f->conf->broker_rack);
    if (!str_eq(rack.p ? rack : STR(""), b->node->rack.p ? b->node->rack : STR("")))
        FOUND(JOIN_WARNING, place_of(f, b),
              arena_printf(f->arena, "it is in rack \"%.*s\", the file says \"%.*s\"",
                           STR_ARG(b->node->rack), STR_ARG(rack)),
              "set broker.rack to what it was, or replicas may end up in one rack");
}

static void judge_wanted(const struct join_facts *f, const struct why_broker *b,
                         struct join_findings *ret)
{
    struct str where = arena_printf(f->arena, "%s/%d", ZK_PATH_BROKER_IDS, f->broker);

    if (!b || b->registered != WHY_YES) {
        FOUND(JOIN_NOTE, where, STR("the id is free: that broker is not registered now"), "");
        return;
    }
    if (b->session == 0)
        FOUND(JOIN_BLOCKS, where, STR("the node is persistent: no session's end takes it away"),
              "stop that broker and delete the node by hand");
    else
        FOUND(JOIN_NOTE, where, STR("the broker runs"),
              "stop it before Klamm is started: a controlled shutdown frees the id at once");
    if (b->node && b->node->jmx_port > 0)
        FOUND(JOIN_WARNING, where,
              arena_printf(f->arena, "it is watched through JMX (port %d)", b->node->jmx_port),
              "Klamm has no JMX: what watches this broker through it sees nothing");
    if (b->node && f->conf)
        judge_self(f, b, ret);
}

/* ---- */

void join_judge_brokers(const struct join_facts *f, struct join_findings *ret)
{
    if (f->zk.zk.answers != WHY_YES)
        return;
    if (f->broker >= 0)
        judge_wanted(f, why_find_broker(&f->zk, f->broker), ret);
    for (int32_t i = 0; i < f->zk.brokers_count; i++) {
        const struct why_broker *b = &f->zk.brokers[i];
        if (b->registered == WHY_YES && b->id != f->broker)
            judge_other(f, b, ret);
    }
}
