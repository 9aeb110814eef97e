/*
 * test_group_load.c - what a log of __consumer_offsets makes of the groups (disk.md 12.7)
 */
#include "broker/group/group_load.h"

#include "broker/storage/log.h"
#include "common/base/err.h"
#include "tests/support/group_node.h"

static struct group_node n;

static void begin(int32_t load_buffer_size)
{
    n = (struct group_node){.load_buffer_size = load_buffer_size};
    group_node_open(&n);
}

static struct batch_builder batch_of(int64_t producer_id)
{
    struct batch_opts opts = BATCH_OPTS_PLAIN;
    struct batch_builder bb;

    opts.producer_id = producer_id;
    opts.producer_epoch = producer_id >= 0 ? 0 : NO_PRODUCER_EPOCH;
    opts.base_sequence = producer_id >= 0 ? 0 : NO_SEQUENCE;
    opts.is_transactional = producer_id >= 0;
    batch_builder_init(&bb, &opts);
    return bb;
}

static void append(struct batch_builder *bb)
{
    group_node_append(&n, bb);
    batch_builder_deinit(bb);
}

static struct group_key key_of(const char *group, int32_t partition)
{
    return (struct group_key){.kind = partition < 0 ? GROUP_KEY_GROUP : GROUP_KEY_OFFSET,
                              .group = str_of(group),
                              .topic = STR("t"),
                              .partition = partition};
}

static void add_offset(struct batch_builder *bb, const char *group, int32_t partition,
                       int64_t offset)
{
    struct group_key key = key_of(group, partition);
    struct committed c = {.offset = offset,
                          .leader_epoch = -1,
                          .metadata = STR("m"),
                          .commit_ms = 1,
                          .expire_ms = -1};

    ck_assert_int_eq(offset_record_add(bb, IBP_3_9_IV0, &key, &c, 1), 0);
}

/* One record, of a transaction where producer_id is one. */
static void put(const char *group, int32_t partition, int64_t offset, int64_t producer_id)
{
    struct batch_builder bb = batch_of(producer_id);

    add_offset(&bb, group, partition, offset);
    append(&bb);
}

/* partition -1: of the group. */
static void put_tombstone(const char *group, int32_t partition)
{
    struct batch_builder bb = batch_of(NO_PRODUCER_ID);
    struct group_key key = key_of(group, partition);

    ck_assert_int_eq(tombstone_add(&bb, &key, 1), 0);
    append(&bb);
}

static void put_group(const char *group, int32_t generation, const char *member)
{
    struct batch_builder bb = batch_of(NO_PRODUCER_ID);
    struct group_metadata_value_member m = {.member_id = str_of(member ? member : ""),
                                            .group_instance_id = STR_NULL,
                                            .client_id = STR("c"),
                                            .client_host = STR("/h"),
                                            .rebalance_timeout = 60000,
                                            .session_timeout = 10000,
                                            .subscription = slice_of("s", 1),
                                            .assignment = slice_of("a", 1)};
    struct group_metadata_value v = {.protocol_type = STR("consumer"),
                                     .generation = generation,
                                     .protocol = member ? STR("range") : STR_NULL,
                                     .leader = member ? str_of(member) : STR_NULL,
                                     .current_state_timestamp = 5,
                                     .members = &m,
                                     .members_count = member != NULL};

    ck_assert_int_eq(group_record_add(&bb, IBP_3_9_IV0, str_of(group), &v, 1), 0);
    append(&bb);
}

static void put_raw(struct slice key, struct slice value)
{
    struct batch_builder bb = batch_of(NO_PRODUCER_ID);

    batch_builder_add(&bb, &(struct record){.timestamp = 1, .key = key, .value = value});
    append(&bb);
}

static int64_t offset(const char *group, int32_t partition)
{
    return group_node_offset(&n, group, partition);
}

/* -1: there is no such group. */
static int state_of(const char *group, int32_t *ret_generation)
{
    struct group *CLEANUP(group_unref_p) g = group_node_find(&n, group);

    if (!g)
        return -1;
    LOCK_SCOPE(&g->lock);
    if (ret_generation)
        *ret_generation = g->generation;
    return g->state;
}

START_TEST(last_record_of_each_key_counts)
{
    int32_t generation;

    begin(0);
    put("g", 0, 1, -1);
    put("h", 0, 2, -1);
    put("g", 1, 3, -1);
    put("g", 0, 4, -1);
    put_group("g", 1, "m1");
    put_group("g", 2, "m2");
    put_group("empty", 9, NULL);
    group_node_elect(&n);
    ck_assert_int_eq(offset("g", 0), 4);
    ck_assert_int_eq(offset("g", 1), 3);
    ck_assert_int_eq(offset("h", 0), 2);
    ck_assert_int_eq(offset("h", 1), -1);
    ck_assert_int_eq(state_of("g", &generation), GROUP_STABLE);
    ck_assert_int_eq(generation, 2);
    ck_assert_int_eq(coordinator_heartbeat(n.m, STR("g"), STR("m2"), STR_NULL, 2), 0);
    ck_assert_int_eq(coordinator_heartbeat(n.m, STR("g"), STR("m1"), STR_NULL, 2),
                     UNKNOWN_MEMBER_ID);
    ck_assert_int_eq(state_of("empty", &generation), GROUP_EMPTY);
    ck_assert_int_eq(generation, 9);
    ck_assert_int_eq(state_of("h", &generation), GROUP_EMPTY);
    ck_assert_int_eq(generation, 0);
    group_node_close(&n);
}
END_TEST

START_TEST(tombstones_take_out_what_was_before_them)
{
    begin(0);
    put("g", 0, 1, -1);
    put("g", 1, 2, -1);
    put_tombstone("g", 0);
    put_group("gone", 3, "m");
    put_tombstone("gone", -1);
    put("bare", 0, 1, -1);
    put_tombstone("bare", 0);
    put_group("kept", 3, "m");
    put("kept", 0, 8, -1);
    put_tombstone("kept", -1);
    put_tombstone("never", 5);
    group_node_elect(&n);
    ck_assert_int_eq(offset("g", 0), -1);
    ck_assert_int_eq(offset("g", 1), 2);
    ck_assert_int_eq(state_of("gone", NULL), -1);
    ck_assert_int_eq(state_of("bare", NULL), -1);
    ck_assert_int_eq(state_of("never", NULL), -1);
    ck_assert_int_eq(state_of("kept", NULL), GROUP_EMPTY);
    ck_assert_int_eq(offset("kept", 0), 8);
    group_node_close(&n);
}
END_TEST

START_TEST(transactions_count_by_their_marker)
{
    begin(0);
    put("g", 0, 1, -1);
    put("g", 0, 10, 7); /* committed */
    put("h", 0, 11, 7);
    put("g", 1, 12, 8); /* aborted */
    put("g", 2, 2, -1);
    put("g", 2, 13, 9); /* open */
    group_node_append_marker(&n, 8, false);
    group_node_append_marker(&n, 7, true);
    group_node_append_marker(&n, 1234, true); /* of nothing that we know */
    group_node_elect(&n);
    ck_assert_int_eq(offset("g", 0), 10);
    ck_assert_int_eq(offset("h", 0), 11);
    ck_assert_int_eq(offset("g", 1), -1);
    ck_assert_int_eq(offset("g", 2), -UNSTABLE_OFFSET_COMMIT);
    group_node_close(&n);
}
END_TEST

/* It was committed last, but lies before the plain one. */
START_TEST(of_two_offsets_the_later_in_the_log_counts)
{
    begin(0);
    put("g", 0, 10, 7);
    put("g", 0, 20, -1);
    group_node_append_marker(&n, 7, true);
    put("g", 1, 20, -1);
    put("g", 1, 10, 7);
    group_node_append_marker(&n, 7, true);
    group_node_elect(&n);
    ck_assert_int_eq(offset("g", 0), 20);
    ck_assert_int_eq(offset("g", 1), 10);
    group_node_close(&n);
}
END_TEST

START_TEST(what_is_no_record_of_a_coordinator_is_passed_over)
{
    static const uint8_t later[] = {0, 9, 1, 2, 3}, cut[] = {0, 1, 0, 5, 'g'}, one[] = {0};
    struct batch_builder bb = batch_of(NO_PRODUCER_ID);
    struct group_key key = key_of("bad", 0), group = key_of("bad", -1);

    begin(0);
    put_raw(slice_of(later, sizeof later), slice_of("x", 1));
    put_raw(slice_of(cut, sizeof cut), slice_of("x", 1));
    put_raw(slice_of(one, sizeof one), slice_of("x", 1));
    put_raw(slice_of("", 0), slice_of("", 0));
    put_raw((struct slice){0}, slice_of("x", 1));
    put_raw((struct slice){0}, (struct slice){0});
    /* Keys of ours with values that are none: taken from tombstones. */
    ck_assert_int_eq(tombstone_add(&bb, &key, 1), 0);
    ck_assert_int_eq(tombstone_add(&bb, &group, 1), 0);
    append(&bb);
    static const uint8_t offset_key[] = {0, 1, 0, 3, 'b', 'a', 'd', 0, 1, 't', 0, 0, 0, 0};
    static const uint8_t group_key[] = {0, 2, 0, 3, 'b', 'a', 'd'};
    put_raw(slice_of(offset_key, sizeof offset_key), slice_of("?", 1));
    put_raw(slice_of(group_key, sizeof group_key), slice_of("\0\3?", 3));
    put_raw(slice_of(group_key, sizeof group_key), slice_of("", 0));
    put("g", 0, 5, -1);
    group_node_elect(&n);
    ck_assert_int_eq(offset("g", 0), 5);
    ck_assert_int_eq(state_of("bad", NULL), -1);
    group_node_close(&n);
}
END_TEST

/* A chunk that ends in a batch, and a batch that is larger than a chunk. */
START_TEST(chunks_may_be_of_any_size)
{
    begin(100);
    for (int i = 0; i < 50; i++)
        put("g", i % 10, i, -1);
    struct batch_builder bb = batch_of(NO_PRODUCER_ID);
    for (int i = 0; i < 200; i++)
        add_offset(&bb, "big", i, 1000 + i);
    append(&bb);
    put("g", 0, 77, -1);
    group_node_elect(&n);
    for (int i = 1; i < 10; i++)
        ck_assert_int_eq(offset("g", i), 40 + i);
    ck_assert_int_eq(offset("g", 0), 77);
    ck_assert_int_eq(offset("big", 0), 1000);
    ck_assert_int_eq(offset("big", 199), 1199);
    group_node_close(&n);
}
END_TEST

START_TEST(log_that_starts_late_or_is_empty)
{
    begin(0);
    group_node_elect(&n);
    ck_assert_int_eq(group_manager_check(n.m, STR("g")), 0);
    group_node_resign(&n);
    put("g", 0, 1, -1);
    put("g", 1, 2, -1);
    struct partition *part = node_partition(&n.node, "__consumer_offsets", 0);
    ck_assert_int_eq(log_raise_start(part->log, 1), 0);
    group_node_elect(&n);
    ck_assert_int_eq(offset("g", 0), -1);
    ck_assert_int_eq(offset("g", 1), 2);
    group_node_resign(&n);
    ck_assert_int_eq(log_raise_start(part->log, 2), 0);
    group_node_elect(&n);
    ck_assert_int_eq(state_of("g", NULL), -1);
    group_node_close(&n);
}
END_TEST

/* Groups that were read are alive: their members' sessions end. */
START_TEST(sessions_begin_when_a_group_is_read)
{
    begin(0);
    put_group("g", 1, "m");
    group_node_elect(&n);
    group_node_run(&n, 9900);
    ck_assert_int_eq(state_of("g", NULL), GROUP_STABLE);
    group_node_run(&n, 200);
    ck_assert_int_eq(state_of("g", NULL), GROUP_EMPTY);
    group_node_move(&n); /* which was written */
    ck_assert_int_eq(state_of("g", NULL), GROUP_EMPTY);
    group_node_close(&n);
}
END_TEST

TEST_MAIN("broker/group/group_load", last_record_of_each_key_counts,
          tombstones_take_out_what_was_before_them, transactions_count_by_their_marker,
          of_two_offsets_the_later_in_the_log_counts,
          what_is_no_record_of_a_coordinator_is_passed_over, chunks_may_be_of_any_size,
          log_that_starts_late_or_is_empty, sessions_begin_when_a_group_is_read)
