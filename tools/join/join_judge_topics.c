/*
 * join_judge_topics.c - topics: their settings as Klamm would read them, tiered storage,
 * transactions, ids
 */
#include "tools/join/join.h"
#include "zk/zk_paths.h"

#define FOUND(severity, where, what, todo) join_found(ret, (severity), (where), (what), STR(todo))

/* Beyond it the message that re-arms all watches is over a server's usual jute.maxbuffer. */
enum { MANY_TOPICS = 20000 };

static struct str config_of(const struct join_facts *f, const struct why_topic *t)
{
    return arena_printf(f->arena, "/config/topics/%.*s", STR_ARG(t->name));
}

static const struct conf_option *unused_option(struct str key)
{
    const struct conf_option *o = conf_find(topic_options, topic_option_count, key);

    return o && o->at < 0 ? o : NULL;
}

static void judge_unused(const struct join_facts *f, const struct why_topic *t, struct str key,
                         struct str value, struct join_findings *ret)
{
    if (!unused_option(key))
        return;
    if (str_eqz(key, "remote.storage.enable") && str_eqz(value, "true"))
        FOUND(JOIN_BLOCKS, config_of(f, t),
              STR("tiered storage is on: Klamm does not see what lies in remote storage only"),
              "bring the topic back to local storage, or keep its replicas on Kafka");
    else
        FOUND(JOIN_NOTE, config_of(f, t),
              arena_printf(f->arena, "%.*s is set, and has no effect here", STR_ARG(key)), "");
}

static void judge_config(const struct join_facts *f, const struct why_topic *t,
                         struct join_findings *ret)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    int32_t n = t->config ? t->config->count : 0;
    struct topic_override *v = arena_new_array(&a, struct topic_override, (size_t)n + 1);
    struct topic_conf *conf = NULL;

    for (int32_t i = 0; i < n; i++) {
        v[i] = (struct topic_override){t->config->entries[i].key, t->config->entries[i].value};
        judge_unused(f, t, v[i].name, v[i].value, ret);
    }
    if (n && topic_conf_build(f->conf, v, (size_t)n, &conf, &why) < 0)
        FOUND(JOIN_WARNING, config_of(f, t),
              arena_printf(f->arena, "cannot be used: %s", why.s ? why.s : "refused"),
              "mend it with kafka-configs: until then the topic has the broker's defaults");
    topic_conf_unref(conf);
}

/* ---- transactions ---- */

/* -1: not known. */
static int64_t live_transactions(const struct join_facts *f)
{
    bool is_known = f->live_count > 0;
    int64_t n = 0;

    for (size_t i = 0; i < f->live_count; i++) {
        is_known = is_known && f->live[i].transactional_ids >= 0;
        n += MAX(f->live[i].transactional_ids, (int64_t)0);
    }
    return n || is_known ? n : -1;
}

static void judge_transactions(const struct join_facts *f, struct join_findings *ret)
{
    struct str where = STR(ZK_PATH_TOPICS "/__transaction_state");
    int64_t n = live_transactions(f);

    if (!why_find_topic(&f->zk, STR("__transaction_state")))
        return;
    if (n == 0)
        FOUND(JOIN_WARNING, where,
              STR("transactions were used once; no transactional id is known now"),
              "Klamm does not serve transactions yet: make sure that nobody begins again");
    else if (n > 0)
        FOUND(JOIN_BLOCKS, where,
              arena_printf(f->arena, "%lld transactional id(s) are known: transactions are in use",
                           (long long)n),
              "Klamm does not serve transactions yet: producers with a transactional.id fail as "
              "soon as it leads a partition of theirs, or of this topic");
    else
        FOUND(JOIN_BLOCKS, where,
              STR("transactions were used; whether they still are is not known"),
              "give --bootstrap-server, so that brokers are asked: Klamm does not serve "
              "transactions yet");
}

/* ---- */

static void judge_topic(const struct join_facts *f, const struct why_topic *t,
                        struct join_findings *ret)
{
    struct str where = arena_printf(f->arena, ZK_PATH_TOPICS "/%.*s", STR_ARG(t->name));

    if (uuid_is_zero(t->id))
        FOUND(JOIN_NOTE, where, STR("has no topic id yet: it was made with a protocol before 2.8"),
              "the next controller with inter.broker.protocol.version 2.8 or later gives it one");
    if (t->count == 0)
        FOUND(JOIN_WARNING, where, STR("has no partitions"), "delete it");
    judge_config(f, t, ret);
}

void join_judge_topics(const struct join_facts *f, struct join_findings *ret)
{
    if (f->zk.zk.answers != WHY_YES)
        return;
    for (int32_t i = 0; i < f->zk.topics_count; i++)
        judge_topic(f, &f->zk.topics[i], ret);
    judge_transactions(f, ret);
    if (f->zk.topics_count > MANY_TOPICS)
        FOUND(JOIN_NOTE, STR(ZK_PATH_TOPICS),
              arena_printf(f->arena, "%d topics", f->zk.topics_count),
              "a controller of Klamm arms a watch for each: give the ZooKeeper servers a "
              "jute.maxbuffer of 4 MB or more");
}
