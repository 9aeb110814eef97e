#include "controller/reassign_write.h"

#include "controller/partition_sm.h"
#include "zk/zk_states.h"
#include "zk/zk_topics.h"

void move_fail(struct move *mv, int16_t error, const char *why)
{
    mv->error = error;
    mv->is_picked = false;
    say_error("controller: reassignment of %s-%d: %s", mv->p->topic->name, mv->p->id, why);
}

/* ---- topic nodes ---- */

/* Moves of the same topic follow each other. */
struct topic_run {
    struct move **v;
    size_t count;
};

static int by_topic(const void *a, const void *b)
{
    const struct move *x = *(struct move *const *)a, *y = *(struct move *const *)b;
    int order = str_cmp(topic_name(x->p->topic), topic_name(y->p->topic));

    return order ? order : (x->p->id > y->p->id) - (x->p->id < y->p->id);
}

static size_t picked_by_topic(struct moves *m, struct topic_run *runs)
{
    struct move **v = arena_array(&m->arena, m->count + 1, sizeof(struct move *));
    size_t n = 0, count = 0;

    for (size_t i = 0; i < m->count; i++) {
        if (m->v[i].is_picked)
            v[n++] = &m->v[i];
    }
    if (n)
        qsort(v, n, sizeof(struct move *), by_topic);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || v[i]->p->topic != v[i - 1]->p->topic)
            runs[count++] = (struct topic_run){v + i, 0};
        runs[count - 1].count++;
    }
    return count;
}

static void run_fail(const struct topic_run *run, const char *why)
{
    for (size_t i = 0; i < run->count; i++)
        move_fail(run->v[i], err_to_wire(-EIO), why);
}

/* Puts the assignments into the node as it was read; both are in the order of partitions. */
static const char *put_in(const struct topic_run *run, struct zk_topic *zt)
{
    const struct ctl_topic *t = run->v[0]->p->topic;
    int32_t at = 0;

    if (zt->result != ZK_OK)
        return zt->result == ZK_NO_NODE ? "its topic's node is gone"
                                        : "its topic's node cannot be read; mend it";
    if (!uuid_is_zero(t->id) && !uuid_is_zero(zt->node.id) && !uuid_eq(t->id, zt->node.id))
        return "its topic has been deleted and made again";
    for (size_t i = 0; i < run->count; i++) {
        while (at < zt->node.count && zt->node.partitions[at].id < run->v[i]->p->id)
            at++;
        if (at == zt->node.count || zt->node.partitions[at].id != run->v[i]->p->id)
            return "its topic's node does not list it any more";
        zt->node.partitions[at] = run->v[i]->to;
    }
    return NULL;
}

/* One read, one conditional write; runs whose node somebody else wrote in between stay. */
static enum zk_result write_round(struct controller *c, struct moves *m, struct topic_run *runs,
                                  size_t *count)
{
    struct zk_topic *topics = arena_array(&m->arena, *count + 1, sizeof *topics);
    size_t n = 0, kept = 0;

    for (size_t i = 0; i < *count; i++)
        topics[i].name = topic_name(runs[i].v[0]->p->topic);
    enum zk_result r = zk_topics_read(c->store, &m->arena, topics, *count);
    for (size_t i = 0; r == ZK_OK && i < *count; i++) {
        const char *why = put_in(&runs[i], &topics[i]);
        if (why) {
            run_fail(&runs[i], why);
            continue;
        }
        runs[n] = runs[i];
        topics[n++] = topics[i];
    }
    if (r == ZK_OK)
        r = zk_topics_update(c->store, topics, n, c->epoch_version);
    for (size_t i = 0; r == ZK_OK && i < n; i++) {
        if (topics[i].result == ZK_BAD_VERSION)
            runs[kept++] = runs[i];
        else if (topics[i].result != ZK_OK)
            run_fail(&runs[i], zk_result_name(topics[i].result));
    }
    *count = kept;
    return r;
}

enum zk_result reassign_write_topics(struct controller *c, struct moves *m)
{
    struct topic_run *runs = arena_array(&m->arena, m->count + 1, sizeof *runs);
    size_t count = picked_by_topic(m, runs);
    enum zk_result r = ZK_OK;

    while (r == ZK_OK && count)
        r = write_round(c, m, runs, &count);
    return r;
}

/* ---- state nodes ---- */

enum zk_result reassign_read_states(struct controller *c, struct moves *m,
                                    struct zk_partition_state *states)
{
    struct zk_partition_state *read = arena_array(&m->arena, m->count + 1, sizeof *read);
    size_t n = 0;

    for (size_t i = 0; i < m->count; i++) {
        if (m->v[i].is_picked)
            read[n++] = (struct zk_partition_state){.topic = topic_name(m->v[i].p->topic),
                                                    .partition = m->v[i].p->id};
    }
    enum zk_result r = zk_states_read(c->store, &m->arena, read, n);
    for (size_t i = 0, at = 0; r == ZK_OK && i < m->count; i++) {
        if (m->v[i].is_picked)
            states[i] = read[at++];
    }
    return r;
}

struct bumps {
    struct zk_partition_state *states;
    struct move **v;
    size_t count;
};

/* Which of the states may be built upon. */
static void prepare(struct controller *c, struct moves *m, const struct zk_partition_state *states,
                    const bool *is_due, struct bumps *b)
{
    b->count = 0;
    for (size_t i = 0; i < m->count; i++) {
        struct move *mv = &m->v[i];
        if (!mv->is_picked || !is_due[i])
            continue;
        const char *why = partition_state_unfit(c, &states[i]);
        if (why) {
            move_fail(mv, err_to_wire(-EIO), why);
            continue;
        }
        b->v[b->count] = mv;
        b->states[b->count] = states[i];
        b->states[b->count].state.leader_epoch++;
        b->states[b->count++].state.controller_epoch = c->epoch;
    }
}

/* is_due[i] stays for those that another writer got ahead of. */
static size_t settle(struct controller *c, struct moves *m, const struct bumps *b, bool *is_due)
{
    size_t again = 0;

    memset(is_due, 0, m->count * sizeof *is_due);
    for (size_t i = 0; i < b->count; i++) {
        const struct zk_partition_state *st = &b->states[i];
        if (st->result == ZK_OK) {
            context_set_leadership(&c->x, b->v[i]->p, &st->state, st->version, c->epoch);
        } else if (st->result == ZK_BAD_VERSION) {
            is_due[b->v[i] - m->v] = true;
            again++;
        } else {
            move_fail(b->v[i], err_to_wire(-EIO), zk_result_name(st->result));
        }
    }
    return again;
}

enum zk_result reassign_write_epochs(struct controller *c, struct moves *m)
{
    struct zk_partition_state *states = arena_array(&m->arena, m->count + 1, sizeof *states);
    struct bumps b = {.states = arena_array(&m->arena, m->count + 1, sizeof *states),
                      .v = arena_array(&m->arena, m->count + 1, sizeof(struct move *))};
    bool *is_due = arena_new_array(&m->arena, bool, m->count + 1);
    enum zk_result r;

    for (size_t i = 0; i < m->count; i++)
        is_due[i] = true;
    do {
        r = reassign_read_states(c, m, states);
        if (r != ZK_OK)
            return r;
        prepare(c, m, states, is_due, &b);
        r = zk_states_update(c->store, b.states, b.count, c->epoch_version);
    } while (r == ZK_OK && settle(c, m, &b, is_due));
    return r;
}
