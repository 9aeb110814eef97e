/*
 * framer.h - cuts what a stream brings into frames: 4 bytes of size, then that many bytes
 *
 * One read takes as many small frames as there are; they then share one buffer. A large frame is
 * read straight into a buffer of its own, which grows as the bytes arrive: a size that is only
 * claimed costs nothing. Between frames no memory is held. A zeroed struct with max set is valid.
 * Thread: the owner's.
 */
#pragma once

#include "common/base/buf.h"
#include "common/io/stream.h"

struct framer {
    uint32_t max; /* largest size allowed */
    uint8_t head_len;
    uint8_t head[4]; /* the beginning of a size */
    /* In the order of the stream: */
    struct buf *done;  /* a frame that came in pieces */
    struct buf *batch; /* whole frames from one read */
    size_t batch_at;
    struct buf *large; /* a frame of which a part is still to come */
    size_t large_size; /* what it will have */
    size_t large_len;  /* what is there of it */
    bool is_drained;   /* the last read took all there was: wait for the descriptor */
    int err;
};

void framer_deinit(struct framer *f);
/*
 * Reads once, if no frame is there yet. 1: a frame without its size, in *ret_body, which lies in
 * *ret (the caller's reference). 0: the stream has ended. -EAGAIN: wait for more, or, unless
 * is_drained, call again; -EMSGSIZE for a size that is negative or above max. scratch is free to be
 * overwritten.
 */
int framer_next(struct framer *f, struct stream *s, const struct iovec *scratch, struct buf **ret,
                struct slice *ret_body) MUST_CHECK;
/* Whether framer_next() has a frame without reading. */
bool framer_has_frame(const struct framer *f);
/* Bytes that frames hold in it. */
size_t framer_held(const struct framer *f);
