/*
 * batch.c - framing, checksums and the in-place changes of batch.h
 */
#include "common/record/batch.h"

#include "common/base/crc32c.h"

#include <errno.h>

static const uint32_t min_size[] = {BATCH_V0_MIN, BATCH_V1_MIN, BATCH_V2_HEADER};

int batch_peek_size(struct slice head, uint32_t *ret)
{
    *ret = 0;
    if (head.len < BATCH_OVERHEAD)
        return 0;
    int32_t length = (int32_t)be32_read(head.p + 8);
    if (length < BATCH_MIN_LENGTH_FIELD || length > BATCH_SIZE_MAX - BATCH_OVERHEAD)
        return -EBADMSG;
    if (head.len <= BATCH_MAGIC_AT)
        return 0;
    uint8_t magic = head.p[BATCH_MAGIC_AT];
    uint32_t size = (uint32_t)length + BATCH_OVERHEAD;
    if (magic >= ARRAY_LEN(min_size) || size < min_size[magic])
        return -EBADMSG;
    *ret = size;
    return 0;
}

int batch_next(struct slice *rest, struct batch *ret)
{
    uint32_t size;
    int r = batch_peek_size(*rest, &size);

    if (r < 0)
        return r;
    if (size == 0 || size > rest->len)
        return 0;
    *ret = (struct batch){.p = rest->p, .size = size, .magic = (int8_t)rest->p[BATCH_MAGIC_AT]};
    *rest = slice_from(*rest, size);
    return 1;
}

static uint32_t compute_crc(const struct batch *b)
{
    if (batch_is_v2(b))
        return crc32c(slice_from(batch_bytes(b), 21));
    return crc32_legacy(slice_from(batch_bytes(b), BATCH_MAGIC_AT));
}

bool batch_is_valid(const struct batch *b)
{
    return compute_crc(b) == batch_crc(b);
}

int32_t batch_last_sequence(const struct batch *b)
{
    int32_t base = batch_base_sequence(b);

    if (base == NO_SEQUENCE)
        return NO_SEQUENCE;
    return sequence_add(base, batch_last_offset_delta(b));
}

/* The one place where the bytes under a view are written. */
static uint8_t *writable(const struct batch *b)
{
    return (uint8_t *)(uintptr_t)b->p;
}

void batch_set_base_offset(const struct batch *b, int64_t base_offset)
{
    be64_write(writable(b), (uint64_t)base_offset);
}

void batch_set_last_offset(const struct batch *b, int64_t last_offset)
{
    int64_t delta = batch_is_v2(b) ? batch_last_offset_delta(b) : 0;

    batch_set_base_offset(b, last_offset - delta);
}

void batch_set_leader_epoch(const struct batch *b, int32_t epoch)
{
    assert(batch_is_v2(b));
    be32_write(writable(b) + 12, (uint32_t)epoch);
}

void batch_write_crc(const struct batch *b)
{
    be32_write(writable(b) + (batch_is_v2(b) ? 17 : 12), compute_crc(b));
}

void batch_set_max_timestamp(const struct batch *b, enum timestamp_type type, int64_t max_timestamp)
{
    int16_t attributes = batch_attributes(b);
    int16_t wanted = (int16_t)(attributes & ~BATCH_LOG_APPEND_TIME);

    assert(b->magic > 0);
    if (type == TIMESTAMP_LOG_APPEND_TIME)
        wanted |= BATCH_LOG_APPEND_TIME;
    if (wanted == attributes && batch_max_timestamp(b) == max_timestamp)
        return;
    if (batch_is_v2(b)) {
        be16_write(writable(b) + 21, (uint16_t)wanted);
        be64_write(writable(b) + 35, (uint64_t)max_timestamp);
    } else {
        writable(b)[17] = (uint8_t)wanted;
        be64_write(writable(b) + 18, (uint64_t)max_timestamp);
    }
    batch_write_crc(b);
}
