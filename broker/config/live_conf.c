#include "broker/config/live_conf.h"

#include "broker/config/dynamic_check.h"
#include "broker/config/dynamic_keys.h"
#include "common/base/lock.h"
#include "common/base/mem.h"
#include "common/base/say.h"

#include <stdatomic.h>

struct live_conf {
    const struct broker_conf *file;
    conf_can_fn can;
    void *ctx;
    bool is_running;
    _Atomic uint64_t changes;
    struct mutex lock; /* LOCK_CONFIG; guards what follows */
    struct conf_snapshot *current;
};

void conf_snapshot_put(const struct conf_snapshot *snapshot)
{
    struct conf_snapshot *s = (struct conf_snapshot *)(uintptr_t)snapshot;

    if (!s || atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) != 1)
        return;
    broker_conf_free(s->conf);
    props_deinit(&s->own);
    props_deinit(&s->common);
    free(s);
}

void conf_snapshot_put_p(const struct conf_snapshot **s)
{
    conf_snapshot_put(*s);
}

/* A setting goes by any of its names: what is set above hides all of them below. */
static void overlay(struct props *to, const struct props *from)
{
    for (size_t i = 0; i < from->count; i++) {
        const char *names[KEY_NAMES_MAX];
        size_t n = broker_key_names(from->v[i].key, false, names);

        for (size_t k = 0; k < n; k++)
            props_remove(to, names[k]);
        props_set(to, from->v[i].key, from->v[i].value);
    }
}

static int build(const struct broker_conf *file, const struct props *own,
                 const struct props *common, struct broker_conf **ret, struct strbuf *why)
{
    struct props all = {0};

    props_add(&all, &file->props);
    overlay(&all, common);
    overlay(&all, own);
    return broker_conf_from_props(&all, ret, why);
}

struct live_conf *live_conf_new(const struct broker_conf *file)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    struct live_conf *l = xnew(struct live_conf);

    l->file = file;
    l->current = xnew(struct conf_snapshot);
    l->current->refs = 1;
    l->current->file = file;
    int r = build(file, &l->current->own, &l->current->common, &l->current->conf, &why);
    assert(r == 0); /* it has been taken before */
    (void)r;
    mutex_init(&l->lock, LOCK_CONFIG);
    return l;
}

struct live_conf *live_conf_free(struct live_conf *l)
{
    if (!l)
        return NULL;
    conf_snapshot_put(l->current);
    mutex_deinit(&l->lock);
    free(l);
    return NULL;
}

const struct broker_conf *live_conf_file(const struct live_conf *l)
{
    return l->file;
}

const struct conf_snapshot *live_conf_get(struct live_conf *l)
{
    LOCK_SCOPE(&l->lock);
    atomic_fetch_add_explicit(&l->current->refs, 1, memory_order_relaxed);
    return l->current;
}

void live_conf_run(struct live_conf *l, conf_can_fn can, void *ctx)
{
    l->can = can;
    l->ctx = ctx;
    l->is_running = true;
}

static int check_parts(const struct live_conf *l, const struct conf_step *step, struct strbuf *why)
{
    CLEANUP(strbuf_deinit) struct strbuf reason = {0};
    int r = l->can ? l->can(l->ctx, step, &reason) : 0;

    if (r < 0)
        strbuf_addf(why,
                    "Invalid value org.apache.kafka.common.config.ConfigException: %s for "
                    "configuration Invalid dynamic configuration",
                    reason.s ? reason.s : "");
    return r;
}

int live_conf_check(struct live_conf *l, const struct props *p, bool is_per_broker,
                    struct strbuf *why)
{
    const struct conf_snapshot *CLEANUP(conf_snapshot_put_p) now = live_conf_get(l);
    struct broker_conf *next = NULL;
    int r = dynamic_props_check(p, is_per_broker, why);

    if (r == 0)
        r = build(l->file, is_per_broker ? p : &now->own, is_per_broker ? &now->common : p, &next,
                  why);
    if (r == 0)
        r = dynamic_conf_check(now, next, why);
    if (r == 0)
        r = check_parts(l, &(struct conf_step){now->conf, next, false}, why);
    broker_conf_free(next);
    return r;
}

int live_conf_check_files(struct live_conf *l, const struct props *p, struct strbuf *why)
{
    const struct conf_snapshot *CLEANUP(conf_snapshot_put_p) now = live_conf_get(l);
    struct broker_conf *next = NULL;
    int r = build(l->file, p, &now->common, &next, why);

    if (r == 0 && l->can)
        r = l->can(l->ctx, &(struct conf_step){now->conf, next, true}, why);
    broker_conf_free(next);
    return r;
}

/* One after the other, so that what is sound is not lost with what is not. */
static void build_what_goes(struct conf_snapshot *next)
{
    CLEANUP(strbuf_deinit) struct strbuf why_all = {0}, why = {0};
    const struct props none = {0};

    if (build(next->file, &next->own, &next->common, &next->conf, &why_all) == 0)
        return;
    if (build(next->file, &none, &next->common, &next->conf, &why) == 0) {
        say_error("what ZooKeeper holds for this broker (/config/brokers/ID) cannot be used and is "
                  "passed over: %s",
                  why_all.s);
        props_deinit(&next->own);
        return;
    }
    say_error("what ZooKeeper holds for all brokers (/config/brokers/<default>) cannot be used and "
              "is passed over: %s",
              why.s);
    props_deinit(&next->common);
    strbuf_deinit(&why_all);
    if (build(next->file, &next->own, &none, &next->conf, &why_all) == 0)
        return;
    say_error("what ZooKeeper holds for this broker (/config/brokers/ID) cannot be used and is "
              "passed over: %s",
              why_all.s);
    props_deinit(&next->own);
    strbuf_deinit(&why_all);
    int r = build(next->file, &none, &none, &next->conf, &why_all);
    assert(r == 0); /* it has been taken before */
    (void)r;
}

int live_conf_set(struct live_conf *l, struct props *own, struct props *common, struct strbuf *why)
{
    const struct conf_snapshot *CLEANUP(conf_snapshot_put_p) now = live_conf_get(l);
    struct conf_snapshot *next = xnew(struct conf_snapshot), *old = NULL;
    int r = 0;

    next->refs = 1;
    next->file = l->file;
    next->own = MOVE(*own);
    next->common = MOVE(*common);
    dynamic_props_clean(&next->own, true);
    dynamic_props_clean(&next->common, false);
    if (!l->is_running)
        build_what_goes(next);
    else if ((r = build(l->file, &next->own, &next->common, &next->conf, why)) == 0)
        r = dynamic_conf_check_stored(now, next->conf, why);
    if (r < 0) {
        conf_snapshot_put(next);
        return r;
    }
    WITH_LOCK(&l->lock)
    {
        old = l->current;
        l->current = next;
    }
    conf_snapshot_put(old);
    live_conf_changed(l);
    return 0;
}

uint64_t live_conf_changes(const struct live_conf *l)
{
    return l->changes;
}

void live_conf_changed(struct live_conf *l)
{
    l->changes++;
}

/* ---- what only ZooKeeper holds ---- */

static int64_t rate(const struct conf_snapshot *s, const char *key)
{
    const char *own = props_get(&s->own, key), *common = props_get(&s->common, key);
    const char *text = own ? own : common;
    int64_t n = INT64_MAX;

    if (text && str_to_i64(str_trim(str_of(text)), 0, INT64_MAX, &n) < 0)
        n = INT64_MAX; /* has been checked: it does not come to that */
    return n;
}

struct throttle_rates conf_throttle_rates(const struct conf_snapshot *s)
{
    return (struct throttle_rates){
        .leader = rate(s, "leader.replication.throttled.rate"),
        .follower = rate(s, "follower.replication.throttled.rate"),
        .alter_log_dirs = rate(s, "replica.alter.log.dirs.io.max.bytes.per.second"),
    };
}

struct throttle_rates live_conf_throttle_rates(struct live_conf *l)
{
    const struct conf_snapshot *CLEANUP(conf_snapshot_put_p) now = live_conf_get(l);

    return conf_throttle_rates(now);
}

/* ---- where a setting comes from ---- */

/* broker.id and node.id are two names of one thing. */
static const char *given(const struct props *p, const char *name)
{
    const char *value = props_get(p, name);

    if (!value && strcmp(name, "node.id") == 0)
        value = props_get(p, "broker.id");
    if (!value && strcmp(name, "broker.id") == 0)
        value = props_get(p, "node.id");
    return value;
}

static size_t add_given(const struct props *p, const char *const *names, size_t count,
                        enum conf_source source, struct origin *ret)
{
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        const char *value = given(p, names[i]);

        if (value)
            ret[n++] = (struct origin){names[i], str_of(value), source};
    }
    return n;
}

static size_t add_defaults(const char *const *names, size_t count, struct origin *ret)
{
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        const struct conf_option *o =
            conf_find(broker_options, broker_option_count, str_of(names[i]));

        if (o && o->default_text)
            ret[n++] = (struct origin){names[i], str_of(o->default_text), SOURCE_DEFAULT};
    }
    return n;
}

size_t broker_origins(const struct conf_snapshot *s, const char *key,
                      struct origin ret[ORIGINS_MAX])
{
    const char *names[KEY_NAMES_MAX];
    size_t count = broker_key_names(key, true, names);
    size_t n = add_given(&s->own, names, count, SOURCE_DYNAMIC_BROKER, ret), skip = 0;

    n += add_given(&s->common, names, count, SOURCE_DYNAMIC_DEFAULT, ret + n);
    n += add_given(&s->file->props, names, count, SOURCE_STATIC_BROKER, ret + n);
    n += add_defaults(names, count, ret + n);
    /* As in Kafka: what stands in front of the first one of this very name is not shown. */
    while (skip < n && strcmp(ret[skip].name, key) != 0)
        skip++;
    memmove(ret, ret + skip, (n - skip) * sizeof *ret);
    return n - skip;
}

size_t topic_origins(const struct conf_snapshot *s, const struct conf_option *o, struct str value,
                     struct origin ret[ORIGINS_MAX])
{
    const char *synonym = topic_option_synonym(o);
    size_t n = 0;

    if (!str_is_null(value))
        ret[n++] = (struct origin){o->key, value, SOURCE_TOPIC};
    return n + (synonym ? broker_origins(s, synonym, ret + n) : 0);
}
