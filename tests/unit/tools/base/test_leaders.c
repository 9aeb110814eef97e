#include "tools/base/leaders.h"
#include "tools/base/progress.h"

#include "common/base/err.h"
#include "common/base/mem.h"
#include "tests/support/fake_broker.h"
#include "tests/support/test_main.h"

#include <errno.h>

START_TEST(answers_are_found_from_the_last_one_on)
{
    struct led v[] = {{.topic = STR("a"), .partition = 0},
                      {.topic = STR("a"), .partition = 7},
                      {.topic = STR("b"), .partition = 0}};
    struct led *const parts[] = {&v[0], &v[1], &v[2]};
    size_t at = 0;

    ck_assert_ptr_eq(leaders_find(parts, 3, &at, STR("a"), 0), &v[0]);
    ck_assert_ptr_eq(leaders_find(parts, 3, &at, STR("b"), 0), &v[2]);
    ck_assert_ptr_eq(leaders_find(parts, 3, &at, STR("a"), 7), &v[1]);
    ck_assert_ptr_null(leaders_find(parts, 3, &at, STR("b"), 1));
    ck_assert_ptr_null(leaders_find(parts, 3, &at, STR("c"), 0));
}
END_TEST

START_TEST(time_left_is_that_of_the_pace_so_far)
{
    ck_assert_int_eq((int)progress_left(10, 40, 5.0), 15);
    ck_assert_int_eq((int)progress_left(0, 40, 5.0), -1);
    ck_assert_int_eq((int)progress_left(40, 40, 5.0), -1);
}
END_TEST

/* ---- with a broker ---- */

enum { PARTITIONS = 5000 };

static struct {
    struct fake_broker *broker;
    struct cluster *cluster;
    struct arena arena;
    struct strbuf why;
    char address[32];
    int asked;      /* ListOffsets requests so far */
    int refused;    /* so many of the first are answered with NOT_LEADER_OR_FOLLOWER */
    int hung_up_on; /* so many of the first are hung up on */
} net;

static void answer_metadata(const struct fake_request *q, struct metadata_response *m)
{
    static struct metadata_response_broker self;
    static struct metadata_response_topic topic;
    static struct metadata_response_partition partitions[PARTITIONS];
    const struct metadata_request *asked = q->body;

    msg_init(&metadata_response_desc, m);
    struct_init(&metadata_response_broker_desc, &self);
    self = (struct metadata_response_broker){
        .node_id = 1, .host = STR("127.0.0.1"), .port = fake_broker_port(net.broker)};
    m->brokers = &self;
    m->brokers_count = 1;
    m->controller_id = 1;
    struct_init(&metadata_response_topic_desc, &topic);
    topic.name = asked->topics_count > 0 ? asked->topics[0].name : STR("t");
    topic.error_code = str_eqz(topic.name, "t") ? 0 : UNKNOWN_TOPIC_OR_PARTITION;
    topic.partitions = partitions;
    topic.partitions_count = topic.error_code ? 0 : PARTITIONS;
    for (int i = 0; i < PARTITIONS; i++) {
        struct_init(&metadata_response_partition_desc, &partitions[i]);
        partitions[i].partition_index = i;
        partitions[i].leader_id = i == 3 ? -1 : 1;
    }
    m->topics = &topic;
    m->topics_count = asked->topics_count != 0;
}

/* The offset of a partition is ten times its number; that of number 2 cannot be had. */
static void answer_offsets(const struct fake_request *q, struct list_offsets_response *m)
{
    const struct list_offsets_request *asked = q->body;
    const struct list_offsets_request_topic *from = &asked->topics[0];
    struct list_offsets_response_topic *topic =
        arena_new(q->arena, struct list_offsets_response_topic);

    msg_init(&list_offsets_response_desc, m);
    m->topics = topic;
    m->topics_count = 1;
    topic->name = from->name;
    topic->partitions_count = from->partitions_count;
    topic->partitions = arena_new_array(q->arena, struct list_offsets_response_partition,
                                        (size_t)from->partitions_count);
    for (int32_t i = 0; i < from->partitions_count; i++) {
        struct list_offsets_response_partition *p = &topic->partitions[i];
        struct_init(&list_offsets_response_partition_desc, p);
        p->partition_index = from->partitions[i].partition_index;
        p->offset = p->partition_index * INT64_C(10);
        p->error_code = p->partition_index == 2 ? OFFSET_OUT_OF_RANGE : 0;
        if (net.asked <= net.refused)
            p->error_code = NOT_LEADER_OR_FOLLOWER;
    }
}

static enum fake_action answer(void *ctx UNUSED, const struct fake_request *q, void **ret)
{
    if (q->header.request_api_key == API_METADATA) {
        *ret = arena_new(q->arena, struct metadata_response);
        answer_metadata(q, *ret);
        return FAKE_ANSWER;
    }
    net.asked++;
    if (net.asked <= net.hung_up_on)
        return FAKE_CLOSE;
    *ret = arena_new(q->arena, struct list_offsets_response);
    answer_offsets(q, *ret);
    return FAKE_ANSWER;
}

static int ask(void *ctx UNUSED, int32_t leader, struct led *const *parts, size_t count,
               struct strbuf *why)
{
    return leaders_ask_offsets(net.cluster, leader, parts, count, why);
}

/* What came of a question about these partitions. */
static int run(struct led *v, size_t count, int64_t timeout_ms)
{
    static const struct invocation inv = {.program = "klamm test"};
    struct leaders_work w = {.v = v, .count = count, .ask = ask, .metadata_call = "test"};

    net.broker = fake_broker_start(answer, NULL);
    snprintf(net.address, sizeof net.address, "127.0.0.1:%d", fake_broker_port(net.broker));
    ck_assert_int_eq(
        cluster_open(
            &(struct cluster_opts){.inv = &inv, .bootstrap = net.address, .timeout_ms = timeout_ms},
            &net.why, &net.cluster),
        0);
    int r = leaders_run(net.cluster, &w, &net.arena, &net.why);
    net.cluster = cluster_close(net.cluster);
    net.broker = fake_broker_stop(net.broker);
    arena_deinit(&net.arena);
    strbuf_deinit(&net.why);
    return r;
}

START_TEST(each_partition_has_an_answer_or_an_error)
{
    struct led v[] = {{.topic = STR("t"), .partition = 1},
                      {.topic = STR("t"), .partition = 2},
                      {.topic = STR("t"), .partition = 9},
                      {.topic = STR("t"), .partition = PARTITIONS}};

    ck_assert_int_eq(run(v, ARRAY_LEN(v), 5000), 0);
    ck_assert_int_eq(v[0].answer, 10);
    ck_assert_int_eq(v[0].error, 0);
    ck_assert_int_eq(v[1].error, OFFSET_OUT_OF_RANGE);
    ck_assert_int_eq(v[2].answer, 90);
    ck_assert_int_eq(v[3].error, UNKNOWN_TOPIC_OR_PARTITION);
    ck_assert_int_eq(net.asked, 1);
}
END_TEST

START_TEST(what_passes_is_asked_again)
{
    struct led v[] = {{.topic = STR("t"), .partition = 1}};

    net.refused = 1;
    ck_assert_int_eq(run(v, 1, 5000), 0);
    ck_assert_int_eq(v[0].answer, 10);
    ck_assert_int_eq(net.asked, 2);
    net.refused = net.asked = 0;
    net.hung_up_on = 1;
    v[0] = (struct led){.topic = STR("t"), .partition = 4};
    ck_assert_int_eq(run(v, 1, 5000), 0);
    ck_assert_int_eq(v[0].answer, 40);
}
END_TEST

START_TEST(what_stays_is_given_up_when_the_time_is_over)
{
    struct led v[] = {{.topic = STR("t"), .partition = 1}, {.topic = STR("t"), .partition = 3}};

    ck_assert_int_eq(run(v, 2, 150), -ETIMEDOUT);
    ck_assert(v[0].done && v[0].answer == 10);
    ck_assert(!v[1].done && v[1].error == LEADER_NOT_AVAILABLE);
    ck_assert_int_eq(net.asked, 1); /* what is done is not asked again */
}
END_TEST

START_TEST(many_are_asked_in_parts)
{
    struct led *v = xnew_array(struct led, PARTITIONS);

    for (int i = 0; i < PARTITIONS; i++)
        v[i] = (struct led){.topic = STR("t"), .partition = i == 3 ? 4 : i};
    ck_assert_int_eq(run(v, PARTITIONS, 5000), 0);
    ck_assert_int_eq(net.asked, (PARTITIONS + LEADERS_CHUNK - 1) / LEADERS_CHUNK);
    ck_assert_int_eq(v[PARTITIONS - 1].answer, (PARTITIONS - 1) * 10);
    free(v);
}
END_TEST

TEST_MAIN("tools/base/leaders", answers_are_found_from_the_last_one_on,
          time_left_is_that_of_the_pace_so_far, each_partition_has_an_answer_or_an_error,
          what_passes_is_asked_again, what_stays_is_given_up_when_the_time_is_over,
          many_are_asked_in_parts)
