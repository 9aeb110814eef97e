/*
 * mem.h - allocation that cannot fail
 *
 * Out of memory aborts: what a peer can make us allocate is bounded where it is read (frame size,
 * array lengths by bytes left, queue caps), so a failing malloc is a broken machine and not an
 * input error.
 */
#pragma once

#include "common/base/base.h"

#include <stdlib.h>

void *xmalloc(size_t n);
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *p, size_t n);
/* Array of count elements of size; aborts where the product overflows. */
void *xreallocarray(void *p, size_t count, size_t size);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t n);
char *xasprintf(const char *fmt, ...) PRINTF_LIKE(1, 2);

#define xnew(type)          ((type *)xcalloc(1, sizeof(type)))
#define xnew_array(type, n) ((type *)xcalloc((n), sizeof(type)))

/* Grows *arr (of *cap elements of type) so that it holds at least need. */
#define xgrow(arr, cap, need)                                                                      \
    do {                                                                                           \
        if ((need) > (cap)) {                                                                      \
            (cap) = MAX((__typeof__(cap))(need), (__typeof__(cap))((cap) + (cap) / 2 + 8));        \
            (arr) = xreallocarray((arr), (size_t)(cap), sizeof *(arr));                            \
        }                                                                                          \
    } while (0)

/* Gives what was freed back to the kernel, after work that needed much memory for a short time.
 * Other threads that allocate may wait for a moment. */
void mem_trim(void);

/* For CLEANUP() on a malloc'ed pointer of any type. */
static inline void free_p(void *p)
{
    free(*(void **)p);
}
