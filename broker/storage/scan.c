#include "broker/storage/scan.h"

#include "common/base/err.h"
#include "common/base/mem.h"

enum {
    HEAD_MIN = BATCH_MAGIC_AT + 1,
    READ_AHEAD = 64 << 10,
};

void head_scan_init(struct head_scan *s, struct file *file, uint64_t pos, uint64_t end)
{
    s->file = file;
    s->pos = pos;
    s->end = end;
    s->block_pos = 0;
    s->block_len = 0;
}

/* Makes the next n bytes (at most a block) lie in the block; they are inside of the scan's
 * range. */
static int fill_block(struct head_scan *s, size_t n)
{
    if (s->pos >= s->block_pos && s->pos + n <= s->block_pos + s->block_len)
        return 0;
    ssize_t got =
        file_pread_some(s->file, s->block, MIN(s->end - s->pos, (uint64_t)SCAN_BLOCK), s->pos);
    if (got < 0)
        return (int)got;
    s->block_pos = s->pos;
    s->block_len = (uint32_t)got;
    return (size_t)got < n ? -EIO : 0;
}

int head_scan_next(struct head_scan *s, struct batch *ret)
{
    uint64_t left = s->end - s->pos;
    uint32_t size = 0;

    if (s->pos >= s->end || left < HEAD_MIN)
        return 0;
    int r = fill_block(s, (size_t)MIN(left, (uint64_t)BATCH_V2_HEADER));
    if (r < 0)
        return r;
    const uint8_t *p = s->block + (s->pos - s->block_pos);
    r = batch_peek_size(slice_of(p, HEAD_MIN), &size);
    if (r < 0)
        return r;
    if (size > left)
        return 0;
    *ret = (struct batch){p, size, (int8_t)p[BATCH_MAGIC_AT]};
    s->pos += size;
    return 1;
}

void batch_scan_init(struct batch_scan *s, struct file *file, uint64_t pos, uint64_t end)
{
    *s = (struct batch_scan){.file = file, .pos = pos, .end = end, .read_ahead = READ_AHEAD};
}

void batch_scan_deinit(struct batch_scan *s)
{
    free(s->buf);
    *s = (struct batch_scan){0};
}

/* Makes the next n bytes lie in the buffer, and some more where they are there. */
static int fill_buffer(struct batch_scan *s, size_t n)
{
    if (s->len - s->at >= n)
        return 0;
    size_t held = s->len - s->at;
    size_t want = (size_t)MIN(s->end - s->pos, (uint64_t)MAX(n, s->read_ahead));

    if (held > 0)
        memmove(s->buf, s->buf + s->at, held);
    s->at = 0;
    s->len = held;
    xgrow(s->buf, s->cap, want);
    ssize_t got = file_pread_some(s->file, s->buf + held, want - held, s->pos + held);
    if (got < 0)
        return (int)got;
    s->len += (size_t)got;
    return s->len < n ? -EIO : 0;
}

int batch_scan_next(struct batch_scan *s, struct batch *ret)
{
    uint64_t left = s->end - s->pos;
    uint32_t size = 0;
    int r;

    if (s->pos >= s->end || left < HEAD_MIN)
        return 0;
    if ((r = fill_buffer(s, HEAD_MIN)) < 0)
        return r;
    if ((r = batch_peek_size(slice_of(s->buf + s->at, HEAD_MIN), &size)) < 0)
        return r;
    if (size > left)
        return 0;
    if ((r = fill_buffer(s, size)) < 0)
        return r;
    const uint8_t *p = s->buf + s->at;
    *ret = (struct batch){p, size, (int8_t)p[BATCH_MAGIC_AT]};
    s->at += size;
    s->pos += size;
    return 1;
}
