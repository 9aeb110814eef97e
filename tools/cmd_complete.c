/*
 * cmd_complete.c - completion of command lines: a script for the shell, and the answers it asks for
 *
 *   . <(klamm completion bash)          zsh: klamm completion zsh > "${fpath[1]}/_klamm"
 *   klamm complete bash "klamm topics --des"
 *
 * The script asks this program at each TAB, so that it always fits. Names of topics and groups come
 * from the cluster where the line says where that is: at most NAMES_MAX, and NAMES_MS late.
 */
#include "common/base/mem.h"
#include "tools/base/cluster.h"
#include "tools/complete.h"
#include "tools/shell/zk_text.h"

#include <errno.h>
#include <stdlib.h>

enum { NAMES_MAX = 500, NAMES_MS = 500 };

/* ---- names ---- */

struct names {
    struct complete_found *found;
    const char *before;
    struct str start;
    int count;
};

static void add_name(struct names *n, struct str name)
{
    CLEANUP(free_p) char *text = str_dup(name);
    bool is_internal = str_starts_with(name, STR("__")) && !str_starts_with(n->start, STR("_"));

    if (n->count >= NAMES_MAX || is_internal || !str_starts_with(name, n->start))
        return;
    n->count++;
    strbuf_addf(&n->found->text, "%s%s\t\n", n->before, text);
}

static void add_topics(struct cluster *c, struct names *n, struct arena *a, struct strbuf *why)
{
    const struct metadata_response *m;

    if (cluster_metadata(c, STR_NULL, a, &m, why) < 0)
        return;
    for (int32_t i = 0; i < m->topics_count; i++)
        add_name(n, m->topics[i].name);
}

static void add_groups_of(struct cluster *c, int32_t broker, struct names *n, struct arena *a,
                          struct strbuf *why)
{
    struct list_groups_request m;
    const struct cluster_call call = {"listGroups", broker, API_LIST_GROUPS, 4, &m, true};
    const void *got;

    msg_init(&list_groups_request_desc, &m);
    if (cluster_call(c, &call, a, &got, why) < 0)
        return;
    const struct list_groups_response *response = got;
    for (int32_t i = 0; i < response->groups_count; i++)
        add_name(n, response->groups[i].group_id);
}

static void add_groups(struct cluster *c, struct names *n, struct arena *a, struct strbuf *why)
{
    const struct metadata_response *m;

    if (cluster_metadata(c, STR(""), a, &m, why) < 0)
        return;
    for (int32_t i = 0; i < m->brokers_count; i++)
        add_groups_of(c, m->brokers[i].node_id, n, a, why);
}

static void ask_names(const struct invocation *inv, struct complete_found *found)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    CLEANUP(arena_deinit) struct arena a = {0};
    CLEANUP(cluster_close_p) struct cluster *c = NULL;
    const struct cluster_opts co = {.inv = inv,
                                    .bootstrap = found->bootstrap,
                                    .config_file = found->command_config,
                                    .timeout_ms = NAMES_MS,
                                    .tries_once = true};
    CLEANUP(free_p) char *before = str_dup(found->before);
    struct names n = {found, before ? before : "", found->start, 0};

    if (found->names == COMPLETE_NO_NAMES || !found->bootstrap || cluster_open(&co, &why, &c) < 0)
        return;
    if (found->names == COMPLETE_TOPICS)
        add_topics(c, &n, &a, &why);
    else
        add_groups(c, &n, &a, &why);
}

/* ---- the answer ---- */

/* zsh wants "word:what it is", fish a tab, bash only the word, and of "--flag=value" the value. */
static void print_found(const char *shell, const struct strbuf *text)
{
    struct str rest = strbuf_str(text), line, word;

    while (str_split(&rest, '\n', &line)) {
        struct str about = line;
        if (line.len == 0)
            continue;
        str_split(&about, '\t', &word);
        const char *eq = memchr(word.p, '=', word.len);
        if (strcmp(shell, "bash") == 0 && eq)
            word = (struct str){eq + 1, word.len - (size_t)(eq + 1 - word.p)};
        if (strcmp(shell, "bash") == 0)
            printf("%.*s\n", STR_ARG(word));
        else if (strcmp(shell, "zsh") == 0)
            printf("%.*s:%.*s\n", STR_ARG(word), STR_ARG(about));
        else
            printf("%.*s\t%.*s\n", STR_ARG(word), STR_ARG(about));
    }
}

static void add_commands(struct str start, struct complete_found *ret)
{
    for (size_t i = 0; i < tools_count; i++) {
        if (tools[i].name && tools[i].about)
            complete_add(ret, start, "", tools[i].name, tools[i].about);
    }
}

/* words[0] is the program as it was called. */
static void find(const struct invocation *inv, char **words, int count, struct complete_found *ret)
{
    const struct tool *tool = tool_find(tool_base_name(words[0]), true);
    struct complete_line line = {.as_kafka = tool != NULL, .argc = count - 1, .argv = words + 1};

    if (!tool && count == 2) {
        add_commands(str_of(words[1]), ret);
        return;
    }
    if (!tool && count > 2) {
        tool = tool_find(str_of(words[1]), false);
        line.argc--;
        line.argv++;
    }
    if (!tool || line.argc < 1)
        return;
    line.flags = tool_flags_of(tool, line.as_kafka);
    complete_find(&line, ret);
    ask_names(inv, ret);
}

int cmd_complete(const struct invocation *inv)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    CLEANUP(complete_found_deinit) struct complete_found found = {0};
    char **words;
    int count;

    if (inv->wanted)
        return TOOL_FAILED;
    if (inv->argc != 2)
        return tool_misused(inv, "a shell and the line that is being typed are wanted");
    struct str text = str_of(inv->argv[1]);
    zk_words(text, &a, &words, &count);
    if (count > 0 && text.len && text.p[text.len - 1] == ' ')
        words[count++] = arena_strz(&a, STR("")); /* there is room: a blank is no word */
    if (count > 1)
        find(inv, words, count, &found);
    print_found(inv->argv[0], &found.text);
    return tool_done(inv);
}

/* ---- the script ---- */

enum { HELP };

static const struct opt_spec specs[] = {
    [HELP] = {"help", NULL, "show this", OPT_OURS, 'h'},
};

static const struct opts_def def = {
    "bash, zsh or fish; prints the script: . <(klamm completion bash)", specs, ARRAY_LEN(specs)};

static void print_names(const char *before, const char *after)
{
    printf("%sklamm%s", before, after);
    for (size_t i = 0; i < tools_count; i++) {
        if (tools[i].kafka_name)
            printf("%s%s%s%s%s.sh%s", before, tools[i].kafka_name, after, before,
                   tools[i].kafka_name, after);
    }
}

static void print_bash(const char *self)
{
    printf("_klamm() {\n"
           "  local line\n"
           "  COMPREPLY=()\n"
           "  while IFS= read -r line; do COMPREPLY+=(\"$line\"); done \\\n"
           "    < <('%s' complete bash \"${COMP_LINE:0:COMP_POINT}\" 2>/dev/null)\n"
           "}\n"
           "complete -o bashdefault -o default -F _klamm",
           self);
    print_names(" ", "");
    putchar('\n');
}

static void print_zsh(const char *self)
{
    fputs("#compdef", stdout);
    print_names(" ", "");
    printf("\n_klamm() {\n"
           "  local -a found\n"
           "  found=(\"${(@f)$('%s' complete zsh \"${(j: :)words[1,CURRENT]}\" 2>/dev/null)}\")\n"
           "  if [[ -n \"$found[1]\" ]]; then _describe klamm found; else _files; fi\n"
           "}\n"
           "compdef _klamm",
           self);
    print_names(" ", "");
    putchar('\n');
}

static void print_fish(const char *self)
{
    printf("function __klamm_complete\n"
           "  set -l found ('%s' complete fish (commandline -cp))\n"
           "  if test (count $found) -gt 0\n"
           "    printf '%%s\\n' $found\n"
           "  else\n"
           "    __fish_complete_path (commandline -ct)\n"
           "  end\n"
           "end\n",
           self);
    print_names("complete -c ", " -f -a '(__klamm_complete)'\n");
}

static const struct {
    const char *name;
    void (*print)(const char *self);
} shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};

int cmd_completion(const struct invocation *inv)
{
    CLEANUP(opts_deinit) struct opts o = {0};
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    int code;

    if (opts_parse(&o, &def, inv, &why) < 0)
        return tool_misused(inv, "%s", why.s);
    if (opts_answered(&o, HELP, OPT_NONE, &code))
        return code;
    const char *shell = opts_nth(&o, -1, 0);
    CLEANUP(free_p) char *self = realpath("/proc/self/exe", NULL);
    if (!self || strchr(self, '\''))
        return tool_fail(inv, "cannot tell where this program lies: %s", strerror(errno));
    for (size_t i = 0; shell && i < ARRAY_LEN(shells); i++) {
        if (strcmp(shells[i].name, shell) == 0) {
            shells[i].print(self);
            return tool_done(inv);
        }
    }
    return tool_misused(inv, "%s%swhich shell: bash, zsh or fish?", shell ? shell : "",
                        shell ? ": " : "");
}
