/*
 * arena.h - memory that lives and dies together
 *
 * One per request: decoded structs, texts and the answer live in it, and it is reset when the last
 * byte is sent. Not thread-safe; a request has one owner at a time. A zeroed struct is a valid
 * empty arena.
 *
 * An arena can also hold references of other objects: arena_hold() runs drop(obj) at reset, newest
 * first.
 */
#pragma once

#include "common/base/buf.h"
#include "common/base/str.h"

typedef void (*arena_drop_fn)(void *obj);

struct arena_chunk;
struct arena_held;

struct arena {
    struct arena_chunk *chunks;
    struct arena_held *held;
    uint8_t *at;
    uint8_t *end;
};

/* An arena that takes from room first, which is aligned for any type and outlives it: no malloc
 * where room is enough. For arena_deinit() only, not for arena_reset(). */
static inline struct arena arena_on(void *room, size_t n)
{
    return (struct arena){.at = room, .end = (uint8_t *)room + n};
}

/* Frees everything and leaves an empty arena. */
void arena_deinit(struct arena *a);
/* Like deinit, but keeps the first chunk for the next use. */
void arena_reset(struct arena *a);

/* Aligned for any type; not initialised. n = 0 gives a pointer that may be compared only. */
void *arena_alloc(struct arena *a, size_t n);
void *arena_zalloc(struct arena *a, size_t n);
/* count elements of size, zeroed; aborts where the product overflows (bound it before). */
void *arena_array(struct arena *a, size_t count, size_t size);
struct str arena_str(struct arena *a, struct str s);
char *arena_strz(struct arena *a, struct str s);
struct str arena_printf(struct arena *a, const char *fmt, ...) PRINTF_LIKE(2, 3);

void arena_hold(struct arena *a, void *obj, arena_drop_fn drop);
/* Takes over one reference of b. */
void arena_hold_buf(struct arena *a, struct buf *b);

#define arena_new(a, type)          ((type *)arena_zalloc((a), sizeof(type)))
#define arena_new_array(a, type, n) ((type *)arena_array((a), (n), sizeof(type)))
