/*
 * dump_index.c - the files beside a .log: its indexes, and the state of its producers
 */
#include "broker/storage/producer_snapshot.h"
#include "common/base/crc32c.h"
#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/record/record_iter.h"
#include "tools/dump/dump_log.h"

#include <inttypes.h>
#include <stdio.h>

enum { OFFSET_ENTRY = 8, TIME_ENTRY = 12, TXN_ENTRY = 34 };

static int read_all(const struct dump *d, const struct dump_file *f, struct strbuf *ret)
{
    void *dst = strbuf_room(ret, f->size);
    int r = file_pread(f->file, dst, f->size, 0);

    if (r < 0)
        return tool_fail(d->inv, "%s: cannot be read: %s", f->path, strerror(-r));
    strbuf_grew(ret, f->size);
    return 0;
}

static const uint8_t *entry_at(const struct strbuf *bytes, size_t i, size_t entry_size)
{
    return (const uint8_t *)bytes->s + i * entry_size;
}

/* ---- .index ---- */

struct offset_entry {
    int64_t offset;
    int64_t pos;
};

static struct offset_entry offset_entry(const struct dump_file *f, const struct strbuf *bytes,
                                        size_t i)
{
    const uint8_t *p = entry_at(bytes, i, OFFSET_ENTRY);

    return (struct offset_entry){f->base + (int32_t)be32_read(p), (int32_t)be32_read(p + 4)};
}

static int check_length(const struct dump *d, const struct dump_file *f, size_t entry_size)
{
    if (f->size % entry_size == 0)
        return 0;
    return tool_fail(d->inv,
                     "Index file %s is corrupt, found %" PRIu64
                     " bytes which is neither positive nor a multiple of %zu",
                     f->full_path, f->size, entry_size);
}

static void say_sane(const struct dump *d, const struct dump_file *f)
{
    if (d->as_json)
        dump_json_numbers(f, "sane", NULL, 0);
    else
        printf("%s passed sanity check.\n", f->path);
}

static int offset_index_is_sane(const struct dump *d, const struct dump_file *f,
                                const struct strbuf *bytes)
{
    struct offset_entry last = offset_entry(f, bytes, bytes->len / OFFSET_ENTRY - 1);

    if (last.offset < f->base)
        return tool_fail(d->inv,
                         "Corrupt index found, index file (%s) has non-zero size but the last "
                         "offset is %" PRId64 " which is less than the base offset %" PRId64,
                         f->full_path, last.offset, f->base);
    int r = check_length(d, f, OFFSET_ENTRY);
    if (r == 0)
        say_sane(d, f);
    return r;
}

/* The last offset of the batch at pos. */
static int last_offset_at(const struct dump *d, const struct dump_file *log, int64_t pos,
                          int64_t *ret)
{
    CLEANUP(dump_reader_deinit) struct dump_reader reader = {.f = log, .pos = (uint64_t)pos};
    struct batch b;
    int r = 0;

    if (pos >= 0 && (uint64_t)pos <= log->size) {
        reader.end = MIN(log->size, (uint64_t)pos + (uint64_t)d->max_message_size);
        r = dump_reader_next(&reader, &b);
    }
    if (r != 1)
        return tool_fail(d->inv,
                         "%s: no whole batch of at most %" PRId32 " bytes is at position %" PRId64,
                         log->path, d->max_message_size, pos);
    *ret = batch_last_offset(&b);
    return 0;
}

/* Newest first, as Kafka lists them. */
static void add_in_front(struct strbuf *list, int64_t index_offset, int64_t log_offset)
{
    CLEANUP(strbuf_deinit) struct strbuf older = *list;

    *list = (struct strbuf){0};
    strbuf_addf(list, "  Index offset: %" PRId64 ", log offset: %" PRId64 "\n", index_offset,
                log_offset);
    strbuf_add_str(list, strbuf_str(&older));
}

static int walk_offset_index(struct dump *d, const struct dump_file *f, const struct dump_file *log,
                             const struct strbuf *bytes)
{
    CLEANUP(strbuf_deinit) struct strbuf mismatches = {0};
    int r = 0;

    for (size_t i = 0; i < bytes->len / OFFSET_ENTRY && r == 0; i++) {
        struct offset_entry e = offset_entry(f, bytes, i);
        int64_t last;

        if (e.offset == f->base && i > 0)
            break; /* after a crash the rest of the file is zeroes */
        r = last_offset_at(d, log, e.pos, &last);
        if (r != 0)
            break;
        if (last != e.offset)
            add_in_front(&mismatches, e.offset, last);
        if (!d->verify_only && d->as_json)
            dump_json_numbers(
                f, "offset_index_entry",
                (const struct dump_number[]){{"offset", e.offset}, {"position", e.pos}}, 2);
        else if (!d->verify_only)
            printf("offset: %" PRId64 " position: %" PRId64 "\n", e.offset, e.pos);
    }
    if (mismatches.len > 0)
        strbuf_addf(&d->late[LATE_INDEX_MISMATCH], "Mismatches in :%s\n%s", f->full_path,
                    mismatches.s);
    return r;
}

int dump_offset_index(struct dump *d, const struct dump_file *f)
{
    CLEANUP(dump_file_deinit) struct dump_file log = {0};
    CLEANUP(strbuf_deinit) struct strbuf bytes = {0};
    int r = dump_file_open_twin(d, f, "log", &log);

    if (r == 0)
        r = read_all(d, f, &bytes);
    if (r != 0)
        return r;
    if (bytes.len < OFFSET_ENTRY) {
        if (!d->as_json)
            printf("%s is empty.\n", f->path);
        return 0;
    }
    if (d->sanity_only)
        return offset_index_is_sane(d, f, &bytes);
    return walk_offset_index(d, f, &log, &bytes);
}

/* ---- .timeindex ---- */

struct time_entry {
    int64_t timestamp;
    int64_t offset;
};

static struct time_entry time_entry(const struct dump_file *f, const struct strbuf *bytes, size_t i)
{
    const uint8_t *p = entry_at(bytes, i, TIME_ENTRY);

    return (struct time_entry){(int64_t)be64_read(p), f->base + (int32_t)be32_read(p + 8)};
}

static int time_index_is_sane(const struct dump *d, const struct dump_file *f,
                              const struct strbuf *bytes)
{
    size_t count = bytes->len / TIME_ENTRY;

    if (count > 0) {
        struct time_entry first = time_entry(f, bytes, 0), last = time_entry(f, bytes, count - 1);

        if (last.timestamp < first.timestamp)
            return tool_fail(d->inv,
                             "Corrupt time index found, time index file (%s) has non-zero size but "
                             "the last timestamp is %" PRId64
                             " which is less than the first timestamp %" PRId64,
                             f->full_path, last.timestamp, first.timestamp);
        if (last.offset < f->base)
            return tool_fail(d->inv,
                             "Corrupt time index found, time index file (%s) has non-zero size but "
                             "the last offset is %" PRId64
                             " which is less than the first offset %" PRId64,
                             f->full_path, last.offset, f->base);
    }
    int r = check_length(d, f, TIME_ENTRY);
    if (r == 0)
        say_sane(d, f);
    return r;
}

/* Everything that is looked at for one .timeindex. */
struct time_walk {
    struct dump *d;
    const struct dump_file *f;
    const struct dump_file *log;
    const struct dump_file *index;
    struct strbuf index_bytes;
    struct strbuf mismatches, disorder, lost;
};

static void time_walk_deinit(struct time_walk *w)
{
    strbuf_deinit(&w->index_bytes);
    strbuf_deinit(&w->mismatches);
    strbuf_deinit(&w->disorder);
    strbuf_deinit(&w->lost);
}

static uint64_t position_of(const struct time_walk *w, int64_t offset)
{
    uint64_t pos = 0;

    for (size_t i = 0; i < w->index_bytes.len / OFFSET_ENTRY; i++) {
        struct offset_entry e = offset_entry(w->index, &w->index_bytes, i);

        if (e.offset > offset || (e.offset == w->index->base && i > 0))
            break;
        pos = (uint64_t)e.pos;
    }
    return pos;
}

static int greatest_timestamp(const struct batch *b, int64_t *ret)
{
    CLEANUP(record_iter_deinit) struct record_iter it = {0};
    struct record rec;
    int r = record_iter_init(&it, b, RECORD_UNPACK_MAX);

    *ret = NO_TIMESTAMP;
    while (r == 0 && (r = record_iter_next(&it, &rec)) == 1) {
        *ret = MAX(*ret, rec.timestamp);
        r = 0;
    }
    return r;
}

/* 1 with the first batch that ends at or after offset, 0: none. */
static int find_batch(struct dump_reader *reader, int64_t offset, struct batch *ret)
{
    int r;

    while ((r = dump_reader_next(reader, ret)) == 1)
        if (batch_last_offset(ret) >= offset)
            break;
    return r;
}

static int check_time_entry(struct time_walk *w, struct time_entry e, int64_t previous)
{
    uint64_t pos = position_of(w, e.offset);
    CLEANUP(dump_reader_deinit)
    struct dump_reader reader = {.f = w->log, .pos = pos, .end = w->log->size};
    struct batch b;
    int64_t found = -1, timestamp;
    int r = pos <= w->log->size ? find_batch(&reader, e.offset, &b) : 0;

    if (r < 0)
        return r;
    if (r == 1)
        found = batch_last_offset(&b);
    if (found != e.offset) {
        strbuf_addf(&w->lost, "Indexed offset: %" PRId64 ", found log offset: %" PRId64 "\n",
                    e.offset, found);
        return 0;
    }
    if ((r = greatest_timestamp(&b, &timestamp)) < 0)
        return r;
    if (timestamp != e.timestamp)
        strbuf_addf(&w->mismatches, "  Index timestamp: %" PRId64 ", log timestamp: %" PRId64 "\n",
                    e.timestamp, timestamp);
    if (previous >= e.timestamp)
        strbuf_addf(&w->disorder,
                    "  Index timestamp: %" PRId64 ", Previously indexed timestamp: %" PRId64 "\n",
                    e.timestamp, previous);
    return 0;
}

static void keep_for_later(struct time_walk *w)
{
    struct strbuf *late = w->d->late;

    if (w->mismatches.len > 0)
        strbuf_addf(&late[LATE_TIME_MISMATCH], "Found timestamp mismatch in :%s\n%s",
                    w->f->full_path, w->mismatches.s);
    if (w->disorder.len > 0)
        strbuf_addf(&late[LATE_TIME_ORDER], "Found out of order timestamp in :%s\n%s",
                    w->f->full_path, w->disorder.s);
    if (w->lost.len > 0)
        strbuf_addf(&late[LATE_TIME_OFFSET],
                    "The following indexed offsets are not found in the log.\n%s", w->lost.s);
}

static int walk_time_index(struct time_walk *w, const struct strbuf *bytes)
{
    int64_t previous = NO_TIMESTAMP;

    for (size_t i = 0; i < bytes->len / TIME_ENTRY; i++) {
        struct time_entry e = time_entry(w->f, bytes, i);

        if (e.offset == w->f->base && i > 0)
            break;
        int r = check_time_entry(w, e, previous);
        if (r < 0)
            return tool_fail(w->d->inv, "%s: the batch of offset %" PRId64 " cannot be read: %s",
                             w->log->path, e.offset, strerror(-r));
        if (!w->d->verify_only && w->d->as_json)
            dump_json_numbers(
                w->f, "time_index_entry",
                (const struct dump_number[]){{"timestamp", e.timestamp}, {"offset", e.offset}}, 2);
        else if (!w->d->verify_only)
            printf("timestamp: %" PRId64 " offset: %" PRId64 "\n", e.timestamp, e.offset);
        previous = e.timestamp;
    }
    keep_for_later(w);
    return 0;
}

int dump_time_index(struct dump *d, const struct dump_file *f)
{
    CLEANUP(dump_file_deinit) struct dump_file log = {0};
    CLEANUP(dump_file_deinit) struct dump_file index = {0};
    CLEANUP(strbuf_deinit) struct strbuf bytes = {0};
    CLEANUP(time_walk_deinit) struct time_walk w = {.d = d, .f = f, .log = &log, .index = &index};
    int r = dump_file_open_twin(d, f, "log", &log);

    if (r == 0)
        r = dump_file_open_twin(d, f, "index", &index);
    if (r == 0)
        r = read_all(d, f, &bytes);
    if (r == 0)
        r = read_all(d, &index, &w.index_bytes);
    if (r != 0)
        return r;
    return d->sanity_only ? time_index_is_sane(d, f, &bytes) : walk_time_index(&w, &bytes);
}

/* ---- .txnindex, .snapshot ---- */

static void print_aborted(const struct dump *d, const struct dump_file *f, const uint8_t *p)
{
    const struct dump_number v[] = {
        {"producer_id", (int64_t)be64_read(p + 2)},
        {"first_offset", (int64_t)be64_read(p + 10)},
        {"last_offset", (int64_t)be64_read(p + 18)},
        {"last_stable_offset", (int64_t)be64_read(p + 26)},
    };

    if (d->as_json)
        dump_json_numbers(f, "aborted_transaction", v, ARRAY_LEN(v));
    else
        printf("version: %d producerId: %" PRId64 " firstOffset: %" PRId64 " lastOffset: %" PRId64
               " lastStableOffset: %" PRId64 "\n",
               (int16_t)be16_read(p), v[0].value, v[1].value, v[2].value, v[3].value);
}

int dump_txn_index(struct dump *d, const struct dump_file *f)
{
    CLEANUP(strbuf_deinit) struct strbuf bytes = {0};
    int r = read_all(d, f, &bytes);

    for (size_t i = 0; i < bytes.len / TXN_ENTRY && r == 0; i++) {
        const uint8_t *p = entry_at(&bytes, i, TXN_ENTRY);
        int16_t version = (int16_t)be16_read(p);

        if (version > 0)
            return tool_fail(d->inv,
                             "Unexpected aborted transaction version %d in transaction index %s, "
                             "current version is 0",
                             version, f->full_path);
        print_aborted(d, f, p);
    }
    return r;
}

static void print_producer_json(void *ctx, const struct producer_info *p)
{
    const struct dump_number v[] = {
        {"producer_id", p->producer_id},
        {"producer_epoch", p->epoch},
        {"coordinator_epoch", p->coordinator_epoch},
        {"current_txn_first_offset", p->txn_first_offset},
        {"last_timestamp", p->last_timestamp},
        {"first_sequence", p->first_sequence},
        {"last_sequence", p->last_sequence},
        {"last_offset", p->last_offset},
    };

    dump_json_numbers(ctx, "producer", v, ARRAY_LEN(v));
}

static void print_producer(void *ctx UNUSED, const struct producer_info *p)
{
    printf("producerId: %" PRId64 " producerEpoch: %d coordinatorEpoch: %" PRId32
           " currentTxnFirstOffset: ",
           p->producer_id, p->epoch, p->coordinator_epoch);
    if (p->txn_first_offset >= 0)
        printf("OptionalLong[%" PRId64 "]", p->txn_first_offset);
    else
        printf("OptionalLong.empty");
    printf(" lastTimestamp: %" PRId64 " ", p->last_timestamp);
    if (p->last_offset >= 0)
        printf("firstSequence: %" PRId32 " lastSequence: %" PRId32 " lastOffset: %" PRId64
               " offsetDelta: %" PRId32 " timestamp: %" PRId64,
               p->first_sequence, p->last_sequence, p->last_offset, p->last_offset_delta,
               p->last_timestamp);
    putchar('\n');
}

/* In Kafka's words where it has some. */
static void say_why_not(struct slice bytes, const char *why)
{
    fflush(stdout);
    if (bytes.len < 10)
        fprintf(stderr, "Snapshot failed schema validation: %s\n", why);
    else if (be16_read(bytes.p) != 1)
        fprintf(stderr, "Snapshot contained an unknown file version %d\n",
                (int16_t)be16_read(bytes.p));
    else
        fprintf(stderr,
                "Snapshot is corrupt (CRC is no longer valid). Stored crc: %" PRIu32
                ". Computed crc: %" PRIu32 "\n",
                be32_read(bytes.p + 2), crc32c(slice_from(bytes, 6)));
}

int dump_snapshot(struct dump *d, const struct dump_file *f)
{
    CLEANUP(strbuf_deinit) struct strbuf bytes = {0};
    const char *why;
    int r = read_all(d, f, &bytes);

    if (r != 0)
        return r;
    struct slice all = slice_of_str(strbuf_str(&bytes));
    if (producer_snapshot_parse(all, d->as_json ? print_producer_json : print_producer,
                                (void *)(uintptr_t)f, &why) < 0)
        say_why_not(all, why);
    return 0;
}
