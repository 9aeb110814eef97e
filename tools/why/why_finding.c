/*
 * why_finding.c - findings: put together, merged where they say the same, finished
 */
#include "common/base/mem.h"
#include "tools/why/why.h"

#include <inttypes.h>
#include <time.h>

/* Grows an array in the arena; what there was before stays there. */
static void *grow(struct arena *a, void *v, size_t size, size_t count, size_t *cap)
{
    if (count < *cap)
        return v;
    *cap = *cap * 2 + 4;
    void *bigger = arena_array(a, *cap, size);
    if (count)
        memcpy(bigger, v, count * size);
    return bigger;
}

static void add_item(struct arena *a, struct why_finding *w, const struct why_item *item)
{
    w->items = grow(a, w->items, sizeof *w->items, w->items_count, &w->items_cap);
    w->items[w->items_count++] = *item;
}

struct why_finding why_begin(struct arena *a, enum why_severity severity, const char *kind,
                             struct why_item item)
{
    struct why_finding w = {.severity = severity, .kind = kind};

    add_item(a, &w, &item);
    return w;
}

void why_because(struct arena *a, struct why_finding *w, struct str text, struct str source)
{
    for (size_t i = 0; i < w->reasons_count; i++) {
        if (str_eq(w->reasons[i].text, text))
            return;
    }
    w->reasons = grow(a, w->reasons, sizeof *w->reasons, w->reasons_count, &w->reasons_cap);
    w->reasons[w->reasons_count++] = (struct why_reason){text, source};
}

void why_unblock(struct arena *a, struct why_finding *w, struct str text)
{
    for (size_t i = 0; i < w->unblocks.count; i++) {
        if (str_eq(w->unblocks.v[i], text))
            return;
    }
    why_texts_add(a, &w->unblocks, text);
}

static bool says_the_same(const struct why_finding *a, const struct why_finding *b)
{
    if (a->severity != b->severity || strcmp(a->kind, b->kind) != 0 || !str_eq(a->what, b->what) ||
        a->reasons_count != b->reasons_count || a->unblocks.count != b->unblocks.count)
        return false;
    for (size_t i = 0; i < a->reasons_count; i++) {
        if (!str_eq(a->reasons[i].text, b->reasons[i].text))
            return false;
    }
    for (size_t i = 0; i < a->unblocks.count; i++) {
        if (!str_eq(a->unblocks.v[i], b->unblocks.v[i]))
            return false;
    }
    return true;
}

void why_done(struct why_findings *all, const struct why_finding *w)
{
    /* Backwards: neighbours tend to have the same trouble. */
    for (size_t i = all->count; i > 0; i--) {
        if (!says_the_same(&all->v[i - 1], w))
            continue;
        for (size_t k = 0; k < w->items_count; k++)
            add_item(all->arena, &all->v[i - 1], &w->items[k]);
        return;
    }
    all->v = grow(all->arena, all->v, sizeof *all->v, all->count, &all->cap);
    all->v[all->count++] = *w;
}

/* Causes in front of what they cause. */
static int rank_of(const char *kind)
{
    static const char *const order[] = {"address", "ZooKeeper", "controller", "broker"};
    int rank = 0;

    while (rank < (int)ARRAY_LEN(order) && strcmp(kind, order[rank]) != 0)
        rank++;
    return rank;
}

static int worst_first(const void *a, const void *b)
{
    const struct why_finding *x = a, *y = b;

    if (x->severity != y->severity)
        return x->severity < y->severity ? -1 : 1;
    if (rank_of(x->kind) != rank_of(y->kind))
        return rank_of(x->kind) < rank_of(y->kind) ? -1 : 1;
    if (x->items_count != y->items_count)
        return x->items_count > y->items_count ? -1 : 1;
    return str_cmp(x->items[0].name, y->items[0].name);
}

/* Of several partitions none can be named in a command line. */
static void add_placeholder(struct strbuf *sb, const struct why_finding *w, struct str name)
{
    const struct why_item *only = w->items_count == 1 ? &w->items[0] : NULL;

    if (str_eqz(name, "topic"))
        strbuf_add_str(sb, only ? only->topic : STR("TOPIC"));
    else if (str_eqz(name, "replicas"))
        strbuf_add_str(sb, only ? only->replicas : STR("[...]"));
    else if (only)
        strbuf_addf(sb, "%d", only->partition);
    else
        strbuf_addz(sb, "PARTITION");
}

static bool is_placeholder(struct str name)
{
    return str_eqz(name, "topic") || str_eqz(name, "partition") || str_eqz(name, "replicas");
}

static struct str fill_in(struct arena *a, const struct why_finding *w, struct str text)
{
    CLEANUP(strbuf_deinit) struct strbuf sb = {0};

    for (size_t i = 0; i < text.len;) {
        const char *end = text.p[i] == '{' ? memchr(text.p + i, '}', text.len - i) : NULL;
        struct str name = {text.p + i + 1, end ? (size_t)(end - text.p) - i - 1 : 0};
        if (end && is_placeholder(name)) {
            add_placeholder(&sb, w, name);
            i += name.len + 2;
        } else {
            strbuf_add_char(&sb, text.p[i++]);
        }
    }
    return arena_str(a, strbuf_str(&sb));
}

void why_finish(struct why_findings *all)
{
    if (all->count)
        qsort(all->v, all->count, sizeof *all->v, worst_first);
    for (size_t i = 0; i < all->count; i++) {
        struct why_finding *w = &all->v[i];
        for (size_t k = 0; k < w->reasons_count; k++)
            w->reasons[k].text = fill_in(all->arena, w, w->reasons[k].text);
        for (size_t k = 0; k < w->unblocks.count; k++)
            w->unblocks.v[k] = fill_in(all->arena, w, w->unblocks.v[k]);
    }
}

void why_drop_notes(struct why_findings *all)
{
    size_t n = 0;

    for (size_t i = 0; i < all->count; i++) {
        if (all->v[i].severity != WHY_NOTE)
            all->v[n++] = all->v[i];
    }
    all->count = n;
}

bool why_is_wrong(const struct why_findings *all)
{
    for (size_t i = 0; i < all->count; i++) {
        if (all->v[i].severity != WHY_NOTE)
            return true;
    }
    return false;
}

struct str why_time(struct arena *a, int64_t ms)
{
    time_t seconds = (time_t)(ms / 1000);
    struct tm tm;
    char text[32] = "";

    if (gmtime_r(&seconds, &tm))
        strftime(text, sizeof text, "%Y-%m-%d %H:%M:%SZ", &tm);
    return arena_str(a, str_of(text));
}

struct str why_duration(struct arena *a, int64_t ms)
{
    int64_t s = MAX(ms, 0) / 1000;

    if (s < 60)
        return arena_printf(a, "%" PRId64 " s", s);
    if (s < 3600)
        return arena_printf(a, "%" PRId64 " min %" PRId64 " s", s / 60, s % 60);
    if (s < 48 * 3600)
        return arena_printf(a, "%" PRId64 " h %" PRId64 " min", s / 3600, s / 60 % 60);
    return arena_printf(a, "%" PRId64 " days", s / 86400);
}
