#include "zk/zk_election.h"

#include "tests/unit/zk/zk_test.h"

START_TEST(first_controller_has_epoch_1)
{
    struct zk_test z;
    struct zk_election e;
    struct zk_controller c;

    zk_test_init(&z);
    ck_assert_int_eq(zk_elect(z.s, 1, &e), ZK_OK);
    ck_assert(e.won);
    ck_assert_int_eq(e.epoch, 1);
    ck_assert_int_eq(e.epoch_version, 1);
    ck_assert(zk_test_holds(&z, ZK_PATH_CONTROLLER_EPOCH, "1"));
    ck_assert(zk_test_holds(&z, ZK_PATH_CONTROLLER,
                            "{\"version\":2,\"brokerid\":1,\"timestamp\":\"1700000000000\","
                            "\"kraftControllerEpoch\":-1}"));
    ck_assert_int_eq(zk_controller_read(z.s, 1, &c), ZK_OK);
    ck_assert(c.is_ours && c.is_present && !c.is_kraft);
    zk_test_deinit(&z);
}
END_TEST

START_TEST(second_candidate_learns_who_has_it)
{
    struct zk_test z;
    struct zk_election e;

    zk_test_init(&z);
    zk_elect(z.s, 1, &e);
    ck_assert_int_eq(zk_elect(z.t, 2, &e), ZK_OK);
    ck_assert(!e.won);
    ck_assert_int_eq(e.seen.broker_id, 1);
    ck_assert(!e.seen.is_ours);
    zk_test_deinit(&z);
}
END_TEST

START_TEST(successor_counts_on_and_fences_the_first)
{
    struct zk_test z;
    struct zk_election first, second;
    CLEANUP(zk_batch_deinit) struct zk_batch b = {0};

    zk_test_init(&z);
    zk_elect(z.s, 1, &first);
    fake_zk_expire(z.one);
    ck_assert_int_eq(zk_elect(z.t, 2, &second), ZK_OK);
    ck_assert(second.won);
    ck_assert_int_eq(second.epoch, 2);
    fake_zk_renew(z.one);
    size_t at = zk_batch_create_fenced(&b, first.epoch_version, "/x", bytes(""));
    zk_store_run(z.s, &b);
    ck_assert_int_eq(zk_batch_result(&b, at), ZK_CONTROLLER_MOVED);
    zk_test_deinit(&z);
}
END_TEST

START_TEST(lost_answer_to_the_claim_is_a_win)
{
    struct zk_test z;
    struct zk_election e;

    zk_test_init(&z);
    zk_store_create(z.s, ZK_PATH_CONTROLLER_EPOCH, bytes("7"), 0);
    fake_zk_lose_reply(z.one, 1);
    ck_assert_int_eq(zk_elect(z.s, 1, &e), ZK_OK);
    ck_assert(e.won);
    ck_assert_int_eq(e.epoch, 8);
    ck_assert_int_eq(e.epoch_version, 1);
    zk_test_deinit(&z);
}
END_TEST

START_TEST(node_of_our_own_old_session_is_not_ours)
{
    struct zk_test z;
    struct zk_election e;

    zk_test_init(&z);
    zk_elect(z.s, 1, &e);
    int64_t old = fake_zk_restart(z.one);
    ck_assert_int_eq(zk_elect(z.s, 1, &e), ZK_OK);
    ck_assert(!e.won && !e.seen.is_ours);
    ck_assert_int_eq(e.seen.broker_id, 1);
    fake_zk_server_forget(z.server, old);
    ck_assert_int_eq(zk_elect(z.s, 1, &e), ZK_OK);
    ck_assert(e.won);
    ck_assert_int_eq(e.epoch, 2);
    zk_test_deinit(&z);
}
END_TEST

struct rival {
    struct zk_store *store;
    struct zk_election result;
    bool done;
};

/* Wins just before our multi is sent. */
static void cut_in(const struct zk_op *op, void *ctx)
{
    struct rival *r = ctx;

    if (op->kind == ZK_OP_CREATE && op->in_multi && !r->done) {
        r->done = true;
        zk_elect(r->store, 2, &r->result);
    }
}

START_TEST(rival_that_cuts_in_wins_alone)
{
    struct zk_test z;
    struct zk_election e;
    struct rival rival = {0};

    zk_test_init(&z);
    rival.store = z.t;
    fake_zk_hook(z.one, cut_in, &rival);
    ck_assert_int_eq(zk_elect(z.s, 1, &e), ZK_OK);
    ck_assert(!e.won);
    ck_assert_int_eq(e.seen.broker_id, 2);
    ck_assert(rival.result.won);
    zk_test_deinit(&z);
}
END_TEST

/* Wins and vanishes again, so that our own create would succeed but the epoch has moved. */
static void come_and_go(const struct zk_op *op, void *ctx)
{
    struct rival *r = ctx;

    if (op->kind == ZK_OP_CREATE && op->in_multi && !r->done) {
        r->done = true;
        zk_elect(r->store, 2, &r->result);
        zk_controller_resign(r->store, r->result.epoch_version);
    }
}

START_TEST(rival_that_came_and_went_leaves_nobody_elected)
{
    struct zk_test z;
    struct zk_election e;
    struct rival rival = {0};

    zk_test_init(&z);
    rival.store = z.t;
    fake_zk_hook(z.one, come_and_go, &rival);
    ck_assert_int_eq(zk_elect(z.s, 1, &e), ZK_OK);
    ck_assert(!e.won && !e.seen.is_present);
    ck_assert_int_eq(zk_elect(z.s, 1, &e), ZK_OK);
    ck_assert(e.won);
    ck_assert_int_eq(e.epoch, 2);
    zk_test_deinit(&z);
}
END_TEST

START_TEST(win_that_was_not_heard_of_is_taken_up_by_the_next_round)
{
    struct zk_test z;
    struct zk_election first, again;

    zk_test_init(&z);
    zk_elect(z.s, 1, &first);
    ck_assert_int_eq(zk_elect(z.s, 1, &again), ZK_OK);
    ck_assert(again.won);
    ck_assert_int_eq(again.epoch, first.epoch);
    ck_assert_int_eq(again.epoch_version, first.epoch_version);
    zk_test_deinit(&z);
}
END_TEST

START_TEST(resignation_is_fenced)
{
    struct zk_test z;
    struct zk_election e;

    zk_test_init(&z);
    zk_elect(z.s, 1, &e);
    ck_assert_int_eq(zk_controller_resign(z.s, e.epoch_version - 1), ZK_CONTROLLER_MOVED);
    ck_assert_int_eq(zk_controller_resign(z.s, e.epoch_version), ZK_OK);
    ck_assert_int_eq(zk_controller_resign(z.s, e.epoch_version), ZK_OK);
    ck_assert_int_eq(zk_store_exists(z.s, ZK_PATH_CONTROLLER, NULL), ZK_NO_NODE);
    zk_test_deinit(&z);
}
END_TEST

START_TEST(kraft_controller_is_not_taken_over)
{
    struct zk_test z;
    struct zk_election e;

    zk_test_init(&z);
    zk_store_create(z.s, ZK_PATH_CONTROLLER,
                    bytes("{\"version\":2,\"brokerid\":3000,\"timestamp\":\"1\","
                          "\"kraftControllerEpoch\":5}"),
                    0);
    ck_assert_int_eq(zk_elect(z.s, 3000, &e), ZK_OK);
    ck_assert(!e.won && e.seen.is_kraft && !e.seen.is_ours);
    zk_test_deinit(&z);
}
END_TEST

START_TEST(unreadable_nodes_elect_nobody)
{
    struct zk_test z;
    struct zk_election e;

    zk_test_init(&z);
    say_set_level(SAY_ERROR + 1);
    zk_store_create(z.s, ZK_PATH_CONTROLLER_EPOCH, bytes("x"), 0);
    ck_assert_int_eq(zk_elect(z.s, 1, &e), ZK_MALFORMED);
    zk_store_create(z.s, ZK_PATH_CONTROLLER, bytes("x"), 0);
    ck_assert_int_eq(zk_elect(z.s, 1, &e), ZK_OK);
    ck_assert(!e.won && e.seen.is_present);
    ck_assert_int_eq(e.seen.broker_id, -1);
    zk_test_deinit(&z);
}
END_TEST

TEST_MAIN("zk/zk_election", first_controller_has_epoch_1, second_candidate_learns_who_has_it,
          successor_counts_on_and_fences_the_first, lost_answer_to_the_claim_is_a_win,
          node_of_our_own_old_session_is_not_ours, rival_that_cuts_in_wins_alone,
          rival_that_came_and_went_leaves_nobody_elected,
          win_that_was_not_heard_of_is_taken_up_by_the_next_round, resignation_is_fenced,
          kraft_controller_is_not_taken_over, unreadable_nodes_elect_nobody)
