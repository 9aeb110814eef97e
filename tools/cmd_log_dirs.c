/*
 * cmd_log_dirs.c - kafka-log-dirs: what lies in the log dirs of each broker, as one line of JSON
 */
#include "common/base/err.h"
#include "common/base/mem.h"
#include "tools/base/cluster.h"
#include "tools/base/opts.h"
#include "tools/base/table.h"

#include <inttypes.h>
#include <stdio.h>

enum log_dirs_opt {
    LD_BOOTSTRAP,
    LD_CONFIG_FILE,
    LD_DESCRIBE,
    LD_TOPICS,
    LD_BROKERS,
    LD_OUTPUT,
    LD_HELP,
    LD_VERSION,
};

static const struct opt_spec specs[] = {
    [LD_BOOTSTRAP] = {"bootstrap-server", "host:port,...", "the cluster to connect to (required)",
                      0, 'b'},
    [LD_CONFIG_FILE] = {"command-config", "file",
                        "client properties: security.protocol, ssl.*, timeouts", 0, 0},
    [LD_DESCRIBE] = {"describe", NULL, "print directories and the replicas in them (required)", 0,
                     0},
    [LD_TOPICS] = {"topic-list", "a,b,...", "only replicas of these topics", 0, 't'},
    [LD_BROKERS] = {"broker-list", "1,2,...", "only these brokers", 0, 0},
    [LD_OUTPUT] = {"output", "table|json", "how it is printed; else as Kafka's tool does", OPT_OURS,
                   'o'},
    [LD_HELP] = {"help", NULL, "show this", 0, 'h'},
    [LD_VERSION] = {"version", NULL, "print the version of Kafka that this follows", 0, 0},
};

static const struct opts_def def = {
    "This tool helps to query log directory usage on the specified brokers.", specs,
    ARRAY_LEN(specs)};

struct log_dirs {
    const struct opts *o;
    struct cluster *cluster;
    struct arena arena;
    struct strbuf why;
    struct strbuf json;
    struct table table; /* in its place where --output is given */
    bool is_table;      /* it is */
    bool as_json;       /* the table */
    int32_t *brokers;
    int32_t count;
};

static int by_number(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

    return (x > y) - (x < y);
}

static void add_ids(struct strbuf *sb, const int32_t *ids, int32_t count)
{
    for (int32_t i = 0; i < count; i++)
        strbuf_addf(sb, "%s%d", i ? "," : "", ids[i]);
}

static bool has(const int32_t *ids, int32_t count, int32_t id)
{
    for (int32_t i = 0; i < count; i++) {
        if (ids[i] == id)
            return true;
    }
    return false;
}

/* ---- which brokers ---- */

static int all_brokers(struct log_dirs *ld, int32_t **ret, int32_t *ret_count)
{
    const struct metadata_response *m;
    int r = cluster_metadata(ld->cluster, STR(""), &ld->arena, &m, &ld->why);

    if (r)
        return r;
    *ret = arena_new_array(&ld->arena, int32_t, (size_t)m->brokers_count + 1);
    *ret_count = m->brokers_count;
    for (int32_t i = 0; i < m->brokers_count; i++)
        (*ret)[i] = m->brokers[i].node_id;
    qsort(*ret, (size_t)*ret_count, sizeof **ret, by_number);
    return 0;
}

static int read_list(struct log_dirs *ld, const char *text)
{
    struct str rest = str_of(text), item;

    ld->brokers = arena_new_array(&ld->arena, int32_t, strlen(text) + 1);
    while (str_split(&rest, ',', &item)) {
        int32_t id;
        if (item.len == 0)
            continue;
        if (str_to_i32(item, INT32_MIN, INT32_MAX, &id) < 0) {
            strbuf_addf(&ld->why, "For input string: \"%.*s\"", STR_ARG(item));
            return -EINVAL;
        }
        if (!has(ld->brokers, ld->count, id))
            ld->brokers[ld->count++] = id;
    }
    qsort(ld->brokers, (size_t)ld->count, sizeof *ld->brokers, by_number);
    return 0;
}

static int check_known(struct log_dirs *ld, const int32_t *all, int32_t all_count)
{
    CLEANUP(strbuf_deinit) struct strbuf unknown = {0};

    for (int32_t i = 0; i < ld->count; i++) {
        if (!has(all, all_count, ld->brokers[i]))
            strbuf_addf(&unknown, "%s%d", unknown.len ? "," : "", ld->brokers[i]);
    }
    if (unknown.len == 0)
        return 0;
    strbuf_addf(&ld->why,
                "%sThe given brokers do not exist from --broker-list: %s. Current existent "
                "brokers: ",
                ld->o->inv->as_kafka ? "ERROR: " : "", unknown.s);
    add_ids(&ld->why, all, all_count);
    return -EINVAL;
}

static int find_brokers(struct log_dirs *ld)
{
    const char *text = NULL;
    int32_t *all = NULL, all_count = 0;
    int r = opts_text(ld->o, LD_BROKERS, &text, &ld->why);

    r = r ? r : all_brokers(ld, &all, &all_count);
    if (r)
        return r;
    if (!text || !*text) {
        ld->brokers = all;
        ld->count = all_count;
        return 0;
    }
    r = opts_blame(ld->o, LD_BROKERS, read_list(ld, text), &ld->why);
    return r ? r : check_known(ld, all, all_count);
}

/* ---- the answer ---- */

static bool is_wanted(const char *topics, struct str topic)
{
    struct str rest = str_of(topics), item;
    bool is_any = true;

    while (str_split(&rest, ',', &item)) {
        is_any &= item.len == 0;
        if (str_eq(item, topic))
            return true;
    }
    return is_any;
}

static void add_text(struct strbuf *sb, struct str text)
{
    strbuf_add_char(sb, '"');
    for (size_t i = 0; i < text.len; i++) {
        if (text.p[i] == '"' || text.p[i] == '\\')
            strbuf_add_char(sb, '\\');
        strbuf_add_char(sb, text.p[i]);
    }
    strbuf_add_char(sb, '"');
}

static void add_dir(struct log_dirs *ld, const char *topics,
                    const struct describe_log_dirs_response_result *dir)
{
    struct strbuf *sb = &ld->json;
    bool first = true;

    strbuf_addz(sb, "{\"partitions\":[");
    for (int32_t t = 0; t < dir->topics_count; t++) {
        const struct describe_log_dirs_response_topic *topic = &dir->topics[t];
        for (int32_t p = 0; is_wanted(topics, topic->name) && p < topic->partitions_count; p++) {
            const struct describe_log_dirs_response_partition *part = &topic->partitions[p];
            strbuf_addf(sb,
                        "%s{\"partition\":\"%.*s-%d\",\"size\":%" PRId64 ",\"offsetLag\":%" PRId64
                        ",\"isFuture\":%s}",
                        first ? "" : ",", STR_ARG(topic->name), part->partition_index,
                        part->partition_size, part->offset_lag,
                        part->is_future_key ? "true" : "false");
            first = false;
        }
    }
    strbuf_addz(sb, "],\"error\":");
    if (dir->error_code) {
        strbuf_addz(sb, "\"org.apache.kafka.common.errors.");
        cluster_exception(dir->error_code, sb);
        strbuf_addz(sb, "\"");
    } else {
        strbuf_addz(sb, "null");
    }
    strbuf_addz(sb, ",\"logDir\":");
    add_text(sb, dir->log_dir);
    strbuf_addz(sb, "}");
}

/* ---- the same as a table ---- */

static void start_table(struct table *t)
{
    table_add(t, "BROKER", true);
    table_add(t, "LOG-DIR", false);
    table_add(t, "TOPIC", false);
    table_add(t, "PARTITION", true);
    table_add(t, "SIZE", true);
    table_add(t, "OFFSET-LAG", true);
    table_add(t, "FUTURE", false);
    table_add(t, "TROUBLE", false);
}

static void add_replica(struct table *t, int32_t broker,
                        const struct describe_log_dirs_response_result *dir, struct str topic,
                        const struct describe_log_dirs_response_partition *part)
{
    table_cell(t, "%d", broker);
    table_cell(t, "%.*s", STR_ARG(dir->log_dir));
    table_cell(t, "%.*s", STR_ARG(topic));
    table_cell(t, "%d", part->partition_index);
    table_cell(t, "%" PRId64, part->partition_size);
    table_cell(t, "%" PRId64, part->offset_lag);
    table_cell(t, "%s", part->is_future_key ? "yes" : "no");
    table_cell(t, "%s", "");
}

/* A dir that is broken, or has nothing in it that is wanted, is a row of its own. */
static void add_empty(struct table *t, int32_t broker,
                      const struct describe_log_dirs_response_result *dir)
{
    table_cell(t, "%d", broker);
    table_cell(t, "%.*s", STR_ARG(dir->log_dir));
    for (int i = 0; i < 5; i++)
        table_cell(t, "-");
    table_cell(t, "%s", dir->error_code ? cluster_error_text(dir->error_code, STR_NULL).p : "");
}

static void add_rows(struct log_dirs *ld, const char *topics, int32_t broker,
                     const struct describe_log_dirs_response_result *dir)
{
    bool none = true;

    for (int32_t t = 0; t < dir->topics_count; t++) {
        const struct describe_log_dirs_response_topic *topic = &dir->topics[t];
        for (int32_t p = 0; is_wanted(topics, topic->name) && p < topic->partitions_count; p++) {
            add_replica(&ld->table, broker, dir, topic->name, &topic->partitions[p]);
            none = false;
        }
    }
    if (none)
        add_empty(&ld->table, broker, dir);
}

/* ---- asking ---- */

static int add_broker(struct log_dirs *ld, const char *topics, int32_t broker)
{
    struct describe_log_dirs_request req;
    const struct cluster_call call = {"describeLogDirs", broker, API_DESCRIBE_LOG_DIRS, 4, &req};
    const void *response;

    msg_init(&describe_log_dirs_request_desc, &req);
    req.topics_count = -1;
    cluster_start(ld->cluster);
    int r = cluster_call(ld->cluster, &call, &ld->arena, &response, &ld->why);
    if (r)
        return r;
    const struct describe_log_dirs_response *resp = response;
    if (resp->error_code) {
        strbuf_addf(&ld->why, "%.*s", STR_ARG(cluster_error_text(resp->error_code, STR_NULL)));
        return resp->error_code;
    }
    for (int32_t i = 0; ld->is_table && i < resp->results_count; i++)
        add_rows(ld, topics, broker, &resp->results[i]);
    strbuf_addf(&ld->json, "{\"broker\":%d,\"logDirs\":[", broker);
    for (int32_t i = 0; i < resp->results_count; i++) {
        if (i)
            strbuf_addz(&ld->json, ",");
        add_dir(ld, topics, &resp->results[i]);
    }
    strbuf_addz(&ld->json, "]}");
    return 0;
}

static int describe(struct log_dirs *ld)
{
    CLEANUP(strbuf_deinit) struct strbuf ids = {0};
    const char *topics = NULL;
    int r = opts_text(ld->o, LD_TOPICS, &topics, &ld->why);

    r = r ? r : find_brokers(ld);
    if (r)
        return r;
    add_ids(&ids, ld->brokers, ld->count);
    if (ld->is_table)
        start_table(&ld->table);
    else
        puts("Querying brokers for log directories information");
    strbuf_addz(&ld->json, "{\"brokers\":[");
    for (int32_t i = 0; r == 0 && i < ld->count; i++) {
        if (i)
            strbuf_addz(&ld->json, ",");
        r = add_broker(ld, topics ? topics : "", ld->brokers[i]);
    }
    if (r)
        return r;
    if (ld->is_table) {
        (ld->as_json ? table_print_json : table_print)(&ld->table, stdout);
        return 0;
    }
    printf("Received log directory information from brokers %s\n%s],\"version\":1}\n",
           ids.len ? ids.s : "", ld->json.s);
    return 0;
}

static int run(struct log_dirs *ld)
{
    struct cluster_opts co = {.inv = ld->o->inv};
    int r = opts_text(ld->o, LD_CONFIG_FILE, &co.config_file, &ld->why);

    r = r < 0 ? r : opts_text(ld->o, LD_BOOTSTRAP, &co.bootstrap, &ld->why);
    r = r < 0 ? r : opts_json(ld->o, LD_OUTPUT, &ld->as_json, &ld->why);
    ld->is_table = opts_has(ld->o, LD_OUTPUT);
    if (r < 0)
        return tool_misused(ld->o->inv, "%s", ld->why.s);
    r = cluster_open(&co, &ld->why, &ld->cluster);
    r = r ? r : describe(ld);
    return r == 0 ? tool_done(ld->o->inv) : tool_fail(ld->o->inv, "%s", ld->why.s);
}

static int check(struct log_dirs *ld)
{
    int r = opts_require(ld->o, LD_BOOTSTRAP, &ld->why);

    return r < 0 ? r : opts_require(ld->o, LD_DESCRIBE, &ld->why);
}

int cmd_log_dirs(const struct invocation *inv)
{
    CLEANUP(opts_deinit) struct opts o = {0};
    struct log_dirs ld = {.o = &o};
    int code;

    if (opts_parse(&o, &def, inv, &ld.why) < 0)
        code = tool_misused(inv, "%s", ld.why.s);
    else if (!opts_answered(&o, LD_HELP, LD_VERSION, &code))
        code = check(&ld) < 0 ? opts_usage(&o, ld.why.s) : run(&ld);
    cluster_close(ld.cluster);
    arena_deinit(&ld.arena);
    table_deinit(&ld.table);
    strbuf_deinit(&ld.json);
    strbuf_deinit(&ld.why);
    return code;
}
