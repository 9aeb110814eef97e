#include "common/base/buf.h"

#include "common/base/mem.h"

struct buf *buf_new(size_t size)
{
    struct buf *b = xmalloc(sizeof *b + size);

    atomic_init(&b->refs, 1);
    b->size = size;
    return b;
}

struct buf *buf_ref(struct buf *b)
{
    atomic_fetch_add_explicit(&b->refs, 1, memory_order_relaxed);
    return b;
}

struct buf *buf_unref(struct buf *b)
{
    if (b && atomic_fetch_sub_explicit(&b->refs, 1, memory_order_acq_rel) == 1)
        free(b);
    return NULL;
}
