#include "broker/storage/cleaner_txns.h"

#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/record/builder.h"
#include "tests/support/log_bench.h"
#include "tests/support/random_batch.h"
#include "tests/support/test_main.h"

static struct arena a;
static struct cleaner_txns t;

static struct batch data(int64_t offset, int64_t producer_id)
{
    CLEANUP(batch_builder_deinit) struct batch_builder bb;
    CLEANUP(strbuf_deinit) struct strbuf out = {0};
    struct batch_opts opts = BATCH_OPTS_PLAIN;

    opts.base_offset = offset;
    opts.producer_id = producer_id;
    opts.is_transactional = true;
    batch_builder_init(&bb, &opts);
    batch_builder_add(&bb, &(struct record){.offset = offset, .key = slice_of("k", 1)});
    ck_assert_int_eq(batch_builder_finish(&bb, &out), 0);
    return only_batch(slice_of_str(arena_str(&a, strbuf_str(&out))));
}

static struct batch marker(int64_t offset, int64_t producer_id, bool is_commit)
{
    CLEANUP(strbuf_deinit) struct strbuf out = {0};

    txn_marker_build(
        &(struct txn_marker){.offset = offset, .producer_id = producer_id, .is_commit = is_commit},
        &out);
    return only_batch(slice_of_str(arena_str(&a, strbuf_str(&out))));
}

static bool is_aborted(int64_t offset, int64_t producer_id)
{
    struct batch b = data(offset, producer_id);

    return cleaner_txns_data(&t, &b);
}

static struct marker_fate end(int64_t offset, int64_t producer_id, bool is_commit)
{
    struct batch b = marker(offset, producer_id, is_commit);
    struct marker_fate fate;

    ck_assert_int_eq(cleaner_txns_marker(&t, &b, &fate), 0);
    return fate;
}

/* As if the indexes had said so. */
static void know_aborted(const struct txn_entry *v, size_t count)
{
    t = (struct cleaner_txns){.aborted = {xnew_array(struct txn_entry, count), count}};
    if (count > 0)
        memcpy(t.aborted.v, v, count * sizeof *v);
}

static void done(void)
{
    cleaner_txns_deinit(&t);
    arena_deinit(&a);
}

START_TEST(data_is_of_the_transaction_that_is_open)
{
    know_aborted((struct txn_entry[]){{1, 10, 14, 15}, {1, 20, 22, 23}}, 2);
    ck_assert(!is_aborted(8, 1));
    ck_assert(!end(9, 1, true).is_empty);
    ck_assert(is_aborted(10, 1));
    ck_assert(!is_aborted(11, 2));
    ck_assert(is_aborted(12, 1));
    struct marker_fate fate = end(14, 1, false);
    ck_assert(!fate.is_empty);
    ck_assert(fate.is_aborted);
    ck_assert_int_eq(fate.entry.first_offset, 10);
    ck_assert_int_eq(fate.entry.last_offset, 14);
    ck_assert(!is_aborted(16, 1));
    ck_assert(!end(17, 1, true).is_empty);
    ck_assert(is_aborted(20, 1));
    ck_assert(end(22, 1, false).is_aborted);
    ck_assert(!end(23, 2, true).is_empty);
    done();
}
END_TEST

START_TEST(a_marker_without_data_before_it_may_go)
{
    know_aborted((struct txn_entry[]){{1, 10, 14, 15}}, 1);
    ck_assert(end(9, 2, true).is_empty);
    struct marker_fate fate = end(14, 1, false);
    ck_assert(fate.is_empty);
    ck_assert(!fate.is_aborted);
    ck_assert(end(15, 1, false).is_empty);
    ck_assert(!is_aborted(16, 1));
    ck_assert(!end(17, 1, true).is_empty);
    ck_assert(end(18, 1, true).is_empty);
    done();
}
END_TEST

START_TEST(a_marker_that_was_emptied_is_passed_over)
{
    struct batch b = marker(5, 1, true);
    struct marker_fate fate;

    know_aborted(NULL, 0);
    be32_write((uint8_t *)(uintptr_t)b.p + 57, 0);
    ck_assert(!is_aborted(3, 1));
    ck_assert_int_eq(cleaner_txns_marker(&t, &b, &fate), 0);
    ck_assert(fate.is_empty);
    ck_assert(!end(6, 1, true).is_empty);
    be32_write((uint8_t *)(uintptr_t)b.p + 57, 7);
    done();
}
END_TEST

/* ---- from the files ---- */

static void append(struct log_bench *b, struct batch batch)
{
    struct log_append out;

    ck_assert_int_eq(log_append_follower(b->log, batch_bytes(&batch), &out), 0);
    log_set_high_watermark(b->log, log_end_offset(b->log));
}

START_TEST(aborted_transactions_are_found_in_the_segments_that_end_them)
{
    struct log_bench b;

    log_bench_init(&b);
    b.conf->segment_bytes = 150; /* a batch or two each */
    log_bench_open(&b, true);
    for (int64_t i = 0; i < 10; i++) {
        append(&b, data(4 * i, 1));
        append(&b, data(4 * i + 1, 2));
        append(&b, marker(4 * i + 2, 1, i % 2 == 0));
        append(&b, marker(4 * i + 3, 2, false));
    }
    ck_assert_int_eq(cleaner_txns_init(&t, b.log, 0, INT64_MAX), 0);
    ck_assert_uint_eq(t.aborted.count, 15);
    for (size_t i = 1; i < t.aborted.count; i++)
        ck_assert_int_lt(t.aborted.v[i - 1].first_offset, t.aborted.v[i].first_offset);
    cleaner_txns_deinit(&t);
    ck_assert_int_eq(cleaner_txns_init(&t, b.log, 6, 10), 0);
    /* Those that reach into it: of both producers in 4-7, of the second in 8-11. */
    ck_assert_uint_eq(t.aborted.count, 3);
    ck_assert_int_eq(t.aborted.v[0].first_offset, 4);
    ck_assert_int_eq(t.aborted.v[2].first_offset, 9);
    log_bench_deinit(&b);
    done();
}
END_TEST

TEST_MAIN("broker/storage/cleaner_txns", data_is_of_the_transaction_that_is_open,
          a_marker_without_data_before_it_may_go, a_marker_that_was_emptied_is_passed_over,
          aborted_transactions_are_found_in_the_segments_that_end_them)
