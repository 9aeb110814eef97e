#include "common/io/framer.h"

#include "common/base/be.h"
#include "common/base/err.h"
#include "common/base/mem.h"

enum { SIZE_BYTES = 4, FIRST_PART = 256 * 1024 };

void framer_deinit(struct framer *f)
{
    uint32_t max = f->max;

    buf_unref(f->done);
    buf_unref(f->batch);
    buf_unref(f->large);
    *f = (struct framer){.max = max};
}

bool framer_has_frame(const struct framer *f)
{
    return f->done || f->batch;
}

size_t framer_held(const struct framer *f)
{
    return (f->done ? f->done->size : 0) + (f->batch ? f->batch->size : 0) +
           (f->large ? f->large_size : 0);
}

/* Makes room for more of a large frame: twice what has come so far, up to the whole. */
static void grow_large(struct framer *f)
{
    size_t size = f->large_size - f->large_len <= f->large_len ? f->large_size : f->large_len * 2;

    f->large = xrealloc(f->large, sizeof *f->large + size);
    f->large->size = size;
}

static void start_large(struct framer *f, size_t size)
{
    f->large = buf_new(MIN(size, (size_t)FIRST_PART));
    f->large_size = size;
    f->large_len = 0;
}

/* len more bytes of it are there. */
static void feed_large(struct framer *f, size_t len)
{
    f->large_len += len;
    if (f->large_len == f->large_size) {
        assert(!f->done && !f->batch);
        f->done = TAKE(f->large);
    }
}

/* The size that stands at the front; negative where it is not whole, or not allowed (f->err). */
static int64_t peek_size(struct framer *f, struct slice in)
{
    if (in.len < SIZE_BYTES)
        return -EAGAIN;
    uint32_t size = be32_read(in.p);
    if (size > f->max || size > INT32_MAX)
        return f->err = -EMSGSIZE;
    return size;
}

/* What is left of a read behind the last whole frame, a part of one. */
static void keep_tail(struct framer *f, struct slice tail)
{
    int64_t size = peek_size(f, tail);

    if (size >= 0) {
        start_large(f, (size_t)size);
        f->large_len = tail.len - SIZE_BYTES;
        memcpy(f->large->data, tail.p + SIZE_BYTES, f->large_len);
    } else if (size == -EAGAIN) {
        memcpy(f->head, tail.p, tail.len);
        f->head_len = (uint8_t)tail.len;
    }
}

/* Bytes that begin with a size. */
static void take_frames(struct framer *f, struct slice in)
{
    size_t whole = 0;

    for (;;) {
        int64_t size = peek_size(f, slice_from(in, whole));

        if (size < 0 || in.len - whole - SIZE_BYTES < (size_t)size)
            break;
        whole += SIZE_BYTES + (size_t)size;
    }
    if (whole) {
        assert(!f->batch);
        f->batch = buf_new(whole);
        f->batch_at = 0;
        memcpy(f->batch->data, in.p, whole);
    }
    if (whole < in.len && !f->err)
        keep_tail(f, slice_from(in, whole));
}

/* The rest of a size that came in two parts, and the frame behind it: it counts as a large one, for
 * it is rare. Returns the bytes used. */
static size_t join_size(struct framer *f, struct slice in)
{
    size_t n = MIN(in.len, (size_t)(SIZE_BYTES - f->head_len));

    memcpy(f->head + f->head_len, in.p, n);
    f->head_len = (uint8_t)(f->head_len + n);
    int64_t size = peek_size(f, slice_of(f->head, f->head_len));
    if (size < 0)
        return in.len; /* that was all, or it is wrong */
    f->head_len = 0;
    start_large(f, (size_t)size);
    size_t len = MIN(in.len - n, f->large->size);
    memcpy(f->large->data, in.p + n, len);
    feed_large(f, len);
    return n + len;
}

/* Reads the rest of a large frame and what follows it. */
static ssize_t read_large(struct framer *f, struct stream *s, const struct iovec *scratch)
{
    if (f->large_len == f->large->size)
        grow_large(f);
    size_t room = f->large->size - f->large_len;
    const struct iovec iov[] = {{f->large->data + f->large_len, room}, *scratch};
    /* Behind a frame that lacks more than this there is nothing to find yet. */
    bool is_all = f->large->size == f->large_size;
    ssize_t n = stream_readv(s, iov, is_all ? 2 : 1);

    f->is_drained = n < (ssize_t)(room + (is_all ? scratch->iov_len : 0));
    if (n <= 0)
        return n;
    feed_large(f, MIN((size_t)n, room));
    if ((size_t)n > room)
        take_frames(f, slice_of(scratch->iov_base, (size_t)n - room));
    return n;
}

static ssize_t read_more(struct framer *f, struct stream *s, const struct iovec *scratch)
{
    if (f->large)
        return read_large(f, s, scratch);
    ssize_t n = stream_readv(s, scratch, 1);
    f->is_drained = n < (ssize_t)scratch->iov_len;
    if (n <= 0)
        return n;
    struct slice in = slice_of(scratch->iov_base, (size_t)n);
    if (f->head_len)
        in = slice_from(in, join_size(f, in));
    /* Of what follows a large frame with room to grow, nothing can have been read. */
    if (in.len)
        take_frames(f, in);
    return n;
}

static void pop_done(struct framer *f, struct buf **ret, struct slice *ret_body)
{
    *ret = TAKE(f->done);
    *ret_body = slice_of((*ret)->data, (*ret)->size);
}

static void pop_batch(struct framer *f, struct buf **ret, struct slice *ret_body)
{
    const uint8_t *at = f->batch->data + f->batch_at;

    *ret_body = slice_of(at + SIZE_BYTES, be32_read(at));
    f->batch_at += SIZE_BYTES + ret_body->len;
    *ret = f->batch_at == f->batch->size ? TAKE(f->batch) : buf_ref(f->batch);
}

int framer_next(struct framer *f, struct stream *s, const struct iovec *scratch, struct buf **ret,
                struct slice *ret_body)
{
    ssize_t n = framer_has_frame(f) || f->err ? 1 : read_more(f, s, scratch);

    if (n <= 0)
        return (int)n;
    if (f->done)
        pop_done(f, ret, ret_body);
    else if (f->batch)
        pop_batch(f, ret, ret_body);
    else
        return f->err ? f->err : -EAGAIN;
    return 1;
}
