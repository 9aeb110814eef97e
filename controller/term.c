#include "controller/term.h"

#include "controller/brokers.h"
#include "controller/failover.h"
#include "controller/topics.h"
#include "zk/zk_election.h"
#include "zk/zk_paths.h"

enum { FAILED_PAUSE_MS = 1000, ELECT_AGAIN_US = 5 * 1000 * 1000 };

static void on_controller_node(enum zk_event event, const char *path UNUSED, void *ctx)
{
    controller_post_named(ctx, event == ZK_EVENT_DELETED ? EVENT_REELECT : EVENT_CONTROLLER_CHANGE,
                          0, STR_NULL);
}

static void set_active(struct controller *c, bool is_active, int32_t epoch, int32_t epoch_version)
{
    c->is_active = is_active;
    c->epoch = epoch;
    c->epoch_version = epoch_version;
    c->fanout.controller_epoch = epoch;
    atomic_store(&c->pub_epoch, epoch);
    atomic_store(&c->pub_is_active, is_active);
}

void term_resign(struct controller *c)
{
    if (c->is_active)
        say_info("controller: broker %d is not the controller any more epoch=%d", c->opts.broker_id,
                 c->epoch);
    failover_unwatch(c);
    brokers_unwatch_all(c);
    topics_unwatch_all(c);
    fanout_drop(&c->fanout);
    c->opts.channels->ops->remove_all(c->opts.channels);
    context_clear(&c->x);
    c->balance_due_us = NEVER_US;
    set_active(c, false, 0, 0);
}

/* Who is controller, as /controller says. A node that an earlier session of ours left there is
 * nobody's: it vanishes soon, and with it comes the event to stand for election. */
static enum zk_result look(struct controller *c, struct zk_controller *ret)
{
    enum zk_result r = zk_controller_read(c->store, c->opts.broker_id, ret);

    if (r != ZK_OK)
        return r;
    bool is_left_over = ret->is_present && ret->broker_id == c->opts.broker_id && !ret->is_ours;
    atomic_store(&c->pub_active_id, is_left_over ? -1 : ret->broker_id);
    if (is_left_over)
        say_info("controller: /controller is still that of an earlier session of broker %d; it "
                 "goes when that session times out, an election follows",
                 c->opts.broker_id);
    return ZK_OK;
}

/* Without having read /controller its watch may not be armed: nothing else would wake us. */
static void try_again(struct controller *c, enum zk_result r)
{
    if (controller_is_over(r))
        return;
    say_error("controller: who is controller cannot be found out: %s; tried again in %d s",
              zk_result_name(r), ELECT_AGAIN_US / 1000000);
    c->elect_due_us = clock_mono_us(c->opts.clock) + ELECT_AGAIN_US;
}

void term_maybe_resign(struct controller *c)
{
    struct zk_controller seen;
    enum zk_result r = look(c, &seen);

    if (r != ZK_OK)
        try_again(c, r);
    else if (c->is_active && !seen.is_ours)
        term_resign(c);
}

void term_force_move(struct controller *c, const char *why)
{
    struct zk_controller seen;
    int32_t fence = c->epoch_version;

    say_error("controller: broker %d gives up being controller epoch=%d, so that another election "
              "takes place: %s",
              c->opts.broker_id, c->epoch, why);
    enum zk_result r = look(c, &seen);
    if (r == ZK_OK && !seen.is_ours) {
        term_resign(c);
        return;
    }
    term_resign(c);
    atomic_store(&c->pub_active_id, -1);
    if (r == ZK_OK)
        r = zk_controller_resign(c->store, fence);
    if (r != ZK_OK && r != ZK_NO_NODE)
        try_again(c, r);
}

static void take_office(struct controller *c, const struct zk_election *won)
{
    /* In this order, so that whoever sees the new epoch sees whose it is. */
    atomic_store(&c->pub_active_id, c->opts.broker_id);
    set_active(c, true, won->epoch, won->epoch_version);
    say_info("controller: broker %d is the controller now epoch=%d", c->opts.broker_id, c->epoch);
    enum zk_result r = failover_run(c);
    if (r == ZK_CONTROLLER_MOVED) {
        term_maybe_resign(c);
    } else if (r != ZK_OK && !controller_is_over(r)) {
        /* So that a fault that stays does not become a storm of elections. */
        zk_store_pause_ms(c->store, FAILED_PAUSE_MS);
        term_force_move(c, zk_result_name(r));
    }
}

void term_elect(struct controller *c)
{
    struct zk_controller seen;
    struct zk_election election;

    c->elect_due_us = NEVER_US;
    zk_store_watch_data(c->store, ZK_PATH_CONTROLLER, on_controller_node, c);
    enum zk_result r = look(c, &seen);
    if (r == ZK_OK && !c->is_active && (!seen.is_present || seen.is_ours)) {
        r = zk_elect(c->store, c->opts.broker_id, &election);
        if (r == ZK_OK && election.won) {
            take_office(c, &election);
            return;
        }
        if (r == ZK_OK)
            r = look(c, &seen);
    }
    if (r != ZK_OK)
        try_again(c, r);
}
