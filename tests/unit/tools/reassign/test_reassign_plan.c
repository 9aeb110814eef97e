#include "tools/reassign/reassign.h"

#include "common/base/err.h"
#include "tests/support/test_main.h"

static struct arena arena;
static struct strbuf why;

static void end(void)
{
    arena_deinit(&arena);
    strbuf_deinit(&why);
}

static struct plan parsed(const char *json)
{
    struct plan p;

    ck_assert_int_eq(plan_parse(str_of(json), &arena, &p, &why), 0);
    return p;
}

static void expect_printed(const struct plan *p, const char *json)
{
    CLEANUP(strbuf_deinit) struct strbuf sb = {0};

    plan_print(p, &sb);
    ck_assert_str_eq(sb.s, json);
}

START_TEST(plan_is_sorted_and_printed)
{
    struct plan p = parsed("{\"partitions\":[{\"topic\":\"tt\",\"partition\":0,\"replicas\":[1]},"
                           "{\"topic\":\"t\",\"partition\":10,\"replicas\":[3]},"
                           "{\"topic\":\"u\",\"partition\":2,\"replicas\":[9]},"
                           "{\"topic\":\"t\",\"partition\":2,\"replicas\":[2,1]},"
                           "{\"topic\":\"u\",\"partition\":2,\"replicas\":[5,6]}]}");

    plan_sort(&p);
    expect_printed(
        &p,
        "{\"version\":1,\"partitions\":["
        "{\"topic\":\"t\",\"partition\":2,\"replicas\":[2,1],\"log_dirs\":[\"any\",\"any\"]},"
        "{\"topic\":\"t\",\"partition\":10,\"replicas\":[3],\"log_dirs\":[\"any\"]},"
        "{\"topic\":\"tt\",\"partition\":0,\"replicas\":[1],\"log_dirs\":[\"any\"]},"
        "{\"topic\":\"u\",\"partition\":2,\"replicas\":[5,6],\"log_dirs\":[\"any\",\"any\"]}]}");
    ck_assert_int_eq(plan_find(&p, STR("t"), 10)->replicas.v[0], 3);
    ck_assert_ptr_null(plan_find(&p, STR("t"), 3));
    end();
}
END_TEST

START_TEST(empty_plan_is_printed)
{
    struct plan p = parsed("{\"version\":1}");

    plan_sort(&p);
    expect_printed(&p, "{\"version\":1,\"partitions\":[]}");
    ck_assert_ptr_null(plan_find(&p, STR("t"), 0));
    end();
}
END_TEST

START_TEST(directories_are_moves_where_they_are_not_any)
{
    struct plan p =
        parsed("{\"partitions\":[{\"topic\":\"t\",\"partition\":0,\"replicas\":[1,2],"
               "\"log_dirs\":[\"any\",\"/a\"]},{\"topic\":\"t\",\"partition\":1,\"replicas\":[1],"
               "\"log_dirs\":[\"any\"]}]}");
    struct dir_moves moves;

    plan_moves(&p, &arena, &moves);
    ck_assert_int_eq((int)moves.count, 1);
    ck_assert_int_eq(moves.v[0].broker, 2);
    ck_assert(str_eqz(moves.v[0].dir, "/a"));
    end();
}
END_TEST

START_TEST(what_cannot_be_read_is_refused)
{
    static const char *const cases[][2] = {
        {"", "The input string is not a valid JSON"},
        {"[]", "The input string is not a valid JSON"},
        {"{\"version\":2}", "Not supported version field value 2"},
        {"{\"partitions\":[{\"partition\":0,\"replicas\":[1]}]}", NULL},
        {"{\"partitions\":[{\"topic\":\"t\",\"partition\":\"0\",\"replicas\":[1]}]}", NULL},
        {"{\"partitions\":[{\"topic\":\"t\",\"partition\":4294967296,\"replicas\":[1]}]}", NULL},
        {"{\"partitions\":[{\"topic\":\"t\",\"partition\":0,\"replicas\":1}]}", NULL},
        {"{\"partitions\":[{\"topic\":\"t\",\"partition\":0,\"replicas\":[1.5]}]}", NULL},
        {"{\"partitions\":[{\"topic\":\"t\",\"partition\":0,\"replicas\":[1,2],\"log_dirs\":["
         "\"any\"]}]}",
         "Size of replicas list [1, 2] is different from size of log dirs list [any] for partition "
         "t-0"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct plan p;
        strbuf_reset(&why);
        ck_assert_int_eq(plan_parse(str_of(cases[i][0]), &arena, &p, &why), -EINVAL);
        if (cases[i][1])
            ck_assert_str_eq(why.s, cases[i][1]);
    }
    end();
}
END_TEST

START_TEST(plans_are_checked_in_kafkas_words)
{
    static const char *const cases[][2] = {
        {"{}", "Partition reassignment list cannot be empty"},
        {"{\"partitions\":[{\"topic\":\"t\",\"partition\":0,\"replicas\":[]}]}",
         "Partition replica list cannot be empty"},
        {"{\"partitions\":[{\"topic\":\"t\",\"partition\":0,\"replicas\":[1]},"
         "{\"topic\":\"t\",\"partition\":0,\"replicas\":[1]},"
         "{\"topic\":\"t\",\"partition\":0,\"replicas\":[1]}]}",
         "Partition reassignment contains duplicate topic partitions: t-0"},
        {"{\"partitions\":[{\"topic\":\"t\",\"partition\":0,\"replicas\":[1,1,2,1,2]},"
         "{\"topic\":\"t\",\"partition\":1,\"replicas\":[3,3]}]}",
         "Partition replica lists may not contain duplicate entries: t-0 contains multiple entries "
         "for 1,2. t-1 contains multiple entries for 3"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct plan p = parsed(cases[i][0]);
        strbuf_reset(&why);
        ck_assert_int_eq(plan_check(&p, &why), -EINVAL);
        ck_assert_str_eq(why.s, cases[i][1]);
    }
    end();
}
END_TEST

START_TEST(topics_are_read)
{
    struct str *topics;
    size_t count;

    ck_assert_int_eq(plan_parse_topics(STR("{\"version\":1,\"topics\":[{\"topic\":\"a\"},"
                                           "{\"topic\":\"b\"}]}"),
                                       &arena, &topics, &count, &why),
                     0);
    ck_assert_int_eq((int)count, 2);
    ck_assert(str_eqz(topics[1], "b"));
    ck_assert_int_eq(plan_parse_topics(STR("{\"topics\":[{}]}"), &arena, &topics, &count, &why),
                     -EINVAL);
    end();
}
END_TEST

TEST_MAIN("tools/reassign/reassign_plan", plan_is_sorted_and_printed, empty_plan_is_printed,
          directories_are_moves_where_they_are_not_any, what_cannot_be_read_is_refused,
          plans_are_checked_in_kafkas_words, topics_are_read)
