/*
 * join_judge_logs.c - the logs that lie in log.dirs beside the replicas that ZooKeeper gives the
 * broker
 *
 * Only where all dirs are there and are this broker's and this cluster's: a look from another
 * machine says nothing about what lies on the broker's own.
 */
#include "tools/join/join.h"

#include <stdlib.h>

#define FOUND(severity, where, what, todo) join_found(ret, (severity), (where), (what), STR(todo))

enum { NEW_MS = 60 * 1000 };

struct log_table {
    const struct join_log **v; /* sorted by topic and partition; futures are left out */
    size_t count;
};

static int compare(struct str t, int32_t p, const struct join_log *log)
{
    int r = str_cmp(t, log->topic);

    return r ? r : (p > log->partition) - (p < log->partition);
}

static int by_name(const void *a, const void *b)
{
    const struct join_log *x = *(const struct join_log *const *)a;

    return compare(x->topic, x->partition, *(const struct join_log *const *)b);
}

static struct log_table table_of(const struct join_facts *f)
{
    size_t n = 0;

    for (size_t i = 0; i < f->dirs_count; i++)
        n += f->dirs[i].logs_count;
    struct log_table t = {arena_new_array(f->arena, const struct join_log *, n + 1), 0};
    for (size_t i = 0; i < f->dirs_count; i++) {
        for (size_t k = 0; k < f->dirs[i].logs_count; k++) {
            if (!f->dirs[i].logs[k].is_future)
                t.v[t.count++] = &f->dirs[i].logs[k];
        }
    }
    if (t.count)
        qsort(t.v, t.count, sizeof(const struct join_log *), by_name);
    return t;
}

static const struct join_log *find(const struct log_table *t, struct str topic, int32_t partition)
{
    size_t low = 0, high = t->count;

    while (low < high) {
        size_t mid = low + (high - low) / 2;
        int r = compare(topic, partition, t->v[mid]);
        if (r == 0)
            return t->v[mid];
        if (r < 0)
            high = mid;
        else
            low = mid + 1;
    }
    return NULL;
}

static bool are_ours(const struct join_facts *f)
{
    for (size_t i = 0; i < f->dirs_count; i++) {
        const struct join_dir *d = &f->dirs[i];
        if (!d->is_there || d->read_error || d->broker_id != f->broker ||
            !str_eq(d->cluster_id, f->zk.zk.cluster_id))
            return false;
    }
    return f->dirs_count > 0 && f->broker >= 0;
}

/* ---- replicas without a log ---- */

/* A running broker makes the log a moment after the controller has written that it is there. */
static bool is_new(const struct join_facts *f, const struct why_partition *p)
{
    const struct why_broker *b = why_find_broker(&f->zk, f->broker);

    return b && b->registered == WHY_YES && p->changed_ms && f->zk.now_ms - p->changed_ms < NEW_MS;
}

static void judge_missing(const struct join_facts *f, const struct why_partition *p,
                          struct join_findings *ret)
{
    struct str where = arena_printf(f->arena, "%.*s-%d", STR_ARG(p->topic->name), p->partition);

    if (is_new(f, p))
        FOUND(JOIN_NOTE, where, STR("none of the log dirs has it; it has just been made, or moved"),
              "ask again in a minute");
    else if (why_has(&p->isr, f->broker))
        FOUND(JOIN_BLOCKS, where,
              STR("is in sync by ZooKeeper, and none of the log dirs has it: it would come back "
                  "empty, as if all of it had been lost"),
              "find its log dir: log.dirs misses one, or its disk is not mounted");
    else
        FOUND(JOIN_NOTE, where, STR("none of the log dirs has it, and it is not in sync"),
              "it is fetched anew");
}

static void judge_id(const struct why_partition *p, const struct join_log *log,
                     struct join_findings *ret)
{
    if (log->has_id && !uuid_is_zero(p->topic->id) && !uuid_eq(log->id, p->topic->id))
        FOUND(JOIN_BLOCKS, log->dir,
              STR("belongs to an earlier topic of that name (partition.metadata)"),
              "a broker refuses to lead or to follow with it: move it away once Kafka is stopped");
}

static void judge_replicas(const struct join_facts *f, const struct log_table *t,
                           struct join_findings *ret)
{
    for (int32_t i = 0; i < f->zk.topics_count; i++) {
        for (int32_t k = 0; k < f->zk.topics[i].count; k++) {
            const struct why_partition *p = &f->zk.topics[i].v[k];
            const struct join_log *log = find(t, p->topic->name, p->partition);
            if (!why_has(&p->replicas, f->broker))
                continue;
            if (log)
                judge_id(p, log, ret);
            else
                judge_missing(f, p, ret);
        }
    }
}

/* ---- logs without a replica; twice the same ---- */

static void judge_spare(const struct join_facts *f, const struct log_table *t,
                        struct join_findings *ret)
{
    for (size_t i = 0; i < t->count; i++) {
        const struct why_partition *p =
            why_find_partition(&f->zk, t->v[i]->topic, t->v[i]->partition);
        if (!p || !why_has(&p->replicas, f->broker))
            FOUND(JOIN_NOTE, t->v[i]->dir, STR("ZooKeeper gives this broker no such replica"),
                  "it is left alone; delete it if it is not wanted any more");
        if (i && by_name(&t->v[i - 1], &t->v[i]) == 0)
            FOUND(JOIN_WARNING, t->v[i]->dir,
                  arena_printf(f->arena, "the same partition lies in %.*s too",
                               STR_ARG(t->v[i - 1]->dir)),
                  "Klamm keeps the one that holds all of the other, and does not start where "
                  "neither does; Kafka never starts");
    }
}

void join_judge_logs(const struct join_facts *f, struct join_findings *ret)
{
    if (f->zk.zk.answers != WHY_YES || !are_ours(f))
        return;
    struct log_table t = table_of(f);

    judge_replicas(f, &t, ret);
    judge_spare(f, &t, ret);
}
