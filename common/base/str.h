/*
 * str.h - text and bytes with a length, and checked number parsing
 *
 * Both are values that borrow: the comment where one is stored says from whom. A NULL pointer is
 * Kafka's null; an empty text has a pointer that is not NULL.
 */
#pragma once

#include "common/base/base.h"

struct slice {
    const uint8_t *p;
    size_t len;
};

struct str {
    const char *p;
    size_t len;
};

/* For printf("%.*s"): STR_ARG(s). */
#define STR_ARG(s) ((int)(s).len), ((s).p ? (s).p : "")
#define STR(lit)   ((struct str){"" lit, sizeof(lit) - 1})
#define STR_NULL   ((struct str){NULL, 0})

static inline struct str str_of(const char *s)
{
    return (struct str){s, s ? strlen(s) : 0};
}

static inline bool str_is_null(struct str s)
{
    return s.p == NULL;
}

static inline bool str_eq(struct str a, struct str b)
{
    return a.len == b.len && (!a.p == !b.p) && (a.len == 0 || memcmp(a.p, b.p, a.len) == 0);
}

static inline bool str_eqz(struct str a, const char *z)
{
    return str_eq(a, str_of(z));
}

/* Order of bytes, shorter first. */
int str_cmp(struct str a, struct str b);
/* A malloc'ed, NUL-terminated copy; NULL for null. */
char *str_dup(struct str s);
bool str_starts_with(struct str s, struct str prefix);
/* Without blanks (space, tab, CR, LF) at both ends. */
struct str str_trim(struct str s);
/* Cuts the part before the first sep off *rest into *ret_part; false when *rest is null (all parts
 * were taken). */
bool str_split(struct str *rest, char sep, struct str *ret_part);

static inline struct slice slice_of(const void *p, size_t len)
{
    return (struct slice){p, len};
}

static inline struct slice slice_of_str(struct str s)
{
    return (struct slice){(const uint8_t *)s.p, s.len};
}

static inline struct str str_of_slice(struct slice s)
{
    return (struct str){(const char *)s.p, s.len};
}

static inline struct slice slice_sub(struct slice s, size_t at, size_t len)
{
    assert(at <= s.len && len <= s.len - at);
    return (struct slice){s.p + at, len};
}

static inline struct slice slice_from(struct slice s, size_t at)
{
    return slice_sub(s, at, s.len - at);
}

/* Decimal numbers, whole text, optional sign. -EINVAL for what is no number, -ERANGE outside [min,
 * max]. */
int str_to_i64(struct str s, int64_t min, int64_t max, int64_t *ret) MUST_CHECK;
int str_to_i32(struct str s, int32_t min, int32_t max, int32_t *ret) MUST_CHECK;
int str_to_double(struct str s, double *ret) MUST_CHECK;
