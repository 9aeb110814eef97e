#include "zk/zk_cluster.h"

#include "tests/unit/zk/zk_test.h"

START_TEST(standing_paths_hold_null)
{
    struct zk_test z;
    struct slice data;

    zk_test_init(&z);
    for (size_t i = 0; i < zk_persistent_paths_count; i++) {
        ck_assert_int_eq(zk_store_get(z.s, zk_persistent_paths[i], &z.a, &data, NULL), ZK_OK);
        ck_assert_ptr_null(data.p);
    }
    zk_test_deinit(&z);
}
END_TEST

static void other_makes_an_id(const struct zk_op *op, void *ctx)
{
    struct arena a = {0};
    struct str id;

    if (op->kind == ZK_OP_CREATE)
        zk_cluster_id_get(ctx, &a, &id);
    arena_deinit(&a);
}

START_TEST(cluster_id_is_made_once)
{
    struct zk_test z;
    struct str first, second;

    zk_test_init(&z);
    fake_zk_hook(z.one, other_makes_an_id, z.t);
    ck_assert_int_eq(zk_cluster_id_get(z.s, &z.a, &first), ZK_OK);
    ck_assert_uint_eq(first.len, 22);
    ck_assert_int_eq(zk_cluster_id_get(z.t, &z.a, &second), ZK_OK);
    ck_assert(str_eq(first, second));
    zk_test_deinit(&z);
}
END_TEST

struct rival {
    struct zk_store *store;
    bool done;
};

static void other_draws_a_block(const struct zk_op *op, void *ctx)
{
    struct rival *r = ctx;
    struct node_producer_block b;

    if (op->kind == ZK_OP_SET && !r->done) {
        r->done = true;
        zk_producer_block_next(r->store, 2, &b);
    }
}

START_TEST(producer_blocks_never_overlap)
{
    struct zk_test z;
    struct node_producer_block a, b;

    zk_test_init(&z);
    ck_assert_int_eq(zk_producer_block_next(z.s, 1, &a), ZK_OK);
    ck_assert(a.start == 0 && a.end == 999);
    fake_zk_lose_reply(z.one, 1);
    ck_assert_int_eq(zk_producer_block_next(z.s, 1, &b), ZK_OK);
    ck_assert(b.start == 2000 && b.end == 2999);
    zk_test_deinit(&z);
}
END_TEST

START_TEST(block_drawn_by_another_in_between_is_skipped)
{
    struct zk_test z;
    struct node_producer_block b;
    struct rival rival = {0};

    zk_test_init(&z);
    rival.store = z.t;
    fake_zk_hook(z.one, other_draws_a_block, &rival);
    ck_assert_int_eq(zk_producer_block_next(z.s, 1, &b), ZK_OK);
    ck_assert_int_eq(b.start, 1000);
    zk_test_deinit(&z);
}
END_TEST

START_TEST(used_up_producer_ids_are_refused)
{
    struct zk_test z;
    struct node_producer_block b;

    zk_test_init(&z);
    say_set_level(SAY_ERROR + 1);
    zk_store_set(z.s, ZK_PATH_PRODUCER_IDS,
                 bytes("{\"version\":1,\"broker\":1,\"block_start\":\"9223372036854774000\","
                       "\"block_end\":\"9223372036854774999\"}"),
                 -1, NULL);
    ck_assert_int_eq(zk_producer_block_next(z.s, 1, &b), ZK_REFUSED);
    zk_store_set(z.s, ZK_PATH_PRODUCER_IDS, slice_of("", 0), -1, NULL);
    ck_assert_int_eq(zk_producer_block_next(z.s, 1, &b), ZK_MALFORMED);
    zk_test_deinit(&z);
}
END_TEST

START_TEST(features_epoch_is_the_version)
{
    struct zk_test z;
    struct node_features f = {.version = 2, .enabled = true}, back;
    int32_t epoch;

    zk_test_init(&z);
    ck_assert_int_eq(zk_features_read(z.s, &z.a, &epoch, &back), ZK_NO_NODE);
    ck_assert_int_eq(zk_features_create(z.s, &f), ZK_OK);
    ck_assert_int_eq(zk_features_read(z.s, &z.a, &epoch, &back), ZK_OK);
    ck_assert_int_eq(epoch, 0);
    ck_assert_int_eq(zk_features_set(z.s, &f, &epoch), ZK_OK);
    ck_assert_int_eq(epoch, 1);
    zk_test_deinit(&z);
}
END_TEST

TEST_MAIN("zk/zk_cluster", standing_paths_hold_null, cluster_id_is_made_once,
          producer_blocks_never_overlap, block_drawn_by_another_in_between_is_skipped,
          used_up_producer_ids_are_refused, features_epoch_is_the_version)
