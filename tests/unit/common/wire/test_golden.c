/*
 * test_golden.c - hand-made bytes for the rules that a round trip cannot prove: what the wire looks
 * like
 *
 * The layouts follow Kafka's own; tests/run oracle compares every message with its classes.
 */
#include "common/wire/codec.h"

#include "tests/support/test_main.h"

#include <errno.h>

#define BYTES(...) slice_of((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static void assert_encodes_to(const struct msg_desc *d, int16_t v, const void *msg,
                              struct slice want)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct writer w;

    writer_init(&w, &a);
    ck_assert_int_eq(codec_encode(d, v, msg, &w), 0);
    struct slice got = writer_flat(&w);
    ck_assert_uint_eq(got.len, want.len);
    ck_assert_mem_eq(got.p, want.p, want.len);
}

START_TEST(classic_strings_and_arrays_have_fixed_lengths)
{
    struct metadata_request_topic topic;
    struct metadata_request m;

    msg_init(&metadata_request_desc, &m);
    struct_init(&metadata_request_topic_desc, &topic);
    topic.name = STR("ab");
    m.topics = &topic;
    m.topics_count = 1;
    assert_encodes_to(&metadata_request_desc, 0, &m, BYTES(0, 0, 0, 1, 0, 2, 'a', 'b'));
    assert_encodes_to(&metadata_request_desc, 4, &m, BYTES(0, 0, 0, 1, 0, 2, 'a', 'b', 1));
}
END_TEST

START_TEST(compact_forms_store_one_more_and_every_struct_ends_with_tags)
{
    struct metadata_request_topic topic;
    struct metadata_request m;

    msg_init(&metadata_request_desc, &m);
    struct_init(&metadata_request_topic_desc, &topic);
    topic.name = STR("ab");
    m.topics = &topic;
    m.topics_count = 1;
    /* count+1, length+1 'ab', topic's tags; auto create, topic ops, the message's tags */
    assert_encodes_to(&metadata_request_desc, 9, &m, BYTES(2, 3, 'a', 'b', 0, 1, 0, 0, 0));
}
END_TEST

START_TEST(null_array_is_minus_one_or_compact_zero)
{
    struct metadata_request m;

    msg_init(&metadata_request_desc, &m);
    m.topics_count = -1;
    assert_encodes_to(&metadata_request_desc, 1, &m, BYTES(0xff, 0xff, 0xff, 0xff));
    assert_encodes_to(&metadata_request_desc, 12, &m, BYTES(0, 1, 0, 0));
}
END_TEST

START_TEST(null_text_is_minus_one_or_compact_zero)
{
    struct init_producer_id_request m;

    msg_init(&init_producer_id_request_desc, &m);
    m.transactional_id = STR_NULL;
    m.transaction_timeout_ms = 1;
    assert_encodes_to(&init_producer_id_request_desc, 0, &m, BYTES(0xff, 0xff, 0, 0, 0, 1));
    assert_encodes_to(&init_producer_id_request_desc, 2, &m, BYTES(0, 0, 0, 0, 1, 0));
}
END_TEST

START_TEST(tagged_fields_at_their_default_are_not_written)
{
    struct api_versions_response m;

    msg_init(&api_versions_response_desc, &m);
    assert_encodes_to(&api_versions_response_desc, 3, &m, BYTES(0, 0, 1, 0, 0, 0, 0, 0));
}
END_TEST

START_TEST(tagged_fields_carry_tag_and_size_in_ascending_order)
{
    struct api_versions_response m;
    const struct slice want = BYTES(0, 0, 1, 0, 0, 0, 0, 2, 1, 8, 0, 0, 0, 0, 0, 0, 0, 7, 3, 1, 1);

    msg_init(&api_versions_response_desc, &m);
    m.finalized_features_epoch = 7; /* tag 1 */
    m.zk_migration_ready = true;    /* tag 3 */
    assert_encodes_to(&api_versions_response_desc, 3, &m, want);
}
END_TEST

START_TEST(tagged_struct_has_its_own_tag_section)
{
    struct fetch_request m;
    CLEANUP(arena_deinit) struct arena a = {0};
    struct writer w;

    msg_init(&fetch_request_desc, &m);
    m.replica_state.replica_id = 2;
    m.replica_state.replica_epoch = 5;
    writer_init(&w, &a);
    ck_assert_int_eq(codec_encode(&fetch_request_desc, 15, &m, &w), 0);
    struct slice got = writer_flat(&w);
    /* one tag: number 1, 13 bytes: id, epoch, no tags */
    struct slice tail = BYTES(1, 1, 13, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 5, 0);
    ck_assert_mem_eq(got.p + got.len - tail.len, tail.p, tail.len);
}
END_TEST

START_TEST(tagged_array_is_compact_inside_its_data)
{
    struct produce_response_node_endpoint node;
    struct produce_response m;

    msg_init(&produce_response_desc, &m);
    struct_init(&produce_response_node_endpoint_desc, &node);
    node.node_id = 1;
    node.host = STR("h");
    node.port = 9;
    m.node_endpoints = &node;
    m.node_endpoints_count = 1;
    assert_encodes_to(&produce_response_desc, 10, &m,
                      BYTES(1, 0, 0, 0, 0, 1, 0, 13, 2, 0, 0, 0, 1, 2, 'h', 0, 0, 0, 9, 0, 0));
}
END_TEST

START_TEST(nullable_struct_begins_with_a_byte)
{
    struct consumer_group_heartbeat_response_assignment assignment;
    struct consumer_group_heartbeat_response m;

    msg_init(&consumer_group_heartbeat_response_desc, &m);
    /* throttle, error, null message, null member, epoch, interval, null assignment, tags */
    assert_encodes_to(&consumer_group_heartbeat_response_desc, 0, &m,
                      BYTES(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0));
    struct_init(&consumer_group_heartbeat_response_assignment_desc, &assignment);
    m.assignment = &assignment;
    assert_encodes_to(&consumer_group_heartbeat_response_desc, 0, &m,
                      BYTES(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0));
}
END_TEST

START_TEST(unknown_tags_are_skipped_and_order_does_not_matter)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct api_versions_response m;
    struct slice in =
        BYTES(0, 0, 1, 0, 0, 0, 0, 3, 3, 1, 1, 99, 2, 7, 7, 1, 8, 0, 0, 0, 0, 0, 0, 0, 7);

    ck_assert_int_eq(codec_decode(&api_versions_response_desc, 3, in, &a, &m), 0);
    ck_assert_int_eq(m.finalized_features_epoch, 7);
    ck_assert(m.zk_migration_ready);
}
END_TEST

START_TEST(tag_whose_size_is_not_its_fields_is_refused)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct api_versions_response m;

    ck_assert_int_eq(codec_decode(&api_versions_response_desc, 3,
                                  BYTES(0, 0, 1, 0, 0, 0, 0, 1, 3, 2, 1, 1), &a, &m),
                     -EBADMSG);
    ck_assert_int_eq(codec_decode(&api_versions_response_desc, 3,
                                  BYTES(0, 0, 1, 0, 0, 0, 0, 1, 3, 9, 1), &a, &m),
                     -EBADMSG);
}
END_TEST

START_TEST(record_values_carry_their_version_in_front)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct offset_commit_value m;
    struct slice in =
        BYTES(0, 3, 0, 0, 0, 0, 0, 0, 0, 42, 0, 0, 0, 5, 0, 1, 'm', 0, 0, 0, 0, 0, 0, 0, 9);
    struct writer w;
    int16_t version;

    ck_assert_int_eq(codec_decode_versioned(&offset_commit_value_desc, in, &a, &version, &m), 0);
    ck_assert_int_eq(version, 3);
    ck_assert_int_eq(m.offset, 42);
    ck_assert_int_eq(m.leader_epoch, 5);
    ck_assert(str_eqz(m.metadata, "m"));
    ck_assert_int_eq(m.commit_timestamp, 9);
    ck_assert_int_eq(m.expire_timestamp, -1);
    writer_init(&w, &a);
    ck_assert_int_eq(codec_encode_versioned(&offset_commit_value_desc, 3, &m, &w), 0);
    struct slice back = writer_flat(&w);
    ck_assert_uint_eq(back.len, in.len);
    ck_assert_mem_eq(back.p, in.p, in.len);
    ck_assert_int_eq(
        codec_decode_versioned(&offset_commit_value_desc, BYTES(0, 9), &a, &version, &m),
        -EPROTONOSUPPORT);
    ck_assert_int_eq(codec_decode_versioned(&offset_commit_value_desc, BYTES(0), &a, &version, &m),
                     -EBADMSG);
}
END_TEST

START_TEST(print_shows_the_fields_of_the_version)
{
    CLEANUP(strbuf_deinit) struct strbuf sb = {0};
    struct init_producer_id_response m;
    struct sasl_authenticate_request s = {.auth_bytes = BYTES('p', 'w')};

    msg_init(&init_producer_id_response_desc, &m);
    codec_print(&init_producer_id_response_desc, 0, &m, &sb);
    ck_assert_str_eq(sb.s, "{\"throttle_time_ms\":0,\"error_code\":0,\"producer_id\":-1,"
                           "\"producer_epoch\":0}");
    strbuf_reset(&sb);
    codec_print(&sasl_authenticate_request_desc, 0, &s, &sb);
    ck_assert_str_eq(sb.s, "{\"auth_bytes\":\"<2 bytes>\"}");
}
END_TEST

TEST_MAIN("common/wire/golden", classic_strings_and_arrays_have_fixed_lengths,
          compact_forms_store_one_more_and_every_struct_ends_with_tags,
          null_array_is_minus_one_or_compact_zero, null_text_is_minus_one_or_compact_zero,
          tagged_fields_at_their_default_are_not_written,
          tagged_fields_carry_tag_and_size_in_ascending_order,
          tagged_struct_has_its_own_tag_section, tagged_array_is_compact_inside_its_data,
          nullable_struct_begins_with_a_byte, unknown_tags_are_skipped_and_order_does_not_matter,
          tag_whose_size_is_not_its_fields_is_refused, record_values_carry_their_version_in_front,
          print_shows_the_fields_of_the_version)
