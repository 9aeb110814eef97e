#include "tests/support/why_world.h"

#include "common/base/mem.h"

void world_start(struct why_world *w, int brokers)
{
    *w = (struct why_world){0};
    w->f = (struct why_facts){
        .arena = &w->arena,
        .now_ms = INT64_C(1796000000000),
        .bootstrap = STR("b:9092"),
        .zookeeper = STR("z:2181"),
        .brokers_answer = WHY_YES,
        .source = STR("Metadata of broker 1"),
        .asked_broker = 1,
        .cluster_id = STR("here"),
        .controller = 1,
        .knows_moves = true,
        .zk = {.answers = WHY_YES,
               .cluster_id = STR("here"),
               .controller = 1,
               .controller_session = 101,
               .controller_epoch = 7},
    };
    w->all.arena = &w->arena;
    for (int i = 1; i <= brokers; i++) {
        struct why_broker *b = why_add_broker(&w->f, i);
        b->is_listed = true;
        b->registered = b->answers = WHY_YES;
        b->address = arena_printf(&w->arena, "host%d:9092", i);
        b->session = 100 + i;
        b->sees_controller = 1;
    }
}

void world_end(struct why_world *w)
{
    arena_deinit(&w->arena);
}

void world_judge_anew(struct why_world *w)
{
    w->all = (struct why_findings){.arena = &w->arena};
}

struct why_ids world_ids(struct why_world *w, const char *text)
{
    struct why_ids ids = {arena_new_array(&w->arena, int32_t, strlen(text) + 1), 0};
    struct str rest = str_of(text), item;

    while (str_split(&rest, ',', &item)) {
        if (item.len && str_to_i32(item, 0, INT32_MAX, &ids.v[ids.count]) == 0)
            ids.count++;
    }
    return ids;
}

struct why_topic *world_topic(struct why_world *w, const char *name, int partitions, int min_isr)
{
    struct why_topic *all =
        arena_new_array(&w->arena, struct why_topic, (size_t)w->f.topics_count + 1);
    int32_t at = 0;

    while (at < w->f.topics_count && str_cmp(w->f.topics[at].name, str_of(name)) < 0)
        at++;
    for (int32_t i = 0; i < w->f.topics_count; i++)
        all[i < at ? i : i + 1] = w->f.topics[i];
    all[at] = (struct why_topic){
        .name = str_of(name),
        .v = arena_new_array(&w->arena, struct why_partition, (size_t)partitions + 1),
        .count = partitions,
        .min_isr = min_isr,
        .unclean = WHY_NO,
    };
    w->f.topics = all;
    w->f.topics_count++;
    for (int32_t i = 0; i < w->f.topics_count; i++) {
        for (int32_t k = 0; k < all[i].count; k++)
            all[i].v[k].topic = &all[i];
    }
    return &all[at];
}

struct why_partition *world_partition(struct why_world *w, const char *topic, int partition,
                                      const char *replicas, const char *isr)
{
    struct why_topic *t = why_find_topic(&w->f, str_of(topic));
    struct why_ids in_sync = world_ids(w, isr);

    assert(t && partition < t->count);
    t->v[partition] = (struct why_partition){
        .topic = t,
        .partition = partition,
        .leader = in_sync.count ? in_sync.v[0] : -1,
        .replicas = world_ids(w, replicas),
        .isr = in_sync,
    };
    return &t->v[partition];
}

void world_down(struct why_world *w, int broker)
{
    struct why_broker *b = why_find_broker(&w->f, broker);

    assert(b);
    b->is_listed = false;
    b->registered = WHY_NO;
    b->answers = WHY_UNKNOWN;
    b->sees_controller = -2;
}

void world_silent(struct why_world *w, int broker)
{
    struct why_broker *b = why_find_broker(&w->f, broker);

    assert(b);
    b->answers = WHY_NO;
    b->silence = STR("no answer within 3000 ms");
    b->sees_controller = -2;
}

void world_without_zk(struct why_world *w)
{
    w->f.zookeeper = STR_NULL;
    w->f.zk = (struct why_zk_facts){.controller = -1};
    for (int32_t i = 0; i < w->f.brokers_count; i++)
        w->f.brokers[i].registered = WHY_UNKNOWN;
}

void world_copy(struct why_world *w, struct why_partition *p, int broker, int64_t size,
                int64_t end_offset)
{
    if (!p->copies) {
        p->copies = arena_new_array(&w->arena, struct why_copy, (size_t)p->replicas.count + 1);
        for (int32_t i = 0; i < p->replicas.count; i++)
            p->copies[i] =
                (struct why_copy){.broker = p->replicas.v[i], .size = -1, .end_offset = -1};
    }
    for (int32_t i = 0; i < p->replicas.count; i++) {
        if (p->copies[i].broker == broker)
            p->copies[i] = (struct why_copy){broker, true, true, size, end_offset};
    }
}

/* ---- groups ---- */

struct why_group *world_group(struct why_world *w, const char *name, const char *state)
{
    struct why_group *g = arena_new(&w->arena, struct why_group);

    *g = (struct why_group){.name = str_of(name), .coordinator = 1, .state = str_of(state)};
    g->members = arena_new_array(&w->arena, struct why_member, 16);
    g->commits = arena_new_array(&w->arena, struct why_commit, 16);
    return g;
}

void world_commit(struct why_world *w UNUSED, struct why_group *g, const struct why_commit *c)
{
    g->commits[g->commits_count++] = *c;
}

void world_member(struct why_world *w, struct why_group *g, const char *id, const char *topic,
                  const char *partitions)
{
    struct why_ids ids = world_ids(w, partitions);
    struct why_tp *tp = arena_new_array(&w->arena, struct why_tp, (size_t)ids.count + 1);

    for (int32_t i = 0; i < ids.count; i++)
        tp[i] = (struct why_tp){str_of(topic), ids.v[i]};
    g->members[g->members_count++] = (struct why_member){.id = str_of(id),
                                                         .client_id = str_of(id),
                                                         .host = STR("/h"),
                                                         .assigned = tp,
                                                         .count = ids.count};
    if (g->subscribed.count == 0)
        why_texts_add(&w->arena, &g->subscribed, str_of(topic));
}

/* ---- findings ---- */

const struct why_finding *world_find(const struct why_world *w, const char *kind, const char *name)
{
    for (size_t i = 0; i < w->all.count; i++) {
        const struct why_finding *f = &w->all.v[i];
        if (strcmp(f->kind, kind) != 0)
            continue;
        for (size_t k = 0; k < f->items_count; k++) {
            if (!name || str_eqz(f->items[k].name, name))
                return f;
        }
    }
    return NULL;
}

static bool has(struct str text, const char *part)
{
    return memmem(text.p, text.len, part, strlen(part)) != NULL;
}

/* Any finding about that thing may say it. */
static bool any(const struct why_world *w, const char *kind, const char *name, const char *text,
                bool (*says)(const struct why_finding *, const char *))
{
    for (size_t i = 0; i < w->all.count; i++) {
        const struct why_finding *f = &w->all.v[i];
        for (size_t k = 0; strcmp(f->kind, kind) == 0 && k < f->items_count; k++) {
            if ((!name || str_eqz(f->items[k].name, name)) && says(f, text))
                return true;
        }
    }
    return false;
}

static bool gives_reason(const struct why_finding *f, const char *text)
{
    for (size_t i = 0; i < f->reasons_count; i++) {
        if (has(f->reasons[i].text, text) && f->reasons[i].source.len)
            return true;
    }
    return false;
}

static bool gives_way_out(const struct why_finding *f, const char *text)
{
    for (size_t i = 0; i < f->unblocks.count; i++) {
        if (has(f->unblocks.v[i], text))
            return true;
    }
    return false;
}

static bool states(const struct why_finding *f, const char *text)
{
    for (size_t i = 0; i < f->items_count; i++) {
        if (has(f->items[i].detail, text))
            return true;
    }
    return has(f->what, text);
}

bool world_because(const struct why_world *w, const char *kind, const char *name, const char *text)
{
    return any(w, kind, name, text, gives_reason);
}

bool world_unblocks(const struct why_world *w, const char *kind, const char *name, const char *text)
{
    return any(w, kind, name, text, gives_way_out);
}

bool world_says(const struct why_world *w, const char *kind, const char *name, const char *text)
{
    return any(w, kind, name, text, states);
}
