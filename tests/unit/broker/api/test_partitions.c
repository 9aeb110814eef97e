/*
 * test_partitions.c - CreatePartitions at the controller: each thing that can be wrong, in Kafka's
 * order, and what is written and waited for where nothing is
 */
#include "broker/api/handlers.h"
#include "broker/meta/metadata_waits.h"
#include "common/base/err.h"
#include "tests/support/api_call.h"
#include "tests/support/fake_cluster.h"
#include "tests/support/test_main.h"
#include "zk/zk_paths.h"

#include <malloc.h>

/* Broker 1 of three, which is the controller, and knows topic t of one partition on 2 and 3. */
struct rig {
    struct fake_cluster f;
    struct clock_fake clock;
    struct broker b;
    struct api_call call;
    size_t applied; /* messages to broker 1 that its metadata has seen */
    bool is_deaf;   /* it sees none of them */
};

static void go_on(void *ctx)
{
    struct rig *r = ctx;
    const struct fake_channels *ch = &r->f.brokers[1].channels;

    fake_cluster_run(&r->f);
    for (; !r->is_deaf && r->applied < ch->count; r->applied++)
        if (ch->sent[r->applied].broker_id == 1 &&
            ch->sent[r->applied].m->api_key == API_UPDATE_METADATA)
            metadata_update(r->b.metadata, ch->sent[r->applied].m->body);
    metadata_waits_look(r->b.waits);
}

static struct rig *rig_new(void)
{
    struct rig *r = xnew(struct rig);

    fake_cluster_init(&r->f, 3);
    fake_cluster_create(&r->f, "t", "2,3");
    clock_fake_init(&r->clock, 1700000000000);
    ck_assert_int_eq(reactor_new("test", &r->clock.clock, &r->call.reactor), 0);
    ck_assert_int_eq(workq_new("test", 1, &r->b.workq), 0);
    r->b.metadata = metadata_new();
    r->b.waits = metadata_waits_new(r->b.metadata);
    r->b.controller = r->f.brokers[1].c;
    r->b.clock = &r->clock.clock;
    r->b.zk = r->f.admin;
    r->call.b = &r->b;
    r->call.others = go_on;
    r->call.ctx = r;
    go_on(r);
    return r;
}

static void rig_free(struct rig *r)
{
    api_call_deinit(&r->call);
    r->b.workq = workq_free(r->b.workq);
    metadata_waits_free(r->b.waits);
    metadata_free(r->b.metadata);
    reactor_free(r->call.reactor);
    fake_cluster_deinit(&r->f);
    free(r);
}

/* "1,2;77" as lists of brokers. */
static void assign(struct create_partitions_request_topic *t, const char *lists)
{
    static struct create_partitions_request_assignment as[4];
    static int32_t ids[4][4];

    t->assignments = as;
    t->assignments_count = 0;
    for (const char *at = lists; *at;) {
        struct create_partitions_request_assignment *a = &as[t->assignments_count];

        *a = (struct create_partitions_request_assignment){ids[t->assignments_count++], 0};
        for (; *at && *at != ';'; at += *at == ',')
            a->broker_ids[a->broker_ids_count++] = (int32_t)strtol(at, (char **)(uintptr_t)&at, 10);
        at += *at == ';';
    }
}

/* NULL: the broker places them. */
static struct create_partitions_request_topic topic(const char *name, int32_t count,
                                                    const char *lists)
{
    struct create_partitions_request_topic t = {
        .name = str_of(name), .count = count, .assignments_count = -1};

    if (lists)
        assign(&t, lists);
    return t;
}

static struct create_partitions_response
ask(struct rig *r, bool is_dry, struct create_partitions_request_topic *topics, int32_t count)
{
    struct create_partitions_request body = {
        .topics = topics, .topics_count = count, .timeout_ms = 60000, .validate_only = is_dry};
    struct create_partitions_response resp;

    api_call(&r->call, API_CREATE_PARTITIONS, 3, &body, &resp);
    return resp;
}

/* Of one topic, the same with validate_only and without; message NULL: none. */
static void check(struct rig *r, struct create_partitions_request_topic t, int error,
                  const char *message)
{
    for (int is_dry = 1; is_dry >= 0; is_dry--) {
        struct create_partitions_response resp = ask(r, is_dry, &t, 1);

        ck_assert_int_eq(resp.results_count, 1);
        ck_assert(str_eq(resp.results[0].name, t.name));
        ck_assert_int_eq(resp.results[0].error_code, error);
        ck_assert_str_eq(message ? message : "(none)", str_is_null(resp.results[0].error_message)
                                                           ? "(none)"
                                                           : resp.results[0].error_message.p);
    }
}

static void check_only(struct rig *r, int partitions)
{
    ck_assert_str_ne(fake_cluster_state(&r->f, "t", partitions - 1), "none");
    ck_assert_str_eq(fake_cluster_state(&r->f, "t", partitions), "none");
}

START_TEST(a_topic_must_be_there)
{
    struct rig *r = rig_new();

    check(r, topic("none", 2, NULL), UNKNOWN_TOPIC_OR_PARTITION,
          "The topic 'none' does not exist.");
    check(r, topic("..", 2, NULL), UNKNOWN_SERVER_ERROR,
          "Invalid path string \"/brokers/topics/..\" caused by relative paths not allowed @17");
    check(r, topic("", 2, NULL), UNKNOWN_SERVER_ERROR, "Path must not end with / character");
    rig_free(r);
}
END_TEST

/* Before anything else of it. */
START_TEST(a_topic_on_its_way_out_is_left_alone)
{
    static const char why[] = "The topic is queued for deletion.";
    struct rig *r = rig_new();

    fake_cluster_kill(&r->f, 3); /* has a replica, so that it stays on its way */
    fake_cluster_delete(&r->f, "t");
    check(r, topic("t", 0, "77"), INVALID_TOPIC_EXCEPTION, why);
    check(r, topic("t", 2, NULL), INVALID_TOPIC_EXCEPTION, why);
    rig_free(r);
}
END_TEST

START_TEST(a_move_comes_before_the_count)
{
    static const char why[] = "A partition reassignment is in progress for the topic 't'.";
    struct rig *r = rig_new();

    /* Broker 1 does not fetch, so that it does not end. */
    ck_assert_int_eq(fake_cluster_reassign(&r->f, "t", 0, "2,1"), 0);
    check(r, topic("t", 0, NULL), REASSIGNMENT_IN_PROGRESS, why);
    check(r, topic("t", 2, "77"), REASSIGNMENT_IN_PROGRESS, why);
    rig_free(r);
}
END_TEST

START_TEST(the_count_must_grow_and_comes_before_the_lists)
{
    struct rig *r = rig_new();

    check(r, topic("t", 0, "77"), INVALID_PARTITIONS,
          "Topic currently has 1 partitions, which is higher than the requested 0.");
    check(r, topic("t", INT32_MIN, NULL), INVALID_PARTITIONS,
          "Topic currently has 1 partitions, which is higher than the requested -2147483648.");
    check(r, topic("t", 1, "77"), INVALID_PARTITIONS, "Topic already has 1 partitions.");
    check_only(r, 1);
    rig_free(r);
}
END_TEST

START_TEST(lists_are_looked_at_before_a_count_beyond_the_limit)
{
    static const char limit[] = "Number of partitions must not be larger than 200000.";
    struct rig *r = rig_new();

    check(r, topic("t", INT32_MAX, "1,2;77,78"), INVALID_REPLICA_ASSIGNMENT,
          "Unknown broker(s) in replica assignment: 77, 78.");
    check(r, topic("t", INT32_MAX, "1,2"), INVALID_REPLICA_ASSIGNMENT,
          "Increasing the number of partitions by 2147483646 but 1 assignments provided.");
    check(r, topic("t", 2, "2,2"), INVALID_REPLICA_ASSIGNMENT,
          "Duplicate brokers not allowed in replica assignment: 2, 2 for partition id 1.");
    check(r, topic("t", 2, "2"), INVALID_REPLICA_ASSIGNMENT,
          "Inconsistent replication factor between partitions, partition 0 has 2 while partitions "
          "[1] have replication factors [1], respectively.");
    check(r, topic("t", INT32_MAX, NULL), INVALID_PARTITIONS, limit);
    check(r, topic("t", 200001, NULL), INVALID_PARTITIONS, limit);
    check_only(r, 1);
    rig_free(r);
}
END_TEST

START_TEST(there_must_be_brokers_enough)
{
    struct rig *r = rig_new();

    fake_cluster_kill(&r->f, 2);
    fake_cluster_kill(&r->f, 3);
    check(r, topic("t", 2, NULL), INVALID_REPLICATION_FACTOR,
          "Replication factor: 2 larger than available brokers: 1.");
    check(r, topic("t", 200000, NULL), INVALID_REPLICATION_FACTOR,
          "Replication factor: 2 larger than available brokers: 1.");
    rig_free(r);
}
END_TEST

START_TEST(a_node_with_a_gap_is_not_touched)
{
    struct rig *r = rig_new();

    ck_assert_int_eq(zk_store_set(r->f.admin, "/brokers/topics/t",
                                  slice_of_str(STR("{\"version\":1,\"partitions\":{\"1\":[1,2]}}")),
                                  ZK_ANY_VERSION, NULL),
                     ZK_OK);
    check(r, topic("t", 1, NULL), INVALID_PARTITIONS, "Topic already has 1 partitions.");
    check(r, topic("t", 2, NULL), UNKNOWN_SERVER_ERROR,
          "The topic's partitions in ZooKeeper are not 0 to n-1.");
    ck_assert_int_eq(zk_store_set(r->f.admin, "/brokers/topics/t",
                                  slice_of_str(STR("{\"version\":1,\"partitions\":{}}")),
                                  ZK_ANY_VERSION, NULL),
                     ZK_OK);
    check(r, topic("t", 2, NULL), UNKNOWN_TOPIC_OR_PARTITION, "The topic 't' does not exist.");
    rig_free(r);
}
END_TEST

START_TEST(zookeepers_trouble_is_told)
{
    struct rig *r = rig_new();

    fake_zk_fail(r->f.admin_zk, 1, ZK_AUTH_FAILED);
    check(r, topic("t", 2, NULL), UNKNOWN_SERVER_ERROR,
          "The topic cannot be read from ZooKeeper: AUTH_FAILED");
    fake_zk_fail(r->f.admin_zk, 0, ZK_OK);
    check_only(r, 1);
    rig_free(r);
}
END_TEST

START_TEST(a_name_that_stands_twice_is_refused_once_and_others_go_on)
{
    struct rig *r = rig_new();
    struct create_partitions_request_topic topics[] = {topic("none", 2, NULL), topic("t", 3, NULL),
                                                       topic("none", 3, NULL)};
    struct create_partitions_response resp = ask(r, false, topics, 3);

    ck_assert_int_eq(resp.results_count, 2);
    ck_assert_int_eq(resp.results[0].error_code, INVALID_REQUEST);
    ck_assert(str_eqz(resp.results[0].error_message, "Duplicate topic in request."));
    ck_assert_int_eq(resp.results[1].error_code, 0);
    ck_assert(str_is_null(resp.results[1].error_message));
    check_only(r, 3);
    rig_free(r);
}
END_TEST

START_TEST(what_is_right_is_written_and_led_unless_it_was_only_to_be_looked_at)
{
    struct rig *r = rig_new();
    struct create_partitions_request_topic by_hand = topic("t", 3, "3,1;1,2");

    ck_assert_int_eq(ask(r, true, &by_hand, 1).results[0].error_code, 0);
    check_only(r, 1);
    ck_assert_int_eq(ask(r, false, &by_hand, 1).results[0].error_code, 0);
    check_only(r, 3);
    ck_assert_str_eq(fake_cluster_assignment(&r->f, "t", 0), "2,3");
    ck_assert_str_eq(fake_cluster_assignment(&r->f, "t", 1), "3,1");
    ck_assert_str_eq(fake_cluster_assignment(&r->f, "t", 2), "1,2");
    /* Placed from the first broker that is not below the first replica of partition 0. */
    struct create_partitions_request_topic placed = topic("t", 5, NULL);
    ck_assert_int_eq(ask(r, false, &placed, 1).results[0].error_code, 0);
    check_only(r, 5);
    ck_assert_str_eq(fake_cluster_assignment(&r->f, "t", 3), "2,3");
    ck_assert_str_eq(fake_cluster_assignment(&r->f, "t", 4), "3,1");
    rig_free(r);
}
END_TEST

START_TEST(who_does_not_hear_of_leaders_in_time_is_told_so)
{
    struct rig *r = rig_new();
    struct create_partitions_request_topic topics[] = {topic("t", 2, NULL), topic("none", 2, NULL)};
    struct create_partitions_request body = {
        .topics = topics, .topics_count = 2, .timeout_ms = 1000};
    struct create_partitions_response resp;

    r->is_deaf = true;
    api_call_start(&r->call, API_CREATE_PARTITIONS, 3, &body);
    for (int i = 0; i < 1000 && strcmp(fake_cluster_state(&r->f, "t", 1), "none") == 0; i++) {
        go_on(r);
        reactor_turn(r->call.reactor, 1000);
    }
    for (int i = 0; i < 20; i++)
        reactor_turn(r->call.reactor, 1000);
    ck_assert(!r->call.is_answered);
    clock_fake_advance(&r->clock, 2000);
    api_call_end(&r->call, &resp);
    ck_assert_int_eq(resp.results[0].error_code, REQUEST_TIMED_OUT);
    ck_assert_int_eq(resp.results[1].error_code, UNKNOWN_TOPIC_OR_PARTITION);
    check_only(r, 2);
    rig_free(r);
}
END_TEST

struct rival {
    struct zk_store *zk;
    int writes;
};

/* Writes the topic's node after it was read, as often as it is told. */
static void be_faster(const struct zk_op *op, void *ctx)
{
    struct rival *rival = ctx;

    if (strcmp(op->path, ZK_PATH_BROKER_IDS) != 0 || rival->writes == 0)
        return;
    rival->writes--;
    ck_assert_int_eq(zk_store_set(rival->zk, "/brokers/topics/t",
                                  slice_of_str(STR("{\"version\":1,\"partitions\":{\"0\":[2,3]}}")),
                                  ZK_ANY_VERSION, NULL),
                     ZK_OK);
}

START_TEST(a_node_that_others_change_meanwhile_is_read_again)
{
    struct rig *r = rig_new();
    struct fake_zk *other = fake_zk_new(r->f.server);
    struct rival rival = {fake_zk_store(other), 4};
    struct create_partitions_request_topic two = topic("t", 2, NULL), three = topic("t", 3, NULL);

    fake_zk_hook(r->f.admin_zk, be_faster, &rival);
    ck_assert_int_eq(ask(r, false, &two, 1).results[0].error_code, 0);
    check_only(r, 2);
    ck_assert_int_eq(rival.writes, 0);
    rival.writes = INT32_MAX;
    struct create_partitions_response resp = ask(r, false, &three, 1);
    ck_assert_int_ne(resp.results[0].error_code, 0);
    ck_assert(
        str_eqz(resp.results[0].error_message, "ZooKeeper did not take the change; try again."));
    fake_zk_hook(r->f.admin_zk, NULL, NULL);
    fake_zk_free(other);
    rig_free(r);
}
END_TEST

/* However many topics, and however many partitions of each. */
START_TEST(a_look_takes_no_memory_for_the_count)
{
    enum { TOPICS = 50 };
    struct rig *r = rig_new();
    struct create_partitions_request_topic topics[TOPICS];
    struct create_partitions_response resp;

    for (int i = 0; i < TOPICS; i++) {
        topics[i] = topic(arena_printf(&r->f.arena, "t%d", i).p, 200000, NULL);
        fake_cluster_create(&r->f, topics[i].name.p, "2,3");
    }
    go_on(r);
    size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    resp = ask(r, true, topics, TOPICS);
    for (int i = 0; i < TOPICS; i++)
        ck_assert_int_eq(resp.results[i].error_code, 0);
    ck_assert_uint_lt(mallinfo2().uordblks + mallinfo2().hblkhd, before + (4 << 20));
    rig_free(r);
}
END_TEST

TEST_MAIN("broker/api/partitions", a_topic_must_be_there, a_topic_on_its_way_out_is_left_alone,
          a_move_comes_before_the_count, the_count_must_grow_and_comes_before_the_lists,
          lists_are_looked_at_before_a_count_beyond_the_limit, there_must_be_brokers_enough,
          a_node_with_a_gap_is_not_touched, zookeepers_trouble_is_told,
          a_name_that_stands_twice_is_refused_once_and_others_go_on,
          what_is_right_is_written_and_led_unless_it_was_only_to_be_looked_at,
          who_does_not_hear_of_leaders_in_time_is_told_so,
          a_node_that_others_change_meanwhile_is_read_again, a_look_takes_no_memory_for_the_count)
