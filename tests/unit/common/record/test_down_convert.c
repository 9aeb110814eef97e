#include "common/base/err.h"
#include "common/record/legacy.h"
#include "common/record/record_iter.h"
#include "tests/support/golden_batch.h"
#include "tests/support/random_batch.h"
#include "tests/support/test_main.h"

enum { MAX_UNPACKED = 1 << 24 };

static struct slice bytes_of(const struct strbuf *sb)
{
    return slice_of_str(strbuf_str(sb));
}

/* All records of a set, in order, against want. */
static void check_set(struct slice set, int8_t magic, const struct record *want, int count)
{
    struct batch b;
    int at = 0;

    while (batch_next(&set, &b) == 1) {
        CLEANUP(record_iter_deinit) struct record_iter it = {0};
        struct record rec;

        ck_assert_int_eq(b.magic, magic);
        ck_assert(batch_is_valid(&b));
        ck_assert_int_eq(record_iter_init(&it, &b, MAX_UNPACKED), 0);
        while (record_iter_next(&it, &rec) == 1) {
            ck_assert_int_lt(at, count);
            ck_assert_int_eq(rec.offset, want[at].offset);
            ck_assert_int_eq(rec.timestamp, magic ? want[at].timestamp : NO_TIMESTAMP);
            ck_assert(slice_eq(rec.key, want[at].key) && slice_eq(rec.value, want[at].value));
            at++;
        }
        ck_assert_int_eq(batch_last_offset(&b), want[at - 1].offset);
    }
    ck_assert_uint_eq(set.len, 0);
    ck_assert_int_eq(at, count);
}

START_TEST(records_keep_offset_timestamp_key_and_value)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        CLEANUP(arena_deinit) struct arena a = {0};
        CLEANUP(strbuf_deinit) struct strbuf v1 = {0}, v0 = {0}, v1_to_0 = {0};
        struct random_source r = {seed};
        struct batch_opts opts = BATCH_OPTS_PLAIN;
        struct down_convert_opts down = {.magic = 1, .max_unpacked = MAX_UNPACKED};
        struct record want[30];
        int count = 1 + (int)random_to(&r, 30);

        opts.base_offset = 500;
        opts.codec = (enum compression)random_to(&r, COMPRESSION_ZSTD);
        struct batch b = only_batch(random_batch(&r, &opts, count, &a, want));
        ck_assert_int_eq(down_convert_batch(&b, &down, &v1), 0);
        check_set(bytes_of(&v1), 1, want, count);
        down.magic = 0;
        ck_assert_int_eq(down_convert_batch(&b, &down, &v0), 0);
        check_set(bytes_of(&v0), 0, want, count);
        struct slice rest = bytes_of(&v1);
        while (batch_next(&rest, &b) == 1)
            ck_assert_int_eq(down_convert_batch(&b, &down, &v1_to_0), 0);
        check_set(bytes_of(&v1_to_0), 0, want, count);
    }
}
END_TEST

START_TEST(records_before_the_fetch_offset_go_where_nothing_is_compressed)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    CLEANUP(strbuf_deinit) struct strbuf plain = {0}, packed = {0};
    struct random_source r = {5};
    struct batch_opts opts = BATCH_OPTS_PLAIN;
    const struct down_convert_opts down = {
        .magic = 1, .first_offset = 6, .max_unpacked = MAX_UNPACKED};
    struct record want[10];

    struct batch b = only_batch(random_batch(&r, &opts, 10, &a, want));
    ck_assert_int_eq(down_convert_batch(&b, &down, &plain), 0);
    check_set(bytes_of(&plain), 1, want + 6, 4);
    opts.codec = COMPRESSION_SNAPPY;
    b = only_batch(random_batch(&r, &opts, 10, &a, want));
    ck_assert_int_eq(down_convert_batch(&b, &down, &packed), 0);
    check_set(bytes_of(&packed), 1, want, 10);
}
END_TEST

START_TEST(old_enough_batches_pass_unchanged)
{
    CLEANUP(strbuf_deinit) struct strbuf in = {0}, out = {0};
    const struct down_convert_opts down = {.magic = 1, .max_unpacked = MAX_UNPACKED};

    legacy_message_add(&(struct legacy_message){.value = slice_of("v", 1)},
                       &(struct legacy_opts){.magic = 0}, &in);
    struct batch b = only_batch(bytes_of(&in));
    ck_assert_int_eq(down_convert_batch(&b, &down, &out), 0);
    ck_assert(str_eq(strbuf_str(&in), strbuf_str(&out)));
}
END_TEST

START_TEST(zstd_has_no_older_form)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    CLEANUP(strbuf_deinit) struct strbuf out = {0};
    struct random_source r = {5};
    struct batch_opts opts = BATCH_OPTS_PLAIN;
    const struct down_convert_opts down = {.magic = 1, .max_unpacked = MAX_UNPACKED};

    opts.codec = COMPRESSION_ZSTD;
    struct slice bytes = random_batch(&r, &opts, 3, &a, NULL);
    ck_assert_int_eq(down_convert(bytes, &down, &out), UNSUPPORTED_COMPRESSION_TYPE);
}
END_TEST

START_TEST(a_range_keeps_its_size_with_an_entry_that_is_none)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    CLEANUP(strbuf_deinit) struct strbuf range = {0}, out = {0};
    struct random_source r = {6};
    struct batch_opts opts = BATCH_OPTS_PLAIN;
    const struct down_convert_opts down = {.magic = 1, .max_unpacked = MAX_UNPACKED};
    struct record want[5];

    struct slice first = random_batch(&r, &opts, 5, &a, want);
    opts.codec = COMPRESSION_ZSTD;
    opts.base_offset = 5;
    struct slice second = random_batch(&r, &opts, 50, &a, NULL);
    strbuf_add(&range, first.p, first.len);
    strbuf_add(&range, second.p, second.len - 1 /* torn */);
    ck_assert_int_eq(down_convert(bytes_of(&range), &down, &out), 0);
    ck_assert_uint_eq(out.len, range.len);

    struct slice rest = bytes_of(&out);
    struct batch b;
    for (int i = 0; i < 5; i++)
        ck_assert_int_eq(batch_next(&rest, &b), 1);
    ck_assert_int_eq((int64_t)be64_read(rest.p), -1);
    ck_assert_uint_eq(be32_read(rest.p + 8), MAX(rest.len + 1, (size_t)61));
    ck_assert_int_eq(batch_next(&rest, &b), 0);
}
END_TEST

START_TEST(a_range_of_markers_is_twelve_bytes)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    CLEANUP(strbuf_deinit) struct strbuf out = {0}, none = {0};
    const struct down_convert_opts down = {.magic = 0, .max_unpacked = MAX_UNPACKED};

    ck_assert_int_eq(down_convert(hex_bytes(&a, GOLDEN_MARKER), &down, &out), 0);
    ck_assert(slice_eq(bytes_of(&out), hex_bytes(&a, "ff ff ff ff ff ff ff ff 00 00 00 3d")));
    ck_assert_int_eq(down_convert((struct slice){0}, &down, &none), 0);
    ck_assert_uint_eq(none.len, 0);
}
END_TEST

TEST_MAIN("common/record/down_convert", records_keep_offset_timestamp_key_and_value,
          records_before_the_fetch_offset_go_where_nothing_is_compressed,
          old_enough_batches_pass_unchanged, zstd_has_no_older_form,
          a_range_keeps_its_size_with_an_entry_that_is_none, a_range_of_markers_is_twelve_bytes)
