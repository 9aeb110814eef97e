#include "common/record/compress.h"

#include "common/base/err.h"
#include "common/record/xxh32.h"
#include "tests/support/random_batch.h"
#include "tests/support/test_main.h"

static const struct codec all[] = {
    {COMPRESSION_NONE, COMPRESSION_LEVEL_DEFAULT, 2},
    {COMPRESSION_GZIP, COMPRESSION_LEVEL_DEFAULT, 2},
    {COMPRESSION_GZIP, 1, 2},
    {COMPRESSION_GZIP, 9, 2},
    {COMPRESSION_SNAPPY, COMPRESSION_LEVEL_DEFAULT, 2},
    {COMPRESSION_LZ4, COMPRESSION_LEVEL_DEFAULT, 2},
    {COMPRESSION_LZ4, 1, 2},
    {COMPRESSION_LZ4, 17, 2},
    {COMPRESSION_LZ4, COMPRESSION_LEVEL_DEFAULT, 0},
    {COMPRESSION_ZSTD, COMPRESSION_LEVEL_DEFAULT, 2},
    {COMPRESSION_ZSTD, -131072, 2},
    {COMPRESSION_ZSTD, 22, 2},
};

static struct slice sample(struct random_source *r, struct arena *a, size_t len, uint32_t letters)
{
    uint8_t *p = arena_alloc(a, len + 1);

    for (size_t i = 0; i < len; i++)
        p[i] = (uint8_t)random_to(r, letters);
    return slice_of(p, len);
}

static struct slice bytes_of(const struct strbuf *sb)
{
    return slice_of_str(strbuf_str(sb));
}

START_TEST(every_codec_gives_back_what_it_took)
{
    static const size_t lengths[] = {0, 1, 100, 32768, 32769, 65536, 65537, 300000};
    struct random_source r = {11};

    for (size_t c = 0; c < ARRAY_LEN(all); c++)
        for (size_t i = 0; i < ARRAY_LEN(lengths); i++)
            for (uint32_t letters = 2; letters <= 256; letters *= 128) {
                CLEANUP(arena_deinit) struct arena a = {0};
                CLEANUP(strbuf_deinit) struct strbuf packed = {0}, back = {0};
                struct slice in = sample(&r, &a, lengths[i], letters);

                ck_assert_int_eq(codec_compress(&all[c], in, &packed), 0);
                ck_assert_int_eq(codec_decompress(&all[c], bytes_of(&packed), in.len, &back), 0);
                ck_assert_uint_eq(back.len, in.len);
                ck_assert(in.len == 0 || memcmp(back.s, in.p, in.len) == 0);
            }
}
END_TEST

START_TEST(one_byte_over_the_cap_is_too_much)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct random_source r = {12};
    struct slice in = sample(&r, &a, 100000, 2);

    for (size_t c = 0; c < ARRAY_LEN(all); c++) {
        CLEANUP(strbuf_deinit) struct strbuf packed = {0}, back = {0};

        ck_assert_int_eq(codec_compress(&all[c], in, &packed), 0);
        ck_assert_int_eq(codec_decompress(&all[c], bytes_of(&packed), in.len - 1, &back), -EFBIG);
    }
}
END_TEST

START_TEST(a_stream_cut_short_is_broken)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct random_source r = {13};
    struct slice in = sample(&r, &a, 3000, 4);

    for (size_t c = 1; c < ARRAY_LEN(all); c++) {
        CLEANUP(strbuf_deinit) struct strbuf packed = {0};

        ck_assert_int_eq(codec_compress(&all[c], in, &packed), 0);
        /* snappy frames of the Java library have no end: a whole number of blocks is a stream */
        size_t least = all[c].codec == COMPRESSION_SNAPPY ? 20 : 1;
        for (size_t n = least; n < packed.len; n += 7) {
            CLEANUP(strbuf_deinit) struct strbuf back = {0};
            struct slice cut = slice_sub(bytes_of(&packed), 0, n);

            ck_assert_int_eq(codec_decompress(&all[c], cut, in.len, &back), -EBADMSG);
        }
    }
}
END_TEST

START_TEST(several_streams_in_a_row_are_one)
{
    static const enum compression joined[] = {COMPRESSION_GZIP, COMPRESSION_SNAPPY,
                                              COMPRESSION_ZSTD};

    for (size_t i = 0; i < ARRAY_LEN(joined); i++) {
        CLEANUP(strbuf_deinit) struct strbuf packed = {0}, back = {0};
        const struct codec c = {joined[i], COMPRESSION_LEVEL_DEFAULT, 2};

        ck_assert_int_eq(codec_compress(&c, slice_of("hello ", 6), &packed), 0);
        ck_assert_int_eq(codec_compress(&c, slice_of("world", 5), &packed), 0);
        ck_assert_int_eq(codec_decompress(&c, bytes_of(&packed), 100, &back), 0);
        ck_assert_str_eq(back.s, "hello world");
    }
}
END_TEST

START_TEST(a_raw_snappy_block_is_read)
{
    /* length 11, a literal of 11 bytes */
    static const char raw[] = "\x0b\x28hello world";
    CLEANUP(strbuf_deinit) struct strbuf back = {0};
    const struct codec c = {COMPRESSION_SNAPPY, COMPRESSION_LEVEL_DEFAULT, 1};

    ck_assert_int_eq(codec_decompress(&c, slice_of(raw, sizeof raw - 1), 100, &back), 0);
    ck_assert_str_eq(back.s, "hello world");
}
END_TEST

START_TEST(a_snappy_block_that_claims_gigabytes_gets_no_memory)
{
    static const char raw[] = "\xff\xff\xff\xff\x0f\x28hello";
    CLEANUP(strbuf_deinit) struct strbuf back = {0};
    const struct codec c = {COMPRESSION_SNAPPY, COMPRESSION_LEVEL_DEFAULT, 1};

    ck_assert_int_eq(codec_decompress(&c, slice_of(raw, sizeof raw - 1), SIZE_MAX - 1, &back),
                     -EBADMSG);
}
END_TEST

START_TEST(the_snappy_header_is_that_of_the_java_library)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    CLEANUP(strbuf_deinit) struct strbuf packed = {0};
    const struct codec c = {COMPRESSION_SNAPPY, COMPRESSION_LEVEL_DEFAULT, 2};

    ck_assert_int_eq(codec_compress(&c, slice_of("x", 1), &packed), 0);
    ck_assert(
        slice_eq(bytes_of(&packed), hex_bytes(&a, "82 53 4e 41 50 50 59 00 00 00 00 01 00 00 00 01"
                                                  "00 00 00 03 01 00 78")));
}
END_TEST

START_TEST(the_lz4_header_checksum_is_right_but_for_magic_0)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    CLEANUP(strbuf_deinit) struct strbuf good = {0}, bad = {0}, back = {0};
    const struct codec v2 = {COMPRESSION_LZ4, COMPRESSION_LEVEL_DEFAULT, 2};
    const struct codec v0 = {COMPRESSION_LZ4, COMPRESSION_LEVEL_DEFAULT, 0};

    ck_assert_int_eq(codec_compress(&v2, slice_of("x", 1), &good), 0);
    ck_assert_int_eq(codec_compress(&v0, slice_of("x", 1), &bad), 0);
    ck_assert(slice_eq(bytes_of(&good),
                       hex_bytes(&a, "04 22 4d 18 60 40 82 01 00 00 80 78 00 00 00 00")));
    ck_assert_uint_eq((uint8_t)bad.s[6], (uint8_t)(xxh32(slice_sub(bytes_of(&bad), 0, 6)) >> 8));
    ck_assert_uint_ne((uint8_t)bad.s[6], 0x82);
    ck_assert_int_eq(codec_decompress(&v2, bytes_of(&bad), 10, &back), -EBADMSG);
    ck_assert_int_eq(codec_decompress(&v0, bytes_of(&bad), 10, &back), 0);
    ck_assert_int_eq(codec_decompress(&v0, bytes_of(&good), 10, &back), 0);
    ck_assert_str_eq(back.s, "xx");
}
END_TEST

START_TEST(lz4_flags_are_followed)
{
    static const struct {
        const char *frame;
        int want;
    } frames[] = {
        {"04 22 4d 18 40 40 c0 01 00 00 80 78 00 00 00 00", -EBADMSG}, /* linked blocks */
        {"04 22 4d 18 60 30 00 01 00 00 80 78 00 00 00 00", -EBADMSG}, /* block size code 3 */
        {"04 22 4d 18 64 40 a7 01 00 00 80 78 00 00 00 00 de ad be ef",
         0}, /* content checksum: skipped */
        {"04 22 4d 18 64 40 a7 01 00 00 80 78 00 00 00 00 de ad be", -EBADMSG},
        {"04 22 4d 18 60 40 82 01 00 01 80 78 00 00 00 00",
         -EBADMSG},                         /* a block of more than 64 KiB */
        {"04 22 4d 18 60 40 82", -EBADMSG}, /* no end */
        {"05 22 4d 18 60 40 82 00 00 00 00", -EBADMSG},
    };
    const struct codec c = {COMPRESSION_LZ4, COMPRESSION_LEVEL_DEFAULT, 2};

    for (size_t i = 0; i < ARRAY_LEN(frames); i++) {
        CLEANUP(arena_deinit) struct arena a = {0};
        CLEANUP(strbuf_deinit) struct strbuf back = {0};

        ck_assert_msg(codec_decompress(&c, hex_bytes(&a, frames[i].frame), 100, &back) ==
                          frames[i].want,
                      "%s", frames[i].frame);
    }
}
END_TEST

START_TEST(names_go_both_ways)
{
    enum compression c;

    for (int i = 0; i < COMPRESSION_COUNT; i++) {
        ck_assert_int_eq(compression_by_name(str_of(compression_name((enum compression)i)), &c), 0);
        ck_assert_int_eq((int)c, i);
    }
    ck_assert_int_eq(compression_by_name(STR("uncompressed"), &c), 0);
    ck_assert_int_eq(c, COMPRESSION_NONE);
    ck_assert_int_eq(compression_by_name(STR("producer"), &c), 0);
    ck_assert_int_eq(c, COMPRESSION_PRODUCER);
    ck_assert_int_eq(compression_by_name(STR("lzma"), &c), -EINVAL);
    ck_assert_str_eq(compression_name((enum compression)7), "unknown");
}
END_TEST

START_TEST(ids_without_a_codec_are_refused)
{
    CLEANUP(strbuf_deinit) struct strbuf out = {0};

    for (int id = COMPRESSION_COUNT; id < 8; id++) {
        const struct codec c = {(enum compression)id, COMPRESSION_LEVEL_DEFAULT, 2};

        ck_assert_int_eq(codec_compress(&c, slice_of("x", 1), &out), UNSUPPORTED_COMPRESSION_TYPE);
        ck_assert_int_eq(codec_decompress(&c, slice_of("x", 1), 10, &out),
                         UNSUPPORTED_COMPRESSION_TYPE);
    }
}
END_TEST

TEST_MAIN("common/record/compress", every_codec_gives_back_what_it_took,
          one_byte_over_the_cap_is_too_much, a_stream_cut_short_is_broken,
          several_streams_in_a_row_are_one, a_raw_snappy_block_is_read,
          a_snappy_block_that_claims_gigabytes_gets_no_memory,
          the_snappy_header_is_that_of_the_java_library,
          the_lz4_header_checksum_is_right_but_for_magic_0, lz4_flags_are_followed,
          names_go_both_ways, ids_without_a_codec_are_refused)
