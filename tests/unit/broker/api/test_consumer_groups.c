#include "broker/api/handlers.h"

#include "common/base/err.h"
#include "common/wire/header.h"
#include "tests/support/fake_cluster.h"
#include "tests/support/test_main.h"

static struct request req;
static struct clock_fake fake_clock;
static struct reactor *reactor;
static bool is_answered;

static void on_answer(struct message *m UNUSED)
{
    is_answered = true;
}

static void begin(void)
{
    clock_fake_init(&fake_clock, 1700000000000);
    ck_assert_int_eq(reactor_new("test", &fake_clock.clock, &reactor), 0);
}

static void end(void)
{
    arena_deinit(&req.arena);
    reactor = reactor_free(reactor);
}

/* What the API's handler answers, decoded from its bytes. */
static void call(int16_t key, const void *body, const struct msg_desc *desc, void *resp)
{
    static struct broker b;

    req = (struct request){.arena = req.arena,
                           .api_key = key,
                           .body = body,
                           .reactor = reactor,
                           .message = {.run = on_answer}};
    is_answered = false;
    ck_assert_ptr_nonnull(api_table_find(&api_table, key));
    api_table_find(&api_table, key)(&b, &req);
    while (!is_answered)
        reactor_turn(reactor, 1000);
    struct slice frame = writer_flat(req.answer), left;
    struct request_header h = {.request_api_key = key};
    int32_t correlation_id;
    ck_assert_int_eq(response_header_decode(&h, slice_from(frame, 4), &correlation_id, &left), 0);
    ck_assert_int_eq(codec_decode(desc, 0, left, &req.arena, resp), 0);
}

START_TEST(a_member_is_told_that_its_protocol_is_not_spoken)
{
    struct consumer_group_heartbeat_request body;
    struct consumer_group_heartbeat_response resp;

    begin();
    msg_init(&consumer_group_heartbeat_request_desc, &body);
    body.group_id = STR("g");
    call(API_CONSUMER_GROUP_HEARTBEAT, &body, &consumer_group_heartbeat_response_desc, &resp);
    ck_assert_int_eq(resp.error_code, UNSUPPORTED_VERSION);
    ck_assert(str_is_null(resp.error_message));
    ck_assert(str_is_null(resp.member_id));
    ck_assert_ptr_null(resp.assignment);
    end();
}
END_TEST

START_TEST(each_group_that_is_asked_for_is_told_so_once)
{
    struct str ids[] = {STR("a"), STR(""), STR("a")};
    struct consumer_group_describe_request body;
    struct consumer_group_describe_response resp;

    begin();
    msg_init(&consumer_group_describe_request_desc, &body);
    body.group_ids = ids;
    body.group_ids_count = 3;
    call(API_CONSUMER_GROUP_DESCRIBE, &body, &consumer_group_describe_response_desc, &resp);
    ck_assert_int_eq(resp.groups_count, 2);
    for (int i = 0; i < 2; i++) {
        const struct consumer_group_describe_response_group *g = &resp.groups[i];

        ck_assert(str_eq(g->group_id, ids[i]));
        ck_assert_int_eq(g->error_code, UNSUPPORTED_VERSION);
        ck_assert(str_is_null(g->error_message));
        ck_assert_int_eq(g->members_count, 0);
        ck_assert_int_eq(g->authorized_operations, INT32_MIN);
    }
    body.group_ids_count = 0;
    call(API_CONSUMER_GROUP_DESCRIBE, &body, &consumer_group_describe_response_desc, &resp);
    ck_assert_int_eq(resp.groups_count, 0);
    end();
}
END_TEST

TEST_MAIN("broker/api/consumer_groups", a_member_is_told_that_its_protocol_is_not_spoken,
          each_group_that_is_asked_for_is_told_so_once)
