#include "tools/topics/topics.h"

#include "tests/support/test_main.h"

#include <unistd.h>

/*
 * Topic a: partition 0 in order, 1 with a replica out of sync, 2 without a leader and moving.
 * Topic b: no partition is in trouble, no setting of its own.
 */
static int32_t ids[] = {1, 2, 3};
static struct metadata_response_partition parts[] = {
    {.partition_index = 0,
     .replica_nodes = ids,
     .replica_nodes_count = 2,
     .isr_nodes = ids,
     .isr_nodes_count = 2},
    {.partition_index = 1,
     .replica_nodes = ids,
     .replica_nodes_count = 2,
     .isr_nodes = ids,
     .isr_nodes_count = 1},
    {.partition_index = 2,
     .replica_nodes = ids,
     .replica_nodes_count = 3,
     .isr_nodes = ids,
     .isr_nodes_count = 0},
};
static struct list_partition_reassignments_response_partition move = {.partition_index = 2,
                                                                      .replicas = ids,
                                                                      .replicas_count = 3,
                                                                      .adding_replicas = ids + 2,
                                                                      .adding_replicas_count = 1};
static struct topics_partition a_parts[] = {
    {&parts[0], NULL, 1, 2}, {&parts[1], NULL, 1, 2}, {&parts[2], &move, -1, 2}};
static struct topics_partition b_parts[] = {{&parts[0], NULL, 2, 2}};
static struct topics_config configs[] = {{{"retention.ms", 12}, {"1000", 4}},
                                         {{"segment.ms", 10}, {NULL, 0}}};
static struct metadata_response_topic metas[] = {
    {.name = {"a", 1}, .topic_id = {{1}}, .partitions = parts, .partitions_count = 3},
    {.name = {"b", 1}, .partitions = parts, .partitions_count = 1}};
static const struct topics_topic topics[] = {{&metas[0], a_parts, 3, configs, 2, 2},
                                             {&metas[1], b_parts, 1, NULL, 0, 1}};

/* What is printed, on a stdout that is a file. */
static const char *printed(enum topics_output output, const struct topics_report *report)
{
    static char text[8192];
    const struct topics t = {.output = output};
    FILE *f = tmpfile();
    int old = dup(STDOUT_FILENO);

    fflush(stdout);
    dup2(fileno(f), STDOUT_FILENO);
    if (report)
        topics_print(&t, topics, 2, report);
    else
        topics_print_list(&t, (const struct metadata_response_topic *const[]){metas, metas + 1}, 2);
    fflush(stdout);
    dup2(old, STDOUT_FILENO);
    close(old);
    rewind(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    return text;
}

#define A_HEAD                                                                                     \
    "Topic: a\tTopicId: AQAAAAAAAAAAAAAAAAAAAA\tPartitionCount: 3\tReplicationFactor: 2\t"         \
    "Configs: retention.ms=1000,segment.ms=null\n"
#define A_0 "\tTopic: a\tPartition: 0\tLeader: 1\tReplicas: 1,2\tIsr: 1,2" ELR
#define A_1 "\tTopic: a\tPartition: 1\tLeader: 1\tReplicas: 1,2\tIsr: 1" ELR
#define A_2                                                                                        \
    "\tTopic: a\tPartition: 2\tLeader: none\tReplicas: 1,2,3\tIsr: \tAdding Replicas: 3\t"         \
    "Removing Replicas: " ELR
#define B_HEAD "Topic: b\tPartitionCount: 1\tReplicationFactor: 2\tConfigs: \n"
#define B_0    "\tTopic: b\tPartition: 0\tLeader: 2\tReplicas: 1,2\tIsr: 1,2" ELR
#define ELR    "\tElr: N/A\tLastKnownElr: N/A\n"

START_TEST(describe_prints_kafkas_lines)
{
    ck_assert_str_eq(printed(OUTPUT_KAFKA, &(struct topics_report){0}),
                     A_HEAD A_0 A_1 A_2 B_HEAD B_0);
}
END_TEST

START_TEST(reports_print_only_their_partitions)
{
    ck_assert_str_eq(printed(OUTPUT_KAFKA, &(struct topics_report){.under_replicated = true}),
                     A_1 A_2);
    ck_assert_str_eq(printed(OUTPUT_KAFKA, &(struct topics_report){.unavailable = true}), A_2);
    ck_assert_str_eq(printed(OUTPUT_KAFKA, &(struct topics_report){.under_min_isr = true}),
                     A_1 A_2);
    ck_assert_str_eq(printed(OUTPUT_KAFKA, &(struct topics_report){.at_min_isr = true}), A_0);
    ck_assert_str_eq(printed(OUTPUT_KAFKA, &(struct topics_report){.overrides = true}), A_HEAD);
}
END_TEST

START_TEST(list_prints_names)
{
    ck_assert_str_eq(printed(OUTPUT_KAFKA, NULL), "a\nb\n");
    ck_assert_str_eq(printed(OUTPUT_TABLE, NULL), "TOPIC  PARTITIONS  REPLICAS\n"
                                                  "a               3         2\n"
                                                  "b               1         2\n");
    ck_assert_str_eq(printed(OUTPUT_JSON, NULL), "[\n  \"a\",\n  \"b\"\n]\n");
}
END_TEST

START_TEST(table_names_the_trouble)
{
    ck_assert_str_eq(printed(OUTPUT_TABLE, &(struct topics_report){0}),
                     "TOPIC  PARTITION  LEADER  REPLICAS  IN-SYNC  TROUBLE\n"
                     "a              0       1  1,2       1,2\n"
                     "a              1       1  1,2       1        under-replicated\n"
                     "a              2       -  1,2,3     -        no leader\n"
                     "b              0       2  1,2       1,2\n");
}
END_TEST

START_TEST(json_leaves_out_topics_without_a_reported_partition)
{
    const char *out = printed(OUTPUT_JSON, &(struct topics_report){.unavailable = true});

    ck_assert_ptr_nonnull(strstr(out, "\"topic\": \"a\""));
    ck_assert_ptr_nonnull(strstr(out, "\"leader\": null"));
    ck_assert_ptr_nonnull(strstr(out, "\"adding\""));
    ck_assert_ptr_null(strstr(out, "\"topic\": \"b\""));
    ck_assert_ptr_null(strstr(out, "\"partition\": 0"));
}
END_TEST

TEST_MAIN("tools/topics/topics_print", describe_prints_kafkas_lines,
          reports_print_only_their_partitions, list_prints_names, table_names_the_trouble,
          json_leaves_out_topics_without_a_reported_partition)
