#include "broker/replica/produce_checks.h"

#include "common/base/err.h"
#include "common/record/batch.h"
#include "tests/support/random_batch.h"
#include "tests/support/test_main.h"

enum { SIZE_AT = 8, PARTS = 3, ROOM = 200 };

/* A request for three partitions; `bytes` begin with a batch each. */
struct asked {
    struct arena arena;
    struct produce_part parts[PARTS];
    struct produce p;
    uint8_t bytes[PARTS][ROOM];
    const char *message;
};

static void put_header(uint8_t *at, int8_t magic, int32_t size)
{
    memset(at, 0, (size_t)size);
    be32_write(at + SIZE_AT, (uint32_t)(size - BATCH_OVERHEAD));
    at[BATCH_MAGIC_AT] = (uint8_t)magic;
}

static void put_transactional(uint8_t *at, int64_t producer_id, int16_t epoch)
{
    put_header(at, 2, BATCH_V2_HEADER);
    at[22] = BATCH_TRANSACTIONAL;
    be64_write(at + 43, (uint64_t)producer_id);
    be16_write(at + 51, (uint16_t)epoch);
}

static void asked_init(struct asked *a)
{
    *a = (struct asked){.p = {.count = PARTS}};
    a->p.parts = a->parts;
    a->p.arena = &a->arena;
    for (int i = 0; i < PARTS; i++) {
        put_header(a->bytes[i], 1, BATCH_V1_MIN);
        a->parts[i].records = slice_of(a->bytes[i], BATCH_V1_MIN);
    }
}

START_TEST(a_corrupt_first_batch_refuses_the_request)
{
    static const struct {
        int32_t length;
        int8_t magic;
        const char *message;
    } bad[] = {
        {13, 1, "Record size 13 is less than the minimum record overhead (14)"},
        {-1, 7, "Record size -1 is less than the minimum record overhead (14)"},
        {22, 3, "Invalid magic found in record: 3"},
        {22, -1, "Invalid magic found in record: -1"},
        {INT32_MAX, 3, "Invalid magic found in record: 3"},
        {INT32_MAX - 11, 2, "Record size 2147483636 is larger than any"},
    };

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct asked a;

        asked_init(&a);
        be32_write(a.bytes[1] + SIZE_AT, (uint32_t)bad[i].length);
        a.bytes[1][BATCH_MAGIC_AT] = (uint8_t)bad[i].magic;
        ck_assert_int_eq(produce_check_first(&a.p, true, &a.message), CORRUPT_MESSAGE);
        ck_assert_str_eq(a.message, bad[i].message);
        arena_deinit(&a.arena);
    }
}
END_TEST

START_TEST(what_is_no_batch_yet_refuses_nothing)
{
    struct asked a;

    asked_init(&a);
    a.parts[0].records = (struct slice){0};
    be32_write(a.bytes[1] + SIZE_AT, INT32_MAX);
    a.bytes[1][BATCH_MAGIC_AT] = 9;
    a.parts[1].records.len = BATCH_MAGIC_AT; /* the magic itself is not there */
    put_header(a.bytes[2], 1, BATCH_V0_MIN); /* too short for its header: its partition's error */
    a.parts[2].records.len = BATCH_V0_MIN;
    ck_assert_int_eq(produce_check_first(&a.p, false, &a.message), 0);
    ck_assert_int_eq(produce_check_batches(&a.p, 2, &a.message), 0);
    ck_assert_ptr_null(a.message);
    arena_deinit(&a.arena);
}
END_TEST

START_TEST(nothing_behind_the_first_transactional_batch_is_looked_at)
{
    struct asked a;

    asked_init(&a);
    put_transactional(a.bytes[1], 4, 0);
    a.parts[1].records.len = BATCH_V2_HEADER;
    a.bytes[2][BATCH_MAGIC_AT] = 3;
    ck_assert_int_eq(produce_check_first(&a.p, false, &a.message),
                     TRANSACTIONAL_ID_AUTHORIZATION_FAILED);
    ck_assert_int_eq(produce_check_first(&a.p, true, &a.message), 0);
    a.bytes[0][BATCH_MAGIC_AT] = 3;
    ck_assert_int_eq(produce_check_first(&a.p, false, &a.message), CORRUPT_MESSAGE);
    arena_deinit(&a.arena);
}
END_TEST

START_TEST(a_corrupt_later_batch_refuses_the_request)
{
    struct asked a;

    asked_init(&a);
    put_header(a.bytes[1] + BATCH_V1_MIN, 5, BATCH_V1_MIN);
    a.parts[1].records.len = 2 * BATCH_V1_MIN;
    ck_assert_int_eq(produce_check_first(&a.p, false, &a.message), 0);
    ck_assert_int_eq(produce_check_batches(&a.p, 2, &a.message), CORRUPT_MESSAGE);
    ck_assert_str_eq(a.message, "Invalid magic found in record: 5");
    a.parts[1].error = UNKNOWN_TOPIC_OR_PARTITION; /* of which the records are not looked at */
    ck_assert_int_eq(produce_check_batches(&a.p, 2, &a.message), 0);
    arena_deinit(&a.arena);
}
END_TEST

START_TEST(transactions_are_of_one_producer)
{
    static const struct {
        int64_t producer_id;
        int16_t epoch;
        int error;
    } second[] = {{4, 0, 0},
                  {4, 1, INVALID_PRODUCER_ID_MAPPING},
                  {5, 0, INVALID_PRODUCER_ID_MAPPING},
                  {NO_PRODUCER_ID, 0, 0}};

    for (size_t i = 0; i < ARRAY_LEN(second); i++) {
        struct asked a;

        asked_init(&a);
        put_transactional(a.bytes[0], 4, 0);
        put_transactional(a.bytes[2], second[i].producer_id, second[i].epoch);
        a.parts[0].records.len = a.parts[2].records.len = BATCH_V2_HEADER;
        ck_assert_int_eq(produce_check_batches(&a.p, 2, &a.message), second[i].error);
        ck_assert(!a.message == !second[i].error);
        a.parts[0].error = NOT_ENOUGH_REPLICAS;
        ck_assert_int_eq(produce_check_batches(&a.p, 2, &a.message), 0);
        ck_assert(produce_has_transactional(a.parts[2].records));
        ck_assert(!produce_has_transactional(a.parts[1].records));
        arena_deinit(&a.arena);
    }
}
END_TEST

START_TEST(a_batch_of_which_the_producer_cannot_be_read_refuses_the_request)
{
    struct asked a;

    asked_init(&a);
    put_header(a.bytes[1], 2, 51);
    a.parts[1].records.len = 51;
    ck_assert_int_eq(produce_check_batches(&a.p, 2, &a.message), 0);
    a.bytes[1][22] = BATCH_TRANSACTIONAL;
    ck_assert_int_eq(produce_check_batches(&a.p, 2, &a.message), CORRUPT_MESSAGE);
    put_header(a.bytes[1], 2, 50);
    a.parts[1].records.len = 50;
    ck_assert_int_eq(produce_check_batches(&a.p, 9, &a.message), CORRUPT_MESSAGE);
    ck_assert_str_eq(a.message, "A batch of 50 bytes is too short for its header");
    arena_deinit(&a.arena);
}
END_TEST

START_TEST(an_unknown_codec_refuses_requests_of_versions_3_to_6)
{
    struct asked a;

    asked_init(&a);
    put_header(a.bytes[1], 2, BATCH_V2_HEADER);
    a.parts[1].records.len = BATCH_V2_HEADER;
    a.bytes[1][22] = 5;
    ck_assert_int_eq(produce_check_batches(&a.p, 2, &a.message), 0);
    ck_assert_int_eq(produce_check_batches(&a.p, 7, &a.message), 0);
    ck_assert_int_eq(produce_check_batches(&a.p, 6, &a.message), CORRUPT_MESSAGE);
    ck_assert_str_eq(a.message, "Unknown compression type id: 5");
    a.parts[1].error = UNKNOWN_TOPIC_OR_PARTITION;
    ck_assert_int_eq(produce_check_batches(&a.p, 3, &a.message), 0);
    arena_deinit(&a.arena);
}
END_TEST

/* The first batch has `size` bytes, `more` follow. */
static int check(int16_t version, int8_t magic, int32_t size, uint8_t codec, struct slice more)
{
    struct arena arena = {0};
    uint8_t bytes[2 * ROOM] = {0};
    const char *message = NULL;

    put_header(bytes, magic, size);
    bytes[22] = codec;
    memcpy(bytes + size, more.p, more.len);
    int r =
        produce_check_records(&arena, slice_of(bytes, (size_t)size + more.len), version, &message);
    ck_assert(!message == (r != INVALID_RECORD));
    arena_deinit(&arena);
    return r;
}

START_TEST(from_version_3_on_there_is_one_batch_of_magic_2)
{
    const struct slice nothing = slice_of("", 0);
    uint8_t next[BATCH_V1_MIN];
    const char *message = NULL;

    ck_assert_int_eq(check(2, 1, BATCH_V1_MIN, 0, nothing), 0);
    ck_assert_int_eq(check(3, 1, BATCH_V1_MIN, 0, nothing), INVALID_RECORD);
    ck_assert_int_eq(check(3, 3, BATCH_V1_MIN, 0, nothing), INVALID_RECORD);
    ck_assert_int_eq(check(3, 2, BATCH_V1_MIN, 0, nothing), 0); /* until it is appended */
    ck_assert_int_eq(check(6, 2, BATCH_V1_MIN, COMPRESSION_ZSTD, nothing),
                     UNSUPPORTED_COMPRESSION_TYPE);
    ck_assert_int_eq(check(3, 2, BATCH_V2_HEADER, 0, nothing), 0);
    ck_assert_int_eq(check(3, 2, BATCH_V2_HEADER, 0, slice_of("\0\0", 2)), 0);
    ck_assert_int_eq(check(6, 2, BATCH_V2_HEADER, COMPRESSION_ZSTD, nothing),
                     UNSUPPORTED_COMPRESSION_TYPE);
    ck_assert_int_eq(check(7, 2, BATCH_V2_HEADER, COMPRESSION_ZSTD, nothing), 0);
    ck_assert_int_eq(produce_check_records(NULL, nothing, 3, &message), INVALID_RECORD);

    put_header(next, 1, sizeof next);
    ck_assert_int_eq(check(9, 2, BATCH_V2_HEADER, 0, slice_of(next, sizeof next)), INVALID_RECORD);
    ck_assert_int_eq(check(6, 2, BATCH_V2_HEADER, 5, slice_of(next, sizeof next)), 0);
    next[BATCH_MAGIC_AT] = 2; /* a second one, though too short for its header */
    ck_assert_int_eq(check(9, 2, BATCH_V2_HEADER, 0, slice_of(next, sizeof next)), INVALID_RECORD);
    next[BATCH_MAGIC_AT] = 3;
    ck_assert_int_eq(check(9, 2, BATCH_V2_HEADER, 0, slice_of(next, sizeof next)), CORRUPT_MESSAGE);
}
END_TEST

TEST_MAIN("broker/replica/produce_checks", a_corrupt_first_batch_refuses_the_request,
          what_is_no_batch_yet_refuses_nothing,
          nothing_behind_the_first_transactional_batch_is_looked_at,
          a_corrupt_later_batch_refuses_the_request,
          a_batch_of_which_the_producer_cannot_be_read_refuses_the_request,
          an_unknown_codec_refuses_requests_of_versions_3_to_6, transactions_are_of_one_producer,
          from_version_3_on_there_is_one_batch_of_magic_2)
