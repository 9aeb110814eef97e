#include "common/wire/writer.h"

#include "common/wire/codec.h"
#include "tests/support/test_main.h"

#include <errno.h>

enum { BIG = 5000, MANY = 100000 };

START_TEST(bytes_over_many_chunks_stay_in_order)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct writer w;

    writer_init(&w, &a);
    for (int32_t i = 0; i < MANY; i++)
        writer_i32(&w, i);
    ck_assert_uint_eq(writer_len(&w), MANY * 4);
    struct slice flat = writer_flat(&w);
    for (size_t i = 0; i < MANY; i++)
        ck_assert_uint_eq(be32_read(flat.p + 4 * i), i);
    ck_assert_uint_lt(w.piece_count, 32);
}
END_TEST

START_TEST(file_ranges_become_pieces_and_are_not_read)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    int opaque = 0;
    struct file *file = (struct file *)(void *)&opaque;
    struct fetch_response_partition parts[2];
    struct fetch_response_response topic;
    struct fetch_response m;
    struct writer w;

    msg_init(&fetch_response_desc, &m);
    struct_init(&fetch_response_response_desc, &topic);
    for (int i = 0; i < 2; i++) {
        struct_init(&fetch_response_partition_desc, &parts[i]);
        parts[i].records = (struct records){.file = file, .pos = 100u * i, .len = 7777};
    }
    m.responses = &topic;
    m.responses_count = 1;
    topic.partitions = parts;
    topic.partitions_count = 2;
    writer_init(&w, &a);
    ck_assert_int_eq(codec_encode(&fetch_response_desc, 17, &m, &w), 0);
    writer_end(&w);
    ck_assert_uint_eq(w.piece_count, 5); /* memory, file, memory, file, memory */
    ck_assert_ptr_eq(w.pieces[3].file, file);
    ck_assert_uint_eq(w.pieces[3].pos, 100);
    ck_assert_uint_eq(w.pieces[3].len, 7777);
    ck_assert_int_eq(codec_size(&fetch_response_desc, 17, &m), (ssize_t)w.total);
    /* The length before the second file range, compact: 7778. */
    const struct piece *before = &w.pieces[2];
    ck_assert_uint_eq(before->mem.p[before->len - 2], 0x80 | (7778 & 0x7f));
    ck_assert_uint_eq(before->mem.p[before->len - 1], 7778 >> 7);
}
END_TEST

START_TEST(large_records_are_referenced_small_ones_copied)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    static uint8_t big[BIG];
    struct records large = {.bytes = slice_of(big, BIG)}, small = {.bytes = slice_of(big, 10)};
    struct writer w;

    writer_init(&w, &a);
    writer_i8(&w, 1);
    writer_records(&w, &small);
    writer_records(&w, &large);
    writer_i8(&w, 2);
    writer_end(&w);
    ck_assert_uint_eq(w.piece_count, 3);
    ck_assert_uint_eq(w.pieces[0].len, 11);
    ck_assert_ptr_eq(w.pieces[1].mem.p, big);
    ck_assert_uint_eq(w.total, 1 + 10 + BIG + 1);
}
END_TEST

START_TEST(measuring_counts_like_writing)
{
    uint8_t scratch[16];
    static const uint8_t big[BIG];
    struct records large = {.bytes = slice_of(big, BIG)};
    struct writer w;

    writer_init_measure(&w, scratch, sizeof scratch);
    for (int i = 0; i < 100; i++)
        writer_i64(&w, i);
    writer_uvarint(&w, 300);
    writer_bytes(&w, big, 77);
    writer_records(&w, &large);
    ck_assert_uint_eq(writer_len(&w), 800 + 2 + 77 + BIG);
}
END_TEST

START_TEST(first_failure_sticks)
{
    struct writer w = {0};

    writer_fail(&w, -EINVAL, "first");
    writer_fail(&w, -EMSGSIZE, "second");
    ck_assert_int_eq(w.err, -EINVAL);
    ck_assert_str_eq(w.err_field, "first");
}
END_TEST

TEST_MAIN("common/wire/writer", bytes_over_many_chunks_stay_in_order,
          file_ranges_become_pieces_and_are_not_read,
          large_records_are_referenced_small_ones_copied, measuring_counts_like_writing,
          first_failure_sticks)
