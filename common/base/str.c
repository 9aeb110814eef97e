#include "common/base/str.h"

#include "common/base/mem.h"

#include <errno.h>

int str_cmp(struct str a, struct str b)
{
    size_t n = MIN(a.len, b.len);
    int r = n ? memcmp(a.p, b.p, n) : 0;

    return r ? r : (a.len > b.len) - (a.len < b.len);
}

char *str_dup(struct str s)
{
    return s.p ? xstrndup(s.p, s.len) : NULL;
}

bool str_starts_with(struct str s, struct str prefix)
{
    return s.len >= prefix.len && (prefix.len == 0 || memcmp(s.p, prefix.p, prefix.len) == 0);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct str str_trim(struct str s)
{
    while (s.len && is_blank(s.p[0])) {
        s.p++;
        s.len--;
    }
    while (s.len && is_blank(s.p[s.len - 1]))
        s.len--;
    return s;
}

bool str_split(struct str *rest, char sep, struct str *ret_part)
{
    if (!rest->p)
        return false;

    const char *at = rest->len ? memchr(rest->p, sep, rest->len) : NULL;
    if (!at) {
        *ret_part = *rest;
        *rest = STR_NULL;
        return true;
    }
    size_t n = (size_t)(at - rest->p);
    *ret_part = (struct str){rest->p, n};
    *rest = (struct str){at + 1, rest->len - n - 1};
    return true;
}

int str_to_i64(struct str s, int64_t min, int64_t max, int64_t *ret)
{
    bool negative = s.len && s.p[0] == '-';
    size_t i = s.len && (s.p[0] == '-' || s.p[0] == '+') ? 1 : 0;
    int64_t v = 0;

    if (i == s.len)
        return -EINVAL;
    for (; i < s.len; i++) {
        int digit = s.p[i] - '0';

        if (digit < 0 || digit > 9)
            return -EINVAL;
        /* Built up below zero, so that INT64_MIN needs no special case. */
        if (mul_overflows(v, 10, &v) || __builtin_sub_overflow(v, digit, &v))
            return -ERANGE;
    }
    if (!negative && __builtin_sub_overflow(0, v, &v))
        return -ERANGE;
    if (v < min || v > max)
        return -ERANGE;
    *ret = v;
    return 0;
}

int str_to_i32(struct str s, int32_t min, int32_t max, int32_t *ret)
{
    int64_t v;
    int r = str_to_i64(s, min, max, &v);

    if (r == 0)
        *ret = (int32_t)v;
    return r;
}

int str_to_double(struct str s, double *ret)
{
    char text[64];
    char *end;

    if (s.len == 0 || s.len >= sizeof text)
        return -EINVAL;
    memcpy(text, s.p, s.len);
    text[s.len] = '\0';
    errno = 0;
    double v = strtod(text, &end);
    if (*end || end == text)
        return -EINVAL;
    if (errno == ERANGE)
        return -ERANGE;
    *ret = v;
    return 0;
}
