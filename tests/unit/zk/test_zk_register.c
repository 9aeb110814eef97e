#include "zk/zk_register.h"

#include "tests/unit/zk/zk_test.h"
#include "zk/zk_brokers.h"

static struct node_endpoint here = {STR("PLAINTEXT"), STR("h1"), 9092, NODE_PLAINTEXT};
static struct node_endpoint there = {STR("PLAINTEXT"), STR("h2"), 9092, NODE_PLAINTEXT};
static const struct node_broker self = {.endpoints = &here, .endpoint_count = 1, .jmx_port = -1};
static const struct node_broker other = {.endpoints = &there, .endpoint_count = 1, .jmx_port = -1};

struct fixture {
    struct zk_test z;
    struct zk_register reg;
    struct strbuf why;
};

static void setup(struct fixture *f)
{
    *f = (struct fixture){0};
    zk_test_init(&f->z);
    zk_register_init(&f->reg, f->z.s, 1, 18000);
    say_set_level(SAY_ERROR + 1);
}

static void teardown(struct fixture *f)
{
    strbuf_deinit(&f->why);
    zk_test_deinit(&f->z);
}

START_TEST(registration_tells_the_epoch)
{
    struct fixture f;
    struct zk_broker b;

    setup(&f);
    ck_assert_int_eq(zk_register_start(&f.reg, &self, &f.why), ZK_OK);
    ck_assert_int_eq(zk_broker_read(f.z.s, 1, &f.z.a, &b), ZK_OK);
    ck_assert_int_eq(b.epoch, f.reg.epoch);
    ck_assert_int_eq(b.version, 1);
    ck_assert(node_broker_same(&b.node, &self));
    teardown(&f);
}
END_TEST

/* The server ends the old session when 18 s have gone by. */
struct old_session {
    struct zk_test *z;
    int64_t session;
    int64_t left_ms;
};

static void server_waits(int64_t ms, void *ctx)
{
    struct old_session *old = ctx;

    clock_fake_advance(&old->z->clock, ms);
    old->left_ms -= ms;
    if (old->left_ms <= 0 && old->session)
        fake_zk_server_forget(old->z->server, MOVE(old->session));
}

START_TEST(restart_waits_for_the_earlier_self)
{
    struct fixture f;
    struct old_session old;

    setup(&f);
    zk_register_start(&f.reg, &self, &f.why);
    int64_t first = f.reg.epoch;
    old = (struct old_session){&f.z, fake_zk_restart(f.z.one), 18000};
    fake_zk_on_pause(f.z.one, server_waits, &old);
    zk_register_init(&f.reg, f.z.s, 1, 18000); /* a new process knows of no session */
    ck_assert_int_eq(zk_register_start(&f.reg, &self, &f.why), ZK_OK);
    ck_assert_int_gt(f.reg.epoch, first);
    ck_assert_int_eq(old.session, 0);
    teardown(&f);
}
END_TEST

START_TEST(process_that_still_runs_is_not_waited_for_for_ever)
{
    struct fixture f;

    setup(&f);
    zk_register_start(&f.reg, &self, &f.why);
    fake_zk_restart(f.z.one);
    zk_register_init(&f.reg, f.z.s, 1, 18000);
    ck_assert_int_eq(zk_register_start(&f.reg, &self, &f.why), ZK_NODE_EXISTS);
    ck_assert(strstr(f.why.s, "h1:9092"));
    teardown(&f);
}
END_TEST

START_TEST(another_host_with_our_id_is_named)
{
    struct fixture f;
    struct zk_register rival;

    setup(&f);
    zk_register_init(&rival, f.z.t, 1, 18000);
    ck_assert_int_eq(zk_register_start(&rival, &other, &f.why), ZK_OK);
    int64_t before = f.z.clock.mono_us;
    ck_assert_int_eq(zk_register_start(&f.reg, &self, &f.why), ZK_NODE_EXISTS);
    ck_assert_msg(strstr(f.why.s, "h2:9092") != NULL, "%s", f.why.s);
    ck_assert(f.z.clock.mono_us == before);
    teardown(&f);
}
END_TEST

START_TEST(address_of_another_broker_is_refused)
{
    struct fixture f;
    struct zk_register rival;

    setup(&f);
    zk_register_init(&rival, f.z.t, 2, 18000);
    ck_assert_int_eq(zk_register_start(&rival, &self, &f.why), ZK_OK);
    ck_assert_int_eq(zk_register_start(&f.reg, &self, &f.why), ZK_REFUSED);
    ck_assert_msg(strstr(f.why.s, "h1:9092") && strstr(f.why.s, "broker 2"), "%s", f.why.s);
    teardown(&f);
}
END_TEST

START_TEST(lost_answer_is_recognised_by_the_session)
{
    struct fixture f;
    struct zk_broker b;

    setup(&f);
    fake_zk_lose_reply(f.z.one, 1);
    ck_assert_int_eq(zk_register_start(&f.reg, &self, &f.why), ZK_OK);
    zk_broker_read(f.z.s, 1, &f.z.a, &b);
    ck_assert_int_eq(b.epoch, f.reg.epoch);
    teardown(&f);
}
END_TEST

START_TEST(new_session_gives_a_new_epoch)
{
    struct fixture f;

    setup(&f);
    zk_register_start(&f.reg, &self, &f.why);
    int64_t first = f.reg.epoch;
    fake_zk_expire(f.z.one);
    fake_zk_renew(f.z.one);
    ck_assert_int_eq(zk_register_again(&f.reg, &self), ZK_OK);
    ck_assert_int_gt(f.reg.epoch, first);
    teardown(&f);
}
END_TEST

START_TEST(node_of_our_expired_session_is_removed_at_once)
{
    struct fixture f;

    setup(&f);
    zk_register_start(&f.reg, &self, &f.why);
    int64_t first = f.reg.epoch, before = f.z.clock.mono_us;
    fake_zk_restart(f.z.one); /* the server has not removed it yet */
    ck_assert_int_eq(zk_register_again(&f.reg, &self), ZK_OK);
    ck_assert_int_gt(f.reg.epoch, first);
    ck_assert(f.z.clock.mono_us == before);
    teardown(&f);
}
END_TEST

/* The answer to the create is lost for good: its session ends before anybody hears of it. */
static void session_ends(const struct zk_op *op, void *ctx)
{
    struct fake_zk *z = ctx;

    if (op->kind == ZK_OP_GET) {
        fake_zk_hook(z, NULL, NULL);
        fake_zk_restart(z);
    }
}

START_TEST(create_of_a_session_that_ended_unheard_is_removed)
{
    struct fixture f;

    setup(&f);
    zk_register_start(&f.reg, &self, &f.why);
    fake_zk_expire(f.z.one);
    fake_zk_renew(f.z.one);
    fake_zk_lose_reply(f.z.one, 1);
    fake_zk_hook(f.z.one, session_ends, f.z.one);
    ck_assert_int_eq(zk_register_again(&f.reg, &self), ZK_OK);
    struct zk_stat stat;
    zk_store_exists(f.z.s, "/brokers/ids/1", &stat);
    ck_assert_int_eq(stat.ephemeral_owner, zk_store_session_id(f.z.s));
    ck_assert_int_eq(stat.czxid, f.reg.epoch);
    teardown(&f);
}
END_TEST

static void rival_leaves(int64_t ms, void *ctx)
{
    struct zk_test *z = ctx;

    clock_fake_advance(&z->clock, ms);
    if (z->clock.mono_us > 300 * 1000000ll)
        fake_zk_expire(z->two);
}

START_TEST(registering_again_outwaits_another_broker)
{
    struct fixture f;
    struct zk_register rival;

    setup(&f);
    zk_register_init(&rival, f.z.t, 1, 18000);
    zk_register_start(&rival, &other, &f.why);
    fake_zk_on_pause(f.z.one, rival_leaves, &f.z);
    ck_assert_int_eq(zk_register_again(&f.reg, &self), ZK_OK);
    teardown(&f);
}
END_TEST

START_TEST(registering_again_ends_with_the_session)
{
    struct fixture f;

    setup(&f);
    fake_zk_expire(f.z.one);
    ck_assert_int_eq(zk_register_again(&f.reg, &self), ZK_SESSION_EXPIRED);
    fake_zk_stop(f.z.one);
    ck_assert_int_eq(zk_register_again(&f.reg, &self), ZK_CLOSING);
    teardown(&f);
}
END_TEST

static void ensemble_heals(int64_t ms, void *ctx)
{
    struct zk_test *z = ctx;

    clock_fake_advance(&z->clock, ms);
    fake_zk_fail(z->one, 0, ZK_OK);
}

START_TEST(registering_again_outwaits_an_ill_ensemble)
{
    struct fixture f;

    setup(&f);
    fake_zk_fail(f.z.one, 1, ZK_OTHER);
    fake_zk_on_pause(f.z.one, ensemble_heals, &f.z);
    ck_assert_int_eq(zk_register_again(&f.reg, &self), ZK_OK);
    teardown(&f);
}
END_TEST

START_TEST(persistent_node_made_by_hand_is_explained)
{
    struct fixture f;

    setup(&f);
    zk_store_create(f.z.s, "/brokers/ids/1", (struct slice){0}, 0);
    ck_assert_int_eq(zk_register_start(&f.reg, &self, &f.why), ZK_NODE_EXISTS);
    ck_assert_msg(strstr(f.why.s, "by hand") != NULL, "%s", f.why.s);
    teardown(&f);
}
END_TEST

START_TEST(update_keeps_the_epoch)
{
    struct fixture f;
    struct zk_broker b;

    setup(&f);
    zk_register_start(&f.reg, &self, &f.why);
    ck_assert_int_eq(zk_register_update(&f.reg, &other, &f.why), ZK_OK);
    zk_broker_read(f.z.s, 1, &f.z.a, &b);
    ck_assert_int_eq(b.epoch, f.reg.epoch);
    ck_assert(node_broker_same(&b.node, &other));
    teardown(&f);
}
END_TEST

TEST_MAIN("zk/zk_register", registration_tells_the_epoch, restart_waits_for_the_earlier_self,
          process_that_still_runs_is_not_waited_for_for_ever, another_host_with_our_id_is_named,
          address_of_another_broker_is_refused, lost_answer_is_recognised_by_the_session,
          new_session_gives_a_new_epoch, node_of_our_expired_session_is_removed_at_once,
          create_of_a_session_that_ended_unheard_is_removed,
          registering_again_outwaits_another_broker, registering_again_ends_with_the_session,
          registering_again_outwaits_an_ill_ensemble, persistent_node_made_by_hand_is_explained,
          update_keeps_the_epoch)
