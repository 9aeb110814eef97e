/*
 * test_term.c - terms: won, lost, expired, stolen in the middle of a write
 */
#include "controller/term.h"

#include "tests/support/fake_cluster.h"
#include "tests/support/test_main.h"
#include "zk/zk_election.h"
#include "zk/zk_paths.h"

static struct slice bytes(const char *z)
{
    return slice_of(z, strlen(z));
}

START_TEST(one_broker_is_controller_and_all_know_it)
{
    struct fake_cluster f;

    fake_cluster_init(&f, 3);
    ck_assert_int_eq(fake_cluster_active(&f)->id, 1);
    for (int id = 1; id <= 3; id++)
        ck_assert_int_eq(controller_active_id(f.brokers[id].c), 1);
    ck_assert_int_eq(controller_epoch(f.brokers[1].c), 1);
    ck_assert_int_eq(controller_epoch(f.brokers[2].c), 0);
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(expired_controller_comes_back_as_a_broker_with_a_new_epoch)
{
    struct fake_cluster f;

    fake_cluster_init(&f, 3);
    fake_cluster_create(&f, "t", "1,2,3");
    int64_t epoch = f.brokers[1].reg.epoch;
    fake_cluster_expire(&f, 1);
    ck_assert_int_eq(fake_cluster_active(&f)->id, 2);
    ck_assert_int_gt(f.brokers[1].reg.epoch, epoch);
    ck_assert_int_eq(controller_active_id(f.brokers[1].c), 2);
    ck_assert(fake_channels_has(&f.brokers[2].channels, 1));
    ck_assert_int_eq((int)f.brokers[1].channels.broker_count, 0);
    ck_assert_str_eq(fake_cluster_state(&f, "t", 0), "L2 e1 isr 2,3 v1");
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(deleted_controller_node_forces_an_election)
{
    struct fake_cluster f;

    fake_cluster_init(&f, 2);
    ck_assert_int_eq(zk_store_delete(f.admin, ZK_PATH_CONTROLLER, -1), ZK_OK);
    fake_cluster_run(&f);
    ck_assert_ptr_nonnull(fake_cluster_active(&f));
    ck_assert_int_eq(controller_epoch(fake_cluster_active(&f)->c), 2);
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(controller_node_of_our_old_session_is_not_ours)
{
    struct fake_cluster f;

    fake_cluster_init(&f, 1);
    struct fake_broker *b = &f.brokers[1];
    controller_stop(b->c);
    controller_free(TAKE(b->c));
    b->is_up = false;
    int64_t old = fake_zk_restart(b->zk);
    fake_zk_server_forget(f.server, old); /* the registration goes ... */
    struct node_controller self = {1, 0, -1};
    CLEANUP(arena_deinit) struct arena a = {0};
    /* ... but somebody's session still holds a /controller that names broker 1 */
    ck_assert_int_eq(zk_store_create(f.admin, ZK_PATH_CONTROLLER, node_controller_encode(&a, &self),
                                     ZK_EPHEMERAL),
                     ZK_OK);
    fake_cluster_start(&f, 1);
    ck_assert_ptr_null(fake_cluster_active(&f));
    ck_assert_int_eq(controller_active_id(b->c), -1);
    ck_assert_int_eq(zk_store_delete(f.admin, ZK_PATH_CONTROLLER, -1), ZK_OK);
    fake_cluster_run(&f);
    ck_assert_ptr_eq(fake_cluster_active(&f), b);
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(kraft_controller_is_left_alone)
{
    struct fake_cluster f;

    fake_cluster_prepare(&f, 1);
    zk_store_create(f.admin, ZK_PATH_CONTROLLER,
                    bytes("{\"version\":2,\"brokerid\":3000,\"timestamp\":\"1\","
                          "\"kraftControllerEpoch\":5}"),
                    0);
    fake_cluster_start(&f, 1);
    ck_assert_ptr_null(fake_cluster_active(&f));
    ck_assert_int_eq(controller_active_id(f.brokers[1].c), 3000);
    fake_cluster_deinit(&f);
}
END_TEST

static void note_done(struct controller_call *call)
{
    ++*(int *)call->ctx;
}

START_TEST(calls_of_an_ended_session_are_answered_not_controller)
{
    struct fake_cluster f;
    CLEANUP(arena_deinit) struct arena a = {0};
    struct alter_partition_request alter = {.broker_id = 2};
    struct allocate_producer_ids_request ids = {.broker_id = 2};
    struct controlled_shutdown_request stop = {.broker_id = 2};
    struct controller_election entry = {.topic = STR("t")};
    int done = 0;
    struct controller_call calls[] = {
        {.arena = &a, .request = &alter, .version = 3, .done = note_done, .ctx = &done},
        {.arena = &a, .request = &ids, .done = note_done, .ctx = &done},
        {.arena = &a, .request = &stop, .version = 3, .done = note_done, .ctx = &done},
    };
    struct controller_elections elections = {
        .call = {.arena = &a, .done = note_done, .ctx = &done}, .list = &entry, .count = 1};
    struct controller_set_partitions set = {.call = {.arena = &a, .done = note_done, .ctx = &done},
                                            .topic = STR("t")};

    fake_cluster_init(&f, 2);
    struct controller *c = f.brokers[1].c;
    controller_alter_partition(c, &calls[0]);
    controller_allocate_producer_ids(c, &calls[1]);
    controller_controlled_shutdown(c, &calls[2]);
    controller_elect_leaders(c, &elections);
    controller_set_topic_partitions(c, &set);
    ck_assert_int_eq(done, 0);
    fake_cluster_expire(&f, 1);
    ck_assert_int_eq(done, 5);
    ck_assert_int_eq(((struct alter_partition_response *)calls[0].response)->error_code,
                     NOT_CONTROLLER);
    ck_assert_int_eq(((struct allocate_producer_ids_response *)calls[1].response)->error_code,
                     NOT_CONTROLLER);
    ck_assert_int_eq(((struct controlled_shutdown_response *)calls[2].response)->error_code,
                     STALE_CONTROLLER_EPOCH);
    ck_assert_int_eq(entry.error, NOT_CONTROLLER);
    ck_assert_int_eq(set.error, NOT_CONTROLLER);
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(calls_after_stop_are_answered_at_once)
{
    struct fake_cluster f;
    CLEANUP(arena_deinit) struct arena a = {0};
    struct alter_partition_request alter = {.broker_id = 1};
    int done = 0;
    struct controller_call call = {
        .arena = &a, .request = &alter, .version = 3, .done = note_done, .ctx = &done};

    fake_cluster_init(&f, 1);
    f.brokers[1].is_up = false;
    controller_stop(f.brokers[1].c);
    controller_alter_partition(f.brokers[1].c, &call);
    ck_assert_int_eq(done, 1);
    controller_free(TAKE(f.brokers[1].c));
    fake_cluster_deinit(&f);
}
END_TEST

/* Somebody else becomes controller just before the nth request of broker 1. */
struct theft {
    struct fake_cluster *f;
    int at;
    int count;
    bool is_done;
    const char *state;
    bool topic_exists;
};

static void steal(const struct zk_op *op UNUSED, void *ctx)
{
    struct theft *th = ctx;
    CLEANUP(arena_deinit) struct arena a = {0};
    struct node_controller other = {9, 0, -1};

    if (th->is_done || ++th->count != th->at)
        return;
    th->is_done = true;
    zk_store_set(th->f->admin, ZK_PATH_CONTROLLER_EPOCH, bytes("77"), ZK_ANY_VERSION, NULL);
    zk_store_delete(th->f->admin, ZK_PATH_CONTROLLER, ZK_ANY_VERSION);
    zk_store_create(th->f->admin, ZK_PATH_CONTROLLER, node_controller_encode(&a, &other),
                    ZK_EPHEMERAL);
    th->state = fake_cluster_state(th->f, "t", 0);
    th->topic_exists = fake_cluster_topic_exists(th->f, "t");
}

enum { DO_CREATE, DO_KILL, DO_SHUTDOWN, DO_ALTER, DO_DELETE, DO_COUNT };

static void act(struct fake_cluster *f, int what)
{
    int left;

    switch (what) {
    case DO_CREATE:
        fake_cluster_create(f, "u", "1,2,3;2,3,1");
        break;
    case DO_KILL:
        fake_cluster_kill(f, 2);
        break;
    case DO_SHUTDOWN:
        fake_cluster_shutdown(f, 2, &left);
        break;
    case DO_ALTER:
        fake_cluster_alter(f, "t", 0, "2,1");
        break;
    default:
        fake_cluster_delete(f, "t");
        break;
    }
}

/* True if the theft happened. */
static bool steal_during(int what, int at)
{
    struct fake_cluster f;
    struct theft th = {.f = &f, .at = at};

    fake_cluster_init(&f, 3);
    fake_cluster_create(&f, "t", "2,1,3");
    fake_zk_hook(f.brokers[1].zk, steal, &th);
    act(&f, what);
    fake_zk_hook(f.brokers[1].zk, NULL, NULL);
    if (th.is_done) {
        ck_assert_ptr_null(fake_cluster_active(&f));
        ck_assert_int_eq(controller_active_id(f.brokers[1].c), 9);
        ck_assert_int_eq(controller_epoch(f.brokers[1].c), 0);
        ck_assert_str_eq(fake_cluster_state(&f, "t", 0), th.state);
        ck_assert_int_eq(fake_cluster_topic_exists(&f, "t"), th.topic_exists);
    }
    fake_cluster_deinit(&f);
    return th.is_done;
}

START_TEST(nothing_is_written_after_another_controller_was_elected)
{
    say_set_level(SAY_ERROR);
    for (int what = 0; what < DO_COUNT; what++) {
        int at = 1;
        while (steal_during(what, at))
            at++;
        ck_assert_int_gt(at, 1);
    }
}
END_TEST

START_TEST(failover_that_fails_gives_the_office_up)
{
    struct fake_cluster f;

    fake_cluster_prepare(&f, 2);
    fake_cluster_start(&f, 1);
    fake_cluster_start(&f, 2);
    fake_zk_fail(f.brokers[2].zk, 12, ZK_NO_AUTH); /* in the middle of its failover */
    fake_cluster_kill(&f, 1);
    ck_assert_ptr_null(fake_cluster_active(&f));
    fake_zk_fail(f.brokers[2].zk, 1, ZK_OK);
    clock_fake_advance(&f.clock, 5000);
    fake_cluster_run(&f);
    ck_assert_ptr_eq(fake_cluster_active(&f), &f.brokers[2]);
    ck_assert_int_eq(f.brokers[2].c->x.broker_count, 1);
    fake_cluster_deinit(&f);
}
END_TEST

TEST_MAIN("controller/term", one_broker_is_controller_and_all_know_it,
          expired_controller_comes_back_as_a_broker_with_a_new_epoch,
          deleted_controller_node_forces_an_election,
          controller_node_of_our_old_session_is_not_ours, kraft_controller_is_left_alone,
          calls_of_an_ended_session_are_answered_not_controller,
          calls_after_stop_are_answered_at_once,
          nothing_is_written_after_another_controller_was_elected,
          failover_that_fails_gives_the_office_up)
