/*
 * why_print.c - findings for people, and as JSON
 */
#include "tools/why/why.h"

#include <jansson.h>

enum { ITEMS_SHOWN = 5 };

static const char *const labels[] = {[WHY_DOWN] = "DOWN",
                                     [WHY_BLOCKED] = "BLOCKED",
                                     [WHY_DEGRADED] = "DEGRADED",
                                     [WHY_NOTE] = "NOTE"};

static const char *const severities[] = {[WHY_DOWN] = "down",
                                         [WHY_BLOCKED] = "blocked",
                                         [WHY_DEGRADED] = "degraded",
                                         [WHY_NOTE] = "note"};

/* ---- JSON ---- */

static json_t *text_of(struct str s)
{
    return s.p ? json_stringn(s.p, s.len) : json_null();
}

static json_t *json_items(const struct why_finding *w)
{
    json_t *list = json_array();

    for (size_t i = 0; i < w->items_count; i++) {
        json_t *o = json_object();
        json_object_set_new(o, "name", text_of(w->items[i].name));
        if (w->items[i].detail.len)
            json_object_set_new(o, "detail", text_of(w->items[i].detail));
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *json_reasons(const struct why_finding *w)
{
    json_t *list = json_array();

    for (size_t i = 0; i < w->reasons_count; i++) {
        json_t *o = json_object();
        json_object_set_new(o, "text", text_of(w->reasons[i].text));
        json_object_set_new(o, "source", text_of(w->reasons[i].source));
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *json_texts(const struct why_texts *t)
{
    json_t *list = json_array();

    for (size_t i = 0; i < t->count; i++)
        json_array_append_new(list, text_of(t->v[i]));
    return list;
}

static void print_json(const struct why_facts *f, const struct why_findings *all,
                       const struct why_print_opts *o, FILE *out)
{
    json_t *root = json_object(), *list = json_array();

    for (size_t i = 0; i < all->count; i++) {
        const struct why_finding *w = &all->v[i];
        json_t *v = json_object();
        json_object_set_new(v, "severity", json_string(severities[w->severity]));
        json_object_set_new(v, "kind", json_string(w->kind));
        json_object_set_new(v, "what", text_of(w->what));
        json_object_set_new(v, "items", json_items(w));
        json_object_set_new(v, "because", json_reasons(w));
        json_object_set_new(v, "unblock", json_texts(&w->unblocks));
        json_array_append_new(list, v);
    }
    if (o->verdict)
        json_object_set_new(root, "verdict", json_string(o->verdict));
    json_object_set_new(root, "well", json_boolean(!why_is_wrong(all)));
    json_object_set_new(root, "findings", list);
    json_object_set_new(root, "not_asked", json_texts(&f->unasked));
    json_dumpf(root, out, JSON_INDENT(2));
    fputc('\n', out);
    json_decref(root);
}

/* ---- for people ---- */

static void print_head(const struct why_finding *w, FILE *out)
{
    const struct why_item *first = &w->items[0];

    fprintf(out, "%-9s ", labels[w->severity]);
    if (w->items_count == 1)
        fprintf(out, "%s %.*s: ", w->kind, STR_ARG(first->name));
    else
        fprintf(out, "%zu %ss: ", w->items_count, w->kind);
    fprintf(out, "%.*s", STR_ARG(w->what));
    if (w->items_count == 1 && first->detail.len)
        fprintf(out, " (%.*s)", STR_ARG(first->detail));
    fputc('\n', out);
}

static void print_items(const struct why_finding *w, bool lists_all, FILE *out)
{
    size_t shown = lists_all ? w->items_count : MIN(w->items_count, (size_t)ITEMS_SHOWN);

    for (size_t i = 0; w->items_count > 1 && i < shown; i++) {
        fprintf(out, "            %.*s", STR_ARG(w->items[i].name));
        if (w->items[i].detail.len)
            fprintf(out, "  %.*s", STR_ARG(w->items[i].detail));
        fputc('\n', out);
    }
    if (w->items_count > shown && w->items_count > 1)
        fprintf(out, "            and %zu more (--all)\n", w->items_count - shown);
}

static void print_finding(const struct why_finding *w, bool lists_all, FILE *out)
{
    print_head(w, out);
    print_items(w, lists_all, out);
    for (size_t i = 0; i < w->reasons_count; i++)
        fprintf(out, "  because   %.*s  [%.*s]\n", STR_ARG(w->reasons[i].text),
                STR_ARG(w->reasons[i].source));
    for (size_t i = 0; i < w->unblocks.count; i++)
        fprintf(out, "  unblock   %.*s\n", STR_ARG(w->unblocks.v[i]));
}

static void print_text(const struct why_facts *f, const struct why_findings *all,
                       const struct why_print_opts *o, FILE *out)
{
    if (o->verdict)
        fprintf(out, "%s\n", o->verdict);
    else if (all->count == 0)
        fprintf(out, "%s\n", o->well);
    for (size_t i = 0; i < all->count; i++) {
        if (i || o->verdict)
            fputc('\n', out);
        print_finding(&all->v[i], o->lists_all, out);
    }
    if (f->unasked.count && (all->count || o->verdict))
        fputc('\n', out);
    for (size_t i = 0; i < f->unasked.count; i++)
        fprintf(out, "not asked   %.*s\n", STR_ARG(f->unasked.v[i]));
}

void why_print(const struct why_facts *f, const struct why_findings *all,
               const struct why_print_opts *o, FILE *out)
{
    if (o->json)
        print_json(f, all, o, out);
    else
        print_text(f, all, o, out);
}
