#include "broker/replica/fetcher.h"

#include "broker/replica/partition.h"
#include "common/base/err.h"
#include "tests/support/replica_node.h"
#include "tests/support/test_main.h"

static struct node_world world;
static struct node one, two;
static const int32_t all[] = {1, 2};
static int named; /* partitions named in the last fetch of 2 */
static int fetches;
static int16_t version;

static void on_other(struct node *n UNUSED, struct fake_call *fc)
{
    struct alter_partition_response resp;

    msg_init(&alter_partition_response_desc, &resp);
    resp.error_code = STALE_BROKER_EPOCH;
    fake_call_reply(fc, &resp);
}

static bool on_request(struct node *n UNUSED, struct fake_call *fc)
{
    const struct fetch_request *req = fc->request;

    if (fc->api_key != API_FETCH)
        return false;
    version = fc->version;
    named = 0;
    fetches++;
    for (int32_t i = 0; i < req->topics_count; i++)
        named += req->topics[i].partitions_count;
    return false;
}

static void open_node(struct node *n, int32_t id)
{
    n->serve_other = on_other;
    n->intercept = on_request;
    node_open(n, &world, id);
}

static void begin(enum ibp ibp)
{
    world.ibp = ibp;
    world_init(&world);
    open_node(&one, 1);
    open_node(&two, 2);
}

static void end(void)
{
    node_close(&one);
    node_close(&two);
    world_deinit(&world);
}

static void tell(struct node *n, int32_t leader, int32_t epoch, const char *topic, int expected)
{
    struct node_state_of st = {.topic = topic,
                               .leader = leader,
                               .leader_epoch = epoch,
                               .partition_epoch = epoch,
                               .isr = all,
                               .isr_count = 2,
                               .replicas = all,
                               .replica_count = 2,
                               .is_new = true};

    node_tell(n, 1, all, 2, &st);
    ck_assert_int_eq(node_order(n, 1, &st), expected);
}

static void lead(int32_t leader, int32_t epoch)
{
    tell(leader == 1 ? &one : &two, leader, epoch, "t", 0);
    tell(leader == 1 ? &two : &one, leader, epoch, "t", 0);
}

static struct log *log_of(struct node *n)
{
    return node_partition(n, "t", 0)->log;
}

static void append(struct node *n, const char *value, int count)
{
    for (int i = 0; i < count; i++) {
        struct node_produce *p = node_produce(n, "t", 1, 1000, value);
        ck_assert_int_eq(p->error, 0);
        node_produce_free(p);
    }
}

static void check_same(void)
{
    struct strbuf CLEANUP(strbuf_deinit) a = {0}, CLEANUP(strbuf_deinit) b = {0};

    ck_assert_int_eq(log_end_offset(log_of(&one)), log_end_offset(log_of(&two)));
    node_read_log(log_of(&one), log_end_offset(log_of(&one)), &a);
    node_read_log(log_of(&two), log_end_offset(log_of(&two)), &b);
    ck_assert_str_eq(a.s ? a.s : "", b.s ? b.s : "");
}

START_TEST(follower_copies_and_learns_the_watermark)
{
    begin(IBP_3_9_IV0);
    lead(1, 0);
    world_run(&world, 5);
    append(&one, "x", 3);
    world_run(&world, 5);
    check_same();
    ck_assert_int_eq(log_end_offset(log_of(&two)), 3);
    ck_assert_int_eq(log_high_watermark(log_of(&one)), 3);
    world_run(&world, 501);
    ck_assert_int_eq(log_high_watermark(log_of(&two)), 3);
    ck_assert_int_eq(version, 17);
    end();
}
END_TEST

START_TEST(idle_partitions_are_not_named_again)
{
    begin(IBP_3_9_IV0);
    lead(1, 0);
    tell(&one, 1, 0, "u", 0);
    tell(&two, 1, 0, "u", 0);
    world_run(&world, 2000);
    ck_assert_int_eq(named, 0);
    int before = fetches;
    world_run(&world, 5000);
    ck_assert_int_le(fetches - before, 11);
    append(&one, "x", 1);
    world_run(&world, 2);
    ck_assert_int_eq(named, 1);
    end();
}
END_TEST

START_TEST(confirmed_within_one_round_trip)
{
    begin(IBP_3_9_IV0);
    lead(1, 0);
    world_run(&world, 10);
    struct node_produce *p = node_produce(&one, "t", -1, 1000, "v");
    ck_assert(!p->is_done);
    world_run(&world, 0);
    ck_assert(p->is_done);
    ck_assert_int_eq(p->error, 0);
    node_produce_free(p);
    end();
}
END_TEST

/*
 * KIP-101: both led in turn without the other; what only the old leader has must go, however long
 * its log is.
 */
static void diverge(enum ibp ibp)
{
    begin(ibp);
    lead(1, 0);
    world_run(&world, 5);
    append(&one, "common", 3);
    world_run(&world, 600);
    node_close(&two);
    append(&one, "lost", 4);
    node_close(&one);
    open_node(&two, 2);
    tell(&two, 2, 1, "t", 0);
    append(&two, "kept", 2);
    open_node(&one, 1);
    tell(&one, 2, 1, "t", 0);
    world_run(&world, 2000);
    check_same();
    ck_assert_int_eq(log_end_offset(log_of(&one)), 5);
    append(&two, "more", 1);
    world_run(&world, 10);
    check_same();
    end();
}

START_TEST(diverged_tail_is_cut_on_fetch)
{
    int asked = fake_peer_count(API_OFFSET_FOR_LEADER_EPOCH);

    diverge(IBP_3_9_IV0);
    ck_assert_int_eq(fake_peer_count(API_OFFSET_FOR_LEADER_EPOCH), asked);
}
END_TEST

START_TEST(diverged_tail_is_cut_by_asking_for_the_epoch)
{
    diverge(IBP_2_6_IV0);
    ck_assert_int_gt(fake_peer_count(API_OFFSET_FOR_LEADER_EPOCH), 0);
    ck_assert_int_eq(version, 11);
}
END_TEST

START_TEST(without_epochs_it_is_cut_to_the_watermark)
{
    diverge(IBP_0_10_2_IV0);
    ck_assert_int_eq(version, 3);
}
END_TEST

/* KIP-279: epochs that the other side never had, several times over. */
START_TEST(fast_changes_of_leaders_converge)
{
    static const enum ibp ibps[] = {IBP_3_9_IV0, IBP_2_6_IV0};

    for (size_t i = 0; i < ARRAY_LEN(ibps); i++) {
        begin(ibps[i]);
        lead(1, 0);
        world_run(&world, 5);
        append(&one, "a", 2);
        world_run(&world, 600);
        fake_broker_cut(NODE_PORT + 1, "", true);
        fake_broker_cut(NODE_PORT + 2, "", true);
        tell(&one, 1, 2, "t", 0);
        append(&one, "b", 3);
        tell(&two, 2, 1, "t", 0);
        append(&two, "c", 1);
        tell(&two, 2, 3, "t", 0);
        append(&two, "d", 2);
        tell(&one, 1, 4, "t", 0);
        append(&one, "e", 1);
        fake_broker_cut(NODE_PORT + 1, "", false);
        fake_broker_cut(NODE_PORT + 2, "", false);
        fake_peers_break();
        lead(2, 5);
        world_run(&world, 3000);
        check_same();
        ck_assert_int_eq(log_end_offset(log_of(&one)), 5);
        end();
    }
}
END_TEST

START_TEST(leader_that_begins_later_restarts_the_log)
{
    begin(IBP_3_9_IV0);
    lead(1, 0);
    world_run(&world, 5);
    append(&one, "x", 2);
    world_run(&world, 600);
    node_close(&two);
    tell(&one, 1, 1, "t", 0);
    node_partition(&one, "t", 0)->isr.committed.count = 1;
    append(&one, "y", 5);
    node_partition(&one, "t", 0)->isr.committed.count = 2;
    ck_assert_int_eq(log_set_high_watermark(log_of(&one), 7), 7);
    ck_assert_int_eq(log_raise_start(log_of(&one), 6), 0);
    open_node(&two, 2);
    tell(&two, 1, 1, "t", 0);
    world_run(&world, 2000);
    ck_assert_int_eq(log_start_offset(log_of(&two)), 6);
    ck_assert_int_eq(log_end_offset(log_of(&two)), 7);
    end();
}
END_TEST

START_TEST(leader_that_has_not_heard_yet_is_asked_again)
{
    begin(IBP_3_9_IV0);
    node_tell(&one, 1, all, 2, NULL);
    tell(&two, 1, 3, "t", 0);
    world_run(&world, 100);
    ck_assert_int_eq(log_end_offset(log_of(&two)), 0);
    tell(&one, 1, 3, "t", 0);
    append(&one, "x", 1);
    world_run(&world, 90);
    ck_assert_int_eq(log_end_offset(log_of(&two)), 1);
    end();
}
END_TEST

START_TEST(leader_that_does_not_hear_is_asked_ever_less)
{
    begin(IBP_3_9_IV0);
    node_tell(&one, 1, all, 2, NULL);
    tell(&two, 1, 3, "t", 0);
    world_run(&world, 5000);
    int before = fetches;
    world_run(&world, 10000);
    ck_assert_int_le(fetches - before, 11);
    ck_assert_int_ge(fetches - before, 9);
    /* What was asked is answered: the next error begins anew. */
    tell(&one, 1, 3, "t", 0);
    world_run(&world, 1100);
    tell(&two, 1, 4, "t", 0);
    world_run(&world, 60);
    tell(&one, 1, 4, "t", 0);
    append(&one, "x", 1);
    world_run(&world, 90);
    check_same();
    end();
}
END_TEST

/* However many they are and whenever each began. */
START_TEST(partitions_that_stay_refused_are_asked_for_together)
{
    enum { MANY = 100 };
    char topic[MANY][8];

    begin(IBP_3_9_IV0);
    lead(1, 0);
    for (int i = 0; i < MANY; i++) {
        snprintf(topic[i], sizeof topic[i], "u%d", i);
        tell(&two, 1, 0, topic[i], 0);
        world_run(&world, 13);
    }
    world_run(&world, 5000);
    int before = fetches;
    world_run(&world, 5000);
    ck_assert_int_le(fetches - before, 5 * 25);
    end();
}
END_TEST

/* Neither does the leader wait for records of the others before it refuses one, nor the follower
 * for an idle fetch before it asks again. */
START_TEST(delayed_partition_does_not_wait_for_idle_ones)
{
    begin(IBP_3_9_IV0);
    lead(1, 0);
    tell(&two, 1, 0, "u", 0);
    world_run(&world, 25);
    tell(&one, 1, 0, "u", 0);
    struct node_produce *p = node_produce(&one, "u", -1, 1000, "v");
    world_run(&world, 25);
    ck_assert(p->is_done);
    ck_assert_int_eq(p->error, 0);
    node_produce_free(p);
    end();
}
END_TEST

START_TEST(fenced_follower_stops_until_the_next_order)
{
    struct replica_stats st;

    begin(IBP_3_9_IV0);
    lead(1, 0);
    world_run(&world, 5);
    tell(&one, 1, 1, "t", 0);
    append(&one, "x", 1);
    world_run(&world, 1200);
    ck_assert_int_eq(log_end_offset(log_of(&two)), 0);
    replica_manager_stats(two.m, &st);
    ck_assert_int_eq(st.failed_partitions, 1);
    tell(&two, 1, 1, "t", 0);
    world_run(&world, 100);
    ck_assert_int_eq(log_end_offset(log_of(&two)), 1);
    replica_manager_stats(two.m, &st);
    ck_assert_int_eq(st.failed_partitions, 0);
    ck_assert_int_eq(st.partitions, 1);
    end();
}
END_TEST

static struct fake_call *held;

static bool hold_first_fetch(struct node *n UNUSED, struct fake_call *fc)
{
    if (held || fc->api_key != API_FETCH)
        return false;
    held = fc;
    return true;
}

/* Its answer is under way to 2 when 2 hears of the new epoch. */
START_TEST(fenced_while_the_next_order_is_on_its_way)
{
    struct replica_stats st;

    begin(IBP_3_9_IV0);
    one.intercept = hold_first_fetch;
    lead(1, 0);
    world_run(&world, 5);
    tell(&one, 1, 1, "t", 0);
    node_serve(&one, held);
    tell(&two, 1, 1, "t", 0);
    world_run(&world, 5);
    tell(&two, 2, 0, "u", 0); /* each order ends with dropping idle fetchers */
    append(&one, "x", 1);
    world_run(&world, 1200);
    check_same();
    ck_assert_int_eq(log_end_offset(log_of(&two)), 1);
    replica_manager_stats(two.m, &st);
    ck_assert_int_eq(st.failed_partitions, 0);
    end();
}
END_TEST

START_TEST(leader_that_was_away_is_found_again)
{
    begin(IBP_3_9_IV0);
    lead(1, 0);
    world_run(&world, 5);
    append(&one, "x", 1);
    world_run(&world, 600);
    node_close(&one);
    world_run(&world, 5000);
    open_node(&one, 1);
    tell(&one, 1, 1, "t", 0);
    append(&one, "y", 1);
    tell(&two, 1, 1, "t", 0);
    world_run(&world, 2000);
    check_same();
    ck_assert_int_eq(log_end_offset(log_of(&two)), 2);
    end();
}
END_TEST

START_TEST(lost_session_is_made_anew)
{
    begin(IBP_3_9_IV0);
    lead(1, 0);
    world_run(&world, 1000);
    node_close(&one);
    open_node(&one, 1);
    tell(&one, 1, 0, "t", 0);
    append(&one, "y", 1);
    world_run(&world, 2500);
    check_same();
    end();
}
END_TEST

START_TEST(more_fetchers_take_over)
{
    begin(IBP_3_9_IV0);
    lead(1, 0);
    tell(&one, 1, 0, "u", 0);
    tell(&two, 1, 0, "u", 0);
    world_run(&world, 10);
    replica_manager_set_fetchers(two.m, 4);
    world_run(&world, 10);
    append(&one, "y", 3);
    world_run(&world, 10);
    check_same();
    end();
}
END_TEST

static void on_failed(void *ctx UNUSED, struct partition *part UNUSED, uint64_t order UNUSED)
{
    ck_abort_msg("given up");
}

/* A request of the first partition alone would keep the second one waiting for as long as the
 * leader holds the answer. */
START_TEST(partitions_ordered_together_are_asked_for_together)
{
    begin(IBP_3_9_IV0);
    tell(&one, 1, 0, "t", 0);
    tell(&one, 1, 0, "u", 0);
    replica_manager_begin_shutdown(two.m); /* so that its own fetchers begin nothing */
    tell(&two, 1, 0, "t", 0);
    tell(&two, 1, 0, "u", 0);
    struct fetcher_conf conf = {.clock = &world.clock.clock,
                                .broker_id = 2,
                                .broker_epoch = &two.broker_epoch,
                                .ibp = IBP_3_9_IV0,
                                .wait_max_ms = 500,
                                .min_bytes = 1,
                                .response_max_bytes = 1 << 20,
                                .backoff_ms = 1000,
                                .quota = &replica_manager_env(two.m)->follower_quota,
                                .request_timeout_ms = 30000};
    struct fetcher_opts opts = {.conf = &conf,
                                .reactor = world.reactor,
                                .leader = 1,
                                .host = STR("h"),
                                .port = NODE_PORT + 1,
                                .failed = on_failed};
    struct fetcher *f = fetcher_new(&opts);
    struct follow how = {.order = 1};
    fetches = 0;
    how.topic_id = node_topic_id("t");
    fetcher_add(f, node_partition(&two, "t", 0), &how);
    world_run(&world, 0);
    ck_assert_int_eq(fetches, 0);
    how.topic_id = node_topic_id("u");
    fetcher_add(f, node_partition(&two, "u", 0), &how);
    fetcher_go_on(f);
    world_run(&world, 0);
    ck_assert_int_eq(fetches, 1);
    ck_assert_int_eq(named, 2);
    fetcher_remove(f, node_partition(&two, "u", 0));
    fetcher_stop(f); /* what was gathered goes with it */
    world_run(&world, 0);
    end();
}
END_TEST

TEST_MAIN("broker/replica/fetcher", follower_copies_and_learns_the_watermark,
          idle_partitions_are_not_named_again, confirmed_within_one_round_trip,
          diverged_tail_is_cut_on_fetch, diverged_tail_is_cut_by_asking_for_the_epoch,
          without_epochs_it_is_cut_to_the_watermark, fast_changes_of_leaders_converge,
          leader_that_begins_later_restarts_the_log, leader_that_has_not_heard_yet_is_asked_again,
          leader_that_does_not_hear_is_asked_ever_less,
          partitions_that_stay_refused_are_asked_for_together,
          delayed_partition_does_not_wait_for_idle_ones, fenced_follower_stops_until_the_next_order,
          fenced_while_the_next_order_is_on_its_way, leader_that_was_away_is_found_again,
          lost_session_is_made_anew, more_fetchers_take_over,
          partitions_ordered_together_are_asked_for_together)
