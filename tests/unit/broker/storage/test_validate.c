#include "broker/storage/validate.h"

#include "common/base/err.h"
#include "common/record/batch_stamp.h"
#include "common/record/legacy.h"
#include "common/record/record_iter.h"
#include "tests/support/golden_batch.h"
#include "tests/support/random_batch.h"
#include "tests/support/test_main.h"

enum { LEADER_EPOCH = 7, FIRST_OFFSET = 1000 };

static const int64_t now_ms = 1700000010000;

/* One try: settings, and everything that came of it. */
struct bench {
    struct topic_conf *conf;
    struct arena a;
    enum append_origin origin;
    struct validated out;
};

static void bench_init(struct bench *b)
{
    *b = (struct bench){.conf = topic_conf_new(), .origin = APPEND_CLIENT};
}

static void bench_deinit(struct bench *b)
{
    topic_conf_unref(b->conf);
    arena_deinit(&b->a);
}

static int validate(struct bench *b, struct slice records)
{
    const struct validate_opts opts = {.conf = b->conf,
                                       .origin = b->origin,
                                       .leader_epoch = LEADER_EPOCH,
                                       .first_offset = FIRST_OFFSET,
                                       .now_ms = now_ms,
                                       .topic = "t",
                                       .partition = 3};

    return validate_leader(records, &opts, &b->a, &b->out);
}

static struct slice batch_of(struct bench *b, enum compression codec, int count)
{
    struct random_source r = {42};
    struct batch_opts opts = BATCH_OPTS_PLAIN;

    opts.codec = codec;
    return random_batch(&r, &opts, count, &b->a, NULL);
}

/* One record k=v at a time. */
static struct slice batch_at(struct bench *b, const struct batch_opts *opts, int64_t timestamp)
{
    CLEANUP(batch_builder_deinit) struct batch_builder bb;
    CLEANUP(strbuf_deinit) struct strbuf out = {0};

    batch_builder_init(&bb, opts);
    batch_builder_add(&bb, &(struct record){.timestamp = timestamp,
                                            .key = slice_of("k", 1),
                                            .value = slice_of("v", 1)});
    ck_assert_int_eq(batch_builder_finish(&bb, &out), 0);
    return slice_of_str(arena_str(&b->a, strbuf_str(&out)));
}

static uint8_t *writable(struct slice s)
{
    return (uint8_t *)(uintptr_t)s.p;
}

/* A field of the only batch changed, its checksum made right again. */
static struct slice with_i32(struct slice s, size_t at, int32_t v)
{
    be32_write(writable(s) + at, (uint32_t)v);
    struct batch b = only_batch(s);
    batch_write_crc(&b);
    return s;
}

static struct slice with_attributes(struct slice s, int16_t attributes)
{
    be16_write(writable(s) + 21, (uint16_t)attributes);
    struct batch b = only_batch(s);
    batch_write_crc(&b);
    return s;
}

START_TEST(a_plain_batch_is_stamped_where_it_lies)
{
    CLEANUP(bench_deinit) struct bench b;

    bench_init(&b);
    struct slice in = batch_of(&b, COMPRESSION_NONE, 5);
    uint32_t crc = be32_read(in.p + 17);
    ck_assert_int_eq(validate(&b, in), 0);
    ck_assert_ptr_eq(b.out.set.bytes.p, in.p);
    struct batch got = only_batch(b.out.set.bytes);
    ck_assert_int_eq(batch_base_offset(&got), FIRST_OFFSET);
    ck_assert_int_eq(batch_leader_epoch(&got), LEADER_EPOCH);
    ck_assert_uint_eq(batch_crc(&got), crc);
    ck_assert(batch_is_valid(&got));
    ck_assert_int_eq(b.out.set.first_offset, FIRST_OFFSET);
    ck_assert_int_eq(b.out.set.last_offset, FIRST_OFFSET + 4);
    ck_assert_int_eq(b.out.set.max_timestamp, batch_max_timestamp(&got));
    ck_assert_int_eq(b.out.set.record_count, 5);
    ck_assert_int_eq(b.out.append_time_ms, -1);
}
END_TEST

START_TEST(compressed_bytes_stay_untouched)
{
    for (int codec = 1; codec < COMPRESSION_COUNT; codec++) {
        CLEANUP(bench_deinit) struct bench b;

        bench_init(&b);
        struct slice in = batch_of(&b, (enum compression)codec, 50);
        struct str before = arena_str(&b.a, str_of_slice(in));
        ck_assert_int_eq(validate(&b, in), 0);
        ck_assert_ptr_eq(b.out.set.bytes.p, in.p);
        ck_assert(memcmp(in.p + 16, before.p + 16, in.len - 16) == 0);
        ck_assert_int_eq(b.out.set.last_offset, FIRST_OFFSET + 49);
    }
}
END_TEST

START_TEST(the_append_time_is_written_where_the_topic_asks)
{
    for (int codec = 0; codec < COMPRESSION_COUNT; codec++) {
        CLEANUP(bench_deinit) struct bench b;

        bench_init(&b);
        b.conf->timestamp_type = TIMESTAMP_LOG_APPEND_TIME;
        ck_assert_int_eq(validate(&b, batch_of(&b, (enum compression)codec, 5)), 0);
        struct batch got = only_batch(b.out.set.bytes);
        ck_assert_int_eq(batch_timestamp_type(&got), TIMESTAMP_LOG_APPEND_TIME);
        ck_assert_int_eq(batch_max_timestamp(&got), now_ms);
        ck_assert(batch_is_valid(&got));
        ck_assert_int_eq(b.out.append_time_ms, now_ms);
        ck_assert_int_eq(b.out.set.max_timestamp, now_ms);
    }
}
END_TEST

START_TEST(a_max_timestamp_that_lies_is_made_true)
{
    CLEANUP(bench_deinit) struct bench b;

    bench_init(&b);
    struct slice in = batch_of(&b, COMPRESSION_NONE, 5);
    struct batch got = only_batch(in);
    int64_t true_max = batch_max_timestamp(&got);
    batch_set_max_timestamp(&got, TIMESTAMP_CREATE_TIME, true_max + 5000);
    ck_assert_int_eq(validate(&b, in), 0);
    ck_assert_int_eq(batch_max_timestamp(&got), true_max);
    ck_assert(batch_is_valid(&got));
}
END_TEST

START_TEST(batch_headers_that_contradict_themselves_are_refused)
{
    static const struct {
        size_t at;
        int32_t value;
    } lies[] = {{23, 3}, {23, 5}, {23, -1}, {23, INT32_MAX}, {57, 0}, {57, -1}, {57, 4}, {57, 6}};

    for (size_t i = 0; i < ARRAY_LEN(lies); i++)
        for (int codec = 0; codec <= COMPRESSION_GZIP; codec++) {
            CLEANUP(bench_deinit) struct bench b;

            bench_init(&b);
            struct slice in =
                with_i32(batch_of(&b, (enum compression)codec, 5), lies[i].at, lies[i].value);
            ck_assert_int_eq(validate(&b, in), INVALID_RECORD);
            ck_assert_int_eq(b.out.record_error_count, 0);
            ck_assert_ptr_nonnull(strstr(b.out.error_message, "t-3"));
        }
}
END_TEST

START_TEST(count_and_range_that_agree_on_a_wrong_number_are_refused)
{
    for (int codec = 0; codec < COMPRESSION_COUNT; codec++)
        for (int32_t wrong = 4; wrong <= 6; wrong += 2) {
            CLEANUP(bench_deinit) struct bench b;

            bench_init(&b);
            struct slice in = with_i32(batch_of(&b, (enum compression)codec, 5), 57, wrong);
            ck_assert_int_eq(validate(&b, with_i32(in, 23, wrong - 1)), INVALID_RECORD);
        }
}
END_TEST

START_TEST(the_order_of_the_header_checks_is_kafkas)
{
    CLEANUP(bench_deinit) struct bench b;

    bench_init(&b);
    struct slice in = batch_of(&b, COMPRESSION_NONE, 5);
    writable(in)[in.len - 1] ^= 1;
    ck_assert_int_eq(validate(&b, in), CORRUPT_MESSAGE);
    b.conf->max_message_bytes = (int32_t)in.len - 1;
    ck_assert_int_eq(validate(&b, in), MESSAGE_TOO_LARGE);
    writable(in)[7] = 1; /* the base offset is not 0 */
    ck_assert_int_eq(validate(&b, in), INVALID_RECORD);
    b.origin = APPEND_COORDINATOR;
    ck_assert_int_eq(validate(&b, in), MESSAGE_TOO_LARGE);
    b.conf->max_message_bytes = (int32_t)in.len;
    ck_assert_int_eq(validate(&b, in), CORRUPT_MESSAGE);
}
END_TEST

START_TEST(sets_that_cannot_be_framed_are_corrupt_and_a_torn_end_is_dropped)
{
    CLEANUP(bench_deinit) struct bench b;

    bench_init(&b);
    struct slice in = batch_of(&b, COMPRESSION_NONE, 5);
    struct slice longer = slice_of_str(arena_str(&b.a, str_of_slice(in)));
    ck_assert_int_eq(validate(&b, slice_sub(in, 0, in.len - 1)), 0);
    ck_assert_uint_eq(b.out.set.bytes.len, 0);
    ck_assert_int_eq(b.out.set.first_offset, -1);
    be32_write(writable(longer) + 8, 13);
    ck_assert_int_eq(validate(&b, longer), CORRUPT_MESSAGE);
    be32_write(writable(longer) + 8, (uint32_t)longer.len - 12);
    writable(longer)[16] = 3;
    ck_assert_int_eq(validate(&b, longer), CORRUPT_MESSAGE);
}
END_TEST

START_TEST(more_than_one_batch_is_refused)
{
    CLEANUP(bench_deinit) struct bench b;
    CLEANUP(strbuf_deinit) struct strbuf two = {0};

    bench_init(&b);
    struct slice one = batch_of(&b, COMPRESSION_NONE, 1);
    strbuf_add(&two, one.p, one.len);
    strbuf_add(&two, one.p, one.len);
    ck_assert_int_eq(validate(&b, slice_of_str(strbuf_str(&two))), INVALID_RECORD);
    /* half a second batch is a torn end */
    ck_assert_int_eq(validate(&b, slice_of(two.s, two.len - 10)), 0);
}
END_TEST

START_TEST(clients_write_no_control_batches_and_need_sequences)
{
    CLEANUP(bench_deinit) struct bench b;
    struct batch_opts opts = BATCH_OPTS_PLAIN;

    bench_init(&b);
    ck_assert_int_eq(validate(&b, with_attributes(batch_at(&b, &opts, now_ms), BATCH_CONTROL)),
                     INVALID_RECORD);
    opts.producer_id = 5;
    opts.producer_epoch = 0;
    ck_assert_int_eq(validate(&b, batch_at(&b, &opts, now_ms)), INVALID_RECORD);
    opts.base_sequence = 0;
    ck_assert_int_eq(validate(&b, batch_at(&b, &opts, now_ms)), 0);
}
END_TEST

START_TEST(a_coordinators_marker_is_stamped_only)
{
    CLEANUP(bench_deinit) struct bench b;
    CLEANUP(strbuf_deinit) struct strbuf out = {0};

    bench_init(&b);
    b.origin = APPEND_COORDINATOR;
    b.conf->compression = COMPRESSION_ZSTD;
    txn_marker_build(&(struct txn_marker){.producer_id = 1, .timestamp = 5}, &out);
    ck_assert_int_eq(validate(&b, slice_of_str(strbuf_str(&out))), 0);
    ck_assert_ptr_eq(b.out.set.bytes.p, out.s);
    struct batch got = only_batch(b.out.set.bytes);
    ck_assert(batch_is_control(&got) && batch_is_valid(&got));
    ck_assert_int_eq(batch_codec(&got), COMPRESSION_NONE);
    ck_assert_int_eq(batch_base_offset(&got), FIRST_OFFSET);
}
END_TEST

START_TEST(compacted_topics_want_keys_and_each_missing_one_is_named)
{
    for (int codec = 0; codec <= COMPRESSION_LZ4; codec += COMPRESSION_LZ4) {
        CLEANUP(bench_deinit) struct bench b;
        CLEANUP(batch_builder_deinit) struct batch_builder bb;
        CLEANUP(strbuf_deinit) struct strbuf out = {0};
        struct batch_opts opts = BATCH_OPTS_PLAIN;

        bench_init(&b);
        b.conf->cleanup_policy = CLEANUP_DELETE | CLEANUP_COMPACT;
        opts.codec = (enum compression)codec;
        batch_builder_init(&bb, &opts);
        for (int i = 0; i < 5; i++)
            batch_builder_add(&bb,
                              &(struct record){.offset = i,
                                               .timestamp = now_ms,
                                               .key = i % 2 ? (struct slice){0} : slice_of("", 0),
                                               .value = slice_of("v", 1)});
        ck_assert_int_eq(batch_builder_finish(&bb, &out), 0);
        ck_assert_int_eq(validate(&b, slice_of_str(strbuf_str(&out))), INVALID_RECORD);
        ck_assert_int_eq(b.out.record_error_count, 2);
        ck_assert_int_eq(b.out.record_errors[0].batch_index, 1);
        ck_assert_int_eq(b.out.record_errors[1].batch_index, 3);
        ck_assert_str_eq(
            b.out.record_errors[0].message,
            "Compacted topic cannot accept message without key in topic partition t-3");
        ck_assert_ptr_nonnull(strstr(b.out.error_message, "2 record errors"));
    }
}
END_TEST

START_TEST(more_bad_records_than_are_listed_are_counted)
{
    CLEANUP(bench_deinit) struct bench b;
    CLEANUP(batch_builder_deinit) struct batch_builder bb;
    CLEANUP(strbuf_deinit) struct strbuf out = {0};
    const struct batch_opts opts = BATCH_OPTS_PLAIN;

    bench_init(&b);
    b.conf->cleanup_policy = CLEANUP_COMPACT;
    batch_builder_init(&bb, &opts);
    for (int i = 0; i < 5000; i++)
        batch_builder_add(&bb, &(struct record){.offset = i});
    ck_assert_int_eq(batch_builder_finish(&bb, &out), 0);
    ck_assert_int_eq(validate(&b, slice_of_str(strbuf_str(&out))), INVALID_RECORD);
    ck_assert_int_eq(b.out.record_error_count, 1000);
    ck_assert_ptr_nonnull(strstr(b.out.error_message, "5000 record errors"));
}
END_TEST

START_TEST(timestamps_have_two_limits)
{
    static const struct {
        int64_t timestamp;
        int want;
    } tries[] = {{now_ms - 1000, 0}, {now_ms - 1001, INVALID_TIMESTAMP},
                 {now_ms + 500, 0},  {now_ms + 501, INVALID_TIMESTAMP},
                 {NO_TIMESTAMP, 0},  {0, INVALID_TIMESTAMP}};

    for (size_t i = 0; i < ARRAY_LEN(tries); i++)
        for (int codec = 0; codec <= COMPRESSION_GZIP; codec++) {
            CLEANUP(bench_deinit) struct bench b;
            struct batch_opts opts = BATCH_OPTS_PLAIN;

            bench_init(&b);
            b.conf->timestamp_before_max_ms = 1000;
            b.conf->timestamp_after_max_ms = 500;
            opts.codec = (enum compression)codec;
            ck_assert_int_eq(validate(&b, batch_at(&b, &opts, tries[i].timestamp)), tries[i].want);
            ck_assert_int_eq(b.out.record_error_count, tries[i].want ? 1 : 0);
            b.conf->timestamp_type = TIMESTAMP_LOG_APPEND_TIME;
            ck_assert_int_eq(validate(&b, batch_at(&b, &opts, tries[i].timestamp)), 0);
        }
}
END_TEST

START_TEST(a_client_may_not_claim_the_append_time)
{
    CLEANUP(bench_deinit) struct bench b;
    struct batch_opts opts = BATCH_OPTS_PLAIN;

    bench_init(&b);
    opts.timestamp_type = TIMESTAMP_LOG_APPEND_TIME;
    opts.append_time_ms = now_ms - 1;
    ck_assert_int_eq(validate(&b, batch_at(&b, &opts, now_ms)),
                     0); /* on a CreateTime topic the bit is cleared */
    struct batch got = only_batch(b.out.set.bytes);
    ck_assert_int_eq(batch_timestamp_type(&got), TIMESTAMP_CREATE_TIME);
    ck_assert_int_eq(batch_max_timestamp(&got), now_ms - 1);
    ck_assert(batch_is_valid(&got));
    opts.append_time_ms = NO_TIMESTAMP;
    ck_assert_int_eq(validate(&b, batch_at(&b, &opts, now_ms)), INVALID_TIMESTAMP);
    b.conf->timestamp_type = TIMESTAMP_LOG_APPEND_TIME;
    opts.append_time_ms = now_ms;
    ck_assert_int_eq(validate(&b, batch_at(&b, &opts, now_ms)), INVALID_TIMESTAMP);
    ck_assert_int_eq(b.out.record_error_count, 1);
}
END_TEST

START_TEST(codecs_that_are_none_and_payloads_that_do_not_unpack)
{
    CLEANUP(bench_deinit) struct bench b;

    bench_init(&b);
    for (int16_t id = 5; id < 8; id++)
        ck_assert_int_eq(validate(&b, with_attributes(batch_of(&b, COMPRESSION_NONE, 2), id)),
                         -EPROTO);
    for (int16_t id = 1; id < 5; id++)
        ck_assert_int_eq(validate(&b, with_attributes(batch_of(&b, COMPRESSION_NONE, 2), id)),
                         -EPROTO);
    ck_assert_int_eq(err_to_wire(-EPROTO), UNKNOWN_SERVER_ERROR);
}
END_TEST

static void check_same_records(struct slice was, struct slice is)
{
    CLEANUP(record_iter_deinit) struct record_iter x = {0}, y = {0};
    struct batch a = only_batch(was), b = only_batch(is);
    struct record p, q;
    int r;

    ck_assert_int_eq(record_iter_init(&x, &a, RECORD_UNPACK_MAX), 0);
    ck_assert_int_eq(record_iter_init(&y, &b, RECORD_UNPACK_MAX), 0);
    for (int64_t offset = FIRST_OFFSET; (r = record_iter_next(&x, &p)) == 1; offset++) {
        ck_assert_int_eq(record_iter_next(&y, &q), 1);
        ck_assert(same_record(&p, &q));
        ck_assert_int_eq(p.timestamp, q.timestamp);
        ck_assert_int_eq(q.offset, offset);
    }
    ck_assert_int_eq(r, 0);
    ck_assert_int_eq(record_iter_next(&y, &q), 0);
}

START_TEST(another_codec_rebuilds_and_keeps_the_producer)
{
    for (int from = 0; from < COMPRESSION_COUNT; from++)
        for (int to = 0; to < COMPRESSION_COUNT; to++) {
            CLEANUP(bench_deinit) struct bench b;
            struct random_source r = {9};
            struct batch_opts opts = BATCH_OPTS_PLAIN;

            bench_init(&b);
            b.conf->compression = (enum compression)to;
            opts.codec = (enum compression)from;
            opts.producer_id = 77;
            opts.producer_epoch = 4;
            opts.base_sequence = 12;
            opts.is_transactional = true;
            struct slice in = random_batch(&r, &opts, 30, &b.a, NULL);
            ck_assert_int_eq(validate(&b, in), 0);
            ck_assert(from == to ? b.out.set.bytes.p == in.p : b.out.set.bytes.p != in.p);
            struct batch got = only_batch(b.out.set.bytes);
            ck_assert(batch_is_valid(&got) && batch_is_transactional(&got));
            ck_assert_int_eq(batch_codec(&got), to);
            ck_assert_int_eq(batch_producer_id(&got), 77);
            ck_assert_int_eq(batch_producer_epoch(&got), 4);
            ck_assert_int_eq(batch_base_sequence(&got), 12);
            ck_assert_int_eq(batch_leader_epoch(&got), LEADER_EPOCH);
            if (from != to)
                check_same_records(in, b.out.set.bytes);
        }
}
END_TEST

START_TEST(a_rebuilt_batch_must_fit_too)
{
    CLEANUP(bench_deinit) struct bench b;

    bench_init(&b);
    struct slice in = batch_of(&b, COMPRESSION_ZSTD, 50);
    b.conf->max_message_bytes = (int32_t)in.len;
    b.conf->compression = COMPRESSION_NONE;
    ck_assert_int_eq(validate(&b, in), MESSAGE_TOO_LARGE);
}
END_TEST

START_TEST(compressed_offsets_with_gaps_are_rebuilt)
{
    CLEANUP(bench_deinit) struct bench b;
    CLEANUP(batch_builder_deinit) struct batch_builder bb;
    CLEANUP(strbuf_deinit) struct strbuf out = {0};
    struct batch_opts opts = BATCH_OPTS_PLAIN;

    bench_init(&b);
    opts.codec = COMPRESSION_GZIP;
    opts.last_offset = 1;
    batch_builder_init(&bb, &opts);
    batch_builder_add(&bb, &(struct record){.offset = 0, .timestamp = now_ms});
    batch_builder_add(&bb, &(struct record){.offset = 9, .timestamp = now_ms});
    ck_assert_int_eq(batch_builder_finish(&bb, &out), 0);
    struct slice in = slice_of_str(strbuf_str(&out));
    ck_assert_int_eq(validate(&b, in), 0);
    ck_assert_ptr_ne(b.out.set.bytes.p, in.p);
    check_same_records(in, b.out.set.bytes);
}
END_TEST

/* count messages k=v, each by itself. */
static void add_messages(struct strbuf *out, int8_t magic, int count)
{
    for (int i = 0; i < count; i++)
        legacy_message_add(&(struct legacy_message){.offset = i,
                                                    .timestamp = now_ms + i,
                                                    .key = slice_of("k", 1),
                                                    .value = slice_of("v", 1)},
                           &(struct legacy_opts){.magic = magic}, out);
}

static void add_wrapper(struct strbuf *out, int8_t magic, enum compression codec, struct slice set)
{
    CLEANUP(strbuf_deinit) struct strbuf packed = {0};
    const struct codec c = {codec, COMPRESSION_LEVEL_DEFAULT, magic};

    ck_assert_int_eq(codec_compress(&c, set, &packed), 0);
    legacy_message_add(&(struct legacy_message){.offset = 2,
                                                .timestamp = now_ms + 2,
                                                .value = slice_of_str(strbuf_str(&packed))},
                       &(struct legacy_opts){.magic = magic, .codec = codec}, out);
}

static void check_converted(struct bench *b, int8_t magic)
{
    CLEANUP(record_iter_deinit) struct record_iter it = {0};
    struct batch got = only_batch(b->out.set.bytes);
    struct record rec;

    ck_assert(batch_is_v2(&got) && batch_is_valid(&got));
    ck_assert(!batch_has_producer_id(&got));
    ck_assert_int_eq(batch_base_offset(&got), FIRST_OFFSET);
    ck_assert_int_eq(batch_count(&got), 3);
    ck_assert_int_eq(record_iter_init(&it, &got, RECORD_UNPACK_MAX), 0);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(record_iter_next(&it, &rec), 1);
        ck_assert_int_eq(rec.offset, FIRST_OFFSET + i);
        ck_assert_int_eq(rec.timestamp, magic ? now_ms + i : NO_TIMESTAMP);
        ck_assert(slice_eq(rec.key, slice_of("k", 1)));
    }
}

START_TEST(old_messages_become_one_new_batch)
{
    for (int8_t magic = 0; magic <= 1; magic++) {
        CLEANUP(bench_deinit) struct bench b;
        CLEANUP(strbuf_deinit) struct strbuf out = {0};

        bench_init(&b);
        add_messages(&out, magic, 3);
        ck_assert_int_eq(validate(&b, slice_of_str(strbuf_str(&out))), 0);
        check_converted(&b, magic);
    }
}
END_TEST

START_TEST(old_wrappers_become_one_new_batch_of_their_codec)
{
    for (int8_t magic = 0; magic <= 1; magic++)
        for (int codec = 1; codec < COMPRESSION_ZSTD; codec++) {
            CLEANUP(bench_deinit) struct bench b;
            CLEANUP(strbuf_deinit) struct strbuf set = {0}, out = {0};

            bench_init(&b);
            add_messages(&set, magic, 3);
            add_wrapper(&out, magic, (enum compression)codec, slice_of_str(strbuf_str(&set)));
            ck_assert_int_eq(validate(&b, slice_of_str(strbuf_str(&out))), 0);
            struct batch got = only_batch(b.out.set.bytes);
            ck_assert_int_eq(batch_codec(&got), codec);
            check_converted(&b, magic);
        }
}
END_TEST

/* Messages of that format, or a wrapper, with the offsets and times that were given. */
static void check_old(const struct bench *b, enum compression codec, int64_t timestamp)
{
    struct slice rest = b->out.set.bytes;
    int8_t magic = b->conf->record_version;
    struct batch got;
    int n = 0;

    while (batch_next(&rest, &got) == 1) {
        CLEANUP(record_iter_deinit) struct record_iter it = {0};
        struct record rec;

        ck_assert_int_eq(got.magic, magic);
        ck_assert(batch_is_valid(&got));
        ck_assert_int_eq(batch_codec(&got), codec);
        ck_assert_int_eq(record_iter_init(&it, &got, RECORD_UNPACK_MAX), 0);
        for (; record_iter_next(&it, &rec) == 1; n++) {
            ck_assert_int_eq(rec.offset, FIRST_OFFSET + n);
            ck_assert_int_eq(rec.timestamp, magic == 0  ? NO_TIMESTAMP
                                            : timestamp ? timestamp
                                                        : now_ms + n);
            ck_assert(slice_eq(rec.key, slice_of("k", 1)) && slice_eq(rec.value, slice_of("v", 1)));
        }
    }
    ck_assert_int_eq(n, 3);
    ck_assert_int_eq(b->out.set.first_offset, FIRST_OFFSET);
    ck_assert_int_eq(b->out.set.last_offset, FIRST_OFFSET + 2);
    ck_assert_int_eq(b->out.set.record_count, 3);
    ck_assert_int_eq(b->out.set.last_leader_epoch, NO_LEADER_EPOCH);
    ck_assert_int_eq(b->out.set.max_timestamp, magic == 0  ? NO_TIMESTAMP
                                               : timestamp ? timestamp
                                                           : now_ms + 2);
}

static struct slice three_of(struct bench *b, int8_t magic, enum compression codec)
{
    CLEANUP(strbuf_deinit) struct strbuf set = {0}, out = {0};
    CLEANUP(batch_builder_deinit) struct batch_builder bb;
    struct batch_opts opts = BATCH_OPTS_PLAIN;

    opts.codec = codec;
    batch_builder_init(&bb, &opts);
    for (int i = 0; magic == 2 && i < 3; i++)
        batch_builder_add(&bb, &(struct record){.offset = i,
                                                .timestamp = now_ms + i,
                                                .key = slice_of("k", 1),
                                                .value = slice_of("v", 1)});
    if (magic == 2)
        ck_assert_int_eq(batch_builder_finish(&bb, &out), 0);
    else
        add_messages(codec ? &set : &out, magic, 3);
    if (set.len)
        add_wrapper(&out, magic, codec, slice_of_str(strbuf_str(&set)));
    return slice_of_str(arena_str(&b->a, strbuf_str(&out)));
}

START_TEST(a_topic_of_an_old_format_gets_it_from_every_format_and_codec)
{
    for (int8_t to = 0; to <= 1; to++)
        for (int8_t from = to; from <= 2; from++)
            for (int codec = 0; codec < COMPRESSION_ZSTD; codec++) {
                CLEANUP(bench_deinit) struct bench b;

                bench_init(&b);
                b.conf->record_version = to;
                struct slice in = three_of(&b, from, (enum compression)codec);
                ck_assert_int_eq(validate(&b, in), 0);
                check_old(&b, (enum compression)codec, 0);
                /* A wrapper of v0 has the offsets of the log inside. */
                ck_assert_int_eq(b.out.set.bytes.p == in.p, from == to && (to == 1 || codec == 0));
            }
}
END_TEST

START_TEST(times_of_old_messages)
{
    CLEANUP(bench_deinit) struct bench b;

    bench_init(&b);
    b.conf->record_version = 1;
    ck_assert_int_eq(validate(&b, three_of(&b, 0, COMPRESSION_NONE)), 0);
    check_old(&b, COMPRESSION_NONE, NO_TIMESTAMP);
    b.conf->timestamp_type = TIMESTAMP_LOG_APPEND_TIME;
    for (int8_t from = 0; from <= 2; from++)
        for (int codec = 0; codec < COMPRESSION_ZSTD; codec++) {
            ck_assert_int_eq(validate(&b, three_of(&b, from, (enum compression)codec)), 0);
            struct slice rest = b.out.set.bytes;
            struct batch first;
            ck_assert_int_eq(batch_next(&rest, &first), 1);
            ck_assert_int_eq(batch_timestamp_type(&first), TIMESTAMP_LOG_APPEND_TIME);
            check_old(&b, (enum compression)codec, now_ms);
            ck_assert_int_eq(b.out.append_time_ms, now_ms);
        }
}
END_TEST

START_TEST(an_old_format_has_no_place_for_producers_headers_and_zstd)
{
    CLEANUP(bench_deinit) struct bench b;
    CLEANUP(batch_builder_deinit) struct batch_builder bb;
    CLEANUP(strbuf_deinit) struct strbuf headers = {0}, out = {0};
    struct batch_opts opts = BATCH_OPTS_PLAIN;

    bench_init(&b);
    b.conf->record_version = 1;
    ck_assert_int_eq(validate(&b, three_of(&b, 2, COMPRESSION_ZSTD)), -EPROTO);
    b.conf->allows_zstd = false;
    ck_assert_int_eq(validate(&b, three_of(&b, 2, COMPRESSION_ZSTD)), UNSUPPORTED_COMPRESSION_TYPE);
    record_header_add(&headers, STR("h"), slice_of("x", 1));
    batch_builder_init(&bb, &opts);
    batch_builder_add(&bb, &(struct record){.timestamp = now_ms,
                                            .headers = slice_of_str(strbuf_str(&headers)),
                                            .header_count = 1});
    ck_assert_int_eq(batch_builder_finish(&bb, &out), 0);
    ck_assert_int_eq(validate(&b, slice_of_str(strbuf_str(&out))), -EPROTO);
    opts.producer_id = 5;
    opts.producer_epoch = 0;
    opts.base_sequence = 0;
    ck_assert_int_eq(validate(&b, batch_at(&b, &opts, now_ms)), UNSUPPORTED_FOR_MESSAGE_FORMAT);
    b.origin = APPEND_COORDINATOR;
    ck_assert_int_eq(validate(&b, batch_at(&b, &opts, now_ms)), UNSUPPORTED_FOR_MESSAGE_FORMAT);
}
END_TEST

START_TEST(each_old_message_has_a_size_of_its_own)
{
    CLEANUP(bench_deinit) struct bench b;

    bench_init(&b);
    b.conf->record_version = 1;
    b.conf->max_message_bytes = 40;
    ck_assert_int_eq(validate(&b, three_of(&b, 1, COMPRESSION_NONE)), 0);
    ck_assert_int_eq(validate(&b, three_of(&b, 0, COMPRESSION_NONE)), 0);
    ck_assert_int_eq(validate(&b, three_of(&b, 2, COMPRESSION_NONE)), MESSAGE_TOO_LARGE);
    b.origin = APPEND_COORDINATOR;
    ck_assert_int_eq(validate(&b, three_of(&b, 2, COMPRESSION_NONE)), 0);
    b.conf->max_message_bytes = 35;
    ck_assert_int_eq(validate(&b, three_of(&b, 2, COMPRESSION_NONE)), MESSAGE_TOO_LARGE);
    ck_assert_int_eq(validate(&b, three_of(&b, 0, COMPRESSION_NONE)), MESSAGE_TOO_LARGE);
}
END_TEST

/* So many records of nothing, compressed. */
static struct slice bomb_of(struct bench *b, int32_t count)
{
    static const uint8_t record[] = {12, 0, 0, 0, 1, 1, 0};
    const struct codec lz4 = {COMPRESSION_LZ4, COMPRESSION_LEVEL_DEFAULT, 2};
    CLEANUP(strbuf_deinit) struct strbuf records = {0}, out = {0};
    struct batch_opts opts = BATCH_OPTS_PLAIN;

    opts.codec = COMPRESSION_LZ4;
    strbuf_add(&out, batch_at(b, &opts, now_ms).p, BATCH_V2_HEADER);
    for (int32_t i = 0; i < count; i++)
        strbuf_add(&records, record, sizeof record);
    ck_assert_int_eq(codec_compress(&lz4, slice_of_str(strbuf_str(&records)), &out), 0);
    be32_write(out.s + 8, (uint32_t)out.len - BATCH_OVERHEAD);
    be32_write(out.s + 23, (uint32_t)count - 1);
    be32_write(out.s + 57, (uint32_t)count);
    batch_write_crc(&(struct batch){(uint8_t *)out.s, (uint32_t)out.len, 2});
    return slice_of_str(arena_str(&b->a, strbuf_str(&out)));
}

/* 14 MB of records that come as some kilobytes would be 68 MB of messages. */
START_TEST(what_a_bomb_becomes_in_an_old_format_is_bounded)
{
    CLEANUP(bench_deinit) struct bench b;

    bench_init(&b);
    b.conf->record_version = 1;
    b.conf->compression = COMPRESSION_NONE;
    ck_assert_int_eq(validate(&b, bomb_of(&b, 1000)), 0);
    ck_assert_int_eq(validate(&b, bomb_of(&b, 2000000)), MESSAGE_TOO_LARGE);
}
END_TEST

START_TEST(old_sets_that_are_broken_inside)
{
    CLEANUP(bench_deinit) struct bench b;
    CLEANUP(strbuf_deinit) struct strbuf set = {0}, crc = {0}, frame = {0}, two = {0}, mixed = {0};

    bench_init(&b);
    add_messages(&set, 1, 3);
    set.s[set.len - 1] ^= 1;
    add_wrapper(&crc, 1, COMPRESSION_GZIP, slice_of_str(strbuf_str(&set)));
    ck_assert_int_eq(validate(&b, slice_of_str(strbuf_str(&crc))), CORRUPT_MESSAGE);
    be32_write(set.s + 8, 3);
    add_wrapper(&frame, 1, COMPRESSION_GZIP, slice_of_str(strbuf_str(&set)));
    ck_assert_int_eq(validate(&b, slice_of_str(strbuf_str(&frame))), CORRUPT_MESSAGE);
    add_wrapper(&two, 1, COMPRESSION_GZIP, slice_of("", 0));
    ck_assert_int_eq(validate(&b, slice_of_str(strbuf_str(&two))), INVALID_RECORD);
    strbuf_reset(&two);
    strbuf_add_str(&two, strbuf_str(&crc));
    strbuf_add_str(&two, strbuf_str(&crc));
    ck_assert_int_eq(validate(&b, slice_of_str(strbuf_str(&two))), INVALID_RECORD);
    add_messages(&mixed, 1, 1);
    add_messages(&mixed, 0, 1);
    ck_assert_int_eq(validate(&b, slice_of_str(strbuf_str(&mixed))), INVALID_RECORD);
}
END_TEST

START_TEST(a_followers_set_is_described)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    CLEANUP(strbuf_deinit) struct strbuf bytes = {0};
    struct batch_set set;
    struct slice batch = hex_bytes(&a, GOLDEN_BATCH), marker = hex_bytes(&a, GOLDEN_MARKER);

    strbuf_add(&bytes, batch.p, batch.len);
    strbuf_add(&bytes, marker.p, marker.len);
    strbuf_add(&bytes, batch.p, 30);
    ck_assert_int_eq(batch_set_check(slice_of_str(strbuf_str(&bytes)), &set), 0);
    ck_assert_uint_eq(set.bytes.len, batch.len + marker.len);
    ck_assert_int_eq(set.first_offset, 100);
    ck_assert_int_eq(set.last_offset_of_first, 101);
    ck_assert_int_eq(set.last_offset, 102);
    ck_assert_int_eq(set.last_leader_epoch, 7);
    ck_assert_int_eq(set.max_timestamp, 1700000001000);
    ck_assert_int_eq(set.batch_count, 2);
    ck_assert_int_eq(set.record_count, 3);
    ck_assert(set.is_increasing);
    memcpy(bytes.s + batch.len, batch.p, 61); /* a checksum that is wrong now */
    ck_assert_int_eq(batch_set_check(slice_of_str(strbuf_str(&bytes)), &set), CORRUPT_MESSAGE);
}
END_TEST

TEST_MAIN("broker/storage/validate", a_plain_batch_is_stamped_where_it_lies,
          compressed_bytes_stay_untouched, the_append_time_is_written_where_the_topic_asks,
          a_max_timestamp_that_lies_is_made_true,
          batch_headers_that_contradict_themselves_are_refused,
          count_and_range_that_agree_on_a_wrong_number_are_refused,
          the_order_of_the_header_checks_is_kafkas,
          sets_that_cannot_be_framed_are_corrupt_and_a_torn_end_is_dropped,
          more_than_one_batch_is_refused, clients_write_no_control_batches_and_need_sequences,
          a_coordinators_marker_is_stamped_only,
          compacted_topics_want_keys_and_each_missing_one_is_named,
          more_bad_records_than_are_listed_are_counted, timestamps_have_two_limits,
          a_client_may_not_claim_the_append_time,
          codecs_that_are_none_and_payloads_that_do_not_unpack,
          another_codec_rebuilds_and_keeps_the_producer, a_rebuilt_batch_must_fit_too,
          compressed_offsets_with_gaps_are_rebuilt, old_messages_become_one_new_batch,
          a_topic_of_an_old_format_gets_it_from_every_format_and_codec, times_of_old_messages,
          an_old_format_has_no_place_for_producers_headers_and_zstd,
          each_old_message_has_a_size_of_its_own, old_wrappers_become_one_new_batch_of_their_codec,
          what_a_bomb_becomes_in_an_old_format_is_bounded, old_sets_that_are_broken_inside,
          a_followers_set_is_described)
