#include "zk/zk_admin.h"

#include "tests/unit/zk/zk_test.h"

START_TEST(isr_changes_are_read_together_and_deleted)
{
    struct zk_test z;
    struct node_partition_name list[] = {{STR("t"), 0}, {STR("u"), 3}};
    struct node_partition_names changed = {list, 2}, all;
    struct zk_names names;

    zk_test_init(&z);
    zk_test_epoch(&z);
    say_set_level(SAY_ERROR + 1);
    ck_assert_int_eq(zk_isr_change_notify(z.t, &changed), ZK_OK);
    zk_store_create(z.t, ZK_PREFIX_ISR_CHANGE, bytes("rubbish"), ZK_SEQUENTIAL);
    ck_assert_int_eq(zk_isr_change_notify(z.t, &changed), ZK_OK);
    zk_notifications_list(z.s, ZK_PATH_ISR_CHANGES, false, &z.a, &names);
    ck_assert_uint_eq(names.count, 3);
    ck_assert_int_eq(zk_isr_changes_read(z.s, &names, &z.a, &all), ZK_OK);
    ck_assert_int_eq(all.count, 4);
    ck_assert_int_eq(zk_notifications_delete(z.s, ZK_PATH_ISR_CHANGES, &names, 0),
                     ZK_CONTROLLER_MOVED);
    ck_assert_int_eq(zk_notifications_delete(z.s, ZK_PATH_ISR_CHANGES, &names, 1), ZK_OK);
    zk_notifications_list(z.s, ZK_PATH_ISR_CHANGES, false, &z.a, &names);
    ck_assert_uint_eq(names.count, 0);
    zk_test_deinit(&z);
}
END_TEST

START_TEST(log_dir_events_name_each_broker_once)
{
    struct zk_test z;
    struct zk_names names;
    struct node_ids ids;

    zk_test_init(&z);
    zk_log_dir_event_notify(z.s, 3);
    zk_log_dir_event_notify(z.s, 1);
    zk_log_dir_event_notify(z.s, 3);
    zk_notifications_list(z.s, ZK_PATH_LOG_DIR_EVENTS, true, &z.a, &names);
    ck_assert_int_eq(zk_log_dir_events_read(z.s, &names, &z.a, &ids), ZK_OK);
    ck_assert_int_eq(ids.count, 2);
    ck_assert_int_eq(ids.list[0], 3);
    ck_assert_int_eq(ids.list[1], 1);
    zk_test_deinit(&z);
}
END_TEST

START_TEST(reassignment_node_is_created_rewritten_and_deleted)
{
    struct zk_test z;
    int32_t ids[] = {4};
    struct node_reassign_entry e = {STR("t"), 0, {ids, 1}};
    struct node_reassign r = {&e, 1}, back;

    zk_test_init(&z);
    zk_test_epoch(&z);
    ck_assert_int_eq(zk_reassign_read(z.s, &z.a, &back), ZK_NO_NODE);
    ck_assert_int_eq(zk_reassign_write(z.s, &r, 1), ZK_OK);
    ck_assert_int_eq(zk_reassign_write(z.s, &r, 1), ZK_OK);
    ck_assert_int_eq(zk_reassign_read(z.s, &z.a, &back), ZK_OK);
    ck_assert_int_eq(back.count, 1);
    ck_assert_int_eq(zk_reassign_write(z.s, &r, 0), ZK_CONTROLLER_MOVED);
    r.count = 0;
    ck_assert_int_eq(zk_reassign_write(z.s, &r, 1), ZK_OK);
    ck_assert_int_eq(zk_reassign_read(z.s, &z.a, &back), ZK_NO_NODE);
    zk_test_deinit(&z);
}
END_TEST

static void count(enum zk_event event UNUSED, const char *path UNUSED, void *ctx)
{
    ++*(int *)ctx;
}

START_TEST(preferred_election_is_noticed_when_created)
{
    struct zk_test z;
    struct node_partition_names n;
    int seen = 0;

    zk_test_init(&z);
    zk_test_epoch(&z);
    zk_store_watch_data(z.s, ZK_PATH_PREFERRED_ELECTION, count, &seen);
    ck_assert_int_eq(zk_preferred_read(z.s, &z.a, &n), ZK_NO_NODE);
    zk_store_create(z.t, ZK_PATH_PREFERRED_ELECTION,
                    bytes("{\"version\":1,\"partitions\":[{\"topic\":\"t\",\"partition\":0}]}"), 0);
    ck_assert_int_eq(seen, 1);
    ck_assert_int_eq(zk_preferred_read(z.s, &z.a, &n), ZK_OK);
    ck_assert_int_eq(n.count, 1);
    ck_assert_int_eq(zk_preferred_delete(z.s, 0), ZK_CONTROLLER_MOVED);
    ck_assert_int_eq(zk_preferred_delete(z.s, 1), ZK_OK);
    ck_assert_int_eq(zk_preferred_delete(z.s, 1), ZK_OK);
    zk_test_deinit(&z);
}
END_TEST

TEST_MAIN("zk/zk_admin", isr_changes_are_read_together_and_deleted,
          log_dir_events_name_each_broker_once, reassignment_node_is_created_rewritten_and_deleted,
          preferred_election_is_noticed_when_created)
