#include "common/base/arena.h"

#include "common/base/mem.h"

#include <stdarg.h>
#include <stdio.h>

enum { ALIGN = 16, FIRST_CHUNK = 4096 - 64, MAX_CHUNK = 256 * 1024 };

struct arena_chunk {
    struct arena_chunk *next;
    size_t size;
    _Alignas(ALIGN) uint8_t data[];
};

struct arena_held {
    struct arena_held *next;
    void *obj;
    arena_drop_fn drop;
};

static void drop_held(struct arena *a)
{
    /* The records stand in the chunks, which are still there. */
    for (struct arena_held *h = a->held; h; h = h->next)
        h->drop(h->obj);
    a->held = NULL;
}

void arena_deinit(struct arena *a)
{
    drop_held(a);
    while (a->chunks) {
        struct arena_chunk *next = a->chunks->next;

        free(a->chunks);
        a->chunks = next;
    }
    *a = (struct arena){0};
}

void arena_reset(struct arena *a)
{
    drop_held(a);
    if (!a->chunks)
        return;
    /* The first chunk is the last of the list, and the one of the usual size. */
    while (a->chunks->next) {
        struct arena_chunk *next = a->chunks->next;

        free(a->chunks);
        a->chunks = next;
    }
    a->at = a->chunks->data;
    a->end = a->chunks->data + a->chunks->size;
}

static void add_chunk(struct arena *a, size_t need)
{
    size_t size = a->chunks ? MIN(a->chunks->size * 2, (size_t)MAX_CHUNK) : FIRST_CHUNK;
    struct arena_chunk *c;

    size = MAX(size, need);
    c = xmalloc(sizeof *c + size);
    c->size = size;
    c->next = a->chunks;
    a->chunks = c;
    a->at = c->data;
    a->end = c->data + size;
}

void *arena_alloc(struct arena *a, size_t n)
{
    size_t need;

    if (add_overflows(n, (size_t)(ALIGN - 1), &need))
        abort();
    need &= ~(size_t)(ALIGN - 1);
    if ((size_t)(a->end - a->at) < need || !a->at)
        add_chunk(a, need);
    void *p = a->at;
    a->at += need;
    return p;
}

void *arena_zalloc(struct arena *a, size_t n)
{
    return memset(arena_alloc(a, n), 0, n);
}

void *arena_array(struct arena *a, size_t count, size_t size)
{
    size_t n;

    if (mul_overflows(count, size, &n))
        abort();
    return arena_zalloc(a, n);
}

char *arena_strz(struct arena *a, struct str s)
{
    char *copy = arena_alloc(a, s.len + 1);

    if (s.len)
        memcpy(copy, s.p, s.len);
    copy[s.len] = '\0';
    return copy;
}

struct str arena_str(struct arena *a, struct str s)
{
    return s.p ? (struct str){arena_strz(a, s), s.len} : STR_NULL;
}

struct str arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list ap, again;

    va_start(ap, fmt);
    va_copy(again, ap);
    int n = MAX(vsnprintf(NULL, 0, fmt, ap), 0);
    va_end(ap);
    char *s = arena_alloc(a, (size_t)n + 1);
    vsnprintf(s, (size_t)n + 1, fmt, again);
    va_end(again);
    return (struct str){s, (size_t)n};
}

void arena_hold(struct arena *a, void *obj, arena_drop_fn drop)
{
    struct arena_held *h = arena_alloc(a, sizeof *h);

    *h = (struct arena_held){.next = a->held, .obj = obj, .drop = drop};
    a->held = h;
}

static void drop_buf(void *obj)
{
    buf_unref(obj);
}

void arena_hold_buf(struct arena *a, struct buf *b)
{
    arena_hold(a, b, drop_buf);
}
