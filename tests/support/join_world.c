#include "tests/support/join_world.h"

#include <assert.h>

static struct node_broker *node_of(struct join_world *w, int32_t id)
{
    struct node_broker *node = arena_new(&w->arena, struct node_broker);

    node->endpoints = arena_new_array(&w->arena, struct node_endpoint, 1);
    node->endpoint_count = 1;
    node->endpoints[0] = (struct node_endpoint){.listener = STR("PLAINTEXT"),
                                                .host = arena_printf(&w->arena, "h%d", id),
                                                .port = 9092,
                                                .protocol = NODE_PLAINTEXT};
    return node;
}

void join_start(struct join_world *w)
{
    *w = (struct join_world){0};
    w->all.arena = w->f.arena = w->f.zk.arena = &w->arena;
    w->f.zookeeper = STR("z:2181/k");
    w->f.wanted = -1;
    w->f.broker = 1;
    w->f.asked_zk = true;
    w->f.open_files = 1000000;
    w->f.zk.now_ms = INT64_C(1796000000000);
    w->f.zk.controller = w->f.zk.asked_broker = -1;
    w->f.zk.zk = (struct why_zk_facts){.answers = WHY_YES,
                                       .cluster_id = STR("here"),
                                       .controller = 2,
                                       .controller_session = 102,
                                       .controller_epoch = 7};
    for (int32_t id = 1; id <= 3; id++) {
        struct why_broker *b = why_add_broker(&w->f.zk, id);
        b->registered = WHY_YES;
        b->session = 100 + id;
        b->node = node_of(w, id);
    }
}

void join_end(struct join_world *w)
{
    broker_conf_free(w->f.conf);
    arena_deinit(&w->arena);
}

static void on_refused(void *ctx, const char *why)
{
    struct join_world *w = ctx;

    why_texts_add(&w->arena, &w->f.refused, arena_str(&w->arena, str_of(why)));
}

void join_file(struct join_world *w, const char *text)
{
    CLEANUP(strbuf_deinit) struct strbuf path = {0};

    strbuf_addf(&path, "%s/server.properties", test_tmpdir());
    int r = fs_replace_file(path.s, str_of(text));
    assert(r == 0);
    broker_conf_free(w->f.conf);
    w->f.refused = (struct why_texts){0};
    w->f.config = "server.properties";
    w->f.conf = broker_conf_probe(path.s, on_refused, w);
}

struct why_ids join_ids(struct join_world *w, const char *text)
{
    struct why_ids ids = {arena_new_array(&w->arena, int32_t, strlen(text) + 1), 0};
    struct str rest = str_of(text), item;

    while (str_split(&rest, ',', &item)) {
        if (item.len && str_to_i32(item, 0, INT32_MAX, &ids.v[ids.count]) == 0)
            ids.count++;
    }
    return ids;
}

struct why_topic *join_topic(struct join_world *w, const char *name, const char *replicas,
                             const char *isr)
{
    struct why_facts *f = &w->f.zk;
    struct why_topic *all =
        arena_new_array(&w->arena, struct why_topic, (size_t)f->topics_count + 1);
    int32_t at = 0;

    while (at < f->topics_count && str_cmp(f->topics[at].name, str_of(name)) < 0)
        at++;
    for (int32_t i = 0; i < f->topics_count; i++)
        all[i < at ? i : i + 1] = f->topics[i];
    all[at] = (struct why_topic){.name = str_of(name),
                                 .v = arena_new_array(&w->arena, struct why_partition, 1),
                                 .count = 1,
                                 .min_isr = -1,
                                 .id = {{9}}};
    struct why_partition *p = &all[at].v[0];
    p->replicas = join_ids(w, replicas);
    p->isr = join_ids(w, isr);
    p->leader = p->isr.count ? p->isr.v[0] : -1;
    f->topics = all;
    f->topics_count++;
    for (int32_t i = 0; i < f->topics_count; i++)
        all[i].v[0].topic = &all[i];
    return &all[at];
}

struct node_config join_config(struct join_world *w, const char *key, const char *value)
{
    struct node_config c = {arena_new_array(&w->arena, struct node_config_entry, 1), 1, false};

    c.entries[0] = (struct node_config_entry){str_of(key), str_of(value)};
    return c;
}

struct join_dir *join_dir(struct join_world *w)
{
    struct join_facts *f = &w->f;
    struct join_dir *d = arena_new(&w->arena, struct join_dir);

    *d = (struct join_dir){.path = STR("/d"),
                           .is_there = true,
                           .has_meta = true,
                           .broker_id = 1,
                           .cluster_id = STR("here"),
                           .is_clean = true,
                           .knows_space = true,
                           .space = {.total = INT64_C(1) << 40, .usable = INT64_C(1) << 39}};
    d->logs = arena_new_array(&w->arena, struct join_log, (size_t)f->zk.topics_count + 1);
    for (int32_t i = 0; i < f->zk.topics_count; i++) {
        if (why_has(&f->zk.topics[i].v[0].replicas, 1))
            d->logs[d->logs_count++] = (struct join_log){
                .topic = f->zk.topics[i].name,
                .has_id = true,
                .id = f->zk.topics[i].id,
                .dir = arena_printf(&w->arena, "/d/%.*s-0", STR_ARG(f->zk.topics[i].name))};
    }
    f->dirs = d;
    f->dirs_count = 1;
    return d;
}

static bool says(struct str text, const char *part)
{
    return !part || memmem(text.p, text.len, part, strlen(part));
}

const struct join_finding *join_find(struct join_world *w, const char *where, const char *what)
{
    w->all = (struct join_findings){.arena = &w->arena};
    join_judge(&w->f, &w->all);
    for (size_t i = 0; i < w->all.count; i++) {
        const struct join_finding *f = &w->all.v[i];
        for (size_t k = 0; k < f->where.count; k++) {
            if (says(f->where.v[k], where) && says(f->what, what))
                return f;
        }
    }
    return NULL;
}
