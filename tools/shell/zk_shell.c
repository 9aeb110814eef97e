/*
 * zk_shell.c - a command's flags and words, and who does it
 */
#include "tools/shell/zk_shell.h"

#include "tools/shell/zk_command.h"

static const struct zk_command commands[] = {
    {"addauth", "scheme auth", "", "", 3, false, zk_do_addauth},
    {"create", "[-s] [-e] [-c] [-t ttl] path [data] [acl]", "sec", "t", 2, true, zk_do_create,
     zk_check_create},
    {"delete", "[-v version] path", "", "v", 2, true, zk_do_delete},
    {"deleteall", "path [-b batch size]", "", "b", 2, true, zk_do_deleteall},
    {"get", "[-s] [-w] path", "sw", "", 2, false, zk_do_get},
    {"getAcl", "[-s] path", "s", "", 2, false, zk_do_get_acl},
    {"getAllChildrenNumber", "path", "", "", 2, false, zk_do_count},
    {"ls", "[-s] [-w] [-R] path", "swR", "", 2, false, zk_do_ls},
    {"quit", "", "", "", 1, false, NULL},
    {"set", "[-s] [-v version] path data", "s", "v", 3, true, zk_do_set},
    {"setAcl", "[-s] [-v version] [-R] path acl", "sR", "v", 3, true, zk_do_set_acl,
     zk_check_set_acl},
    {"stat", "[-w] path", "w", "", 2, false, zk_do_stat},
    {"sync", "path", "", "", 2, false, zk_do_sync},
};

void zk_shell_list(FILE *out)
{
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        fprintf(out, "\t%s %s\n", commands[i].name, commands[i].usage);
}

static const struct zk_command *find(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    }
    return NULL;
}

static int unknown_command(const struct zk_shell *sh, const char *name)
{
    if (sh->inv->as_kafka) {
        fputs("ZooKeeper -server host:port [-zk-tls-config-file <file>] cmd args\n", stderr);
        zk_shell_list(stderr);
        fprintf(stderr, "Command not found: Command not found %s\n", name);
        return ZK_UNKNOWN_COMMAND;
    }
    return tool_misused(sh->inv, "there is no command %s (%s --help lists them)", name,
                        sh->inv->program);
}

static int usage(const struct zk_call *c)
{
    if (c->sh->inv->as_kafka) {
        fprintf(stderr, "%s %s\n", c->command->name, c->command->usage);
        return TOOL_FAILED;
    }
    return tool_misused(c->sh->inv, "%s %s", c->command->name, c->command->usage);
}

int zk_call_fail(const struct zk_call *c, int code, const char *path)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};

    zk_error_print(code, path, &why);
    return tool_fail(c->sh->inv, "%s", why.s);
}

static int unknown_flag(const struct zk_call *c, const char *word)
{
    return tool_misused(
        c->sh->inv, "%sUnrecognized option: %s",
        c->sh->inv->as_kafka ? "org.apache.commons.cli.UnrecognizedOptionException: " : "", word);
}

/* Flags stand anywhere among the words. 0, or the exit code. */
static int take_words(struct zk_call *c, int argc, char *const *argv)
{
    for (int i = 0; i < argc; i++) {
        const char *word = argv[i];
        if (word[0] != '-' || word[1] == '\0') {
            if (c->count < ZK_WORDS_MAX)
                c->words[c->count++] = word;
            continue;
        }
        bool single = word[2] == '\0';
        if (single && strchr(c->command->flags, word[1])) {
            c->flags |= zk_flag(word[1]);
        } else if (strchr(c->command->values, word[1]) && (!single || i + 1 < argc)) {
            c->flags |= zk_flag(word[1]);
            c->value = single ? argv[++i] : word + 2;
        } else {
            return unknown_flag(c, word);
        }
    }
    return c->count < c->command->words ? usage(c) : 0;
}

static int check_value(struct zk_call *c)
{
    char flag = c->command->values[0];
    int64_t low = flag == 't' ? INT64_MIN : INT32_MIN, high = flag == 't' ? INT64_MAX : INT32_MAX;

    c->number = -1;
    if (!c->value || str_to_i64(str_of(c->value), low, high, &c->number) == 0)
        return 0;
    if (flag == 'v')
        return tool_misused(c->sh->inv, "-v %s: a number is wanted", c->value);
    return tool_misused(c->sh->inv, "-%c argument must be %s value", flag,
                        flag == 't' ? "a long" : "an int");
}

static int check_path(const struct zk_call *c)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};

    if (c->count < 2 || c->command->run == zk_do_addauth || zk_path_check(c->words[1], &why) == 0)
        return 0;
    return tool_misused(c->sh->inv, "%s", why.s);
}

int zk_shell_run(struct zk_shell *sh, int argc, char *const *argv)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct zk_call c = {.sh = sh, .command = find(argv[0]), .arena = &a};

    if (!c.command)
        return unknown_command(sh, argv[0]);
    if (!c.command->run) {
        sh->leave = true;
        return 0;
    }
    int code = take_words(&c, argc, argv);
    code = code ? code : check_value(&c);
    code = code ? code : check_path(&c);
    if (code == 0 && c.command->check)
        code = c.command->check(&c);
    if (code == 0 && !sh->zk)
        code = sh->connect(sh);
    if (code == 0 && sh->dry_run && c.command->changes && c.command->run != zk_do_deleteall) {
        printf("would %s %s\n", c.command->name, c.words[1]);
        return tool_done(sh->inv);
    }
    return code ? code : c.command->run(&c);
}
