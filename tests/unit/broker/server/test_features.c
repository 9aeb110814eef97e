#include "broker/server/features.h"

#include "tests/support/fake_zk.h"
#include "tests/support/test_main.h"
#include "zk/zk_cluster.h"

#include <errno.h>
#include <unistd.h>

static struct clock_fake clock_;
static struct fake_zk_server *server;
static struct fake_zk *ours, *controller;
static struct workq *workq;
static struct features f;

static void begin(void)
{
    clock_fake_init(&clock_, 1700000000000);
    server = fake_zk_server_new(&clock_.clock);
    ours = fake_zk_new(server);
    controller = fake_zk_new(server);
    ck_assert_int_eq(workq_new("test", 1, &workq), 0);
    features_init(&f, fake_zk_store(ours), workq);
}

static void end(void)
{
    workq_free(workq);
    fake_zk_free(ours);
    fake_zk_free(controller);
    fake_zk_server_free(server);
}

static void settle(void)
{
    for (int i = 0; i < 20000 && workq_pending(workq); i++)
        usleep(100); /* another thread's work */
}

static int start(void)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};

    return features_start(&f, &why);
}

START_TEST(the_version_of_the_node_is_told)
{
    struct node_features node = {.version = 2, .enabled = true};
    int32_t epoch = -1;

    begin();
    ck_assert_int_eq(start(), 0);
    ck_assert_int_eq(f.epoch, -1);
    ck_assert_int_eq(zk_features_create(fake_zk_store(controller), &node), ZK_OK);
    settle();
    ck_assert_int_eq(f.epoch, 0);
    for (int i = 1; i <= 3; i++) {
        ck_assert_int_eq(zk_features_set(fake_zk_store(controller), &node, &epoch), ZK_OK);
        settle();
        ck_assert_int_eq(f.epoch, epoch);
        ck_assert_int_eq(f.epoch, i);
    }
    node.enabled = false;
    ck_assert_int_eq(zk_features_set(fake_zk_store(controller), &node, &epoch), ZK_OK);
    settle();
    ck_assert_int_eq(f.epoch, -1);
    end();
}
END_TEST

START_TEST(what_was_missed_is_read_in_a_new_session)
{
    struct node_features node = {.version = 2, .enabled = true};

    begin();
    ck_assert_int_eq(start(), 0);
    fake_zk_expire(ours);
    ck_assert_int_eq(zk_features_create(fake_zk_store(controller), &node), ZK_OK);
    fake_zk_renew(ours);
    features_read_again(&f);
    settle();
    ck_assert_int_eq(f.epoch, 0);
    end();
}
END_TEST

START_TEST(a_feature_that_is_finalized_keeps_a_broker_from_starting)
{
    struct node_finalized level = {STR("metadata.version"), 1, 3};
    struct node_features node = {2, true, &level, 1};

    begin();
    ck_assert_int_eq(zk_features_create(fake_zk_store(controller), &node), ZK_OK);
    ck_assert_int_eq(start(), -EINVAL);
    ck_assert_int_eq(f.epoch, -1);
    end();
}
END_TEST

TEST_MAIN("broker/server/features", the_version_of_the_node_is_told,
          what_was_missed_is_read_in_a_new_session,
          a_feature_that_is_finalized_keeps_a_broker_from_starting)
