/*
 * join_judge_dynamic.c - settings of brokers that stand in ZooKeeper: which of them a start would
 * pass over
 */
#include "broker/config/dynamic_keys.h"
#include "broker/config/live_conf.h"
#include "broker/config/passwords.h"
#include "common/base/mem.h"
#include "tools/join/join.h"

#define FOUND(severity, where, what, todo) join_found(ret, (severity), (where), (what), STR(todo))

/* One of them, as it is stored. */
struct setting {
    const char *key, *value;
    struct str where;
    bool is_own;
};

static void judge_password(const struct join_facts *f, const struct setting *s,
                           struct join_findings *ret)
{
    CLEANUP(strbuf_deinit) struct strbuf clear = {0};

    if (!f->conf)
        return;
    if (password_decode(f->conf, PASSWORD_SECRET, s->value, &clear) == 0 ||
        password_decode(f->conf, PASSWORD_OLD_SECRET, s->value, &clear) == 0)
        return;
    FOUND(JOIN_WARNING, s->where,
          arena_printf(f->arena, "%s cannot be decoded with the file's password.encoder.secret",
                       s->key),
          "set the secret that it was stored with, else it is passed over at start");
}

static void judge_setting(const struct join_facts *f, const struct setting *s,
                          struct join_findings *ret)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    CLEANUP(props_deinit) struct props one = {0};
    const struct conf_option *o = broker_key_option(s->key);

    if (broker_key_is_password(s->key)) {
        judge_password(f, s, ret);
        return;
    }
    props_set(&one, s->key, s->value);
    if (dynamic_props_check(&one, s->is_own, &why) < 0)
        FOUND(JOIN_WARNING, s->where,
              arena_printf(f->arena, "%s=%s would be passed over at start: %s", s->key, s->value,
                           why.s ? why.s : "refused"),
              "correct it, or take it back, with kafka-configs");
    else if (o && broker_key_use(o->key) == KEY_UNUSED)
        FOUND(JOIN_NOTE, s->where, arena_printf(f->arena, "%s has no effect here yet", s->key), "");
}

static void judge_node(const struct join_facts *f, const struct node_config *node, bool is_own,
                       struct join_findings *ret)
{
    struct str where = is_own ? arena_printf(f->arena, "/config/brokers/%d", f->broker)
                              : STR("/config/brokers/<default>");

    for (int32_t i = 0; i < MIN(node->count, (int32_t)BROKER_SETTINGS_MAX); i++) {
        const struct setting s = {.key = arena_strz(f->arena, node->entries[i].key),
                                  .value = arena_strz(f->arena, node->entries[i].value),
                                  .where = where,
                                  .is_own = is_own};
        judge_setting(f, &s, ret);
    }
}

static void add_all(struct arena *a, struct props *p, const struct node_config *node)
{
    for (int32_t i = 0; i < MIN(node->count, (int32_t)BROKER_SETTINGS_MAX); i++) {
        const char *key = arena_strz(a, node->entries[i].key);
        if (broker_key_option(key) && !broker_key_is_password(key))
            props_set(p, key, arena_strz(a, node->entries[i].value));
    }
}

/* All together, above the file: only where the file alone is taken. */
static void judge_together(const struct join_facts *f, struct join_findings *ret)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    struct props all = {0};
    struct broker_conf *conf = NULL;

    if (!f->conf || f->refused.count || f->nodes.of_all.count + f->nodes.of_one.count == 0)
        return;
    props_add(&all, &f->conf->props);
    add_all(f->arena, &all, &f->nodes.of_all);
    add_all(f->arena, &all, &f->nodes.of_one);
    if (broker_conf_from_props(&all, &conf, &why) < 0)
        FOUND(JOIN_WARNING, STR("/config/brokers"),
              arena_printf(f->arena, "together with the file they would be refused: %s",
                           why.s ? why.s : "?"),
              "a start passes over what cannot be used: correct it with kafka-configs");
    broker_conf_free(conf);
}

void join_judge_dynamic(const struct join_facts *f, struct join_findings *ret)
{
    if (f->zk.zk.answers != WHY_YES)
        return;
    judge_node(f, &f->nodes.of_all, false, ret);
    if (f->broker >= 0)
        judge_node(f, &f->nodes.of_one, true, ret);
    judge_together(f, ret);
}
