#include "tools/groups/groups_plan.h"

#include "common/base/err.h"
#include "tests/support/test_main.h"

static struct arena arena;
static struct strbuf why;

static void end(void)
{
    arena_deinit(&arena);
    strbuf_deinit(&why);
}

/* ---- topics ---- */

static void expect_topic(const char *text, const char *partitions)
{
    CLEANUP(strbuf_deinit) struct strbuf sb = {0};
    struct parts parts = {0};

    ck_assert_int_eq(topic_arg_parse(text, &arena, &parts, &why), 0);
    strbuf_addz(&sb, "");
    for (size_t i = 0; i < parts.count; i++)
        strbuf_addf(&sb, "%.*s-%d ", STR_ARG(parts.v[i].topic), parts.v[i].partition);
    ck_assert_str_eq(sb.s, partitions);
}

static void expect_no_topic(const char *text, const char *reason)
{
    struct parts parts = {0};

    strbuf_reset(&why);
    ck_assert_int_eq(topic_arg_parse(text, &arena, &parts, &why), -EINVAL);
    ck_assert_str_eq(why.s, reason);
}

START_TEST(partitions_of_a_topic_are_named)
{
    ck_assert(topic_arg_has_parts("t:0"));
    ck_assert(!topic_arg_has_parts("t"));
    expect_topic("t:0", "t-0 ");
    expect_topic("t:2,0,+1,", "t-2 t-0 t-1 ");
    expect_topic("t:1:", "t-1 ");
    expect_topic("t:,", "");
    expect_no_topic("t:", "Invalid topic arg 't:', expected topic name and partitions");
    expect_no_topic("t:1:2", "Invalid topic arg 't:1:2', expected topic name and partitions");
    expect_no_topic("t:x", "Invalid partition 'x' specified in topic arg 't:x''");
    expect_no_topic("t:1,,2", "Invalid partition '' specified in topic arg 't:1,,2''");
    expect_no_topic("t:2147483648", "Invalid partition '2147483648' specified in topic arg "
                                    "'t:2147483648''");
    end();
}
END_TEST

START_TEST(partitions_are_sorted_and_doubles_found)
{
    struct parts parts = {0};

    for (int i = 100; i-- > 0;)
        parts_add(&parts, &arena, (struct part){i % 2 ? STR("b") : STR("a"), i / 2});
    ck_assert_ptr_null(parts_sort(&parts));
    ck_assert_uint_eq(parts.count, 100);
    for (size_t i = 1; i < parts.count; i++)
        ck_assert_int_lt(part_order(&parts.v[i - 1], &parts.v[i]), 0);
    parts_add(&parts, &arena, (struct part){STR("b"), 7});
    const struct part *twice = parts_sort(&parts);
    ck_assert_int_eq(twice->partition, 7);
    ck_assert_uint_eq(parts.count, 100);
    end();
}
END_TEST

/* ---- plans ---- */

enum { OURS, KAFKAS, KAFKAS_MANY };

static int parse(int tool, const char *text, struct reset_plan *ret)
{
    const struct reset_plan_opts opts = {.as_kafka = tool != OURS,
                                         .is_single = tool != KAFKAS_MANY};

    strbuf_reset(&why);
    return reset_plan_parse(str_of(text), &opts, &arena, ret, &why);
}

static void expect_plan(int tool, const char *text, const char *lines)
{
    CLEANUP(strbuf_deinit) struct strbuf sb = {0};
    struct reset_plan p;

    ck_assert_int_eq(parse(tool, text, &p), 0);
    strbuf_addz(&sb, "");
    for (size_t i = 0; i < p.count; i++)
        strbuf_addf(&sb, "%.*s/%.*s-%d=%lld ", STR_ARG(p.v[i].group), STR_ARG(p.v[i].part.topic),
                    p.v[i].part.partition, (long long)p.v[i].offset);
    ck_assert_str_eq(sb.s, lines);
}

static void expect_no_plan(int tool, const char *text, const char *reason)
{
    struct reset_plan p;

    ck_assert_int_eq(parse(tool, text, &p), -EINVAL);
    ck_assert_str_eq(why.s, reason);
}

START_TEST(plans_of_both_forms_are_read)
{
    for (int tool = OURS; tool <= KAFKAS; tool++) {
        expect_plan(tool, "t,1,7\nt,0,5\n", "/t-0=5 /t-1=7 ");
        expect_plan(tool, "g,t,1,7\nf,t,0,5", "f/t-0=5 g/t-1=7 ");
        expect_plan(tool, "\"g\",\"t\",\"1\",\"7\"\r\n", "g/t-1=7 ");
        expect_plan(tool, "t, 0 , 5 ", "/t-0=5 ");
        expect_plan(tool, "\"a, \"\"b\"\"\",t,0,5", "a, \"b\"/t-0=5 ");
        expect_plan(tool, "t,0,5\nt,0,6", "/t-0=6 ");
    }
    expect_plan(KAFKAS_MANY, "g,t,0,5", "g/t-0=5 ");
    expect_plan(OURS, "\n t,0,5 \n\n", "/t-0=5 ");
    end();
}
END_TEST

START_TEST(kafkas_tool_takes_what_is_missing_for_zero)
{
    expect_plan(KAFKAS, "t", "/t-0=0 ");
    expect_plan(KAFKAS, "t,1", "/t-1=0 ");
    expect_plan(KAFKAS, "t,,5", "/t-0=5 ");
    expect_plan(KAFKAS, "t,0,", "/t-0=0 ");
    expect_plan(KAFKAS, "t,0,5,", "/t-0=5 ");
    expect_plan(KAFKAS, "t,x,5", "t/x-5=0 "); /* no number of a partition: it must be a group */
    expect_plan(KAFKAS, "\n\n", "");
    expect_no_plan(OURS, "t,1",
                   "line 1: 2 values, \"topic,partition,offset\" or "
                   "\"group,topic,partition,offset\" is wanted");
    expect_no_plan(OURS, "t,0,", "line 1: '' is no offset");
    expect_no_plan(OURS, ",0,5", "line 1: it names no topic");
    end();
}
END_TEST

START_TEST(our_tool_names_the_line)
{
    expect_no_plan(OURS, "t,0,5\nt,q,5", "line 2: 'q' is no partition");
    expect_no_plan(OURS, "t,0,5\n\nt,1,-5", "line 3: '-5' is no offset");
    expect_no_plan(OURS, "t,2147483648,5", "line 1: '2147483648' is no partition");
    expect_no_plan(OURS, "t,0,99999999999999999999", "line 1: '99999999999999999999' is no offset");
    expect_no_plan(OURS, "g,t,0,5,6",
                   "line 1: too many values, \"topic,partition,offset\" or "
                   "\"group,topic,partition,offset\" is wanted");
    expect_no_plan(OURS, "t,0,5\n\"t,0,5", "line 2: a quote is not closed");
    const struct reset_plan_opts many = {0};
    struct reset_plan p;
    strbuf_reset(&why);
    ck_assert_int_eq(reset_plan_parse(STR("t,0,5"), &many, &arena, &p, &why), -EINVAL);
    ck_assert_str_eq(why.s, "line 1: it names no group, and the command line not just one");
    end();
}
END_TEST

#define NO_INT                                                                                     \
    "com.fasterxml.jackson.databind.exc.InvalidFormatException: Cannot deserialize value "

START_TEST(kafkas_tool_uses_kafkas_words)
{
    expect_no_plan(
        KAFKAS, "t1,0,5\nt1,q,5\n",
        NO_INT "of type `int` from String \"q\": not a valid `int` value\n at [Source: "
               "(StringReader); line: 1, column: 4] (through reference chain: "
               "org.apache.kafka.tools.consumer.group.CsvUtils$CsvRecordNoGroup[\"partition\"])");
    expect_no_plan(KAFKAS, "simple,t1,x,0\n",
                   NO_INT "of type `int` from String \"x\": not a valid `int` value\n at [Source: "
                          "(StringReader); line: 1, column: 11] (through reference chain: "
                          "org.apache.kafka.tools.consumer.group.CsvUtils$CsvRecordWithGroup"
                          "[\"partition\"])");
    expect_no_plan(KAFKAS, "t1,0,5,6,7\n",
                   "com.fasterxml.jackson.dataformat.csv.CsvReadException: Too many entries: "
                   "expected at most 4 (value #4 (1 chars) \"7\")\n at [Source: (StringReader); "
                   "line: 1, column: 10]");
    expect_no_plan(KAFKAS, "\"t1,0,5\n",
                   "com.fasterxml.jackson.core.JsonParseException: Missing closing quote for "
                   "value\n at [Source: (StringReader); line: 1, column: 15]");
    for (const char *const *text = (const char *const[]){"", "t1,0,5\n\nt1,1,6\n", NULL}; *text;
         text++)
        expect_no_plan(KAFKAS, *text,
                       "com.fasterxml.jackson.databind.exc.MismatchedInputException: No content to "
                       "map due to end-of-input\n at [Source: (StringReader); line: UNKNOWN, "
                       "column: UNKNOWN]");
    end();
}
END_TEST

START_TEST(the_lines_of_a_group_are_found)
{
    struct reset_plan p;
    size_t n;

    ck_assert_int_eq(parse(OURS, "c,t,0,1\na,t,2,1\na,t,1,1\nb,t,0,9", &p), 0);
    const struct plan_line *lines = reset_plan_of(&p, STR("a"), &n);
    ck_assert_uint_eq(n, 2);
    ck_assert_int_eq(lines[0].part.partition, 1);
    ck_assert_int_eq(lines[1].part.partition, 2);
    ck_assert_int_eq(reset_plan_of(&p, STR("b"), &n)->offset, 9);
    ck_assert_uint_eq(n, 1);
    (void)reset_plan_of(&p, STR("bb"), &n);
    ck_assert_uint_eq(n, 0);
    (void)reset_plan_of(&p, STR("d"), &n);
    ck_assert_uint_eq(n, 0);
    end();
}
END_TEST

START_TEST(values_are_quoted_as_kafka_quotes_them)
{
    CLEANUP(strbuf_deinit) struct strbuf sb = {0};

    csv_add(&sb, STR("t.1-x_Y"));
    strbuf_add_char(&sb, ',');
    csv_add(&sb, STR("a \"b\","));
    strbuf_add_char(&sb, ',');
    csv_add(&sb, STR("123456789-123456789-1234"));
    strbuf_add_char(&sb, ',');
    csv_add(&sb, STR("123456789-123456789-12345"));
    ck_assert_str_eq(sb.s, "t.1-x_Y,\"a \"\"b\"\",\",123456789-123456789-1234,"
                           "\"123456789-123456789-12345\"");
}
END_TEST

TEST_MAIN("tools/groups/groups_plan", partitions_of_a_topic_are_named,
          partitions_are_sorted_and_doubles_found, plans_of_both_forms_are_read,
          kafkas_tool_takes_what_is_missing_for_zero, our_tool_names_the_line,
          kafkas_tool_uses_kafkas_words, the_lines_of_a_group_are_found,
          values_are_quoted_as_kafka_quotes_them)
