/*
 * test_metadata_unheard.c - what is said of topics while no controller has told of any
 */
#include "broker/api/handlers.h"

#include "broker/config/broker_conf.h"
#include "common/base/err.h"
#include "tests/support/api_call.h"
#include "tests/support/replica_node.h"
#include "tests/support/test_main.h"

static struct node_world world;
static struct node one;
static const int32_t alone[] = {1};
static struct broker_conf conf;
static struct broker b;
static struct api_call call;

static void begin(void)
{
    world.ibp = IBP_3_9_IV0;
    world_init(&world);
    node_open(&one, &world, 1);
    conf = (struct broker_conf){.auto_create_topics_enable = false};
    b = (struct broker){.clock = &world.clock.clock,
                        .conf = &conf,
                        .logs = one.logs,
                        .metadata = one.metadata,
                        .replicas = one.m,
                        .start_ms = clock_mono_ms(&world.clock.clock)};
    call = (struct api_call){.b = &b, .reactor = world.reactor};
}

static void end(void)
{
    api_call_deinit(&call);
    node_close(&one);
    world_deinit(&world);
}

static int16_t ask(struct metadata_request_topic *topic)
{
    struct metadata_request body = {.topics = topic, .topics_count = 1};
    struct metadata_response resp;

    api_call(&call, API_METADATA, 12, &body, &resp);
    ck_assert_int_eq(resp.topics_count, 1);
    return resp.topics[0].error_code;
}

static int16_t ask_by_name(const char *name)
{
    return ask(&(struct metadata_request_topic){.name = str_of(name)});
}

static int16_t ask_by_id(const char *name)
{
    return ask(&(struct metadata_request_topic){.topic_id = node_topic_id(name)});
}

static void check_says(int16_t by_name, int16_t by_id)
{
    ck_assert_int_eq(ask_by_name("there"), by_name);
    ck_assert_int_eq(ask_by_id("there"), by_id);
    ck_assert_int_eq(ask_by_name("not a name"), INVALID_TOPIC_EXCEPTION);
}

static void make_log(const char *topic)
{
    struct log_create_opts opts = {
        .topic = str_of(topic), .topic_id = node_topic_id(topic), .conf = topic_conf_new()};
    struct log *log;

    ck_assert_int_eq(log_manager_create(one.logs, &opts, &log), 0);
    log_put(log);
    topic_conf_unref(opts.conf);
}

static void tell_of(const char *topic, int32_t leader)
{
    struct node_state_of st = {.topic = topic,
                               .leader = leader,
                               .leader_epoch = 1,
                               .isr = alone,
                               .isr_count = 1,
                               .replicas = alone,
                               .replica_count = 1};

    node_tell(&one, 1, alone, 1, &st);
}

START_TEST(without_a_controller_clients_wait)
{
    begin();
    check_says(LEADER_NOT_AVAILABLE, LEADER_NOT_AVAILABLE);
    end();
}
END_TEST

START_TEST(without_logs_there_are_no_topics)
{
    begin();
    node_tell(&one, 1, alone, 1, NULL);
    check_says(UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_TOPIC_ID);
    end();
}
END_TEST

/* Between a new controller's first words, of brokers alone, and what it says of topics. */
START_TEST(with_logs_clients_wait_for_word_of_topics)
{
    begin();
    make_log("there");
    node_tell(&one, 1, alone, 1, NULL);
    check_says(LEADER_NOT_AVAILABLE, LEADER_NOT_AVAILABLE);
    tell_of("there", 1);
    check_says(NONE, NONE);
    ck_assert_int_eq(ask_by_name("another"), UNKNOWN_TOPIC_OR_PARTITION);
    end();
}
END_TEST

START_TEST(logs_of_topics_that_are_gone_keep_nobody_waiting)
{
    begin();
    make_log("there");
    node_tell(&one, 1, alone, 1, NULL);
    clock_fake_advance(&world.clock, 59999);
    check_says(LEADER_NOT_AVAILABLE, LEADER_NOT_AVAILABLE);
    clock_fake_advance(&world.clock, 1);
    check_says(UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_TOPIC_ID);
    end();
}
END_TEST

/* Its log goes a moment later. */
START_TEST(the_last_topic_that_is_deleted_is_gone_at_once)
{
    begin();
    make_log("there");
    tell_of("there", 1);
    tell_of("there", -2);
    check_says(UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_TOPIC_ID);
    end();
}
END_TEST

TEST_MAIN("broker/api/metadata_unheard", without_a_controller_clients_wait,
          without_logs_there_are_no_topics, with_logs_clients_wait_for_word_of_topics,
          logs_of_topics_that_are_gone_keep_nobody_waiting,
          the_last_topic_that_is_deleted_is_gone_at_once)
