/*
 * join_judge_conf.c - server.properties: what a start would refuse, what has no effect, and whether
 * it is that broker's
 */
#include "common/base/mem.h"
#include "tools/join/join.h"

#define FOUND(severity, where, what, todo) join_found(ret, (severity), (where), (what), STR(todo))

static struct str place_of(const struct join_facts *f)
{
    return str_of(f->config);
}

static void judge_refused(const struct join_facts *f, struct join_findings *ret)
{
    for (size_t i = 0; i < f->refused.count; i++)
        FOUND(JOIN_BLOCKS, place_of(f), f->refused.v[i], "a start refuses this file: correct it");
}

/* ---- keys ---- */

/* Keys without effect that somebody relies on. */
static const struct {
    const char *key, *value; /* NULL: any but an empty one */
    const char *what, *todo;
} missed[] = {
    {"remote.log.storage.system.enable", "true", "tiered storage is switched on: Klamm has none",
     "topics with remote.storage.enable=true cannot be served"},
    {"delegation.token.secret.key", NULL, "delegation tokens are switched on: Klamm takes none",
     "clients that use them cannot go to Klamm's listeners"},
    {"delegation.token.master.key", NULL, "delegation tokens are switched on: Klamm takes none",
     "clients that use them cannot go to Klamm's listeners"},
    {"create.topic.policy.class.name", NULL, "a policy for new topics: Klamm cannot load it",
     "topics that it would refuse are made where Klamm is the controller"},
    {"alter.config.policy.class.name", NULL, "a policy for settings: Klamm cannot load it",
     "settings that it would refuse are taken by Klamm"},
    {"client.quota.callback.class", NULL, "quotas of a plug-in: Klamm cannot load it",
     "make sure that the broker stands what clients do without quotas"},
    {"ssl.engine.factory.class", NULL, "TLS of a plug-in: Klamm cannot load it",
     "Klamm's TLS has the ssl.* keys of the file only"},
    {"security.providers", NULL, "providers of a plug-in: Klamm cannot load them",
     "Klamm's TLS is OpenSSL's"},
    {"metric.reporters", NULL, "reporters of metrics: Klamm cannot load them",
     "what watches this broker through them sees nothing"},
    {"kafka.metrics.reporters", NULL, "reporters of metrics: Klamm cannot load them",
     "what watches this broker through them sees nothing"},
};

static bool judge_missed(const struct join_facts *f, const struct prop *p, struct str where,
                         struct join_findings *ret)
{
    for (size_t i = 0; i < ARRAY_LEN(missed); i++) {
        bool is_meant = missed[i].value ? strcmp(p->value, missed[i].value) == 0 : *p->value;
        if (strcmp(p->key, missed[i].key) != 0 || !is_meant)
            continue;
        join_found(ret, JOIN_WARNING, where,
                   arena_printf(f->arena, "%s: %s", p->key, missed[i].what),
                   str_of(missed[i].todo));
        return true;
    }
    return false;
}

static void judge_key(const struct join_facts *f, const struct prop *p, struct join_findings *ret)
{
    struct str where = arena_printf(f->arena, "%s:%d", f->config, p->line);
    enum broker_key_use use = broker_key_use(p->key);

    if (use == KEY_UNKNOWN)
        FOUND(JOIN_NOTE, where,
              arena_printf(f->arena, "%s: no 3.9 broker in ZooKeeper mode knows this key", p->key),
              "it is ignored");
    else if (use == KEY_UNUSED && judge_missed(f, p, where, ret))
        return;
    else if (use == KEY_UNUSED)
        FOUND(JOIN_NOTE, where, arena_printf(f->arena, "%s has no effect here yet", p->key), "");
}

/* ---- whose it is ---- */

static struct str chroot_of(struct str connect)
{
    const char *slash = memchr(connect.p, '/', connect.len);
    struct str chroot =
        slash ? (struct str){slash, (size_t)(connect.p + connect.len - slash)} : STR("");

    while (chroot.len && chroot.p[chroot.len - 1] == '/')
        chroot.len--;
    return chroot;
}

static void judge_connect(const struct join_facts *f, struct join_findings *ret)
{
    struct str file = str_of(f->conf->zookeeper_connect);

    if (!f->asked_zk || str_eq(file, f->zookeeper))
        return;
    if (!str_eq(chroot_of(file), chroot_of(f->zookeeper)))
        FOUND(JOIN_BLOCKS, place_of(f),
              arena_printf(f->arena, "zookeeper.connect=%.*s has another chroot than %.*s",
                           STR_ARG(file), STR_ARG(f->zookeeper)),
              "a broker with this file would join another cluster than the one that was checked");
    else
        FOUND(JOIN_NOTE, place_of(f),
              arena_printf(f->arena, "zookeeper.connect=%.*s names other servers than %.*s",
                           STR_ARG(file), STR_ARG(f->zookeeper)),
              "make sure that both are the same ensemble");
}

static void judge_id(const struct join_facts *f, struct join_findings *ret)
{
    if (f->conf->broker_id >= 0 && f->wanted >= 0 && f->conf->broker_id != f->wanted)
        FOUND(JOIN_BLOCKS, place_of(f),
              arena_printf(f->arena, "broker.id=%d, but broker %d is to be replaced",
                           f->conf->broker_id, f->wanted),
              "take that broker's own server.properties");
    else if (f->broker < 0)
        FOUND(JOIN_BLOCKS, place_of(f),
              STR("neither broker.id nor meta.properties of a log dir says which broker this is"),
              "Klamm would take a new id, and replace nobody: set broker.id, or run this where "
              "the log dirs are");
}

/* ---- the dialect ---- */

/* What the cluster's nodes tell of the others' inter.broker.protocol.version. */
static bool is_older(const struct join_facts *f)
{
    return f->zk.zk.answers == WHY_YES && f->zk.zk.isr_changes.count > 0 &&
           f->conf->ibp >= IBP_2_7_IV2;
}

static void judge_dialect(const struct join_facts *f, struct join_findings *ret)
{
    bool is_set = props_get(&f->conf->props, "inter.broker.protocol.version");

    if (is_older(f))
        FOUND(JOIN_WARNING, place_of(f),
              STR("brokers of this cluster tell changes of ISRs through ZooKeeper, as only "
                  "inter.broker.protocol.version below 2.7 does"),
              "set inter.broker.protocol.version to what the others have");
    else if (!is_set && f->live_count == 0)
        FOUND(JOIN_NOTE, place_of(f),
              STR("inter.broker.protocol.version is not set: 3.9 is taken, as Kafka 3.9 does"),
              "where the others are older, set it to theirs; --bootstrap-server asks them");
}

static void judge_live_dialect(const struct join_facts *f, const struct join_live *l,
                               struct join_findings *ret)
{
    enum ibp theirs;

    if (l->ibp.len == 0 || ibp_parse(l->ibp, &theirs) < 0 || theirs == f->conf->ibp)
        return;
    FOUND(theirs < f->conf->ibp ? JOIN_BLOCKS : JOIN_WARNING,
          arena_printf(f->arena, "broker %d", l->id),
          arena_printf(f->arena, "it speaks inter.broker.protocol.version %s, the file says %s",
                       ibp_name(theirs), ibp_name(f->conf->ibp)),
          "set inter.broker.protocol.version to what all brokers have");
}

static void judge_answer(const struct join_facts *f, struct join_findings *ret)
{
    const struct why_facts *told = f->stop->first;
    struct str cluster = f->zk.zk.cluster_id;

    if (told->brokers_answer != WHY_YES)
        FOUND(JOIN_WARNING, told->bootstrap,
              arena_printf(f->arena, "no broker answers there: %.*s", STR_ARG(told->silence)),
              "correct --bootstrap-server or --command-config: what brokers know has not been "
              "checked");
    else if (cluster.len && told->cluster_id.len && !str_eq(cluster, told->cluster_id))
        FOUND(JOIN_BLOCKS, told->bootstrap,
              arena_printf(f->arena, "these brokers belong to cluster %.*s, ZooKeeper to %.*s",
                           STR_ARG(told->cluster_id), STR_ARG(cluster)),
              "either --bootstrap-server or --zookeeper is wrong");
}

/* Brokers of themselves, with or without a file. */
void join_judge_live(const struct join_facts *f, struct join_findings *ret)
{
    if (f->stop)
        judge_answer(f, ret);
    for (size_t i = 0; i < f->live_count; i++) {
        const struct join_live *l = &f->live[i];
        struct str where = arena_printf(f->arena, "broker %d", l->id);
        if (f->conf)
            judge_live_dialect(f, l, ret);
        if (l->authorizer.len)
            FOUND(l->id == f->broker || f->broker < 0 ? JOIN_BLOCKS : JOIN_WARNING, where,
                  arena_printf(f->arena,
                               "it has the authorizer %.*s: access control is not served "
                               "yet",
                               STR_ARG(l->authorizer)),
                  "what it forbids everybody may do at Klamm's listeners");
        if (str_eqz(l->migrates, "true"))
            FOUND(JOIN_BLOCKS, where, STR("zookeeper.metadata.migration.enable=true"),
                  "it is prepared for a migration to KRaft: take that back in all brokers");
    }
}

void join_judge_conf(const struct join_facts *f, struct join_findings *ret)
{
    if (!f->config)
        return;
    judge_refused(f, ret);
    if (!f->conf)
        return;
    judge_connect(f, ret);
    judge_id(f, ret);
    judge_dialect(f, ret);
    for (size_t i = 0; i < f->conf->props.count; i++)
        judge_key(f, &f->conf->props.v[i], ret);
}
