#include "broker/api/handlers.h"

#include "broker/meta/metadata.h"
#include "common/base/err.h"
#include "tests/support/api_call.h"
#include "tests/support/test_main.h"

enum { SHARE = 2, NO_KIND = 7 };

static struct find_coordinator_response ask(struct api_call *call, int16_t version, int8_t kind)
{
    struct str keys[] = {STR("k"), STR("l")};
    struct find_coordinator_request body = {
        .key = STR("k"), .key_type = kind, .coordinator_keys = keys, .coordinator_keys_count = 2};
    struct find_coordinator_response resp;

    api_call(call, API_FIND_COORDINATOR, version, &body, &resp);
    return resp;
}

START_TEST(only_of_an_unknown_kind_of_key_the_answer_has_messages)
{
    static const struct {
        int16_t version;
        int8_t kind;
        int16_t error;
        bool has_message;
    } cases[] = {{4, NO_KIND, INVALID_REQUEST, true},
                 {6, -1, INVALID_REQUEST, true},
                 {4, SHARE, INVALID_REQUEST, false},
                 {6, SHARE, COORDINATOR_NOT_AVAILABLE, false}};
    struct clock_fake clock;
    struct broker b = {.metadata = metadata_new()};
    struct api_call call = {.b = &b};

    clock_fake_init(&clock, 1700000000000);
    ck_assert_int_eq(reactor_new("test", &clock.clock, &call.reactor), 0);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct find_coordinator_response resp = ask(&call, cases[i].version, cases[i].kind);

        ck_assert_int_eq(resp.coordinators_count, 2);
        for (int k = 0; k < 2; k++) {
            ck_assert_int_eq(resp.coordinators[k].error_code, cases[i].error);
            ck_assert_int_eq(resp.coordinators[k].error_message.len > 0, cases[i].has_message);
            ck_assert_int_eq(resp.coordinators[k].node_id, -1);
        }
    }
    struct find_coordinator_response only = ask(&call, 3, SHARE);
    ck_assert_int_eq(only.error_code, INVALID_REQUEST);
    ck_assert_int_gt(only.error_message.len, 0);
    api_call_deinit(&call);
    reactor_free(call.reactor);
    metadata_free(b.metadata);
}
END_TEST

TEST_MAIN("broker/api/find_coordinator", only_of_an_unknown_kind_of_key_the_answer_has_messages)
