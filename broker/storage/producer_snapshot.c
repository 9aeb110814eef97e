/*
 * producer_snapshot.c - entries to and from bytes
 */
#include "broker/storage/producer_snapshot.h"

#include "broker/storage/producer_entry.h"
#include "common/base/be.h"
#include "common/base/crc32c.h"
#include "common/base/err.h"

enum { VERSION = 1, CRC_AT = 2, COUNT_AT = 6, ENTRIES_AT = 10, ENTRY_SIZE = 46 };

void producer_snapshot_begin(struct strbuf *sb, int32_t count)
{
    uint8_t head[ENTRIES_AT] = {0};

    assert(sb->len == 0);
    be16_write(head, VERSION);
    be32_write(head + COUNT_AT, (uint32_t)count);
    strbuf_add(sb, head, sizeof head);
}

void producer_snapshot_add(struct strbuf *sb, const struct producer_info *p)
{
    uint8_t e[ENTRY_SIZE];

    be64_write(e, (uint64_t)p->producer_id);
    be16_write(e + 8, (uint16_t)p->epoch);
    be32_write(e + 10, (uint32_t)p->last_sequence);
    be64_write(e + 14, (uint64_t)p->last_offset);
    be32_write(e + 22, (uint32_t)p->last_offset_delta);
    be64_write(e + 26, (uint64_t)p->last_timestamp);
    be32_write(e + 34, (uint32_t)p->coordinator_epoch);
    be64_write(e + 38, (uint64_t)p->txn_first_offset);
    strbuf_add(sb, e, sizeof e);
}

void producer_snapshot_end(struct strbuf *sb)
{
    struct slice bytes = slice_of_str(strbuf_str(sb));

    be32_write(sb->s + CRC_AT, crc32c(slice_from(bytes, COUNT_AT)));
}

static const char *find_fault(struct slice bytes)
{
    if (bytes.len < ENTRIES_AT)
        return "it is shorter than its head";
    if (be16_read(bytes.p) != VERSION)
        return "it has an unknown version";
    if (be32_read(bytes.p + CRC_AT) != crc32c(slice_from(bytes, COUNT_AT)))
        return "its checksum is wrong";
    int32_t count = (int32_t)be32_read(bytes.p + COUNT_AT);
    if (count < 0 || (size_t)count > (bytes.len - ENTRIES_AT) / ENTRY_SIZE)
        return "it announces more entries than it has";
    return NULL;
}

static struct producer_info read_entry(const uint8_t *e)
{
    struct producer_info p = {
        .producer_id = (int64_t)be64_read(e),
        .epoch = (int16_t)be16_read(e + 8),
        .first_sequence = NO_SEQUENCE,
        .last_sequence = (int32_t)be32_read(e + 10),
        .last_offset = (int64_t)be64_read(e + 14),
        .last_offset_delta = (int32_t)be32_read(e + 22),
        .last_timestamp = (int64_t)be64_read(e + 26),
        .coordinator_epoch = (int32_t)be32_read(e + 34),
        .txn_first_offset = (int64_t)be64_read(e + 38),
    };

    const struct cached_batch batch = {.last_sequence = p.last_sequence,
                                       .offset_delta = p.last_offset_delta};
    if (p.last_offset < 0)
        p.last_sequence = NO_SEQUENCE;
    else
        p.first_sequence = cached_batch_first_sequence(&batch);
    if (p.txn_first_offset < 0)
        p.txn_first_offset = -1;
    return p;
}

int producer_snapshot_parse(struct slice bytes,
                            void (*each)(void *ctx, const struct producer_info *p), void *ctx,
                            const char **ret_why)
{
    const char *why = find_fault(bytes);

    *ret_why = why;
    if (why)
        return -EBADMSG;
    int32_t count = (int32_t)be32_read(bytes.p + COUNT_AT);
    for (int32_t i = 0; i < count; i++) {
        struct producer_info p = read_entry(bytes.p + ENTRIES_AT + (size_t)i * ENTRY_SIZE);

        each(ctx, &p);
    }
    return 0;
}
