#include "zk/node_state.h"

#include "tests/unit/zk/node_test.h"

static struct arena a;
static struct node_why why;

START_TEST(kafka_example_is_read)
{
    struct node_state st;

    ck_assert_int_eq(node_state_decode(bytes("{\"controller_epoch\":3,\"leader\":2,\"version\":1,"
                                             "\"leader_epoch\":6,\"isr\":[2,1],"
                                             "\"leader_recovery_state\":1,\"later\":{}}"),
                                       &a, &why, &st),
                     0);
    ck_assert_int_eq(st.leader, 2);
    ck_assert_int_eq(st.leader_epoch, 6);
    ck_assert_int_eq(st.controller_epoch, 3);
    ck_assert_int_eq(st.leader_recovery_state, NODE_RECOVERING);
    ck_ids(st.isr, 2, 1);
}
END_TEST

START_TEST(recovery_state_is_written_only_while_recovering)
{
    int32_t ids[] = {1, 2};
    struct node_state st = {1, 5, 3, {ids, 2}, NODE_RECOVERED};

    ck_text(node_state_encode(&a, &st), "{\"version\":1,\"leader\":1,\"leader_epoch\":5,"
                                        "\"controller_epoch\":3,\"isr\":[1,2]}");
    st = (struct node_state){-1, 6, 3, {ids, 1}, NODE_RECOVERING};
    ck_text(node_state_encode(&a, &st),
            "{\"version\":1,\"leader\":-1,\"leader_epoch\":6,\"controller_epoch\":3,\"isr\":[1],"
            "\"leader_recovery_state\":1}");
}
END_TEST

START_TEST(what_is_written_reads_back)
{
    int32_t ids[] = {7, 3, 5};
    struct node_state st = {7, 0, 1, {ids, 3}, NODE_RECOVERED}, back;

    ck_assert_int_eq(node_state_decode(node_state_encode(&a, &st), &a, &why, &back), 0);
    ck_assert(node_state_eq(&st, &back));
    back.isr.count = 2;
    ck_assert(!node_state_eq(&st, &back));
}
END_TEST

/* Each with the word that the explanation must contain. */
static const char *const malformed[][2] = {
    {"", "empty"},
    {"nonsense", "no JSON"},
    {"[]", "no JSON object"},
    {"12", "no JSON object"},
    {"{}", "leader"},
    {"{\"leader\":\"1\",\"leader_epoch\":1,\"controller_epoch\":1,\"isr\":[]}", "leader"},
    {"{\"leader\":1.0,\"leader_epoch\":1,\"controller_epoch\":1,\"isr\":[]}", "leader"},
    {"{\"leader\":3000000000,\"leader_epoch\":1,\"controller_epoch\":1,\"isr\":[]}", "range"},
    {"{\"leader\":1,\"leader_epoch\":1,\"controller_epoch\":1,\"isr\":[\"1\"]}", "isr"},
    {"{\"leader\":1,\"leader_epoch\":1,\"controller_epoch\":1,\"isr\":{}}", "isr"},
    {"{\"leader\":1,\"leader_epoch\":1,\"controller_epoch\":1,\"isr\":[],"
     "\"leader_recovery_state\":2}",
     "recovery"},
};

START_TEST(malformed_state_is_refused_with_the_reason)
{
    struct node_state st;

    for (size_t i = 0; i < ARRAY_LEN(malformed); i++) {
        ck_assert_int_eq(node_state_decode(bytes(malformed[i][0]), &a, &why, &st), -EBADMSG);
        ck_assert_msg(strstr(why.text, malformed[i][1]), "%s", why.text);
        ck_assert_int_eq(node_state_decode(bytes(malformed[i][0]), &a, NULL, &st), -EBADMSG);
    }
}
END_TEST

START_TEST(null_is_refused)
{
    struct node_state st;

    ck_assert_int_eq(node_state_decode((struct slice){0}, &a, &why, &st), -EBADMSG);
    ck_assert(strstr(why.text, "null"));
}
END_TEST

START_TEST(deep_nesting_is_refused_before_it_is_parsed)
{
    static char deep[200000];
    struct node_state st;

    memset(deep, '[', sizeof deep);
    ck_assert_int_eq(node_state_decode(slice_of(deep, sizeof deep), &a, &why, &st), -EBADMSG);
    ck_assert(strstr(why.text, "deeper"));
}
END_TEST

TEST_MAIN("zk/node_state", kafka_example_is_read, recovery_state_is_written_only_while_recovering,
          what_is_written_reads_back, malformed_state_is_refused_with_the_reason, null_is_refused,
          deep_nesting_is_refused_before_it_is_parsed)
