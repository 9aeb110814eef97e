#include "broker/replica/delayed_fetch.h"

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

static struct node_state_of state(const char *topic, int32_t leader, int32_t epoch)
{
    return (struct node_state_of){.topic = topic,
                                  .leader = leader,
                                  .leader_epoch = epoch,
                                  .partition_epoch = epoch,
                                  .isr = all,
                                  .isr_count = 1,
                                  .replicas = all,
                                  .replica_count = 3,
                                  .is_new = true};
}

static void lead(const char *topic, int32_t epoch)
{
    struct node_state_of st = state(topic, 1, epoch);

    node_tell(&node, 1, all, 3, &st);
    ck_assert_int_eq(node_order(&node, 1, &st), 0);
}

static void begin(void)
{
    world_init(&world);
    node.serve_other = ignore;
    node_open(&node, &world, 1);
    lead("t", 3);
}

static void end(void)
{
    node_close(&node);
    world_deinit(&world);
}

static void append(const char *topic, int count)
{
    for (int i = 0; i < count; i++) {
        struct node_produce *p = node_produce(&node, topic, 1, 1000, "0123456789");
        ck_assert_int_eq(p->error, 0);
        node_produce_free(p);
    }
}

static struct node_fetch *fetch(int16_t version, int32_t replica, int64_t offset)
{
    struct node_fetch *f = node_fetch_new(version, replica);

    node_fetch_add(f, "t", 0, offset);
    return f;
}

/* Starts it, and expects an answer at once with this error. */
static void expect(struct node_fetch *f, int error)
{
    node_fetch_start(&node, f);
    ck_assert(f->is_done);
    ck_assert_int_eq(f->fetch.response.error_code, 0);
    ck_assert_int_eq(node_fetch_part(f, "t", 0)->error_code, error);
    node_fetch_free(f);
}

START_TEST(data_is_answered_at_once)
{
    begin();
    append("t", 2);
    struct node_fetch *f = fetch(17, -1, 1);
    node_fetch_start(&node, f);
    ck_assert(f->is_done);
    const struct fetch_response_partition *p = node_fetch_part(f, "t", 0);
    ck_assert_int_eq(p->high_watermark, 2);
    ck_assert_int_eq(p->log_start_offset, 0);
    ck_assert_uint_gt(records_len(p->records), 0);
    node_fetch_free(f);
    end();
}
END_TEST

START_TEST(consumer_waits_for_the_watermark_and_no_longer)
{
    begin();
    struct node_fetch *f = fetch(12, -1, 0);
    node_fetch_start(&node, f);
    ck_assert(!f->is_done);
    world_run(&world, 100);
    ck_assert(!f->is_done);
    append("t", 1);
    world_run(&world, 0);
    ck_assert(f->is_done);
    ck_assert_uint_gt(records_len(node_fetch_part(f, "t", 0)->records), 0);
    node_fetch_free(f);
    end();
}
END_TEST

START_TEST(nothing_comes_until_the_time_is_up)
{
    begin();
    struct node_fetch *f = fetch(12, -1, 0);
    node_fetch_start(&node, f);
    world_run(&world, 499);
    ck_assert(!f->is_done);
    world_run(&world, 2);
    ck_assert(f->is_done);
    ck_assert_int_eq(node_fetch_part(f, "t", 0)->error_code, 0);
    ck_assert_uint_eq(records_len(node_fetch_part(f, "t", 0)->records), 0);
    node_fetch_free(f);
    end();
}
END_TEST

START_TEST(min_bytes_are_waited_for)
{
    begin();
    struct node_fetch *f = fetch(12, -1, 0);
    f->req.min_bytes = 200;
    node_fetch_start(&node, f);
    append("t", 1);
    world_run(&world, 1);
    ck_assert(!f->is_done);
    append("t", 3);
    world_run(&world, 1);
    ck_assert(f->is_done);
    ck_assert_uint_ge(records_len(node_fetch_part(f, "t", 0)->records), 200);
    node_fetch_free(f);
    end();
}
END_TEST

START_TEST(epochs_are_fenced_both_ways)
{
    begin();
    struct node_fetch *f = fetch(12, -1, 0);
    f->req.topics[0].partitions->current_leader_epoch = 2;
    expect(f, FENCED_LEADER_EPOCH);
    f = fetch(12, -1, 0);
    f->req.topics[0].partitions->current_leader_epoch = 4;
    expect(f, UNKNOWN_LEADER_EPOCH);
    end();
}
END_TEST

START_TEST(any_negative_epoch_is_none)
{
    begin();
    append("t", 1);
    struct node_fetch *f = fetch(12, -1, 0);
    f->req.topics[0].partitions->current_leader_epoch = -2;
    f->req.topics[0].partitions->last_fetched_epoch = -2;
    expect(f, 0);
    f = fetch(12, 7, 0); /* not a replica of it */
    f->req.topics[0].partitions->current_leader_epoch = -2;
    expect(f, NOT_LEADER_OR_FOLLOWER);
    end();
}
END_TEST

/* The leader is named only to whom it helps to ask another one (KIP-951). */
START_TEST(an_unknown_epoch_names_no_leader)
{
    static const struct {
        int32_t epoch, error, leader;
    } cases[] = {{2, FENCED_LEADER_EPOCH, 1}, {4, UNKNOWN_LEADER_EPOCH, -1}};

    begin();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct node_fetch *f = fetch(16, -1, 0);

        f->req.topics[0].partitions->current_leader_epoch = cases[i].epoch;
        node_fetch_start(&node, f);
        const struct fetch_response_partition *p = node_fetch_part(f, "t", 0);
        ck_assert_int_eq(p->error_code, cases[i].error);
        ck_assert_int_eq(p->current_leader.leader_id, cases[i].leader);
        node_fetch_free(f);
    }
    end();
}
END_TEST

/* One that did not fit has not been read, and so has no aborted transactions either: the list is
 * null. */
START_TEST(committed_reads_tell_aborted_transactions_of_what_they_read)
{
    static const struct {
        int32_t replica_id, max_bytes, aborted_count;
    } cases[] = {{-1, 1 << 20, 0}, {-1, 5, -1}, {-3, 1 << 20, -1}, {2, 1 << 20, -1}};

    begin();
    lead("u", 0);
    append("t", 1);
    append("u", 1);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct node_fetch *f = node_fetch_new(12, cases[i].replica_id);

        f->fetch.who.is_read_committed = true;
        node_fetch_add(f, "t", 0, 0);
        node_fetch_add(f, "u", 0, 0)->partition_max_bytes = cases[i].max_bytes;
        node_fetch_start(&node, f);
        ck_assert(f->is_done);
        ck_assert_int_eq(node_fetch_part(f, "u", 0)->aborted_transactions_count,
                         cases[i].aborted_count);
        node_fetch_free(f);
    }
    end();
}
END_TEST

START_TEST(out_of_range_on_both_sides)
{
    begin();
    append("t", 2);
    expect(fetch(12, -1, 3), OFFSET_OUT_OF_RANGE);
    expect(fetch(12, -1, -1), OFFSET_OUT_OF_RANGE);
    end();
}
END_TEST

START_TEST(unknown_things_have_their_codes)
{
    begin();
    struct node_fetch *f = node_fetch_new(12, -1);
    node_fetch_add(f, "nope", 0, 0);
    node_fetch_start(&node, f);
    ck_assert_int_eq(node_fetch_part(f, "nope", 0)->error_code, UNKNOWN_TOPIC_OR_PARTITION);
    node_fetch_free(f);
    f = node_fetch_new(13, -1);
    node_fetch_add(f, "nope", 0, 0);
    node_fetch_start(&node, f);
    ck_assert_int_eq(node_fetch_part(f, "nope", 0)->error_code, UNKNOWN_TOPIC_ID);
    node_fetch_free(f);
    /* Known to the metadata, but not hosted here. */
    struct node_state_of st = state("other", 2, 0);
    node_tell(&node, 1, all, 3, &st);
    f = node_fetch_new(12, -1);
    node_fetch_add(f, "other", 0, 0);
    node_fetch_start(&node, f);
    ck_assert_int_eq(node_fetch_part(f, "other", 0)->error_code, NOT_LEADER_OR_FOLLOWER);
    node_fetch_free(f);
    end();
}
END_TEST

START_TEST(refused_partitions_come_last_and_do_not_end_the_wait)
{
    begin();
    struct node_fetch *f = node_fetch_new(12, -1);
    node_fetch_add(f, "nope", 0, 0);
    node_fetch_add(f, "t", 0, 0);
    node_fetch_start(&node, f);
    ck_assert(!f->is_done);
    append("t", 1);
    world_run(&world, 0);
    ck_assert(f->is_done);
    ck_assert(str_eqz(f->fetch.response.responses[0].topic, "t"));
    ck_assert(str_eqz(f->fetch.response.responses[1].topic, "nope"));
    node_fetch_free(f);
    end();
}
END_TEST

START_TEST(replica_must_be_assigned)
{
    begin();
    struct node_fetch *f = fetch(12, 9, 0);
    f->req.topics[0].partitions->current_leader_epoch = 3;
    expect(f, UNKNOWN_LEADER_EPOCH);
    expect(fetch(12, 9, 0), NOT_LEADER_OR_FOLLOWER);
    end();
}
END_TEST

START_TEST(replica_reads_to_the_end_and_wakes_on_append)
{
    begin();
    struct node_fetch *f = fetch(17, 2, 0);
    node_fetch_start(&node, f);
    ck_assert(!f->is_done);
    append("t", 1);
    world_run(&world, 0);
    ck_assert(f->is_done);
    ck_assert_uint_gt(records_len(node_fetch_part(f, "t", 0)->records), 0);
    node_fetch_free(f);
    end();
}
END_TEST

START_TEST(diverged_tail_is_told_and_moves_no_record)
{
    begin();
    append("t", 2);
    lead("t", 5);
    append("t", 2);
    struct node_fetch *f = fetch(12, 2, 3);
    f->req.topics[0].partitions->last_fetched_epoch = 4;
    node_fetch_start(&node, f);
    ck_assert(f->is_done);
    const struct fetch_response_partition *p = node_fetch_part(f, "t", 0);
    ck_assert_int_eq(p->error_code, 0);
    ck_assert_int_eq(p->diverging_epoch.epoch, 3);
    ck_assert_int_eq(p->diverging_epoch.end_offset, 2);
    ck_assert_uint_eq(records_len(p->records), 0);
    node_fetch_free(f);
    ck_assert_int_eq(remote_list_find(&node_partition(&node, "t", 0)->remotes, 2)->end_offset, -1);
    /* Above all epochs: out of range. */
    f = fetch(12, 2, 3);
    f->req.topics[0].partitions->last_fetched_epoch = 6;
    expect(f, OFFSET_OUT_OF_RANGE);
    end();
}
END_TEST

START_TEST(lost_leadership_ends_the_wait)
{
    begin();
    struct node_fetch *f = fetch(10, -1, 0);
    node_fetch_start(&node, f);
    struct node_state_of st = state("t", 2, 4);
    ck_assert_int_eq(node_order(&node, 1, &st), 0);
    world_run(&world, 0);
    ck_assert(f->is_done);
    ck_assert_int_eq(node_fetch_part(f, "t", 0)->error_code, NOT_LEADER_OR_FOLLOWER);
    node_fetch_free(f);
    end();
}
END_TEST

START_TEST(first_batch_comes_whole_and_only_once)
{
    begin();
    lead("u", 0);
    append("t", 2);
    append("u", 2);
    struct node_fetch *f = node_fetch_new(12, -1);
    f->req.max_bytes = 10;
    node_fetch_add(f, "t", 0, 0)->partition_max_bytes = 5;
    node_fetch_add(f, "u", 0, 0)->partition_max_bytes = 5;
    node_fetch_start(&node, f);
    ck_assert(f->is_done);
    ck_assert_uint_gt(records_len(node_fetch_part(f, "t", 0)->records), 60);
    ck_assert_uint_lt(records_len(node_fetch_part(f, "t", 0)->records), 120);
    ck_assert_uint_eq(records_len(node_fetch_part(f, "u", 0)->records), 0);
    node_fetch_free(f);
    /* Before version 3 the limit is hard, and the batch is cut. */
    f = node_fetch_new(2, -1);
    node_fetch_add(f, "t", 0, 0)->partition_max_bytes = 5;
    node_fetch_start(&node, f);
    ck_assert(f->is_done);
    ck_assert_uint_eq(records_len(node_fetch_part(f, "t", 0)->records), 5);
    node_fetch_free(f);
    end();
}
END_TEST

START_TEST(nearest_replica_is_named_where_the_selector_is_on)
{
    static const int32_t isr[] = {1, 2};

    world.is_rack_aware = true;
    begin();
    struct node_state_of st = state("t", 1, 4);
    st.isr = isr;
    st.isr_count = 2;
    ck_assert_int_eq(node_order(&node, 1, &st), 0);
    append("t", 1);
    struct node_fetch *f = fetch(12, 2, 1);
    f->req.max_wait_ms = 0;
    expect(f, 0);
    /* Racks are b, c, d for 1, 2, 3. */
    f = fetch(12, -1, 0);
    f->fetch.who.rack = STR("c");
    node_fetch_start(&node, f);
    ck_assert(f->is_done);
    ck_assert_int_eq(node_fetch_part(f, "t", 0)->preferred_read_replica, 2);
    ck_assert_uint_eq(records_len(node_fetch_part(f, "t", 0)->records), 0);
    node_fetch_free(f);
    static const char *const here[] = {"b", "d", "zz"};
    for (int i = 0; i < 3; i++) {
        f = fetch(12, -1, 0);
        f->fetch.who.rack = str_of(here[i]);
        node_fetch_start(&node, f);
        ck_assert_int_eq(node_fetch_part(f, "t", 0)->preferred_read_replica, -1);
        ck_assert_uint_gt(records_len(node_fetch_part(f, "t", 0)->records), 0);
        node_fetch_free(f);
    }
    end();
    world.is_rack_aware = false;
}
END_TEST

TEST_MAIN("broker/replica/delayed_fetch", data_is_answered_at_once,
          consumer_waits_for_the_watermark_and_no_longer, nothing_comes_until_the_time_is_up,
          min_bytes_are_waited_for, epochs_are_fenced_both_ways, any_negative_epoch_is_none,
          an_unknown_epoch_names_no_leader,
          committed_reads_tell_aborted_transactions_of_what_they_read, out_of_range_on_both_sides,
          unknown_things_have_their_codes, refused_partitions_come_last_and_do_not_end_the_wait,
          replica_must_be_assigned, replica_reads_to_the_end_and_wakes_on_append,
          diverged_tail_is_told_and_moves_no_record, lost_leadership_ends_the_wait,
          first_batch_comes_whole_and_only_once, nearest_replica_is_named_where_the_selector_is_on)
