#include "broker/server/registration.h"

#include "common/base/lock.h"
#include "common/base/mem.h"
#include "common/base/say.h"
#include "zk/zk_register.h"

#include <stdatomic.h>
#include <unistd.h>

struct self {
    _Atomic unsigned refs;
    struct arena arena;
    struct node_broker node;
};

struct registration {
    const struct gate *gate;
    struct zk_register reg;
    struct mutex lock; /* LOCK_CONFIG; guards what follows */
    struct self *self;
};

static void self_put(struct self *s)
{
    if (!s || atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) != 1)
        return;
    arena_deinit(&s->arena);
    free(s);
}

static void self_put_p(struct self **s)
{
    self_put(*s);
}

/* Of the node, which a broker of the cluster's dialect writes. */
static int32_t node_version(enum ibp ibp)
{
    if (ibp < IBP_0_10_0_IV1)
        return 2;
    return ibp < IBP_2_7_IV0 ? 4 : 5;
}

static struct self *self_new(const struct broker_conf *conf, const struct gate *gate)
{
    const struct listeners *ls = &conf->listener;
    struct self *s = xnew(struct self);
    char host[256] = "localhost";

    s->refs = 1;
    gethostname(host, sizeof host - 1);
    s->node = (struct node_broker){
        .version = node_version(conf->ibp),
        .endpoints = arena_new_array(&s->arena, struct node_endpoint, (size_t)ls->count),
        .rack = arena_str(&s->arena, str_of(conf->broker_rack)),
        .jmx_port = -1,
    };
    for (int i = 0; i < ls->count; i++) {
        const struct listener_conf *l = &ls->v[i];
        const char *told = *l->advertised_host ? l->advertised_host : host;

        if (!l->is_advertised)
            continue;
        s->node.endpoints[s->node.endpoint_count++] = (struct node_endpoint){
            .listener = arena_str(&s->arena, str_of(l->name)),
            .host = arena_str(&s->arena, str_of(told)),
            .port = l->advertised_port ? l->advertised_port : gate_port(gate, l->name),
            .protocol = (enum node_protocol)l->protocol,
        };
    }
    return s;
}

static struct self *self_get(struct registration *r)
{
    LOCK_SCOPE(&r->lock);
    r->self->refs++;
    return r->self;
}

static bool is_same(const struct node_broker *a, const struct node_broker *b)
{
    bool is_same = a->endpoint_count == b->endpoint_count;

    for (int32_t i = 0; is_same && i < a->endpoint_count; i++) {
        const struct node_endpoint *x = &a->endpoints[i], *y = &b->endpoints[i];

        is_same = str_eq(x->listener, y->listener) && str_eq(x->host, y->host) &&
                  x->port == y->port && x->protocol == y->protocol;
    }
    return is_same;
}

struct registration *registration_new(const struct registration_opts *opts)
{
    struct registration *r = xnew(struct registration);

    r->gate = opts->gate;
    r->self = self_new(opts->conf, opts->gate);
    mutex_init(&r->lock, LOCK_CONFIG);
    zk_register_init(&r->reg, opts->zk, opts->broker_id, opts->conf->zookeeper_session_timeout_ms);
    return r;
}

struct registration *registration_free(struct registration *r)
{
    if (!r)
        return NULL;
    self_put(r->self);
    mutex_deinit(&r->lock);
    free(r);
    return NULL;
}

enum zk_result registration_start(struct registration *r, struct strbuf *why)
{
    struct self *CLEANUP(self_put_p) self = self_get(r);

    return zk_register_start(&r->reg, &self->node, why);
}

static enum zk_result rewrite(struct registration *r, const struct self *self, struct strbuf *why)
{
    enum zk_result z = zk_register_update(&r->reg, &self->node, why);

    return z == ZK_NO_NODE || z == ZK_SESSION_EXPIRED ? ZK_OK : z;
}

/* Whoever changed the content meanwhile may have found no node. */
enum zk_result registration_again(struct registration *r)
{
    struct self *CLEANUP(self_put_p) self = self_get(r);
    enum zk_result z = zk_register_again(&r->reg, &self->node);
    struct self *CLEANUP(self_put_p) now = self_get(r);
    CLEANUP(strbuf_deinit) struct strbuf why = {0};

    if (z != ZK_OK || now == self)
        return z;
    z = rewrite(r, now, &why);
    if (z == ZK_REFUSED)
        say_error("the endpoints of this broker stay in ZooKeeper as they were: %s", why.s);
    return z == ZK_REFUSED ? ZK_OK : z;
}

int64_t registration_epoch(const struct registration *r)
{
    return r->reg.epoch;
}

/* Puts next in place and gives what was there before, with its reference. Where both tell the same
 * next goes, and NULL is given. */
static struct self *exchange(struct registration *r, struct self *next)
{
    struct self *old = NULL;

    WITH_LOCK(&r->lock)
    {
        if (!is_same(&r->self->node, &next->node)) {
            old = r->self;
            r->self = next;
        }
    }
    if (!old)
        self_put(next);
    return old;
}

enum zk_result registration_update(struct registration *r, const struct broker_conf *conf,
                                   struct strbuf *why)
{
    struct self *old = exchange(r, self_new(conf, r->gate));

    if (!old)
        return ZK_OK;
    struct self *CLEANUP(self_put_p) mine = self_get(r);
    say_info("listeners have changed, and are told anew in ZooKeeper broker=%d", r->reg.broker_id);
    enum zk_result z = rewrite(r, mine, why);
    /* Neither is what was refused told in a session to come. */
    self_put(z == ZK_REFUSED ? exchange(r, old) : old);
    return z;
}
