#include "tools/base/opts.h"

#include "common/base/mem.h"
#include "tools/base/nearest.h"

#include <errno.h>

void opts_deinit(struct opts *o)
{
    free(o->v);
    *o = (struct opts){0};
}

static bool is_known(const struct opts *o, const struct opt_spec *spec)
{
    return !o->inv->as_kafka || !(spec->flags & OPT_OURS);
}

static int find(const struct opts *o, struct str name)
{
    for (int i = 0; i < o->def->count; i++) {
        const struct opt_spec *spec = &o->def->specs[i];
        if (!is_known(o, spec))
            continue;
        if (str_eqz(name, spec->name) ||
            (!o->inv->as_kafka && spec->letter && name.len == 1 && name.p[0] == spec->letter))
            return i;
    }
    return -1;
}

void opts_add(struct opts *o, int id, const char *value)
{
    xgrow(o->v, o->cap, o->count + 1);
    o->v[o->count++] = (struct opt_value){id, value};
}

const char *opts_nearest(const struct opts_def *def, struct str name)
{
    struct nearest near = nearest_to(name);

    for (int i = 0; i < def->count; i++) {
        if (!(def->specs[i].flags & OPT_KAFKAS))
            nearest_try(&near, def->specs[i].name);
    }
    return near.best;
}

static int unknown(const struct opts *o, struct str name, struct strbuf *why)
{
    const char *near = o->inv->as_kafka ? NULL : opts_nearest(o->def, name);

    strbuf_addf(why, "%.*s is not a recognized option", STR_ARG(name));
    if (near)
        strbuf_addf(why, "; did you mean --%s?", near);
    return -EINVAL;
}

/* "-K:" of our own tools: a letter and its value in one word. */
static bool take_letter(struct opts *o, const char *word)
{
    if (o->inv->as_kafka || word[1] == '-' || word[2] == '\0')
        return false;
    int id = find(o, (struct str){word + 1, 1});
    if (id < 0 || !o->def->specs[id].arg)
        return false;
    opts_add(o, id, word + 2);
    return true;
}

static bool looks_like_flag(const char *word)
{
    return word[0] == '-' && word[1] != '\0';
}

/* One flag at argv[*at]; moves *at to the last word that it takes. */
static int take_flag(struct opts *o, int *at, struct strbuf *why)
{
    const char *word = o->inv->argv[*at];
    struct str name = str_of(word + (word[1] == '-' ? 2 : 1));
    const char *eq = memchr(name.p, '=', name.len);

    if (eq)
        name.len = (size_t)(eq - name.p);
    int id = find(o, name);
    if (id < 0)
        return take_letter(o, word) ? 0 : unknown(o, name, why);
    if (!o->def->specs[id].arg) {
        opts_add(o, id, NULL);
        return 0;
    }
    bool is_last = *at + 1 == o->inv->argc;
    if (!eq && (o->def->specs[id].flags & OPT_OPTIONAL) &&
        (is_last || looks_like_flag(o->inv->argv[*at + 1]))) {
        opts_add(o, id, NULL);
        return 0;
    }
    if (!eq && is_last) {
        strbuf_addf(why, "Option %s requires an argument", o->def->specs[id].name);
        return -EINVAL;
    }
    opts_add(o, id, eq ? eq + 1 : o->inv->argv[++*at]);
    return 0;
}

int opts_parse(struct opts *o, const struct opts_def *def, const struct invocation *inv,
               struct strbuf *why)
{
    bool ended = false;

    *o = (struct opts){.def = def, .inv = inv};
    if (inv->wanted) {
        *inv->wanted = (struct tool_flags){.specs = def->specs, .count = def->count};
        strbuf_addz(why, "only the flags are wanted");
        return -ECANCELED;
    }
    for (int i = 0; i < inv->argc; i++) {
        const char *word = inv->argv[i];
        if (ended || !looks_like_flag(word)) {
            opts_add(o, -1, word);
        } else if (strcmp(word, "--") == 0) {
            ended = true;
        } else {
            int r = take_flag(o, &i, why);
            if (r < 0)
                return r;
        }
    }
    return 0;
}

int opts_count(const struct opts *o, int id)
{
    int n = 0;

    for (int i = 0; i < o->count; i++)
        n += o->v[i].id == id;
    return n;
}

bool opts_has(const struct opts *o, int id)
{
    return opts_count(o, id) > 0;
}

const char *opts_nth(const struct opts *o, int id, int n)
{
    for (int i = 0; i < o->count; i++) {
        if (o->v[i].id == id && n-- == 0)
            return o->v[i].value;
    }
    return NULL;
}

int opts_text(const struct opts *o, int id, const char **ret, struct strbuf *why)
{
    if (opts_count(o, id) > 1) {
        strbuf_addf(why, "Found multiple arguments for option %s, but you asked for only one",
                    o->def->specs[id].name);
        return -EINVAL;
    }
    *ret = opts_nth(o, id, 0);
    return 0;
}

int opts_i64(const struct opts *o, int id, int64_t *ret, struct strbuf *why)
{
    const char *text;
    int r = opts_text(o, id, &text, why);

    if (r < 0 || !text)
        return r;
    if (str_to_i64(str_of(text), INT64_MIN, INT64_MAX, ret) < 0) {
        strbuf_addf(why, "Cannot parse argument '%s' of option %s", text, o->def->specs[id].name);
        return -EINVAL;
    }
    return 0;
}

int opts_i32(const struct opts *o, int id, int32_t *ret, struct strbuf *why)
{
    int64_t wide = *ret;
    int r = opts_i64(o, id, &wide, why);

    if (r < 0)
        return r;
    if (wide < INT32_MIN || wide > INT32_MAX) {
        strbuf_addf(why, "Cannot parse argument '%s' of option %s", opts_nth(o, id, 0),
                    o->def->specs[id].name);
        return -EINVAL;
    }
    *ret = (int32_t)wide;
    return 0;
}

int opts_blame(const struct opts *o, int id, int r, struct strbuf *why)
{
    const char *value = opts_nth(o, id, 0);

    if (r != 0 && !o->inv->as_kafka && why->len && value)
        strbuf_addf(why, " (--%s %s)", o->def->specs[id].name, value);
    return r;
}

int opts_json(const struct opts *o, int id, bool *ret, struct strbuf *why)
{
    const char *text;
    int r = opts_text(o, id, &text, why);

    *ret = r == 0 && text && strcmp(text, "json") == 0;
    if (r < 0 || !text || *ret || strcmp(text, "table") == 0)
        return r;
    strbuf_addf(why, "--output %s: table or json is wanted", text);
    return -EINVAL;
}

int opts_require(const struct opts *o, int id, struct strbuf *why)
{
    if (opts_has(o, id))
        return 0;
    strbuf_addf(why, "Missing required argument \"[%s]\"", o->def->specs[id].name);
    return -EINVAL;
}

int opts_exclude(const struct opts *o, int id, const int *others, struct strbuf *why)
{
    if (!opts_has(o, id))
        return 0;
    for (; *others >= 0; others++) {
        if (opts_has(o, *others)) {
            strbuf_addf(why, "Option \"[%s]\" can't be used with option \"[%s]\"",
                        o->def->specs[id].name, o->def->specs[*others].name);
            return -EINVAL;
        }
    }
    return 0;
}
