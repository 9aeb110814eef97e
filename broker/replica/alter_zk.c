#include "broker/replica/alter_zk.h"

#include "common/base/containers.h"
#include "common/base/err.h"
#include "common/base/say.h"
#include "zk/zk_admin.h"
#include "zk/zk_states.h"

#include <stdatomic.h>

enum { ANNOUNCE_CHECK_MS = 2500, QUIET_MS = 5000, AT_LEAST_EACH_MS = 60000 };

struct item {
    struct partition *part; /* a reference; the key */
    int32_t leader_epoch;
    int32_t partition_epoch;
    int32_t controller_epoch;
    struct id_list isr;
    UT_hash_handle hh;
    struct item *prev, *next;
};

struct alter_zk {
    struct alter_zk_opts opts;
    struct mutex lock; /* LOCK_ALTER_QUEUE: everything up to jobs */
    struct item *by_part;
    struct item *items;   /* to be written */
    struct item *changed; /* written, to be announced */
    int64_t last_change_ms;
    int64_t last_announced_ms;
    bool is_writing;
    bool is_announcing;
    bool is_stopped;
    struct job write;
    struct job announce;
    struct timer timer;
    struct message start;
    struct message stop;
};

static void item_free(struct item *it)
{
    partition_unref(it->part);
    id_list_deinit(&it->isr);
    free(it);
}

bool alter_zk_propose(struct alter_zk *z, const struct isr_proposal *p)
{
    struct item *it;

    LOCK_SCOPE(&z->lock);
    HASH_FIND_PTR(z->by_part, &p->part, it);
    if (it || z->is_stopped)
        return false;
    it = xnew(struct item);
    it->part = partition_ref(p->part);
    it->leader_epoch = p->leader_epoch;
    it->partition_epoch = p->partition_epoch;
    it->controller_epoch = p->controller_epoch;
    id_list_set(&it->isr, p->isr->v, p->isr->count);
    HASH_ADD_PTR(z->by_part, part, it);
    DL_APPEND(z->items, it);
    if (!z->is_writing) {
        z->is_writing = true;
        workq_submit(z->opts.workq, &z->write);
    }
    return true;
}

/* ---- writing, on a worker ---- */

static struct item *take_items(struct alter_zk *z, int32_t *ret_count)
{
    struct item *it, *list;

    LOCK_SCOPE(&z->lock);
    list = TAKE(z->items);
    DL_COUNT(list, it, *ret_count);
    if (!list)
        z->is_writing = false;
    return list;
}

/* A conflict keeps the change pending: what we know is outdated, and a LeaderAndIsr on its way. */
static int error_of(enum zk_result r)
{
    switch (r) {
    case ZK_OK:
        return 0;
    case ZK_BAD_VERSION:
        return INVALID_UPDATE_VERSION;
    case ZK_NO_NODE:
        return UNKNOWN_TOPIC_OR_PARTITION;
    default:
        return OPERATION_NOT_ATTEMPTED;
    }
}

static void written(struct alter_zk *z, struct item *it, const struct zk_partition_state *st)
{
    struct isr_answer answer = {
        .error = error_of(st->result),
        .proposed_leader_epoch = it->leader_epoch,
        .proposed_partition_epoch = it->partition_epoch,
        .leader_epoch = it->leader_epoch,
        .partition_epoch = st->version,
        .isr = it->isr.v,
        .isr_count = it->isr.count,
    };

    WITH_LOCK(&z->lock)
    {
        HASH_DEL(z->by_part, it);
    }
    partition_isr_answered(it->part, &answer);
    if (answer.error) {
        item_free(it);
        return;
    }
    LOCK_SCOPE(&z->lock);
    DL_APPEND(z->changed, it);
    z->last_change_ms = clock_mono_ms(z->opts.zk->clock);
}

static void on_write(struct job *j)
{
    struct alter_zk *z = container_of(j, struct alter_zk, write);
    struct item *list, *it, *tmp;
    int32_t count;

    while ((list = take_items(z, &count))) {
        struct zk_partition_state *CLEANUP(free_p) states =
            xnew_array(struct zk_partition_state, (size_t)count);
        int32_t n = 0;
        DL_FOREACH (list, it) {
            states[n++] =
                (struct zk_partition_state){.topic = it->part->topic,
                                            .partition = it->part->id,
                                            .version = it->partition_epoch,
                                            .state = {.leader = z->opts.broker_id,
                                                      .leader_epoch = it->leader_epoch,
                                                      .controller_epoch = it->controller_epoch,
                                                      .isr = {it->isr.v, it->isr.count}}};
        }
        zk_states_update(z->opts.zk, states, (size_t)count, ZK_NO_FENCE);
        n = 0;
        DL_FOREACH_SAFE (list, it, tmp) {
            DL_DELETE(list, it);
            written(z, it, &states[n++]);
        }
    }
}

/* ---- announcing ---- */

static bool is_due(const struct alter_zk *z, int64_t now_ms)
{
    return z->changed && !z->is_announcing &&
           (now_ms - z->last_change_ms >= QUIET_MS ||
            now_ms - z->last_announced_ms >= AT_LEAST_EACH_MS);
}

static void on_announce(struct job *j)
{
    struct alter_zk *z = container_of(j, struct alter_zk, announce);
    struct item *list, *it, *tmp;
    struct node_partition_names names = {0};

    WITH_LOCK(&z->lock)
    {
        list = TAKE(z->changed);
        DL_COUNT(list, it, names.count);
    }
    names.list = xnew_array(struct node_partition_name, (size_t)names.count + 1);
    names.count = 0;
    DL_FOREACH (list, it) {
        names.list[names.count++] = (struct node_partition_name){it->part->topic, it->part->id};
    }
    enum zk_result r = zk_isr_change_notify(z->opts.zk, &names);
    free(names.list);
    if (r != ZK_OK)
        say_warn("changed in-sync sets were not announced partitions=%d result=%s; tried again in "
                 "%d ms",
                 names.count, zk_result_name(r), ANNOUNCE_CHECK_MS);
    LOCK_SCOPE(&z->lock);
    z->is_announcing = false;
    if (r == ZK_OK)
        z->last_announced_ms = clock_mono_ms(z->opts.zk->clock);
    DL_FOREACH_SAFE (list, it, tmp) {
        DL_DELETE(list, it);
        if (r == ZK_OK)
            item_free(it);
        else
            DL_APPEND(z->changed, it);
    }
}

static void arm(struct alter_zk *z)
{
    timer_arm(z->opts.reactor, &z->timer,
              reactor_now_us(z->opts.reactor) + ANNOUNCE_CHECK_MS * 1000);
}

static void on_timer(struct timer *t)
{
    struct alter_zk *z = container_of(t, struct alter_zk, timer);

    WITH_LOCK(&z->lock)
    {
        if (is_due(z, clock_mono_ms(z->opts.zk->clock))) {
            z->is_announcing = true;
            workq_submit(z->opts.workq, &z->announce);
        }
    }
    arm(z);
}

/* ---- life ---- */

static void on_start(struct message *m)
{
    arm(container_of(m, struct alter_zk, start));
}

static void on_stop(struct message *m)
{
    struct alter_zk *z = container_of(m, struct alter_zk, stop);

    timer_cancel(z->opts.reactor, &z->timer);
}

struct alter_zk *alter_zk_new(const struct alter_zk_opts *opts)
{
    struct alter_zk *z = xnew(struct alter_zk);

    z->opts = *opts;
    mutex_init(&z->lock, LOCK_ALTER_QUEUE);
    z->write.work = on_write;
    z->announce.work = on_announce;
    z->timer.fire = on_timer;
    z->start.run = on_start;
    z->stop.run = on_stop;
    return z;
}

void alter_zk_start(struct alter_zk *z)
{
    reactor_post(z->opts.reactor, &z->start);
}

void alter_zk_stop(struct alter_zk *z)
{
    WITH_LOCK(&z->lock)
    {
        z->is_stopped = true;
    }
    reactor_post(z->opts.reactor, &z->stop);
}

static void free_list(struct item *list)
{
    struct item *it, *tmp;

    DL_FOREACH_SAFE (list, it, tmp) {
        DL_DELETE(list, it);
        item_free(it);
    }
}

struct alter_zk *alter_zk_free(struct alter_zk *z)
{
    if (!z)
        return NULL;
    HASH_CLEAR(hh, z->by_part);
    free_list(z->items);
    free_list(z->changed);
    mutex_deinit(&z->lock);
    free(z);
    return NULL;
}
