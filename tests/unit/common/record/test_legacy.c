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

TEST_MAIN("common/record/legacy", a_v0_message_has_these_bytes,
          messages_of_both_magics_are_read_back, lengths_that_do_not_add_up_are_refused)
