/*
 * cmd_offsets.c - kafka-get-offsets: the first, the next, or the offset at a time, of partitions
 */
#include "common/base/err.h"
#include "common/base/mem.h"
#include "tools/base/leaders.h"
#include "tools/base/opts.h"
#include "tools/base/table.h"
#include "tools/records/offset_rules.h"

#include <inttypes.h>
#include <stdio.h>

enum id {
    BOOTSTRAP,
    BROKER_LIST,
    TOPIC_PARTITIONS,
    TOPIC,
    PARTITIONS,
    TIME,
    CONFIG,
    NO_INTERNAL,
    OUTPUT,
    HELP,
    VERSION,
};

static const struct opt_spec specs[] = {
    [BOOTSTRAP] = {"bootstrap-server", "host:port,...", "the cluster to connect to (required)", 0,
                   'b'},
    [BROKER_LIST] = {"broker-list", "host:port,...", "the old name of --bootstrap-server",
                     OPT_KAFKAS, 0},
    [TOPIC_PARTITIONS] = {"topic-partitions", "topic:N,...",
                          "regular expressions of topics, each with a partition (t:0), with some "
                          "(t:2-5, t:2-, t:-5: the upper bound is not part of it) or with all",
                          0, 0},
    [TOPIC] = {"topic", "topic", "a regular expression that matches the whole name; else all", 0,
               't'},
    [PARTITIONS] = {"partitions", "0,1,...", "only these partitions", 0, 'p'},
    [TIME] = {"time", "when",
              "latest or -1 (default), earliest or -2, max-timestamp or -3, earliest-local or -4, "
              "latest-tiered or -5, or milliseconds: the first record at least that young",
              0, 0},
    [CONFIG] = {"command-config", "file", "client properties: security.protocol, ssl.*, timeouts",
                0, 0},
    [NO_INTERNAL] = {"exclude-internal-topics", NULL,
                     "leave out __consumer_offsets and __transaction_state", 0, 0},
    [OUTPUT] = {"output", "table|json", "how it is printed (table)", OPT_OURS, 'o'},
    [HELP] = {"help", NULL, "show this", 0, 'h'},
    [VERSION] = {"version", NULL, "print the version of Kafka that this follows", 0, 0},
};

static const struct opts_def def = {"An interactive shell for getting topic-partition offsets.",
                                    specs, ARRAY_LEN(specs)};

struct run {
    const struct opts *o;
    struct cluster *cluster;
    struct arena arena;
    struct strbuf why;
    struct offset_rules rules;
    int64_t time;
    bool json;
};

static int fail(const struct run *run)
{
    return tool_fail(run->o->inv, "%s%s", run->o->inv->as_kafka ? "Error occurred: " : "",
                     run->why.s);
}

/* ---- which ---- */

static bool is_internal(struct str name)
{
    return str_eqz(name, "__consumer_offsets") || str_eqz(name, "__transaction_state");
}

static int by_name(const void *a, const void *b)
{
    const struct led *x = a, *y = b;
    size_t n = MIN(x->topic.len, y->topic.len);
    int order = n ? memcmp(x->topic.p, y->topic.p, n) : 0;

    if (order == 0)
        order = (x->topic.len > y->topic.len) - (x->topic.len < y->topic.len);
    return order ? order : (x->partition > y->partition) - (x->partition < y->partition);
}

static void add_topic(const struct run *run, const struct metadata_response_topic *topic,
                      struct leaders_work *w)
{
    if (topic->error_code || (opts_has(run->o, NO_INTERNAL) && is_internal(topic->name)))
        return;
    for (int32_t i = 0; i < topic->partitions_count; i++) {
        int32_t partition = topic->partitions[i].partition_index;
        if (offset_rules_match(&run->rules, topic->name, partition))
            w->v[w->count++] = (struct led){
                .topic = topic->name, .partition = partition, .asked = run->time, .answer = -1};
    }
}

static int find_partitions(struct run *run, struct leaders_work *w)
{
    const struct metadata_response *m;
    size_t n = 0;
    int r = cluster_metadata(run->cluster, offset_rules_literal(&run->rules), &run->arena, &m,
                             &run->why);

    if (r < 0)
        return r;
    for (int32_t i = 0; i < m->topics_count; i++)
        n += (size_t)m->topics[i].partitions_count;
    w->v = arena_new_array(&run->arena, struct led, n + 1);
    for (int32_t i = 0; i < m->topics_count; i++)
        add_topic(run, &m->topics[i], w);
    if (w->count == 0) {
        strbuf_addz(&run->why, "Could not match any topic-partitions with the specified filters");
        return -EINVAL;
    }
    qsort(w->v, w->count, sizeof *w->v, by_name);
    return 0;
}

/* ---- what is printed ---- */

/* In the order of "topic-partition" as text. */
static int by_text(const void *a, const void *b)
{
    const struct led *x = a, *y = b;
    CLEANUP(free_p) char *s = xasprintf("%.*s-%d", STR_ARG(x->topic), x->partition);
    CLEANUP(free_p) char *t = xasprintf("%.*s-%d", STR_ARG(y->topic), y->partition);

    return strcmp(s, t);
}

static void print_kafka(const struct leaders_work *w)
{
    for (size_t i = 0; i < w->count; i++) {
        const struct led *p = &w->v[i];
        CLEANUP(strbuf_deinit) struct strbuf exception = {0};
        if (p->error == 0)
            continue;
        cluster_exception(p->error, &exception);
        fprintf(stderr,
                "Skip getting offsets for topic-partition %.*s-%d due to error: "
                "org.apache.kafka.common.errors.%s: %.*s\n",
                STR_ARG(p->topic), p->partition, exception.s,
                STR_ARG(cluster_error_text(p->error, STR_NULL)));
    }
    qsort(w->v, w->count, sizeof *w->v, by_text);
    for (size_t i = 0; i < w->count; i++) {
        if (w->v[i].error == 0 && w->v[i].answer >= 0)
            printf("%.*s:%d:%" PRId64 "\n", STR_ARG(w->v[i].topic), w->v[i].partition,
                   w->v[i].answer);
    }
}

static size_t print_ours(const struct run *run, const struct leaders_work *w)
{
    CLEANUP(table_deinit) struct table t = {0};
    size_t failed = 0;

    table_add(&t, "TOPIC", false);
    table_add(&t, "PARTITION", true);
    table_add(&t, "OFFSET", true);
    table_add(&t, "TROUBLE", false);
    for (size_t i = 0; i < w->count; i++) {
        const struct led *p = &w->v[i];
        bool bad = p->error != 0;
        table_cell(&t, "%.*s", STR_ARG(p->topic));
        table_cell(&t, "%d", p->partition);
        if (bad || p->answer < 0)
            table_cell(&t, "-");
        else
            table_cell(&t, "%" PRId64, p->answer);
        table_cell(&t, "%s", bad ? cluster_error_text(p->error, STR_NULL).p : "");
        failed += bad;
    }
    if (run->json)
        table_print_json(&t, stdout);
    else
        table_print(&t, stdout);
    return failed;
}

static int ask(void *ctx, int32_t leader, struct led *const *parts, size_t count,
               struct strbuf *why)
{
    struct run *run = ctx;

    return leaders_ask_offsets(run->cluster, leader, parts, count, why);
}

static int show(struct run *run)
{
    struct leaders_work w = {.ask = ask, .ctx = run, .metadata_call = "listOffsets(api=METADATA)"};
    int r = find_partitions(run, &w);

    if (r < 0)
        return fail(run);
    r = leaders_run(run->cluster, &w, &run->arena, &run->why);
    if (r < 0 && r != -ETIMEDOUT)
        return fail(run);
    if (run->o->inv->as_kafka) {
        print_kafka(&w);
        return tool_done(run->o->inv);
    }
    size_t failed = print_ours(run, &w);
    if (failed)
        return tool_fail(run->o->inv, "%zu of %zu partitions did not tell their offset", failed,
                         w.count);
    return tool_done(run->o->inv);
}

/* ---- command line ---- */

/* Kafka's tool wraps only what its own parser of rules says. */
static int read_list(struct run *run, const char *list)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    int r = offset_rules_of_list(list, &run->rules, &why);

    if (r < 0 && run->o->inv->as_kafka && str_starts_with(strbuf_str(&why), STR("Invalid rule")))
        strbuf_addz(&run->why, "org.apache.kafka.tools.TerseException: ");
    strbuf_add_str(&run->why, strbuf_str(&why));
    return opts_blame(run->o, TOPIC_PARTITIONS, r, &run->why);
}

static int read_flags(struct run *run, struct cluster_opts *co)
{
    const char *topic = NULL, *partitions = NULL, *list = NULL, *time = NULL;
    int r = 0;

    if (opts_has(run->o, TOPIC_PARTITIONS) &&
        (opts_has(run->o, TOPIC) || opts_has(run->o, PARTITIONS))) {
        strbuf_addz(&run->why, "--topic-partitions cannot be used with --topic or --partitions");
        return -EINVAL;
    }
    r = opts_text(run->o, TIME, &time, &run->why);
    r = r < 0 || !time
            ? r
            : opts_blame(run->o, TIME, offset_time(time, &run->time, &run->why), &run->why);
    r = r < 0 ? r : opts_text(run->o, TOPIC_PARTITIONS, &list, &run->why);
    r = r < 0 ? r : opts_text(run->o, TOPIC, &topic, &run->why);
    r = r < 0 ? r : opts_text(run->o, PARTITIONS, &partitions, &run->why);
    r = r < 0 ? r : opts_json(run->o, OUTPUT, &run->json, &run->why);
    r = r < 0 ? r : opts_text(run->o, CONFIG, &co->config_file, &run->why);
    if (r < 0)
        return r;
    if (list)
        return read_list(run, list);
    return opts_blame(run->o, TOPIC,
                      offset_rules_of_topic(topic, partitions, &run->rules, &run->why), &run->why);
}

/* What Kafka's tool says of an address before it looks at anything else. */
static int check_address(struct run *run, const char *address)
{
    struct str rest = str_of(address), item;

    if (*address == '\0' && run->o->inv->as_kafka)
        strbuf_addz(&run->why, "Error while validating the bootstrap address\n");
    while (run->why.len == 0 && str_split(&rest, ',', &item)) {
        const char *colon = memrchr(item.p, ':', item.len);
        int32_t port;
        struct str digits =
            colon ? (struct str){colon + 1, item.len - (size_t)(colon + 1 - item.p)} : STR("");
        if (str_to_i32(digits, 0, UINT16_MAX, &port) < 0 && run->o->inv->as_kafka)
            strbuf_addz(&run->why, "Please provide valid host:port like host1:9091,host2:9092\n");
    }
    return run->why.len ? -EINVAL : 0;
}

static int run_all(struct run *run)
{
    const struct invocation *inv = run->o->inv;
    struct cluster_opts co = {.inv = inv, .said_first = "Error occurred: "};
    int r = opts_text(run->o, opts_has(run->o, BOOTSTRAP) ? BOOTSTRAP : BROKER_LIST, &co.bootstrap,
                      &run->why);

    if (r < 0)
        return tool_misused(inv, "%s%s", inv->as_kafka ? "Error occurred: " : "", run->why.s);
    if (check_address(run, co.bootstrap) < 0)
        return opts_usage(run->o, run->why.s);
    if (read_flags(run, &co) < 0)
        return tool_misused(inv, "%s%s", inv->as_kafka ? "Error occurred: " : "", run->why.s);
    r = cluster_open(&co, &run->why, &run->cluster);
    return r < 0 ? cluster_refused(&co, r, run->why.s) : show(run);
}

static int check_and_run(struct run *run)
{
    if (opts_has(run->o, BOOTSTRAP) || opts_has(run->o, BROKER_LIST))
        return run_all(run);
    if (run->o->inv->as_kafka)
        return tool_misused(run->o->inv,
                            "Error occurred: Missing required option(s) [bootstrap-server]");
    return tool_misused(run->o->inv, "--bootstrap-server is missing");
}

int cmd_offsets(const struct invocation *inv)
{
    CLEANUP(opts_deinit) struct opts o = {0};
    struct run run = {.o = &o, .time = -1};
    int code;

    if (opts_parse(&o, &def, inv, &run.why) < 0)
        code = tool_misused(inv, "%s%s", inv->as_kafka ? "Error occurred: " : "", run.why.s);
    else if (!opts_answered(&o, HELP, VERSION, &code))
        code = check_and_run(&run);
    cluster_close(run.cluster);
    offset_rules_deinit(&run.rules);
    arena_deinit(&run.arena);
    strbuf_deinit(&run.why);
    return code;
}
