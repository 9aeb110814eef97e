#include "tools/base/argparse.h"

#include "common/base/mem.h"

#include <errno.h>

struct parser {
    struct opts *o;
    const struct argparse_def *def;
    struct strbuf *why;
    int group; /* the flag of the group that was met; -1: none yet */
};

static const struct opt_spec *spec_of(const struct parser *p, int id)
{
    return &p->def->opts->specs[id];
}

static void add(struct opts *o, int id, const char *value)
{
    xgrow(o->v, o->cap, o->count + 1);
    o->v[o->count++] = (struct opt_value){id, value};
}

static bool is_number(const char *word)
{
    double v;
    return str_to_double(str_of(word), &v) == 0;
}

static bool is_flag(const char *word)
{
    return word[0] == '-' && word[1] != '\0' && !is_number(word);
}

static bool is_known(const struct parser *p, int id)
{
    return !p->o->inv->as_kafka || !(spec_of(p, id)->flags & OPT_OURS);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Those that fit, in order. */
static int ambiguous(const struct parser *p, struct str name, const char **fitting, size_t count)
{
    strbuf_addf(p->why, "ambiguous option: --%.*s could match ", STR_ARG(name));
    qsort(fitting, count, sizeof *fitting, by_text);
    for (size_t i = 0; i < count; i++)
        strbuf_addf(p->why, "%s--%s", i ? ", " : "", fitting[i]);
    return -2;
}

/* The flag of this name, or the only one that begins so; -1 where there is none. */
static int find(const struct parser *p, struct str name)
{
    CLEANUP(free_p) const char **fitting = xnew_array(const char *, (size_t)p->def->opts->count);
    size_t count = 0;
    int found = -1;

    for (int i = 0; i < p->def->opts->count; i++) {
        struct str known = str_of(spec_of(p, i)->name);
        if (!is_known(p, i))
            continue;
        if (str_eq(name, known))
            return i;
        if (str_starts_with(known, name)) {
            fitting[count++] = known.p;
            found = i;
        }
    }
    return count > 1 ? ambiguous(p, name, fitting, count) : found;
}

/* The rest of the line is what nobody wants. */
static int unwanted(const struct parser *p, int at)
{
    const struct invocation *inv = p->o->inv;

    strbuf_addz(p->why, "unrecognized arguments: '");
    for (int i = at; i < inv->argc; i++)
        strbuf_addf(p->why, "%s%s", i > at ? " " : "", inv->argv[i]);
    strbuf_addz(p->why, "'");
    return -EINVAL;
}

static int unknown(const struct parser *p, const char *word)
{
    strbuf_addf(p->why, "unrecognized arguments: '%s'", word);
    return -EINVAL;
}

static bool is_choice(const char *choices, const char *value)
{
    struct str rest = str_of(choices), one;

    while (str_split(&rest, ',', &one)) {
        if (str_eqz(one, value))
            return true;
    }
    return false;
}

static int check_value(const struct parser *p, int id, const char *value)
{
    static const char *const names[] = {"String", "Integer", "Long", "Double"};
    const struct arg_rule *rule = &p->def->rules[id];
    struct str text = str_of(value);
    int64_t n;
    double v;
    bool good = rule->type == ARG_INT    ? str_to_i64(text, INT32_MIN, INT32_MAX, &n) == 0
                : rule->type == ARG_LONG ? str_to_i64(text, INT64_MIN, INT64_MAX, &n) == 0
                                         : rule->type == ARG_TEXT || str_to_double(text, &v) == 0;

    if (!good) {
        strbuf_addf(p->why,
                    "argument --%s: could not convert '%s' to %s (For input string: \"%s\")",
                    spec_of(p, id)->name, value, names[rule->type], value);
        return -EINVAL;
    }
    if (rule->choices && !is_choice(rule->choices, value)) {
        strbuf_addf(p->why, "argument --%s: invalid choice: '%s' (choose from {%s})",
                    spec_of(p, id)->name, value, rule->choices);
        return -EINVAL;
    }
    return 0;
}

/* Of the flags of the group there is one. */
static int check_group(struct parser *p, int id)
{
    if (!p->def->rules[id].one_of)
        return 0;
    if (p->group >= 0 && p->group != id) {
        strbuf_addf(p->why, "argument --%s: not allowed with argument --%s", spec_of(p, id)->name,
                    spec_of(p, p->group)->name);
        return -EINVAL;
    }
    p->group = id;
    return 0;
}

static int take_switch(const struct parser *p, int id, const char *value)
{
    if (value) {
        strbuf_addf(p->why, "argument --%s: ignore implicit argument '%s'", spec_of(p, id)->name,
                    value);
        return -EINVAL;
    }
    add(p->o, id, NULL);
    return 0;
}

static int take_values(const struct parser *p, int id, const char *value, int *at)
{
    const struct invocation *inv = p->o->inv;
    const struct arg_rule *rule = &p->def->rules[id];
    int taken = 0, r = 0;

    if (value) {
        r = check_value(p, id, value);
        add(p->o, id, value);
        return r;
    }
    while (r == 0 && (rule->many || taken == 0) && *at + 1 < inv->argc &&
           !is_flag(inv->argv[*at + 1])) {
        const char *word = inv->argv[++*at];
        r = check_value(p, id, word);
        add(p->o, id, word);
        taken++;
    }
    if (r == 0 && taken == 0) {
        strbuf_addf(p->why, "argument --%s: expected %s", spec_of(p, id)->name,
                    rule->many ? "1 argument(s)" : "one argument");
        return -EINVAL;
    }
    return r;
}

static int take_flag(struct parser *p, int *at)
{
    const char *word = p->o->inv->argv[*at];
    struct str name = str_of(word + 1 + (word[1] == '-'));
    const char *eq = memchr(name.p, '=', name.len), *value = eq ? eq + 1 : NULL;

    if (word[1] != '-')
        return unknown(p, word);
    if (eq)
        name.len = (size_t)(eq - name.p);
    int id = find(p, name);
    if (id < 0)
        return id == -2 ? -EINVAL : unknown(p, word);
    int r = check_group(p, id);
    if (r < 0)
        return r;
    return p->def->rules[id].type == ARG_SWITCH ? take_switch(p, id, value)
                                                : take_values(p, id, value, at);
}

static int check_missing(const struct parser *p)
{
    bool grouped = false;

    for (int i = p->def->opts->count - 1; i >= 0; i--) {
        if (p->def->rules[i].required && !opts_has(p->o, i)) {
            strbuf_addf(p->why, "argument --%s is required", spec_of(p, i)->name);
            return -EINVAL;
        }
        grouped |= p->def->rules[i].one_of;
    }
    if (!grouped || p->group >= 0)
        return 0;
    strbuf_addz(p->why, "one of the arguments");
    for (int i = 0; i < p->def->opts->count; i++) {
        if (p->def->rules[i].one_of)
            strbuf_addf(p->why, " --%s", spec_of(p, i)->name);
    }
    strbuf_addz(p->why, " is required");
    return -EINVAL;
}

int argparse(struct opts *o, const struct argparse_def *def, const struct invocation *inv,
             struct strbuf *why)
{
    struct parser p = {o, def, why, -1};
    int r = 0;

    *o = (struct opts){.def = def->opts, .inv = inv};
    for (int i = 0; r == 0 && i < inv->argc; i++)
        r = is_flag(inv->argv[i]) ? take_flag(&p, &i) : unwanted(&p, i);
    return r < 0 ? r : check_missing(&p);
}

const char *argparse_text(const struct opts *o, int id)
{
    int n = opts_count(o, id);
    return n ? opts_nth(o, id, n - 1) : NULL;
}

int64_t argparse_int(const struct opts *o, int id, int64_t fallback)
{
    const char *text = argparse_text(o, id);

    if (text && str_to_i64(str_of(text), INT64_MIN, INT64_MAX, &fallback) < 0)
        return fallback;
    return fallback;
}

/* ---- help ---- */

enum { WIDTH = 75, NAME_WIDTH = 25 };

static void add_word(struct strbuf *line, int indent, const char *word, FILE *out)
{
    if (line->len + 1 + strlen(word) > WIDTH && line->len > (size_t)indent) {
        fprintf(out, "%s\n", line->s);
        strbuf_reset(line);
        strbuf_addf(line, "%*s", indent - 1, "");
    }
    strbuf_addf(line, "%s%s", line->len ? " " : "", word);
}

static void print_usage(const struct argparse_def *def, const struct invocation *inv, FILE *out)
{
    CLEANUP(strbuf_deinit) struct strbuf line = {0};
    const char *program = inv->as_kafka ? def->program : inv->program;
    int indent = (int)strlen("usage: ") + (int)strlen(program) + 1;

    strbuf_addf(&line, "usage: %s [-h]", program);
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < def->opts->count; i++) {
            const struct opt_spec *spec = &def->opts->specs[i];
            const struct arg_rule *rule = &def->rules[i];
            if (rule->one_of != (pass == 1) || (inv->as_kafka && spec->flags & OPT_OURS))
                continue;
            CLEANUP(free_p)
            char *word = xasprintf("%s--%s%s%s%s", rule->required ? "" : "[", spec->name,
                                   spec->arg ? " " : "", spec->arg ? spec->arg : "",
                                   rule->required ? "" : "]");
            add_word(&line, indent, word, out);
        }
    }
    fprintf(out, "%s\n", line.s);
}

static void print_help(const struct argparse_def *def, const struct invocation *inv, FILE *out)
{
    print_usage(def, inv, out);
    fprintf(out, "\n%s\n\noptional arguments:\n", def->opts->about);
    fprintf(out, "  %-*s%s\n", NAME_WIDTH - 2, "-h, --help", "show this help message and exit");
    for (int i = 0; i < def->opts->count; i++) {
        const struct opt_spec *spec = &def->opts->specs[i];
        CLEANUP(free_p)
        char *left =
            xasprintf("--%s%s%s", spec->name, spec->arg ? " " : "", spec->arg ? spec->arg : "");
        if (inv->as_kafka && spec->flags & OPT_OURS)
            continue;
        if (strlen(left) < NAME_WIDTH - 2)
            fprintf(out, "  %-*s%s\n", NAME_WIDTH - 2, left, spec->help);
        else
            fprintf(out, "  %s\n%*s%s\n", left, NAME_WIDTH, "", spec->help);
    }
}

bool argparse_helped(const struct argparse_def *def, const struct invocation *inv, int *ret_code)
{
    bool asked = false;

    if (inv->wanted) {
        *inv->wanted = (struct tool_flags){def->opts->specs, def->opts->count, NULL};
        *ret_code = 0;
        return true;
    }
    for (int i = 0; i < inv->argc; i++)
        asked |= strcmp(inv->argv[i], "-h") == 0 || strcmp(inv->argv[i], "--help") == 0;
    if (!asked && inv->argc > 0)
        return false;
    print_help(def, inv, stdout);
    /* as Kafka's tools end: well where nothing was asked, badly where help was */
    *ret_code = inv->as_kafka && asked ? TOOL_FAILED : tool_done(inv);
    return true;
}

int argparse_fail(const struct argparse_def *def, const struct invocation *inv, const char *message)
{
    if (!inv->as_kafka)
        return tool_misused(inv, "%s", message);
    fflush(stdout);
    print_usage(def, inv, stderr);
    fprintf(stderr, "%s: error: %s\n", def->program, message);
    return TOOL_FAILED;
}
