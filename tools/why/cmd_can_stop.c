/*
 * cmd_can_stop.c - klamm can-stop N: exit 0 only where every partition keeps a leader and its min
 * ISR without that broker
 *
 * The cluster is looked at twice: Metadata, settings, who answers; then Metadata again. Only what
 * holds in both looks counts (why_judge_stop.c). Whatever was not to be known makes it a 3.
 */
#include "common/base/err.h"
#include "tools/base/opts.h"
#include "tools/why/why_stop.h"

#include <stdio.h>

enum { CS_BOOTSTRAP, CS_CONFIG_FILE, CS_TIMEOUT, CS_ALL, CS_OUTPUT, CS_HELP };

enum { STOP_EXIT_IN_DOUBT = 3 };

static const struct opt_spec specs[] = {
    [CS_BOOTSTRAP] = {"bootstrap-server", "host:port,...", "brokers to ask", 0, 'b'},
    [CS_CONFIG_FILE] = {"command-config", "file", "properties of a client: security, timeouts", 0,
                        0},
    [CS_TIMEOUT] = {"timeout", "ms", "how long a broker has to answer (3000)", 0, 0},
    [CS_ALL] = {"all", NULL, "every partition that stands in the way", 0, 'a'},
    [CS_OUTPUT] = {"output", "table|json", "for people or for programs", 0, 'o'},
    [CS_HELP] = {"help", NULL, "show this", 0, 'h'},
};

static const struct opts_def def = {
    "whether a broker may be stopped now\n\nklamm can-stop BROKER [flags]\n\n"
    "Exit code: 0 yes, every partition keeps a leader and its min.insync.replicas; 1 no; 2 wrong\n"
    "command line, or no such broker; 3 it cannot be known. Stop one broker at a time, and ask\n"
    "again before the next.",
    specs, ARRAY_LEN(specs)};

struct stop_command {
    const struct opts *o;
    int32_t broker;
    const char *bootstrap, *config_file;
    int64_t timeout_ms;
    bool json;
    struct arena arena;
    struct why_facts first, second;
    struct cluster *cluster;
    struct strbuf why;
};

static int read_options(struct stop_command *c)
{
    const char *word = opts_nth(c->o, -1, 0);

    if (!word || opts_nth(c->o, -1, 1) || str_to_i32(str_of(word), 0, INT32_MAX, &c->broker) < 0) {
        strbuf_addz(&c->why, "klamm can-stop takes the id of one broker");
        return -EINVAL;
    }
    int r = opts_text(c->o, CS_BOOTSTRAP, &c->bootstrap, &c->why);
    r = r < 0 ? r : opts_text(c->o, CS_CONFIG_FILE, &c->config_file, &c->why);
    r = r < 0 ? r : opts_i64(c->o, CS_TIMEOUT, &c->timeout_ms, &c->why);
    r = r < 0 ? r : opts_json(c->o, CS_OUTPUT, &c->json, &c->why);
    if (r == 0 && (!c->bootstrap || c->timeout_ms < 1 || c->timeout_ms > 600000)) {
        strbuf_addz(&c->why, c->bootstrap ? "--timeout is 1 to 600000 (ms)"
                                          : "--bootstrap-server says whom to ask");
        r = -EINVAL;
    }
    return r;
}

static const struct {
    const char *before, *after; /* the id */
    int code;
} verdicts[] = {
    [STOP_YES] = {"yes: broker ", " may be stopped", 0},
    [STOP_NO] = {"no: broker ", " may not be stopped now", TOOL_FAILED},
    [STOP_UNKNOWN_BROKER] = {"there is no broker ", "", TOOL_MISUSED},
    [STOP_IN_DOUBT] = {"in doubt: whether broker ", " may be stopped cannot be known",
                       STOP_EXIT_IN_DOUBT},
};

static const char *verdict_text(struct stop_command *c, enum stop_verdict v)
{
    struct str text =
        arena_printf(&c->arena, "%s%d%s", verdicts[v].before, c->broker, verdicts[v].after);

    return arena_strz(&c->arena, text);
}

static int unknown_broker(struct stop_command *c)
{
    CLEANUP(strbuf_deinit) struct strbuf ids = {0};

    for (int32_t i = 0; i < c->second.brokers_count; i++)
        strbuf_addf(&ids, "%s%d", ids.len ? ", " : "", c->second.brokers[i].id);
    return tool_misused(c->o->inv,
                        "there is no broker %d, and no partition names it: brokers are %s",
                        c->broker, ids.len ? ids.s : "none");
}

static int run(struct stop_command *c)
{
    const struct cluster_opts co = {.inv = c->o->inv,
                                    .bootstrap = c->bootstrap,
                                    .config_file = c->config_file,
                                    .timeout_ms = c->timeout_ms,
                                    .tries_once = true};
    struct why_findings all = {.arena = &c->arena};
    struct stop_facts s = {.first = &c->first, .second = &c->second, .broker = c->broker};
    int r = cluster_open(&co, &c->why, &c->cluster);

    if (r < 0)
        return tool_misused(c->o->inv, "%s", c->why.s);
    const struct stop_asker ask = {
        .cluster = c->cluster, .arena = &c->arena, .bootstrap = c->bootstrap, .broker = c->broker};
    stop_ask(&ask, &c->first, &c->second, &s.hidden);
    enum stop_verdict v = stop_judge(&s, &all);
    if (v == STOP_UNKNOWN_BROKER)
        return unknown_broker(c);
    why_finish(&all);
    const struct why_print_opts po = {
        .json = c->json, .lists_all = opts_has(c->o, CS_ALL), .verdict = verdict_text(c, v)};
    why_print(&c->first, &all, &po, stdout);
    r = tool_done(c->o->inv);
    return r ? STOP_EXIT_IN_DOUBT : verdicts[v].code;
}

int cmd_can_stop(const struct invocation *inv)
{
    CLEANUP(opts_deinit) struct opts o = {0};
    struct stop_command c = {.o = &o, .timeout_ms = 3000};
    int code;

    if (opts_parse(&o, &def, inv, &c.why) < 0)
        code = tool_misused(inv, "%s", c.why.s);
    else if (opts_has(&o, CS_HELP)) {
        opts_help(&def, inv, stdout);
        code = tool_done(inv);
    } else
        code = read_options(&c) < 0 ? tool_misused(inv, "%s", c.why.s) : run(&c);
    cluster_close(c.cluster);
    arena_deinit(&c.arena);
    strbuf_deinit(&c.why);
    return code;
}
