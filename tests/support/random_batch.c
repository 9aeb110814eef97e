#include "tests/support/random_batch.h"

#include <stdlib.h>

enum { LONG_VALUE = 20000, MAX_HEADERS = 3, BASE_TIME_MS_STEP = 1000 };

static const int64_t base_time_ms = 1700000000000;

static struct slice random_bytes_or_null(struct random_source *r, struct arena *a)
{
    uint32_t kind = random_to(r, 8);
    size_t len = kind == 0 ? random_to(r, LONG_VALUE) : random_to(r, 40);
    uint8_t *p = arena_alloc(a, len + 1);

    if (kind == 1)
        return (struct slice){0};
    for (size_t i = 0; i < len; i++)
        p[i] = (uint8_t)('a' + random_to(r, 4));
    return slice_of(p, kind == 2 ? 0 : len);
}

struct record random_record(struct random_source *r, struct arena *a)
{
    struct record rec = {.key = random_bytes_or_null(r, a), .value = random_bytes_or_null(r, a)};
    CLEANUP(strbuf_deinit) struct strbuf headers = {0};

    rec.header_count = random_to(r, 4) ? 0 : (int32_t)random_to(r, MAX_HEADERS + 1);
    for (int32_t i = 0; i < rec.header_count; i++)
        record_header_add(&headers, STR("h"), random_bytes_or_null(r, a));
    rec.headers = slice_of_str(arena_str(a, strbuf_str(&headers)));
    return rec;
}

struct slice random_batch(struct random_source *r, const struct batch_opts *opts, int count,
                          struct arena *a, struct record *ret_records)
{
    CLEANUP(batch_builder_deinit) struct batch_builder bb;
    CLEANUP(strbuf_deinit) struct strbuf out = {0};

    batch_builder_init(&bb, opts);
    for (int i = 0; i < count; i++) {
        struct record rec = random_record(r, a);

        rec.offset = opts->base_offset + i;
        rec.timestamp = base_time_ms + random_to(r, BASE_TIME_MS_STEP);
        batch_builder_add(&bb, &rec);
        if (ret_records)
            ret_records[i] = rec;
    }
    if (batch_builder_finish(&bb, &out) != 0)
        abort();
    return slice_of_str(arena_str(a, strbuf_str(&out)));
}

struct slice hex_bytes(struct arena *a, const char *hex)
{
    uint8_t *p = arena_alloc(a, strlen(hex) / 2 + 1);
    size_t n = 0;

    while (*hex) {
        if (*hex == ' ' || *hex == '\n') {
            hex++;
            continue;
        }
        char digits[3] = {hex[0], hex[1], 0};
        p[n++] = (uint8_t)strtoul(digits, NULL, 16);
        hex += 2;
    }
    return slice_of(p, n);
}

bool slice_eq(struct slice a, struct slice b)
{
    return a.len == b.len && !a.p == !b.p && (a.len == 0 || memcmp(a.p, b.p, a.len) == 0);
}

bool same_record(const struct record *a, const struct record *b)
{
    return slice_eq(a->key, b->key) && slice_eq(a->value, b->value) &&
           a->header_count == b->header_count && a->headers.len == b->headers.len &&
           (a->headers.len == 0 || memcmp(a->headers.p, b->headers.p, a->headers.len) == 0);
}

struct batch only_batch(struct slice bytes)
{
    struct batch b;

    if (batch_next(&bytes, &b) != 1 || bytes.len != 0)
        abort();
    return b;
}
