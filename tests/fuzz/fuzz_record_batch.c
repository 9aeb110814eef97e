/*
 * fuzz_record_batch.c - any bytes as a row of batches of any magic
 *
 * The iterator, the walk of a plain batch and the scan of a compressed one see the same records,
 * and records that were read can be built into a batch that holds them again.
 */
#include "common/record/builder.h"
#include "common/record/record_iter.h"
#include "common/record/record_scan.h"

#include <assert.h>

enum { UNPACK_MAX = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_headers(const struct record *rec)
{
    struct slice rest = rec->headers;

    for (int32_t i = 0; i < rec->header_count; i++) {
        struct record_header h;
        int r = record_header_next(&rest, &h);

        assert(r == 0 && h.key.p);
    }
    assert(rest.len == 0);
}

/* The records of b, numbered anew, in an uncompressed batch. -1 where b is broken. */
static int copy_records(const struct batch *b, struct strbuf *out)
{
    CLEANUP(record_iter_deinit) struct record_iter it = {0};
    CLEANUP(batch_builder_deinit) struct batch_builder bb;
    const struct batch_opts opts = BATCH_OPTS_PLAIN;
    struct record rec;
    int r = record_iter_init(&it, b, UNPACK_MAX);

    batch_builder_init(&bb, &opts);
    while (r == 0 && (r = record_iter_next(&it, &rec)) == 1) {
        read_headers(&rec);
        rec.offset = bb.count;
        batch_builder_add(&bb, &rec);
        r = 0;
    }
    if (r != 0)
        return -1;
    r = batch_builder_finish(&bb, out);
    assert(r == 0);
    return 0;
}

static void check_copy(const struct batch *b, struct slice copy)
{
    CLEANUP(record_iter_deinit) struct record_iter x = {0}, y = {0};
    struct record p, q;
    struct batch c;
    int r = batch_next(&copy, &c);

    assert(r == 1 && copy.len == 0 && batch_is_valid(&c));
    r = record_iter_init(&x, b, UNPACK_MAX);
    assert(r == 0);
    r = record_iter_init(&y, &c, UNPACK_MAX);
    assert(r == 0);
    while ((r = record_iter_next(&x, &p)) == 1) {
        r = record_iter_next(&y, &q);
        assert(r == 1 && p.timestamp == q.timestamp);
        assert(p.key.len == q.key.len && !p.key.p == !q.key.p);
        assert(p.value.len == q.value.len && !p.value.p == !q.value.p);
    }
    r = record_iter_next(&y, &q);
    assert(r == 0);
}

static int scan_records(const struct batch *b, int64_t *ret_bytes)
{
    CLEANUP(record_scan_deinit) struct record_scan s = {0};
    int r = record_scan_init(&s, b);

    *ret_bytes = 0;
    for (int32_t i = 0; i < batch_count(b) && r == 0; i++) {
        struct record rec;

        r = record_scan_next(&s, &rec);
        *ret_bytes += r == 0 ? rec.size : 0;
        if (*ret_bytes > UNPACK_MAX)
            return -1;
    }
    if (r == 0)
        r = record_scan_at_end(&s);
    return r == 1 && batch_count(b) >= 0 ? 0 : -1;
}

static void check_batch(const struct batch *b)
{
    CLEANUP(strbuf_deinit) struct strbuf copy = {0};
    int64_t bytes, first;
    int r = copy_records(b, &copy);

    (void)batch_is_valid(b);
    (void)batch_last_sequence(b);
    (void)!batch_first_offset(b, &first);
    if (r == 0)
        check_copy(b, slice_of_str(strbuf_str(&copy)));
    if (batch_is_v2(b) && batch_codec(b) == COMPRESSION_NONE && batch_count(b) >= 0) {
        struct record_walk w;

        assert((record_walk(b, &w) == 0) == (r == 0));
    }
    if (batch_is_v2(b) && compression_is_known(batch_codec(b)) && scan_records(b, &bytes) == 0)
        assert(r == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice rest = slice_of(data, size);
    struct batch b;

    while (batch_next(&rest, &b) == 1)
        check_batch(&b);
    return 0;
}
