#include "tests/support/test_main.h"
#include "tests/support/why_world.h"

#include <jansson.h>

static struct why_world w;

static void say(int partition, const char *detail)
{
    const struct why_item item = {.name = arena_printf(&w.arena, "t-%d", partition),
                                  .detail = str_of(detail)};
    struct why_finding f = why_begin(&w.arena, WHY_BLOCKED, "partition", item);

    f.what = STR("is stuck");
    why_because(&w.arena, &f, STR("it is \"so\""), STR("Metadata"));
    why_unblock(&w.arena, &f, STR("do this"));
    why_unblock(&w.arena, &f, STR("or that"));
    why_done(&w.all, &f);
}

static char *printed(const struct why_print_opts *o)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    why_print(&w.f, &w.all, o, out);
    fclose(out);
    return text;
}

static void expect(const struct why_print_opts *o, const char *text)
{
    char *got = printed(o);

    ck_assert_str_eq(got, text);
    free(got);
}

START_TEST(nothing_is_said_in_one_line)
{
    world_start(&w, 1);
    expect(&(struct why_print_opts){.well = "all is well"}, "all is well\n");
    why_unasked(&w.f, "%s: %d", "something", 1);
    why_unasked(&w.f, "something: 1");
    expect(&(struct why_print_opts){.well = "all is well"},
           "all is well\nnot asked   something: 1\n");
    world_end(&w);
}
END_TEST

START_TEST(one_thing_is_named_in_the_headline)
{
    world_start(&w, 1);
    say(3, "since noon");
    expect(&(struct why_print_opts){.well = "all is well"},
           "BLOCKED   partition t-3: is stuck (since noon)\n"
           "  because   it is \"so\"  [Metadata]\n"
           "  unblock   do this\n"
           "  unblock   or that\n");
    world_end(&w);
}
END_TEST

START_TEST(many_things_are_listed_as_far_as_is_wanted)
{
    world_start(&w, 1);
    for (int i = 0; i < 7; i++)
        say(i, i == 1 ? "since noon" : "");
    expect(&(struct why_print_opts){.well = "all is well"}, "BLOCKED   7 partitions: is stuck\n"
                                                            "            t-0\n"
                                                            "            t-1  since noon\n"
                                                            "            t-2\n"
                                                            "            t-3\n"
                                                            "            t-4\n"
                                                            "            and 2 more (--all)\n"
                                                            "  because   it is \"so\"  [Metadata]\n"
                                                            "  unblock   do this\n"
                                                            "  unblock   or that\n");
    char *all = printed(&(struct why_print_opts){.well = "", .lists_all = true});
    ck_assert_ptr_nonnull(strstr(all, "            t-6\n  because"));
    free(all);
    world_end(&w);
}
END_TEST

START_TEST(a_verdict_stands_on_top)
{
    world_start(&w, 1);
    expect(&(struct why_print_opts){.verdict = "yes"}, "yes\n");
    say(3, "");
    char *text = printed(&(struct why_print_opts){.verdict = "no"});
    ck_assert_ptr_nonnull(strstr(text, "no\n\nBLOCKED   partition t-3: is stuck\n"));
    free(text);
    world_end(&w);
}
END_TEST

START_TEST(json_says_the_same)
{
    world_start(&w, 1);
    say(3, "since noon");
    why_unasked(&w.f, "something");
    char *text = printed(&(struct why_print_opts){.json = true, .verdict = "no"});
    json_t *root = json_loads(text, 0, NULL);
    const char *verdict, *severity, *kind, *what, *name, *detail, *reason, *source, *first,
        *missing;
    int is_well;
    ck_assert_int_eq(
        json_unpack(
            root, "{s:s, s:b, s:[s], s:[{s:s, s:s, s:s, s:[{s:s, s:s}], s:[{s:s, s:s}], s:[s]}]}",
            "verdict", &verdict, "well", &is_well, "not_asked", &missing, "findings", "severity",
            &severity, "kind", &kind, "what", &what, "items", "name", &name, "detail", &detail,
            "because", "text", &reason, "source", &source, "unblock", &first),
        0);
    ck_assert(!is_well);
    ck_assert_str_eq(verdict, "no");
    ck_assert_str_eq(missing, "something");
    ck_assert_str_eq(severity, "blocked");
    ck_assert_str_eq(kind, "partition");
    ck_assert_str_eq(what, "is stuck");
    ck_assert_str_eq(name, "t-3");
    ck_assert_str_eq(detail, "since noon");
    ck_assert_str_eq(reason, "it is \"so\"");
    ck_assert_str_eq(source, "Metadata");
    ck_assert_str_eq(first, "do this");
    json_decref(root);
    free(text);
    world_end(&w);
}
END_TEST

TEST_MAIN("tools/why/why_print", nothing_is_said_in_one_line, one_thing_is_named_in_the_headline,
          many_things_are_listed_as_far_as_is_wanted, a_verdict_stands_on_top, json_says_the_same)
