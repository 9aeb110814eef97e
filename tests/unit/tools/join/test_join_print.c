#include "common/base/mem.h"
#include "tests/support/test_main.h"
#include "tools/join/join_finding.h"

#include <jansson.h>

static struct arena a;
static struct join_findings all;
static struct why_texts unasked;
static char *text;

static void print(bool json, bool lists_all)
{
    const struct join_print_opts o = {
        .json = json, .lists_all = lists_all, .broker = 2, .unasked = &unasked};
    size_t size;
    free(text);
    FILE *out = open_memstream(&text, &size);

    join_sort(&all);
    join_print(&all, &o, out);
    fclose(out);
}

static void start(void)
{
    all = (struct join_findings){.arena = &a};
    unasked = (struct why_texts){0};
}

static void end(void)
{
    arena_deinit(&a);
    free(TAKE(text));
}

static void some(void)
{
    join_found(&all, JOIN_NOTE, STR("/n"), STR("so it is"), STR(""));
    join_found(&all, JOIN_BLOCKS, STR("/migration"), STR("has begun"), STR("roll it back"));
    for (int i = 0; i < 5; i++)
        join_found(&all, JOIN_WARNING, arena_printf(&a, "t-%d", i), STR("pauses"), STR("wait"));
    why_texts_add(&a, &unasked, STR("bro\x1bkers"));
}

START_TEST(columns_are_aligned)
{
    start();
    some();
    print(false, false);
    ck_assert_str_eq(
        text, "broker 2 cannot be replaced yet: 1 finding(s) block, 1 warning(s), 1 note(s)\n"
              "\n"
              "SEVERITY  WHERE       WHAT, AND WHAT TO DO\n"
              "blocks    /migration  has begun\n"
              "                      -> roll it back\n"
              "warning   t-0 +4      pauses\n"
              "                         t-0\n"
              "                         t-1\n"
              "                         t-2\n"
              "                         and 2 more (--all)\n"
              "                      -> wait\n"
              "note      /n          so it is\n"
              "\n"
              "not asked  bro\\x1bkers\n");
    print(false, true);
    ck_assert_ptr_nonnull(strstr(text, "t-4\n"));
    ck_assert_ptr_null(strstr(text, "--all"));
    end();
}
END_TEST

START_TEST(nothing_in_the_way_is_said_in_a_line)
{
    start();
    print(false, false);
    ck_assert_str_eq(text,
                     "nothing is in the way of replacing broker 2: 0 warning(s), 0 note(s)\n");
    end();
}
END_TEST

START_TEST(a_wide_place_has_a_line_of_its_own)
{
    start();
    join_found(&all, JOIN_NOTE, STR("/a/very/long/path/of/a/log/dir/somewhere/on/a/disk"),
               STR("what"), STR(""));
    print(false, false);
    ck_assert_ptr_nonnull(strstr(text, "/a/disk\n"));
    ck_assert_ptr_nonnull(strstr(text, "  what\n"));
    end();
}
END_TEST

START_TEST(json_has_it_all)
{
    start();
    some();
    print(true, false);
    json_t *root = json_loads(text, 0, NULL), *first, *warning;
    ck_assert_ptr_nonnull(root);
    ck_assert(json_is_true(json_object_get(root, "in_the_way")));
    ck_assert_int_eq(json_integer_value(json_object_get(root, "broker")), 2);
    ck_assert_int_eq(json_integer_value(json_object_get(root, "warnings")), 1);
    first = json_array_get(json_object_get(root, "findings"), 0);
    ck_assert_str_eq(json_string_value(json_object_get(first, "severity")), "blocks");
    ck_assert_str_eq(json_string_value(json_object_get(first, "do")), "roll it back");
    warning = json_array_get(json_object_get(root, "findings"), 1);
    ck_assert_uint_eq(json_array_size(json_object_get(warning, "where")), 5);
    ck_assert_uint_eq(json_array_size(json_object_get(root, "not_asked")), 1);
    json_decref(root);
    end();
}
END_TEST

TEST_MAIN("tools/join/join_print", columns_are_aligned, nothing_in_the_way_is_said_in_a_line,
          a_wide_place_has_a_line_of_its_own, json_has_it_all)
