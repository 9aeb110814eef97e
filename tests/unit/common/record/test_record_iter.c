#include "common/record/record_iter.h"

#include "common/base/err.h"
#include "common/record/batch_stamp.h"
#include "common/record/legacy.h"
#include "tests/support/random_batch.h"
#include "tests/support/test_main.h"

static void check_records(const struct batch *b, const struct record *want, int count)
{
    CLEANUP(record_iter_deinit) struct record_iter it = {0};
    struct record rec;

    ck_assert_int_eq(record_iter_init(&it, b, RECORD_UNPACK_MAX), 0);
    for (int i = 0; i < count; i++) {
        ck_assert_int_eq(record_iter_next(&it, &rec), 1);
        ck_assert_int_eq(rec.offset, want[i].offset);
        ck_assert_int_eq(rec.timestamp, want[i].timestamp);
        ck_assert(same_record(&rec, &want[i]));
    }
    ck_assert_int_eq(record_iter_next(&it, &rec), 0);
}

START_TEST(batches_of_every_codec_are_read_back)
{
    for (int codec = 0; codec < COMPRESSION_COUNT; codec++)
        for (uint64_t seed = 1; seed <= 20; seed++) {
            CLEANUP(arena_deinit) struct arena a = {0};
            struct random_source r = {seed};
            struct batch_opts opts = BATCH_OPTS_PLAIN;
            struct record want[50];
            int count = 1 + (int)random_to(&r, 50);

            opts.base_offset = 1000;
            opts.codec = (enum compression)codec;
            struct batch b = only_batch(random_batch(&r, &opts, count, &a, want));
            ck_assert_int_eq(batch_codec(&b), codec);
            check_records(&b, want, count);
        }
}
END_TEST

/* A wrapper of count messages v, with inner offsets from first on. */
static struct slice wrapper(struct arena *a, int8_t magic, int64_t first, int64_t offset, int count)
{
    CLEANUP(strbuf_deinit) struct strbuf set = {0}, packed = {0}, out = {0};
    struct legacy_opts opts = {.magic = magic};
    const struct codec c = {
        .codec = COMPRESSION_LZ4, .level = COMPRESSION_LEVEL_DEFAULT, .magic = magic};

    for (int i = 0; i < count; i++)
        legacy_message_add(&(struct legacy_message){.offset = first + i,
                                                    .timestamp = 10 + i,
                                                    .value = slice_of("v", 1)},
                           &opts, &set);
    ck_assert_int_eq(codec_compress(&c, slice_of_str(strbuf_str(&set)), &packed), 0);
    opts.codec = COMPRESSION_LZ4;
    legacy_message_add(&(struct legacy_message){.offset = offset,
                                                .timestamp = 10 + count,
                                                .value = slice_of_str(strbuf_str(&packed))},
                       &opts, &out);
    return slice_of_str(arena_str(a, strbuf_str(&out)));
}

static void check_offsets(const struct batch *b, int64_t first, int count)
{
    CLEANUP(record_iter_deinit) struct record_iter it = {0};
    struct record rec;

    ck_assert_int_eq(record_iter_init(&it, b, RECORD_UNPACK_MAX), 0);
    for (int i = 0; i < count; i++) {
        ck_assert_int_eq(record_iter_next(&it, &rec), 1);
        ck_assert_int_eq(rec.offset, first + i);
        ck_assert_int_eq(rec.timestamp, b->magic == 0 ? NO_TIMESTAMP : 10 + i);
    }
    ck_assert_int_eq(record_iter_next(&it, &rec), 0);
}

START_TEST(inner_offsets_of_v1_count_from_the_wrapper)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct batch b = only_batch(wrapper(&a, 1, 0, 104, 5));
    int64_t first;

    check_offsets(&b, 100, 5);
    ck_assert_int_eq(batch_first_offset(&b, &first), 0);
    ck_assert_int_eq(first, 100);
    ck_assert_int_eq(batch_last_offset(&b), 104);
}
END_TEST

START_TEST(inner_offsets_of_v0_are_absolute)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct batch b = only_batch(wrapper(&a, 0, 100, 104, 5));

    check_offsets(&b, 100, 5);
}
END_TEST

START_TEST(a_v1_wrapper_at_zero_is_taken_as_it_is)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct batch b = only_batch(wrapper(&a, 1, 0, 0, 5));

    check_offsets(&b, 0, 5);
}
END_TEST

START_TEST(the_append_time_of_a_wrapper_is_every_messages)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    CLEANUP(record_iter_deinit) struct record_iter it = {0};
    struct batch b = only_batch(wrapper(&a, 1, 0, 4, 5));
    struct record rec;

    batch_set_max_timestamp(&b, TIMESTAMP_LOG_APPEND_TIME, 777);
    ck_assert_int_eq(record_iter_init(&it, &b, RECORD_UNPACK_MAX), 0);
    ck_assert_int_eq(record_iter_next(&it, &rec), 1);
    ck_assert_int_eq(rec.timestamp, 777);
}
END_TEST

START_TEST(broken_wrappers_are_refused)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct batch behind = only_batch(wrapper(&a, 1, 0, 3, 5)),
                 empty = only_batch(wrapper(&a, 1, 0, 3, 0));
    CLEANUP(record_iter_deinit) struct record_iter one = {0}, two = {0};

    ck_assert_int_eq(record_iter_init(&one, &behind, RECORD_UNPACK_MAX), -EBADMSG);
    ck_assert_int_eq(record_iter_init(&two, &empty, RECORD_UNPACK_MAX), -EBADMSG);
}
END_TEST

START_TEST(a_count_that_lies_is_noticed)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct random_source r = {3};
    const struct batch_opts opts = BATCH_OPTS_PLAIN;
    struct slice bytes = random_batch(&r, &opts, 3, &a, NULL);

    for (int lie = -1; lie <= 4; lie++) {
        CLEANUP(record_iter_deinit) struct record_iter it = {0};
        struct batch b = only_batch(bytes);
        struct record rec;

        be32_write((uint8_t *)(uintptr_t)b.p + 57, (uint32_t)lie);
        int got = record_iter_init(&it, &b, 1 << 20);
        while (got == 0 && (got = record_iter_next(&it, &rec)) == 1)
            got = 0;
        ck_assert_int_eq(got, lie == 3 ? 0 : -EBADMSG);
    }
}
END_TEST

START_TEST(unpacking_stops_at_its_cap)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    CLEANUP(batch_builder_deinit) struct batch_builder bb;
    CLEANUP(strbuf_deinit) struct strbuf out = {0};
    CLEANUP(record_iter_deinit) struct record_iter it = {0};
    struct batch_opts opts = BATCH_OPTS_PLAIN;
    size_t big = 1 << 20;

    opts.codec = COMPRESSION_ZSTD;
    batch_builder_init(&bb, &opts);
    batch_builder_add(&bb, &(struct record){.value = slice_of(arena_zalloc(&a, big), big)});
    ck_assert_int_eq(batch_builder_finish(&bb, &out), 0);
    struct batch b = only_batch(slice_of_str(strbuf_str(&out)));
    ck_assert_uint_lt(b.size, 1000);
    ck_assert_int_eq(record_iter_init(&it, &b, 100000), -EFBIG);
    ck_assert_uint_le(it.unpacked.size, 400000);
}
END_TEST

TEST_MAIN("common/record/record_iter", batches_of_every_codec_are_read_back,
          inner_offsets_of_v1_count_from_the_wrapper, inner_offsets_of_v0_are_absolute,
          a_v1_wrapper_at_zero_is_taken_as_it_is, the_append_time_of_a_wrapper_is_every_messages,
          broken_wrappers_are_refused, a_count_that_lies_is_noticed, unpacking_stops_at_its_cap)
