#include "tools/base/java.h"

#include "common/base/hash.h"
#include "common/base/mem.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>

enum { MAP_DEFAULT = 16 };

static uint32_t spread(int32_t hash)
{
    uint32_t h = (uint32_t)hash;

    return h ^ (h >> 16);
}

/* ---- HashMap: buckets in turn, each in the order of putting ---- */

struct slot {
    uint32_t bucket;
    size_t index;
};

static int by_bucket(const void *a, const void *b)
{
    const struct slot *x = a, *y = b;

    if (x->bucket != y->bucket)
        return x->bucket < y->bucket ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

/* Of powers of two the least that is not below n. */
static size_t table_size(size_t n)
{
    size_t size = 1;

    while (size < n)
        size *= 2;
    return size;
}

void java_map_order(const int32_t *hashes, size_t count, size_t capacity, size_t *ret)
{
    CLEANUP(free_p) struct slot *slots = xnew_array(struct slot, count + 1);
    size_t size = table_size(capacity ? capacity : MAP_DEFAULT);

    while (count > size / 4 * 3 + size % 4 * 3 / 4)
        size *= 2;
    for (size_t i = 0; i < count; i++)
        slots[i] = (struct slot){spread(hashes[i]) & (uint32_t)(size - 1), i};
    if (count > 1)
        qsort(slots, count, sizeof *slots, by_bucket);
    for (size_t i = 0; i < count; i++)
        ret[i] = slots[i].index;
}

/* ---- Properties: a ConcurrentHashMap, whose chains are taken apart when it grows ---- */

enum { NONE = -1 };

struct chains {
    uint32_t *hash; /* of each element */
    int32_t *next;  /* behind each element, NONE at the end */
    int32_t *first; /* of each bucket */
    size_t size;
};

static void append(struct chains *c, int32_t at)
{
    int32_t *end = &c->first[c->hash[at] & (c->size - 1)];

    while (*end != NONE)
        end = &c->next[*end];
    *end = at;
}

/* The end of a chain that stays together keeps its order, what stands before is put in front. */
static void split(struct chains *c, int32_t first, size_t bit, int32_t *ret)
{
    int32_t last_run = first, parts[2] = {NONE, NONE}, next;

    for (int32_t at = first; at != NONE; at = c->next[at]) {
        if ((c->hash[at] & bit) != (c->hash[last_run] & bit))
            last_run = at;
    }
    if (last_run != NONE)
        parts[(c->hash[last_run] & bit) != 0] = last_run;
    for (int32_t at = first; at != last_run; at = next) {
        int32_t *part = &parts[(c->hash[at] & bit) != 0];

        next = c->next[at];
        c->next[at] = *part;
        *part = at;
    }
    memcpy(ret, parts, sizeof parts);
}

static void grow(struct chains *c)
{
    int32_t *first = xnew_array(int32_t, c->size * 2);

    for (size_t i = 0; i < c->size; i++) {
        int32_t parts[2];

        split(c, c->first[i], c->size, parts);
        first[i] = parts[0];
        first[i + c->size] = parts[1];
    }
    free(c->first);
    c->first = first;
    c->size *= 2;
}

void java_properties_order(const int32_t *hashes, size_t count, size_t *ret)
{
    struct chains c = {.hash = xnew_array(uint32_t, count + 1),
                       .next = xnew_array(int32_t, count + 1),
                       .first = xnew_array(int32_t, MAP_DEFAULT),
                       .size = MAP_DEFAULT};
    size_t n = 0;

    for (size_t i = 0; i < c.size; i++)
        c.first[i] = NONE;
    for (size_t i = 0; i < count; i++) {
        c.hash[i] = spread(hashes[i]);
        c.next[i] = NONE;
        append(&c, (int32_t)i);
        if (i + 1 >= c.size / 4 * 3)
            grow(&c);
    }
    for (size_t i = 0; i < c.size; i++) {
        for (int32_t at = c.first[i]; at != NONE; at = c.next[at])
            ret[n++] = (size_t)at;
    }
    assert(n == count);
    free(c.hash);
    free(c.next);
    free(c.first);
}

void java_properties_sort(struct props *p)
{
    CLEANUP(free_p) int32_t *hashes = xnew_array(int32_t, p->count + 1);
    CLEANUP(free_p) size_t *order = xnew_array(size_t, p->count + 1);
    CLEANUP(free_p) struct prop *sorted = xnew_array(struct prop, p->count + 1);

    for (size_t i = 0; i < p->count; i++)
        hashes[i] = hash_java(str_of(p->v[i].key));
    java_properties_order(hashes, p->count, order);
    for (size_t i = 0; i < p->count; i++)
        sorted[i] = p->v[order[i]];
    if (p->count)
        memcpy(p->v, sorted, p->count * sizeof *sorted);
}

/* ---- numbers and texts ---- */

/* The digits of the shortest text that reads as v again, and the power of ten of the first. */
static int shortest(double v, char digits[32])
{
    char text[40];

    for (int precision = 0; precision < 17; precision++) {
        snprintf(text, sizeof text, "%.*e", precision, v);
        if (strtod(text, NULL) == v)
            break;
    }
    char *exponent = strchr(text, 'e');
    size_t n = 0;
    for (const char *p = text; p < exponent; p++) {
        if (*p != '.')
            digits[n++] = *p;
    }
    digits[n] = '\0';
    return (int)strtol(exponent + 1, NULL, 10);
}

static void add_plain(const char *digits, int exponent, struct strbuf *out)
{
    int n = (int)strlen(digits), whole = exponent + 1;

    if (whole <= 0) {
        strbuf_addf(out, "0.%.*s%s", -whole, "000", digits);
        return;
    }
    for (int i = 0; i < whole; i++)
        strbuf_add_char(out, i < n ? digits[i] : '0');
    strbuf_addf(out, ".%s", whole < n ? digits + whole : "0");
}

void java_double(double v, struct strbuf *out)
{
    char digits[32];
    double size = fabs(v);

    if (isnan(v)) {
        strbuf_addz(out, "NaN");
        return;
    }
    if (signbit(v))
        strbuf_add_char(out, '-');
    if (isinf(v)) {
        strbuf_addz(out, "Infinity");
        return;
    }
    int exponent = shortest(size, digits);
    if (size == 0 || (size >= 1e-3 && size < 1e7))
        add_plain(digits, exponent, out);
    else
        strbuf_addf(out, "%c.%sE%d", digits[0], digits[1] ? digits + 1 : "0", exponent);
}

struct str java_trim(struct str s)
{
    while (s.len && (unsigned char)s.p[0] <= ' ')
        s = (struct str){s.p + 1, s.len - 1};
    while (s.len && (unsigned char)s.p[s.len - 1] <= ' ')
        s.len--;
    return s;
}

/* "12", ".5", "1e3", "0x1p3"; what strtod() takes besides is no number for Java. */
static bool is_number(const char *p)
{
    bool is_hex = p[0] == '0' && (p[1] == 'x' || p[1] == 'X');

    if (strcmp(p, "NaN") == 0 || strcmp(p, "Infinity") == 0)
        return true;
    return (isdigit((unsigned char)p[0]) || p[0] == '.') && (!is_hex || strpbrk(p, "pP"));
}

int java_parse_double(struct str s, double *ret)
{
    CLEANUP(free_p) char *text = str_dup(java_trim(s));
    char *end;

    if (!text || !is_number(text + (*text == '+' || *text == '-')))
        return -EINVAL;
    double v = strtod(text, &end);
    if (end > text && *end && strchr("fFdD", *end) && !isalpha((unsigned char)end[-1]))
        end++;
    if (end == text || *end)
        return -EINVAL;
    *ret = v;
    return 0;
}
