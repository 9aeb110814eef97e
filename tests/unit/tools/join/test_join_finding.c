#include "tools/join/join_finding.h"

#include "tests/support/test_main.h"

static struct arena a;
static struct join_findings all;

static void start(void)
{
    arena_deinit(&a);
    all = (struct join_findings){.arena = &a};
}

static void found(enum join_severity s, const char *where, const char *what)
{
    join_found(&all, s, str_of(where), str_of(what), STR("mend it"));
}

START_TEST(the_same_of_several_places_is_one)
{
    start();
    found(JOIN_NOTE, "a", "x");
    found(JOIN_BLOCKS, "b", "y");
    found(JOIN_NOTE, "c", "x");
    found(JOIN_WARNING, "c", "x");
    ck_assert_uint_eq(all.count, 3);
    ck_assert_uint_eq(all.counts[JOIN_NOTE], 1);
    join_sort(&all);
    ck_assert(str_eqz(all.v[0].what, "y"));
    ck_assert_int_eq(all.v[1].severity, JOIN_WARNING);
    ck_assert_uint_eq(all.v[2].places, 2);
    ck_assert(str_eqz(all.v[2].where.v[1], "c"));
    arena_deinit(&a);
}
END_TEST

START_TEST(nothing_grows_without_bounds)
{
    char text[16];

    start();
    for (int i = 0; i < JOIN_PLACES_MAX + 5; i++)
        found(JOIN_NOTE, "same", "x");
    ck_assert_uint_eq(all.v[0].where.count, JOIN_PLACES_MAX);
    ck_assert_uint_eq(all.v[0].places, JOIN_PLACES_MAX + 5);
    for (int i = 0; i < JOIN_FINDINGS_MAX + 5; i++) {
        snprintf(text, sizeof text, "w%d", i);
        found(JOIN_BLOCKS, "w", text);
    }
    ck_assert_uint_eq(all.count, JOIN_FINDINGS_MAX);
    ck_assert_uint_eq(all.left_out, 6);
    ck_assert_uint_eq(all.counts[JOIN_BLOCKS], JOIN_FINDINGS_MAX + 5);
    arena_deinit(&a);
}
END_TEST

START_TEST(what_a_terminal_would_obey_is_spelled_out)
{
    start();
    ck_assert(str_eqz(join_clean(&a, STR("gr\xc3\xbc\xc3\x9f")), "gr\xc3\xbc\xc3\x9f"));
    ck_assert(str_eqz(join_clean(&a, STR("a\x1b[2J\nb")), "a\\x1b[2J\\x0ab"));
    ck_assert(str_eqz(join_clean(&a, STR("\xff\xc2\x9b")), "\\xff\\xc2\\x9b"));
    char much[5000];
    memset(much, 'x', sizeof much);
    struct str shortened = join_clean(&a, (struct str){much, sizeof much});
    ck_assert_uint_eq(shortened.len, JOIN_TEXT_MAX + 3);
    arena_deinit(&a);
}
END_TEST

TEST_MAIN("tools/join/join_finding", the_same_of_several_places_is_one,
          nothing_grows_without_bounds, what_a_terminal_would_obey_is_spelled_out)
