#include "zk/zk_paths.h"

#include "tests/support/test_main.h"

START_TEST(paths_are_kafkas)
{
    struct arena a = {0};
    struct str t = STR("my.topic");

    ck_assert_str_eq(zk_path_broker(&a, 7), "/brokers/ids/7");
    ck_assert_str_eq(zk_path_topic(&a, t), "/brokers/topics/my.topic");
    ck_assert_str_eq(zk_path_partitions(&a, t), "/brokers/topics/my.topic/partitions");
    ck_assert_str_eq(zk_path_partition(&a, t, 3), "/brokers/topics/my.topic/partitions/3");
    ck_assert_str_eq(zk_path_state(&a, t, 3), "/brokers/topics/my.topic/partitions/3/state");
    ck_assert_str_eq(zk_path_delete_topic(&a, t), "/admin/delete_topics/my.topic");
    ck_assert_str_eq(zk_path_config(&a, "users", STR("u/clients/c")), "/config/users/u/clients/c");
    ck_assert_str_eq(zk_path_consumer_offsets(&a, STR("g"), t), "/consumers/g/offsets/my.topic");
    ck_assert_str_eq(zk_path_consumer_offset(&a, STR("g"), t, 3),
                     "/consumers/g/offsets/my.topic/3");
    arena_deinit(&a);
}
END_TEST

START_TEST(parent_and_name_take_a_path_apart)
{
    struct arena a = {0};

    ck_assert_str_eq(zk_path_parent(&a, "/a/b/c"), "/a/b");
    ck_assert_ptr_null(zk_path_parent(&a, "/a"));
    ck_assert_str_eq(zk_path_name("/a/b/c"), "c");
    arena_deinit(&a);
}
END_TEST

TEST_MAIN("zk/zk_paths", paths_are_kafkas, parent_and_name_take_a_path_apart)
