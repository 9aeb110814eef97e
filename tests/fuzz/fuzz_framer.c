/*
 * fuzz_framer.c - a stream of bytes, cut as the input says, comes out as the frames that a plain
 * reading of it gives
 *
 * The first byte is how many bytes are written at a time; the rest is the stream.
 */
#include "common/base/be.h"
#include "common/io/framer.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MAX_FRAME = 300, SCRATCH = 128 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The next frame of in, whole or not at all; 0, or the error that its size is. */
static int expect(struct slice *in, struct slice *ret)
{
    *ret = slice_of(NULL, 0);
    if (in->len < 4)
        return 0;
    uint32_t n = be32_read(in->p);
    if (n > MAX_FRAME)
        return -EMSGSIZE;
    if (in->len - 4 < n)
        return 0;
    *ret = slice_sub(*in, 4, n);
    *in = slice_from(*in, 4 + n);
    return 0;
}

static void drain(struct framer *f, struct stream *s, struct slice *left, bool *is_over)
{
    uint8_t bytes[SCRATCH];
    const struct iovec scratch = {bytes, sizeof bytes};

    while (!*is_over) {
        struct buf *buf = NULL;
        struct slice body, want;
        int r = framer_next(f, s, &scratch, &buf, &body);

        if (r == -EAGAIN && f->is_drained)
            return;
        if (r == -EAGAIN)
            continue;
        int e = expect(left, &want);
        assert(r == 1 ? e == 0 && want.p && want.len == body.len : r == (e ? e : 0));
        assert(r != 1 || memcmp(body.p, want.p, body.len) == 0);
        *is_over = r != 1;
        buf_unref(buf);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd[2];
    bool is_over = false;

    if (size < 1 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd) < 0)
        return 0;
    struct framer f = {.max = MAX_FRAME};
    struct stream *s = stream_plain_new(fd[0]);
    struct slice all = slice_of(data + 1, size - 1), left = all;
    size_t step = data[0] ? data[0] : 1;

    for (size_t at = 0; at < all.len && !is_over;) {
        ssize_t n = write(fd[1], all.p + at, MIN(step, all.len - at));

        assert(n > 0);
        at += (size_t)n;
        drain(&f, s, &left, &is_over);
    }
    close(fd[1]);
    drain(&f, s, &left, &is_over); /* perhaps the last bytes, */
    drain(&f, s, &left, &is_over); /* then the end */
    assert(is_over);
    framer_deinit(&f);
    stream_close(s);
    return 0;
}
