#include "common/wire/header.h"

#include "common/wire/frame.h"
#include "tests/support/test_main.h"

#include <errno.h>

#define BYTES(...) slice_of((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

START_TEST(header_version_follows_the_flexible_versions)
{
    ck_assert_int_eq(request_header_version(API_METADATA, 8), 1);
    ck_assert_int_eq(request_header_version(API_METADATA, 9), 2);
    ck_assert_int_eq(response_header_version(API_METADATA, 8), 0);
    ck_assert_int_eq(response_header_version(API_METADATA, 9), 1);
    ck_assert_int_eq(request_header_version(API_SASL_HANDSHAKE, 1), 1);
    ck_assert_int_eq(request_header_version(API_API_VERSIONS, 99), 2);
    ck_assert_int_eq(request_header_version(API_API_VERSIONS, -1), 1);
    ck_assert_int_eq(response_header_version(API_OFFSET_DELETE, 0), 0);
}
END_TEST

START_TEST(controlled_shutdown_0_has_no_client_id)
{
    struct request_header h;
    struct slice body;

    ck_assert_int_eq(request_header_decode(BYTES(0, 7, 0, 0, 0, 0, 0, 5, 0, 0, 0, 1), &h, &body),
                     0);
    ck_assert_int_eq(h.correlation_id, 5);
    ck_assert_uint_eq(body.len, 4);
    ck_assert_int_eq(request_header_version(API_CONTROLLED_SHUTDOWN, 1), 1);
}
END_TEST

START_TEST(client_id_is_classic_in_the_flexible_header)
{
    struct request_header h;
    struct slice body;

    ck_assert_int_eq(request_header_decode(
                         BYTES(0, 3, 0, 12, 0, 0, 0, 5, 0, 2, 'm', 'e', 0, 0, 1, 0, 0), &h, &body),
                     0);
    ck_assert(str_eqz(h.client_id, "me"));
    ck_assert_uint_eq(body.len, 4);
    ck_assert_int_eq(
        request_header_decode(BYTES(0, 3, 0, 12, 0, 0, 0, 5, 0xff, 0xff, 0), &h, &body), 0);
    ck_assert(str_is_null(h.client_id));
}
END_TEST

START_TEST(unknown_api_or_version_is_refused_with_its_number)
{
    struct request_header h;
    struct slice body;

    ck_assert_int_eq(request_header_decode(BYTES(0, 62, 0, 1, 0, 0, 0, 5, 0, 0), &h, &body),
                     -EPROTONOSUPPORT);
    ck_assert_int_eq(h.request_api_key, 62);
    ck_assert_int_eq(request_header_decode(BYTES(0, 3, 0, 13, 0, 0, 0, 5, 0, 0), &h, &body),
                     -EPROTONOSUPPORT);
    ck_assert_int_eq(h.request_api_version, 13);
    ck_assert_int_eq(request_header_decode(BYTES(0xff, 0xff, 0, 1, 0, 0), &h, &body),
                     -EPROTONOSUPPORT);
    ck_assert_int_eq(request_header_decode(BYTES(0, 3, 0), &h, &body), -EBADMSG);
    ck_assert_int_eq(request_header_decode(slice_of("", 0), &h, &body), -EBADMSG);
    ck_assert_int_eq(request_header_decode(BYTES(0, 3, 0, 1, 0, 0, 0, 5, 0, 9), &h, &body),
                     -EBADMSG);
}
END_TEST

START_TEST(api_versions_passes_with_any_version)
{
    struct request_header h;
    struct slice body;

    ck_assert_int_eq(
        request_header_decode(BYTES(0, 18, 0, 77, 0, 0, 0, 5, 0, 1, 'x', 0), &h, &body), 0);
    ck_assert_int_eq(h.correlation_id, 5);
    ck_assert(!api_has_version(h.request_api_key, h.request_api_version));
    ck_assert_int_eq(response_header_version(API_API_VERSIONS, 4), 0);
}
END_TEST

START_TEST(request_comes_back_from_its_own_frame)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    const struct request_header h = {API_HEARTBEAT, 4, 99, STR("me")};
    struct request_header got;
    struct heartbeat_request m, back;
    struct slice frame, body;
    struct writer w;

    msg_init(&heartbeat_request_desc, &m);
    m.group_id = STR("g");
    m.generation_id = 3;
    writer_init(&w, &a);
    ck_assert_int_eq(request_encode(&h, &m, &w), 0);
    struct slice bytes = writer_flat(&w);
    ck_assert_int_eq(frame_next(bytes, 1000, &frame), (ssize_t)bytes.len);
    ck_assert_int_eq(request_header_decode(frame, &got, &body), 0);
    ck_assert_int_eq(got.correlation_id, 99);
    ck_assert(str_eqz(got.client_id, "me"));
    ck_assert_int_eq(codec_decode(&heartbeat_request_desc, 4, body, &a, &back), 0);
    ck_assert(str_eqz(back.group_id, "g"));
    ck_assert_int_eq(back.generation_id, 3);
}
END_TEST

START_TEST(answer_comes_back_from_its_own_frame)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    const struct request_header h = {API_HEARTBEAT, 4, 99, STR_NULL};
    struct heartbeat_response m = {.error_code = 27}, back;
    struct slice frame, body;
    struct writer w;
    int32_t id;

    writer_init(&w, &a);
    ck_assert_int_eq(response_encode(API_HEARTBEAT, 4, 99, &m, &w), 0);
    struct slice bytes = writer_flat(&w);
    ck_assert_int_eq(frame_next(bytes, 1000, &frame), (ssize_t)bytes.len);
    ck_assert_int_eq(response_header_decode(&h, frame, &id, &body), 0);
    ck_assert_int_eq(id, 99);
    ck_assert_int_eq(codec_decode(&heartbeat_response_desc, 4, body, &a, &back), 0);
    ck_assert_int_eq(back.error_code, 27);
}
END_TEST

START_TEST(api_table_has_the_keys_of_a_zookeeper_broker)
{
    char buf[16];
    int count = 0;

    for (int16_t key = -1; key <= API_KEY_COUNT; key++)
        count += api_messages_find(key) != NULL;
    ck_assert_int_eq(count, 62);
    ck_assert_ptr_null(api_messages_find(52));
    ck_assert_str_eq(api_name(4, buf), "LeaderAndIsr");
    ck_assert_str_eq(api_name(52, buf), "api 52");
}
END_TEST

TEST_MAIN("common/wire/header", header_version_follows_the_flexible_versions,
          controlled_shutdown_0_has_no_client_id, client_id_is_classic_in_the_flexible_header,
          unknown_api_or_version_is_refused_with_its_number, api_versions_passes_with_any_version,
          request_comes_back_from_its_own_frame, answer_comes_back_from_its_own_frame,
          api_table_has_the_keys_of_a_zookeeper_broker)
