/*
 * batch_stamp.c - the one place where the bytes under a view are written
 */
#include "common/record/batch_stamp.h"

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
    be32_write(writable(b) + (batch_is_v2(b) ? 17 : 12), batch_compute_crc(b));
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
