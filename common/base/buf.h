/*
 * buf.h - reference-counted bytes
 *
 * A frame is read into one buf; whoever keeps a slice of it holds a reference (often through an
 * arena). The count is atomic; the bytes are written by one owner before the buf is shared.
 */
#pragma once

#include "common/base/str.h"

#include <stdatomic.h>

struct buf {
    atomic_uint refs;
    size_t size;
    uint8_t data[];
};

/* One reference, bytes not initialised. */
struct buf *buf_new(size_t size);
struct buf *buf_ref(struct buf *b);
/* NULL-safe; returns NULL. */
struct buf *buf_unref(struct buf *b);

static inline void buf_unref_p(struct buf **b)
{
    *b = buf_unref(*b);
}
