#include "tools/complete.h"

#include "common/base/mem.h"

void complete_found_deinit(struct complete_found *f)
{
    strbuf_deinit(&f->text);
}

void complete_add(struct complete_found *f, struct str start, const char *before, const char *word,
                  const char *about)
{
    CLEANUP(free_p) char *whole = xasprintf("%s%s", before, word);

    if (str_starts_with(str_of(whole), start))
        strbuf_addf(&f->text, "%s\t%s\n", whole, about ? about : "");
}

/* ---- flags ---- */

static bool is_shown(const struct complete_line *line, const struct opt_spec *spec)
{
    return !(spec->flags & (line->as_kafka ? OPT_OURS : OPT_KAFKAS));
}

/* The flag that a word is, with or without a value behind '='; NULL where it is none. */
static const struct opt_spec *find_flag(const struct opts_def *def, const char *word)
{
    struct str name = str_of(word + (word[0] == '-') + (word[0] == '-' && word[1] == '-'));
    const char *eq = memchr(name.p, '=', name.len);

    if (word[0] != '-')
        return NULL;
    if (eq)
        name.len = (size_t)(eq - name.p);
    for (int i = 0; i < def->count; i++) {
        const struct opt_spec *spec = &def->specs[i];
        bool is_letter = name.len == 1 && spec->letter && spec->letter == name.p[0];
        if (is_letter || str_eqz(name, spec->name))
            return spec;
    }
    return NULL;
}

static void add_flags(const struct complete_line *line, const struct opts_def *def,
                      struct complete_found *ret)
{
    struct str start = str_of(line->argv[line->argc - 1]);

    for (int i = 0; i < def->count; i++) {
        if (is_shown(line, &def->specs[i]))
            complete_add(ret, start, "--", def->specs[i].name, def->specs[i].help);
    }
}

/* ---- values ---- */

static enum complete_names names_of(const struct opt_spec *spec)
{
    if (strcmp(spec->name, "topic") == 0 || strcmp(spec->name, "topic-list") == 0)
        return COMPLETE_TOPICS;
    return strcmp(spec->name, "group") == 0 ? COMPLETE_GROUPS : COMPLETE_NO_NAMES;
}

/* "table|json" has its values in it; before: "--output=" where that stands in the same word. */
static void add_values(const struct opt_spec *spec, struct str before, struct str start,
                       struct complete_found *ret)
{
    struct str rest = str_of(spec->arg), value;
    CLEANUP(free_p) char *front = str_dup(before);

    ret->names = names_of(spec);
    ret->start = start;
    ret->before = before;
    while (strchr(spec->arg, '|') && str_split(&rest, '|', &value)) {
        CLEANUP(free_p) char *text = str_dup(value);
        CLEANUP(free_p) char *whole = xasprintf("%.*s%.*s", STR_ARG(before), STR_ARG(start));
        complete_add(ret, str_of(whole), front, text, NULL);
    }
}

/* The word being typed is a value: of the flag in front of it, or in the same word. */
static bool complete_value(const struct complete_line *line, const struct opts_def *def,
                           struct complete_found *ret)
{
    const char *last = line->argv[line->argc - 1], *eq = strchr(last, '=');
    const struct opt_spec *spec = eq ? find_flag(def, last) : NULL;

    if (spec && spec->arg) {
        add_values(spec, (struct str){last, (size_t)(eq + 1 - last)}, str_of(eq + 1), ret);
        return true;
    }
    spec = line->argc > 1 ? find_flag(def, line->argv[line->argc - 2]) : NULL;
    if (!spec || !spec->arg || strchr(line->argv[line->argc - 2], '='))
        return false;
    add_values(spec, STR(""), str_of(last), ret);
    return true;
}

/* ---- where the cluster is ---- */

static void find_cluster(const struct complete_line *line, const struct opts_def *def,
                         struct complete_found *ret)
{
    for (int i = 0; i + 1 < line->argc; i++) {
        const struct opt_spec *spec = find_flag(def, line->argv[i]);
        const char *eq = strchr(line->argv[i], '=');
        const char *value = eq ? eq + 1 : i + 2 < line->argc ? line->argv[i + 1] : NULL;
        if (spec && strcmp(spec->name, "bootstrap-server") == 0)
            ret->bootstrap = value;
        if (spec &&
            (strcmp(spec->name, "command-config") == 0 || strcmp(spec->name, "config") == 0))
            ret->command_config = value;
    }
}

/* ---- tools with commands ---- */

/* The command on the line, NULL where there is none yet. */
static const struct args_command *find_command(const struct complete_line *line)
{
    const struct args_def *def = line->flags.args;

    for (int i = 0; i + 1 < line->argc; i++) {
        const struct opt_spec *spec = find_flag(&def->def, line->argv[i]);
        if (spec && spec->arg && !strchr(line->argv[i], '='))
            i++;
        for (int k = 0; !spec && k < def->count; k++) {
            if (strcmp(line->argv[i], def->commands[k].name) == 0)
                return &def->commands[k];
        }
    }
    return NULL;
}

static void find_in_commands(const struct complete_line *line, struct complete_found *ret)
{
    const struct args_def *def = line->flags.args;
    const struct args_command *command = find_command(line);
    struct str start = str_of(line->argv[line->argc - 1]);

    if (command && complete_value(line, &command->def, ret)) {
        find_cluster(line, &command->def, ret);
        return;
    }
    if (complete_value(line, &def->def, ret)) {
        find_cluster(line, &def->def, ret);
        return;
    }
    for (int i = 0; !command && i < def->count; i++)
        complete_add(ret, start, "", def->commands[i].name, def->commands[i].def.about);
    if (command)
        add_flags(line, &command->def, ret);
    if (!command || !line->as_kafka) /* as our own tool they may stand behind it as well */
        add_flags(line, &def->def, ret);
}

void complete_find(const struct complete_line *line, struct complete_found *ret)
{
    if (line->argc < 1)
        return;
    if (line->flags.args) {
        find_in_commands(line, ret);
        return;
    }
    const struct opts_def def = {NULL, line->flags.specs, line->flags.count};
    if (complete_value(line, &def, ret))
        find_cluster(line, &def, ret);
    else
        add_flags(line, &def, ret);
}
