#include "common/base/err.h"
#include "tests/support/fake_groups.h"
#include "tests/support/test_main.h"

static struct fake_groups f;
static struct log_ask asks[FAKE_TOPIC_PARTITIONS];

static int ask(size_t count, int64_t time, bool is_lenient)
{
    return groups_log_offsets(&f.g, asks, count, time, is_lenient);
}

static void start(void)
{
    fake_groups_start(&f);
    for (int i = 0; i < FAKE_TOPIC_PARTITIONS; i++)
        asks[i] = (struct log_ask){.part = {STR("t"), i}};
}

START_TEST(each_leader_is_asked_once_for_all_of_its_partitions)
{
    start();
    ck_assert_int_eq(ask(FAKE_TOPIC_PARTITIONS, LOG_LATEST, false), 0);
    ck_assert_int_eq(f.metadatas, 1);
    ck_assert_int_eq(f.list_offsets, 3);
    for (int i = 0; i < FAKE_TOPIC_PARTITIONS; i++)
        ck_assert_int_eq(asks[i].offset, 1000 + i);
    ck_assert_int_eq(ask(10, LOG_EARLIEST, false), 0);
    for (int i = 0; i < 10; i++)
        ck_assert_int_eq(asks[i].offset, i);
    ck_assert_ptr_eq(log_ask_find(asks, 10, &asks[7].part), &asks[7]);
    ck_assert_ptr_null(log_ask_find(asks, 10, &(struct part){STR("t"), 10}));
    fake_groups_stop(&f);
}
END_TEST

START_TEST(nothing_is_asked_for_nothing)
{
    start();
    ck_assert_int_eq(ask(0, LOG_LATEST, false), 0);
    ck_assert_int_eq(f.metadatas, 0);
    fake_groups_stop(&f);
}
END_TEST

START_TEST(a_leader_that_has_changed_is_looked_up_again)
{
    start();
    f.stale_leaders = 1;
    ck_assert_int_eq(ask(9, LOG_LATEST, false), 0);
    ck_assert_int_eq(f.metadatas, 2);
    ck_assert_int_eq(f.list_offsets, 4); /* the two that answered are left alone */
    for (int i = 0; i < 9; i++)
        ck_assert_int_eq(asks[i].offset, 1000 + i);
    fake_groups_stop(&f);
}
END_TEST

START_TEST(unknown_topics_and_partitions_are_named_at_once)
{
    start();
    asks[0].part.partition = FAKE_TOPIC_PARTITIONS;
    ck_assert_int_eq(ask(1, LOG_LATEST, false), UNKNOWN_TOPIC_OR_PARTITION);
    ck_assert_str_eq(f.g.why.s, "partition t-12000: the topic has no such partition");
    ck_assert_int_eq(f.metadatas, 1);
    strbuf_reset(&f.g.why);
    asks[0].part = (struct part){STR("u"), 0};
    ck_assert_int_eq(ask(1, LOG_LATEST, false), UNKNOWN_TOPIC_OR_PARTITION);
    ck_assert_str_eq(f.g.why.s, "topic 'u' does not exist");
    fake_groups_stop(&f);
}
END_TEST

START_TEST(whoever_can_do_without_gets_the_others)
{
    start();
    f.no_leader = 1;
    asks[3].part = (struct part){STR("u"), 0};
    ck_assert_int_eq(ask(4, LOG_LATEST, true), 0);
    ck_assert_int_eq(asks[0].offset, 1000);
    ck_assert_int_eq(asks[0].error, 0);
    ck_assert_int_eq(asks[1].error, LEADER_NOT_AVAILABLE);
    ck_assert_int_eq(asks[2].offset, 1002);
    ck_assert_int_eq(asks[3].error, UNKNOWN_TOPIC_OR_PARTITION);
    fake_groups_stop(&f);
}
END_TEST

START_TEST(the_partitions_of_a_topic_are_found)
{
    struct str trouble = STR_NULL;
    struct parts parts = {0};

    start();
    ck_assert_int_eq(groups_topic_parts(&f.g, STR("t"), &parts, &trouble), 0);
    ck_assert_uint_eq(parts.count, FAKE_TOPIC_PARTITIONS);
    ck_assert_int_eq(groups_topic_parts(&f.g, STR("u"), &parts, &trouble),
                     UNKNOWN_TOPIC_OR_PARTITION);
    ck_assert(str_eqz(trouble, "topic 'u' does not exist"));
    ck_assert_int_eq(groups_topic_parts(&f.g, STR(""), &parts, &trouble), INVALID_TOPIC_EXCEPTION);
    fake_groups_stop(&f);
}
END_TEST

TEST_MAIN("tools/groups/groups_logs", each_leader_is_asked_once_for_all_of_its_partitions,
          nothing_is_asked_for_nothing, a_leader_that_has_changed_is_looked_up_again,
          unknown_topics_and_partitions_are_named_at_once, whoever_can_do_without_gets_the_others,
          the_partitions_of_a_topic_are_found)
