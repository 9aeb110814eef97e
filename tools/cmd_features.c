/*
 * cmd_features.c - kafka-features: the features of a cluster, their versions, and changes of them
 *
 * A cluster with ZooKeeper has no features, so that describe prints nothing and changes are refused
 * by the broker; clusters of another kind are served too.
 */
#include "common/base/err.h"
#include "tools/base/args.h"
#include "tools/base/cluster.h"
#include "tools/base/table.h"
#include "tools/features.h"

#include <inttypes.h>
#include <stdlib.h>

enum root_id { BOOTSTRAP, CONTROLLER, CONFIG, OUTPUT };
enum { UPGRADE = 1, SAFE_DOWNGRADE = 2, UNSAFE_DOWNGRADE = 3 };

static const struct opt_spec root_specs[] = {
    [BOOTSTRAP] = {"bootstrap-server", "host:port,...",
                   "A comma-separated list of host:port pairs to use for establishing the "
                   "connection to the Kafka cluster.",
                   OPT_ONE_OF, 'b'},
    [CONTROLLER] = {"bootstrap-controller", "host:port,...",
                    "A comma-separated list of host:port pairs to use for establishing the "
                    "connection to the KRaft quorum.",
                    OPT_ONE_OF, 0},
    [CONFIG] = {"command-config", "file",
                "Property file containing configs to be passed to Admin Client.", 0, 0},
    [OUTPUT] = {"output", "table|json", "how describe prints", OPT_OURS, 'o'},
};

#define METADATA_SPEC(verb, example)                                                               \
    {                                                                                              \
        "metadata", "version",                                                                     \
            "The level to which we should " verb " the metadata. For example, " example ".", 0, 0  \
    }
#define FEATURE_SPEC(verb)                                                                         \
    {                                                                                              \
        "feature", "name=level",                                                                   \
            "A feature " verb " we should perform, in feature=level format. For example: "         \
            "`metadata.version=5`.",                                                               \
            OPT_REPEATED, 0                                                                        \
    }

static const struct opt_spec upgrade_specs[] = {
    METADATA_SPEC("upgrade", "3.3-IV3"),
    FEATURE_SPEC("upgrade"),
    {"dry-run", NULL, "Validate this upgrade, but do not perform it.", 0, 0},
};
static const struct opt_spec downgrade_specs[] = {
    METADATA_SPEC("downgrade", "3.3-IV0"),
    FEATURE_SPEC("downgrade"),
    {"unsafe", NULL, "Perform this downgrade even if it may irreversibly destroy metadata.", 0, 0},
    {"dry-run", NULL, "Validate this downgrade, but do not perform it.", 0, 0},
};
static const struct opt_spec disable_specs[] = {
    {"feature", "name", "A feature flag to disable.", OPT_REPEATED, 0},
    {"unsafe", NULL, "Disable this feature flag even if it may irreversibly destroy metadata.", 0,
     0},
    {"dry-run", NULL, "Perform a dry-run of this disable operation.", 0, 0},
};

/* In the order of enum feature_change, behind describe. */
static const struct args_command commands[] = {
    {"describe", {"Describes the current active feature flags.", NULL, 0}},
    {"upgrade", {"Upgrade one or more feature flags.", upgrade_specs, ARRAY_LEN(upgrade_specs)}},
    {"downgrade",
     {"Upgrade one or more feature flags.", downgrade_specs, ARRAY_LEN(downgrade_specs)}},
    {"disable",
     {"Disable one or more feature flags. This is the same as downgrading the version to zero.",
      disable_specs, ARRAY_LEN(disable_specs)}},
};

static const struct args_def def = {
    "kafka-features",
    {"This tool manages feature flags in Kafka.", root_specs, ARRAY_LEN(root_specs)},
    commands,
    ARRAY_LEN(commands)};

struct run {
    struct args a;
    struct cluster *cluster;
    struct arena arena;
    struct strbuf why;
    bool json;
};

/* The id of a command's flag; one that it does not have is nowhere on its command line. */
static int flag(const struct run *run, const char *name)
{
    int i = 0;

    while (i < run->a.sub.def->count && strcmp(run->a.sub.def->specs[i].name, name) != 0)
        i++;
    return i;
}

/* ---- describe ---- */

static int by_name(const void *a, const void *b)
{
    return str_cmp(((const struct api_versions_response_supported_feature *)a)->name,
                   ((const struct api_versions_response_supported_feature *)b)->name);
}

static int16_t finalized_level(const struct api_versions_response *v, struct str name)
{
    for (int32_t i = 0; i < v->finalized_features_count; i++) {
        if (str_eq(v->finalized_features[i].name, name))
            return v->finalized_features[i].max_version_level;
    }
    return 0;
}

static void add_levels(const struct api_versions_response *v,
                       const struct api_versions_response_supported_feature *f, struct strbuf *ret)
{
    feature_level_text(f->name, f->min_version, &ret[0]);
    feature_level_text(f->name, f->max_version, &ret[1]);
    feature_level_text(f->name, finalized_level(v, f->name), &ret[2]);
    if (v->finalized_features_epoch >= 0)
        strbuf_addf(&ret[3], "%" PRId64, v->finalized_features_epoch);
    else
        strbuf_addz(&ret[3], "-");
}

static void print_features(const struct run *run, const struct api_versions_response *v)
{
    static const char *const headings[] = {"FEATURE", "SUPPORTED-MIN-VERSION",
                                           "SUPPORTED-MAX-VERSION", "FINALIZED-VERSION-LEVEL",
                                           "EPOCH"};
    CLEANUP(table_deinit) struct table table = {0};

    for (size_t i = 0; i < ARRAY_LEN(headings); i++)
        table_add(&table, headings[i], i > 0);
    for (int32_t i = 0; i < v->supported_features_count; i++) {
        struct strbuf text[4] = {0};
        add_levels(v, &v->supported_features[i], text);
        table_cell(&table, "%.*s", STR_ARG(v->supported_features[i].name));
        for (size_t k = 0; k < ARRAY_LEN(text); k++)
            table_cell(&table, "%s", text[k].s);
        if (run->a.inv->as_kafka || !opts_has(&run->a.root, OUTPUT))
            printf("Feature: %.*s\tSupportedMinVersion: %s\tSupportedMaxVersion: %s\t"
                   "FinalizedVersionLevel: %s\tEpoch: %s\n",
                   STR_ARG(v->supported_features[i].name), text[0].s, text[1].s, text[2].s,
                   text[3].s);
        for (size_t k = 0; k < ARRAY_LEN(text); k++)
            strbuf_deinit(&text[k]);
    }
    if (run->json)
        table_print_json(&table, stdout);
    else if (opts_has(&run->a.root, OUTPUT))
        table_print(&table, stdout);
}

static int describe(struct run *run)
{
    struct api_versions_request m;
    const struct cluster_call call = {"describeFeatures", SEED_ANY, API_API_VERSIONS, 3, &m};
    const void *got;

    msg_init(&api_versions_request_desc, &m);
    m.client_software_name = STR("klamm");
    m.client_software_version = STR(KAFKA_VERSION);
    cluster_start(run->cluster);
    int r = cluster_call(run->cluster, &call, &run->arena, &got, &run->why);
    if (r < 0)
        return tool_fail(run->a.inv, "%s", run->why.s);
    /* the answer is ours: it lives in our arena */
    struct api_versions_response *v = (struct api_versions_response *)(uintptr_t)got;
    if (v->supported_features_count > 1)
        qsort(v->supported_features, (size_t)v->supported_features_count,
              sizeof *v->supported_features, by_name);
    print_features(run, v);
    return tool_done(run->a.inv);
}

/* ---- change ---- */

static int read_updates(struct run *run, enum feature_change change, struct feature_updates *ret)
{
    const struct opts *o = &run->a.sub;
    const char *metadata = args_text(o, flag(run, "metadata"));
    int id = flag(run, "feature"), n = opts_count(o, id), r = 0;

    *ret = (struct feature_updates){
        arena_new_array(&run->arena, struct feature_update, (size_t)n + 1), 0};
    if (metadata) {
        struct feature_update one = {STR(FEATURE_METADATA), 0};
        r = feature_level(metadata, &one.level, &run->why);
        r = r < 0 ? r : feature_add(ret, one, &run->why);
    }
    for (int i = 0; r == 0 && i < n; i++) {
        struct feature_update one;
        r = feature_parse(opts_nth(o, id, i), change, &one, &run->why);
        r = r < 0 ? r : feature_add(ret, one, &run->why);
    }
    return r < 0 ? r : feature_check(ret, change, &run->why);
}

static int8_t upgrade_type(const struct run *run, enum feature_change change)
{
    if (change == FEATURE_UPGRADE)
        return UPGRADE;
    return opts_has(&run->a.sub, flag(run, "unsafe")) ? UNSAFE_DOWNGRADE : SAFE_DOWNGRADE;
}

static int send_updates(struct run *run, enum feature_change change,
                        const struct feature_updates *u,
                        const struct update_features_response **ret)
{
    struct update_features_request m;
    const struct cluster_call call = {"updateFeatures", SEED_CONTROLLER, API_UPDATE_FEATURES, 1,
                                      &m};
    const void *got;
    int r;

    msg_init(&update_features_request_desc, &m);
    m.timeout_ms = cluster_request_timeout_ms(run->cluster);
    m.validate_only = opts_has(&run->a.sub, flag(run, "dry-run"));
    m.feature_updates_count = u->count;
    m.feature_updates = arena_new_array(&run->arena, struct update_features_request_feature_update,
                                        (size_t)u->count);
    for (int i = 0; i < u->count; i++) {
        struct_init(&update_features_request_feature_update_desc, &m.feature_updates[i]);
        m.feature_updates[i].feature = u->v[i].name;
        m.feature_updates[i].max_version_level = u->v[i].level;
        m.feature_updates[i].upgrade_type = upgrade_type(run, change);
    }
    cluster_start(run->cluster);
    do {
        r = cluster_call(run->cluster, &call, &run->arena, &got, &run->why);
        if (r < 0)
            return r;
        *ret = got;
    } while (cluster_again(run->cluster, (*ret)->error_code));
    return 0;
}

/* What became of one: 0, or a code and words. */
static int16_t outcome(const struct update_features_response *answer, struct str name,
                       struct str *ret_text)
{
    int16_t error = answer->error_code;

    *ret_text = answer->error_message;
    for (int32_t i = 0; error == 0 && i < answer->results_count; i++) {
        if (!str_eq(answer->results[i].feature, name))
            continue;
        error = answer->results[i].error_code;
        *ret_text = answer->results[i].error_message;
    }
    if (error)
        *ret_text = cluster_error_text(error, *ret_text);
    return error;
}

static void print_outcome(const struct run *run, enum feature_change change,
                          const struct feature_update *u, const struct str *trouble)
{
    static const char *const verbs[] = {"upgrade", "downgrade", "disable"};
    static const char *const done[] = {"upgraded", "downgraded", "disabled"};
    bool dry = opts_has(&run->a.sub, flag(run, "dry-run"));
    char level[16] = "";

    if (change != FEATURE_DISABLE)
        snprintf(level, sizeof level, " to %d", u->level);
    if (trouble)
        printf("%s not %s %.*s%s. %.*s\n", dry ? "Can" : "Could", verbs[change], STR_ARG(u->name),
               level, STR_ARG(*trouble));
    else
        printf("%.*s %s %s%s.\n", STR_ARG(u->name), dry ? "can be" : "was", done[change], level);
}

static int change_features(struct run *run, enum feature_change change,
                           const struct feature_updates *u)
{
    const struct update_features_response *answer = NULL;
    int failed = 0, r = send_updates(run, change, u, &answer);
    struct str text = STR("The node does not support UPDATE_FEATURES");

    if (r < 0 && r != -EPROTONOSUPPORT)
        text = strbuf_str(&run->why);
    for (int i = 0; i < u->count; i++) {
        bool bad = r < 0 || outcome(answer, u->v[i].name, &text) != 0;
        print_outcome(run, change, &u->v[i], bad ? &text : NULL);
        failed += bad;
    }
    if (failed)
        return tool_fail(run->a.inv, "%d out of %d operation(s) failed.", failed, u->count);
    return tool_done(run->a.inv);
}

static int open_and_run(struct run *run)
{
    const struct opts *root = &run->a.root;
    struct cluster_opts co = {.inv = run->a.inv, .config_file = args_text(root, CONFIG)};
    enum feature_change change = (enum feature_change)(run->a.command - &commands[1]);
    struct feature_updates updates;
    int r = opts_json(root, OUTPUT, &run->json, &run->why);

    if (r < 0)
        return tool_misused(run->a.inv, "%s", run->why.s);
    if (opts_has(root, OUTPUT) && run->a.command != &commands[0])
        return tool_misused(run->a.inv, "--output goes with describe");
    co.bootstrap = args_text(root, opts_has(root, CONTROLLER) ? CONTROLLER : BOOTSTRAP);
    r = cluster_open(&co, &run->why, &run->cluster);
    if (r < 0)
        return cluster_refused(&co, r, run->why.s);
    if (run->a.command == &commands[0])
        return describe(run);
    if (read_updates(run, change, &updates) < 0)
        return tool_misused(run->a.inv, "%s", run->why.s);
    return change_features(run, change, &updates);
}

int cmd_features(const struct invocation *inv)
{
    struct run run = {0};
    int code;

    if (!args_answered(&run.a, &def, inv, &code))
        code = open_and_run(&run);
    args_deinit(&run.a);
    cluster_close(run.cluster);
    arena_deinit(&run.arena);
    strbuf_deinit(&run.why);
    return code;
}
