#include "common/base/mem.h"

#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>

static NORETURN void out_of_memory(size_t n)
{
    fprintf(stderr, "out of memory: an allocation of %zu bytes failed\n", n);
    abort();
}

void *xmalloc(size_t n)
{
    void *p = malloc(n ? n : 1);

    if (!p)
        out_of_memory(n);
    return p;
}

void *xcalloc(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size ? size : 1);

    if (!p)
        out_of_memory(count * size);
    return p;
}

void *xrealloc(void *p, size_t n)
{
    void *q = realloc(p, n ? n : 1);

    if (!q)
        out_of_memory(n);
    return q;
}

void *xreallocarray(void *p, size_t count, size_t size)
{
    size_t n;

    if (mul_overflows(count, size, &n))
        out_of_memory(SIZE_MAX);
    return xrealloc(p, n);
}

char *xstrndup(const char *s, size_t n)
{
    char *copy = xmalloc(n + 1);

    memcpy(copy, s, n);
    copy[n] = '\0';
    return copy;
}

char *xstrdup(const char *s)
{
    return xstrndup(s, strlen(s));
}

char *xasprintf(const char *fmt, ...)
{
    va_list ap;
    char *s = NULL;

    va_start(ap, fmt);
    int n = vasprintf(&s, fmt, ap);
    va_end(ap);
    if (n < 0)
        out_of_memory(0);
    return s;
}

void mem_trim(void)
{
    malloc_trim(0);
}
