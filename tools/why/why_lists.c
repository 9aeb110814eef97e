#include "tools/why/why_lists.h"

#include "common/base/strbuf.h"

#include <stdlib.h>

bool why_has(const struct why_ids *ids, int32_t id)
{
    for (int32_t i = 0; i < ids->count; i++) {
        if (ids->v[i] == id)
            return true;
    }
    return false;
}

static int by_number(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

    return (x > y) - (x < y);
}

struct why_ids why_ids_sorted(struct arena *a, const struct why_ids *ids)
{
    struct why_ids out = {arena_new_array(a, int32_t, (size_t)ids->count + 1), ids->count};

    if (ids->count)
        memcpy(out.v, ids->v, (size_t)ids->count * sizeof *out.v);
    qsort(out.v, (size_t)out.count, sizeof *out.v, by_number);
    return out;
}

void why_texts_add(struct arena *a, struct why_texts *t, struct str text)
{
    if (t->count == t->cap) {
        size_t cap = t->cap * 2 + 4;
        struct str *v = arena_new_array(a, struct str, cap);
        if (t->count)
            memcpy(v, t->v, t->count * sizeof *v);
        t->v = v;
        t->cap = cap;
    }
    t->v[t->count++] = text;
}

struct str why_ids_text(struct arena *a, const struct why_ids *ids)
{
    CLEANUP(strbuf_deinit) struct strbuf sb = {0};

    strbuf_add_char(&sb, '[');
    for (int32_t i = 0; i < ids->count; i++)
        strbuf_addf(&sb, "%s%d", i ? "," : "", ids->v[i]);
    strbuf_add_char(&sb, ']');
    return arena_str(a, strbuf_str(&sb));
}
