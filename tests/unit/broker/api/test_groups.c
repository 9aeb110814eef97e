#include "broker/api/handlers.h"
#include "broker/config/broker_conf.h"
#include "common/base/err.h"
#include "tests/support/api_call.h"
#include "tests/support/test_main.h"

/* A refused join has no protocol; static members need IBP 2.3. */
START_TEST(no_protocol_is_an_empty_one_before_version_7_and_null_from_then_on)
{
    struct broker_conf conf = {.ibp = IBP_2_2_IV1};
    struct broker b = {.conf = &conf};
    struct api_call call = {.b = &b};
    struct join_group_request body = {.group_id = STR("g"), .group_instance_id = STR("i")};
    struct join_group_response resp;

    api_call(&call, API_JOIN_GROUP, 6, &body, &resp);
    ck_assert_int_eq(resp.error_code, UNSUPPORTED_VERSION);
    ck_assert(!str_is_null(resp.protocol_name));
    ck_assert_int_eq(resp.protocol_name.len, 0);
    api_call(&call, API_JOIN_GROUP, 7, &body, &resp);
    ck_assert_int_eq(resp.error_code, UNSUPPORTED_VERSION);
    ck_assert(str_is_null(resp.protocol_name));
    ck_assert_int_eq(resp.member_id.len, 0);
    ck_assert_int_eq(resp.generation_id, -1);
    api_call_deinit(&call);
}
END_TEST

TEST_MAIN("broker/api/groups", no_protocol_is_an_empty_one_before_version_7_and_null_from_then_on)
