/*
 * join_print.c - findings for people, in columns, and as JSON
 */
#include "tools/join/join_finding.h"

#include <jansson.h>

enum { WHERE_WIDTH_MAX = 44, PLACES_SHOWN = 3 };

static const char *const names[] = {"blocks", "warning", "note"};

/* ---- JSON ---- */

static json_t *text_of(struct str s)
{
    return json_stringn(s.p ? s.p : "", s.len);
}

static json_t *json_texts(const struct why_texts *t)
{
    json_t *list = json_array();

    for (size_t i = 0; i < t->count; i++)
        json_array_append_new(list, text_of(t->v[i]));
    return list;
}

static json_t *json_finding(const struct join_finding *f)
{
    json_t *o = json_object();

    json_object_set_new(o, "severity", json_string(names[f->severity]));
    json_object_set_new(o, "where", json_texts(&f->where));
    json_object_set_new(o, "places", json_integer((json_int_t)f->places));
    json_object_set_new(o, "what", text_of(f->what));
    json_object_set_new(o, "do", text_of(f->todo));
    return o;
}

/* Names out of ZooKeeper may be in them. */
static struct why_texts cleaned(struct arena *a, const struct why_texts *t)
{
    struct why_texts out = {0};

    for (size_t i = 0; i < t->count; i++)
        why_texts_add(a, &out, join_clean(a, t->v[i]));
    return out;
}

static void print_json(const struct join_findings *all, const struct join_print_opts *o, FILE *out)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    const struct why_texts unasked = cleaned(&a, o->unasked);
    json_t *root = json_object(), *list = json_array();

    for (size_t i = 0; i < all->count; i++)
        json_array_append_new(list, json_finding(&all->v[i]));
    json_object_set_new(root, "in_the_way", json_boolean(all->counts[JOIN_BLOCKS] > 0));
    json_object_set_new(root, "broker", o->broker < 0 ? json_null() : json_integer(o->broker));
    for (int s = 0; s < JOIN_SEVERITIES; s++)
        json_object_set_new(root,
                            s == JOIN_BLOCKS ? "blocks"
                            : s == JOIN_NOTE ? "notes"
                                             : "warnings",
                            json_integer((json_int_t)all->counts[s]));
    json_object_set_new(root, "findings", list);
    json_object_set_new(root, "left_out", json_integer((json_int_t)all->left_out));
    json_object_set_new(root, "not_asked", json_texts(&unasked));
    json_dumpf(root, out, JSON_INDENT(2));
    fputc('\n', out);
    json_decref(root);
}

/* ---- for people ---- */

static void print_verdict(const struct join_findings *all, int32_t broker, FILE *out)
{
    char who[32] = "a broker";

    if (broker >= 0)
        snprintf(who, sizeof who, "broker %d", broker);
    if (all->counts[JOIN_BLOCKS])
        fprintf(out, "%s cannot be replaced yet: %zu finding(s) block, ", who,
                all->counts[JOIN_BLOCKS]);
    else
        fprintf(out, "nothing is in the way of replacing %s: ", who);
    fprintf(out, "%zu warning(s), %zu note(s)\n", all->counts[JOIN_WARNING],
            all->counts[JOIN_NOTE]);
}

/* "/config/topics/t +41" */
static struct str place_of(struct arena *a, const struct join_finding *f)
{
    if (f->places == 1)
        return f->where.v[0];
    return arena_printf(a, "%.*s +%zu", STR_ARG(f->where.v[0]), f->places - 1);
}

static int width_of(const struct join_findings *all, struct arena *a)
{
    size_t width = strlen("WHERE");

    for (size_t i = 0; i < all->count; i++)
        width = MAX(width, place_of(a, &all->v[i]).len);
    return (int)MIN(width, (size_t)WHERE_WIDTH_MAX);
}

static void print_places(const struct join_finding *f, bool lists_all, int indent, FILE *out)
{
    size_t shown = lists_all ? f->where.count : MIN(f->where.count, (size_t)PLACES_SHOWN);

    for (size_t i = 0; f->places > 1 && i < shown; i++)
        fprintf(out, "%*s   %.*s\n", indent, "", STR_ARG(f->where.v[i]));
    if (f->places > 1 && f->places > shown)
        fprintf(out, "%*s   and %zu more%s\n", indent, "", f->places - shown,
                lists_all ? "" : " (--all)");
}

static void print_finding(const struct join_finding *f, const struct join_print_opts *o, int width,
                          FILE *out)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct str where = place_of(&a, f);
    int indent = 10 + width + 2;

    if (where.len <= (size_t)width)
        fprintf(out, "%-8s  %-*.*s  ", names[f->severity], width, STR_ARG(where));
    else
        fprintf(out, "%-8s  %.*s\n%*s", names[f->severity], STR_ARG(where), indent, "");
    fprintf(out, "%.*s\n", STR_ARG(f->what));
    print_places(f, o->lists_all, indent, out);
    if (f->todo.len)
        fprintf(out, "%*s-> %.*s\n", indent, "", STR_ARG(f->todo));
}

static void print_text(const struct join_findings *all, const struct join_print_opts *o, FILE *out)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    const struct why_texts unasked = cleaned(&a, o->unasked);
    int width = width_of(all, &a);

    print_verdict(all, o->broker, out);
    if (all->count)
        fprintf(out, "\n%-8s  %-*s  WHAT, AND WHAT TO DO\n", "SEVERITY", width, "WHERE");
    for (size_t i = 0; i < all->count; i++)
        print_finding(&all->v[i], o, width, out);
    if (all->left_out)
        fprintf(out, "and %zu finding(s) more\n", all->left_out);
    if (unasked.count)
        fputc('\n', out);
    for (size_t i = 0; i < unasked.count; i++)
        fprintf(out, "not asked  %.*s\n", STR_ARG(unasked.v[i]));
}

void join_print(const struct join_findings *all, const struct join_print_opts *o, FILE *out)
{
    if (o->json)
        print_json(all, o, out);
    else
        print_text(all, o, out);
}
