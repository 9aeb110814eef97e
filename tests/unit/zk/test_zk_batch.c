#include "zk/zk_batch.h"

#include "tests/unit/zk/zk_test.h"

START_TEST(each_op_has_its_own_result)
{
    struct zk_test z;
    CLEANUP(zk_batch_deinit) struct zk_batch b = {0};

    zk_test_init(&z);
    size_t made = zk_batch_create(&b, "/x", bytes("1"), 0);
    size_t twice = zk_batch_create(&b, "/x", bytes("2"), 0);
    size_t got = zk_batch_get(&b, "/x");
    size_t none = zk_batch_get(&b, "/y");
    zk_store_run(z.s, &b);
    ck_assert_int_eq(b.ops[made].result, ZK_OK);
    ck_assert_int_eq(b.ops[twice].result, ZK_NODE_EXISTS);
    ck_assert(str_eqz(str_of_slice(b.ops[got].ret_data), "1"));
    ck_assert_int_eq(b.ops[none].result, ZK_NO_NODE);
    zk_test_deinit(&z);
}
END_TEST

START_TEST(failed_multi_leaves_nothing_and_names_the_culprit)
{
    struct zk_test z;
    CLEANUP(zk_batch_deinit) struct zk_batch b = {0};

    zk_test_init(&z);
    zk_batch_multi_begin(&b);
    zk_batch_create(&b, "/x", bytes("1"), 0);
    zk_batch_set(&b, "/absent", bytes("1"), -1);
    zk_batch_delete(&b, "/x", -1);
    zk_batch_multi_end(&b);
    zk_store_run(z.s, &b);
    ck_assert_int_eq(b.ops[0].result, ZK_OK);
    ck_assert_int_eq(b.ops[1].result, ZK_NO_NODE);
    ck_assert_int_eq(b.ops[2].result, ZK_ROLLED_BACK);
    ck_assert_int_eq(zk_store_exists(z.s, "/x", NULL), ZK_NO_NODE);
    zk_test_deinit(&z);
}
END_TEST

START_TEST(moved_epoch_fails_the_write_as_controller_moved)
{
    struct zk_test z;
    CLEANUP(zk_batch_deinit) struct zk_batch b = {0};

    zk_test_init(&z);
    zk_test_epoch(&z);
    size_t old = zk_batch_create_fenced(&b, 0, "/x", bytes("1"));
    size_t now = zk_batch_create_fenced(&b, 1, "/y", bytes("1"));
    size_t exists = zk_batch_create_fenced(&b, 1, "/y", bytes("1"));
    size_t bare = zk_batch_set_fenced(&b, ZK_NO_FENCE, "/y", bytes("2"), 7);
    size_t set = zk_batch_set_fenced(&b, 1, "/y", bytes("2"), 0);
    size_t gone = zk_batch_delete_fenced(&b, 1, "/y", 0);
    zk_store_run(z.s, &b);
    ck_assert_int_eq(zk_batch_result(&b, old), ZK_CONTROLLER_MOVED);
    ck_assert_int_eq(zk_batch_result(&b, now), ZK_OK);
    ck_assert_int_eq(zk_batch_result(&b, exists), ZK_NODE_EXISTS);
    ck_assert_int_eq(zk_batch_result(&b, bare), ZK_BAD_VERSION);
    ck_assert_int_eq(zk_batch_result(&b, set), ZK_OK);
    ck_assert_int_eq(b.ops[set].stat.version, 1);
    ck_assert_int_eq(zk_batch_result(&b, gone), ZK_BAD_VERSION);
    zk_test_deinit(&z);
}
END_TEST

START_TEST(missing_epoch_node_is_no_moved_controller)
{
    struct zk_test z;
    CLEANUP(zk_batch_deinit) struct zk_batch b = {0};

    zk_test_init(&z);
    size_t at = zk_batch_create_fenced(&b, 0, "/x", bytes("1"));
    zk_store_run(z.s, &b);
    ck_assert_int_eq(zk_batch_result(&b, at), ZK_NO_NODE);
    zk_test_deinit(&z);
}
END_TEST

START_TEST(reset_batch_is_empty_and_usable)
{
    struct zk_test z;
    CLEANUP(zk_batch_deinit) struct zk_batch b = {0};

    zk_test_init(&z);
    zk_batch_get(&b, "/x");
    zk_store_run(z.s, &b);
    zk_batch_reset(&b);
    ck_assert_uint_eq(b.count, 0);
    ck_assert_uint_eq(zk_batch_exists(&b, "/brokers"), 0);
    zk_store_run(z.s, &b);
    ck_assert_int_eq(b.ops[0].result, ZK_OK);
    zk_test_deinit(&z);
}
END_TEST

TEST_MAIN("zk/zk_batch", each_op_has_its_own_result,
          failed_multi_leaves_nothing_and_names_the_culprit,
          moved_epoch_fails_the_write_as_controller_moved,
          missing_epoch_node_is_no_moved_controller, reset_batch_is_empty_and_usable)
