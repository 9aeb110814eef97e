#include "tools/elect/elect.h"

#include "common/base/err.h"
#include "tests/support/test_main.h"

static struct elect_part v[] = {
    {{"t", 1}, 0, 0, {NULL, 0}},
    {{"t", 1}, 1, ELECTION_NOT_NEEDED, {NULL, 0}},
    {{"t", 1}, 2, 0, {NULL, 0}},
    {{"t", 1}, 3, PREFERRED_LEADER_NOT_AVAILABLE, {NULL, 0}},
    {{"u", 1}, 9, UNKNOWN_TOPIC_OR_PARTITION, {"The partition does not exist.", 29}},
};
static const struct elect_parts parts = {v, ARRAY_LEN(v)};
static char text[4096];
static FILE *file;

static void begin(void)
{
    file = fmemopen(text, sizeof text, "w");
}

static const char *printed(void)
{
    fclose(file);
    return text;
}

START_TEST(results_are_grouped_as_kafkas)
{
    begin();
    ck_assert_uint_eq(elect_print(&parts, ELECT_PREFERRED, file), 2);
    ck_assert_str_eq(
        printed(),
        "Successfully completed leader election (PREFERRED) for partitions t-2, t-0\n"
        "Valid replica already elected for partitions t-1\n"
        "Error completing leader election (PREFERRED) for partition: t-3: "
        "org.apache.kafka.common.errors.PreferredLeaderNotAvailableException: The preferred leader "
        "was not available.\n"
        "Error completing leader election (PREFERRED) for partition: u-9: "
        "org.apache.kafka.common.errors.UnknownTopicOrPartitionException: The partition does not "
        "exist.\n");
}
END_TEST

START_TEST(nothing_is_printed_of_nothing)
{
    const struct elect_parts none = {v, 0};

    begin();
    fputc(' ', file);
    ck_assert_uint_eq(elect_print(&none, ELECT_UNCLEAN, file), 0);
    ck_assert_str_eq(printed(), " ");
}
END_TEST

START_TEST(the_table_has_a_row_each)
{
    begin();
    ck_assert_uint_eq(elect_print_table(&parts, false, file), 2);
    ck_assert_str_eq(printed(), "TOPIC  PARTITION  RESULT\n"
                                "t              0  elected\n"
                                "t              1  not needed\n"
                                "t              2  elected\n"
                                "t              3  The preferred leader was not available.\n"
                                "u              9  The partition does not exist.\n");
}
END_TEST

TEST_MAIN("tools/elect/elect_print", results_are_grouped_as_kafkas, nothing_is_printed_of_nothing,
          the_table_has_a_row_each)
