#include "common/io/outq.h"

#include "common/base/err.h"
#include "common/base/mem.h"

#include <sys/epoll.h>

enum {
    FIRST_SIZE = 8,
    IOV_COUNT = 64,
    INLINE_FILE =
        16 * 1024, /* up to here reading and joining is cheaper than a sendfile of its own */
    FILE_CHUNK = 256 * 1024,  /* looked for in the page cache, and sent, at once */
    TURN_BYTES = 1024 * 1024, /* then others have their turn */
};

struct outq_piece {
    const uint8_t *mem; /* NULL: of the file, or of nothing */
    struct file *file;
    uint64_t pos;
    size_t len;
    outq_sent_fn sent;
    void *ctx;
};

static struct outq_piece *at(const struct outq *q, uint32_t i)
{
    return &q->ring[(q->head + i) & (q->size - 1)];
}

static void grow(struct outq *q)
{
    uint32_t size = MAX(q->size * 2, (uint32_t)FIRST_SIZE);
    struct outq_piece *ring = xreallocarray(NULL, size, sizeof *ring);

    for (uint32_t i = 0; i < q->count; i++)
        ring[i] = *at(q, i);
    free(q->ring);
    q->ring = ring;
    q->size = size;
    q->head = 0;
}

static void add(struct outq *q, struct outq_piece p)
{
    if (q->count == q->size)
        grow(q);
    *at(q, q->count++) = p;
    q->bytes += p.len;
    if (p.mem)
        q->mem_bytes += p.len;
}

void outq_add_mem(struct outq *q, struct slice mem)
{
    if (mem.len)
        add(q, (struct outq_piece){.mem = mem.p, .len = mem.len});
}

void outq_add_file(struct outq *q, struct file *file, uint64_t pos, size_t len)
{
    if (len)
        add(q, (struct outq_piece){.file = file, .pos = pos, .len = len});
}

void outq_on_sent(struct outq *q, outq_sent_fn sent, void *ctx)
{
    /* A piece of its own, without bytes: it is passed when all before it have gone. */
    add(q, (struct outq_piece){.sent = sent, .ctx = ctx});
}

static void drop_head(struct outq *q)
{
    const struct outq_piece p = *at(q, 0);

    q->head = (q->head + 1) & (q->size - 1);
    q->count--;
    q->bytes -= p.len;
    if (p.mem)
        q->mem_bytes -= p.len;
    if (p.sent)
        p.sent(p.ctx);
}

static void release_ring(struct outq *q)
{
    free(q->ring);
    q->ring = NULL;
    q->size = 0;
}

void outq_deinit(struct outq *q)
{
    while (q->count)
        drop_head(q);
    release_ring(q);
}

/* n bytes have left. */
static void advance(struct outq *q, size_t n)
{
    while (q->count && n >= at(q, 0)->len) {
        n -= at(q, 0)->len;
        drop_head(q);
    }
    if (n == 0)
        return;
    struct outq_piece *p = at(q, 0);
    p->len -= n;
    p->pos += n;
    q->bytes -= n;
    if (p->mem) {
        p->mem += n;
        q->mem_bytes -= n;
    }
}

/* Whether the first and the last byte are in the page cache: the kernel's reads ahead make that a
 * good guess for what lies between them. 0, -EBUSY, or an error. */
static int look_for(struct file *f, uint64_t pos, size_t len)
{
    const uint64_t ends[] = {pos, pos + len - 1};

    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        uint8_t byte;
        ssize_t n = file_pread_cached(f, &byte, 1, ends[i]);

        if (n == 0)
            return -EIO;
        if (n < 0)
            return n == -EAGAIN ? -EBUSY : (int)n;
    }
    return 0;
}

static ssize_t send_file(const struct outq_piece *p, struct stream *s)
{
    size_t len = MIN(p->len, (size_t)FILE_CHUNK);
    ssize_t r = look_for(p->file, p->pos, len);

    if (r < 0)
        return r;
    int fd = file_pin(p->file);
    if (fd < 0)
        return fd;
    r = stream_send_file(s, fd, p->pos, len);
    file_unpin(p->file);
    return r == 0 ? -EIO : r;
}

struct batch {
    struct iovec iov[IOV_COUNT];
    int count;
    uint8_t *scratch;
    size_t room;
    int err; /* why no more could be gathered */
};

/* Reads a range of a file, or the part of it for which there is room. False: gather no further. */
static bool gather_file(struct batch *b, const struct outq_piece *p)
{
    size_t want = MIN(p->len, b->room);
    ssize_t n = want ? file_pread_cached(p->file, b->scratch, want, p->pos) : 0;

    if (n < 0 || (n == 0 && want)) {
        b->err = n == -EAGAIN ? -EBUSY : n < 0 ? (int)n : -EIO;
        return false;
    }
    if (n == 0)
        return false;
    b->iov[b->count++] = (struct iovec){b->scratch, (size_t)n};
    b->scratch += n;
    b->room -= (size_t)n;
    return (size_t)n == p->len;
}

/* Fills the batch from the head of the queue; returns the number of pieces looked at. */
static uint32_t gather(const struct outq *q, const struct stream *s, struct batch *b)
{
    bool can_send_file = stream_can_send_file(s);
    uint32_t i = 0;

    for (; i < q->count && b->count < IOV_COUNT; i++) {
        const struct outq_piece *p = at(q, i);

        if (p->mem)
            b->iov[b->count++] = (struct iovec){(void *)(uintptr_t)p->mem, p->len};
        else if (p->file && can_send_file && p->len > INLINE_FILE)
            break;
        else if (p->file && !gather_file(b, p))
            break;
    }
    return i;
}

static ssize_t send_batch(const struct outq *q, struct stream *s, struct batch *b)
{
    uint32_t seen = gather(q, s, b);

    if (b->count == 0)
        return b->err;
    ssize_t r = stream_writev(s, b->iov, b->count, seen < q->count && !b->err);
    /* Once the disk has been read there will be more to write: that is what to wait for. */
    return r == -EAGAIN && b->err ? b->err : r;
}

int outq_send(struct outq *q, struct stream *s, void *scratch, size_t scratch_size)
{
    size_t sent = 0;

    for (;;) {
        while (q->count && at(q, 0)->len == 0)
            drop_head(q);
        if (!q->count) {
            release_ring(q);
            return 0;
        }
        if (sent >= TURN_BYTES) {
            s->wants = EPOLLOUT;
            return -EAGAIN;
        }
        const struct outq_piece *p = at(q, 0);
        struct batch b = {.scratch = scratch, .room = scratch_size};
        bool by_file = p->file && stream_can_send_file(s) && p->len > INLINE_FILE;
        ssize_t r = by_file ? send_file(p, s) : send_batch(q, s, &b);

        if (r <= 0)
            return r == 0 ? -EIO : (int)r;
        sent += (size_t)r;
        advance(q, (size_t)r);
    }
}

struct outq_range outq_cold(const struct outq *q)
{
    for (uint32_t i = 0; i < q->count; i++) {
        const struct outq_piece *p = at(q, i);

        if (p->file)
            return (struct outq_range){file_ref(p->file), p->pos, MIN(p->len, (size_t)FILE_CHUNK)};
    }
    return (struct outq_range){0};
}
