/*
 * args.c - reading: flag by flag, the command, then what is missing, as argparse4j does
 *
 * A word that is not understood ends it at once. What is missing is found out at the end, first in
 * front of the command, then behind it.
 */
#include "tools/base/args.h"

#include "common/base/mem.h"
#include "tools/base/java.h"

#include <errno.h>
#include <stdlib.h>

enum { NO_FLAG = -1, HELP = -2 };

void args_deinit(struct args *a)
{
    opts_deinit(&a->root);
    opts_deinit(&a->sub);
}

const char *args_text(const struct opts *o, int id)
{
    return opts_nth(o, id, opts_count(o, id) - 1);
}

int64_t args_int(const struct opts *o, int id, int64_t fallback)
{
    const char *text = args_text(o, id);
    int64_t n;

    return text && str_to_i64(str_of(text), INT64_MIN, INT64_MAX, &n) == 0 ? n : fallback;
}

struct parser {
    struct args *a;
    struct strbuf *why;
    int at;            /* the next word */
    bool behind;       /* of the command */
    bool only_words;   /* "--" was met */
    bool of_command;   /* the mistake is one of the command's flags */
    const char *alien; /* the word that nothing is called, for what is spelled like it */
};

/* One of the two parts of a command line. */
struct part {
    struct parser *p;
    struct opts *o;
    const struct opts_def *def;
};

static struct part front(struct parser *p)
{
    return (struct part){p, &p->a->root, &p->a->def->def};
}

static struct part back(struct parser *p)
{
    return (struct part){p, &p->a->sub, &p->a->command->def};
}

static const char *next_word(struct parser *p)
{
    return p->at < p->a->inv->argc ? p->a->inv->argv[p->at] : NULL;
}

static bool is_negative(const char *word)
{
    return word[0] == '-' && word[1] && word[1 + strspn(word + 1, "0123456789")] == '\0';
}

static bool is_flag(const struct parser *p, const char *word)
{
    size_t dashes = strspn(word, "-");

    return !p->only_words && dashes > 0 && word[dashes] && !is_negative(word);
}

/* ---- names ---- */

static bool is_known(const struct part *part, const struct opt_spec *spec)
{
    return !part->p->a->inv->as_kafka || !(spec->flags & OPT_OURS);
}

static int find_letter(const struct part *part, char letter)
{
    for (int i = 0; i < part->def->count; i++) {
        const struct opt_spec *spec = &part->def->specs[i];
        if (spec->letter == letter && is_known(part, spec) &&
            (!part->p->a->inv->as_kafka || (spec->flags & OPT_LETTER)))
            return i;
    }
    return letter == 'h' ? HELP : NO_FLAG;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* All that fit, in order; what it is that is ambiguous is said before. */
static int ambiguous(struct strbuf *why, const char *before, const char **fitting, size_t count)
{
    qsort(fitting, count, sizeof *fitting, by_text);
    strbuf_addz(why, " could match ");
    for (size_t i = 0; i < count; i++)
        strbuf_addf(why, "%s%s%s", i ? ", " : "", before, fitting[i]);
    return -EINVAL;
}

/* The flag with this name, dashes and all, or the only one that begins with it: its id, HELP or
 * NO_FLAG. -EINVAL where there are several. */
static int find_name(const struct part *part, struct str flag)
{
    size_t count = 0, dashes = MIN(strspn(flag.p, "-"), (size_t)2);
    struct str name = {flag.p + dashes, flag.len - dashes};
    CLEANUP(free_p) const char **fitting = xnew_array(const char *, (size_t)part->def->count + 1);
    int found = NO_FLAG;

    if (dashes < 2)
        return flag.len == 2 ? find_letter(part, flag.p[1]) : NO_FLAG;
    for (int i = 0; i < part->def->count; i++) {
        struct str known = str_of(part->def->specs[i].name);
        if (!is_known(part, &part->def->specs[i]) || !str_starts_with(known, name))
            continue;
        if (known.len == name.len)
            return i;
        fitting[count++] = known.p;
        found = i;
    }
    if (str_eqz(name, "help") || (str_starts_with(STR("help"), name) && count == 0))
        return HELP;
    if (str_starts_with(STR("help"), name))
        fitting[count++] = "help";
    if (count <= 1)
        return found;
    strbuf_addf(part->p->why, "ambiguous option: %.*s", STR_ARG(flag));
    return ambiguous(part->p->why, "--", fitting, count);
}

/* ---- values ---- */

/* "argument --topic/-t"; what is wrong with it goes behind. */
static struct strbuf *blame(const struct part *part, int id)
{
    strbuf_addz(part->p->why, "argument ");
    args_flag_name(&part->def->specs[id], part->p->why);
    return part->p->why;
}

/* NULL where the value is of the flag's type; else the type's name. */
static const char *wanted_type(const struct opt_spec *spec, struct str value)
{
    int64_t n;
    double v;

    if (spec->flags & OPT_INT)
        return str_to_i64(value, INT32_MIN, INT32_MAX, &n) < 0 ? "Integer" : NULL;
    if (spec->flags & OPT_LONG)
        return str_to_i64(value, INT64_MIN, INT64_MAX, &n) < 0 ? "Long" : NULL;
    if (spec->flags & OPT_DOUBLE)
        return java_parse_double(value, &v) < 0 ? "Double" : NULL;
    return NULL;
}

/* "Integer (For input string: "x")"; of no double Java tells what is left without blanks. */
static void add_no_number(const struct opt_spec *spec, const char *type, struct str value,
                          struct strbuf *ret)
{
    bool is_double = spec->flags & OPT_DOUBLE;
    struct str text = is_double ? java_trim(value) : value;

    if (is_double && text.len == 0)
        strbuf_addf(ret, "%s (empty String)", type);
    else
        strbuf_addf(ret, "%s (For input string: \"%.*s\")", type, STR_ARG(text));
}

/* Numbers are compared as such: "+1" is 1. */
static bool is_choice(const struct opt_spec *spec, struct str value)
{
    struct str rest = str_of(spec->choices), one;
    int64_t known, given;

    while (str_split(&rest, ',', &one)) {
        if (str_eq(one, value))
            return true;
        if ((spec->flags & OPT_INT) && str_to_i64(one, INT32_MIN, INT32_MAX, &known) == 0 &&
            str_to_i64(value, INT32_MIN, INT32_MAX, &given) == 0 && known == given)
            return true;
    }
    return false;
}

static int add_value(const struct part *part, int id, const char *value)
{
    const struct opt_spec *spec = &part->def->specs[id];
    const char *type = wanted_type(spec, str_of(value));

    if (type) {
        strbuf_addf(blame(part, id), ": could not convert '%s' to ", value);
        add_no_number(spec, type, str_of(value), part->p->why);
        return -EINVAL;
    }
    if (spec->choices && !is_choice(spec, str_of(value))) {
        strbuf_addf(blame(part, id), ": invalid choice: '%s' (choose from {%s})", value,
                    spec->choices);
        return -EINVAL;
    }
    opts_add(part->o, id, value);
    return 0;
}

/* Of flags that exclude each other another one was there before. */
static int check_single(const struct part *part, int id)
{
    for (int i = 0; i < part->def->count && (part->def->specs[id].flags & OPT_ONE_OF); i++) {
        if (i == id || !(part->def->specs[i].flags & OPT_ONE_OF) || !opts_has(part->o, i))
            continue;
        strbuf_addz(blame(part, id), ": not allowed with argument ");
        args_flag_name(&part->def->specs[i], part->p->why);
        return -EINVAL;
    }
    return 0;
}

static int take_switch(const struct part *part, int id, const char *value)
{
    if (!value) {
        opts_add(part->o, id, NULL);
        return 0;
    }
    strbuf_addf(blame(part, id), ": ignore implicit argument '%s'", value);
    return -EINVAL;
}

/* The words that follow, up to the next flag. */
static int take_words(const struct part *part, int id)
{
    struct parser *p = part->p;
    bool many = part->def->specs[id].flags & OPT_MANY;
    const char *word;
    int taken = 0, r = 0;

    while (r == 0 && (taken == 0 || many) && (word = next_word(p)) && strcmp(word, "--") != 0 &&
           !is_flag(p, word)) {
        r = add_value(part, id, word);
        p->at++;
        taken++;
    }
    if (r < 0 || taken > 0)
        return r;
    strbuf_addf(blame(part, id), ": expected %s", many ? "1 argument(s)" : "one argument");
    return -EINVAL;
}

/* value: what stood in the same word; NULL: nothing. */
static int take_values(const struct part *part, int id, const char *value)
{
    int r = check_single(part, id);

    if (r < 0)
        return r;
    if (!part->def->specs[id].arg)
        return take_switch(part, id, value);
    return value ? add_value(part, id, value) : take_words(part, id);
}

/* ---- flags ---- */

static int unrecognized(const struct part *part, const char *word)
{
    struct parser *p = part->p;
    const char *near =
        p->a->inv->as_kafka ? NULL : opts_nearest(part->def, str_of(word + 1 + (word[1] == '-')));

    strbuf_addf(p->why, "unrecognized arguments: '%s'", word);
    if (near)
        strbuf_addf(p->why, "; did you mean --%s?", near);
    p->alien = word;
    return -EINVAL;
}

/* "-nb VALUE", "-nbVALUE": letters in one word, of which the last one may have a value. */
static int take_letters(const struct part *part, const char *word)
{
    for (const char *c = word + 1; *c; c++) {
        int id = find_letter(part, *c);
        if (id == HELP)
            return -ECANCELED;
        if (id < 0)
            return unrecognized(part, word);
        if (part->def->specs[id].arg)
            return take_values(part, id, c[1] ? c + 1 : NULL);
        int r = take_values(part, id, NULL);
        if (r < 0)
            return r;
    }
    return 0;
}

/* -ECANCELED for help. */
static int take_flag(const struct part *part)
{
    const char *word = part->p->a->inv->argv[part->p->at], *eq = strchr(word, '=');
    struct str flag = {word, eq ? (size_t)(eq - word) : strlen(word)};
    int id = find_name(part, flag);

    part->p->at++;
    if (id == -EINVAL)
        return id;
    if (id == HELP && eq) {
        strbuf_addf(part->p->why, "argument -h/--help: ignore implicit argument '%s'", eq + 1);
        return -EINVAL;
    }
    if (id == HELP)
        return -ECANCELED;
    if (id >= 0)
        return take_values(part, id, eq ? eq + 1 : NULL);
    return word[1] == '-' ? unrecognized(part, word) : take_letters(part, word);
}

/* As our own tool, whether the flag behind the command is one of the tool's. */
static bool is_front(const struct parser *p, const char *word)
{
    CLEANUP(strbuf_deinit) struct strbuf ignored = {0};
    struct parser probe = *p;
    struct str flag = {word, strcspn(word, "=")};
    struct part of_tool = front(&probe), of_command = back(&probe);

    probe.why = &ignored;
    if (word[1] != '-')
        flag.len = 2;
    return find_name(&of_command, flag) == NO_FLAG && find_name(&of_tool, flag) != NO_FLAG;
}

static int take_next_flag(struct parser *p, const char *word)
{
    bool in_front = !p->behind || (!p->a->inv->as_kafka && is_front(p, word));
    struct part part = in_front ? front(p) : back(p);

    p->of_command = !in_front;
    return take_flag(&part);
}

/* ---- what is missing ---- */

static int missing_group(const struct part *part)
{
    strbuf_addz(part->p->why, "one of the arguments ");
    for (int i = 0; i < part->def->count; i++) {
        if (!(part->def->specs[i].flags & OPT_ONE_OF) || !is_known(part, &part->def->specs[i]))
            continue;
        args_flag_name(&part->def->specs[i], part->p->why);
        strbuf_add_char(part->p->why, ' ');
    }
    strbuf_addz(part->p->why, "is required");
    return -EINVAL;
}

/* Of several that are missing the last one is told. */
static int check_missing(const struct part *part)
{
    bool wanted = false, there = false;

    for (int i = part->def->count - 1; i >= 0; i--) {
        const struct opt_spec *spec = &part->def->specs[i];
        if ((spec->flags & OPT_REQUIRED) && !opts_has(part->o, i)) {
            strbuf_addz(blame(part, i), " is required");
            return -EINVAL;
        }
        wanted |= (spec->flags & OPT_ONE_OF) != 0;
        there |= (spec->flags & OPT_ONE_OF) && opts_has(part->o, i);
    }
    return wanted && !there ? missing_group(part) : 0;
}

static int check_all(struct parser *p)
{
    struct part part = front(p);

    if (p->a->def->count && !p->a->command) {
        strbuf_addz(p->why, "too few arguments");
        return -EINVAL;
    }
    p->of_command = false;
    int r = check_missing(&part);
    if (r < 0 || !p->a->command)
        return r;
    p->of_command = true;
    part = back(p);
    return check_missing(&part);
}

/* ---- the command ---- */

static int no_command(struct parser *p, const char *word)
{
    const struct args_def *def = p->a->def;

    strbuf_addf(p->why, "invalid choice: '%s' (choose from ", word);
    for (int i = 0; i < def->count; i++)
        strbuf_addf(p->why, "%s'%s'", i ? ", " : "", def->commands[i].name);
    strbuf_add_char(p->why, ')');
    p->alien = word;
    return -EINVAL;
}

static int take_command(struct parser *p, const char *word)
{
    const struct args_def *def = p->a->def;
    CLEANUP(free_p) const char **fitting = xnew_array(const char *, (size_t)def->count);
    const struct args_command *found = NULL;
    size_t count = 0;

    for (int i = 0; i < def->count && word[0]; i++) {
        const struct args_command *c = &def->commands[i];
        bool whole = strcmp(c->name, word) == 0;
        if (!whole && !str_starts_with(str_of(c->name), str_of(word)))
            continue;
        found = c;
        count = whole ? 0 : count;
        fitting[count++] = c->name;
        if (whole)
            break;
    }
    if (count > 1) {
        strbuf_addf(p->why, "ambiguous command: %s", word);
        return ambiguous(p->why, "", fitting, count);
    }
    if (!found)
        return no_command(p, word);
    p->a->command = found;
    p->a->sub = (struct opts){.def = &found->def, .inv = p->a->inv};
    p->behind = true;
    p->at++;
    return 0;
}

/* The rest of the line is what nobody wants. */
static int too_many(struct parser *p)
{
    const struct invocation *inv = p->a->inv;

    p->of_command = p->behind;
    strbuf_addz(p->why, "unrecognized arguments: '");
    for (int i = p->at; i < inv->argc; i++)
        strbuf_addf(p->why, "%s%s", i > p->at ? " " : "", inv->argv[i]);
    strbuf_add_char(p->why, '\'');
    return -EINVAL;
}

static int parse(struct parser *p)
{
    const char *word;
    int r = 0;

    while (r == 0 && (word = next_word(p))) {
        if (is_flag(p, word)) {
            r = take_next_flag(p, word);
        } else if (strcmp(word, "--") == 0 && !p->only_words) {
            p->only_words = true;
            p->at++;
        } else if (p->a->def->count && !p->behind && !p->only_words) {
            r = take_command(p, word);
        } else {
            r = too_many(p);
        }
    }
    return r < 0 ? r : check_all(p);
}

/* ---- what is said ---- */

static int say_wrong(const struct args *a, const struct args_command *command, const char *why)
{
    if (!a->inv->as_kafka)
        return tool_misused(a->inv, "%s (%s --help shows the flags)", why, a->inv->program);
    fflush(stdout);
    args_usage(a->def, command, stderr);
    args_error(a->def, why, stderr);
    return TOOL_FAILED;
}

int args_wrong(const struct args *a, const char *message)
{
    return say_wrong(a, NULL, message);
}

static int say_mistake(const struct parser *p)
{
    const struct args_command *command = p->of_command ? p->a->command : NULL;
    int code = say_wrong(p->a, command, p->why->s);

    if (!p->alien || !p->a->inv->as_kafka)
        return code;
    if (p->alien[0] == '-')
        args_near_flags(command ? &command->def : &p->a->def->def, p->alien, stderr);
    else
        args_near_commands(p->a->def, p->alien, stderr);
    return code;
}

/* As our own: the tool's flags, its commands, and the flags of each. */
static int say_help(const struct args *a, const struct args_command *command)
{
    if (a->inv->as_kafka) {
        args_help(a->def, command, stdout);
        return tool_done(a->inv);
    }
    printf("%s - %s\n", a->inv->program, a->def->def.about);
    if (a->def->def.count) {
        putchar('\n');
        opts_help_flags(&a->def->def, a->inv, stdout);
    }
    for (int i = 0; i < a->def->count; i++) {
        const struct args_command *c = &a->def->commands[i];
        printf("\n%s - %s\n", c->name, c->def.about);
        if (c->def.count)
            opts_help_flags(&c->def, a->inv, stdout);
    }
    return tool_done(a->inv);
}

static void tell_flags(const struct args_def *def, struct tool_flags *ret)
{
    *ret = (struct tool_flags){def->def.specs, def->def.count, def->count ? def : NULL};
}

bool args_answered(struct args *a, const struct args_def *def, const struct invocation *inv,
                   int *ret_code)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    struct parser p = {.a = a, .why = &why};

    *ret_code = TOOL_FAILED;
    *a = (struct args){.def = def, .inv = inv, .root = {.def = &def->def, .inv = inv}};
    if (inv->wanted) {
        tell_flags(def, inv->wanted);
        return true;
    }
    if (inv->argc == 0 && def->count == 0) {
        *ret_code = say_help(a, NULL);
        return true;
    }
    int r = parse(&p);
    if (r == 0)
        return false;
    if (r == -EINVAL) {
        *ret_code = say_mistake(&p);
        return true;
    }
    int code = say_help(a, p.of_command ? a->command : NULL);
    /* Kafka's tools end badly where help was asked for */
    *ret_code = inv->as_kafka ? TOOL_FAILED : code;
    return true;
}
