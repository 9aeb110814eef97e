#include "tests/support/test_main.h"
#include "tests/support/why_world.h"

static struct why_world w;

static void say(enum why_severity severity, const char *kind, int partition, const char *reason)
{
    const struct why_item item = {.name = arena_printf(&w.arena, "t-%d", partition),
                                  .detail = STR(""),
                                  .topic = STR("t"),
                                  .partition = partition,
                                  .replicas = STR("[1,2]")};
    struct why_finding f = why_begin(&w.arena, severity, kind, item);

    f.what = STR("broken");
    why_because(&w.arena, &f, str_of(reason), STR("source"));
    why_because(&w.arena, &f, str_of(reason), STR("another"));
    why_unblock(&w.arena, &f, STR("do {topic} {partition} {replicas} {other} {"));
    why_unblock(&w.arena, &f, STR("do {topic} {partition} {replicas} {other} {"));
    why_done(&w.all, &f);
}

START_TEST(what_says_the_same_is_one_finding)
{
    world_start(&w, 0);
    for (int i = 0; i < 20; i++)
        say(WHY_DOWN, "partition", i, i % 2 ? "odd" : "even");
    ck_assert_uint_eq(w.all.count, 2);
    ck_assert_uint_eq(w.all.v[0].items_count, 10);
    ck_assert_uint_eq(w.all.v[1].items_count, 10);
    ck_assert_uint_eq(w.all.v[0].reasons_count, 1);
    ck_assert_uint_eq(w.all.v[0].unblocks.count, 1);
    say(WHY_BLOCKED, "partition", 1, "odd");
    say(WHY_DOWN, "reassignment", 1, "odd");
    ck_assert_uint_eq(w.all.count, 4);
    world_end(&w);
}
END_TEST

START_TEST(placeholders_are_filled_in)
{
    world_start(&w, 0);
    say(WHY_DOWN, "partition", 4, "one");
    say(WHY_DOWN, "partition", 5, "two");
    say(WHY_DOWN, "partition", 6, "two");
    why_finish(&w.all);
    ck_assert(str_eqz(w.all.v[0].unblocks.v[0], "do TOPIC PARTITION [...] {other} {"));
    ck_assert(str_eqz(w.all.v[1].unblocks.v[0], "do t 4 [1,2] {other} {"));
    world_end(&w);
}
END_TEST

START_TEST(worst_comes_first_and_causes_in_front)
{
    world_start(&w, 0);
    say(WHY_NOTE, "partition", 0, "a");
    say(WHY_DEGRADED, "partition", 1, "b");
    say(WHY_DEGRADED, "partition", 2, "c");
    say(WHY_DEGRADED, "partition", 3, "c");
    say(WHY_DEGRADED, "broker", 4, "d");
    say(WHY_DEGRADED, "ZooKeeper", 5, "d");
    say(WHY_DOWN, "partition", 6, "e");
    why_finish(&w.all);
    static const int order[] = {6, 5, 4, 2, 1, 0};
    ck_assert_uint_eq(w.all.count, ARRAY_LEN(order));
    for (size_t i = 0; i < ARRAY_LEN(order); i++)
        ck_assert_int_eq(w.all.v[i].items[0].partition, order[i]);
    ck_assert(why_is_wrong(&w.all));
    world_end(&w);
}
END_TEST

START_TEST(notes_are_nothing_wrong)
{
    world_start(&w, 0);
    ck_assert(!why_is_wrong(&w.all));
    say(WHY_NOTE, "partition", 0, "a");
    ck_assert(!why_is_wrong(&w.all));
    say(WHY_DEGRADED, "partition", 0, "a");
    say(WHY_NOTE, "partition", 0, "b");
    ck_assert(why_is_wrong(&w.all));
    why_drop_notes(&w.all);
    ck_assert_uint_eq(w.all.count, 1);
    ck_assert_int_eq(w.all.v[0].severity, WHY_DEGRADED);
    world_end(&w);
}
END_TEST

START_TEST(times_are_for_people)
{
    world_start(&w, 0);
    ck_assert(str_eqz(why_time(&w.arena, 0), "1970-01-01 00:00:00Z"));
    ck_assert(str_eqz(why_time(&w.arena, INT64_C(1796033472999)), "2026-11-30 10:11:12Z"));
    ck_assert(str_eqz(why_duration(&w.arena, -5), "0 s"));
    ck_assert(str_eqz(why_duration(&w.arena, 59999), "59 s"));
    ck_assert(str_eqz(why_duration(&w.arena, 200000), "3 min 20 s"));
    ck_assert(str_eqz(why_duration(&w.arena, 3 * 3600000 + 120000), "3 h 2 min"));
    ck_assert(str_eqz(why_duration(&w.arena, INT64_C(86400000) * 9), "9 days"));
    world_end(&w);
}
END_TEST

TEST_MAIN("tools/why/why_finding", what_says_the_same_is_one_finding, placeholders_are_filled_in,
          worst_comes_first_and_causes_in_front, notes_are_nothing_wrong, times_are_for_people)
