#include "zk/zk_store.h"

#include "tests/unit/zk/zk_test.h"

START_TEST(deep_create_makes_parents_with_null_data)
{
    struct zk_test z;
    struct slice data;

    zk_test_init(&z);
    ck_assert_int_eq(zk_store_create_deep(z.s, "/a/b/c", bytes("x")), ZK_OK);
    ck_assert_int_eq(zk_store_create_deep(z.s, "/a/b/c", bytes("x")), ZK_NODE_EXISTS);
    ck_assert_int_eq(zk_store_get(z.s, "/a/b", &z.a, &data, NULL), ZK_OK);
    ck_assert_ptr_null(data.p);
    zk_test_deinit(&z);
}
END_TEST

START_TEST(empty_is_told_from_null)
{
    struct zk_test z;
    struct slice data;

    zk_test_init(&z);
    ck_assert_int_eq(zk_store_create(z.s, "/e", slice_of("", 0), 0), ZK_OK);
    ck_assert_int_eq(zk_store_get(z.s, "/e", &z.a, &data, NULL), ZK_OK);
    ck_assert_ptr_nonnull(data.p);
    ck_assert_uint_eq(data.len, 0);
    zk_test_deinit(&z);
}
END_TEST

START_TEST(children_come_sorted_and_an_absent_node_has_none)
{
    struct zk_test z;
    struct zk_names names;

    zk_test_init(&z);
    zk_store_create_deep(z.s, "/a/2", bytes(""));
    zk_store_create_deep(z.s, "/a/10", bytes(""));
    ck_assert_int_eq(zk_store_children(z.s, "/a", false, &z.a, &names), ZK_OK);
    ck_assert_uint_eq(names.count, 2);
    ck_assert(str_eqz(names.list[0], "10"));
    ck_assert_int_eq(zk_store_children(z.s, "/absent", false, &z.a, &names), ZK_OK);
    ck_assert_uint_eq(names.count, 0);
    zk_test_deinit(&z);
}
END_TEST

START_TEST(paths_that_are_there_cost_one_round)
{
    struct zk_test z;

    zk_test_init(&z);
    uint64_t before = fake_zk_rounds(z.one);
    ck_assert_int_eq(zk_cluster_prepare(z.s), ZK_OK);
    ck_assert_uint_eq(fake_zk_rounds(z.one), before + 1);
    zk_test_deinit(&z);
}
END_TEST

START_TEST(deep_delete_takes_the_whole_tree)
{
    struct zk_test z;

    zk_test_init(&z);
    zk_store_create_deep(z.s, "/a/b/c", bytes("x"));
    zk_store_create_deep(z.s, "/a/b/d/e", bytes("x"));
    ck_assert_int_eq(zk_store_delete_deep(z.s, "/a", ZK_NO_FENCE), ZK_OK);
    ck_assert_int_eq(zk_store_exists(z.s, "/a", NULL), ZK_NO_NODE);
    ck_assert_int_eq(zk_store_delete_deep(z.s, "/a", ZK_NO_FENCE), ZK_OK);
    zk_test_deinit(&z);
}
END_TEST

START_TEST(fenced_deep_delete_stops_when_the_controller_moved)
{
    struct zk_test z;

    zk_test_init(&z);
    zk_test_epoch(&z);
    zk_store_create_deep(z.s, "/a/b", bytes("x"));
    ck_assert_int_eq(zk_store_delete_deep(z.s, "/a", 0), ZK_CONTROLLER_MOVED);
    ck_assert_int_eq(zk_store_exists(z.s, "/a/b", NULL), ZK_OK);
    ck_assert_int_eq(zk_store_delete_deep(z.s, "/a", 1), ZK_OK);
    zk_test_deinit(&z);
}
END_TEST

struct intruder {
    struct zk_store *store;
    int left;
};

static void add_child(const struct zk_op *op, void *ctx)
{
    struct intruder *in = ctx;

    if (op->kind == ZK_OP_DELETE && strcmp(op->path, "/a") == 0 && in->left-- > 0)
        zk_store_create(in->store, "/a/late", bytes(""), 0);
}

START_TEST(child_made_during_a_deep_delete_goes_too)
{
    struct zk_test z;
    struct intruder in;

    zk_test_init(&z);
    in = (struct intruder){z.t, 1};
    zk_store_create_deep(z.s, "/a/b", bytes("x"));
    fake_zk_hook(z.one, add_child, &in);
    ck_assert_int_eq(zk_store_delete_deep(z.s, "/a", ZK_NO_FENCE), ZK_OK);
    ck_assert_int_eq(zk_store_exists(z.t, "/a", NULL), ZK_NO_NODE);
    zk_test_deinit(&z);
}
END_TEST

START_TEST(expired_session_ends_every_request_and_its_ephemerals)
{
    struct zk_test z;

    zk_test_init(&z);
    ck_assert_int_eq(zk_store_create(z.s, "/e", bytes(""), ZK_EPHEMERAL), ZK_OK);
    fake_zk_expire(z.one);
    ck_assert_int_eq(zk_store_session_id(z.s), 0);
    ck_assert_int_eq(zk_store_exists(z.s, "/e", NULL), ZK_SESSION_EXPIRED);
    ck_assert_int_eq(zk_store_exists(z.t, "/e", NULL), ZK_NO_NODE);
    ck_assert(fake_zk_renew(z.one) != 0);
    ck_assert_int_eq(zk_store_exists(z.s, "/e", NULL), ZK_NO_NODE);
    zk_test_deinit(&z);
}
END_TEST

START_TEST(sequential_names_count_up)
{
    struct zk_test z;
    struct zk_names names;

    zk_test_init(&z);
    zk_store_create(z.s, ZK_PREFIX_ISR_CHANGE, bytes(""), ZK_SEQUENTIAL);
    zk_store_create(z.t, ZK_PREFIX_ISR_CHANGE, bytes(""), ZK_SEQUENTIAL);
    zk_store_children(z.s, ZK_PATH_ISR_CHANGES, false, &z.a, &names);
    ck_assert(str_eqz(names.list[0], "isr_change_0000000000"));
    ck_assert(str_eqz(names.list[1], "isr_change_0000000001"));
    zk_test_deinit(&z);
}
END_TEST

TEST_MAIN("zk/zk_store", deep_create_makes_parents_with_null_data, empty_is_told_from_null,
          children_come_sorted_and_an_absent_node_has_none, paths_that_are_there_cost_one_round,
          deep_delete_takes_the_whole_tree, fenced_deep_delete_stops_when_the_controller_moved,
          child_made_during_a_deep_delete_goes_too,
          expired_session_ends_every_request_and_its_ephemerals, sequential_names_count_up)
