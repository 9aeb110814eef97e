#include "common/record/legacy.h"

#include "common/record/record_iter.h"
#include "tests/support/random_batch.h"
#include "tests/support/test_main.h"

START_TEST(a_v0_message_has_these_bytes)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    CLEANUP(strbuf_deinit) struct strbuf out = {0};
    const struct legacy_message m = {.offset = 3, .value = slice_of("v", 1)};

    legacy_message_add(&m, &(struct legacy_opts){.magic = 0}, &out);
    struct slice bytes = slice_of_str(strbuf_str(&out));
    ck_assert_uint_eq(bytes.len, 27);
    ck_assert(
        slice_eq(slice_sub(bytes, 0, 12), hex_bytes(&a, "00 00 00 00 00 00 00 03 00 00 00 0f")));
    ck_assert(slice_eq(slice_from(bytes, 16), hex_bytes(&a, "00 00 ff ff ff ff 00 00 00 01 76")));
    struct batch b = only_batch(bytes);
    ck_assert(batch_is_valid(&b));
}
END_TEST

START_TEST(messages_of_both_magics_are_read_back)
{
    for (uint64_t seed = 1; seed <= 100; seed++) {
        CLEANUP(arena_deinit) struct arena a = {0};
        CLEANUP(strbuf_deinit) struct strbuf out = {0};
        struct random_source r = {seed};
        struct record rec = random_record(&r, &a);
        const struct legacy_opts opts = {.magic = (int8_t)(seed & 1),
                                         .timestamp_type = (enum timestamp_type)(seed >> 1 & 1)};
        const struct legacy_message m = {
            .offset = 5, .timestamp = 99, .key = rec.key, .value = rec.value};
        struct legacy_message back;

        legacy_message_add(&m, &opts, &out);
        struct batch b = only_batch(slice_of_str(strbuf_str(&out)));
        ck_assert(batch_is_valid(&b));
        ck_assert_int_eq(legacy_message_parse(&b, &back), 0);
        ck_assert(slice_eq(back.key, m.key) && slice_eq(back.value, m.value));
        ck_assert_int_eq(back.offset, 5);
        ck_assert_int_eq(back.timestamp, opts.magic ? 99 : NO_TIMESTAMP);
        ck_assert_int_eq(batch_max_timestamp(&b), back.timestamp);
        ck_assert_int_eq(batch_timestamp_type(&b),
                         opts.magic ? opts.timestamp_type : TIMESTAMP_CREATE_TIME);
    }
}
END_TEST

START_TEST(lengths_that_do_not_add_up_are_refused)
{
    CLEANUP(strbuf_deinit) struct strbuf out = {0};
    const struct legacy_message m = {.key = slice_of("kk", 2), .value = slice_of("v", 1)};

    legacy_message_add(&m, &(struct legacy_opts){.magic = 1}, &out);
    for (int32_t lie = -2; lie < 12; lie++) {
        struct legacy_message back;

        be32_write(out.s + 26, (uint32_t)lie);
        struct batch b = only_batch(slice_of_str(strbuf_str(&out)));
        ck_assert_int_eq(legacy_message_parse(&b, &back), lie == 2 ? 0 : -EBADMSG);
    }
}
END_TEST

/* Three records from offset 7 on, built into one set. */
static struct slice build(struct legacy_builder *lb, const struct legacy_opts *opts,
                          struct strbuf *out)
{
    strbuf_reset(out);
    legacy_builder_begin(lb, opts, COMPRESSION_LEVEL_DEFAULT);
    for (int i = 0; i < 3; i++)
        legacy_builder_add(lb, &(struct record){.offset = 7 + i,
                                                .timestamp = 50 - i,
                                                .key = slice_of("k", 1),
                                                .value = slice_of("v", 1)});
    ck_assert_int_eq(legacy_builder_finish(lb, out), 0);
    return slice_of_str(strbuf_str(out));
}

static void check_built(struct slice set, const struct legacy_opts *opts)
{
    struct batch b;
    int n = 0;

    while (batch_next(&set, &b) == 1) {
        CLEANUP(record_iter_deinit) struct record_iter it = {0};
        struct record rec;

        ck_assert(batch_is_valid(&b));
        ck_assert_int_eq(batch_codec(&b), opts->codec);
        ck_assert_int_eq(record_iter_init(&it, &b, 1000), 0);
        while (record_iter_next(&it, &rec) == 1) {
            ck_assert_int_eq(rec.offset, 7 + n);
            ck_assert_int_eq(rec.timestamp, opts->magic ? 50 - n : NO_TIMESTAMP);
            n++;
        }
        ck_assert_int_eq(batch_last_offset(&b), 7 + n - 1);
        if (batch_is_compressed(&b))
            ck_assert_int_eq(batch_max_timestamp(&b), opts->magic ? 50 : NO_TIMESTAMP);
    }
    ck_assert_int_eq(n, 3);
}

START_TEST(a_builder_makes_a_set_or_a_wrapper_and_begins_anew)
{
    CLEANUP(legacy_builder_deinit) struct legacy_builder lb = {0};
    CLEANUP(strbuf_deinit) struct strbuf out = {0};

    for (int8_t magic = 0; magic <= 1; magic++)
        for (int codec = 0; codec < COMPRESSION_ZSTD; codec++) {
            const struct legacy_opts opts = {.magic = magic, .codec = (enum compression)codec};

            check_built(build(&lb, &opts, &out), &opts);
        }
}
END_TEST

START_TEST(a_builder_without_a_message_makes_nothing)
{
    CLEANUP(legacy_builder_deinit) struct legacy_builder lb = {0};
    CLEANUP(strbuf_deinit) struct strbuf out = {0};

    legacy_builder_begin(&lb, &(struct legacy_opts){.magic = 1, .codec = COMPRESSION_GZIP},
                         COMPRESSION_LEVEL_DEFAULT);
    ck_assert_int_eq(legacy_builder_finish(&lb, &out), 0);
    ck_assert_uint_eq(out.len, 0);
}
END_TEST

TEST_MAIN("common/record/legacy", a_v0_message_has_these_bytes,
          messages_of_both_magics_are_read_back, lengths_that_do_not_add_up_are_refused,
          a_builder_makes_a_set_or_a_wrapper_and_begins_anew,
          a_builder_without_a_message_makes_nothing)
