/*
 * args_help.c - usage, help and errors as argparse4j prints them: 75 columns, both margins straight
 */
#include "common/base/mem.h"
#include "tools/base/args.h"
#include "tools/base/nearest.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>

enum { WIDTH = 75, HELP_COLUMN = 25 };

/* ---- text in lines ---- */

static size_t count_gaps(struct str line)
{
    size_t n = 0;

    for (size_t i = 0; i < line.len; i++)
        n += line.p[i] == ' ' && (i == 0 || line.p[i - 1] != ' ');
    return n;
}

/* The line with blanks put in, so that it is as wide; the gaps in its middle get the odd ones. */
static void print_justified(FILE *out, struct str line, size_t width)
{
    line = str_trim(line);
    size_t gaps = count_gaps(line), room = width > line.len ? width - line.len : 0, gap = 0;
    size_t each = gaps ? room / gaps : 0, odd = gaps ? room % gaps : 0;
    size_t first = (gaps - odd + 1) / 2;

    for (size_t i = 0; i < line.len; i++) {
        if (line.p[i] == ' ' && line.p[i - 1] != ' ') {
            size_t more = each + (gap >= first && gap < first + odd);
            fprintf(out, "%*s", (int)more, "");
            gap++;
        }
        fputc(line.p[i], out);
    }
    fputc('\n', out);
}

/* Where the text may be broken: behind blanks, dashes, and a stop inside a word, and in front of a
 * bracket. */
static size_t next_break(struct str text, size_t at)
{
    size_t start = at;

    while (at < text.len && text.p[at] != ' ' && text.p[at] != '-' &&
           (text.p[at] != '(' || at == start) &&
           !(text.p[at] == '.' && at + 1 < text.len && isalpha((unsigned char)text.p[at + 1])))
        at++;
    while (at < text.len && (text.p[at] == '-' || text.p[at] == '.'))
        at++;
    while (at < text.len && text.p[at] == ' ')
        at++;
    return at;
}

/* From the given column on; all lines but the first behind indent blanks. A text that ends its line
 * itself has that end counted. */
static void print_wrapped(FILE *out, struct str text, size_t column, size_t indent)
{
    size_t start = 0, at = 0;

    while (at < text.len) {
        size_t end = next_break(text, at);
        if (column + (end - at) > WIDTH && at > start) {
            print_justified(out, (struct str){text.p + start, at - start}, WIDTH - indent);
            fprintf(out, "%*s", (int)indent, "");
            start = at;
            column = indent;
        }
        column += end - at;
        at = end;
    }
    fprintf(out, "%.*s", (int)(text.len - start), text.p + start);
    if (text.len == 0 || text.p[text.len - 1] != '\n')
        fputc('\n', out);
}

/* ---- flags ---- */

void args_flag_name(const struct opt_spec *spec, struct strbuf *ret)
{
    strbuf_addf(ret, "--%s", spec->name);
    if (spec->letter && (spec->flags & OPT_LETTER))
        strbuf_addf(ret, "/-%c", spec->letter);
}

/* "CONFIG", from the name where it is not given. */
static void add_metavar(const struct opt_spec *spec, struct strbuf *ret)
{
    if (!spec->arg)
        return;
    strbuf_add_char(ret, ' ');
    if (spec->flags & OPT_METAVAR)
        strbuf_addz(ret, spec->arg);
    for (const char *p = spec->name; *p && !(spec->flags & OPT_METAVAR); p++)
        strbuf_add_char(ret, *p == '-' ? '_' : (char)toupper((unsigned char)*p));
    if (spec->flags & OPT_MANY)
        strbuf_addf(ret, " [%s ...]", spec->arg);
}

static void add_flag(const struct opt_spec *spec, struct strbuf *ret)
{
    strbuf_addf(ret, "--%s", spec->name);
    add_metavar(spec, ret);
}

/* A usage line that is being filled. */
struct line {
    FILE *out;
    size_t column, indent;
};

static void put(struct line *l, const char *word)
{
    size_t len = strlen(word);

    if (l->column + 1 + len > WIDTH) {
        fprintf(l->out, "\n%*s%s", (int)l->indent, "", word);
        l->column = l->indent + len;
    } else {
        l->column += (size_t)fprintf(l->out, l->column > l->indent ? " %s" : "%s", word);
    }
}

static bool is_shown(const struct opt_spec *spec, uint16_t flags)
{
    return !(spec->flags & OPT_OURS) && (spec->flags & (OPT_REQUIRED | OPT_ONE_OF)) == flags;
}

static void put_flags(struct line *l, const struct opts_def *def)
{
    for (int i = 0; i < def->count; i++) {
        const struct opt_spec *spec = &def->specs[i];
        CLEANUP(strbuf_deinit) struct strbuf sb = {0};
        if (!is_shown(spec, 0) && !is_shown(spec, OPT_REQUIRED))
            continue;
        if (!(spec->flags & OPT_REQUIRED))
            strbuf_add_char(&sb, '[');
        add_flag(spec, &sb);
        if (!(spec->flags & OPT_REQUIRED))
            strbuf_add_char(&sb, ']');
        put(l, sb.s);
    }
}

/* "(--a A", "|", "--b B)" */
static void put_group(struct line *l, const struct opts_def *def)
{
    int last = -1, first = -1;

    for (int i = 0; i < def->count; i++) {
        if (!is_shown(&def->specs[i], OPT_ONE_OF))
            continue;
        first = first < 0 ? i : first;
        last = i;
    }
    for (int i = first; i >= 0 && i <= last; i++) {
        CLEANUP(strbuf_deinit) struct strbuf sb = {0};
        if (!is_shown(&def->specs[i], OPT_ONE_OF))
            continue;
        if (i == first && last > first)
            strbuf_add_char(&sb, '(');
        add_flag(&def->specs[i], &sb);
        if (i == last && last > first)
            strbuf_add_char(&sb, ')');
        put(l, sb.s);
        if (i < last)
            put(l, "|");
    }
}

static void add_choices(const struct args_def *def, struct strbuf *ret)
{
    for (int i = 0; i < def->count; i++)
        strbuf_addf(ret, "%s%s", i ? "," : "{", def->commands[i].name);
    strbuf_add_char(ret, '}');
}

void args_usage(const struct args_def *def, const struct args_command *command, FILE *out)
{
    CLEANUP(strbuf_deinit) struct strbuf choices = {0};
    size_t indent = (size_t)fprintf(out, "usage: %s ", def->name);
    struct line l = {out, indent, indent};

    if (command) {
        put_group(&l, &def->def);
        put(&l, command->name);
        put(&l, "[-h]");
        put_flags(&l, &command->def);
        put_group(&l, &command->def);
    } else {
        add_choices(def, &choices);
        put(&l, "[-h]");
        put_flags(&l, &def->def);
        put_group(&l, &def->def);
        if (def->count) {
            put(&l, choices.s);
            put(&l, "...");
        }
    }
    fputc('\n', out);
}

void args_error(const struct args_def *def, const char *message, FILE *out)
{
    CLEANUP(free_p) char *text = xasprintf("%s: error: %s\n", def->name, message);

    print_wrapped(out, str_of(text), 0, 0);
}

/* ---- help ---- */

/* The name in its column, the help in the other. */
static void print_item(FILE *out, const char *name, int indent, const char *help)
{
    int n = fprintf(out, "%*s%s", indent, "", name);

    if (help[0] && n > HELP_COLUMN - 2)
        fprintf(out, "\n%*s", HELP_COLUMN, "");
    else if (help[0])
        fprintf(out, "%*s", HELP_COLUMN - n, "");
    print_wrapped(out, str_of(help), HELP_COLUMN, HELP_COLUMN);
}

static void print_flags(FILE *out, const struct opts_def *def)
{
    for (int i = 0; i < def->count; i++) {
        const struct opt_spec *spec = &def->specs[i];
        CLEANUP(strbuf_deinit) struct strbuf sb = {0};
        if (spec->flags & OPT_OURS)
            continue;
        add_flag(spec, &sb);
        if (spec->letter && (spec->flags & OPT_LETTER)) {
            strbuf_addf(&sb, ", -%c", spec->letter);
            add_metavar(spec, &sb);
        }
        print_item(out, sb.s, 2, spec->help);
    }
}

static void print_commands(FILE *out, const struct args_def *def)
{
    CLEANUP(strbuf_deinit) struct strbuf choices = {0};

    add_choices(def, &choices);
    fprintf(out, "\npositional arguments:\n  %s\n", choices.s);
    for (int i = 0; i < def->count; i++)
        print_item(out, def->commands[i].name, 4, def->commands[i].def.about);
}

void args_help(const struct args_def *def, const struct args_command *command, FILE *out)
{
    args_usage(def, command, out);
    if (!command) {
        fputc('\n', out);
        print_wrapped(out, str_of(def->def.about), 0, 0);
    }
    if (!command && def->count)
        print_commands(out, def);
    fputs("\noptional arguments:\n", out);
    print_item(out, "-h, --help", 2, "show this help message and exit");
    print_flags(out, command ? &command->def : &def->def);
}

/* ---- what is spelled alike ---- */

struct near {
    struct str word;
    int least;
    const char *names[32]; /* those at the least distance */
    size_t count;
};

static void try_name(struct near *n, const char *name)
{
    static const struct edit_costs costs = {
        .change = 2, .insert = 1, .leave_out = 4, .swap = 0, .leave_first = 1};
    struct str known = str_of(name);
    int d = str_starts_with(known, n->word) ? 0 : edit_distance(n->word, known, &costs);

    if (d < n->least) {
        n->least = d;
        n->count = 0;
    }
    if (d == n->least && n->count < ARRAY_LEN(n->names))
        n->names[n->count++] = name;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void print_near(struct near *n, const char *before, FILE *out)
{
    enum { TOO_FAR = 7 };

    if (n->count == 0 || n->least >= TOO_FAR)
        return;
    qsort(n->names, n->count, sizeof n->names[0], by_text);
    fputs("\nDid you mean:\n", out);
    for (size_t i = 0; i < n->count; i++)
        fprintf(out, "\t%s%s\n", before, n->names[i]);
}

void args_near_flags(const struct opts_def *def, const char *word, FILE *out)
{
    struct near n = {.word = str_of(word + strspn(word, "-")), .least = INT_MAX};

    if (n.word.len < 2)
        return;
    try_name(&n, "help");
    for (int i = 0; i < def->count; i++) {
        if (!(def->specs[i].flags & OPT_OURS))
            try_name(&n, def->specs[i].name);
    }
    print_near(&n, "--", out);
}

void args_near_commands(const struct args_def *def, const char *word, FILE *out)
{
    struct near n = {.word = str_of(word), .least = INT_MAX};

    for (int i = 0; i < def->count; i++)
        try_name(&n, def->commands[i].name);
    print_near(&n, "", out);
}
