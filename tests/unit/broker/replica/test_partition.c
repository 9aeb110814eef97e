#include "broker/replica/partition.h"

#include "broker/replica/partition_isr.h"
#include "broker/replica/replica_internal.h"
#include "common/base/err.h"
#include "tests/support/replica_node.h"
#include "tests/support/test_main.h"

#include <unistd.h>

static struct node_world world;
static struct node node;
static const int32_t all[] = {1, 2, 3};

/* AlterPartition as it arrived; answered by the test. */
static struct fake_call *asked;

static void on_other(struct node *n UNUSED, struct fake_call *fc)
{
    ck_assert_int_eq(fc->api_key, API_ALTER_PARTITION);
    ck_assert_ptr_null(asked);
    asked = fc;
}

static struct node_state_of state(int32_t leader, int32_t epoch, const int32_t *isr, int32_t count)
{
    return (struct node_state_of){.topic = "t",
                                  .leader = leader,
                                  .leader_epoch = epoch,
                                  .partition_epoch = epoch,
                                  .isr = isr,
                                  .isr_count = count,
                                  .replicas = all,
                                  .replica_count = 3,
                                  .is_new = true};
}

static void begin(int32_t min_isr)
{
    world.min_isr = min_isr;
    world_init(&world);
    node.serve_other = on_other;
    node_open(&node, &world, 1);
    asked = NULL;
}

static void end(void)
{
    node_close(&node);
    world_deinit(&world);
}

static void lead(int32_t epoch, const int32_t *isr, int32_t count)
{
    struct node_state_of st = state(1, epoch, isr, count);

    node_tell(&node, 1, all, 3, &st);
    ck_assert_int_eq(node_order(&node, 1, &st), 0);
}

static struct log *the_log(void)
{
    return node_partition(&node, "t", 0)->log;
}

/* A fetch of a follower that does not wait. */
static void follower_fetch(int32_t replica, int64_t offset)
{
    struct node_fetch *f = node_fetch_new(12, replica);

    f->req.max_wait_ms = 0;
    node_fetch_add(f, "t", 0, offset);
    node_fetch_start(&node, f);
    ck_assert(f->is_done);
    ck_assert_int_eq(node_fetch_part(f, "t", 0)->error_code, 0);
    node_fetch_free(f);
}

static void append(int count)
{
    for (int i = 0; i < count; i++) {
        struct node_produce *p = node_produce(&node, "t", 1, 1000, "v");
        ck_assert(p->is_done);
        ck_assert_int_eq(p->error, 0);
        node_produce_free(p);
    }
}

static const struct alter_partition_request_partition *asked_for(void)
{
    const struct alter_partition_request *req = asked->request;

    ck_assert_int_eq(req->topics_count, 1);
    return req->topics[0].partitions;
}

static void answer(int error, int32_t partition_epoch, const int32_t *isr, int32_t count)
{
    const struct alter_partition_request *req = asked->request;
    struct alter_partition_response resp;
    struct alter_partition_response_topic t;
    struct alter_partition_response_partition p;

    msg_init(&alter_partition_response_desc, &resp);
    struct_init(&alter_partition_response_topic_desc, &t);
    struct_init(&alter_partition_response_partition_desc, &p);
    t.topic_name = req->topics[0].topic_name;
    t.topic_id = req->topics[0].topic_id;
    t.partitions = &p;
    t.partitions_count = 1;
    p.error_code = (int16_t)error;
    p.leader_id = 1;
    p.leader_epoch = req->topics[0].partitions[0].leader_epoch;
    p.partition_epoch = partition_epoch;
    int32_t ids[4];
    memcpy(ids, isr, (size_t)count * sizeof *ids);
    p.isr = ids;
    p.isr_count = count;
    resp.topics = &t;
    resp.topics_count = 1;
    fake_call_reply(TAKE(asked), &resp);
    world_run(&world, 0);
}

START_TEST(watermark_waits_for_every_member)
{
    begin(1);
    lead(0, all, 3);
    append(3);
    ck_assert_int_eq(log_end_offset(the_log()), 3);
    ck_assert_int_eq(log_high_watermark(the_log()), 0);
    follower_fetch(2, 3);
    ck_assert_int_eq(log_high_watermark(the_log()), 0);
    follower_fetch(3, 2);
    ck_assert_int_eq(log_high_watermark(the_log()), 2);
    follower_fetch(3, 3);
    ck_assert_int_eq(log_high_watermark(the_log()), 3);
    end();
}
END_TEST

START_TEST(alone_in_the_set_the_watermark_is_the_end)
{
    begin(1);
    lead(0, all, 1);
    append(2);
    ck_assert_int_eq(log_high_watermark(the_log()), 2);
    end();
}
END_TEST

START_TEST(below_min_isr_the_watermark_stands)
{
    begin(2);
    lead(0, all, 1);
    append(2);
    ck_assert_int_eq(log_high_watermark(the_log()), 0);
    end();
}
END_TEST

START_TEST(caught_up_replica_joins_with_the_controllers_word)
{
    begin(1);
    lead(0, all, 1);
    append(2);
    follower_fetch(2, 1);
    world_run(&world, 0);
    ck_assert_ptr_null(asked);
    follower_fetch(2, 2);
    world_run(&world, 0);
    ck_assert_ptr_nonnull(asked);
    ck_assert_int_eq(asked_for()->new_isr_count, 2);
    ck_assert_int_eq(asked_for()->new_isr[1], 2);
    /* While it is asked for, it counts already. */
    append(1);
    ck_assert_int_eq(log_high_watermark(the_log()), 2);
    answer(0, 1, all, 2);
    ck_assert_int_eq(node_partition(&node, "t", 0)->isr.committed.count, 2);
    ck_assert_int_eq(node_partition(&node, "t", 0)->partition_epoch, 1);
    follower_fetch(2, 3);
    ck_assert_int_eq(log_high_watermark(the_log()), 3);
    end();
}
END_TEST

START_TEST(refused_replica_is_out_again_and_asked_for_at_its_next_fetch)
{
    begin(1);
    lead(0, all, 1);
    follower_fetch(2, 0);
    world_run(&world, 0);
    answer(INELIGIBLE_REPLICA, -1, all, 0);
    ck_assert_int_eq(node_partition(&node, "t", 0)->isr.change, ISR_STABLE);
    follower_fetch(2, 0);
    world_run(&world, 0);
    ck_assert_ptr_nonnull(asked);
    answer(0, 1, all, 2);
    end();
}
END_TEST

/* The controller has not answered to a proposal of an earlier epoch, so none can be queued. */
START_TEST(what_cannot_be_proposed_is_not_said)
{
    char path[] = "/tmp/said-XXXXXX";
    int old = dup(STDERR_FILENO), fd = mkstemp(path);

    begin(1);
    lead(0, all, 1);
    follower_fetch(2, 0);
    lead(1, all, 1);
    ck_assert_int_ge(fd, 0);
    unlink(path);
    dup2(fd, STDERR_FILENO);
    for (int i = 0; i < 100; i++)
        follower_fetch(2, 0);
    dup2(old, STDERR_FILENO);
    ck_assert_int_eq((int)lseek(fd, 0, SEEK_END), 0);
    ck_assert_int_eq(node_partition(&node, "t", 0)->isr.change, ISR_STABLE);
    close(fd);
    close(old);
    end();
}
END_TEST

START_TEST(outdated_leader_keeps_its_proposal_and_its_watermark)
{
    begin(1);
    lead(0, all, 1);
    append(1);
    follower_fetch(2, 1);
    world_run(&world, 0);
    answer(FENCED_LEADER_EPOCH, -1, all, 0);
    ck_assert_int_eq(node_partition(&node, "t", 0)->isr.change, ISR_EXPANDING);
    append(1);
    ck_assert_int_eq(log_high_watermark(the_log()), 1);
    /* A LeaderAndIsr ends it. */
    lead(1, all, 1);
    ck_assert_int_eq(node_partition(&node, "t", 0)->isr.change, ISR_STABLE);
    ck_assert_int_eq(log_high_watermark(the_log()), 2);
    end();
}
END_TEST

START_TEST(unknown_answers_are_asked_again)
{
    begin(1);
    lead(0, all, 1);
    follower_fetch(2, 0);
    world_run(&world, 0);
    answer(UNKNOWN_SERVER_ERROR, -1, all, 0);
    ck_assert_ptr_nonnull(asked);
    answer(0, 1, all, 2);
    end();
}
END_TEST

START_TEST(late_members_are_taken_out_together)
{
    struct partition *part;

    begin(1);
    lead(0, all, 3);
    follower_fetch(2, 0);
    follower_fetch(3, 0);
    append(1);
    part = node_partition(&node, "t", 0);
    clock_fake_advance(&world.clock, 30000);
    partition_maybe_shrink(part);
    ck_assert_int_eq(part->isr.change, ISR_STABLE);
    clock_fake_advance(&world.clock, 1);
    partition_maybe_shrink(part);
    ck_assert_int_eq(part->isr.change, ISR_SHRINKING);
    world_run(&world, 0);
    ck_assert_int_eq(asked_for()->new_isr_count, 1);
    /* The old members still hold the watermark. */
    ck_assert_int_eq(log_high_watermark(part->log), 0);
    answer(0, 1, all, 1);
    ck_assert_int_eq(log_high_watermark(part->log), 1);
    end();
}
END_TEST

START_TEST(follower_at_the_end_stays_however_long_it_is_quiet)
{
    begin(1);
    lead(0, all, 3);
    append(1);
    follower_fetch(2, 1);
    follower_fetch(3, 1);
    clock_fake_advance(&world.clock, 3600000);
    partition_maybe_shrink(node_partition(&node, "t", 0));
    ck_assert_int_eq(node_partition(&node, "t", 0)->isr.change, ISR_STABLE);
    end();
}
END_TEST

START_TEST(joining_replica_is_not_outrun)
{
    begin(1);
    lead(0, all, 1);
    append(5);
    follower_fetch(2, 5);
    world_run(&world, 0);
    answer(INELIGIBLE_REPLICA, -1, all, 0);
    append(1);
    /* Outside the set, but caught up and alive: it holds the watermark for a while. */
    ck_assert_int_eq(log_high_watermark(the_log()), 5);
    clock_fake_advance(&world.clock, 30001);
    append(1);
    ck_assert_int_eq(log_high_watermark(the_log()), 7);
    end();
}
END_TEST

/* As in a controlled shutdown: taken out of the set, refused when it has fetched once more, then
 * unregistered, while all that produces waits for its answer. */
START_TEST(replica_that_has_gone_holds_no_watermark)
{
    static const int32_t left[] = {1, 2};

    begin(1);
    lead(0, all, 3);
    append(5);
    follower_fetch(2, 5);
    follower_fetch(3, 5);
    lead(1, left, 2);
    follower_fetch(3, 5);
    world_run(&world, 0);
    answer(INELIGIBLE_REPLICA, -1, left, 0);
    struct node_produce *p = node_produce(&node, "t", -1, 10000, "v");
    follower_fetch(2, 6);
    ck_assert(!p->is_done);
    ck_assert_int_eq(log_high_watermark(the_log()), 5);
    node_tell(&node, 1, left, 2, NULL);
    world_run(&world, 0);
    ck_assert_int_eq(log_high_watermark(the_log()), 6);
    ck_assert(p->is_done);
    ck_assert_int_eq(p->error, 0);
    node_produce_free(p);
    end();
}
END_TEST

START_TEST(new_leader_moves_its_watermark_only_when_all_have_fetched)
{
    begin(1);
    lead(0, all, 3);
    append(4);
    follower_fetch(2, 4);
    follower_fetch(3, 2);
    ck_assert_int_eq(log_high_watermark(the_log()), 2);
    struct node_state_of st = state(2, 1, all, 3);
    ck_assert_int_eq(node_order(&node, 1, &st), 0);
    lead(2, all, 3);
    follower_fetch(2, 4);
    ck_assert_int_eq(log_high_watermark(the_log()), 2);
    follower_fetch(3, 4);
    ck_assert_int_eq(log_high_watermark(the_log()), 4);
    end();
}
END_TEST

START_TEST(epoch_begins_without_a_record)
{
    int32_t epoch;
    int64_t offset;

    begin(1);
    lead(3, all, 1);
    ck_assert_int_eq(log_latest_epoch(the_log()), 3);
    append(2);
    lead(4, all, 1);
    log_end_offset_for_epoch(the_log(), 3, &epoch, &offset);
    ck_assert_int_eq(epoch, 3);
    ck_assert_int_eq(offset, 2);
    ck_assert_int_eq(node_partition(&node, "t", 0)->epoch_start, 2);
    end();
}
END_TEST

START_TEST(older_partition_epoch_changes_nothing)
{
    begin(1);
    lead(5, all, 3);
    struct node_state_of st = state(1, 6, all, 1);
    st.partition_epoch = 4;
    ck_assert_int_eq(node_order(&node, 1, &st), 0);
    ck_assert_int_eq(node_partition(&node, "t", 0)->leader_epoch, 5);
    ck_assert_int_eq(node_partition(&node, "t", 0)->isr.committed.count, 3);
    end();
}
END_TEST

START_TEST(append_is_refused_in_kafkas_order)
{
    struct node_produce *p;

    begin(2);
    p = node_produce(&node, "t", -1, 1000, "v");
    ck_assert_int_eq(p->error, UNKNOWN_TOPIC_OR_PARTITION);
    node_produce_free(p);
    lead(0, all, 1);
    p = node_produce(&node, "t", -1, 1000, "v");
    ck_assert_int_eq(p->error, NOT_ENOUGH_REPLICAS);
    ck_assert_int_eq(log_end_offset(the_log()), 0);
    ck_assert_int_eq(p->part.append.log.log_start_offset, 0);
    node_produce_free(p);
    append(1);
    struct node_state_of st = state(2, 1, all, 3);
    ck_assert_int_eq(node_order(&node, 1, &st), 0);
    p = node_produce(&node, "t", 1, 1000, "v");
    ck_assert_int_eq(p->error, NOT_LEADER_OR_FOLLOWER);
    ck_assert_int_eq(p->part.append.leader, 2);
    node_produce_free(p);
    end();
}
END_TEST

static int produce_as(int64_t id, int32_t sequence)
{
    struct node_produce *p =
        node_produce_as(&node, "t", 1, &(struct node_producer){id, 0, sequence});
    int error = p->error;

    ck_assert(p->is_done);
    node_produce_free(p);
    return error;
}

START_TEST(gap_behind_a_refused_batch_is_refused_alike)
{
    begin(1);
    lead(0, all, 3);
    ck_assert_int_eq(produce_as(7, 0), 0);
    struct node_state_of st = state(2, 1, all, 3);
    node_tell(&node, 1, all, 3, &st);
    ck_assert_int_eq(node_order(&node, 1, &st), 0);
    ck_assert_int_eq(produce_as(7, 1), NOT_LEADER_OR_FOLLOWER);
    ck_assert_int_eq(produce_as(7, 2), NOT_LEADER_OR_FOLLOWER);
    lead(2, all, 3);
    ck_assert_int_eq(produce_as(7, 3), NOT_LEADER_OR_FOLLOWER);
    ck_assert_int_eq(produce_as(8, 0), 0);
    ck_assert_int_eq(produce_as(8, 5), OUT_OF_ORDER_SEQUENCE_NUMBER);
    ck_assert_int_eq(log_end_offset(the_log()), 2);
    for (int32_t seq = 1; seq <= 3; seq++)
        ck_assert_int_eq(produce_as(7, seq), 0);
    ck_assert_int_eq(produce_as(7, 5), OUT_OF_ORDER_SEQUENCE_NUMBER);
    ck_assert_int_eq(log_end_offset(the_log()), 5);
    end();
}
END_TEST

TEST_MAIN("broker/replica/partition", gap_behind_a_refused_batch_is_refused_alike,
          watermark_waits_for_every_member, alone_in_the_set_the_watermark_is_the_end,
          below_min_isr_the_watermark_stands, caught_up_replica_joins_with_the_controllers_word,
          refused_replica_is_out_again_and_asked_for_at_its_next_fetch,
          what_cannot_be_proposed_is_not_said, outdated_leader_keeps_its_proposal_and_its_watermark,
          unknown_answers_are_asked_again, late_members_are_taken_out_together,
          follower_at_the_end_stays_however_long_it_is_quiet, joining_replica_is_not_outrun,
          replica_that_has_gone_holds_no_watermark,
          new_leader_moves_its_watermark_only_when_all_have_fetched, epoch_begins_without_a_record,
          older_partition_epoch_changes_nothing, append_is_refused_in_kafkas_order)
