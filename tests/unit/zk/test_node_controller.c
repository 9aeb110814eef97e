#include "zk/node_controller.h"

#include "tests/unit/zk/node_test.h"

static struct arena a;
static struct node_why why;

START_TEST(version_2_reads_and_writes_the_same_text)
{
    const char *text = "{\"version\":2,\"brokerid\":1,\"timestamp\":\"1700000000000\","
                       "\"kraftControllerEpoch\":-1}";
    struct node_controller c;

    ck_assert_int_eq(node_controller_decode(bytes(text), &why, &c), 0);
    ck_assert_int_eq(c.broker_id, 1);
    ck_assert_int_eq(c.timestamp_ms, 1700000000000);
    ck_text(node_controller_encode(&a, &c), text);
}
END_TEST

START_TEST(version_1_has_no_kraft_epoch)
{
    struct node_controller c;

    ck_assert_int_eq(node_controller_decode(bytes("{\"brokerid\":7}"), &why, &c), 0);
    ck_assert_int_eq(c.kraft_epoch, -1);
    ck_assert_int_eq(c.broker_id, 7);
}
END_TEST

START_TEST(quoted_broker_id_is_refused)
{
    struct node_controller c;

    ck_assert_int_eq(node_controller_decode(bytes("{\"brokerid\":\"7\"}"), &why, &c), -EBADMSG);
    ck_assert_int_eq(node_controller_decode((struct slice){0}, &why, &c), -EBADMSG);
    ck_assert_int_eq(node_controller_decode(bytes("x"), &why, &c), -EBADMSG);
}
END_TEST

START_TEST(epoch_is_bare_decimal_text)
{
    int32_t epoch;

    ck_assert_int_eq(node_epoch_decode(bytes("42"), &why, &epoch), 0);
    ck_assert_int_eq(epoch, 42);
    ck_text(node_epoch_encode(&a, 7), "7");
    ck_assert_int_eq(node_epoch_decode(bytes("42 "), &why, &epoch), -EBADMSG);
    ck_assert_int_eq(node_epoch_decode(bytes(""), &why, &epoch), -EBADMSG);
    ck_assert_int_eq(node_epoch_decode(bytes("9999999999"), &why, &epoch), -EBADMSG);
    ck_assert_int_eq(node_epoch_decode((struct slice){0}, &why, &epoch), -EBADMSG);
}
END_TEST

TEST_MAIN("zk/node_controller", version_2_reads_and_writes_the_same_text,
          version_1_has_no_kraft_epoch, quoted_broker_id_is_refused, epoch_is_bare_decimal_text)
