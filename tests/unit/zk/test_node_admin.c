#include "zk/node_admin.h"

#include "tests/unit/zk/node_test.h"

static struct arena a;
static struct node_why why;

START_TEST(reassignment_reads_and_writes_the_same_text)
{
    const char *text = "{\"version\":1,\"partitions\":[{\"topic\":\"t\",\"partition\":0,"
                       "\"replicas\":[4,5,6]}]}";
    struct node_reassign r;

    ck_assert_int_eq(node_reassign_decode(bytes(text), &a, &why, &r), 0);
    ck_assert_int_eq(r.count, 1);
    ck_ids(r.list[0].replicas, 4, 5, 6);
    ck_text(node_reassign_encode(&a, &r), text);
}
END_TEST

START_TEST(reassignment_with_unknown_keys_is_refused)
{
    struct node_reassign r;

    ck_assert_int_eq(node_reassign_decode(
                         bytes("{\"version\":1,\"partitions\":[{\"topic\":\"t\",\"partition\":0,"
                               "\"replicas\":[4],\"log_dirs\":[\"any\"]}]}"),
                         &a, &why, &r),
                     -EBADMSG);
    ck_assert(strstr(why.text, "log_dirs"));
    ck_assert_int_eq(node_reassign_decode(bytes("{\"partitions\":[],\"more\":1}"), &a, &why, &r),
                     -EBADMSG);
    ck_assert_int_eq(node_reassign_decode(bytes("{\"partitions\":[7]}"), &a, &why, &r), -EBADMSG);
}
END_TEST

START_TEST(partition_names_read_and_write_the_same_text)
{
    const char *text = "{\"version\":1,\"partitions\":[{\"topic\":\"t\",\"partition\":0},"
                       "{\"topic\":\"u\",\"partition\":3}]}";
    struct node_partition_names n;

    ck_assert_int_eq(node_partition_names_decode(bytes(text), &a, &why, &n), 0);
    ck_assert_int_eq(n.count, 2);
    ck_assert_int_eq(n.list[1].partition, 3);
    ck_text(node_partition_names_encode(&a, &n), text);
    ck_assert_int_eq(
        node_partition_names_decode(bytes("{\"partitions\":[{\"topic\":1}]}"), &a, &why, &n),
        -EBADMSG);
}
END_TEST

START_TEST(log_dir_event_names_the_broker)
{
    int32_t broker;

    ck_text(node_log_dir_event_encode(&a, 3), "{\"version\":1,\"broker\":3,\"event\":1}");
    ck_assert_int_eq(node_log_dir_event_decode(bytes("{\"broker\":3}"), &why, &broker), 0);
    ck_assert_int_eq(broker, 3);
    ck_assert_int_eq(node_log_dir_event_decode(bytes("{\"broker\":\"3\"}"), &why, &broker),
                     -EBADMSG);
}
END_TEST

TEST_MAIN("zk/node_admin", reassignment_reads_and_writes_the_same_text,
          reassignment_with_unknown_keys_is_refused, partition_names_read_and_write_the_same_text,
          log_dir_event_names_the_broker)
