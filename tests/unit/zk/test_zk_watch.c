#include "zk/zk_watch.h"

#include "tests/unit/zk/zk_test.h"

struct seen {
    int count;
    enum zk_event last;
    char path[64];
};

static void on_event(enum zk_event event, const char *path, void *ctx)
{
    struct seen *seen = ctx;

    seen->count++;
    seen->last = event;
    snprintf(seen->path, sizeof seen->path, "%s", path);
}

START_TEST(handler_alone_arms_nothing)
{
    struct zk_test z;
    struct seen seen = {0};

    zk_test_init(&z);
    zk_store_watch_data(z.s, "/x", on_event, &seen);
    zk_store_create(z.t, "/x", bytes(""), 0);
    ck_assert_int_eq(seen.count, 0);
    zk_test_deinit(&z);
}
END_TEST

START_TEST(exists_arms_on_an_absent_node_and_get_does_not)
{
    struct zk_test z;
    struct seen seen = {0};

    zk_test_init(&z);
    zk_store_watch_data(z.s, "/x", on_event, &seen);
    zk_store_get(z.s, "/x", &z.a, NULL, NULL);
    zk_store_create(z.t, "/x", bytes(""), 0);
    ck_assert_int_eq(seen.count, 0);
    zk_store_delete(z.t, "/x", -1);
    zk_store_exists(z.s, "/x", NULL);
    zk_store_create(z.t, "/x", bytes(""), 0);
    ck_assert_int_eq(seen.count, 1);
    ck_assert_int_eq(seen.last, ZK_EVENT_CREATED);
    ck_assert_str_eq(seen.path, "/x");
    zk_test_deinit(&z);
}
END_TEST

START_TEST(watch_fires_once_until_the_node_is_read_again)
{
    struct zk_test z;
    struct seen seen = {0};

    zk_test_init(&z);
    zk_store_create(z.s, "/x", bytes(""), 0);
    zk_store_watch_data(z.s, "/x", on_event, &seen);
    zk_store_get(z.s, "/x", &z.a, NULL, NULL);
    zk_store_set(z.t, "/x", bytes("1"), -1, NULL);
    zk_store_set(z.t, "/x", bytes("2"), -1, NULL);
    ck_assert_int_eq(seen.count, 1);
    ck_assert_int_eq(seen.last, ZK_EVENT_CHANGED);
    zk_store_get(z.s, "/x", &z.a, NULL, NULL);
    zk_store_delete(z.t, "/x", -1);
    ck_assert_int_eq(seen.count, 2);
    ck_assert_int_eq(seen.last, ZK_EVENT_DELETED);
    zk_test_deinit(&z);
}
END_TEST

START_TEST(children_fire_only_the_child_handler)
{
    struct zk_test z;
    struct seen data = {0}, children = {0};
    struct zk_names names;

    zk_test_init(&z);
    zk_store_watch_data(z.s, ZK_PATH_TOPICS, on_event, &data);
    zk_store_watch_children(z.s, ZK_PATH_TOPICS, on_event, &children);
    zk_store_exists(z.s, ZK_PATH_TOPICS, NULL);
    zk_store_children(z.s, ZK_PATH_TOPICS, true, &z.a, &names);
    zk_store_create(z.t, ZK_PATH_TOPICS "/t", bytes(""), 0);
    ck_assert_int_eq(children.count, 1);
    ck_assert_int_eq(children.last, ZK_EVENT_CHILDREN);
    ck_assert_int_eq(data.count, 0);
    zk_store_children(z.s, ZK_PATH_TOPICS, false, &z.a, &names);
    zk_store_create(z.t, ZK_PATH_TOPICS "/u", bytes(""), 0);
    ck_assert_int_eq(children.count, 1);
    zk_test_deinit(&z);
}
END_TEST

START_TEST(unregistered_handler_hears_nothing)
{
    struct zk_test z;
    struct seen seen = {0};

    zk_test_init(&z);
    zk_store_watch_data(z.s, "/x", on_event, &seen);
    zk_store_exists(z.s, "/x", NULL);
    zk_store_unwatch_data(z.s, "/x");
    zk_store_create(z.t, "/x", bytes(""), 0);
    ck_assert_int_eq(seen.count, 0);
    zk_test_deinit(&z);
}
END_TEST

START_TEST(new_session_has_no_watches)
{
    struct zk_test z;
    struct seen seen = {0};

    zk_test_init(&z);
    zk_store_watch_data(z.s, "/x", on_event, &seen);
    zk_store_exists(z.s, "/x", NULL);
    fake_zk_expire(z.one);
    fake_zk_renew(z.one);
    zk_store_create(z.t, "/x", bytes(""), 0);
    ck_assert_int_eq(seen.count, 0);
    zk_store_exists(z.s, "/x", NULL);
    zk_store_delete(z.t, "/x", -1);
    ck_assert_int_eq(seen.count, 1);
    zk_test_deinit(&z);
}
END_TEST

START_TEST(failed_multi_fires_nothing)
{
    struct zk_test z;
    struct seen seen = {0};
    CLEANUP(zk_batch_deinit) struct zk_batch b = {0};

    zk_test_init(&z);
    zk_store_watch_data(z.s, "/x", on_event, &seen);
    zk_store_exists(z.s, "/x", NULL);
    zk_batch_multi_begin(&b);
    zk_batch_create(&b, "/x", bytes(""), 0);
    zk_batch_delete(&b, "/absent", -1);
    zk_batch_multi_end(&b);
    zk_store_run(z.t, &b);
    ck_assert_int_eq(seen.count, 0);
    zk_test_deinit(&z);
}
END_TEST

START_TEST(events_can_be_held_back)
{
    struct zk_test z;
    struct seen seen = {0};

    zk_test_init(&z);
    zk_store_watch_data(z.s, "/x", on_event, &seen);
    zk_store_exists(z.s, "/x", NULL);
    fake_zk_hold_events(z.server, true);
    zk_store_create(z.t, "/x", bytes(""), 0);
    ck_assert_int_eq(seen.count, 0);
    ck_assert(fake_zk_deliver(z.server));
    ck_assert_int_eq(seen.count, 1);
    ck_assert(!fake_zk_deliver(z.server));
    zk_test_deinit(&z);
}
END_TEST

TEST_MAIN("zk/zk_watch", handler_alone_arms_nothing, exists_arms_on_an_absent_node_and_get_does_not,
          watch_fires_once_until_the_node_is_read_again, children_fire_only_the_child_handler,
          unregistered_handler_hears_nothing, new_session_has_no_watches,
          failed_multi_fires_nothing, events_can_be_held_back)
