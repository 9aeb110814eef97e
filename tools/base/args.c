/*
 * args.c - reading: flag by flag, the command, then what is missing, as argparse4j does
 *
 * The command's part is read to its end, with its own checks, before it is found out what is
 * missing in front of it.
 */
#include "tools/base/args.h"

#include "common/base/mem.h"

#include <errno.h>

void args_deinit(struct args *a)
{
    opts_deinit(&a->root);
    opts_deinit(&a->sub);
}

const char *args_text(const struct opts *o, int id)
{
    return opts_nth(o, id, opts_count(o, id) - 1);
}

/* One of the two parts of a command line. */
struct part {
    struct args *a;
    struct opts *o;
    const struct opts_def *def;
    struct strbuf *why;
    bool wants_help;
};

static bool is_known(const struct part *p, const struct opt_spec *spec)
{
    return !p->a->inv->as_kafka || !(spec->flags & OPT_OURS);
}

static int find_letter(const struct part *p, char letter)
{
    for (int i = 0; i < p->def->count; i++) {
        const struct opt_spec *spec = &p->def->specs[i];
        if (spec->letter == letter && is_known(p, spec) &&
            (!p->a->inv->as_kafka || (spec->flags & OPT_LETTER)))
            return i;
    }
    return -1;
}

/* The names that begin like this, in their order; next: the smallest one behind another. */
static void add_matching(const struct part *p, const char *before, struct str start,
                         const char *(*next)(const struct part *p, struct str start,
                                             const char *behind))
{
    const char *name = "";

    for (int n = 0; (name = next(p, start, name)); n++)
        strbuf_addf(p->why, "%s%s%s", n ? ", " : "", before, name);
}

static bool is_next(const char *name, struct str start, const char *behind, const char *best)
{
    return str_starts_with(str_of(name), start) && strcmp(name, behind) > 0 &&
           (!best || strcmp(name, best) < 0);
}

static const char *next_flag(const struct part *p, struct str start, const char *behind)
{
    const char *best = NULL;

    for (int i = 0; i < p->def->count; i++) {
        const char *name = p->def->specs[i].name;
        if (is_known(p, &p->def->specs[i]) && is_next(name, start, behind, best))
            best = name;
    }
    return best;
}

static const char *next_command(const struct part *p, struct str start, const char *behind)
{
    const struct args_def *def = p->a->def;
    const char *best = NULL;

    for (int i = 0; i < def->count; i++) {
        if (is_next(def->commands[i].name, start, behind, best))
            best = def->commands[i].name;
    }
    return best;
}

/* The flag with this name, or the only one that begins with it; -1 where there is none, -EINVAL
 * where there are several. */
static int find_long(const struct part *p, struct str name)
{
    int found = -1, n = 0;

    for (int i = 0; i < p->def->count; i++) {
        struct str other = str_of(p->def->specs[i].name);
        if (!is_known(p, &p->def->specs[i]) || !str_starts_with(other, name))
            continue;
        if (other.len == name.len)
            return i;
        found = i;
        n++;
    }
    if (n <= 1)
        return found;
    strbuf_addf(p->why, "ambiguous option: --%.*s could match ", STR_ARG(name));
    add_matching(p, "--", name, next_flag);
    return -EINVAL;
}

static bool is_number(const char *word)
{
    int64_t n;

    return str_to_i64(str_of(word), INT64_MIN, INT64_MAX, &n) == 0;
}

static int check_int(const struct part *p, const struct opt_spec *spec, const char *value)
{
    int32_t n;

    if (!(spec->flags & OPT_INT) || str_to_i32(str_of(value), INT32_MIN, INT32_MAX, &n) == 0)
        return 0;
    strbuf_addz(p->why, "argument ");
    args_flag_name(spec, p->why);
    strbuf_addf(p->why, ": could not convert '%s' to Integer (For input string: \"%s\")", value,
                value);
    return -EINVAL;
}

/* Of the flags that exclude each other this one is the second. */
static int check_single(const struct part *p, int id)
{
    for (int i = 0; i < p->def->count && (p->def->specs[id].flags & OPT_ONE_OF); i++) {
        if (i == id || !(p->def->specs[i].flags & OPT_ONE_OF) || !opts_has(p->o, i))
            continue;
        strbuf_addz(p->why, "argument ");
        args_flag_name(&p->def->specs[id], p->why);
        strbuf_addz(p->why, ": not allowed with argument ");
        args_flag_name(&p->def->specs[i], p->why);
        return -EINVAL;
    }
    return 0;
}

static int unrecognized(const struct part *p, const char *word)
{
    const char *near = NULL;

    strbuf_addf(p->why, "unrecognized arguments: '%s'", word);
    if (!p->a->inv->as_kafka && word[0] == '-')
        near = opts_nearest(p->def, str_of(word + (word[1] == '-' ? 2 : 1)));
    if (near)
        strbuf_addf(p->why, "; did you mean --%s?", near);
    return -EINVAL;
}

/* value: what stood in the same word; NULL: nothing. */
static int take_value(const struct part *p, int id, const char *value, int *at)
{
    const struct opt_spec *spec = &p->def->specs[id];
    const struct invocation *inv = p->a->inv;
    int r = check_single(p, id);

    if (r < 0)
        return r;
    if (spec->arg && !value && *at + 1 < inv->argc &&
        (inv->argv[*at + 1][0] != '-' || is_number(inv->argv[*at + 1])))
        value = inv->argv[++*at];
    if (spec->arg && !value) {
        strbuf_addz(p->why, "argument ");
        args_flag_name(spec, p->why);
        strbuf_addz(p->why, ": expected one argument");
        return -EINVAL;
    }
    r = spec->arg ? check_int(p, spec, value) : 0;
    if (r == 0)
        opts_add(p->o, id, spec->arg ? value : NULL);
    return r;
}

static int take_flag(struct part *p, int *at)
{
    const char *word = p->a->inv->argv[*at], *value = NULL;
    int id;

    if (word[1] == '-') {
        struct str name = str_of(word + 2);
        const char *eq = memchr(name.p, '=', name.len);
        if (eq) {
            name.len = (size_t)(eq - name.p);
            value = eq + 1;
        }
        if (str_eqz(name, "help")) {
            p->wants_help = true;
            return 0;
        }
        id = find_long(p, name);
        if (id == -EINVAL)
            return id;
    } else {
        id = find_letter(p, word[1]);
        value = word[2] ? word + 2 : NULL;
        if (word[1] == 'h' && id < 0) {
            p->wants_help = true;
            return 0;
        }
    }
    return id < 0 ? unrecognized(p, word) : take_value(p, id, value, at);
}

/* ---- what is missing ---- */

static int add_missing(const struct part *p, const char *before, int flag, const char *after)
{
    bool first = true;

    strbuf_addz(p->why, before);
    for (int i = 0; i < p->def->count; i++) {
        if (!(p->def->specs[i].flags & flag) || !is_known(p, &p->def->specs[i]))
            continue;
        if (!first)
            strbuf_add_char(p->why, ' ');
        args_flag_name(&p->def->specs[i], p->why);
        first = false;
    }
    strbuf_addz(p->why, after);
    return -EINVAL;
}

static int check_missing(const struct part *p)
{
    int wanted = 0, there = 0;

    for (int i = 0; i < p->def->count; i++) {
        const struct opt_spec *spec = &p->def->specs[i];
        if ((spec->flags & OPT_REQUIRED) && !opts_has(p->o, i)) {
            strbuf_addz(p->why, "argument ");
            args_flag_name(spec, p->why);
            strbuf_addz(p->why, " is required");
            return -EINVAL;
        }
        wanted += (spec->flags & OPT_ONE_OF) != 0;
        there += (spec->flags & OPT_ONE_OF) && opts_has(p->o, i);
    }
    return wanted == 0 || there > 0
               ? 0
               : add_missing(p, "one of the arguments ", OPT_ONE_OF, " is required");
}

/* ---- the command ---- */

static int find_command(const struct part *p, const char *word)
{
    const struct args_def *def = p->a->def;
    int n = 0;

    for (int i = 0; i < def->count; i++) {
        if (strcmp(def->commands[i].name, word) == 0) {
            p->a->command = &def->commands[i];
            return 0;
        }
        if (str_starts_with(str_of(def->commands[i].name), str_of(word))) {
            p->a->command = &def->commands[i];
            n++;
        }
    }
    if (n == 1)
        return 0;
    p->a->command = NULL;
    if (n > 1) {
        strbuf_addf(p->why, "ambiguous command: %s could match ", word);
        add_matching(p, "", str_of(word), next_command);
        return -EINVAL;
    }
    strbuf_addf(p->why, "invalid choice: '%s' (choose from ", word);
    for (int i = 0; i < def->count; i++)
        strbuf_addf(p->why, "%s'%s'", i ? ", " : "", def->commands[i].name);
    strbuf_add_char(p->why, ')');
    return -EINVAL;
}

/* As our own tool, a flag of the tool behind the command. */
static int take_behind(struct part *sub, struct part *root, int *at)
{
    const char *word = sub->a->inv->argv[*at];
    CLEANUP(strbuf_deinit) struct strbuf ignored = {0};
    struct part probe = *sub;
    struct str name = str_of(word + (word[1] == '-' ? 2 : 1));
    const char *eq = memchr(name.p, '=', name.len);
    bool is_long = word[1] == '-';

    if (eq)
        name.len = (size_t)(eq - name.p);
    probe.why = &ignored;
    bool is_subs = is_long ? find_long(&probe, name) != -1 : find_letter(&probe, word[1]) >= 0;
    probe = *root;
    probe.why = &ignored;
    bool is_roots = is_long ? find_long(&probe, name) != -1 : find_letter(&probe, word[1]) >= 0;
    return take_flag(is_subs || !is_roots ? sub : root, at);
}

static int take_command(struct part *root, struct part *sub, int *at)
{
    const struct invocation *inv = root->a->inv;
    int r = find_command(root, inv->argv[*at]);

    if (r < 0)
        return r;
    sub->def = &root->a->command->def;
    root->a->sub = (struct opts){.def = sub->def, .inv = inv};
    for (++*at; r == 0 && !sub->wants_help && !root->wants_help && *at < inv->argc; ++*at) {
        const char *word = inv->argv[*at];
        if (word[0] != '-' || word[1] == '\0')
            r = unrecognized(sub, word);
        else
            r = inv->as_kafka ? take_flag(sub, at) : take_behind(sub, root, at);
    }
    sub->wants_help |= root->wants_help;
    return r < 0 || sub->wants_help ? r : check_missing(sub);
}

static int parse(struct part *root, struct part *sub)
{
    const struct invocation *inv = root->a->inv;
    int r = 0;

    for (int i = 0; r == 0 && i < inv->argc; i++) {
        const char *word = inv->argv[i];
        if (word[0] == '-' && word[1]) {
            r = take_flag(root, &i);
            if (r == 0 && root->wants_help)
                return 0;
            continue;
        }
        r = take_command(root, sub, &i);
        if (r < 0 || sub->wants_help)
            return r;
    }
    if (r == 0 && !root->a->command) {
        strbuf_addz(root->why, "too few arguments");
        return -EINVAL;
    }
    return r < 0 ? r : check_missing(root);
}

/* ---- */

static int say_wrong(const struct args *a, bool in_command, const char *why)
{
    const struct args_command *command = in_command ? a->command : NULL;

    if (!a->inv->as_kafka)
        return tool_misused(a->inv, "%s (%s --help shows the flags)", why, a->inv->program);
    args_usage(a->def, command, stderr);
    args_error(a->def, why, stderr);
    return TOOL_FAILED;
}

/* As our own: the tool's flags, its commands, and the flags of each. */
static int say_help(const struct args *a)
{
    if (a->inv->as_kafka) {
        args_help(a->def, a->command, stdout);
        (void)!tool_done(a->inv);
        return TOOL_FAILED; /* as Kafka's tools */
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

bool args_answered(struct args *a, const struct args_def *def, const struct invocation *inv,
                   int *ret_code)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    CLEANUP(strbuf_deinit) struct strbuf why_sub = {0};

    if (inv->wanted) {
        inv->wanted->args = def;
        *ret_code = TOOL_FAILED;
        return true;
    }
    *a = (struct args){.def = def, .inv = inv, .root = {.def = &def->def, .inv = inv}};
    struct part root = {.a = a, .o = &a->root, .def = &def->def, .why = &why};
    struct part sub = {.a = a, .o = &a->sub, .why = &why_sub};
    int r = parse(&root, &sub);

    if (r == 0 && !root.wants_help && !sub.wants_help)
        return false;
    if (r < 0)
        *ret_code = say_wrong(a, why_sub.len > 0, why_sub.len ? why_sub.s : why.s);
    else
        *ret_code = say_help(a);
    return true;
}
