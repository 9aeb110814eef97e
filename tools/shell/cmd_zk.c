/*
 * cmd_zk.c - zookeeper-shell: a command for ZooKeeper, or many, line by line from standard input
 *
 *   zookeeper-shell localhost:2181 ls /brokers/ids
 *   klamm zk localhost:2181/chroot --output json get /controller
 */
#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/base/props.h"
#include "tools/shell/zk_shell.h"

#include <stdlib.h>
#include <unistd.h>

enum id { TLS_FILE, TIMEOUT, SERVER, READ_ONLY, WAIT, OUTPUT, DRY_RUN, HELP };
enum { SESSION_MS = 30000, PATIENCE_MS = 5000, LINE_MAX_BYTES = 2 << 20 };

static const struct opt_spec specs[] = {
    [TLS_FILE] = {"zk-tls-config-file", "file",
                  "properties with zookeeper.ssl.*, for a ZooKeeper with TLS", 0, 0},
    [TIMEOUT] = {"timeout", "ms", "how long the session may be without a sign of life (30000)", 0,
                 0},
    [SERVER] = {"server", "host:port", "the ZooKeeper to connect to, as the first word", OPT_KAFKAS,
                0},
    [READ_ONLY] = {"r", NULL, "no effect: a server without a quorum does not answer", OPT_KAFKAS,
                   0},
    [WAIT] = {"waitforconnection", NULL, "no effect: it is always waited for", OPT_KAFKAS, 0},
    [OUTPUT] = {"output", "table|json", "how ls, get, stat and getAcl print", OPT_OURS, 'o'},
    [DRY_RUN] = {"dry-run", NULL, "only say what would be changed", OPT_OURS, 0},
    [HELP] = {"help", NULL, "show this", OPT_OURS, 'h'},
};

static const struct opts_def def = {
    "HOST:PORT[/CHROOT] [flags] [COMMAND ...]; without a command, lines of standard input", specs,
    ARRAY_LEN(specs)};

struct session {
    struct zk_shell shell; /* first: connect() finds the rest through it */
    struct zk_direct_conf conf;
    struct props props;
};

/* ---- session ---- */

static int connect_now(struct zk_shell *sh)
{
    struct session *s = (struct session *)sh;
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    bool as_kafka = sh->inv->as_kafka;
    int64_t patience_ms = s->conf.session_timeout_ms; /* as ZooKeeper's shell */
    int r = zk_direct_open(&s->conf, as_kafka ? patience_ms : MIN(patience_ms, PATIENCE_MS),
                           &sh->zk, &why);

    if (r < 0)
        return tool_fail(sh->inv, "%s", why.s);
    if (as_kafka)
        puts("\nWATCHER::\n\nWatchedEvent state:SyncConnected type:None path:null");
    return 0;
}

static const char *zk_prop(const struct session *s, const char *name)
{
    CLEANUP(free_p) char *key = xasprintf("zookeeper.%s", name);

    return props_get(&s->props, key);
}

static int read_tls(struct session *s, const char *path)
{
    const struct invocation *inv = s->shell.inv;
    int line = 0, r = props_load(&s->props, path, &line);

    if (r < 0)
        return line
                   ? tool_fail(inv, "%s:%d: not a line of a properties file (--zk-tls-config-file)",
                               path, line)
                   : tool_fail(inv, "%s: %s (--zk-tls-config-file)", path, strerror(-r));
    const char *enabled = zk_prop(s, "ssl.client.enable");
    s->conf.ssl = enabled && strcmp(enabled, "true") == 0;
    s->conf.ssl_truststore = zk_prop(s, "ssl.truststore.location");
    s->conf.ssl_keystore = zk_prop(s, "ssl.keystore.location");
    s->conf.ssl_key_password = zk_prop(s, "ssl.keystore.password");
    if (s->conf.ssl && !(s->conf.ssl_truststore && s->conf.ssl_keystore))
        return tool_fail(inv,
                         "%s: zookeeper.ssl.truststore.location and "
                         "zookeeper.ssl.keystore.location are wanted, both as PEM files",
                         path);
    return 0;
}

/* ---- line by line ---- */

static int run_lines(struct session *s)
{
    CLEANUP(free_p) char *line = NULL;
    bool prompt = !s->shell.inv->as_kafka && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    size_t room = 0;
    int code = 0;

    if (s->shell.inv->as_kafka)
        puts("Welcome to ZooKeeper!\nJLine support is disabled");
    while (!s->shell.leave) {
        CLEANUP(arena_deinit) struct arena a = {0};
        char **words;
        int count;
        fputs(prompt ? "zk> " : "", stdout);
        fflush(stdout);
        ssize_t n = getline(&line, &room, stdin);
        if (n < 0)
            break;
        if (n > LINE_MAX_BYTES)
            return tool_fail(s->shell.inv, "a line is longer than %d bytes", LINE_MAX_BYTES);
        zk_words((struct str){line, (size_t)n}, &a, &words, &count);
        if (count)
            code = zk_shell_run(&s->shell, count, words);
    }
    return code;
}

/* ---- command line ---- */

static int usage(const struct invocation *inv)
{
    if (!inv->as_kafka)
        return tool_misused(inv,
                            "the ZooKeeper to connect to is missing: %s HOST:PORT "
                            "(%s --help shows the flags)",
                            inv->program, inv->program);
    fprintf(stderr, "USAGE: %s zookeeper_host:port[/path] [-zk-tls-config-file file] [args...]\n",
            inv->program);
    return TOOL_FAILED;
}

/* How many words stand in front of the command: its flags are not ours. */
static int words_before(const struct invocation *inv, bool has_server)
{
    int i = 0, bare = has_server;

    for (; i < inv->argc; i++) {
        const char *word = inv->argv[i];
        if (word[0] != '-') {
            if (bare++)
                break;
            continue;
        }
        const char *name = word + 1 + (word[1] == '-');
        for (int k = 0; k < def.count && !strchr(word, '='); k++) {
            bool is_letter = specs[k].letter && name[0] == specs[k].letter && name[1] == '\0';
            if (specs[k].arg && (is_letter || strcmp(name, specs[k].name) == 0))
                i++;
        }
    }
    return MIN(i, inv->argc);
}

static int read_flags(struct session *s, const struct opts *o, struct strbuf *why)
{
    int r = opts_i32(o, TIMEOUT, &s->conf.session_timeout_ms, why);

    r = r < 0 ? r : opts_json(o, OUTPUT, &s->shell.json, why);
    s->shell.dry_run = opts_has(o, DRY_RUN);
    s->conf.connect = opts_has(o, SERVER) ? opts_nth(o, SERVER, 0) : opts_nth(o, -1, 0);
    if (r == 0 && s->conf.session_timeout_ms < 1) {
        strbuf_addz(why, "--timeout: a number of milliseconds is wanted");
        return -EINVAL;
    }
    return r;
}

static int run(struct session *s, const struct opts *o, int argc, char *const *argv)
{
    const char *tls_file = opts_nth(o, TLS_FILE, 0);
    int code = tls_file ? read_tls(s, tls_file) : 0;

    if (code)
        return code;
    if (s->shell.inv->as_kafka)
        printf("Connecting to %s\n", s->conf.connect);
    code = argc ? zk_shell_run(&s->shell, argc, argv) : run_lines(s);
    if (code == 0)
        code = tool_done(s->shell.inv);
    return code;
}

int cmd_zk(const struct invocation *inv)
{
    CLEANUP(opts_deinit) struct opts o = {0};
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    bool has_server = inv->argc > 0 && strcmp(inv->argv[0], "-server") == 0;
    int n = words_before(inv, has_server), code;
    const struct invocation before = {inv->program, inv->as_kafka, n, inv->argv, inv->wanted};
    struct session s = {.shell = {.inv = inv, .connect = connect_now},
                        .conf = {.session_timeout_ms = SESSION_MS}};

    if (opts_parse(&o, &def, &before, &why) < 0 ||
        (!opts_has(&o, HELP) && read_flags(&s, &o, &why) < 0))
        return tool_misused(inv, "%s", why.s);
    if (opts_has(&o, HELP)) {
        opts_help(&def, inv, stdout);
        puts("\nCommands, as in ZooKeeper's own shell:");
        zk_shell_list(stdout);
        return tool_done(inv);
    }
    if (!s.conf.connect)
        return usage(inv);
    code = run(&s, &o, inv->argc - n, inv->argv + n);
    zk_direct_close(s.shell.zk);
    props_deinit(&s.props);
    return code;
}
