#include "broker/storage/cleaner_filter.h"

#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/record/builder.h"
#include "common/record/legacy.h"
#include "common/record/record_iter.h"
#include "tests/support/random_batch.h"
#include "tests/support/test_main.h"

enum { NOW = 1000000, RETENTION = 5000 };

static struct arena a;
static struct cleaner_map map;
static struct cleaner_txns txns;
static struct last_record last[4];
static struct last_records producers;
static struct cleaner_filter f;
static struct strbuf out;
static struct filtered done;

static void setup(void)
{
    cleaner_map_init(&map, &(struct cleaner_map_opts){1 << 16, 0.9, 1000});
    cleaner_map_cover(&map, 1000);
    producers = (struct last_records){.v = last};
    f = (struct cleaner_filter){.map = &map,
                                .txns = &txns,
                                .producers = &producers,
                                .now_ms = NOW,
                                .delete_retention_ms = RETENTION};
}

static void teardown(void)
{
    cleaner_map_deinit(&map);
    cleaner_txns_deinit(&txns);
    cleaner_filter_deinit(&f);
    strbuf_deinit(&out);
    arena_deinit(&a);
}

static void put(const char *key, int64_t offset)
{
    ck_assert(cleaner_map_put(&map, slice_of(key, strlen(key)), offset));
}

static void knows(int64_t producer_id, int64_t last_data_offset, int16_t epoch)
{
    last[producers.count++] = (struct last_record){producer_id, last_data_offset, epoch};
}

/* "a1 b- -3": key and value of each record, in a row of offsets; '-' is null. */
static struct batch make(struct batch_opts opts, const char *records)
{
    CLEANUP(batch_builder_deinit) struct batch_builder bb;
    CLEANUP(strbuf_deinit) struct strbuf bytes = {0};
    int64_t offset = opts.base_offset;

    batch_builder_init(&bb, &opts);
    for (const char *p = records; *p; p += p[2] ? 3 : 2, offset++)
        batch_builder_add(
            &bb, &(struct record){.offset = offset,
                                  .timestamp = 500 + offset,
                                  .key = *p == '-' ? (struct slice){0} : slice_of(p, 1),
                                  .value = p[1] == '-' ? (struct slice){0} : slice_of(p + 1, 1)});
    ck_assert_int_eq(batch_builder_finish(&bb, &bytes), 0);
    return only_batch(slice_of_str(arena_str(&a, strbuf_str(&bytes))));
}

static struct batch_opts at(int64_t offset)
{
    struct batch_opts opts = BATCH_OPTS_PLAIN;

    opts.base_offset = offset;
    opts.leader_epoch = 3;
    return opts;
}

static struct slice filter(struct batch b)
{
    strbuf_cut(&out, 0);
    ck_assert_int_eq(cleaner_filter_batch(&f, &b, &out, &done), 0);
    return slice_of_str(strbuf_str(&out));
}

/* As "10a1 12b-": offsets, keys and values. */
static const char *text_of(struct slice bytes)
{
    CLEANUP(strbuf_deinit) struct strbuf text = {0};
    struct batch b;

    while (batch_next(&bytes, &b) == 1) {
        CLEANUP(record_iter_deinit) struct record_iter it = {0};
        struct record rec;

        ck_assert(batch_is_valid(&b));
        ck_assert_int_eq(record_iter_init(&it, &b, RECORD_UNPACK_MAX), 0);
        while (record_iter_next(&it, &rec) == 1)
            strbuf_addf(&text, "%s%d%c%c", text.len ? " " : "", (int)rec.offset,
                        rec.key.p ? rec.key.p[0] : '-', rec.value.p ? rec.value.p[0] : '-');
    }
    return arena_strz(&a, strbuf_str(&text));
}

/* ---- v2 ---- */

START_TEST(a_batch_that_loses_nothing_is_copied_byte_for_byte)
{
    setup();
    struct batch_opts opts = at(10);
    opts.codec = COMPRESSION_ZSTD;
    opts.level = 9;
    struct batch b = make(opts, "a1 b2 c3");
    put("a", 10);
    put("b", 11);
    put("c", 12);
    ck_assert(slice_eq(filter(b), batch_bytes(&b)));
    ck_assert_int_eq(done.records_read, 3);
    ck_assert_int_eq(done.records_kept, 3);
    teardown();
}
END_TEST

START_TEST(the_header_stays_that_of_the_batch)
{
    for (int codec = 0; codec < COMPRESSION_COUNT; codec++) {
        setup();
        struct batch_opts opts = at(10);
        opts.codec = (enum compression)codec;
        opts.producer_id = 7;
        opts.producer_epoch = 2;
        opts.base_sequence = 40;
        opts.timestamp_type = codec % 2 ? TIMESTAMP_LOG_APPEND_TIME : TIMESTAMP_CREATE_TIME;
        opts.append_time_ms = 900;
        struct batch b = make(opts, "a1 b2 c3 -4 a5 d6");
        put("b", 50);
        put("d", 51);
        struct batch got = only_batch(filter(b));
        ck_assert_str_eq(text_of(batch_bytes(&got)), "10a1 12c3 14a5");
        ck_assert_int_eq(batch_base_offset(&got), 10);
        ck_assert_int_eq(batch_last_offset(&got), 15);
        ck_assert_int_eq(batch_attributes(&got), batch_attributes(&b));
        ck_assert_int_eq(batch_leader_epoch(&got), 3);
        ck_assert_int_eq(batch_producer_id(&got), 7);
        ck_assert_int_eq(batch_producer_epoch(&got), 2);
        ck_assert_int_eq(batch_last_sequence(&got), batch_last_sequence(&b));
        ck_assert_int_eq(batch_max_timestamp(&got), codec % 2 ? 900 : 514);
        ck_assert_int_eq(batch_count(&got), 3);
        teardown();
    }
}
END_TEST

START_TEST(what_the_map_does_not_cover_stays)
{
    setup();
    cleaner_map_deinit(&map);
    cleaner_map_init(&map, &(struct cleaner_map_opts){1 << 16, 0.9, 1000});
    put("a", 11);
    ck_assert_str_eq(text_of(filter(make(at(10), "a1 -2 a3 -4 b-"))), "12a3 13-4 14b-");
    teardown();
}
END_TEST

START_TEST(a_tombstone_gets_a_horizon_and_goes_when_it_has_passed)
{
    setup();
    struct batch b = make(at(10), "a1 b- c3");
    put("b", 11);
    struct batch once = only_batch(filter(b));
    ck_assert(batch_has_delete_horizon(&once));
    ck_assert_int_eq(batch_base_timestamp(&once), NOW + RETENTION);
    ck_assert_int_eq(batch_max_timestamp(&once), 512);
    once = only_batch(slice_of_str(arena_str(&a, strbuf_str(&out))));
    ck_assert_str_eq(text_of(batch_bytes(&once)), "10a1 11b- 12c3");
    f.now_ms = NOW + RETENTION - 1;
    ck_assert(slice_eq(filter(once), batch_bytes(&once)));
    f.now_ms++;
    struct batch twice = only_batch(filter(once));
    ck_assert_str_eq(text_of(batch_bytes(&twice)), "10a1 12c3");
    ck_assert(batch_has_delete_horizon(&twice));
    ck_assert_int_eq(batch_base_timestamp(&twice), NOW + RETENTION);
    teardown();
}
END_TEST

START_TEST(an_empty_batch_stays_as_the_last_of_its_producer)
{
    setup();
    struct batch_opts opts = at(10);
    opts.producer_id = 7;
    opts.producer_epoch = 1;
    opts.base_sequence = 20;
    opts.codec = COMPRESSION_LZ4;
    struct batch b = make(opts, "a1 a2");
    put("a", 90);
    ck_assert_uint_eq(filter(b).len, 0);
    knows(7, 5, 1);
    ck_assert_uint_eq(filter(b).len, 0);
    last[0].last_data_offset = 11;
    struct batch got = only_batch(filter(b));
    ck_assert_uint_eq(got.size, BATCH_V2_HEADER);
    ck_assert(batch_is_valid(&got));
    ck_assert_int_eq(batch_count(&got), 0);
    ck_assert_int_eq(batch_codec(&got), COMPRESSION_NONE);
    ck_assert_int_eq(batch_base_offset(&got), 10);
    ck_assert_int_eq(batch_last_offset(&got), 11);
    ck_assert_int_eq(batch_last_sequence(&got), 21);
    ck_assert_int_eq(batch_max_timestamp(&got), 511);
    ck_assert_int_eq(batch_base_timestamp(&got), NO_TIMESTAMP);
    got = only_batch(slice_of_str(arena_str(&a, strbuf_str(&out))));
    ck_assert(slice_eq(filter(got), batch_bytes(&got)));
    last[0].last_data_offset = 99;
    ck_assert_uint_eq(filter(got).len, 0);
    teardown();
}
END_TEST

/* ---- transactions ---- */

static struct batch marker(int64_t offset, int64_t producer_id, int16_t epoch, bool is_commit)
{
    CLEANUP(strbuf_deinit) struct strbuf bytes = {0};

    txn_marker_build(&(struct txn_marker){.offset = offset,
                                          .timestamp = 700,
                                          .producer_id = producer_id,
                                          .producer_epoch = epoch,
                                          .is_commit = is_commit},
                     &bytes);
    return only_batch(slice_of_str(arena_str(&a, strbuf_str(&bytes))));
}

static struct batch_opts in_txn(int64_t offset, int64_t producer_id)
{
    struct batch_opts opts = at(offset);

    opts.producer_id = producer_id;
    opts.is_transactional = true;
    return opts;
}

START_TEST(aborted_data_goes_and_its_marker_a_cleaning_and_a_retention_later)
{
    setup();
    txns.aborted = (struct txn_entries){xnew_array(struct txn_entry, 1), 1};
    txns.aborted.v[0] = (struct txn_entry){7, 10, 12, 13};
    ck_assert_uint_eq(filter(make(in_txn(10, 7), "a1 b2")).len, 0);
    struct batch end = marker(12, 7, 0, false);
    ck_assert(slice_eq(filter(end), batch_bytes(&end)));
    ck_assert(done.is_aborted);
    ck_assert_int_eq(done.aborted.first_offset, 10);
    /* Next time there is no data before it. */
    struct batch once = only_batch(filter(end));
    ck_assert(!done.is_aborted);
    ck_assert(batch_has_delete_horizon(&once));
    ck_assert(batch_is_control(&once));
    ck_assert_int_eq(batch_max_timestamp(&once), 700);
    once = only_batch(slice_of_str(arena_str(&a, strbuf_str(&out))));
    ck_assert(slice_eq(filter(once), batch_bytes(&once)));
    f.now_ms += RETENTION;
    ck_assert_uint_eq(filter(once).len, 0);
    teardown();
}
END_TEST

START_TEST(a_producers_last_marker_keeps_its_header)
{
    setup();
    struct batch end = marker(12, 7, 4, true);
    struct batch once = only_batch(slice_of_str(arena_str(&a, str_of_slice(filter(end)))));
    f.now_ms += RETENTION;
    knows(7, -1, 4);
    struct batch got = only_batch(filter(once));
    ck_assert_int_eq(batch_count(&got), 0);
    ck_assert(batch_is_control(&got));
    ck_assert(batch_is_transactional(&got));
    ck_assert_int_eq(batch_producer_epoch(&got), 4);
    last[0].epoch = 5;
    ck_assert_uint_eq(filter(once).len, 0);
    teardown();
}
END_TEST

START_TEST(committed_data_is_like_other_data)
{
    setup();
    put("a", 11);
    ck_assert_str_eq(text_of(filter(make(in_txn(10, 7), "a1 a2 b3"))), "11a2 12b3");
    struct batch end = marker(13, 7, 0, true);
    ck_assert(slice_eq(filter(end), batch_bytes(&end)));
    teardown();
}
END_TEST

/* ---- v0, v1 ---- */

/* A message, or a wrapper around several. */
static struct batch make_old(int8_t magic, enum compression codec, int64_t offset,
                             const char *records)
{
    CLEANUP(strbuf_deinit) struct strbuf inner = {0}, packed = {0}, bytes = {0};
    struct legacy_opts opts = {.magic = magic};
    int64_t n = 0, base = magic == 0 ? offset : 0;

    for (const char *p = records; *p; p += p[2] ? 3 : 2, n++)
        legacy_message_add(
            &(struct legacy_message){.offset = codec ? base + n : offset,
                                     .timestamp = 600 + n,
                                     .key = *p == '-' ? (struct slice){0} : slice_of(p, 1),
                                     .value = p[1] == '-' ? (struct slice){0} : slice_of(p + 1, 1)},
            &opts, &inner);
    if (codec == COMPRESSION_NONE)
        return only_batch(slice_of_str(arena_str(&a, strbuf_str(&inner))));
    const struct codec c = {.codec = codec, .level = COMPRESSION_LEVEL_DEFAULT, .magic = magic};
    ck_assert_int_eq(codec_compress(&c, slice_of_str(strbuf_str(&inner)), &packed), 0);
    opts.codec = codec;
    legacy_message_add(&(struct legacy_message){.offset = offset + n - 1,
                                                .timestamp = 600 + n - 1,
                                                .value = slice_of_str(strbuf_str(&packed))},
                       &opts, &bytes);
    return only_batch(slice_of_str(arena_str(&a, strbuf_str(&bytes))));
}

START_TEST(old_wrappers_are_built_again_with_what_is_left)
{
    static const enum compression codecs[] = {COMPRESSION_GZIP, COMPRESSION_SNAPPY,
                                              COMPRESSION_LZ4};

    for (int8_t magic = 0; magic < 2; magic++) {
        for (size_t i = 0; i < ARRAY_LEN(codecs); i++) {
            setup();
            struct batch b = make_old(magic, codecs[i], 10, "a1 b2 c3 -4");
            put("c", 90);
            struct batch got = only_batch(filter(b));
            ck_assert_str_eq(text_of(batch_bytes(&got)), "10a1 11b2");
            ck_assert_int_eq(got.magic, magic);
            ck_assert_int_eq(batch_codec(&got), codecs[i]);
            ck_assert_int_eq(batch_last_offset(&got), 11);
            ck_assert_int_eq(batch_max_timestamp(&got), magic ? 601 : NO_TIMESTAMP);
            put("a", 91);
            put("b", 92);
            ck_assert_uint_eq(filter(b).len, 0);
            teardown();
        }
    }
}
END_TEST

START_TEST(old_tombstones_stay_in_young_segments)
{
    for (int8_t magic = 0; magic < 2; magic++) {
        setup();
        struct batch b = make_old(magic, COMPRESSION_NONE, 10, "a-");
        struct batch wrapper = make_old(magic, COMPRESSION_GZIP, 20, "b- c3");
        f.keeps_old_tombstones = true;
        ck_assert(slice_eq(filter(b), batch_bytes(&b)));
        ck_assert(slice_eq(filter(wrapper), batch_bytes(&wrapper)));
        f.keeps_old_tombstones = false;
        ck_assert_uint_eq(filter(b).len, 0);
        ck_assert_str_eq(text_of(filter(wrapper)), "21c3");
        teardown();
    }
}
END_TEST

/* ---- what cannot be read ---- */

START_TEST(broken_records_are_refused)
{
    struct random_source r = {3};

    for (int i = 0; i < 3000; i++) {
        setup();
        struct batch_opts opts = at(10);
        opts.codec = (enum compression)(i % COMPRESSION_COUNT);
        struct batch b = make(opts, "a1 b2 c3 d- e5");
        uint8_t *p = (uint8_t *)(uintptr_t)b.p;
        put("a", 10);
        put("b", 90);
        p[17 + random_to(&r, b.size - 17)] ^= (uint8_t)(1 + random_to(&r, 255));
        int e = cleaner_filter_batch(&f, &b, &out, &done);
        ck_assert(e == 0 || e == -EBADMSG || e == -EPROTO || e == -EFBIG);
        teardown();
    }
}
END_TEST

TEST_MAIN("broker/storage/cleaner_filter", a_batch_that_loses_nothing_is_copied_byte_for_byte,
          the_header_stays_that_of_the_batch, what_the_map_does_not_cover_stays,
          a_tombstone_gets_a_horizon_and_goes_when_it_has_passed,
          an_empty_batch_stays_as_the_last_of_its_producer,
          aborted_data_goes_and_its_marker_a_cleaning_and_a_retention_later,
          a_producers_last_marker_keeps_its_header, committed_data_is_like_other_data,
          old_wrappers_are_built_again_with_what_is_left, old_tombstones_stay_in_young_segments,
          broken_records_are_refused)
