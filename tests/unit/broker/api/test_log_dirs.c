#include "broker/api/handlers.h"

#include "broker/replica/partition.h"
#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/wire/header.h"
#include "tests/support/replica_node.h"
#include "tests/support/test_main.h"

static struct node_world world;
static struct node one;
static const int32_t alone[] = {1};
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
    b = (struct broker){.logs = one.logs, .replicas = one.m, .workq = world.workq};
}

static void end(void)
{
    node_close(&one);
    arena_deinit(&req.arena);
    world.workq = workq_free(world.workq);
    world_deinit(&world);
}

static void lead(const char *topic, int32_t partition)
{
    struct node_state_of st = {.topic = topic,
                               .partition = partition,
                               .leader = 1,
                               .leader_epoch = 1,
                               .isr = alone,
                               .isr_count = 1,
                               .replicas = alone,
                               .replica_count = 1,
                               .is_new = true};

    node_tell(&one, 1, alone, 1, &st);
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

static struct describe_log_dirs_response *ask_all(const struct describe_log_dirs_request *body,
                                                  int16_t version)
{
    struct describe_log_dirs_response *resp =
        arena_new(&req.arena, struct describe_log_dirs_response);

    call(API_DESCRIBE_LOG_DIRS, version, body, &describe_log_dirs_response_desc, resp);
    return resp;
}

/* The one dir's part. */
static struct describe_log_dirs_response_result *ask(const struct describe_log_dirs_request *body,
                                                     int16_t version)
{
    struct describe_log_dirs_response *resp = ask_all(body, version);

    ck_assert_int_eq(resp->results_count, 1);
    return &resp->results[0];
}

START_TEST(all_logs_are_told_by_topic)
{
    begin();
    lead("u", 1);
    lead("t", 2);
    lead("t", 0);
    struct node_produce *p = node_produce(&one, "t", 1, 1000, "value");
    ck_assert_int_eq(p->error, 0);
    node_produce_free(p);
    struct describe_log_dirs_request all = {.topics_count = -1};
    const struct describe_log_dirs_response_result *res = ask(&all, 4);
    ck_assert_int_eq(res->error_code, 0);
    ck_assert(str_eqz(res->log_dir, one.dir));
    ck_assert_int_gt(res->total_bytes, 0);
    ck_assert_int_le(res->usable_bytes, res->total_bytes);
    ck_assert_int_eq(res->topics_count, 2);
    ck_assert(str_eqz(res->topics[0].name, "t"));
    ck_assert_int_eq(res->topics[0].partitions_count, 2);
    ck_assert_int_eq(res->topics[0].partitions[0].partition_index, 0);
    ck_assert_int_gt(res->topics[0].partitions[0].partition_size, 60);
    ck_assert_int_eq(res->topics[0].partitions[0].offset_lag, 0);
    ck_assert_int_eq(res->topics[0].partitions[1].partition_index, 2);
    ck_assert_int_eq(res->topics[0].partitions[1].partition_size, 0);
    ck_assert_int_eq(res->topics[1].partitions[0].partition_index, 1);
    end();
}
END_TEST

START_TEST(only_what_is_asked_for_is_told)
{
    struct describe_log_dirs_request_topic topics[] = {{STR("t"), (int32_t[]){1, 1, 7}, 3},
                                                       {STR("nothing"), (int32_t[]){0}, 1}};
    struct describe_log_dirs_request some = {topics, 2}, none = {topics, 0};

    begin();
    lead("t", 0);
    lead("t", 1);
    const struct describe_log_dirs_response_result *res = ask(&some, 1);
    ck_assert_int_eq(res->topics_count, 1);
    ck_assert_int_eq(res->topics[0].partitions_count, 1);
    ck_assert_int_eq(res->topics[0].partitions[0].partition_index, 1);
    ck_assert_int_eq(res->total_bytes, -1); /* not told before version 4 */
    ck_assert_int_eq(ask(&none, 2)->topics_count, 0);
    end();
}
END_TEST

START_TEST(log_without_replica_has_no_lag)
{
    struct describe_log_dirs_request all = {.topics_count = -1};

    begin();
    lead("t", 0);
    node_close(&one);
    node_open(&one, &world, 1);
    b = (struct broker){.logs = one.logs, .replicas = one.m, .workq = world.workq};
    ck_assert_int_eq(ask(&all, 0)->topics[0].partitions[0].offset_lag, -1);
    end();
}
END_TEST

START_TEST(failed_dir_is_an_error)
{
    struct describe_log_dirs_request all = {.topics_count = -1};

    begin();
    lead("t", 0);
    log_manager_dir_failed(one.logs, log_manager_dir_path(one.logs, 0), -EIO, "test");
    const struct describe_log_dirs_response_result *res = ask(&all, 4);
    ck_assert_int_eq(res->error_code, KAFKA_STORAGE_ERROR);
    ck_assert_int_eq(res->topics_count, 0);
    ck_assert_int_eq(res->total_bytes, -1);
    end();
}
END_TEST

/* The request names t-0 twice, of which the last counts, and topics out of order. */
START_TEST(replicas_are_sent_to_dirs)
{
    struct alter_replica_log_dirs_response resp;
    struct describe_log_dirs_request all = {.topics_count = -1};
    const struct describe_log_dirs_response *dirs;

    world.log_dirs = 3;
    begin();
    lead("u", 0);
    lead("t", 0);
    struct node_produce *p = node_produce(&one, "t", 1, 1000, "value");
    node_produce_free(p);
    int home = 0;
    while (strcmp(log_dir_path(node_partition(&one, "t", 0)->log), one.dirs[home]) != 0)
        home++;
    int target = (home + 1) % 3;
    struct alter_replica_log_dirs_request_topic first[] = {{STR("u"), (int32_t[]){7}, 1},
                                                           {STR("t"), (int32_t[]){0}, 1}},
                                                last = {STR("t"), (int32_t[]){0, 3}, 2};
    struct alter_replica_log_dirs_request_dir wishes[] = {{STR("nowhere"), first, 2},
                                                          {str_of(one.dirs[target]), &last, 1}};
    struct alter_replica_log_dirs_request body = {wishes, 2};
    for (int16_t version = 0; version <= 2; version++) {
        call(API_ALTER_REPLICA_LOG_DIRS, version, &body, &alter_replica_log_dirs_response_desc,
             &resp);
        ck_assert_int_eq(resp.results_count, 2);
        ck_assert(str_eqz(resp.results[0].topic_name, "t"));
        ck_assert_int_eq(resp.results[0].partitions_count, 2);
        ck_assert_int_eq(resp.results[0].partitions[0].error_code, 0);
        ck_assert_int_eq(resp.results[0].partitions[1].partition_index, 3);
        ck_assert_int_eq(resp.results[0].partitions[1].error_code, UNKNOWN_TOPIC_OR_PARTITION);
        ck_assert(str_eqz(resp.results[1].topic_name, "u"));
        ck_assert_int_eq(resp.results[1].partitions[0].error_code, LOG_DIR_NOT_FOUND);
    }
    dirs = ask_all(&all, 4);
    ck_assert_int_eq(dirs->results_count, 3);
    const struct describe_log_dirs_response_topic *t = &dirs->results[target].topics[0];
    ck_assert(str_eqz(t->name, "t"));
    ck_assert(t->partitions[0].is_future_key);
    ck_assert_int_eq(t->partitions[0].offset_lag, 1);
    ck_assert_int_eq(t->partitions[0].partition_size, 0);
    for (int32_t i = 0; i < dirs->results[home].topics_count; i++)
        ck_assert(!dirs->results[home].topics[i].partitions[0].is_future_key);
    end();
    world.log_dirs = 0;
}
END_TEST

TEST_MAIN("broker/api/log_dirs", all_logs_are_told_by_topic, replicas_are_sent_to_dirs,
          only_what_is_asked_for_is_told, log_without_replica_has_no_lag, failed_dir_is_an_error)
