/*
 * opts_help.c - the help of a tool, in two columns, and what is said about a wrong command line
 */
#include "common/base/mem.h"
#include "tools/base/opts.h"

enum { WIDTH = 80, LEFT_MAX = 38 };

struct shown {
    const struct opt_spec *spec;
    char *left; /* "--topic <name>" */
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct shown *)a)->spec->name, ((const struct shown *)b)->spec->name);
}

static char *left_column(const struct opt_spec *spec, bool as_kafka)
{
    const char *arg = spec->arg;
    char letter[8] = "";

    if (!as_kafka && spec->letter)
        snprintf(letter, sizeof letter, "-%c, ", spec->letter);
    if (!arg)
        return xasprintf("%s--%s", letter, spec->name);
    return xasprintf(spec->flags & OPT_OPTIONAL ? "%s--%s [%s]" : "%s--%s <%s>", letter, spec->name,
                     arg);
}

/* The text in lines of at most width columns, all but the first behind indent blanks. */
static void print_wrapped(FILE *out, const char *text, int indent, int width)
{
    while (*text) {
        int len = (int)strlen(text), cut = len;
        if (len > width) {
            cut = width;
            while (cut > 0 && text[cut] != ' ')
                cut--;
            cut = cut ? cut : width;
        }
        fprintf(out, "%.*s\n", cut, text);
        text += cut;
        text += *text == ' ';
        if (*text)
            fprintf(out, "%*s", indent, "");
    }
}

static int collect(const struct opts_def *def, bool as_kafka, struct shown *ret, int *ret_width)
{
    int count = 0;

    *ret_width = 0;
    for (int i = 0; i < def->count; i++) {
        if (def->specs[i].flags & (as_kafka ? OPT_OURS : OPT_KAFKAS))
            continue;
        ret[count] = (struct shown){&def->specs[i], left_column(&def->specs[i], as_kafka)};
        int width = (int)strlen(ret[count].left);
        if (width <= LEFT_MAX)
            *ret_width = MAX(*ret_width, width);
        count++;
    }
    return count;
}

static void print_table(const struct opts_def *def, bool as_kafka, FILE *out)
{
    CLEANUP(free_p) struct shown *shown = xnew_array(struct shown, (size_t)def->count);
    int width, count = collect(def, as_kafka, shown, &width);

    qsort(shown, (size_t)count, sizeof *shown, by_name);
    if (as_kafka)
        fprintf(out, "%-*s  Description\n%-*s  -----------\n", width, "Option", width, "------");
    for (int i = 0; i < count; i++) {
        fprintf(out, "%-*s  ", width, shown[i].left);
        if ((int)strlen(shown[i].left) > width)
            fprintf(out, "\n%*s", width + 2, "");
        print_wrapped(out, shown[i].spec->help, width + 2, WIDTH - width - 2);
        free(shown[i].left);
    }
}

void opts_help(const struct opts_def *def, const struct invocation *inv, FILE *out)
{
    if (!inv->as_kafka)
        fprintf(out, "%s - %s\n\n", inv->program, def->about);
    print_table(def, inv->as_kafka, out);
}

void opts_help_flags(const struct opts_def *def, const struct invocation *inv, FILE *out)
{
    print_table(def, inv->as_kafka, out);
}

int opts_usage(const struct opts *o, const char *message)
{
    if (o->inv->wanted)
        return TOOL_FAILED;
    if (!o->inv->as_kafka)
        return tool_misused(o->inv, "%s (%s --help shows the flags)", message, o->inv->program);
    fprintf(stderr, "%s\n", message);
    print_table(o->def, true, stderr);
    return TOOL_FAILED;
}

bool opts_answered(const struct opts *o, int help_id, int version_id, int *ret_code)
{
    if (o->inv->as_kafka && (o->inv->argc == 0 || opts_has(o, help_id))) {
        *ret_code = opts_usage(o, o->def->about);
        return true;
    }
    if (!o->inv->as_kafka && opts_has(o, help_id)) {
        opts_help(o->def, o->inv, stdout);
        *ret_code = tool_done(o->inv);
        return true;
    }
    if (opts_has(o, version_id)) {
        puts(KAFKA_VERSION);
        *ret_code = tool_done(o->inv);
        return true;
    }
    return false;
}
