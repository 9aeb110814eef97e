#include "controller/controller.h"

#include "controller/balance.h"
#include "controller/core.h"
#include "controller/term.h"

/* Until brokers have answered, most of a batch's memory is in use. */
enum { TRIM_AFTER_US = 2 * 1000 * 1000 };

struct controller *controller_new(const struct controller_opts *opts)
{
    struct controller *c = xnew(struct controller);

    c->opts = *opts;
    c->inter_broker_listener = xstrdup(opts->inter_broker_listener);
    c->control_listener = opts->control_listener ? xstrdup(opts->control_listener) : NULL;
    c->store = opts->store;
    c->balance_due_us = NEVER_US;
    c->elect_due_us = NEVER_US;
    c->trim_due_us = NEVER_US;
    c->fanout.x = &c->x;
    c->fanout.channels = opts->channels;
    c->fanout.inter_broker_listener = c->inter_broker_listener;
    c->fanout.ibp = opts->ibp;
    c->fanout.controller_id = opts->broker_id;
    inbox_init(&c->inbox);
    mutex_init(&c->lock, LOCK_CONTROLLER);
    cond_init(&c->expired);
    atomic_store(&c->pub_active_id, -1);
    opts->channels->ops->on_answer(opts->channels, controller_post_answer, c);
    return c;
}

struct controller *controller_free(struct controller *c)
{
    if (!c)
        return NULL;
    assert(!c->thread.started && !c->is_active);
    context_clear(&c->x);
    fanout_deinit(&c->fanout);
    arena_deinit(&c->finalized_arena);
    free(c->watched_brokers);
    cond_deinit(&c->expired);
    mutex_deinit(&c->lock);
    inbox_deinit(&c->inbox);
    free(c->inter_broker_listener);
    free(c->control_listener);
    free(c);
    return NULL;
}

bool controller_is_over(enum zk_result r)
{
    return r == ZK_CONTROLLER_MOVED || r == ZK_SESSION_EXPIRED || r == ZK_CLOSING;
}

enum zk_result controller_close_batch(struct controller *c, enum zk_result r)
{
    if (controller_is_over(r))
        fanout_drop(&c->fanout);
    else
        fanout_flush(&c->fanout);
    return r;
}

void controller_tell_all(struct controller *c, const struct partition_list *list)
{
    fanout_begin(&c->fanout);
    fanout_tell_all(&c->fanout);
    for (size_t i = 0; list && i < list->count; i++)
        fanout_tell_about(&c->fanout, list->v[i]);
    fanout_flush(&c->fanout);
}

/* Posting. */

static void post_locked(struct controller *c, struct event *e, enum event_kind kind)
{
    e->kind = kind;
    e->generation = c->generation;
    e->posted_us = clock_mono_us(c->opts.clock);
    atomic_fetch_add(&c->queued, 1);
    inbox_post(&c->inbox, &e->message);
}

void controller_post(struct controller *c, struct event *e, enum event_kind kind)
{
    mutex_lock(&c->lock);
    bool is_closed = c->is_closed;
    if (!is_closed)
        post_locked(c, e, kind);
    mutex_unlock(&c->lock);
    if (is_closed) {
        e->kind = kind;
        event_refuse(e);
    }
}

/* Whatever was posted before is preempted. Returns the new generation. */
static uint32_t post_preempting(struct controller *c, enum event_kind kind)
{
    struct event_named *e = xcalloc(1, sizeof *e + 1);
    uint32_t generation = 0;

    mutex_lock(&c->lock);
    bool is_closed = c->is_closed;
    if (!is_closed) {
        generation = ++c->generation;
        post_locked(c, &e->event, kind);
    }
    mutex_unlock(&c->lock);
    if (is_closed)
        free(e);
    return generation;
}

void controller_session_lost(void *controller)
{
    struct controller *c = controller;
    uint32_t generation = post_preempting(c, EVENT_EXPIRE);

    /* Until then events of the old session might still be run. */
    mutex_lock(&c->lock);
    while (c->thread.started && !c->is_closed && c->expired_generation < generation)
        cond_wait(&c->expired, &c->lock);
    mutex_unlock(&c->lock);
}

void controller_session_new(void *controller, int64_t session_id UNUSED)
{
    controller_post_named(controller, EVENT_REGISTER_AND_REELECT, 0, STR_NULL);
}

void controller_unclean_enabled(struct controller *c, struct str topic)
{
    if (controller_is_active(c))
        controller_post_named(c, EVENT_UNCLEAN_ENABLE, 0, topic);
}

void controller_alter_partition(struct controller *c, struct controller_call *call)
{
    controller_post(c, &call->event, EVENT_ALTER_PARTITION);
}

void controller_controlled_shutdown(struct controller *c, struct controller_call *call)
{
    controller_post(c, &call->event, EVENT_CONTROLLED_SHUTDOWN);
}

void controller_allocate_producer_ids(struct controller *c, struct controller_call *call)
{
    controller_post(c, &call->event, EVENT_ALLOCATE_PRODUCER_IDS);
}

void controller_alter_reassignments(struct controller *c, struct controller_call *call)
{
    controller_post(c, &call->event, EVENT_ALTER_REASSIGNMENTS);
}

void controller_list_reassignments(struct controller *c, struct controller_call *call)
{
    controller_post(c, &call->event, EVENT_LIST_REASSIGNMENTS);
}

void controller_update_features(struct controller *c, struct controller_call *call)
{
    controller_post(c, &call->event, EVENT_UPDATE_FEATURES);
}

void controller_elect_leaders(struct controller *c, struct controller_elections *call)
{
    controller_post(c, &call->call.event, EVENT_ELECT_LEADERS);
}

void controller_set_topic_partitions(struct controller *c, struct controller_set_partitions *call)
{
    call->error = 0;
    controller_post(c, &call->call.event, EVENT_SET_PARTITIONS);
}

/* What others may look at. */

bool controller_is_active(const struct controller *c)
{
    return atomic_load(&c->pub_is_active);
}

int32_t controller_active_id(const struct controller *c)
{
    return atomic_load(&c->pub_active_id);
}

int32_t controller_epoch(const struct controller *c)
{
    return atomic_load(&c->pub_epoch);
}

static void publish(struct controller *c, enum controller_state state)
{
    struct controller_stats s = {
        .is_active = c->is_active,
        .state = state,
        .topics = c->x.topic_count,
        .partitions = c->x.partition_count,
        .offline_partitions = c->x.offline_partitions,
        .preferred_imbalance = c->x.preferred_imbalance,
        .topics_to_delete = c->x.queued_count,
        .unclean_elections = c->unclean_elections,
        .events = c->events,
    };

    for (int32_t i = 0; i < c->x.broker_count; i++)
        s.active_brokers += !c->x.brokers[i]->is_shutting_down;
    for (const struct ctl_topic *t = c->x.queued; t; t = t->next_queued) {
        s.replicas_to_delete += topic_replica_count(t) - t->in_state[REPLICA_DELETION_SUCCESSFUL];
        s.topics_ineligible_to_delete += t->is_ineligible;
        s.replicas_ineligible_to_delete += t->in_state[REPLICA_DELETION_INELIGIBLE];
    }
    mutex_lock(&c->lock);
    c->stats = s;
    mutex_unlock(&c->lock);
}

void controller_stats(struct controller *c, struct controller_stats *ret)
{
    mutex_lock(&c->lock);
    *ret = c->stats;
    mutex_unlock(&c->lock);
    ret->queued = atomic_load(&c->queued);
}

/* The loop. */

/* What is left when an event has ended early. */
static void settle(struct controller *c, enum zk_result r, const char *what)
{
    if (r == ZK_CONTROLLER_MOVED) {
        say_warn("controller: another controller has been elected, seen in: %s", what);
        term_maybe_resign(c);
        if (!c->is_active)
            return;
        /* /controller still names our session, but somebody has touched the epoch. */
        term_resign(c);
        term_elect(c);
    } else if (r != ZK_OK && !controller_is_over(r) && c->is_active) {
        say_error("controller: %s failed: %s", what, zk_result_name(r));
        term_force_move(c, what);
    }
}

static void run(struct controller *c, struct event *e)
{
    enum event_kind kind = e->kind;

    mutex_lock(&c->lock);
    bool is_old = e->generation != c->generation;
    c->stats.state = event_state(e);
    mutex_unlock(&c->lock);
    atomic_fetch_sub(&c->queued, 1);
    c->events++;
    if (is_old)
        event_refuse(e);
    else
        settle(c, event_run(c, e), event_name(kind));
    if (c->fanout.was_large)
        c->trim_due_us = clock_mono_us(c->opts.clock) + TRIM_AFTER_US;
    c->fanout.was_large = false;
    publish(c, CONTROLLER_IDLE);
}

static bool is_due(const struct controller *c, int64_t due_us)
{
    return due_us != NEVER_US && clock_mono_us(c->opts.clock) >= due_us;
}

/* True if a timer was due. */
static bool run_timers(struct controller *c)
{
    if (is_due(c, c->elect_due_us)) {
        term_maybe_resign(c);
        term_elect(c);
        publish(c, CONTROLLER_IDLE);
        return true;
    }
    if (is_due(c, c->trim_due_us)) {
        c->trim_due_us = NEVER_US;
        mem_trim();
        return true;
    }
    if (!is_due(c, c->balance_due_us))
        return false;
    mutex_lock(&c->lock);
    c->stats.state = CONTROLLER_AUTO_BALANCE;
    mutex_unlock(&c->lock);
    enum zk_result r = balance_run(c);
    c->balance_due_us = clock_mono_us(c->opts.clock) +
                        (int64_t)c->opts.leader_imbalance_check_interval_seconds * 1000000;
    settle(c, r, "preferred leader balance");
    publish(c, CONTROLLER_IDLE);
    return true;
}

static int64_t next_due_us(const struct controller *c)
{
    int64_t due_us = INT64_MAX;

    if (c->balance_due_us != NEVER_US)
        due_us = c->balance_due_us;
    if (c->elect_due_us != NEVER_US)
        due_us = MIN(due_us, c->elect_due_us);
    if (c->trim_due_us != NEVER_US)
        due_us = MIN(due_us, c->trim_due_us);
    return due_us;
}

static struct event *event_of(struct message *m)
{
    return container_of(m, struct event, message);
}

bool controller_turn(struct controller *c)
{
    if (run_timers(c))
        return true;
    struct message *m = inbox_take(&c->inbox, 0);
    if (m)
        run(c, event_of(m));
    return m != NULL;
}

static void loop(void *arg)
{
    struct controller *c = arg;

    while (!c->stops) {
        run_timers(c);
        struct message *m = inbox_take(&c->inbox, next_due_us(c));
        if (m)
            run(c, event_of(m));
    }
}

int controller_start(struct controller *c)
{
    controller_post_named(c, EVENT_STARTUP, 0, STR_NULL);
    return thread_start(&c->thread, "controller", loop, c);
}

void controller_stop(struct controller *c)
{
    struct message *next;

    post_preempting(c, EVENT_SHUTDOWN);
    thread_join(&c->thread);
    mutex_lock(&c->lock);
    c->is_closed = true;
    cond_broadcast(&c->expired);
    mutex_unlock(&c->lock);
    for (struct message *m = inbox_take_all(&c->inbox); m; m = next) {
        next = m->next;
        atomic_fetch_sub(&c->queued, 1);
        event_refuse(event_of(m));
    }
    term_resign(c);
    publish(c, CONTROLLER_IDLE);
}
