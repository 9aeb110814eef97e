#include "zk/node_topic.h"

#include "tests/unit/zk/node_test.h"

static struct arena a;
static struct node_why why;

#define V3                                                                                         \
    "{\"version\":3,\"partitions\":{\"0\":[1,2,3],\"1\":[2,3,1]},"                                 \
    "\"adding_replicas\":{\"0\":[4]},\"removing_replicas\":{\"0\":[1]},"                           \
    "\"topic_id\":\"Ljr1gq0gQ0qyP-2hBQX1sQ\"}"

START_TEST(version_3_reads_and_writes_the_same_text)
{
    struct node_topic t;

    ck_assert_int_eq(node_topic_decode(bytes(V3), &a, &why, &t), 0);
    ck_assert_int_eq(t.count, 2);
    ck_ids(node_topic_partition(&t, 0)->replicas, 1, 2, 3);
    ck_ids(node_topic_partition(&t, 0)->adding, 4);
    ck_ids(node_topic_partition(&t, 0)->removing, 1);
    ck_ids(node_topic_partition(&t, 1)->replicas, 2, 3, 1);
    ck_assert_ptr_null(node_topic_partition(&t, 2));
    ck_text(node_topic_encode(&a, &t), V3);
}
END_TEST

START_TEST(version_1_has_no_id_and_keeps_none)
{
    struct node_topic t;

    ck_assert_int_eq(
        node_topic_decode(bytes("{\"version\":1,\"partitions\":{\"0\":[1]}}"), &a, &why, &t), 0);
    ck_assert(uuid_is_zero(t.id));
    ck_text(node_topic_encode(&a, &t), "{\"version\":3,\"partitions\":{\"0\":[1]},"
                                       "\"adding_replicas\":{},\"removing_replicas\":{}}");
}
END_TEST

START_TEST(partitions_come_sorted_by_number)
{
    struct node_topic t;

    ck_assert_int_eq(
        node_topic_decode(bytes("{\"partitions\":{\"10\":[1],\"2\":[1],\"0\":[1]}}"), &a, &why, &t),
        0);
    ck_assert_int_eq(t.partitions[0].id, 0);
    ck_assert_int_eq(t.partitions[1].id, 2);
    ck_assert_int_eq(t.partitions[2].id, 10);
}
END_TEST

START_TEST(change_of_an_unknown_partition_is_passed_over)
{
    struct node_topic t;

    ck_assert_int_eq(node_topic_decode(bytes("{\"partitions\":{},\"adding_replicas\":{\"4\":[1]}}"),
                                       &a, &why, &t),
                     0);
    ck_assert_int_eq(t.count, 0);
}
END_TEST

static const char *const malformed[][2] = {
    {"{}", "partitions"},
    {"{\"partitions\":[]}", "partitions"},
    {"{\"partitions\":{\"x\":[1]}}", "no number"},
    {"{\"partitions\":{\"-1\":[1]}}", "no number"},
    {"{\"partitions\":{\"0\":1}}", "no array"},
    {"{\"partitions\":{\"0\":[1],\"00\":[1]}}", "twice"},
    {"{\"partitions\":{},\"removing_replicas\":[]}", "removing_replicas"},
    {"{\"partitions\":{\"0\":[]},\"adding_replicas\":{\"0\":[\"1\"]}}", "adding_replicas"},
    {"{\"partitions\":{},\"topic_id\":7}", "topic_id"},
    {"{\"partitions\":{},\"topic_id\":\"short\"}", "topic_id"},
};

START_TEST(malformed_assignment_is_refused_with_the_reason)
{
    struct node_topic t;

    for (size_t i = 0; i < ARRAY_LEN(malformed); i++) {
        ck_assert_int_eq(node_topic_decode(bytes(malformed[i][0]), &a, &why, &t), -EBADMSG);
        ck_assert_msg(strstr(why.text, malformed[i][1]), "%zu: %s", i, why.text);
    }
}
END_TEST

TEST_MAIN("zk/node_topic", version_3_reads_and_writes_the_same_text,
          version_1_has_no_id_and_keeps_none, partitions_come_sorted_by_number,
          change_of_an_unknown_partition_is_passed_over,
          malformed_assignment_is_refused_with_the_reason)
