#include "tools/join/join_finding.h"

#include "common/base/utf8.h"

enum { LOOKED_BACK = 64 };

static bool is_command(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xfffd;
}

struct str join_clean(struct arena *a, struct str text)
{
    CLEANUP(strbuf_deinit) struct strbuf sb = {0};
    size_t at = 0;

    while (at < text.len && sb.len < JOIN_TEXT_MAX) {
        size_t from = at;
        if (!is_command(utf8_next(text, &at))) {
            strbuf_add(&sb, text.p + from, at - from);
            continue;
        }
        for (; from < at; from++)
            strbuf_addf(&sb, "\\x%02x", (unsigned char)text.p[from]);
    }
    if (at < text.len)
        strbuf_addz(&sb, "...");
    return arena_str(a, strbuf_str(&sb));
}

static void add_place(struct join_findings *all, struct join_finding *f, struct str where)
{
    f->places++;
    if (f->where.count < JOIN_PLACES_MAX)
        why_texts_add(all->arena, &f->where, where);
}

static struct join_finding *find(struct join_findings *all, enum join_severity severity,
                                 struct str what, struct str todo)
{
    for (size_t i = 0; i < MIN(all->count, (size_t)LOOKED_BACK); i++) {
        struct join_finding *f = &all->v[all->count - 1 - i];
        if (f->severity == severity && str_eq(f->what, what) && str_eq(f->todo, todo))
            return f;
    }
    return NULL;
}

static void make_room(struct join_findings *all)
{
    if (all->count < all->cap)
        return;
    all->cap = all->cap * 2 + 16;
    struct join_finding *v = arena_new_array(all->arena, struct join_finding, all->cap);
    if (all->count)
        memcpy(v, all->v, all->count * sizeof *v);
    all->v = v;
}

void join_found(struct join_findings *all, enum join_severity severity, struct str where,
                struct str what, struct str todo)
{
    CLEANUP(arena_deinit) struct arena scratch = {0};
    struct str clean_what = join_clean(&scratch, what), clean_todo = join_clean(&scratch, todo);
    struct join_finding *known = find(all, severity, clean_what, clean_todo);

    if (!known && all->count == JOIN_FINDINGS_MAX) {
        all->counts[severity]++;
        all->left_out++;
        return;
    }
    if (!known) {
        make_room(all);
        known = &all->v[all->count++];
        *known = (struct join_finding){.severity = severity,
                                       .what = arena_str(all->arena, clean_what),
                                       .todo = arena_str(all->arena, clean_todo)};
        all->counts[severity]++;
    }
    add_place(all, known, join_clean(all->arena, where));
}

void join_sort(struct join_findings *all)
{
    struct join_finding *v = arena_new_array(all->arena, struct join_finding, all->count + 1);
    size_t n = 0;

    for (int s = 0; s < JOIN_SEVERITIES; s++) {
        for (size_t i = 0; i < all->count; i++) {
            if (all->v[i].severity == (enum join_severity)s)
                v[n++] = all->v[i];
        }
    }
    all->v = v;
    all->cap = all->count;
}
