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

/* What the Java client says of /config/topics/ and the name. */
START_TEST(a_name_that_is_no_node_is_refused_in_zookeepers_words)
{
    static const struct {
        struct str name;
        const char *why; /* NULL: it is one */
    } cases[] = {
        {STR("t"), NULL},
        {STR("a.b"), NULL},
        {STR("..a"), NULL},
        {STR("..."), NULL},
        {STR("a/b c"), NULL},
        {STR("\xc3\xa9"), NULL},
        {STR(""), "Path must not end with / character"},
        {STR("a/"), "Path must not end with / character"},
        {STR("."),
         "Invalid path string \"/config/topics/.\" caused by relative paths not allowed @15"},
        {STR(".."),
         "Invalid path string \"/config/topics/..\" caused by relative paths not allowed @16"},
        {STR("a/../b"),
         "Invalid path string \"/config/topics/a/../b\" caused by relative paths not allowed @18"},
        {STR("a//b"),
         "Invalid path string \"/config/topics/a//b\" caused by empty node name specified @17"},
        {STR("a\x1f"),
         "Invalid path string \"/config/topics/a\x1f\" caused by invalid character @16"},
        {STR("\xc3\xa9\x7f"),
         "Invalid path string \"/config/topics/\xc3\xa9\x7f\" caused by invalid character @16"},
        {STR("\xf0\x9f\x98\x80/.."),
         "Invalid path string \"/config/topics/\xf0\x9f\x98\x80/..\" caused by invalid character "
         "@15"},
    };
    struct arena a = {0};

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct str why = zk_path_fault(&a, "/config/topics/", cases[i].name);

        ck_assert_int_eq(str_is_null(why), !cases[i].why);
        if (cases[i].why)
            ck_assert_str_eq(why.p, cases[i].why);
    }
    struct str nul = zk_path_fault(&a, "/", (struct str){"a\0b", 3});
    ck_assert_str_eq(nul.p + nul.len - 26, "null character not allowed @2" + 3);
    arena_deinit(&a);
}
END_TEST

TEST_MAIN("zk/zk_paths", paths_are_kafkas, parent_and_name_take_a_path_apart,
          a_name_that_is_no_node_is_refused_in_zookeepers_words)
