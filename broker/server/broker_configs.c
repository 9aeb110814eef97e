#include "broker/server/broker_configs.h"

#include "broker/config/passwords.h"
#include "broker/storage/log_manager.h"
#include "common/base/lock.h"
#include "common/base/mem.h"
#include "common/base/say.h"
#include "zk/zk_configs.h"

struct broker_configs {
    struct broker_configs_opts opts;
    struct mutex lock; /* LOCK_RECONFIGURE: held while a change is taken to the parts */
    bool is_stopped;
};

struct broker_configs *broker_configs_new(const struct broker_configs_opts *opts)
{
    struct broker_configs *bc = xnew(struct broker_configs);

    bc->opts = *opts;
    mutex_init(&bc->lock, LOCK_RECONFIGURE);
    return bc;
}

void broker_configs_stop(struct broker_configs *bc)
{
    if (!bc)
        return;
    LOCK_SCOPE(&bc->lock);
    bc->is_stopped = true;
}

struct broker_configs *broker_configs_free(struct broker_configs *bc)
{
    if (bc)
        mutex_deinit(&bc->lock);
    free(bc);
    return NULL;
}

/* ---- the logs ---- */

/* A topic's own settings stay, over the broker's new ones. */
static bool rebase(struct log *log, void *ctx)
{
    const struct conf_snapshot *now = ctx;
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    struct topic_conf *old = log_conf(log), *conf = NULL;

    if (topic_conf_rebase(now->conf, old, &conf, &why) == 0)
        log_set_conf(log, conf);
    else
        say_error("the broker's new settings do not go together with a topic's own, whose log "
                  "keeps the old ones: %s",
                  why.s);
    topic_conf_unref(conf);
    topic_conf_unref(old);
    return true;
}

static bool is_same_defaults(const struct broker_conf *a, const struct broker_conf *b)
{
    for (size_t i = 0; i < topic_option_count; i++) {
        if (strcmp(a->topic_default_texts[i], b->topic_default_texts[i]) != 0)
            return false;
    }
    return true;
}

/* ---- reading ---- */

static void say_keys(const char *of, const struct props *old, const struct props *now)
{
    CLEANUP(strbuf_deinit) struct strbuf keys = {.max = 2000};

    if (props_equal(old, now))
        return;
    for (size_t i = 0; i < now->count; i++)
        strbuf_addf(&keys, " %s", now->v[i].key);
    say_info("settings in force for %s:%s", of, keys.s ? keys.s : " none");
}

/* Takes a change to the parts; the lock is held. */
static bool apply_locked(struct broker_configs *bc, struct props *own, struct props *common)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    const struct conf_snapshot *CLEANUP(conf_snapshot_put_p) old = live_conf_get(bc->opts.live);

    if (live_conf_set(bc->opts.live, own, common, &why) < 0) {
        say_error("the settings in ZooKeeper (/config/brokers/%d and <default>) cannot be applied, "
                  "the ones before stay: %s",
                  bc->opts.broker_id, why.s);
        return false;
    }
    const struct conf_snapshot *CLEANUP(conf_snapshot_put_p) now = live_conf_get(bc->opts.live);
    say_keys("this broker", &old->own, &now->own);
    say_keys("all brokers", &old->common, &now->common);
    if (!is_same_defaults(old->conf, now->conf))
        log_manager_each(bc->opts.logs, rebase, (void *)(uintptr_t)now);
    bc->opts.changed(bc->opts.ctx, old, now);
    return true;
}

static void apply(struct broker_configs *bc, struct props *own, struct props *common)
{
    bool is_applied = false;

    WITH_LOCK(&bc->lock)
    {
        is_applied = !bc->is_stopped && apply_locked(bc, own, common);
    }
    if (!is_applied)
        return;
    const struct conf_snapshot *CLEANUP(conf_snapshot_put_p) now = live_conf_get(bc->opts.live);
    bc->opts.announce(bc->opts.ctx, now);
}

/* What is malformed has been said, and sets nothing, as in Kafka. */
static void take(const struct zk_config *c, struct arena *a, struct props *ret)
{
    if (c->node.count > BROKER_SETTINGS_MAX)
        say_error("/config/brokers/%.*s in ZooKeeper holds %d settings, of which the first %d are "
                  "taken: more than a broker can have",
                  STR_ARG(c->name), c->node.count, BROKER_SETTINGS_MAX);
    for (int32_t i = 0; i < MIN(c->node.count, (int32_t)BROKER_SETTINGS_MAX); i++)
        props_set(ret, arena_strz(a, c->node.entries[i].key),
                  arena_strz(a, c->node.entries[i].value));
}

bool broker_configs_concerns(const struct broker_configs *bc, struct str name)
{
    int32_t id;

    return str_eqz(name, "<default>") ||
           (str_to_i32(str_trim(name), INT32_MIN, INT32_MAX, &id) == 0 && id == bc->opts.broker_id);
}

enum zk_result broker_configs_read(struct broker_configs *bc)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    CLEANUP(props_deinit) struct props own = {0}, common = {0};
    struct zk_config list[] = {{.name = STR("<default>")},
                               {.name = arena_printf(&a, "%d", bc->opts.broker_id)}};
    enum zk_result r = zk_configs_read(bc->opts.zk, "brokers", &a, list, ARRAY_LEN(list));

    if (r != ZK_OK)
        return r;
    take(&list[0], &a, &common);
    take(&list[1], &a, &own);
    passwords_decode(live_conf_file(bc->opts.live), &own);
    passwords_decode(live_conf_file(bc->opts.live), &common);
    apply(bc, &own, &common);
    return ZK_OK;
}

static enum zk_result renew_now(struct broker_configs *bc)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    CLEANUP(props_deinit) struct props own = {0};
    struct str name = arena_printf(&a, "%d", bc->opts.broker_id);
    struct zk_config stored = {.name = name};
    struct node_config node = {0};

    if (!live_conf_file(bc->opts.live)->password_encoder_old_secret)
        return ZK_OK;
    enum zk_result r = zk_configs_read(bc->opts.zk, "brokers", &a, &stored, 1);
    if (r != ZK_OK)
        return r;
    take(&stored, &a, &own);
    if (!passwords_renew(live_conf_file(bc->opts.live), &own))
        return ZK_OK;
    node.entries = arena_new_array(&a, struct node_config_entry, own.count);
    for (size_t i = 0; i < own.count; i++)
        node.entries[node.count++] =
            (struct node_config_entry){str_of(own.v[i].key), str_of(own.v[i].value)};
    say_info("passwords in ZooKeeper are sealed again with the new password.encoder.secret");
    r = zk_config_update(bc->opts.zk, "brokers", name, &node, stored.version);
    return r == ZK_OK ? zk_config_notify(bc->opts.zk, "brokers", name) : r;
}

enum zk_result broker_configs_renew(struct broker_configs *bc)
{
    enum zk_result r = ZK_BAD_VERSION;

    /* Somebody may be changing them while this broker starts. */
    for (int round = 0; r == ZK_BAD_VERSION && round < 10; round++)
        r = renew_now(bc);
    return r;
}
