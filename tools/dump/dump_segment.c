/*
 * dump_segment.c - the batches and records of a .log
 */
#include "common/base/err.h"
#include "common/record/record_iter.h"
#include "tools/dump/dump_log.h"

#include <inttypes.h>
#include <stdio.h>

enum { HEAD_SIZE = BATCH_MAGIC_AT + 1 };

void dump_reader_deinit(struct dump_reader *r)
{
    strbuf_deinit(&r->bytes);
}

int dump_reader_next(struct dump_reader *r, struct batch *ret)
{
    uint8_t head[HEAD_SIZE];
    uint32_t size;

    /* Kafka's reader wants one byte more than the head. */
    if (r->end - r->pos <= HEAD_SIZE)
        return 0;
    int e = file_pread(r->f->file, head, sizeof head, r->pos);
    if (e == 0)
        e = batch_peek_size(slice_of(head, sizeof head), &size);
    if (e < 0)
        return e;
    if (size > r->end - r->pos)
        return 0;
    strbuf_reset(&r->bytes);
    void *dst = strbuf_room(&r->bytes, size);
    e = file_pread(r->f->file, dst, size, r->pos);
    if (e < 0)
        return e;
    strbuf_grew(&r->bytes, size);
    struct slice rest = slice_of_str(strbuf_str(&r->bytes));
    r->pos += size;
    return batch_next(&rest, ret);
}

struct segment_dump {
    struct dump *d;
    const struct dump_file *f;
    struct dump_text text;
    int64_t last_offset; /* -1: none yet */
    struct strbuf gaps;  /* newest first, as Kafka lists them */
};

static void segment_dump_deinit(struct segment_dump *s)
{
    dump_text_deinit(&s->text);
    strbuf_deinit(&s->gaps);
}

static const char *yes(bool b)
{
    return b ? "true" : "false";
}

static const char *timestamp_type_name(const struct batch *b)
{
    if (b->magic == 0)
        return "NoTimestampType";
    return batch_timestamp_type(b) == TIMESTAMP_LOG_APPEND_TIME ? "LogAppendTime" : "CreateTime";
}

static void print_v2_header(const struct batch *b)
{
    printf("baseOffset: %" PRId64 " lastOffset: %" PRId64 " count: %" PRId32
           " baseSequence: %" PRId32 " lastSequence: %" PRId32 " producerId: %" PRId64
           " producerEpoch: %d partitionLeaderEpoch: %" PRId32
           " isTransactional: %s isControl: %s deleteHorizonMs: ",
           batch_base_offset(b), batch_last_offset(b), batch_count(b), batch_base_sequence(b),
           batch_last_sequence(b), batch_producer_id(b), batch_producer_epoch(b),
           batch_leader_epoch(b), yes(batch_is_transactional(b)), yes(batch_is_control(b)));
    if (batch_has_delete_horizon(b))
        printf("OptionalLong[%" PRId64 "]", batch_base_timestamp(b));
    else
        printf("OptionalLong.empty");
}

static void print_batch(const struct batch *b, uint64_t pos)
{
    if (batch_is_v2(b))
        print_v2_header(b);
    else
        printf("offset: %" PRId64, batch_last_offset(b));
    printf(" position: %" PRIu64 " %s: %" PRId64 " size: %" PRIu32
           " magic: %d compresscodec: %s crc: %" PRIu32 " isvalid: %s\n",
           pos, timestamp_type_name(b), batch_max_timestamp(b), b->size, b->magic,
           compression_name(batch_codec(b)), batch_crc(b), yes(batch_is_valid(b)));
}

static void print_header_keys(const struct record *rec)
{
    struct slice rest = rec->headers;
    struct record_header h;

    printf(" headerKeys: [");
    for (int32_t i = 0; i < rec->header_count && record_header_next(&rest, &h) == 0; i++)
        printf("%s%.*s", i ? "," : "", STR_ARG(h.key));
    printf("]");
}

static void print_control(const struct record *rec)
{
    enum control_type type;
    int32_t epoch;

    if (control_record_type(rec, &type) < 0)
        return;
    if (type == CONTROL_UNKNOWN || control_record_coordinator_epoch(rec, &epoch) < 0)
        printf(" controlType: UNKNOWN(%d)", (int16_t)be16_read(rec->key.p + 2));
    else
        printf(" endTxnMarker: %s coordinatorEpoch: %" PRId32,
               type == CONTROL_COMMIT ? "COMMIT" : "ABORT", epoch);
}

static int64_t field_size(struct slice s)
{
    return s.p ? (int64_t)s.len : -1;
}

static int32_t record_sequence(const struct batch *b, const struct record *rec)
{
    int32_t base = batch_base_sequence(b);

    return base >= 0 ? sequence_add(base, rec->offset_delta) : NO_SEQUENCE;
}

static void print_metadata(const struct record_iter *it, const struct record *rec)
{
    const struct batch *b = &it->batch;

    printf("| offset: %" PRId64 " %s: %" PRId64 " keySize: %" PRId64 " valueSize: %" PRId64,
           rec->offset, timestamp_type_name(b), rec->timestamp, field_size(rec->key),
           field_size(rec->value));
    if (batch_is_v2(b)) {
        printf(" sequence: %" PRId32, record_sequence(b, rec));
        print_header_keys(rec);
    } else {
        const struct batch *own = it->is_wrapper ? &it->inner : b;
        /* The brace is Kafka's. */
        printf(" isValid: %s crc: %" PRIu32 "}", yes(batch_is_valid(own)), batch_crc(own));
    }
    if (batch_is_control(b))
        print_control(rec);
}

static void print_text(const char *label, const struct strbuf *text)
{
    fputs(label, stdout);
    fwrite(text->s ? text->s : "", 1, text->len, stdout);
}

static int print_contents(struct segment_dump *s, const struct record *rec)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};

    if (dump_decode(s->d, rec, &s->text, &why) < 0) {
        putchar('\n');
        return tool_fail(s->d->inv, "%s: %s", s->f->path, why.s);
    }
    if (s->text.has_key)
        print_text(s->d->skip_metadata ? "| key: " : " key: ", &s->text.key);
    if (s->text.has_payload)
        print_text(" payload: ", &s->text.payload);
    return 0;
}

static void note_offset(struct segment_dump *s, int64_t offset)
{
    if (s->last_offset != -1 && offset != s->last_offset + 1) {
        CLEANUP(strbuf_deinit) struct strbuf older = s->gaps;

        s->gaps = (struct strbuf){0};
        strbuf_addf(&s->gaps, "  %" PRId64 " is followed by %" PRId64 "\n", s->last_offset, offset);
        strbuf_add_str(&s->gaps, strbuf_str(&older));
    }
    s->last_offset = offset;
}

static int print_record_json(struct segment_dump *s, const struct record_iter *it,
                             const struct record *rec)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    bool data = s->d->print_data && !batch_is_control(&it->batch);

    if (data && dump_decode(s->d, rec, &s->text, &why) < 0)
        return tool_fail(s->d->inv, "%s: %s", s->f->path, why.s);
    dump_json_record(s->f, it, rec, data ? &s->text : NULL);
    return 0;
}

static int print_record(struct segment_dump *s, const struct record_iter *it,
                        const struct record *rec)
{
    int r = 0;

    note_offset(s, rec->offset);
    if (s->d->as_json)
        return print_record_json(s, it, rec);
    if (!s->d->skip_metadata)
        print_metadata(it, rec);
    if (s->d->print_data && !batch_is_control(&it->batch))
        r = print_contents(s, rec);
    if (r == 0)
        putchar('\n');
    return r;
}

static int print_records(struct segment_dump *s, const struct batch *b, uint64_t pos)
{
    CLEANUP(record_iter_deinit) struct record_iter it = {0};
    struct record rec;
    int r = record_iter_init(&it, b, RECORD_UNPACK_MAX);

    while (r == 0 && (r = record_iter_next(&it, &rec)) == 1) {
        r = print_record(s, &it, &rec);
        if (r != 0)
            return r;
    }
    if (r != 0)
        return tool_fail(s->d->inv, "%s: the batch at position %" PRIu64 " cannot be read: %s",
                         s->f->path, pos,
                         r == -EPROTO ? "it does not unpack" : "its records are broken");
    return 0;
}

static void say_end(const struct segment_dump *s, uint64_t valid)
{
    const struct dump *d = s->d;

    if (s->f->size > valid && d->max_bytes == INT32_MAX)
        fprintf(d->as_json ? stderr : stdout, "Found %" PRIu64 " invalid bytes at the end of %s\n",
                s->f->size - valid, s->f->name);
    if (s->gaps.len > 0)
        strbuf_addf(&s->d->late[LATE_GAPS], "Non-consecutive offsets in %s\n%s", s->f->full_path,
                    s->gaps.s);
}

static void say_old_decoders(const struct dump *d)
{
    if (d->value_decoder == DUMP_OFFSETS || d->value_decoder == DUMP_TRANSACTIONS)
        return;
    for (size_t i = 0; i < ARRAY_LEN(d->old_decoders); i++)
        if (d->old_decoders[i])
            printf("%s is deprecated. Please use org.apache.kafka.tools.api%s instead\n",
                   d->old_decoders[i], strrchr(d->old_decoders[i], '.'));
}

int dump_segment(struct dump *d, const struct dump_file *f)
{
    CLEANUP(segment_dump_deinit) struct segment_dump s = {.d = d, .f = f, .last_offset = -1};
    CLEANUP(dump_reader_deinit)
    struct dump_reader reader = {.f = f, .end = MIN(f->size, (uint64_t)d->max_bytes)};
    uint64_t pos = 0;
    struct batch b;
    int r;

    say_old_decoders(d);
    if (!d->as_json)
        printf("Log starting offset: %" PRId64 "\n", f->base);
    for (; (r = dump_reader_next(&reader, &b)) == 1; pos = reader.pos) {
        if (d->as_json)
            dump_json_batch(f, &b, pos);
        else
            print_batch(&b, pos);
        if (d->is_deep && (r = print_records(&s, &b, pos)) != 0)
            return r;
    }
    if (r < 0)
        return tool_fail(d->inv, "%s: no batch begins at position %" PRIu64 ": %s", f->path, pos,
                         r == -EBADMSG ? "its size or magic is impossible" : strerror(-r));
    say_end(&s, pos);
    return 0;
}
