#include "broker/replica/fetch_session.h"

#include "common/base/err.h"
#include "tests/support/replica_node.h"
#include "tests/support/test_main.h"

static struct node_world world;
static struct node node;
static const int32_t all[] = {1, 2, 3};

static void ignore(struct node *n UNUSED, struct fake_call *fc)
{
    struct alter_partition_response resp;

    msg_init(&alter_partition_response_desc, &resp);
    resp.error_code = STALE_BROKER_EPOCH;
    fake_call_reply(fc, &resp);
}

static void order(const char *topic, int32_t leader, int32_t epoch)
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

    node_tell(&node, 1, all, 3, &st);
    ck_assert_int_eq(node_order(&node, 1, &st), 0);
}

static void begin(int32_t slots)
{
    world.fetch_session_slots = slots;
    world_init(&world);
    node.serve_other = ignore;
    node_open(&node, &world, 1);
    order("a", 1, 0);
    order("b", 1, 0);
    order("c", 1, 0);
}

static void end(void)
{
    node_close(&node);
    world_deinit(&world);
}

static void append(const char *topic)
{
    struct node_produce *p = node_produce(&node, topic, 1, 1000, "v");

    ck_assert_int_eq(p->error, 0);
    node_produce_free(p);
}

/* As replica 2, so that records are seen before they are replicated. */
static struct node_fetch *request(int32_t id, int32_t epoch)
{
    struct node_fetch *f = node_fetch_new(17, 2);

    f->req.session_id = id;
    f->req.session_epoch = epoch;
    f->req.max_wait_ms = 0;
    return f;
}

static int32_t full(void)
{
    struct node_fetch *f = request(0, 0);

    node_fetch_add(f, "a", 0, 0);
    node_fetch_add(f, "b", 0, 0);
    node_fetch_add(f, "c", 0, 0);
    node_fetch_start(&node, f);
    ck_assert(f->is_done);
    ck_assert_int_eq(f->fetch.response.responses_count, 3);
    int32_t id = f->fetch.response.session_id;
    node_fetch_free(f);
    return id;
}

/* How many partitions an empty incremental request is answered with; -error for a whole refusal. */
static int next(int32_t id, int32_t epoch)
{
    struct node_fetch *f = request(id, epoch);

    node_fetch_start(&node, f);
    ck_assert(f->is_done);
    int r = f->fetch.response.error_code ? -f->fetch.response.error_code
                                         : f->fetch.response.responses_count;
    node_fetch_free(f);
    return r;
}

START_TEST(answers_only_what_has_news)
{
    begin(1000);
    int32_t id = full();
    ck_assert_int_gt(id, 0);
    ck_assert_int_eq(next(id, 1), 0);
    append("b");
    ck_assert_int_eq(next(id, 2), 1);
    /* Not fetched further: the same records again. */
    ck_assert_int_eq(next(id, 3), 1);
    struct node_fetch *f = request(id, 4);
    node_fetch_add(f, "b", 0, 1);
    node_fetch_start(&node, f);
    /* It moves the watermark, but only after that was looked at. */
    ck_assert_int_eq(f->fetch.response.responses_count, 0);
    node_fetch_free(f);
    ck_assert_int_eq(next(id, 5), 1);
    ck_assert_int_eq(next(id, 6), 0);
    end();
}
END_TEST

START_TEST(epochs_are_counted)
{
    begin(1000);
    int32_t id = full();
    ck_assert_int_eq(next(id, 2), -INVALID_FETCH_SESSION_EPOCH);
    ck_assert_int_eq(next(id, 1), 0);
    ck_assert_int_eq(next(id, 1), -INVALID_FETCH_SESSION_EPOCH);
    ck_assert_int_eq(next(id == 1 ? 2 : 1, 1), -FETCH_SESSION_ID_NOT_FOUND);
    ck_assert_int_eq(next(0, 1), -FETCH_SESSION_ID_NOT_FOUND);
    /* Only 0 and -1 are no session's. */
    ck_assert_int_eq(next(id, -2), -INVALID_FETCH_SESSION_EPOCH);
    end();
}
END_TEST

START_TEST(names_and_ids_do_not_mix)
{
    begin(1000);
    int32_t id = full();
    struct node_fetch *f = node_fetch_new(12, 2);
    f->req.session_id = id;
    f->req.session_epoch = 1;
    node_fetch_start(&node, f);
    ck_assert_int_eq(f->fetch.response.error_code, FETCH_SESSION_TOPIC_ID_ERROR);
    node_fetch_free(f);
    end();
}
END_TEST

START_TEST(forgotten_partitions_are_gone_and_the_last_one_ends_it)
{
    struct fetch_request_forgotten_topics_data gone[3] = {0};
    static const char *const names[] = {"a", "b", "c"};
    int32_t zero = 0;

    begin(1000);
    int32_t id = full();
    for (int i = 0; i < 3; i++)
        gone[i] = (struct fetch_request_forgotten_topics_data){
            .topic_id = node_topic_id(names[i]), .partitions = &zero, .partitions_count = 1};
    struct node_fetch *f = request(id, 1);
    f->req.forgotten_topics_data = gone;
    f->req.forgotten_topics_data_count = 1;
    node_fetch_start(&node, f);
    node_fetch_free(f);
    append("a");
    append("b");
    ck_assert_int_eq(next(id, 2), 1);
    f = request(id, 3);
    f->req.forgotten_topics_data = gone + 1;
    f->req.forgotten_topics_data_count = 2;
    node_fetch_start(&node, f);
    ck_assert_int_eq(f->fetch.response.error_code, 0);
    ck_assert_int_eq(f->fetch.response.session_id, 0);
    node_fetch_free(f);
    ck_assert_int_eq(next(id, 4), -FETCH_SESSION_ID_NOT_FOUND);
    end();
}
END_TEST

START_TEST(wait_ends_with_news_of_any_partition)
{
    begin(1000);
    int32_t id = full();
    ck_assert_int_eq(next(id, 1), 0);
    struct node_fetch *f = request(id, 2);
    f->req.max_wait_ms = 500;
    node_fetch_start(&node, f);
    ck_assert(!f->is_done);
    world_run(&world, 3);
    append("c");
    world_run(&world, 0);
    ck_assert(f->is_done);
    ck_assert_int_eq(f->fetch.response.responses_count, 1);
    ck_assert_ptr_nonnull(node_fetch_part(f, "c", 0));
    node_fetch_free(f);
    end();
}
END_TEST

START_TEST(errors_are_told_each_time_and_recovery_once)
{
    begin(1000);
    int32_t id = full();
    ck_assert_int_eq(next(id, 1), 0);
    order("a", 2, 1);
    ck_assert_int_eq(next(id, 2), 1);
    ck_assert_int_eq(next(id, 3), 1);
    order("a", 1, 2);
    ck_assert_int_eq(next(id, 4), 1);
    ck_assert_int_eq(next(id, 5), 0);
    end();
}
END_TEST

START_TEST(used_twice_at_once_the_first_is_refused)
{
    begin(1000);
    int32_t id = full();
    struct node_fetch *f = request(id, 1);
    f->req.max_wait_ms = 500;
    node_fetch_start(&node, f);
    ck_assert_int_eq(next(id, 2), 0);
    world_run(&world, 501);
    ck_assert(f->is_done);
    ck_assert_int_eq(f->fetch.response.error_code, INVALID_FETCH_SESSION_EPOCH);
    ck_assert_int_eq(f->fetch.response.session_id, id);
    node_fetch_free(f);
    end();
}
END_TEST

START_TEST(idle_follower_is_in_step_when_records_come)
{
    begin(1000);
    int32_t id = full();
    struct partition *part = node_partition(&node, "a", 0);
    for (int i = 1; i <= 10; i++) {
        clock_fake_advance(&world.clock, 10000);
        ck_assert_int_eq(next(id, i), 0);
    }
    int64_t last = clock_mono_ms(&world.clock.clock);
    append("a");
    ck_assert_int_eq(remote_list_find(&part->remotes, 2)->caught_up_ms, last);
    end();
}
END_TEST

START_TEST(slots_are_given_up_by_kafkas_rules)
{
    begin(8); /* one in each shard */
    int32_t first = full();
    for (int i = 1; i < 8; i++)
        ck_assert_int_gt(full(), 0);
    ck_assert_int_eq(fetch_sessions_count(replica_manager_sessions(node.m)), 8);
    /* All are young replicas' sessions of the same size. */
    ck_assert_int_eq(full(), 0);
    clock_fake_advance(&world.clock, 120001);
    ck_assert_int_gt(full(), 0);
    ck_assert_int_eq(fetch_sessions_count(replica_manager_sessions(node.m)), 8);
    int gone = next(first, 1) < 0;
    ck_assert_int_le(gone, 1);
    end();
}
END_TEST

START_TEST(session_may_begin_without_a_partition)
{
    begin(1000);
    struct node_fetch *f = request(0, 0);
    node_fetch_start(&node, f);
    ck_assert(f->is_done);
    int32_t id = f->fetch.response.session_id;
    ck_assert_int_gt(id, 0);
    node_fetch_free(f);
    f = request(id, 1);
    node_fetch_add(f, "a", 0, 0);
    node_fetch_start(&node, f);
    ck_assert_int_eq(f->fetch.response.session_id, id);
    ck_assert_int_eq(f->fetch.response.responses_count, 1);
    node_fetch_free(f);
    end();
}
END_TEST

START_TEST(without_slots_every_fetch_is_full)
{
    begin(7);
    ck_assert_int_eq(full(), 0);
    end();
}
END_TEST

TEST_MAIN("broker/replica/fetch_session", answers_only_what_has_news, epochs_are_counted,
          names_and_ids_do_not_mix, forgotten_partitions_are_gone_and_the_last_one_ends_it,
          wait_ends_with_news_of_any_partition, errors_are_told_each_time_and_recovery_once,
          used_twice_at_once_the_first_is_refused, idle_follower_is_in_step_when_records_come,
          slots_are_given_up_by_kafkas_rules, session_may_begin_without_a_partition,
          without_slots_every_fetch_is_full)
