/*
 * test_throttle.c - throttled replication (KIP-73): who waits, who does not, and for how long
 */
#include "broker/replica/partition.h"
#include "common/base/err.h"
#include "tests/support/replica_node.h"
#include "tests/support/test_main.h"

enum { BURST = 5000 };

static struct node_world world;
static struct node one, two;
static const int32_t all[] = {1, 2};

/* The leader's wish to take 2 into the set is not granted. */
static void on_other(struct node *n UNUSED, struct fake_call *fc)
{
    struct alter_partition_response resp;

    msg_init(&alter_partition_response_desc, &resp);
    resp.error_code = STALE_BROKER_EPOCH;
    fake_call_reply(fc, &resp);
}

static void tell(struct node *n, const char *topic, int32_t isr_count)
{
    struct node_state_of st = {.topic = topic,
                               .leader = 1,
                               .leader_epoch = 1,
                               .partition_epoch = 1,
                               .isr = all,
                               .isr_count = isr_count,
                               .replicas = all,
                               .replica_count = 2,
                               .is_new = true};

    node_tell(n, 1, all, 2, &st);
    ck_assert_int_eq(node_order(n, 1, &st), 0);
}

static void lead(const char *topic, int32_t isr_count)
{
    tell(&one, topic, isr_count);
    tell(&two, topic, isr_count);
}

static void begin(const char *throttled)
{
    world = (struct node_world){.ibp = IBP_3_9_IV0, .fetch_session_slots = 10};
    world.throttled = throttled;
    world_init(&world);
    one = two = (struct node){.serve_other = on_other};
    node_open(&one, &world, 1);
    node_open(&two, &world, 2);
}

static void end(void)
{
    node_close(&one);
    node_close(&two);
    world_deinit(&world);
}

static void append(const char *topic, size_t size)
{
    char *CLEANUP(free_p) value = xcalloc(size + 1, 1);

    memset(value, 'x', size);
    struct node_produce *p = node_produce(&one, topic, 1, 1000, value);
    ck_assert_int_eq(p->error, 0);
    node_produce_free(p);
}

static bool is_behind(const char *topic)
{
    return log_end_offset(node_partition(&two, topic, 0)->log) <
           log_end_offset(node_partition(&one, topic, 0)->log);
}

static void limit(struct node *n, bool leads)
{
    struct replica_throttle t = {leads ? 1000 : REPL_QUOTA_UNLIMITED,
                                 leads ? REPL_QUOTA_UNLIMITED : 1000};

    replica_manager_set_throttle(n->m, &t);
}

/* A burst passes; what comes next waits until it is paid off. */
static void check_held(const char *topic)
{
    world_run(&world, 1500);
    append(topic, BURST);
    world_run(&world, 700);
    ck_assert(!is_behind(topic));
    append(topic, 10);
    world_run(&world, 3000);
    ck_assert(is_behind(topic));
    world_run(&world, 3000);
    ck_assert(!is_behind(topic));
}

static void check_free(const char *topic)
{
    world_run(&world, 1500);
    append(topic, BURST);
    world_run(&world, 700);
    append(topic, 10);
    world_run(&world, 700);
    ck_assert(!is_behind(topic));
}

START_TEST(leader_holds_followers_out_of_sync)
{
    begin("*");
    limit(&one, true);
    lead("t", 1);
    check_held("t");
    end();
}
END_TEST

START_TEST(follower_holds_itself_while_it_is_behind)
{
    begin("0:1,0:2");
    limit(&two, false);
    lead("t", 1);
    /* Known to be in sync it is not held: two appends, of which the first brings it up to date. */
    world_run(&world, 1500);
    append("t", BURST);
    world_run(&world, 700);
    struct repl_quota *q = &node_partition(&two, "t", 0)->env->follower_quota;
    ck_assert(repl_quota_is_exceeded(q));
    lead("u", 1); /* a new one, of which no lag is known */
    append("u", 10);
    world_run(&world, 3000);
    ck_assert(is_behind("u"));
    world_run(&world, 3000);
    ck_assert(!is_behind("u"));
    end();
}
END_TEST

/* Not at the next back-off, nor after the longest wait of a fetch: the rate would stay below what
 * is allowed. */
static void check_paid_off(bool leads)
{
    begin("*");
    limit(leads ? &one : &two, leads);
    lead("t", 1);
    world_run(&world, 1500);
    append("t", BURST);
    world_run(&world, 700);
    struct replica_env *env = node_partition(leads ? &one : &two, "t", 0)->env;
    struct repl_quota *q = leads ? &env->leader_quota : &env->follower_quota;
    lead("u", 1);
    append("u", 10);
    int held_ms = 0, late_ms = 0;
    while (is_behind("u") && held_ms + late_ms < 6000) {
        *(repl_quota_is_exceeded(q) ? &held_ms : &late_ms) += 1;
        world_run(&world, 1);
    }
    ck_assert_int_gt(held_ms, 1000);
    ck_assert_int_le(late_ms, 10);
    end();
}

START_TEST(hold_of_a_follower_ends_when_it_is_paid_off)
{
    check_paid_off(false);
}
END_TEST

START_TEST(hold_by_a_leader_ends_when_it_is_paid_off)
{
    check_paid_off(true);
}
END_TEST

START_TEST(followers_in_sync_are_never_held)
{
    begin("*");
    limit(&one, true);
    lead("t", 2);
    check_free("t");
    ck_assert(repl_quota_is_exceeded(&node_partition(&one, "t", 0)->env->leader_quota));
    end();
}
END_TEST

START_TEST(replicas_that_are_not_listed_are_not_held)
{
    begin("1:1,1:2,0:3");
    limit(&one, true);
    limit(&two, false);
    lead("t", 1);
    check_free("t");
    end();
}
END_TEST

START_TEST(others_of_the_session_go_on)
{
    begin("*");
    limit(&one, true);
    lead("t", 1);
    lead("u", 2);
    world_run(&world, 1500);
    append("t", BURST);
    world_run(&world, 700);
    append("t", 10);
    for (int i = 0; i < 5; i++) {
        append("u", 10);
        world_run(&world, 10);
        ck_assert(!is_behind("u"));
    }
    ck_assert(is_behind("t"));
    world_run(&world, 7000);
    ck_assert(!is_behind("t"));
    end();
}
END_TEST

TEST_MAIN("broker/replica/throttle", leader_holds_followers_out_of_sync,
          follower_holds_itself_while_it_is_behind, hold_of_a_follower_ends_when_it_is_paid_off,
          hold_by_a_leader_ends_when_it_is_paid_off, followers_in_sync_are_never_held,
          replicas_that_are_not_listed_are_not_held, others_of_the_session_go_on)
