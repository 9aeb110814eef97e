#include "tools/groups/groups_print.h"

#include "tests/support/test_main.h"

static struct part one_parts[] = {{{"t1", 2}, 0}, {{"t1", 2}, 1}, {{"t1", 2}, 10}, {{"u", 1}, 0}};
static struct group_member members[] = {
    {.id = {"one-1", 5},
     .client = {"one", 3},
     .host = {"/127.0.0.1", 10},
     .parts = one_parts,
     .count = 4},
    {.id = {"two-2", 5},
     .instance = {"instance-two", 12},
     .client = {"two", 3},
     .host = {"/127.0.0.1", 10}},
};
static struct group groups[] = {
    {.id = {"active", 6},
     .state = {"Stable", 6},
     .type = {"classic", 7},
     .strategy = {"range", 5},
     .members = members,
     .member_count = 2,
     .coordinator = 2,
     .host = {"localhost", 9},
     .port = 9093},
    {.id = {"dead", 4}, .state = {"Dead", 4}},
    {.id = {"empty", 5}, .state = {"Empty", 5}, .coordinator = 1, .host = {"h", 1}, .port = 1},
    {.id = {"moving", 6}, .state = {"PreparingRebalance", 18}, .type = {"classic", 7}},
};
static struct offset_row active_rows[] = {{{{"t1", 2}, 0}, 3, 10, members},
                                          {{{"t1", 2}, 1}, -1, 20, members}};
static struct offset_row empty_rows[] = {{{{"t1", 2}, 0}, 12, 10, NULL},
                                         {{{"a-topic-of-16-ch", 16}, 1}, 5, -1, NULL}};
static const struct group_rows rows[] = {{&groups[0], active_rows, 2},
                                         {&groups[1], NULL, 0},
                                         {&groups[2], empty_rows, 2},
                                         {&groups[3], NULL, 0}};
static struct new_offset new_offsets[] = {{{{"t1", 2}, 0}, 3, 10, false},
                                          {{{"t,2", 3}, 1}, -1, 0, false}};
static const struct group_reset resets[] = {{&groups[2], new_offsets, 2, 2},
                                            {&groups[1], NULL, 0, 0}};

enum what { LIST, OFFSETS, MEMBERS, STATES, RESETS, PLAN, PLAN_SINGLE };

/* What is printed, notices behind a '|'. */
static const char *printed(enum what what, const struct printing *how)
{
    static char text[8192];
    FILE *out = tmpfile(), *err = tmpfile();
    struct printing p = *how;
    size_t n;

    p.out = out;
    p.err = err;
    if (what == LIST)
        groups_print_list(&p, groups, 4);
    else if (what == OFFSETS)
        groups_print_offsets(&p, rows, 4);
    else if (what == MEMBERS)
        groups_print_members(&p, groups, 3);
    else if (what == STATES)
        groups_print_states(&p, groups, 3);
    else if (what == RESETS)
        groups_print_resets(&p, resets, 2);
    else
        groups_print_plan(&p, resets, 2, what == PLAN_SINGLE);
    rewind(out);
    rewind(err);
    n = fread(text, 1, sizeof text - 1, out);
    text[n++] = '|';
    n += fread(text + n, 1, sizeof text - 1 - n, err);
    text[n] = '\0';
    fclose(out);
    fclose(err);
    return text;
}

START_TEST(the_list_is_kafkas)
{
    ck_assert_str_eq(printed(LIST, &(struct printing){.output = GROUPS_KAFKA}),
                     "active\ndead\nempty\nmoving\n|");
    ck_assert_str_eq(
        printed(LIST,
                &(struct printing){.output = GROUPS_KAFKA, .with_type = true, .with_state = true}),
        "GROUP                     TYPE                 STATE               \n"
        "active                    Classic              Stable              \n"
        "dead                      Unknown              Dead                \n"
        "empty                     Unknown              Empty               \n"
        "moving                    Classic              PreparingRebalance  \n|");
}
END_TEST

START_TEST(offsets_are_kafkas)
{
    ck_assert_str_eq(printed(OFFSETS, &(struct printing){.output = GROUPS_KAFKA}),
                     "\nGROUP           TOPIC           PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  "
                     "LAG             "
                     "CONSUMER-ID     HOST            CLIENT-ID"
                     "\nactive          t1              0          3               10              "
                     "7               "
                     "one-1           /127.0.0.1      one"
                     "\nactive          t1              1          -               20              "
                     "-               "
                     "one-1           /127.0.0.1      one"
                     "\nError: Consumer group 'dead' does not exist.\n"
                     "\nGROUP           TOPIC            PARTITION  CURRENT-OFFSET  LOG-END-OFFSET "
                     " LAG             "
                     "CONSUMER-ID     HOST            CLIENT-ID"
                     "\nempty           t1               0          12              10             "
                     " -2              "
                     "-               -               -"
                     "\nempty           a-topic-of-16-ch 1          5               -              "
                     " -               "
                     "-               -               -|"
                     "\nConsumer group 'empty' has no active members.\n"
                     "\nWarning: Consumer group 'moving' is rebalancing.\n");
}
END_TEST

START_TEST(members_are_kafkas)
{
    ck_assert_str_eq(
        printed(MEMBERS, &(struct printing){.output = GROUPS_KAFKA, .is_verbose = true}),
        "\nGROUP           CONSUMER-ID     GROUP-INSTANCE-ID HOST            CLIENT-ID       "
        "#PARTITIONS     ASSIGNMENT\n"
        "active          one-1                             /127.0.0.1      one             "
        "4               (0), (0,1,10)\n"
        "active          two-2           instance-two      /127.0.0.1      two             "
        "0               -\n"
        "\nError: Consumer group 'dead' does not exist.\n"
        "\nGROUP           CONSUMER-ID     HOST            CLIENT-ID       #PARTITIONS     "
        "ASSIGNMENT\n"
        "\nGROUP           CONSUMER-ID     HOST            CLIENT-ID       #PARTITIONS     "
        "ASSIGNMENT\n|"
        "\nConsumer group 'empty' has no active members.\n");
}
END_TEST

START_TEST(states_are_kafkas)
{
    ck_assert_str_eq(printed(STATES, &(struct printing){.output = GROUPS_KAFKA}),
                     "\nGROUP                     COORDINATOR (ID)          ASSIGNMENT-STRATEGY  "
                     "STATE           "
                     "#MEMBERS\n"
                     "active                    localhost:9093  (2)       range                "
                     "Stable          2\n"
                     "\nError: Consumer group 'dead' does not exist.\n"
                     "\nGROUP                     COORDINATOR (ID)          ASSIGNMENT-STRATEGY  "
                     "STATE           "
                     "#MEMBERS\n"
                     "empty                     h:1  (1)                                       "
                     "Empty           0\n|"
                     "\nConsumer group 'empty' has no active members.\n");
}
END_TEST

START_TEST(resets_have_a_line_for_each_row)
{
    ck_assert_str_eq(
        printed(RESETS, &(struct printing){.output = GROUPS_KAFKA}),
        "\nGROUP                          TOPIC                          PARTITION  NEW-OFFSET     "
        "\nempty                          t1                             0          10             "
        "\nempty                          t,2                            1          0              "
        "\n|");
    ck_assert_str_eq(printed(PLAN, &(struct printing){.output = GROUPS_KAFKA}),
                     "empty,t1,0,10\nempty,\"t,2\",1,0\n\n|");
    ck_assert_str_eq(printed(PLAN_SINGLE, &(struct printing){.output = GROUPS_TABLE}),
                     "t1,0,10\n\"t,2\",1,0\n|");
}
END_TEST

START_TEST(our_tables_are_one_table)
{
    ck_assert_str_eq(printed(LIST, &(struct printing){.output = GROUPS_TABLE}),
                     "GROUP   TYPE     STATE               COORDINATOR\n"
                     "active  Classic  Stable                        2\n"
                     "dead    Unknown  Dead                          0\n"
                     "empty   Unknown  Empty                         1\n"
                     "moving  Classic  PreparingRebalance            0\n|");
    ck_assert_str_eq(
        printed(OFFSETS, &(struct printing){.output = GROUPS_TABLE}),
        "GROUP   TOPIC             PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG  CONSUMER-ID  "
        "HOST       CLIENT-ID\n"
        "active  t1                        0               3              10    7  one-1        "
        "127.0.0.1  one\n"
        "active  t1                        1               -              20    -  one-1        "
        "127.0.0.1  one\n"
        "empty   t1                        0              12              10   -2  -            "
        "-          -\n"
        "empty   a-topic-of-16-ch          1               5               -    -  -            "
        "-          -\n|");
    ck_assert_str_eq(
        printed(MEMBERS, &(struct printing){.output = GROUPS_TABLE, .is_verbose = true}),
        "GROUP   CONSUMER-ID  GROUP-INSTANCE-ID  HOST       CLIENT-ID  PARTITIONS  ASSIGNMENT\n"
        "active  one-1        -                  127.0.0.1  one                 4  t1(0,1,10), "
        "u(0)\n"
        "active  two-2        instance-two       127.0.0.1  two                 0  -\n|");
    ck_assert_str_eq(printed(RESETS, &(struct printing){.output = GROUPS_TABLE}),
                     "GROUP  TOPIC  PARTITION  CURRENT-OFFSET  NEW-OFFSET\n"
                     "empty  t1             0               3          10\n"
                     "empty  t,2            1               -           0\n|");
}
END_TEST

START_TEST(json_has_numbers_and_nulls)
{
    ck_assert_str_eq(printed(STATES, &(struct printing){.output = GROUPS_JSON}),
                     "[\n"
                     "  {\n"
                     "    \"group\": \"active\",\n"
                     "    \"coordinator\": \"localhost:9093\",\n"
                     "    \"coordinator_id\": 2,\n"
                     "    \"strategy\": \"range\",\n"
                     "    \"state\": \"Stable\",\n"
                     "    \"members\": 2\n"
                     "  },\n"
                     "  {\n"
                     "    \"group\": \"dead\",\n"
                     "    \"coordinator\": \":0\",\n"
                     "    \"coordinator_id\": 0,\n"
                     "    \"strategy\": null,\n"
                     "    \"state\": \"Dead\",\n"
                     "    \"members\": 0\n"
                     "  },\n"
                     "  {\n"
                     "    \"group\": \"empty\",\n"
                     "    \"coordinator\": \"h:1\",\n"
                     "    \"coordinator_id\": 1,\n"
                     "    \"strategy\": null,\n"
                     "    \"state\": \"Empty\",\n"
                     "    \"members\": 0\n"
                     "  }\n"
                     "]\n|");
}
END_TEST

START_TEST(a_single_group_says_what_state_it_is_in)
{
    const struct printing p = {.output = GROUPS_TABLE, .is_one = true};

    ck_assert_ptr_nonnull(strstr(printed(OFFSETS, &p), "|group 'empty' has no active members\n"
                                                       "group 'moving' is rebalancing\n"));
}
END_TEST

TEST_MAIN("tools/groups/groups_print", the_list_is_kafkas, offsets_are_kafkas, members_are_kafkas,
          states_are_kafkas, resets_have_a_line_for_each_row, our_tables_are_one_table,
          json_has_numbers_and_nulls, a_single_group_says_what_state_it_is_in)
