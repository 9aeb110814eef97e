/*
 * cmd_cluster.c - kafka-cluster: the id of a cluster; a broker to be forgotten, which only KRaft
 * has to be told
 */
#include "common/base/err.h"
#include "tools/base/args.h"
#include "tools/base/cluster.h"

#include <jansson.h>

enum id { BOOTSTRAP, CONTROLLER, CONFIG, OUTPUT, BROKER };
enum { ENDPOINT_BROKER = 1, ENDPOINT_CONTROLLER = 2 };

#define CONNECTION_SPECS                                                                           \
    [BOOTSTRAP] = {"bootstrap-server", "host:port,...",                                            \
                   "A list of host/port pairs to use for establishing the connection to the "      \
                   "Kafka cluster.",                                                               \
                   OPT_LETTER | OPT_ONE_OF, 'b'},                                                  \
    [CONTROLLER] = {"bootstrap-controller", "host:port,...",                                       \
                    "A list of host/port pairs to use for establishing the connection to the "     \
                    "KRaft controllers.",                                                          \
                    OPT_LETTER | OPT_ONE_OF, 'C'},                                                 \
    [CONFIG] = {"config", "file",                                                                  \
                "A property file containing configurations for the Admin "                         \
                "client.",                                                                         \
                OPT_LETTER, 'c'},                                                                  \
    [OUTPUT] = {"output", "table|json", "how it is printed (table)", OPT_OURS, 'o'}

static const struct opt_spec id_specs[] = {CONNECTION_SPECS};
static const struct opt_spec unregister_specs[] = {
    CONNECTION_SPECS,
    [BROKER] = {"id", "N", "The ID of the broker to unregister.",
                OPT_LETTER | OPT_REQUIRED | OPT_INT, 'i'},
};

static const struct args_command commands[] = {
    {"cluster-id", {"Get information about the ID of a cluster.", id_specs, ARRAY_LEN(id_specs)}},
    {"unregister", {"Unregister a broker.", unregister_specs, ARRAY_LEN(unregister_specs)}},
};

static const struct args_def def = {
    "kafka-cluster", {"The Kafka cluster tool.", NULL, 0}, commands, ARRAY_LEN(commands)};

struct run {
    const struct opts *o;
    const struct invocation *inv;
    struct cluster *cluster;
    struct arena arena;
    struct strbuf why;
    bool json;
};

/* Kafka's tool shows the exception's name in front of what a broker said. */
static int fail(const struct run *run, const char *exception)
{
    if (run->inv->as_kafka && exception)
        return tool_fail(run->inv, "org.apache.kafka.common.errors.%s: %s", exception, run->why.s);
    return tool_fail(run->inv, "%s", run->why.s);
}

static int fail_call(const struct run *run, int r)
{
    return fail(run, r == -ETIMEDOUT ? "TimeoutException" : NULL);
}

static int fail_answer(struct run *run, int16_t error, struct str message)
{
    CLEANUP(strbuf_deinit) struct strbuf exception = {0};

    cluster_exception(error, &exception);
    strbuf_add_str(&run->why, cluster_error_text(error, message));
    return fail(run, exception.s);
}

static int print_id(struct run *run, struct str id)
{
    if (run->json) {
        json_t *o = json_pack("{s:s%}", "cluster_id", id.p, id.len);
        json_dumpf(o, stdout, JSON_INDENT(2));
        putchar('\n');
        json_decref(o);
    } else if (id.len) {
        printf("Cluster ID: %.*s\n", STR_ARG(id));
    } else {
        puts("No cluster ID found. The Kafka version is probably too old.");
    }
    return tool_done(run->inv);
}

/* Brokers older than 2.8 have no DescribeCluster; Metadata tells them apart since 0.10.1. */
static int ask_metadata(struct run *run)
{
    const struct metadata_response *m;
    int r = cluster_metadata(run->cluster, STR(""), &run->arena, &m, &run->why);

    return r < 0 ? fail_call(run, r) : print_id(run, m->cluster_id);
}

static int show_id(struct run *run)
{
    struct describe_cluster_request m;
    const struct cluster_call call = {"listNodes", SEED_ANY, API_DESCRIBE_CLUSTER, 1, &m};
    const struct describe_cluster_response *answer;
    const void *got;
    int r;

    msg_init(&describe_cluster_request_desc, &m);
    m.endpoint_type = opts_has(run->o, CONTROLLER) ? ENDPOINT_CONTROLLER : ENDPOINT_BROKER;
    cluster_start(run->cluster);
    do {
        r = cluster_call(run->cluster, &call, &run->arena, &got, &run->why);
        if (r == -EPROTONOSUPPORT && !opts_has(run->o, CONTROLLER)) {
            strbuf_reset(&run->why);
            return ask_metadata(run);
        }
        if (r < 0)
            return fail_call(run, r);
        answer = got;
    } while (answer->error_code && cluster_again(run->cluster, answer->error_code));
    if (answer->error_code)
        return fail_answer(run, answer->error_code, answer->error_message);
    return print_id(run, answer->cluster_id);
}

/* Only KRaft knows brokers that are away; with ZooKeeper there is nothing to forget. */
static int unregister(struct run *run)
{
    if (run->inv->as_kafka) {
        puts("The target cluster does not support the broker unregistration API.");
        return tool_done(run->inv);
    }
    return tool_fail(run->inv, "there is nothing to unregister: with ZooKeeper a broker is known "
                               "only while it runs");
}

static int open_and_run(struct run *run, const struct args *a)
{
    struct cluster_opts co = {
        .inv = run->inv, .config_file = args_text(run->o, CONFIG), .config_flag = "config"};
    int r = opts_json(run->o, OUTPUT, &run->json, &run->why);

    if (r < 0)
        return tool_misused(run->inv, "%s", run->why.s);
    co.bootstrap = args_text(run->o, opts_has(run->o, CONTROLLER) ? CONTROLLER : BOOTSTRAP);
    r = cluster_open(&co, &run->why, &run->cluster);
    if (r < 0)
        return cluster_refused(&co, r, run->why.s);
    return a->command == &commands[0] ? show_id(run) : unregister(run);
}

int cmd_cluster(const struct invocation *inv)
{
    CLEANUP(args_deinit) struct args a = {0};
    struct run run = {.o = &a.sub, .inv = inv};
    int code;

    if (!args_answered(&a, &def, inv, &code))
        code = open_and_run(&run, &a);
    cluster_close(run.cluster);
    arena_deinit(&run.arena);
    strbuf_deinit(&run.why);
    return code;
}
