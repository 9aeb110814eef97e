/*
 * cmd_elect.c - kafka-leader-election: its command line, its checks, and the election
 */
#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/io/fs.h"
#include "tools/base/cluster.h"
#include "tools/base/opts.h"
#include "tools/elect/elect.h"

#include <strings.h>

enum { CALL_MS = 30000, REQUEST_MS = 15000, FILE_MAX = 64 << 20 };

enum {
    ELECT_BOOTSTRAP,
    ELECT_ADMIN_CONFIG,
    ELECT_COMMAND_CONFIG,
    ELECT_FILE,
    ELECT_TOPIC,
    ELECT_PARTITION,
    ELECT_ALL,
    ELECT_TYPE,
    ELECT_DRY_RUN,
    ELECT_OUTPUT,
    ELECT_HELP,
    ELECT_VERSION,
};

static const struct opt_spec specs[] = {
    [ELECT_BOOTSTRAP] = {"bootstrap-server", "host:port,...",
                         "the cluster to connect to (required)", 0, 'b'},
    [ELECT_ADMIN_CONFIG] = {"admin.config", "file",
                            "client properties: security.protocol, ssl.*, timeouts", 0, 0},
    [ELECT_COMMAND_CONFIG] = {"command-config", "file", "the same, as other commands call it",
                              OPT_OURS, 0},
    [ELECT_FILE] = {"path-to-json-file", "file",
                    "partitions: {\"partitions\":[{\"topic\":\"t\",\"partition\":0}]}", 0, 0},
    [ELECT_TOPIC] = {"topic", "topic", "the topic of one partition", 0, 't'},
    [ELECT_PARTITION] = {"partition", "N", "the number of one partition", 0, 'p'},
    [ELECT_ALL] = {"all-topic-partitions", NULL, "every partition that needs it", 0, 0},
    [ELECT_TYPE] = {"election-type", "preferred|unclean",
                    "the first replica of each (required), or any that is up where the leader is "
                    "lost: what only the lost one had is lost, too",
                    0, 0},
    [ELECT_DRY_RUN] = {"dry-run", NULL, "say what would be elected, and elect nothing", OPT_OURS,
                       0},
    [ELECT_OUTPUT] = {"output", "table|json", "how to print", OPT_OURS, 'o'},
    [ELECT_HELP] = {"help", NULL, "show this", 0, 'h'},
    [ELECT_VERSION] = {"version", NULL, "print the version of Kafka that this follows", 0, 0},
};

static const struct opts_def def = {
    "elect leaders of partitions: the first of their replicas, or any that is up", specs,
    ARRAY_LEN(specs)};

struct elect {
    const struct opts *o;
    struct cluster *cluster;
    bool as_kafka, as_json;
    enum election type;
    bool all;
    struct elect_parts parts; /* wanted, then found */
    struct arena arena;
    struct strbuf why;
};

/* ---- the command line ---- */

static int refuse(struct elect *e, const char *text)
{
    strbuf_addz(&e->why, text);
    return -EINVAL;
}

static int check_required(struct elect *e)
{
    bool has_server = opts_has(e->o, ELECT_BOOTSTRAP), has_type = opts_has(e->o, ELECT_TYPE);

    if (has_server && has_type)
        return 0;
    strbuf_addf(&e->why, "Missing required option(s): %s%s%s", has_server ? "" : "bootstrap-server",
                has_server || has_type ? "" : ", ", has_type ? "" : "election-type");
    return -EINVAL;
}

static int check_partitions(struct elect *e)
{
    bool has_topic = opts_has(e->o, ELECT_TOPIC), has_partition = opts_has(e->o, ELECT_PARTITION);

    if (has_topic + opts_has(e->o, ELECT_ALL) + opts_has(e->o, ELECT_FILE) != 1)
        return refuse(e, "One and only one of the following options is required: topic, "
                         "all-topic-partitions, path-to-json-file");
    if (has_topic && !has_partition)
        return refuse(e, "Missing required option(s): partition");
    if (!has_topic && has_partition)
        return refuse(e, "Option partition is only allowed if topic is used");
    return 0;
}

static int read_type(struct elect *e)
{
    const char *text;
    int r = opts_text(e->o, ELECT_TYPE, &text, &e->why);

    if (r < 0)
        return r;
    if (strcasecmp(text, "preferred") == 0)
        e->type = ELECT_PREFERRED;
    else if (strcasecmp(text, "unclean") == 0)
        e->type = ELECT_UNCLEAN;
    else {
        strbuf_addf(&e->why, "Cannot parse argument '%s' of option election-type", text);
        return -EINVAL;
    }
    return 0;
}

static int read_file(struct elect *e, const char *path)
{
    CLEANUP(strbuf_deinit) struct strbuf text = {0};
    int r = fs_read_file(path, FILE_MAX, &text);

    if (r < 0 && e->as_kafka) {
        strbuf_addf(&e->why, "java.io.IOException: Unable to read file %s", path);
        return r;
    }
    if (r < 0) {
        strbuf_addf(&e->why, "%s: %s (--path-to-json-file)", path, strerror(-r));
        return r;
    }
    return elect_parse(strbuf_str(&text), &e->arena, &e->parts, &e->why);
}

static int read_partitions(struct elect *e)
{
    struct elect_part *one = arena_new(&e->arena, struct elect_part);
    const char *path, *topic;
    int r = opts_text(e->o, ELECT_FILE, &path, &e->why);

    e->all = opts_has(e->o, ELECT_ALL);
    if (r < 0 || path || e->all)
        return r == 0 && path ? read_file(e, path) : r;
    r = opts_text(e->o, ELECT_TOPIC, &topic, &e->why);
    r = r < 0 ? r : opts_i32(e->o, ELECT_PARTITION, &one->partition, &e->why);
    if (r < 0)
        return r;
    one->topic = str_of(topic);
    e->parts = (struct elect_parts){one, 1};
    return 0;
}

/* ---- the election ---- */

static int by_topic(const void *a, const void *b)
{
    const struct elect_part *x = a, *y = b;
    int order = str_cmp(x->topic, y->topic);

    return order ? order : (x->partition > y->partition) - (x->partition < y->partition);
}

/* Sorts the partitions, and groups them. */
static void fill(struct elect *e, struct elect_leaders_request *m)
{
    int32_t *numbers = arena_new_array(&e->arena, int32_t, e->parts.count + 1);

    msg_init(&elect_leaders_request_desc, m);
    m->election_type = (int8_t)e->type;
    m->timeout_ms = cluster_request_timeout_ms(e->cluster);
    m->topic_partitions_count = e->all ? -1 : 0;
    m->topic_partitions = arena_new_array(&e->arena, struct elect_leaders_request_topic_partition,
                                          e->parts.count + 1);
    if (e->parts.count > 1)
        qsort(e->parts.v, e->parts.count, sizeof *e->parts.v, by_topic);
    for (size_t i = 0; i < e->parts.count; i++) {
        numbers[i] = e->parts.v[i].partition;
        if (i == 0 || !str_eq(e->parts.v[i].topic, e->parts.v[i - 1].topic))
            m->topic_partitions[m->topic_partitions_count++] =
                (struct elect_leaders_request_topic_partition){.topic = e->parts.v[i].topic,
                                                               .partitions = numbers + i};
        m->topic_partitions[m->topic_partitions_count - 1].partitions_count++;
    }
}

static void take(struct elect *e, const struct elect_leaders_response *response)
{
    size_t room = 1;

    for (int32_t i = 0; i < response->replica_election_results_count; i++)
        room += (size_t)MAX(response->replica_election_results[i].partition_result_count, 0);
    e->parts = (struct elect_parts){arena_new_array(&e->arena, struct elect_part, room), 0};
    for (int32_t i = 0; i < response->replica_election_results_count; i++) {
        const struct elect_leaders_response_replica_election_result *topic =
            &response->replica_election_results[i];
        for (int32_t k = 0; k < topic->partition_result_count; k++)
            e->parts.v[e->parts.count++] = (struct elect_part){
                topic->topic, topic->partition_result[k].partition_id,
                topic->partition_result[k].error_code, topic->partition_result[k].error_message};
    }
}

/* The first partition that asks for another controller. */
static int16_t moved(const struct elect_leaders_response *response)
{
    for (int32_t i = 0; i < response->replica_election_results_count; i++) {
        const struct elect_leaders_response_replica_election_result *topic =
            &response->replica_election_results[i];
        for (int32_t k = 0; k < topic->partition_result_count; k++) {
            if (topic->partition_result[k].error_code == NOT_CONTROLLER)
                return NOT_CONTROLLER;
        }
    }
    return response->error_code;
}

/* Kafka's tool says on standard output, too, why there are no results. */
static int no_results(struct elect *e, int r, const char *text)
{
    strbuf_reset(&e->why);
    strbuf_addz(&e->why, text);
    if (e->as_kafka)
        puts(text);
    return r;
}

static int elect(struct elect *e)
{
    struct elect_leaders_request m;
    const struct cluster_call call = {"electLeaders", SEED_CONTROLLER, API_ELECT_LEADERS, 2, &m};
    const struct elect_leaders_response *response;
    const void *got;

    fill(e, &m);
    cluster_start(e->cluster);
    do {
        int r = cluster_call(e->cluster, &call, &e->arena, &got, &e->why);
        if (r < 0 && e->as_kafka && r != -EPROTONOSUPPORT)
            return no_results(e, r, "Timeout waiting for election results");
        if (r < 0)
            return r;
        response = got;
    } while (moved(response) && cluster_again(e->cluster, moved(response)));
    if (response->error_code == CLUSTER_AUTHORIZATION_FAILED)
        return no_results(e, response->error_code, "Not authorized to perform leader election");
    if (response->error_code == REQUEST_TIMED_OUT)
        return no_results(e, response->error_code, "Timeout waiting for election results");
    if (response->error_code) {
        strbuf_add_str(&e->why, cluster_error_text(response->error_code, STR_NULL));
        return response->error_code;
    }
    take(e, response);
    return 0;
}

/* ---- what an election would do ---- */

static bool has_id(const int32_t *ids, int32_t count, int32_t id)
{
    for (int32_t i = 0; i < count; i++) {
        if (ids[i] == id)
            return true;
    }
    return false;
}

static bool is_up(const struct metadata_response *meta, int32_t id)
{
    for (int32_t i = 0; i < meta->brokers_count; i++) {
        if (meta->brokers[i].node_id == id)
            return true;
    }
    return false;
}

static void foresee_preferred(struct elect *e, const struct metadata_response *meta,
                              const struct metadata_response_partition *p, struct elect_part *ret)
{
    int32_t first = p->replica_nodes_count ? p->replica_nodes[0] : -1;

    if (p->leader_id == first) {
        ret->error = ELECTION_NOT_NEEDED;
    } else if (is_up(meta, first) && has_id(p->isr_nodes, p->isr_nodes_count, first)) {
        ret->message = arena_printf(&e->arena, "would be %d, is %d", first, p->leader_id);
    } else {
        ret->error = PREFERRED_LEADER_NOT_AVAILABLE;
        ret->message = arena_printf(&e->arena, "broker %d is down, or not in sync", first);
    }
}

static void foresee_unclean(struct elect *e, const struct metadata_response *meta,
                            const struct metadata_response_partition *p, struct elect_part *ret)
{
    if (is_up(meta, p->leader_id)) {
        ret->error = ELECTION_NOT_NEEDED;
        return;
    }
    for (int32_t i = 0; i < p->replica_nodes_count; i++) {
        if (!is_up(meta, p->replica_nodes[i]))
            continue;
        ret->message = arena_printf(&e->arena, "would be %d, is none", p->replica_nodes[i]);
        return;
    }
    ret->error = ELIGIBLE_LEADERS_NOT_AVAILABLE;
    ret->message = STR("no replica is up");
}

/* The partition's place in a sorted list, NULL where it is not wanted. */
static struct elect_part *wanted(const struct elect *e, const struct elect_part *key)
{
    if (e->parts.count == 0)
        return NULL;
    return bsearch(key, e->parts.v, e->parts.count, sizeof *e->parts.v, by_topic);
}

static void foresee_topic(struct elect *e, const struct metadata_response *meta,
                          const struct metadata_response_topic *topic, struct elect_parts *found)
{
    for (int32_t k = 0; k < topic->partitions_count; k++) {
        const struct metadata_response_partition *p = &topic->partitions[k];
        struct elect_part one = {.topic = topic->name, .partition = p->partition_index};
        struct elect_part *place = e->all ? &one : wanted(e, &one);

        if (!place)
            continue;
        if (e->type == ELECT_PREFERRED)
            foresee_preferred(e, meta, p, &one);
        else
            foresee_unclean(e, meta, p, &one);
        if (!e->all)
            *place = one;
        else if (one.error != ELECTION_NOT_NEEDED)
            found->v[found->count++] = one;
    }
}

static int foresee(struct elect *e)
{
    const struct metadata_response *meta;
    struct elect_parts found = {0};
    size_t room = 1;
    int r = cluster_metadata(e->cluster, STR_NULL, &e->arena, &meta, &e->why);

    if (r < 0)
        return r;
    for (int32_t i = 0; i < meta->topics_count; i++)
        room += (size_t)MAX(meta->topics[i].partitions_count, 0);
    found.v = arena_new_array(&e->arena, struct elect_part, room);
    if (e->parts.count > 1)
        qsort(e->parts.v, e->parts.count, sizeof *e->parts.v, by_topic);
    for (size_t i = 0; i < e->parts.count; i++) {
        e->parts.v[i].error = UNKNOWN_TOPIC_OR_PARTITION;
        e->parts.v[i].message = STR("there is no such partition");
    }
    for (int32_t i = 0; i < meta->topics_count; i++)
        foresee_topic(e, meta, &meta->topics[i], &found);
    if (e->all)
        e->parts = found;
    return 0;
}

/* ---- from beginning to end ---- */

static int fail(struct elect *e)
{
    fflush(stdout);
    return tool_fail(e->o->inv, "%s", e->why.len ? e->why.s : "");
}

static int print(struct elect *e)
{
    size_t failed;

    if (e->as_kafka) {
        elect_sort(&e->parts);
        failed = elect_print(&e->parts, e->type, stdout);
    } else {
        if (e->parts.count > 1)
            qsort(e->parts.v, e->parts.count, sizeof *e->parts.v, by_topic);
        failed = elect_print_table(&e->parts, e->as_json, stdout);
    }
    int code = tool_done(e->o->inv);
    if (failed == 0)
        return code;
    strbuf_addf(&e->why, "%zu replica(s) could not be elected", failed);
    return fail(e);
}

static int run(struct elect *e)
{
    struct cluster_opts co = {
        .inv = e->o->inv, .api_timeout_ms = CALL_MS, .request_timeout_ms = REQUEST_MS};
    int r = opts_text(e->o, ELECT_ADMIN_CONFIG, &co.config_file, &e->why);

    if (r == 0 && !co.config_file)
        r = opts_text(e->o, ELECT_COMMAND_CONFIG, &co.config_file, &e->why);
    r = r < 0 ? r : opts_text(e->o, ELECT_BOOTSTRAP, &co.bootstrap, &e->why);
    if (r < 0)
        return tool_misused(e->o->inv, "%s", e->why.s);
    r = cluster_open(&co, &e->why, &e->cluster);
    if (r == -EINVAL && e->as_kafka)
        fputs("Failed to create new KafkaAdminClient\nCaused by: ", stderr);
    if (r == -ENOENT && e->as_kafka)
        return tool_fail(e->o->inv, "%s", co.config_file);
    if (r < 0)
        return fail(e);
    r = opts_has(e->o, ELECT_DRY_RUN) ? foresee(e) : elect(e);
    return r ? fail(e) : print(e);
}

static int check_and_run(struct elect *e)
{
    int r = check_required(e);

    r = r ? r : check_partitions(e);
    r = r ? r : opts_json(e->o, ELECT_OUTPUT, &e->as_json, &e->why);
    r = r ? r : read_type(e);
    if (r < 0)
        return tool_misused(e->o->inv, "%s", e->why.s);
    r = read_partitions(e);
    return r < 0 ? fail(e) : run(e);
}

int cmd_elect(const struct invocation *inv)
{
    CLEANUP(opts_deinit) struct opts o = {0};
    struct elect e = {.o = &o, .as_kafka = inv->as_kafka};
    int code;

    if (opts_parse(&o, &def, inv, &e.why) < 0)
        code = tool_misused(inv, "%s", e.why.s);
    else if (!opts_answered(&o, ELECT_HELP, ELECT_VERSION, &code))
        code = check_and_run(&e);
    cluster_close(e.cluster);
    arena_deinit(&e.arena);
    strbuf_deinit(&e.why);
    return code;
}
