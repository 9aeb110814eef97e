/*
 * outq.h - what waits to be sent on one connection: pieces of memory, and ranges of files
 *
 * Memory leaves by writev; long ranges of files by sendfile where the stream can; short ones, and
 * all of them under TLS, are read into a scratch buffer of the caller and leave together with their
 * neighbours. Nothing is copied or owned: whoever adds a piece keeps it alive until outq_on_sent()
 * says that it has left. An empty queue has no memory of its own.
 *
 * No read from a disk happens here: where a range is not in the page cache, outq_send() gives up
 * with -EBUSY, outq_cold() names the range, and the caller has it read elsewhere before trying
 * again. A zeroed struct is a valid empty queue.
 *
 * Thread: the owner's.
 */
#pragma once

#include "common/io/fs.h"
#include "common/io/stream.h"

struct outq_piece;

typedef void (*outq_sent_fn)(void *ctx);

struct outq {
    struct outq_piece *ring;
    uint32_t size; /* of the ring, a power of two */
    uint32_t head;
    uint32_t count;
    size_t bytes;     /* that are still to be sent */
    size_t mem_bytes; /* those that are memory */
};

/* Drops what is left; the callbacks run. */
void outq_deinit(struct outq *q);

void outq_add_mem(struct outq *q, struct slice mem);
void outq_add_file(struct outq *q, struct file *file, uint64_t pos, size_t len);
/* sent(ctx) runs once all that was added so far has left, or was dropped: from within outq_send()
 * or outq_deinit(). */
void outq_on_sent(struct outq *q, outq_sent_fn sent, void *ctx);

/*
 * Sends as much as the socket takes, up to about a megabyte. 0: the queue is empty. -EAGAIN: go on
 * when the descriptor has what stream->wants says. -EBUSY: the next piece has to come from the
 * disk. Other negatives: the stream is dead, or a file was cut under its readers (-EIO). scratch: a
 * few tens of KB, free to be overwritten.
 */
int outq_send(struct outq *q, struct stream *s, void *scratch, size_t scratch_size) MUST_CHECK;

struct outq_range {
    struct file *file; /* a reference of the caller's, or NULL */
    uint64_t pos;
    size_t len;
};

/* The part of the first file range that is wanted next. It takes a reference. */
struct outq_range outq_cold(const struct outq *q);

static inline bool outq_is_empty(const struct outq *q)
{
    return q->count == 0;
}
