/*
 * cmd_reassign.c - kafka-reassign-partitions: its command line, its checks in their order, its exit
 * codes
 */
#include "common/base/err.h"
#include "common/io/fs.h"
#include "tools/reassign/reassign.h"

enum reassign_opt {
    RA_BOOTSTRAP,
    RA_CONFIG_FILE,
    RA_GENERATE,
    RA_EXECUTE,
    RA_VERIFY,
    RA_CANCEL,
    RA_LIST,
    RA_FILE,
    RA_TOPICS_FILE,
    RA_BROKERS,
    RA_NO_RACKS,
    RA_THROTTLE,
    RA_DIR_THROTTLE,
    RA_TIMEOUT,
    RA_ADDITIONAL,
    RA_KEEP_THROTTLES,
    RA_OUTPUT,
    RA_DRY_RUN,
    RA_WAIT,
    RA_HELP,
    RA_VERSION,
};

enum { PLAN_MAX_BYTES = 256 << 20, NO_OPT = -2 };

static const struct opt_spec specs[] = {
    [RA_BOOTSTRAP] = {"bootstrap-server", "host:port,...", "the cluster to connect to (required)",
                      0, 'b'},
    [RA_CONFIG_FILE] = {"command-config", "file",
                        "client properties: security.protocol, ssl.*, timeouts", 0, 0},
    [RA_GENERATE] = {"generate", NULL, "propose where partitions could lie; nothing is changed", 0,
                     0},
    [RA_EXECUTE] = {"execute", NULL, "start the moves of a plan", 0, 0},
    [RA_VERIFY] = {"verify", NULL, "say how far a plan is; when all is done, lift throttles", 0, 0},
    [RA_CANCEL] = {"cancel", NULL, "end the moves of a plan, back to the replicas before", 0, 0},
    [RA_LIST] = {"list", NULL, "print all moves that are under way", 0, 0},
    [RA_FILE] = {"reassignment-json-file", "file",
                 "the plan: {\"version\":1,\"partitions\":[{\"topic\":\"t\",\"partition\":0,"
                 "\"replicas\":[1,2],\"log_dirs\":[\"any\",\"/data\"]}]}",
                 0, 'f'},
    [RA_TOPICS_FILE] = {"topics-to-move-json-file", "file",
                        "what --generate is about: {\"version\":1,\"topics\":[{\"topic\":\"t\"}]}",
                        0, 0},
    [RA_BROKERS] = {"broker-list", "1,2,...", "the brokers that --generate may use", 0, 0},
    [RA_NO_RACKS] = {"disable-rack-aware", NULL, "propose without a look at racks", 0, 0},
    [RA_THROTTLE] = {"throttle", "bytes/s", "how fast brokers may copy; -1 has no limit", 0, 0},
    [RA_DIR_THROTTLE] = {"replica-alter-log-dirs-throttle", "bytes/s",
                         "how fast a broker may copy between its directories; -1 has no limit", 0,
                         0},
    [RA_TIMEOUT] = {"timeout", "ms", "how long to try to begin moves between directories (10000)",
                    0, 0},
    [RA_ADDITIONAL] = {"additional", NULL,
                       "next to, or in place of, moves that are under way; also changes their "
                       "throttle",
                       0, 0},
    [RA_KEEP_THROTTLES] = {"preserve-throttles", NULL, "do not lift throttles", 0, 0},
    [RA_OUTPUT] = {"output", "table|json", "how --list, --verify and --dry-run print", OPT_OURS,
                   'o'},
    [RA_DRY_RUN] = {"dry-run", NULL, "of --execute and --cancel: only say what would be done",
                    OPT_OURS, 0},
    [RA_WAIT] = {"wait", NULL, "of --verify: until nothing of the plan moves any more", OPT_OURS,
                 0},
    [RA_HELP] = {"help", NULL, "show this", 0, 'h'},
    [RA_VERSION] = {"version", NULL, "print the version of Kafka that this follows", 0, 0},
};

static const struct opts_def def = {"This tool helps to move topic partitions between replicas.",
                                    specs, ARRAY_LEN(specs)};

/* What each action needs, and what else it may have; NO_OPT ends a list. */
static const struct {
    int id;
    int required[3];
    int permitted[9];
} actions[] = {
    {RA_GENERATE,
     {RA_TOPICS_FILE, RA_BROKERS, NO_OPT},
     {RA_BOOTSTRAP, RA_CONFIG_FILE, RA_NO_RACKS, NO_OPT}},
    {RA_EXECUTE,
     {RA_FILE, NO_OPT},
     {RA_ADDITIONAL, RA_BOOTSTRAP, RA_CONFIG_FILE, RA_THROTTLE, RA_DIR_THROTTLE, RA_TIMEOUT,
      RA_OUTPUT, RA_DRY_RUN, NO_OPT}},
    {RA_VERIFY,
     {RA_FILE, NO_OPT},
     {RA_BOOTSTRAP, RA_CONFIG_FILE, RA_KEEP_THROTTLES, RA_OUTPUT, RA_WAIT, NO_OPT}},
    {RA_CANCEL,
     {RA_FILE, NO_OPT},
     {RA_BOOTSTRAP, RA_CONFIG_FILE, RA_KEEP_THROTTLES, RA_TIMEOUT, RA_DRY_RUN, NO_OPT}},
    {RA_LIST, {NO_OPT}, {RA_BOOTSTRAP, RA_CONFIG_FILE, RA_OUTPUT, NO_OPT}},
};

static bool has_id(const int *list, int id)
{
    for (; *list != NO_OPT; list++) {
        if (*list == id)
            return true;
    }
    return false;
}

/* The index of the one action. */
static int find_action(struct reassign *ra, size_t *ret)
{
    int n = 0;

    for (size_t i = 0; i < ARRAY_LEN(actions); i++) {
        if (!opts_has(ra->o, actions[i].id))
            continue;
        *ret = i;
        n++;
    }
    if (n == 1)
        return 0;
    strbuf_addz(&ra->why, "Command must include exactly one action: --generate, --execute, "
                          "--verify, --cancel, --list");
    return -EINVAL;
}

static int check_options(struct reassign *ra, size_t action)
{
    int r = 0;

    if (!opts_has(ra->o, RA_BOOTSTRAP)) {
        strbuf_addz(&ra->why, "Please specify --bootstrap-server");
        return -EINVAL;
    }
    for (const int *id = actions[action].required; r == 0 && *id != NO_OPT; id++)
        r = opts_require(ra->o, *id, &ra->why);
    for (int i = 0; r == 0 && i < ra->o->count; i++) {
        int id = ra->o->v[i].id;
        if (id < 0 || id == actions[action].id || has_id(actions[action].required, id) ||
            has_id(actions[action].permitted, id))
            continue;
        strbuf_addf(&ra->why, "Option \"[%s]\" can't be used with action \"[%s]\"", specs[id].name,
                    specs[actions[action].id].name);
        r = -EINVAL;
    }
    if (r == 0 && actions[action].id == RA_EXECUTE && opts_has(ra->o, RA_OUTPUT) &&
        !opts_has(ra->o, RA_DRY_RUN)) {
        strbuf_addz(&ra->why, "--output goes with --execute --dry-run, not with --execute: "
                              "--verify --output tells afterwards how far it is");
        r = -EINVAL;
    }
    return r;
}

static int fail(struct reassign *ra)
{
    if (!ra->o->inv->as_kafka)
        return tool_fail(ra->o->inv, "%s", ra->why.s);
    printf("%s%s\n", ra->is_terse ? "" : "Error: ", ra->why.len ? ra->why.s : "");
    return TOOL_FAILED;
}

static int read_file(struct reassign *ra, int id, struct strbuf *ret)
{
    const char *path;
    int r = opts_text(ra->o, id, &path, &ra->why);

    if (r < 0)
        return r;
    r = fs_read_file(path, PLAN_MAX_BYTES, ret);
    if (r < 0)
        strbuf_addf(&ra->why, "%s: %s (--%s)", path, strerror(-r), specs[id].name);
    return r;
}

static int act(struct reassign *ra, int action)
{
    CLEANUP(strbuf_deinit) struct strbuf file = {0};
    const char *brokers = NULL;
    int r = 0;

    if (action != RA_LIST)
        r = read_file(ra, action == RA_GENERATE ? RA_TOPICS_FILE : RA_FILE, &file);
    if (r < 0)
        return r;
    ra->file_id = action == RA_GENERATE ? RA_TOPICS_FILE : RA_FILE;
    ra->brokers_id = RA_BROKERS;
    switch (action) {
    case RA_GENERATE:
        r = opts_text(ra->o, RA_BROKERS, &brokers, &ra->why);
        return r < 0 ? r
                     : reassign_generate(ra, strbuf_str(&file), brokers,
                                         !opts_has(ra->o, RA_NO_RACKS));
    case RA_EXECUTE:
        return reassign_execute(ra, strbuf_str(&file));
    case RA_VERIFY:
        return opts_has(ra->o, RA_WAIT) ? reassign_wait(ra, strbuf_str(&file))
                                        : reassign_verify(ra, strbuf_str(&file));
    case RA_CANCEL:
        return reassign_cancel(ra, strbuf_str(&file));
    default:
        return reassign_list(ra);
    }
}

static int read_numbers(struct reassign *ra)
{
    int r = opts_i64(ra->o, RA_THROTTLE, &ra->throttle, &ra->why);

    r = r < 0 ? r : opts_json(ra->o, RA_OUTPUT, &ra->as_json, &ra->why);
    r = r < 0 ? r : opts_i64(ra->o, RA_DIR_THROTTLE, &ra->dir_throttle, &ra->why);
    return r < 0 ? r : opts_i64(ra->o, RA_TIMEOUT, &ra->timeout_ms, &ra->why);
}

static int run(struct reassign *ra, int action)
{
    struct cluster_opts co = {.inv = ra->o->inv};
    int r = opts_text(ra->o, RA_CONFIG_FILE, &co.config_file, &ra->why);

    r = r < 0 ? r : opts_text(ra->o, RA_BOOTSTRAP, &co.bootstrap, &ra->why);
    if (r < 0)
        return tool_misused(ra->o->inv, "%s", ra->why.s);
    r = read_numbers(ra);
    if (r < 0)
        return ra->o->inv->as_kafka ? fail(ra) : tool_misused(ra->o->inv, "%s", ra->why.s);
    ra->is_additional = opts_has(ra->o, RA_ADDITIONAL);
    ra->keeps_throttles = opts_has(ra->o, RA_KEEP_THROTTLES);
    ra->is_table = opts_has(ra->o, RA_OUTPUT);
    ra->dry_run = opts_has(ra->o, RA_DRY_RUN);
    r = cluster_open(&co, &ra->why, &ra->cluster);
    r = r ? r : act(ra, action);
    return r == 0 ? tool_done(ra->o->inv) : fail(ra);
}

/* Kafka's tool lets Java print what its option parser throws. */
static int misused(const struct invocation *inv, const char *why)
{
    const char *what = strstr(why, "is not a recognized option") ? "Unrecognized"
                                                                 : "OptionMissingRequiredArgument";

    if (!inv->as_kafka)
        return tool_misused(inv, "%s", why);
    return tool_misused(inv, "Exception in thread \"main\" joptsimple.%s%sException: %s", what,
                        *what == 'U' ? "Option" : "", why);
}

int cmd_reassign(const struct invocation *inv)
{
    CLEANUP(opts_deinit) struct opts o = {0};
    struct reassign ra = {.o = &o, .throttle = -1, .dir_throttle = -1, .timeout_ms = 10000};
    size_t action = 0;
    int code;

    if (opts_parse(&o, &def, inv, &ra.why) < 0)
        code = misused(inv, ra.why.s);
    else if (!opts_answered(&o, RA_HELP, RA_VERSION, &code))
        code = find_action(&ra, &action) < 0 || check_options(&ra, action) < 0
                   ? opts_usage(&o, ra.why.s)
                   : run(&ra, actions[action].id);
    cluster_close(ra.cluster);
    arena_deinit(&ra.arena);
    strbuf_deinit(&ra.why);
    return code;
}
