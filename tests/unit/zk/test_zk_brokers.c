#include "zk/zk_brokers.h"

#include "tests/unit/zk/zk_test.h"

#define GOOD                                                                                       \
    "{\"version\":5,\"host\":\"h\",\"port\":1,\"endpoints\":[\"SSL://h:1\"],\"jmx_port\":-1}"

START_TEST(brokers_come_sorted_with_their_epochs)
{
    struct zk_test z;
    struct zk_brokers all;
    struct zk_stat stat;

    zk_test_init(&z);
    zk_store_create(z.s, "/brokers/ids/10", bytes(GOOD), ZK_EPHEMERAL);
    zk_store_create(z.s, "/brokers/ids/2", bytes(GOOD), ZK_EPHEMERAL);
    zk_store_exists(z.s, "/brokers/ids/2", &stat);
    ck_assert_int_eq(zk_brokers_read(z.s, false, &z.a, &all), ZK_OK);
    ck_assert_uint_eq(all.count, 2);
    ck_assert_int_eq(all.list[0].id, 2);
    ck_assert_int_eq(all.list[0].epoch, stat.czxid);
    ck_assert_int_eq(all.list[1].id, 10);
    zk_test_deinit(&z);
}
END_TEST

START_TEST(bad_registration_does_not_hide_the_others)
{
    struct zk_test z;
    struct zk_brokers all;

    zk_test_init(&z);
    say_set_level(SAY_ERROR + 1);
    zk_store_create(z.s, "/brokers/ids/1", bytes("rubbish"), 0);
    zk_store_create(z.s, "/brokers/ids/2", bytes(GOOD), 0);
    zk_store_create(z.s, "/brokers/ids/three", bytes(GOOD), 0);
    ck_assert_int_eq(zk_brokers_read(z.s, false, &z.a, &all), ZK_OK);
    ck_assert_uint_eq(all.count, 2);
    ck_assert_int_eq(all.list[0].result, ZK_MALFORMED);
    ck_assert_int_eq(all.list[1].result, ZK_OK);
    zk_test_deinit(&z);
}
END_TEST

START_TEST(absent_broker_is_told)
{
    struct zk_test z;
    struct zk_broker b;

    zk_test_init(&z);
    ck_assert_int_eq(zk_broker_read(z.s, 1, &z.a, &b), ZK_NO_NODE);
    zk_test_deinit(&z);
}
END_TEST

START_TEST(generated_ids_begin_above_the_reserved_ones)
{
    struct zk_test z;
    int32_t id;

    zk_test_init(&z);
    ck_assert_int_eq(zk_broker_id_generate(z.s, 1000, &id), ZK_OK);
    ck_assert_int_eq(id, 1001);
    ck_assert_int_eq(zk_broker_id_generate(z.t, 1000, &id), ZK_OK);
    ck_assert_int_eq(id, 1002);
    zk_store_delete(z.s, ZK_PATH_BROKER_SEQID, -1);
    ck_assert_int_eq(zk_broker_id_generate(z.t, 1000, &id), ZK_OK);
    ck_assert_int_eq(id, 1001);
    zk_test_deinit(&z);
}
END_TEST

static void count(enum zk_event event UNUSED, const char *path UNUSED, void *ctx)
{
    ++*(int *)ctx;
}

START_TEST(armed_brokers_tell_of_changes)
{
    struct zk_test z;
    int32_t ids[] = {1, 2};
    int seen = 0;

    zk_test_init(&z);
    zk_store_create(z.s, "/brokers/ids/1", bytes(GOOD), 0);
    zk_store_watch_data(z.s, "/brokers/ids/1", count, &seen);
    ck_assert_int_eq(zk_brokers_arm(z.s, ids, 2), ZK_OK);
    zk_store_set(z.t, "/brokers/ids/1", bytes(GOOD), -1, NULL);
    ck_assert_int_eq(seen, 1);
    zk_test_deinit(&z);
}
END_TEST

TEST_MAIN("zk/zk_brokers", brokers_come_sorted_with_their_epochs,
          bad_registration_does_not_hide_the_others, absent_broker_is_told,
          generated_ids_begin_above_the_reserved_ones, armed_brokers_tell_of_changes)
