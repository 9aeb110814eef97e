/*
 * cmd_groups.c - kafka-consumer-groups: its command line, its checks in their order, its exit codes
 */
#include "common/base/err.h"
#include "tools/groups/groups.h"

/*
 * Five seconds are less than a cluster takes to replace a broker that died. What our own tool has
 * begun to change it tries to finish.
 */
enum { TIMEOUT_MS = 5000, CHANGE_TIMEOUT_MS = 30000 };

static const struct opt_spec specs[] = {
    [GR_BOOTSTRAP] = {"bootstrap-server", "host:port,...", "the cluster to connect to (required)",
                      0, 'b'},
    [GR_CONFIG_FILE] = {"command-config", "file",
                        "client properties: security.protocol, ssl.*, timeouts", 0, 0},
    [GR_TIMEOUT] =
        {"timeout", "ms",
         "how long each step may take (5000; as klamm groups 30000 for what changes things)", 0, 0},
    [GR_LIST] = {"list", NULL, "list groups; --state and --type pick some", 0, 0},
    [GR_DESCRIBE] = {"describe", NULL, "offsets and lag of groups, or --members, or --state", 0, 0},
    [GR_DELETE] = {"delete", NULL, "delete groups that have no members, with their offsets", 0, 0},
    [GR_RESET] = {"reset-offsets", NULL,
                  "set offsets of groups that have no members: which (--topic, --all-topics), to "
                  "what (--to-..., --shift-by, --by-duration, --from-file), and --execute",
                  0, 0},
    [GR_DELETE_OFFSETS] = {"delete-offsets", NULL, "forget a group's offsets of some --topic", 0,
                           0},
    [GR_GROUP] = {"group", "group", "the group (repeatable)", 0, 'g'},
    [GR_ALL_GROUPS] = {"all-groups", NULL, "every group", 0, 0},
    [GR_TOPIC] = {"topic", "topic[:0,1,...]",
                  "all partitions of a topic, or those named (repeatable)", 0, 't'},
    [GR_ALL_TOPICS] = {"all-topics", NULL, "every partition that has an offset in the group", 0, 0},
    [GR_OFFSETS] = {"offsets", NULL, "describe offsets and lag, which is the default", 0, 0},
    [GR_MEMBERS] = {"members", NULL, "describe members; with --verbose what they read", 0, 0},
    [GR_STATE] = {"state", "states",
                  "describe states; list: show states, or only groups in these: stable,empty,...",
                  OPT_OPTIONAL, 0},
    [GR_VERBOSE] = {"verbose", NULL, "describe more", 0, 0},
    [GR_TYPE] = {"type", "types", "list: show types, or only these: classic,consumer", OPT_OPTIONAL,
                 0},
    [GR_DRY_RUN] = {"dry-run", NULL, "say what would be done, and do nothing", 0, 0},
    [GR_EXECUTE] = {"execute", NULL, "reset: do it", 0, 0},
    [GR_EXPORT] = {"export", NULL, "reset: print a plan as CSV, which --from-file reads", 0, 0},
    [GR_TO_OFFSET] = {"to-offset", "offset", "reset to this offset", 0, 0},
    [GR_TO_CURRENT] = {"to-current", NULL, "reset to where the group is, or else to the end", 0, 0},
    [GR_TO_DATETIME] = {"to-datetime", "YYYY-MM-DDTHH:mm:SS.sss",
                        "reset to the first record of that time or later", 0, 0},
    [GR_FROM_FILE] = {"from-file", "file",
                      "reset to what a CSV file says: topic,partition,offset or "
                      "group,topic,partition,offset",
                      0, 0},
    [GR_BY_DURATION] = {"by-duration", "PnDTnHnMnS",
                        "reset to the first record of that long ago or later", 0, 0},
    [GR_TO_EARLIEST] = {"to-earliest", NULL, "reset to the first record there is", 0, 0},
    [GR_TO_LATEST] = {"to-latest", NULL, "reset to the end", 0, 0},
    [GR_SHIFT_BY] = {"shift-by", "n", "reset to n records later, or earlier where n < 0", 0, 0},
    [GR_WATCH] = {"watch", "seconds",
                  "lag: again and again, every 2 seconds or so many, with rates and times",
                  OPT_OPTIONAL | OPT_OURS, 'w'},
    [GR_OUTPUT] = {"output", "table|json", "how to print (table)", OPT_OURS, 'o'},
    [GR_HELP] = {"help", NULL, "show this", 0, 'h'},
    [GR_VERSION] = {"version", NULL, "print the version of Kafka that this follows", 0, 0},
};

static const char about_kafka[] =
    "This tool helps to list all consumer groups, describe a consumer group, delete consumer group "
    "info, or reset consumer group offsets.";
static const char about_ours[] =
    "list, describe, reset and delete consumer groups; `klamm groups lag [GROUP...]` shows how far "
    "they are behind";

/* ---- checks, in Kafka's order and words ---- */

/* In Kafka's tool nothing catches it. */
enum { JAVA_THROWS = -2 };

static int wrong(struct groups *g, const char *text)
{
    strbuf_addz(&g->why, text);
    return -EINVAL;
}

/* What goes with --describe only, or with --list too, in alphabetical order. */
static int check_available(struct groups *g)
{
    static const int ids[] = {GR_MEMBERS, GR_OFFSETS, GR_STATE, GR_TYPE, GR_VERBOSE};
    bool describes = opts_has(g->o, GR_DESCRIBE), lists = opts_has(g->o, GR_LIST);
    int n = 0;

    for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
        bool is_available = ids[i] == GR_STATE  ? describes || lists
                            : ids[i] == GR_TYPE ? lists
                                                : describes;
        if (opts_has(g->o, ids[i]) && !is_available)
            strbuf_addf(&g->why, "%s%s", n++ ? ", " : "Option(s) [", specs[ids[i]].name);
    }
    if (n)
        strbuf_addz(&g->why, "] are unavailable given other options on the command line");
    return n ? -EINVAL : 0;
}

static bool names_groups(const struct groups *g)
{
    return opts_has(g->o, GR_GROUP) || opts_has(g->o, GR_ALL_GROUPS);
}

static int check_describe(struct groups *g)
{
    const struct opts *o = g->o;

    if (!names_groups(g))
        return wrong(g, groups_as_kafka(g) ? "Option [describe] takes one of these options: "
                                             "[reset-offsets], [describe], [delete], [list]"
                                           : "--describe takes --group or --all-groups");
    if (opts_has(o, GR_MEMBERS) + opts_has(o, GR_OFFSETS) + opts_has(o, GR_STATE) > 1)
        return wrong(g, "Option [describe] takes at most one of these options: [members], "
                        "[offsets], [state]");
    const char *value;
    if (opts_text(o, GR_STATE, &value, &g->why) < 0)
        return JAVA_THROWS;
    if (value)
        return wrong(g, "Option [describe] does not take a value for [state]");
    return 0;
}

static int check_delete(struct groups *g)
{
    if (!names_groups(g))
        return wrong(g, "Option [delete] takes one of these options: [all-groups], [group]");
    if (opts_has(g->o, GR_TOPIC))
        return wrong(g, "The consumer does not support topic-specific offset deletion from a "
                        "consumer group.");
    return 0;
}

static int check_delete_offsets(struct groups *g)
{
    if (opts_has(g->o, GR_GROUP) && opts_has(g->o, GR_TOPIC))
        return 0;
    return wrong(g, groups_as_kafka(g)
                        ? "Option [delete-offsets] takes the following options: [all-groups], "
                          "[group]"
                        : "--delete-offsets takes --group and --topic");
}

/* Scenarios in the order in which each is compared with the others, and these in theirs. */
static int check_scenarios(struct groups *g)
{
    static const int checked[] = {GR_TO_OFFSET, GR_TO_DATETIME, GR_BY_DURATION, GR_TO_EARLIEST,
                                  GR_TO_LATEST, GR_TO_CURRENT,  GR_SHIFT_BY,    GR_FROM_FILE};
    static const int order[] = {GR_TO_OFFSET,   GR_TO_CURRENT,  GR_TO_DATETIME, GR_FROM_FILE,
                                GR_BY_DURATION, GR_TO_EARLIEST, GR_TO_LATEST,   GR_SHIFT_BY};
    int r = 0;

    for (size_t i = 0; r == 0 && i < ARRAY_LEN(checked); i++) {
        int others[ARRAY_LEN(order) + 1], n = 0;
        for (size_t k = 0; k < ARRAY_LEN(order); k++) {
            if (order[k] != checked[i])
                others[n++] = order[k];
        }
        others[n] = -1;
        r = opts_exclude(g->o, checked[i], others, &g->why);
    }
    return r;
}

static int check_reset(struct groups *g)
{
    const struct opts *o = g->o;
    bool is_dry = opts_has(o, GR_DRY_RUN), executes = opts_has(o, GR_EXECUTE);

    if (is_dry && executes)
        return wrong(g, "Option [reset-offsets] only accepts one of [execute] and [dry-run]");
    if (!is_dry && !executes && groups_as_kafka(g))
        fputs("WARN: No action will be performed as the --execute option is missing.In a future "
              "major release, the default behavior of this command will be to prompt the user "
              "before executing the reset rather than doing a dry run. You should add the "
              "--dry-run option explicitly if you are scripting this command and want to keep the "
              "current default behavior without prompting.\n",
              stderr);
    if (!names_groups(g))
        return wrong(g, "Option [reset-offsets] takes one of these options: [all-groups], "
                        "[group]");
    return check_scenarios(g);
}

static int check_pairs(struct groups *g)
{
    static const int all[] = {GR_ALL_GROUPS, -1}, list[] = {GR_LIST, -1},
                     views[] = {GR_DESCRIBE, GR_LIST, -1};
    int r = opts_exclude(g->o, GR_GROUP, all, &g->why);

    r = r ? r : opts_exclude(g->o, GR_GROUP, list, &g->why);
    return r ? r : opts_exclude(g->o, GR_TOPIC, views, &g->why);
}

static int check(struct groups *g)
{
    const struct opts *o = g->o;
    int r = opts_require(o, GR_BOOTSTRAP, &g->why);

    if (r == 0 && opts_has(o, GR_DESCRIBE))
        r = check_describe(g);
    if (r == 0 && opts_has(o, GR_DELETE))
        r = check_delete(g);
    if (r == 0 && opts_has(o, GR_DELETE_OFFSETS))
        r = check_delete_offsets(g);
    if (r == 0 && opts_has(o, GR_RESET))
        r = check_reset(g);
    return r ? r : check_pairs(g);
}

/* ---- our own additions ---- */

static bool shows_lag(const struct groups *g)
{
    const char *word = opts_nth(g->o, -1, 0);

    return !groups_as_kafka(g) && word && strcmp(word, "lag") == 0;
}

static int check_ours(struct groups *g)
{
    const char *word = opts_nth(g->o, -1, 0);
    bool is_json;
    int r = opts_json(g->o, GR_OUTPUT, &is_json, &g->why);

    g->output = is_json ? GROUPS_JSON : GROUPS_TABLE;
    if (r == 0 && opts_has(g->o, GR_WATCH) && !shows_lag(g))
        r = wrong(g, "--watch goes with `klamm groups lag`");
    if (r == 0 && word && !shows_lag(g)) {
        strbuf_addf(&g->why, "%s: `lag` is the only word that stands alone here", word);
        r = -EINVAL;
    }
    return r;
}

/* ---- running ---- */

static const struct action {
    int id;
    int (*run)(struct groups *g);
} actions[] = {
    {GR_LIST, groups_show_list},
    {GR_DESCRIBE, groups_show},
    {GR_DELETE, groups_remove},
    {GR_RESET, groups_reset},
    {GR_DELETE_OFFSETS, groups_remove_offsets},
};

static const struct action *find_action(struct groups *g)
{
    static const struct action lag = {-1, groups_lag};
    const struct action *found = shows_lag(g) ? &lag : NULL;
    int n = found != NULL;

    for (size_t i = 0; i < ARRAY_LEN(actions); i++) {
        if (!opts_has(g->o, actions[i].id))
            continue;
        found = &actions[i];
        n++;
    }
    if (n == 1)
        return found;
    strbuf_addz(&g->why, "Command must include exactly one action: --list, --describe, --delete, "
                         "--reset-offsets, --delete-offsets");
    if (!groups_as_kafka(g))
        strbuf_addz(&g->why, ", lag");
    return NULL;
}

/* Kafka's tool ends with 0 whatever went wrong with the cluster. */
static int fail(struct groups *g)
{
    if (!groups_as_kafka(g))
        return tool_fail(g->o->inv, "%s", g->why.len ? g->why.s : "it failed");
    printf("\nError: Executing consumer group command failed due to %s\n",
           g->why.len ? g->why.s : "null");
    return tool_done(g->o->inv);
}

static int run_action(struct groups *g, const struct action *action)
{
    int r = action->run(g);

    if (r == GROUPS_MISUSED)
        return opts_usage(g->o, g->why.s);
    if (r)
        return fail(g);
    r = tool_done(g->o->inv);
    return r == 0 && g->has_failures ? TOOL_FAILED : r;
}

static int connect_failed(struct groups *g, int r)
{
    if (!groups_as_kafka(g))
        return r == -EINVAL ? tool_misused(g->o->inv, "%s", g->why.s) : fail(g);
    if (r == -ENOENT) {
        strbuf_reset(&g->why);
        strbuf_addf(&g->why, "java.nio.file.NoSuchFileException: %s",
                    opts_nth(g->o, GR_CONFIG_FILE, 0));
    } else if (r == -EINVAL) {
        fprintf(stderr, "%s\n", g->why.s);
        strbuf_reset(&g->why);
        strbuf_addz(&g->why, "Failed to create new KafkaAdminClient");
    }
    return fail(g);
}

static bool changes(const struct groups *g)
{
    return opts_has(g->o, GR_EXECUTE) || opts_has(g->o, GR_DELETE) ||
           opts_has(g->o, GR_DELETE_OFFSETS);
}

static int run(struct groups *g, const struct action *action)
{
    struct cluster_opts co = {.inv = g->o->inv};
    int64_t timeout = changes(g) && !groups_as_kafka(g) ? CHANGE_TIMEOUT_MS : TIMEOUT_MS;
    int r = opts_text(g->o, GR_CONFIG_FILE, &co.config_file, &g->why);

    r = r ? r : opts_text(g->o, GR_BOOTSTRAP, &co.bootstrap, &g->why);
    r = r ? r : opts_i64(g->o, GR_TIMEOUT, &timeout, &g->why);
    if (r)
        return groups_as_kafka(g) ? fail(g) : tool_misused(g->o->inv, "%s", g->why.s);
    co.timeout_ms = CLAMP(timeout, 1, INT32_MAX);
    r = cluster_open(&co, &g->why, &g->cluster);
    return r ? connect_failed(g, r) : run_action(g, action);
}

/* What Java's option parser throws, Kafka's tool lets Java print. */
static int misused(const struct groups *g)
{
    const struct invocation *inv = g->o->inv;
    const char *what = "UnavailableOption", *why = g->why.s;

    if (!inv->as_kafka)
        return tool_misused(inv, "%s", why);
    if (strstr(why, "is not a recognized option"))
        what = "UnrecognizedOption";
    else if (strstr(why, "requires an argument"))
        what = "OptionMissingRequiredArgument";
    else if (strstr(why, "Found multiple arguments"))
        what = "MultipleArgumentsForOption";
    return tool_misused(inv, "Exception in thread \"main\" joptsimple.%sException: %s", what, why);
}

static int check_and_run(struct groups *g)
{
    if (!g->o->inv->as_kafka && check_ours(g) < 0)
        return opts_usage(g->o, g->why.s);
    if (check_available(g) < 0)
        return misused(g);
    int r = check(g);
    if (r)
        return r == JAVA_THROWS ? misused(g) : opts_usage(g->o, g->why.s);
    const struct action *action = find_action(g);
    return action ? run(g, action) : opts_usage(g->o, g->why.s);
}

int cmd_groups(const struct invocation *inv)
{
    const struct opts_def def = {inv->as_kafka ? about_kafka : about_ours, specs, ARRAY_LEN(specs)};
    CLEANUP(opts_deinit) struct opts o = {0};
    struct groups g = {.o = &o, .output = inv->as_kafka ? GROUPS_KAFKA : GROUPS_TABLE};
    int code;

    if (opts_parse(&o, &def, inv, &g.why) < 0)
        code = misused(&g);
    else if (!opts_answered(&o, GR_HELP, GR_VERSION, &code))
        code = check_and_run(&g);
    cluster_close(g.cluster);
    arena_deinit(&g.arena);
    strbuf_deinit(&g.why);
    return code;
}
