#include "zk/zk_register.h"

#include "common/base/say.h"
#include "zk/zk_brokers.h"
#include "zk/zk_paths.h"

#include <time.h>

enum {
    POLL_MS = 200,
    SAY_EVERY_MS = 3000,
    SAY_TAKEN_EVERY_MS = 60000,
    BACKOFF_MS = 1000,
    /* The earlier self may have asked for a longer session than we do: servers grant up to 20
     * ticks, by default 40 s. */
    LONGEST_USUAL_SESSION_MS = 40000,
};

/* What one try has come to. */
enum outcome {
    REGISTERED,
    AGAIN,        /* the obstacle is gone */
    EARLIER_SELF, /* to be waited for */
    TAKEN,        /* another broker */
    FAILED,       /* reg_try.result says how */
};

struct reg_try {
    enum zk_result result;
    struct zk_stat owner;     /* of the node in the way */
    struct node_broker other; /* its content; empty if unreadable */
};

void zk_register_init(struct zk_register *reg, struct zk_store *store, int32_t broker_id,
                      int32_t session_timeout_ms)
{
    *reg = (struct zk_register){
        .store = store,
        .broker_id = broker_id,
        .session_timeout_ms = session_timeout_ms,
        .epoch = -1,
    };
}

static bool is_own_session(const struct zk_register *reg, int64_t session)
{
    for (size_t i = 0; session && i < ARRAY_LEN(reg->sessions); i++) {
        if (reg->sessions[i] == session)
            return true;
    }
    return false;
}

static void note_session(struct zk_register *reg)
{
    int64_t now = zk_store_session_id(reg->store);

    if (now == 0 || is_own_session(reg, now))
        return;
    memmove(reg->sessions + 1, reg->sessions, sizeof reg->sessions - sizeof reg->sessions[0]);
    reg->sessions[0] = now;
}

static struct slice encode(const struct zk_register *reg, struct arena *a,
                           const struct node_broker *self)
{
    struct node_broker stamped = *self;

    stamped.timestamp_ms = clock_wall_ms(reg->store->clock);
    return node_broker_encode(a, &stamped);
}

/* Created empty and set in one multi: the answer to the set carries the czxid, which a create's
 * does not. */
static enum zk_result create(struct zk_register *reg, const char *path,
                             const struct node_broker *self)
{
    CLEANUP(zk_batch_deinit) struct zk_batch b = {0};

    note_session(reg);
    zk_batch_multi_begin(&b);
    size_t made = zk_batch_create(&b, path, (struct slice){0}, ZK_EPHEMERAL);
    size_t set = zk_batch_set(&b, path, encode(reg, &b.arena, self), 0);
    zk_batch_multi_end(&b);
    zk_store_run(reg->store, &b);
    note_session(reg);
    if (b.ops[set].result == ZK_OK && b.ops[made].result == ZK_OK)
        reg->epoch = b.ops[set].stat.czxid;
    return b.ops[made].result != ZK_OK ? b.ops[made].result : b.ops[set].result;
}

static bool shares_a_host(const struct node_broker *a, const struct node_broker *b)
{
    for (int32_t i = 0; i < a->endpoint_count; i++) {
        for (int32_t j = 0; j < b->endpoint_count; j++) {
            if (str_eq(a->endpoints[i].host, b->endpoints[j].host))
                return true;
        }
    }
    return false;
}

/* Whose node is in the way. What belongs to an earlier session of this process is removed here. */
static enum outcome look(struct zk_register *reg, const char *path, const struct node_broker *self,
                         struct arena *a, struct reg_try *t)
{
    struct slice data;
    struct node_why why;

    t->other = (struct node_broker){0};
    t->result = zk_store_get(reg->store, path, a, &data, &t->owner);
    if (t->result == ZK_NO_NODE)
        return AGAIN;
    if (t->result != ZK_OK)
        return FAILED;
    int64_t owner = t->owner.ephemeral_owner;

    if (owner && owner == zk_store_session_id(reg->store)) {
        reg->epoch = t->owner.czxid;
        return REGISTERED;
    }
    if (is_own_session(reg, owner)) {
        say_info("removing %s, which our expired session 0x%" PRIx64 " has left behind", path,
                 (uint64_t)owner);
        t->result = zk_store_delete(reg->store, path, t->owner.version);
        bool gone = t->result == ZK_OK || t->result == ZK_NO_NODE || t->result == ZK_BAD_VERSION;
        return gone ? AGAIN : FAILED;
    }
    bool readable = node_broker_decode(data, a, &why, &t->other) == 0;

    return owner && readable && shares_a_host(self, &t->other) ? EARLIER_SELF : TAKEN;
}

static enum outcome try_once(struct zk_register *reg, const char *path,
                             const struct node_broker *self, struct arena *a, struct reg_try *t)
{
    reg->epoch = -1;
    t->result = create(reg, path, self);
    if (t->result == ZK_OK)
        return REGISTERED;
    return t->result == ZK_NODE_EXISTS ? look(reg, path, self, a, t) : FAILED;
}

static void add_endpoints(struct strbuf *sb, const struct node_broker *b)
{
    for (int32_t i = 0; i < b->endpoint_count; i++)
        strbuf_addf(sb, "%s%.*s:%d", i ? ", " : "", STR_ARG(b->endpoints[i].host),
                    b->endpoints[i].port);
    if (b->endpoint_count == 0)
        strbuf_addz(sb, "an unknown address (its content cannot be decoded)");
}

static void add_time(struct strbuf *sb, int64_t ms)
{
    char text[32];
    time_t seconds = (time_t)(ms / 1000);
    struct tm tm;

    gmtime_r(&seconds, &tm);
    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &tm);
    strbuf_addz(sb, text);
}

static void explain_taken(const struct zk_register *reg, const struct reg_try *t,
                          struct strbuf *ret_why)
{
    strbuf_addf(ret_why, "broker id %d is taken: /brokers/ids/%d was registered by a broker at ",
                reg->broker_id, reg->broker_id);
    add_endpoints(ret_why, &t->other);
    strbuf_addz(ret_why, " at ");
    add_time(ret_why, t->owner.ctime_ms);
    if (t->owner.ephemeral_owner)
        strbuf_addf(ret_why,
                    ", session 0x%" PRIx64 ". Stop that broker, or give this one another broker.id",
                    (uint64_t)t->owner.ephemeral_owner);
    else
        strbuf_addz(ret_why, ", as a persistent node that no session owns. No broker makes such a "
                             "node: delete it by hand if you know that nobody needs it");
}

/* A wait for our earlier self, or for another broker in our place: its lines and its end. */
struct wait {
    int64_t begun_ms;
    int64_t said_ms;
    int64_t limit_ms;
};

static struct wait wait_begin(const struct zk_register *reg)
{
    int64_t longest = MAX(reg->session_timeout_ms, (int32_t)LONGEST_USUAL_SESSION_MS);

    return (struct wait){
        .begun_ms = clock_mono_ms(reg->store->clock),
        .said_ms = INT64_MIN / 2,
        .limit_ms = longest + longest / 2,
    };
}

static void say_countdown(const struct zk_register *reg, struct wait *w, const struct reg_try *t)
{
    CLEANUP(strbuf_deinit) struct strbuf who = {0};
    int64_t now = clock_mono_ms(reg->store->clock);
    int64_t waited = now - w->begun_ms, left = reg->session_timeout_ms - waited;

    if (now - w->said_ms < SAY_EVERY_MS)
        return;
    w->said_ms = now;
    add_endpoints(&who, &t->other);
    if (left > 0)
        say_info("broker id %d is still registered by our earlier self at %s (session 0x%" PRIx64
                 "); waiting for ZooKeeper to end that session, at the latest in about %" PRId64
                 " s, then registering; waited %" PRId64 " s so far",
                 reg->broker_id, who.s, (uint64_t)t->owner.ephemeral_owner, (left + 999) / 1000,
                 waited / 1000);
    else
        say_warn("broker id %d is still registered at %s (session 0x%" PRIx64 ") after %" PRId64
                 " s, longer than a dead process of ours would be: if an old "
                 "process still runs there, stop it; waiting for another %" PRId64 " s",
                 reg->broker_id, who.s, (uint64_t)t->owner.ephemeral_owner, waited / 1000,
                 MAX(w->limit_ms - waited, (int64_t)0) / 1000);
}

static bool wait_is_over(const struct zk_register *reg, const struct wait *w)
{
    return clock_mono_ms(reg->store->clock) - w->begun_ms > w->limit_ms;
}

static enum zk_result registered(const struct zk_register *reg, const struct node_broker *self)
{
    CLEANUP(strbuf_deinit) struct strbuf where = {0};

    add_endpoints(&where, self);
    say_info("registered broker=%d epoch=%" PRId64 " session=0x%" PRIx64 " at %s", reg->broker_id,
             reg->epoch, (uint64_t)zk_store_session_id(reg->store), where.s);
    return ZK_OK;
}

/* No two brokers may advertise one address: clients of the one would reach the other. */
static enum zk_result check_others(struct zk_register *reg, const struct node_broker *self,
                                   struct arena *a, struct strbuf *ret_why)
{
    struct zk_brokers all;
    enum zk_result r = zk_brokers_read(reg->store, false, a, &all);

    for (size_t i = 0; r == ZK_OK && i < all.count; i++) {
        const struct node_endpoint *shared;

        if (all.list[i].id == reg->broker_id || all.list[i].result != ZK_OK ||
            !node_broker_collides(self, &all.list[i].node, &shared))
            continue;
        strbuf_addf(ret_why,
                    "%.*s:%d is advertised by broker %d already: change advertised.listeners "
                    "(or listeners) here or there",
                    STR_ARG(shared->host), shared->port, all.list[i].id);
        return ZK_REFUSED;
    }
    return r;
}

enum zk_result zk_register_start(struct zk_register *reg, const struct node_broker *self,
                                 struct strbuf *ret_why)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    const char *path = zk_path_broker(&a, reg->broker_id);
    struct wait w = wait_begin(reg);
    struct reg_try t;
    enum zk_result r = check_others(reg, self, &a, ret_why);

    while (r == ZK_OK) {
        CLEANUP(arena_deinit) struct arena scratch = {0};
        enum outcome o = try_once(reg, path, self, &scratch, &t);

        if (o == REGISTERED)
            return registered(reg, self);
        if (o == FAILED)
            r = t.result;
        if (o == TAKEN || (o == EARLIER_SELF && wait_is_over(reg, &w))) {
            explain_taken(reg, &t, ret_why);
            return ZK_NODE_EXISTS;
        }
        if (o == EARLIER_SELF) {
            say_countdown(reg, &w, &t);
            r = zk_store_pause_ms(reg->store, POLL_MS) ? ZK_OK : ZK_CLOSING;
        }
    }
    if (ret_why->len == 0)
        strbuf_addf(ret_why, "registering %s failed: %s", path, zk_result_name(r));
    return r;
}

static void say_taken(const struct zk_register *reg, struct wait *w, const struct reg_try *t)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    int64_t now = clock_mono_ms(reg->store->clock);

    if (now - w->said_ms < SAY_TAKEN_EVERY_MS)
        return;
    w->said_ms = now;
    explain_taken(reg, t, &why);
    say_error("%s. This broker stays out of the cluster until that node is gone", why.s);
}

/* How long until the next try; logs why. */
static int64_t again_in_ms(const struct zk_register *reg, enum outcome o, const struct reg_try *t,
                           struct wait *w)
{
    switch (o) {
    case AGAIN:
        return 0;
    case EARLIER_SELF:
        say_countdown(reg, w, t);
        return POLL_MS;
    case TAKEN:
        say_taken(reg, w, t);
        return BACKOFF_MS;
    default:
        say_limited(SAY_WARN, 5, "registering broker %d failed: %s; trying again in %d ms",
                    reg->broker_id, zk_result_name(t->result), BACKOFF_MS);
        return BACKOFF_MS;
    }
}

enum zk_result zk_register_again(struct zk_register *reg, const struct node_broker *self)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    const char *path = zk_path_broker(&a, reg->broker_id);
    struct wait w = wait_begin(reg);

    for (;;) {
        CLEANUP(arena_deinit) struct arena scratch = {0};
        struct reg_try t;
        enum outcome o = try_once(reg, path, self, &scratch, &t);

        if (o == REGISTERED)
            return registered(reg, self);
        if (o == FAILED && (t.result == ZK_SESSION_EXPIRED || t.result == ZK_CLOSING))
            return t.result;
        int64_t ms = again_in_ms(reg, o, &t, &w);
        if (ms && !zk_store_pause_ms(reg->store, ms))
            return ZK_CLOSING;
    }
}

enum zk_result zk_register_update(struct zk_register *reg, const struct node_broker *self,
                                  struct strbuf *ret_why)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    enum zk_result r = check_others(reg, self, &a, ret_why);

    if (r != ZK_OK)
        return r;
    return zk_store_set(reg->store, zk_path_broker(&a, reg->broker_id), encode(reg, &a, self),
                        ZK_ANY_VERSION, NULL);
}
