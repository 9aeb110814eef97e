#include "broker/server/topic_configs.h"

#include "common/base/containers.h"
#include "common/base/say.h"
#include "zk/zk_configs.h"
#include "zk/zk_paths.h"
#include "zk/zk_topics.h"

struct preloaded {
    UT_hash_handle hh;
    struct zk_config config;
};

/* A topic that is to be looked at again. */
struct again {
    struct again *next;
    char *topic;
};

struct topic_configs {
    struct topic_configs_opts opts;
    struct log_manager *logs;
    struct controller *controller;
    struct broker_configs *brokers;
    struct arena preload_arena;
    struct preloaded *preloaded;
    bool is_preloaded;
    struct zk_config_changes changes; /* the job's */
    struct job job;
    struct mutex lock; /* LOCK_CONFIG; guards what follows */
    bool is_running;
    bool is_wanted_again;
    struct again *again;
};

struct topic_configs *topic_configs_new(const struct topic_configs_opts *opts)
{
    struct topic_configs *tc = xnew(struct topic_configs);

    tc->opts = *opts;
    mutex_init(&tc->lock, LOCK_CONFIG);
    return tc;
}

static void free_again(struct again *list)
{
    struct again *a, *next;

    LL_FOREACH_SAFE (list, a, next) {
        free(a->topic);
        free(a);
    }
}

struct topic_configs *topic_configs_free(struct topic_configs *tc)
{
    if (!tc)
        return NULL;
    topic_configs_end_preload(tc);
    free_again(tc->again);
    mutex_deinit(&tc->lock);
    free(tc);
    return NULL;
}

/* ---- settings ---- */

static struct topic_conf *build(const struct topic_configs *tc, const char *topic,
                                const struct node_config *node)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    CLEANUP(arena_deinit) struct arena a = {0};
    struct topic_override *overrides =
        arena_new_array(&a, struct topic_override, (size_t)node->count);
    const struct conf_snapshot *CLEANUP(conf_snapshot_put_p) now = live_conf_get(tc->opts.live);
    struct topic_conf *conf = NULL;

    for (int32_t i = 0; i < node->count; i++)
        overrides[i] = (struct topic_override){node->entries[i].key, node->entries[i].value};
    if (topic_conf_build(now->conf, overrides, (size_t)node->count, &conf, &why) == 0)
        return conf;
    say_error("the settings of topic %s in ZooKeeper (/config/topics/%s) cannot be used, it has "
              "the broker's defaults until they are "
              "mended: %s",
              topic, topic, why.s);
    return topic_conf_ref(now->conf->topic_defaults);
}

enum zk_result topic_configs_preload(struct topic_configs *tc)
{
    struct zk_names names;
    struct arena *a = &tc->preload_arena;
    enum zk_result r = zk_topics_list(tc->opts.zk, false, a, &names);

    if (r != ZK_OK)
        return r;
    struct preloaded *list = arena_new_array(a, struct preloaded, names.count);
    struct zk_config *configs = arena_new_array(a, struct zk_config, names.count);
    for (size_t i = 0; i < names.count; i++)
        configs[i].name = names.list[i];
    r = zk_configs_read(tc->opts.zk, "topics", a, configs, names.count);
    for (size_t i = 0; i < names.count && r == ZK_OK; i++) {
        list[i].config = configs[i];
        HASH_ADD_KEYPTR(hh, tc->preloaded, configs[i].name.p, configs[i].name.len, &list[i]);
    }
    tc->is_preloaded = r == ZK_OK;
    return r;
}

void topic_configs_end_preload(struct topic_configs *tc)
{
    HASH_CLEAR(hh, tc->preloaded);
    tc->is_preloaded = false;
    arena_deinit(&tc->preload_arena);
}

struct topic_conf *topic_configs_get(struct topic_configs *tc, const char *topic)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct node_config node = {0};
    struct preloaded *p;

    if (tc->is_preloaded) {
        HASH_FIND(hh, tc->preloaded, topic, strlen(topic), p);
        return build(tc, topic, p && p->config.result == ZK_OK ? &p->config.node : &node);
    }
    enum zk_result r = zk_config_read(tc->opts.zk, "topics", str_of(topic), &a, &node);
    if (r == ZK_MALFORMED)
        node = (struct node_config){0};
    else if (r != ZK_OK)
        return NULL;
    return build(tc, topic, &node);
}

/* ---- changes ---- */

/* Logs are made a moment before the metadata has their partitions. */
static int32_t partition_count(const struct topic_configs *tc, struct str topic)
{
    enum { MADE_AT_ONCE = 1000 };
    const struct metadata_snapshot *CLEANUP(metadata_put_p) s = metadata_get(tc->opts.metadata);
    const struct meta_topic *t = metadata_topic(s, topic);
    int32_t known = t && t->partition_count ? t->partitions[t->partition_count - 1].index + 1 : 0;

    return MIN(known, INT32_MAX - MADE_AT_ONCE) + MADE_AT_ONCE;
}

static void apply(struct topic_configs *tc, const char *topic)
{
    live_conf_changed(tc->opts.live);
    struct topic_conf *conf = topic_configs_get(tc, topic);
    int32_t n = partition_count(tc, str_of(topic));
    bool was_unclean = false;

    if (!conf) {
        say_warn("the settings of topic %s have changed and cannot be read from ZooKeeper now; "
                 "read again with its next change, or "
                 "when this broker starts",
                 topic);
        return;
    }
    for (int32_t i = 0; i < n; i++) {
        struct log *CLEANUP(log_put_p) log = log_manager_get(tc->logs, str_of(topic), i);

        if (!log)
            continue;
        struct topic_conf *old = log_conf(log);
        was_unclean |= old->unclean_leader_election_enable;
        topic_conf_unref(old);
        log_set_conf(log, conf);
    }
    say_info("settings changed topic=%s", topic);
    if (conf->unclean_leader_election_enable && !was_unclean)
        controller_unclean_enabled(tc->controller, str_of(topic));
    topic_conf_unref(conf);
}

static void read_brokers(struct topic_configs *tc)
{
    enum zk_result r = broker_configs_read(tc->brokers);

    if (r != ZK_OK && r != ZK_CLOSING)
        say_warn("the settings of this broker have changed and cannot be read from ZooKeeper now: "
                 "%s; read again with their next change, or when it starts",
                 zk_result_name(r));
}

static void on_change(const struct node_config_change *change, void *ctx)
{
    if (str_eqz(change->type, "brokers"))
        read_brokers(ctx);
    if (!str_eqz(change->type, "topics"))
        return;
    CLEANUP(free_p) char *topic = str_dup(change->name);

    apply(ctx, topic);
}

static void start_job(struct topic_configs *tc);

static void look_again(struct topic_configs *tc)
{
    struct again *list = NULL, *a;

    WITH_LOCK(&tc->lock)
    {
        list = TAKE(tc->again);
    }
    LL_FOREACH (list, a)
        apply(tc, a->topic);
    free_again(list);
}

/* On a worker. */
static void read_changes(struct job *j)
{
    struct topic_configs *tc = container_of(j, struct topic_configs, job);
    enum zk_result r = zk_config_changes_run(tc->opts.zk, &tc->changes, on_change, tc);
    bool again = false;

    look_again(tc);
    if (r != ZK_OK && r != ZK_CLOSING)
        say_warn("changes of settings cannot be read from ZooKeeper: %s; read with the next change "
                 "or the next session",
                 zk_result_name(r));
    WITH_LOCK(&tc->lock)
    {
        again = tc->is_wanted_again;
        tc->is_running = again;
        tc->is_wanted_again = false;
    }
    if (again)
        start_job(tc);
}

static void start_job(struct topic_configs *tc)
{
    tc->job = (struct job){.work = read_changes};
    workq_submit(tc->opts.workq, &tc->job);
}

static void look(struct topic_configs *tc)
{
    bool is_first = false;

    WITH_LOCK(&tc->lock)
    {
        is_first = !tc->is_running;
        tc->is_wanted_again = tc->is_running;
        tc->is_running = true;
    }
    if (is_first)
        start_job(tc);
}

void topic_configs_again(struct topic_configs *tc, const char *topic)
{
    struct again *a = xnew(struct again);

    a->topic = xstrdup(topic);
    WITH_LOCK(&tc->lock)
    {
        LL_PREPEND(tc->again, a);
    }
    look(tc);
}

/* On ZooKeeper's thread: only passes it on. */
static void on_event(enum zk_event event UNUSED, const char *path UNUSED, void *ctx)
{
    look(ctx);
}

void topic_configs_follow(struct topic_configs *tc, struct log_manager *logs,
                          struct controller *controller, struct broker_configs *brokers)
{
    tc->brokers = brokers;
    tc->logs = logs;
    tc->controller = controller;
    zk_store_watch_children(tc->opts.zk, ZK_PATH_CONFIG_CHANGES, on_event, tc);
    look(tc);
}

void topic_configs_session_new(void *ctx, int64_t session_id UNUSED)
{
    struct topic_configs *tc = ctx;

    if (tc->logs)
        look(tc);
}
