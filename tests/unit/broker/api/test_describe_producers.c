#include "broker/api/handlers.h"

#include "broker/replica/partition.h"
#include "common/base/err.h"
#include "common/record/builder.h"
#include "common/wire/header.h"
#include "tests/support/replica_node.h"
#include "tests/support/test_main.h"

static struct node_world world;
static struct node one;
static const int32_t alone[] = {1}, both[] = {1, 2};
static struct request req;
static struct broker b;
static bool is_answered;

static void on_answer(struct message *m UNUSED)
{
    is_answered = true;
}

static void begin(void)
{
    world.ibp = IBP_3_9_IV0;
    world_init(&world);
    ck_assert_int_eq(workq_new("test", 1, &world.workq), 0);
    node_open(&one, &world, 1);
    b = (struct broker){.metadata = one.metadata, .replicas = one.m, .workq = world.workq};
}

static void end(void)
{
    node_close(&one);
    arena_deinit(&req.arena);
    world.workq = workq_free(world.workq);
    world_deinit(&world);
}

static void order(const char *topic, int32_t leader, int32_t epoch)
{
    struct node_state_of st = {.topic = topic,
                               .leader = leader,
                               .leader_epoch = epoch,
                               .partition_epoch = epoch,
                               .isr = alone,
                               .isr_count = 1,
                               .replicas = both,
                               .replica_count = 2,
                               .is_new = true};

    node_tell(&one, 1, both, 2, &st);
    ck_assert_int_eq(node_order(&one, 1, &st), 0);
}

/* What the API's handler answers, decoded from its bytes. */
static void call(int16_t key, int16_t version, const void *body, const struct msg_desc *desc,
                 void *resp)
{
    req = (struct request){.arena = req.arena,
                           .api_key = key,
                           .version = version,
                           .body = body,
                           .reactor = world.reactor,
                           .message = {.run = on_answer}};
    is_answered = false;
    api_table_find(&api_table, key)(&b, &req);
    while (!is_answered)
        reactor_turn(world.reactor, 1000);
    struct slice frame = writer_flat(req.answer), left;
    struct request_header h = {.request_api_key = key, .request_api_version = version};
    int32_t correlation_id;
    ck_assert_int_eq(response_header_decode(&h, slice_from(frame, 4), &correlation_id, &left), 0);
    ck_assert_int_eq(codec_decode(desc, version, left, &req.arena, resp), 0);
}

static const struct describe_producers_response *ask(const struct describe_producers_request *body)
{
    struct describe_producers_response *resp =
        arena_new(&req.arena, struct describe_producers_response);

    call(API_DESCRIBE_PRODUCERS, 0, body, &describe_producers_response_desc, resp);
    return resp;
}

/* A batch of two records of an idempotent producer. */
static void write_as(int64_t producer_id, int16_t epoch, int32_t sequence)
{
    CLEANUP(batch_builder_deinit) struct batch_builder bb;
    CLEANUP(strbuf_deinit) struct strbuf out = {0};
    CLEANUP(arena_deinit) struct arena a = {0};
    struct batch_opts opts = BATCH_OPTS_PLAIN;
    struct partition_append done;

    opts.producer_id = producer_id;
    opts.producer_epoch = epoch;
    opts.base_sequence = sequence;
    batch_builder_init(&bb, &opts);
    for (int i = 0; i < 2; i++)
        batch_builder_add(&bb, &(struct record){.offset = i,
                                                .timestamp = world.clock.wall_ms,
                                                .value = slice_of("v", 1)});
    ck_assert_int_eq(batch_builder_finish(&bb, &out), 0);
    struct partition_append_opts append = {
        .records = slice_of_str(strbuf_str(&out)), .acks = 1, .arena = &a};
    ck_assert_int_eq(partition_append(node_partition(&one, "t", 0), &append, &done), 0);
}

static void check_producers(const struct describe_producers_response_partition *p)
{
    ck_assert_int_eq(p->error_code, 0);
    ck_assert(str_is_null(p->error_message));
    ck_assert_int_eq(p->active_producers_count, 2);
    const struct describe_producers_response_active_producer *first = &p->active_producers[0];
    const struct describe_producers_response_active_producer *second = &p->active_producers[1];
    if (first->producer_id != 7) {
        first = second;
        second = &p->active_producers[0];
    }
    ck_assert_int_eq(first->producer_id, 7);
    ck_assert_int_eq(first->producer_epoch, 3);
    ck_assert_int_eq(first->last_sequence, 3);
    ck_assert_int_eq(first->last_timestamp, world.clock.wall_ms);
    ck_assert_int_eq(first->coordinator_epoch, -1);
    ck_assert_int_eq(first->current_txn_start_offset, -1);
    ck_assert_int_eq(second->producer_id, 9);
    ck_assert_int_eq(second->last_sequence, 1);
}

START_TEST(leader_and_follower_tell_who_writes)
{
    struct describe_producers_request_topic topic = {STR("t"), (int32_t[]){0}, 1};
    struct describe_producers_request body = {&topic, 1};

    begin();
    order("t", 1, 0);
    ck_assert_int_eq(ask(&body)->topics[0].partitions[0].active_producers_count, 0);
    write_as(7, 3, 0);
    write_as(7, 3, 2);
    write_as(9, 0, 0);
    check_producers(&ask(&body)->topics[0].partitions[0]);
    order("t", 2, 1);
    check_producers(&ask(&body)->topics[0].partitions[0]);
    end();
}
END_TEST

START_TEST(errors_come_in_kafkas_order)
{
    struct describe_producers_request_topic topics[] = {{STR("no/name"), (int32_t[]){0, 1}, 2},
                                                        {STR("nothing"), (int32_t[]){0}, 1},
                                                        {STR("t"), (int32_t[]){5, 0}, 2},
                                                        {STR("t"), NULL, 0}};
    struct describe_producers_request body = {topics, 4};

    begin();
    order("t", 1, 0);
    const struct describe_producers_response *resp = ask(&body);
    ck_assert_int_eq(resp->topics_count, 4);
    for (int i = 0; i < 2; i++) {
        const struct describe_producers_response_partition *p = &resp->topics[0].partitions[i];
        ck_assert_int_eq(p->partition_index, i);
        ck_assert_int_eq(p->error_code, INVALID_TOPIC_EXCEPTION);
        ck_assert_int_gt(p->error_message.len, 10);
        ck_assert_int_eq(p->active_producers_count, 0);
    }
    const struct describe_producers_response_partition *p = &resp->topics[1].partitions[0];
    ck_assert_int_eq(p->error_code, UNKNOWN_TOPIC_OR_PARTITION);
    ck_assert(str_eqz(p->error_message, "This server does not host this topic-partition."));
    p = resp->topics[2].partitions;
    ck_assert_int_eq(p[0].error_code, UNKNOWN_TOPIC_OR_PARTITION);
    ck_assert(str_is_null(p[0].error_message));
    ck_assert_int_eq(p[1].error_code, 0);
    ck_assert_int_eq(resp->topics[3].partitions_count, 0);
    end();
}
END_TEST

TEST_MAIN("broker/api/describe_producers", leader_and_follower_tell_who_writes,
          errors_come_in_kafkas_order)
