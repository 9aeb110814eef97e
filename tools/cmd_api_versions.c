/*
 * cmd_api_versions.c - kafka-broker-api-versions: the requests that each broker serves
 *
 * Brokers in the order of their ids, requests in that of their keys; those that Kafka 3.9's clients
 * know and the broker does not are UNSUPPORTED.
 */
#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/wire/header.h"
#include "tools/base/cluster.h"
#include "tools/base/opts.h"

#include <jansson.h>

enum id { BOOTSTRAP, CONFIG, OUTPUT, HELP, VERSION };

static const struct opt_spec specs[] = {
    [BOOTSTRAP] = {"bootstrap-server", "host:port,...", "the cluster to connect to (required)", 0,
                   'b'},
    [CONFIG] = {"command-config", "file", "client properties: security.protocol, ssl.*, timeouts",
                0, 0},
    [OUTPUT] = {"output", "table|json", "how it is printed (table)", OPT_OURS, 'o'},
    [HELP] = {"help", NULL, "show this", 0, 'h'},
    [VERSION] = {"version", NULL, "print the version of Kafka that this follows", 0, 0},
};

static const struct opts_def def = {"the requests that each broker serves", specs,
                                    ARRAY_LEN(specs)};

/* Requests that Kafka 3.9's clients know beside those that a broker with ZooKeeper has. */
static const struct {
    int16_t key, latest;
    const char *name;
} others[] = {
    {55, 2, "DescribeQuorum"},
    {64, 0, "UnregisterBroker"},
    {71, 0, "GetTelemetrySubscriptions"},
    {72, 0, "PushTelemetry"},
    {74, 0, "ListClientMetricsResources"},
    {75, 0, "DescribeTopicPartitions"},
    {76, 0, "ShareGroupHeartbeat"},
    {77, 0, "ShareGroupDescribe"},
    {78, 0, "ShareFetch"},
    {79, 0, "ShareAcknowledge"},
    {80, 0, "AddRaftVoter"},
    {81, 0, "RemoveRaftVoter"},
    {83, 0, "InitializeShareGroupState"},
    {84, 0, "ReadShareGroupState"},
    {85, 0, "WriteShareGroupState"},
    {86, 0, "DeleteShareGroupState"},
    {87, 0, "ReadShareGroupStateSummary"},
};

enum { LAST_KEY = 87 };

/* NULL where clients do not know it. */
static const char *name_of(int16_t key, int16_t *ret_oldest, int16_t *ret_latest)
{
    const struct api_msgs *api = api_messages_find(key);

    *ret_oldest = 0;
    if (api) {
        *ret_oldest = api->min_version;
        *ret_latest = api->max_version;
        return api->name;
    }
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        if (others[i].key == key) {
            *ret_latest = others[i].latest;
            return others[i].name;
        }
    }
    return NULL;
}

static int by_key(const void *a, const void *b)
{
    return ((const struct api_versions_response_api_key *)a)->api_key -
           ((const struct api_versions_response_api_key *)b)->api_key;
}

static int by_id(const void *a, const void *b)
{
    int32_t x = ((const struct metadata_response_broker *)a)->node_id;
    int32_t y = ((const struct metadata_response_broker *)b)->node_id;

    return (x > y) - (x < y);
}

static void print_one(const struct api_versions_response_api_key *k, bool last)
{
    int16_t oldest, latest = 0;
    const char *name = name_of(k->api_key, &oldest, &latest);

    printf("\t%s(%d): %d", name ? name : "UNKNOWN", k->api_key, k->min_version);
    if (k->min_version != k->max_version)
        printf(" to %d", k->max_version);
    if (name && latest < k->min_version)
        fputs(" [unusable: node too new]", stdout);
    else if (name && k->max_version < oldest)
        fputs(" [unusable: node too old]", stdout);
    else if (name)
        printf(" [usable: %d]", MIN(latest, k->max_version));
    puts(last ? "" : ",");
}

static void print_node(const struct metadata_response_broker *b)
{
    struct str rack = str_is_null(b->rack) ? STR("null") : b->rack;

    printf("%.*s:%d (id: %d rack: %.*s) -> ", STR_ARG(b->host), b->port, b->node_id, STR_ARG(rack));
}

/* Both lists are in the order of keys: what the broker has, and what clients know. */
static void print_versions(const struct metadata_response_broker *b,
                           const struct api_versions_response_api_key *keys, int32_t count)
{
    int16_t oldest, latest;
    int32_t i = 0;

    print_node(b);
    puts("(");
    for (int16_t key = 0; key <= LAST_KEY; key++) {
        const char *name = name_of(key, &oldest, &latest);
        if (i < count && keys[i].api_key == key) {
            i++;
            print_one(&keys[i - 1], i == count && key == LAST_KEY);
        } else if (name) {
            printf("\t%s(%d): UNSUPPORTED%s\n", name, key,
                   i == count && key == LAST_KEY ? "" : ",");
        }
    }
    for (; i < count; i++)
        print_one(&keys[i], i == count - 1);
    puts(")");
}

static json_t *json_versions(const struct metadata_response_broker *b,
                             const struct api_versions_response_api_key *keys, int32_t count)
{
    json_t *list = json_array();

    for (int32_t i = 0; i < count; i++) {
        int16_t oldest, latest;
        const char *name = name_of(keys[i].api_key, &oldest, &latest);
        json_array_append_new(list, json_pack("{s:s?, s:i, s:i, s:i}", "name", name, "key",
                                              keys[i].api_key, "min", keys[i].min_version, "max",
                                              keys[i].max_version));
    }
    return json_pack("{s:i, s:o, s:i, s:o}", "broker", (int)b->node_id, "host",
                     json_stringn(b->host.p, b->host.len), "port", (int)b->port, "apis", list);
}

static int ask(struct cluster *c, const struct metadata_response_broker *b, struct arena *a,
               struct api_versions_response **ret, struct strbuf *why)
{
    struct api_versions_request m;
    const struct cluster_call call = {"apiVersions", b->node_id, API_API_VERSIONS, 3, &m};
    const void *got;

    msg_init(&api_versions_request_desc, &m);
    m.client_software_name = STR("klamm");
    m.client_software_version = str_of(KLAMM_VERSION);
    cluster_start(c);
    int r = cluster_call(c, &call, a, &got, why);
    if (r < 0)
        return r;
    /* the answer is ours: it lives in our arena */
    *ret = (struct api_versions_response *)(uintptr_t)got;
    if ((*ret)->error_code) {
        strbuf_add_str(why, cluster_error_text((*ret)->error_code, STR_NULL));
        return -EIO;
    }
    if ((*ret)->api_keys_count > 1)
        qsort((*ret)->api_keys, (size_t)(*ret)->api_keys_count, sizeof *(*ret)->api_keys, by_key);
    return 0;
}

/* One broker, into the list of JSON objects where there is one; TOOL_FAILED where it does not
 * answer. */
static int show(const struct invocation *inv, struct cluster *c,
                const struct metadata_response_broker *b, json_t *list)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    CLEANUP(arena_deinit) struct arena a = {0};
    struct api_versions_response *v;
    int r = ask(c, b, &a, &v, &why);

    if (r == 0 && list)
        json_array_append_new(list, json_versions(b, v->api_keys, v->api_keys_count));
    else if (r == 0)
        print_versions(b, v->api_keys, v->api_keys_count);
    if (r == 0)
        return 0;
    if (!inv->as_kafka)
        return tool_fail(inv, "broker %d: %s", b->node_id, why.s);
    print_node(b);
    printf("ERROR: %s\n", why.s);
    return 0; /* as Kafka's tool */
}

static int run(const struct opts *o, struct cluster *c, bool json)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    CLEANUP(arena_deinit) struct arena a = {0};
    const struct metadata_response *meta;
    json_t *list = json ? json_array() : NULL;
    int code = 0;

    if (cluster_metadata(c, STR(""), &a, &meta, &why) < 0) {
        json_decref(list);
        return tool_fail(o->inv, "%s", why.s);
    }
    struct metadata_response_broker *brokers =
        arena_new_array(&a, struct metadata_response_broker, (size_t)meta->brokers_count);
    for (int32_t i = 0; i < meta->brokers_count; i++)
        brokers[i] = meta->brokers[i];
    qsort(brokers, (size_t)meta->brokers_count, sizeof *brokers, by_id);
    for (int32_t i = 0; i < meta->brokers_count; i++) {
        int failed = show(o->inv, c, &brokers[i], list);
        code = failed ? failed : code;
    }
    if (list) {
        json_dumpf(list, stdout, JSON_INDENT(2));
        putchar('\n');
        json_decref(list);
    }
    return code ? code : tool_done(o->inv);
}

static int open_and_run(const struct opts *o)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    CLEANUP(cluster_close_p) struct cluster *c = NULL;
    struct cluster_opts co = {.inv = o->inv, .once = true};
    bool json;
    int r = opts_text(o, CONFIG, &co.config_file, &why);

    r = r < 0 ? r : opts_text(o, BOOTSTRAP, &co.bootstrap, &why);
    r = r < 0 ? r : opts_json(o, OUTPUT, &json, &why);
    if (r < 0)
        return tool_misused(o->inv, "%s", why.s);
    if (cluster_open(&co, &why, &c) < 0)
        return tool_fail(o->inv, "%s", why.s);
    return run(o, c, json);
}

int cmd_api_versions(const struct invocation *inv)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    CLEANUP(opts_deinit) struct opts o = {0};
    int code;

    if (opts_parse(&o, &def, inv, &why) < 0)
        return tool_misused(inv, "%s", why.s);
    if (opts_answered(&o, HELP, VERSION, &code))
        return code;
    if (opts_require(&o, BOOTSTRAP, &why) < 0)
        return opts_usage(&o, why.s);
    return open_and_run(&o);
}
