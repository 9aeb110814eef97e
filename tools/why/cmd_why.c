/*
 * cmd_why.c - klamm why: what is not well, why, and what unblocks it
 *
 * Three steps, apart from each other: brokers and ZooKeeper are asked (why_ask*.c, why_zk.c), what
 * they said is judged (why_judge_*.c), the findings are printed (why_print.c).
 */
#include "common/base/err.h"
#include "common/base/mem.h"
#include "tools/base/opts.h"
#include "tools/why/why.h"
#include "zk/zk.h"

#include <stdio.h>
#include <time.h>

enum {
    W_BOOTSTRAP,
    W_ZOOKEEPER,
    W_CONFIG_FILE,
    W_WATCH,
    W_TIMEOUT,
    W_ALL,
    W_OUTPUT,
    W_HELP,
};

static const struct opt_spec specs[] = {
    [W_BOOTSTRAP] = {"bootstrap-server", "host:port,...", "brokers to ask", 0, 'b'},
    [W_ZOOKEEPER] = {"zookeeper", "host:port,.../chroot",
                     "zookeeper.connect of the brokers: explains more; also without a "
                     "--bootstrap-server",
                     0, 'z'},
    [W_CONFIG_FILE] = {"command-config", "file", "properties of a client: security, timeouts", 0,
                       0},
    [W_WATCH] = {"watch", "seconds", "look at a group twice, that far apart: does it get on?", 0,
                 'w'},
    [W_TIMEOUT] = {"timeout", "ms", "how long a broker, or ZooKeeper, has to answer (3000)", 0, 0},
    [W_ALL] = {"all", NULL, "every partition of a finding, and not the first few", 0, 'a'},
    [W_OUTPUT] = {"output", "table|json", "for people or for programs", 0, 'o'},
    [W_HELP] = {"help", NULL, "show this", 0, 'h'},
};

static const struct opts_def def = {
    "what is not well in a cluster, why, and what unblocks it\n\nklamm why [SUBJECT] [flags]\n\n"
    "  (nothing)        everything that is not well, worst first\n"
    "  topic T[:P]      why partitions have no leader, or too few replicas in sync\n"
    "  group G          why a consumer group does not get on\n"
    "  broker N         why a broker is not registered, or does not serve\n"
    "  deletion T       why a topic is not deleted\n"
    "  reassignment     why moves of partitions do not come to their end\n"
    "  controller       who is controller, and why there is none\n\n"
    "Exit code: 0 all is well, 1 something is wrong, 2 wrong command line.",
    specs, ARRAY_LEN(specs)};

enum subject { S_ALL, S_TOPIC, S_GROUP, S_BROKER, S_DELETION, S_REASSIGNMENT, S_CONTROLLER };

static const struct {
    const char *word;
    bool has_name;
} subjects[] = {
    [S_ALL] = {"", false},
    [S_TOPIC] = {"topic", true},
    [S_GROUP] = {"group", true},
    [S_BROKER] = {"broker", true},
    [S_DELETION] = {"deletion", true},
    [S_REASSIGNMENT] = {"reassignment", false},
    [S_CONTROLLER] = {"controller", false},
};

struct why_command {
    const struct opts *o;
    enum subject subject;
    struct str name; /* of the topic, the group */
    int32_t number;  /* partition, broker; -1: none */
    const char *zookeeper, *bootstrap, *config_file;
    int64_t timeout_ms;
    int32_t watch_s;
    bool json;
    struct arena arena;
    struct why_facts facts;
    struct why_asker ask;
    struct cluster *cluster;
    struct zk *zk;
    struct strbuf why;
};

/* ---- the command line ---- */

static int wrong_subject(struct why_command *c, const char *word)
{
    strbuf_addf(&c->why,
                "%s is no subject: topic T[:P], group G, broker N, deletion T, reassignment, "
                "controller",
                word);
    return -EINVAL;
}

static int read_name(struct why_command *c, struct str name)
{
    const char *colon = memrchr(name.p, ':', name.len);

    c->name = name;
    c->number = -1;
    if (c->subject == S_BROKER && str_to_i32(name, 0, INT32_MAX, &c->number) < 0) {
        strbuf_addf(&c->why, "%.*s is no broker id", STR_ARG(name));
        return -EINVAL;
    }
    if (c->subject != S_TOPIC || !colon)
        return 0;
    c->name.len = (size_t)(colon - name.p);
    if (str_to_i32(str_of(colon + 1), 0, INT32_MAX, &c->number) == 0)
        return 0;
    strbuf_addf(&c->why, "%s is no partition", colon + 1);
    return -EINVAL;
}

static int read_subject(struct why_command *c)
{
    const char *word = opts_nth(c->o, -1, 0), *name = opts_nth(c->o, -1, 1);

    if (!word)
        return 0;
    for (size_t i = S_TOPIC; i < ARRAY_LEN(subjects); i++) {
        if (strcmp(word, subjects[i].word) != 0)
            continue;
        c->subject = (enum subject)i;
        if (subjects[i].has_name != (name && *name) || opts_nth(c->o, -1, 2)) {
            strbuf_addf(&c->why, "klamm why %s takes %s", word,
                        subjects[i].has_name ? "one name" : "nothing more");
            return -EINVAL;
        }
        return name ? read_name(c, str_of(name)) : 0;
    }
    return wrong_subject(c, word);
}

static int check_numbers(struct why_command *c)
{
    if (c->timeout_ms < 1 || c->timeout_ms > 600000 || c->watch_s < 0 || c->watch_s > 3600) {
        strbuf_addz(&c->why, "--timeout is 1 to 600000 (ms), --watch 0 to 3600 (seconds)");
        return -EINVAL;
    }
    if (c->watch_s && c->subject != S_GROUP) {
        strbuf_addz(&c->why, "--watch goes with group G only");
        return -EINVAL;
    }
    if (c->bootstrap || c->zookeeper)
        return 0;
    strbuf_addz(&c->why, "--bootstrap-server or --zookeeper says whom to ask");
    return -EINVAL;
}

static int read_options(struct why_command *c)
{
    int r = read_subject(c);

    r = r < 0 ? r : opts_text(c->o, W_BOOTSTRAP, &c->bootstrap, &c->why);
    r = r < 0 ? r : opts_text(c->o, W_ZOOKEEPER, &c->zookeeper, &c->why);
    r = r < 0 ? r : opts_text(c->o, W_CONFIG_FILE, &c->config_file, &c->why);
    r = r < 0 ? r : opts_i64(c->o, W_TIMEOUT, &c->timeout_ms, &c->why);
    r = r < 0 ? r : opts_i32(c->o, W_WATCH, &c->watch_s, &c->why);
    r = r < 0 ? r : opts_json(c->o, W_OUTPUT, &c->json, &c->why);
    return r < 0 ? r : check_numbers(c);
}

/* ---- asking ---- */

static int ask_at(struct why_command *c, const char *bootstrap)
{
    const struct cluster_opts co = {.inv = c->o->inv,
                                    .bootstrap = bootstrap,
                                    .config_file = c->config_file,
                                    .timeout_ms = c->timeout_ms,
                                    .tries_once = true};

    c->facts.bootstrap = str_of(bootstrap);
    c->cluster = cluster_close(c->cluster);
    int r = cluster_open(&co, &c->why, &c->cluster);
    if (r < 0)
        return r;
    c->ask = (struct why_asker){.f = &c->facts, .cluster = c->cluster, .arena = &c->arena};
    c->ask.topic = c->subject == S_TOPIC ? c->name : STR_NULL;
    (void)why_ask_metadata(&c->ask);
    return 0;
}

/* Where ZooKeeper says that brokers are; NULL: it knows none. */
static const char *registered_addresses(struct why_command *c)
{
    CLEANUP(strbuf_deinit) struct strbuf sb = {0};

    for (int32_t i = 0; i < c->facts.brokers_count; i++) {
        const struct why_broker *b = &c->facts.brokers[i];
        if (b->registered == WHY_YES && b->address.len)
            strbuf_addf(&sb, "%s%.*s", sb.len ? "," : "", STR_ARG(b->address));
    }
    return sb.len ? arena_strz(&c->arena, strbuf_str(&sb)) : NULL;
}

/* The brokers that were named, and where none of them answers those that ZooKeeper knows. */
static int ask_brokers(struct why_command *c)
{
    int r = c->bootstrap ? ask_at(c, c->bootstrap) : 0;
    const char *known = registered_addresses(c);

    if (r == 0 && known && c->facts.brokers_answer != WHY_YES)
        r = ask_at(c, known);
    if (r < 0)
        return r;
    why_settle(&c->facts);
    if (c->facts.brokers_answer == WHY_YES)
        why_ask_brokers(&c->ask);
    return 0;
}

static void ask_deletions(struct why_command *c)
{
    if (c->subject == S_DELETION || c->facts.zk.deletions_count)
        why_ask_controller_config(&c->ask);
    for (size_t i = 0; i < c->facts.zk.deletions_count; i++) {
        struct why_deletion *d = &c->facts.zk.deletions[i];
        if (c->subject == S_ALL || str_eq(d->topic, c->name))
            why_ask_holders(&c->ask, d);
    }
}

static void ask_details(struct why_command *c)
{
    if (c->subject == S_CONTROLLER)
        return;
    if (c->subject != S_BROKER)
        why_ask_topic_configs(&c->ask);
    if (c->subject != S_BROKER && c->subject != S_GROUP)
        why_ask_moves(&c->ask);
    why_ask_rates(&c->ask);
    why_ask_replicas(&c->ask);
    why_sum_up(&c->facts);
    if (c->subject == S_ALL || c->subject == S_DELETION || c->subject == S_TOPIC)
        ask_deletions(c);
    if (c->subject == S_ALL)
        why_ask_groups(&c->ask);
    if (c->subject == S_GROUP)
        why_ask_group(&c->ask, c->name);
}

static void watch(struct why_command *c)
{
    const struct timespec ts = {c->watch_s, 0};

    if (c->subject != S_GROUP || c->watch_s == 0 || c->facts.groups_count == 0)
        return;
    nanosleep(&ts, NULL); /* Ctrl-C ends the program: nothing has been changed */
    why_ask_group(&c->ask, c->name);
}

static int gather(struct why_command *c)
{
    c->facts.arena = &c->arena;
    c->facts.now_ms = clock_wall_ms(&clock_system);
    c->facts.controller = c->facts.asked_broker = c->facts.zk.controller = -1;
    c->facts.zookeeper = str_of(c->zookeeper);
    if (c->zookeeper)
        c->zk = why_zk_ask(&c->facts, c->zookeeper, c->timeout_ms, NULL);
    else if (c->subject == S_BROKER || c->subject == S_DELETION || c->subject == S_CONTROLLER)
        why_unasked(&c->facts, "ZooKeeper: there is no --zookeeper; it knows more of this");
    int r = ask_brokers(c);
    if (r < 0)
        return r;
    if (c->facts.brokers_answer == WHY_YES)
        ask_details(c);
    if (c->zk && c->subject != S_CONTROLLER)
        why_zk_states(&c->facts, zk_as_store(c->zk));
    if (c->facts.brokers_answer == WHY_YES)
        watch(c);
    return 0;
}

/* ---- judging ---- */

static const struct why_deletion *find_deletion(const struct why_command *c)
{
    for (size_t i = 0; i < c->facts.zk.deletions_count; i++) {
        if (str_eq(c->facts.zk.deletions[i].topic, c->name))
            return &c->facts.zk.deletions[i];
    }
    return NULL;
}

static void judge_unknown(struct why_command *c, struct str name, struct why_findings *ret)
{
    const struct why_item item = {.name = name, .detail = STR("")};
    struct why_finding w = why_begin(&c->arena, WHY_DEGRADED, "topic", item);

    w.what = STR("there is no such topic or partition");
    why_because(&c->arena, &w, STR("it is not in the metadata"), c->facts.source);
    why_unblock(&c->arena, &w,
                arena_printf(&c->arena,
                             "klamm topics --bootstrap-server %.*s --list shows what "
                             "there is; one that may not be seen (DESCRIBE) is not "
                             "listed either",
                             STR_ARG(c->facts.bootstrap)));
    why_done(ret, &w);
}

static void judge_topic(struct why_command *c, struct why_findings *ret)
{
    const struct why_topic *t = why_find_topic(&c->facts, c->name);
    const struct why_deletion *d = find_deletion(c);
    int32_t n = 0;

    if (d)
        why_judge_deletion(&c->facts, d, ret);
    for (int32_t i = 0; t && i < t->count; i++) {
        if (c->number >= 0 && t->v[i].partition != c->number)
            continue;
        n++;
        why_judge_partition(&c->facts, &t->v[i], ret);
        why_judge_move(&c->facts, &t->v[i], ret);
    }
    if (t && t->error && t->error != LEADER_NOT_AVAILABLE)
        why_unasked(&c->facts, "topic %.*s: %s", STR_ARG(c->name), err_name(t->error));
    else if (n == 0 && !d && c->facts.source.len)
        judge_unknown(c, c->name, ret);
}

static void judge_moves(struct why_command *c, struct why_findings *ret)
{
    for (int32_t i = 0; i < c->facts.topics_count; i++) {
        for (int32_t k = 0; k < c->facts.topics[i].count; k++)
            why_judge_move(&c->facts, &c->facts.topics[i].v[k], ret);
    }
    why_judge_legacy_moves(&c->facts, ret);
}

static void judge_group(struct why_command *c, struct why_findings *ret)
{
    const struct why_facts *f = &c->facts;

    if (f->groups_count == 0)
        return;
    why_judge_group(f, &f->groups[f->groups_count - 1], ret);
    if (f->groups_count > 1)
        why_judge_progress(f, &f->groups[0], &f->groups[1], ret);
}

static void judge(struct why_command *c, struct why_findings *ret)
{
    const struct why_facts *f = &c->facts;

    if (c->subject == S_ALL) {
        why_judge_all(f, ret);
        return;
    }
    why_judge_reach(f, ret);
    why_judge_zk(f, ret);
    switch (c->subject) {
    case S_TOPIC:
        judge_topic(c, ret);
        break;
    case S_GROUP:
        judge_group(c, ret);
        break;
    case S_BROKER:
        why_judge_broker(f, c->number, true, ret);
        break;
    case S_DELETION:
        if (find_deletion(c))
            why_judge_deletion(f, find_deletion(c), ret);
        else
            why_judge_no_deletion(f, c->name, ret);
        break;
    case S_REASSIGNMENT:
        judge_moves(c, ret);
        break;
    default:
        why_judge_controller(f, true, ret);
        why_judge_notices(f, ret);
    }
}

/* ---- */

static const char *well_text(struct why_command *c)
{
    const struct why_facts *f = &c->facts;
    struct str text;

    if (c->subject == S_REASSIGNMENT)
        text = STR("no reassignment is under way");
    else if (c->subject == S_TOPIC)
        text = arena_printf(&c->arena,
                            "topic %.*s is well: every partition asked for has a leader "
                            "and all its replicas in sync",
                            STR_ARG(c->name));
    else if (c->subject == S_ALL)
        text =
            arena_printf(&c->arena,
                         "all is well: %d broker(s), controller %d, %d topic(s), %d "
                         "partition(s)",
                         f->brokers_count, f->controller, f->topics_count, why_partition_count(f));
    else
        text = STR("nothing is known to be wrong");
    return arena_strz(&c->arena, text);
}

static int run(struct why_command *c)
{
    struct why_findings all = {.arena = &c->arena};
    int r = gather(c);

    if (r < 0)
        return r == -EINVAL ? tool_misused(c->o->inv, "%s", c->why.s)
                            : tool_fail(c->o->inv, "%s", c->why.s);
    judge(c, &all);
    why_finish(&all);
    const struct why_print_opts po = {
        .json = c->json, .lists_all = opts_has(c->o, W_ALL), .well = well_text(c)};
    why_print(&c->facts, &all, &po, stdout);
    r = tool_done(c->o->inv);
    return r ? r : why_is_wrong(&all);
}

int cmd_why(const struct invocation *inv)
{
    CLEANUP(opts_deinit) struct opts o = {0};
    struct why_command c = {.o = &o, .timeout_ms = 3000, .number = -1};
    int code;

    if (opts_parse(&o, &def, inv, &c.why) < 0)
        code = tool_misused(inv, "%s", c.why.s);
    else if (opts_has(&o, W_HELP)) {
        opts_help(&def, inv, stdout);
        code = tool_done(inv);
    } else
        code = read_options(&c) < 0 ? tool_misused(inv, "%s", c.why.s) : run(&c);
    zk_free(c.zk);
    cluster_close(c.cluster);
    arena_deinit(&c.arena);
    strbuf_deinit(&c.why);
    return code;
}
