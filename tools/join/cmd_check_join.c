/*
 * cmd_check_join.c - klamm check-join: what would be in the way of replacing a Kafka broker with
 * Klamm; exit 0 only where nothing blocks
 *
 * Only ever reads: ZooKeeper through a session that takes no writes, files without so much as a
 * lock, brokers by requests that change nothing.
 */
#include "broker/config/zk_options.h"
#include "common/base/say.h"
#include "tools/base/opts.h"
#include "tools/join/join.h"
#include "zk/zk.h"

#include <stdio.h>

enum {
    CJ_ZOOKEEPER,
    CJ_CONFIG,
    CJ_BOOTSTRAP,
    CJ_CONFIG_FILE,
    CJ_BROKER,
    CJ_TIMEOUT,
    CJ_ALL,
    CJ_OUTPUT,
    CJ_HELP,
};

static const struct opt_spec specs[] = {
    [CJ_ZOOKEEPER] = {"zookeeper", "host:port,.../chroot",
                      "the cluster; as in zookeeper.connect (what --config says)", 0, 'z'},
    [CJ_CONFIG] = {"config", "server.properties",
                   "the broker's own file: it and its log dirs are checked too", 0, 'c'},
    [CJ_BOOTSTRAP] = {"bootstrap-server", "host:port,...",
                      "brokers to ask: whether one may be stopped now, transactions, settings", 0,
                      'b'},
    [CJ_CONFIG_FILE] = {"command-config", "file", "properties of a client: security, timeouts", 0,
                        0},
    [CJ_BROKER] = {"broker", "id", "the one that is to be replaced (that of --config)", 0, 0},
    [CJ_TIMEOUT] = {"timeout", "ms", "how long a broker, or ZooKeeper, has to answer (3000)", 0, 0},
    [CJ_ALL] = {"all", NULL, "every place of a finding, and not the first few", 0, 'a'},
    [CJ_OUTPUT] = {"output", "table|json", "for people or for programs", 0, 'o'},
    [CJ_HELP] = {"help", NULL, "show this", 0, 'h'},
};

static const struct opts_def def = {
    "what is in the way of replacing a Kafka broker with Klamm\n\n"
    "klamm check-join --zookeeper HOST:PORT[/CHROOT] [--config server.properties] [flags]\n\n"
    "Reads the cluster, the configuration and the log dirs, and changes nothing. Run it on the\n"
    "broker's machine, as the user that the broker runs as, with its own server.properties, first\n"
    "while Kafka still runs, and once more when it has been stopped.\n\n"
    "Exit code: 0 nothing blocks (there may be warnings), 1 something does, 2 wrong command line.",
    specs, ARRAY_LEN(specs)};

struct join_command {
    const struct opts *o;
    const char *zookeeper, *config, *bootstrap, *config_file;
    int64_t timeout_ms;
    bool json;
    struct arena arena;
    struct join_facts facts;
    struct why_facts first, second;
    struct stop_facts stop;
    struct zk *zk;
    struct cluster *cluster;
    struct strbuf why;
};

/* ---- the command line ---- */

static int check_options(struct join_command *c)
{
    const char *wrong = NULL;

    if (opts_nth(c->o, -1, 0))
        wrong = "klamm check-join takes flags only";
    else if (!c->zookeeper && !c->config)
        wrong = "--zookeeper or --config says which cluster";
    else if (c->timeout_ms < 1 || c->timeout_ms > 600000)
        wrong = "--timeout is 1 to 600000 (ms)";
    else if (opts_has(c->o, CJ_BROKER) && c->facts.wanted < 0)
        wrong = "--broker takes an id, 0 or more";
    else if (c->config_file && !c->bootstrap)
        wrong = "--command-config goes with --bootstrap-server";
    if (!wrong)
        return 0;
    strbuf_addz(&c->why, wrong);
    return -EINVAL;
}

static int check_connect(struct join_command *c)
{
    const struct zk_conf conf = {
        .connect = c->zookeeper, .session_timeout_ms = 1, .max_in_flight = 1};

    return c->zookeeper ? zk_conf_check(&conf, &c->why) : 0;
}

static int read_options(struct join_command *c)
{
    int r = opts_text(c->o, CJ_ZOOKEEPER, &c->zookeeper, &c->why);

    c->facts.wanted = -1;
    r = r < 0 ? r : opts_text(c->o, CJ_CONFIG, &c->config, &c->why);
    r = r < 0 ? r : opts_text(c->o, CJ_BOOTSTRAP, &c->bootstrap, &c->why);
    r = r < 0 ? r : opts_text(c->o, CJ_CONFIG_FILE, &c->config_file, &c->why);
    r = r < 0 ? r : opts_i32(c->o, CJ_BROKER, &c->facts.wanted, &c->why);
    r = r < 0 ? r : opts_i64(c->o, CJ_TIMEOUT, &c->timeout_ms, &c->why);
    r = r < 0 ? r : opts_json(c->o, CJ_OUTPUT, &c->json, &c->why);
    r = r < 0 ? r : check_options(c);
    return r < 0 ? r : check_connect(c);
}

/* ---- reading ---- */

static void settle_broker(struct join_facts *f)
{
    f->broker = f->wanted;
    if (f->broker < 0 && f->conf)
        f->broker = f->conf->broker_id;
    if (f->broker < 0 && f->conf)
        f->broker = join_stored_broker(f->conf);
}

static void read_conf(struct join_command *c)
{
    struct join_facts *f = &c->facts;

    if (c->config)
        join_read_conf(f, c->config);
    settle_broker(f);
    if (!c->zookeeper && f->conf)
        c->zookeeper = f->conf->zookeeper_connect;
    f->zookeeper = str_of(c->zookeeper);
}

static void read_zk(struct join_command *c)
{
    struct join_facts *f = &c->facts;
    const struct zk_conf how = f->conf ? zk_conf_of_broker(f->conf) : (struct zk_conf){0};

    if (!c->zookeeper) {
        why_unasked(&f->zk, "ZooKeeper: nothing says where it is");
        return;
    }
    f->asked_zk = true;
    c->zk = why_zk_ask(&f->zk, c->zookeeper, c->timeout_ms, &how);
    say_set_level(SAY_FATAL); /* what cannot be decoded is a finding */
    if (c->zk && f->zk.zk.answers == WHY_YES) {
        why_zk_states(&f->zk, zk_as_store(c->zk));
        join_read_nodes(f, zk_as_store(c->zk));
        join_read_guards(f, c->timeout_ms);
    }
    join_read_servers(f, c->timeout_ms);
}

static int ask_brokers(struct join_command *c)
{
    const struct cluster_opts co = {.inv = c->o->inv,
                                    .bootstrap = c->bootstrap,
                                    .config_file = c->config_file,
                                    .timeout_ms = c->timeout_ms,
                                    .tries_once = true};

    if (!c->bootstrap) {
        why_unasked(&c->facts.zk, "brokers: there is no --bootstrap-server; they know more of "
                                  "replicas, transactions and settings");
        return 0;
    }
    int r = cluster_open(&co, &c->why, &c->cluster);
    if (r < 0)
        return r;
    const struct stop_asker ask = {.cluster = c->cluster,
                                   .arena = &c->arena,
                                   .bootstrap = c->bootstrap,
                                   .broker = c->facts.broker};
    c->stop =
        (struct stop_facts){.first = &c->first, .second = &c->second, .broker = c->facts.broker};
    stop_ask(&ask, &c->first, &c->second, &c->stop.hidden);
    c->facts.stop = &c->stop;
    if (c->first.brokers_answer != WHY_YES)
        return 0;
    /* The first look stays what it was: what is asked from here on is no part of can-stop. */
    struct why_facts more = c->first;
    struct why_asker again = {.f = &more, .cluster = c->cluster, .arena = &c->arena};
    more.unasked = (struct why_texts){0};
    join_ask_live(&c->facts, &again);
    for (size_t i = 0; i < more.unasked.count; i++)
        why_unasked(&c->facts.zk, "%.*s", STR_ARG(more.unasked.v[i]));
    return 0;
}

/* ---- */

static int run(struct join_command *c)
{
    struct join_findings all = {.arena = &c->arena};
    struct join_facts *f = &c->facts;

    f->arena = f->zk.arena = &c->arena;
    f->zk.now_ms = clock_wall_ms(&clock_system);
    f->zk.controller = f->zk.asked_broker = f->zk.zk.controller = f->broker = -1;
    read_conf(c);
    read_zk(c);
    join_read_dirs(f); /* last: what ZooKeeper gives the broker has to lie there by now */
    int r = ask_brokers(c);
    if (r < 0)
        return r == -EINVAL ? tool_misused(c->o->inv, "%s", c->why.s)
                            : tool_fail(c->o->inv, "%s", c->why.s);
    join_judge(f, &all);
    const struct join_print_opts po = {.json = c->json,
                                       .lists_all = opts_has(c->o, CJ_ALL),
                                       .broker = f->broker,
                                       .unasked = &f->zk.unasked};
    join_print(&all, &po, stdout);
    r = tool_done(c->o->inv);
    return r ? r : all.counts[JOIN_BLOCKS] > 0;
}

int cmd_check_join(const struct invocation *inv)
{
    CLEANUP(opts_deinit) struct opts o = {0};
    struct join_command c = {.o = &o, .timeout_ms = 3000};
    int code;

    if (opts_parse(&o, &def, inv, &c.why) < 0)
        code = tool_misused(inv, "%s", c.why.s);
    else if (opts_has(&o, CJ_HELP)) {
        opts_help(&def, inv, stdout);
        code = tool_done(inv);
    } else
        code = read_options(&c) < 0 ? tool_misused(inv, "%s", c.why.s) : run(&c);
    zk_free(c.zk);
    cluster_close(c.cluster);
    broker_conf_free(c.facts.conf);
    arena_deinit(&c.arena);
    strbuf_deinit(&c.why);
    return code;
}
