/*
 * cmd_consumer_perf.c - kafka-consumer-perf-test: how fast a group's member reads
 */
#include "common/base/clock.h"
#include "tools/base/java_text.h"
#include "tools/client/consumer.h"
#include "tools/client/perf_csv.h"
#include "tools/client/perf_metrics.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

enum id {
    BROKER_LIST,
    BOOTSTRAP,
    TOPIC,
    GROUP,
    FETCH_SIZE,
    FROM_LATEST,
    SOCKET_BUFFER,
    THREADS,
    FETCH_THREADS,
    CONSUMER_CONFIG,
    PRINT_METRICS,
    DETAILED,
    TIMEOUT,
    MESSAGES,
    INTERVAL,
    DATE_FORMAT,
    HIDE_HEADER,
    OUTPUT,
    HELP,
    VERSION,
};

static const struct opt_spec specs[] = {
    [BROKER_LIST] = {"broker-list", "String: broker-list", "DEPRECATED, use --bootstrap-server.",
                     OPT_KAFKAS, 0},
    [BOOTSTRAP] = {"bootstrap-server", "String: server to connect to",
                   "REQUIRED unless --broker-list is there: host:port,host:port.", 0, 'b'},
    [TOPIC] = {"topic", "String: topic", "REQUIRED: the topic to read.", 0, 't'},
    [GROUP] = {"group", "String: gid", "The group to join. (default: perf-consumer-N)", 0, 'g'},
    [FETCH_SIZE] = {"fetch-size", "Integer: size", "max.partition.fetch.bytes (default: 1048576)",
                    0, 0},
    [FROM_LATEST] = {"from-latest", NULL,
                     "Start at the end where the group has no offset, not at the beginning.", 0, 0},
    [SOCKET_BUFFER] = {"socket-buffer-size", "Integer: size",
                       "receive.buffer.bytes (default: 2097152)", 0, 0},
    [THREADS] = {"threads", "Integer: count", "DEPRECATED AND IGNORED.", OPT_KAFKAS, 0},
    [FETCH_THREADS] = {"num-fetch-threads", "Integer: count", "DEPRECATED AND IGNORED.", OPT_KAFKAS,
                       0},
    [CONSUMER_CONFIG] = {"consumer.config", "String: config file", "Properties of the consumer.", 0,
                         0},
    [PRINT_METRICS] = {"print-metrics", NULL, "Print counts and rates at the end.", 0, 0},
    [DETAILED] = {"show-detailed-stats", NULL, "A line for each reporting interval.", 0, 0},
    [TIMEOUT] = {"timeout", "Long: milliseconds",
                 "End when nothing came for so long (default: 10000)", OPT_OPTIONAL, 0},
    [MESSAGES] = {"messages", "Long: count", "REQUIRED: how many to read.", 0, 'c'},
    [INTERVAL] = {"reporting-interval", "Integer: interval_ms", "(default: 5000)", 0, 0},
    [DATE_FORMAT] = {"date-format", "String: date format",
                     "As java.text.SimpleDateFormat has them. (default: yyyy-MM-dd HH:mm:ss:SSS)",
                     0, 0},
    [HIDE_HEADER] = {"hide-header", NULL, "Leave the names of the columns out.", 0, 0},
    [OUTPUT] = {"output", "json", "The result as a JSON object.", OPT_OURS, 'o'},
    [HELP] = {"help", NULL, "Print usage information.", 0, 'h'},
    [VERSION] = {"version", NULL, "Display Kafka version.", 0, 0},
};

static const struct opts_def def = {"This tool is used to verify the consumer performance.", specs,
                                    ARRAY_LEN(specs)};

enum { BATCH = 500, WAIT_MS = 100 };

struct perf {
    const struct invocation *inv;
    struct consumer consumer;
    struct props props;
    const char *topic, *date_format;
    struct strbuf out;
    int64_t wanted, timeout_ms;
    int32_t interval_ms;
    bool detailed, metrics, json;
    struct perf_reading read;
    /* before partitions were assigned, altogether and since the last line */
    int64_t join_start_ms, join_ms, join_round_ms;
    bool assigned;
};

static int64_t now_ms(void)
{
    return clock_wall_ms(&clock_system);
}

static void on_revoked(struct consumer *consumer, const rd_kafka_topic_partition_list_t *l UNUSED)
{
    struct perf *p = container_of(consumer, struct perf, consumer);

    p->assigned = false;
    p->join_start_ms = now_ms();
}

static void on_assigned(struct consumer *consumer, const rd_kafka_topic_partition_list_t *l UNUSED)
{
    struct perf *p = container_of(consumer, struct perf, consumer);

    if (!p->assigned) {
        p->join_ms += now_ms() - p->join_start_ms;
        p->join_round_ms += now_ms() - p->join_start_ms;
    }
    p->assigned = true;
}

/* ---- command line ---- */

static int set_texts(struct perf *p, const struct opts *o, const char *group, struct strbuf *why)
{
    const struct {
        int id;
        const char *key, *fallback;
    } texts[] = {
        {opts_has(o, BOOTSTRAP) ? BOOTSTRAP : BROKER_LIST, "bootstrap.servers", ""},
        {GROUP, "group.id", group},
        {SOCKET_BUFFER, "receive.buffer.bytes", "2097152"},
        {FETCH_SIZE, "max.partition.fetch.bytes", "1048576"},
    };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        const char *text;
        int r = opts_text(o, texts[i].id, &text, why);
        if (r < 0)
            return r;
        props_set(&p->props, texts[i].key, text ? text : texts[i].fallback);
    }
    return 0;
}

static int read_props(struct perf *p, const struct opts *o, struct strbuf *why)
{
    const char *file;
    char group[40];
    int r = opts_text(o, CONSUMER_CONFIG, &file, why);

    if (r == 0 && file)
        r = rd_load_props(&p->props, file, why);
    snprintf(group, sizeof group, "perf-consumer-%u",
             (unsigned)(clock_mono_us(&clock_system) % 100000));
    r = r < 0 ? r : set_texts(p, o, group, why);
    props_set(&p->props, "auto.offset.reset", opts_has(o, FROM_LATEST) ? "latest" : "earliest");
    props_set(&p->props, "check.crcs", "false");
    rd_default(&p->props, "client.id", "perf-consumer-client");
    return r;
}

static int read_numbers(struct perf *p, const struct opts *o, struct strbuf *why)
{
    const char *format;
    int r = opts_i64(o, MESSAGES, &p->wanted, why);

    p->timeout_ms = 10000;
    p->interval_ms = 5000;
    if (r == 0 && opts_nth(o, TIMEOUT, 0))
        r = opts_i64(o, TIMEOUT, &p->timeout_ms, why);
    r = r < 0 ? r : opts_i32(o, INTERVAL, &p->interval_ms, why);
    if (r == 0 && p->interval_ms <= 0) {
        strbuf_addz(why, "Reporting interval must be greater than 0.");
        return -EINVAL;
    }
    r = r < 0 ? r : opts_text(o, DATE_FORMAT, &format, why);
    r = r < 0 ? r : opts_text(o, TOPIC, &p->topic, why);
    if (r < 0)
        return r;
    p->date_format = format ? format : "yyyy-MM-dd HH:mm:ss:SSS";
    p->detailed = opts_has(o, DETAILED);
    p->metrics = opts_has(o, PRINT_METRICS);
    return java_date_check(p->date_format, why);
}

static int check(const struct opts *o, struct strbuf *why)
{
    if (!opts_has(o, BOOTSTRAP) && !opts_has(o, BROKER_LIST)) {
        strbuf_addz(why, "Missing required option(s) [bootstrap-server]");
        return -EINVAL;
    }
    int r = opts_require(o, TOPIC, why);
    return r < 0 ? r : opts_require(o, MESSAGES, why);
}

static int begin(struct perf *p, struct strbuf *why)
{
    const struct wanted_topics wanted = {.name = p->topic};
    struct str bad = rd_bad_address(props_get(&p->props, "bootstrap.servers"));

    if (!str_is_null(bad)) {
        strbuf_addf(why,
                    "Failed to construct kafka consumer: Invalid url in bootstrap.servers: %.*s",
                    STR_ARG(bad));
        return -EINVAL;
    }
    int r = consumer_set_java(&p->consumer, &p->props, props_get(&p->props, "group.id"), why);
    r = r < 0 ? r : consumer_start(&p->consumer, why);
    return r < 0 ? r : consumer_subscribe(&p->consumer, &wanted, why);
}

/* ---- the work ---- */

static void end_interval(struct perf *p, int64_t last_ms, int64_t now)
{
    const struct perf_span span = {last_ms, now, p->join_round_ms};

    if (p->detailed && !p->json)
        perf_csv_interval(&p->out, &p->read, &span, p->date_format);
    p->join_round_ms = 0;
    p->read.last_messages = p->read.messages;
    p->read.last_bytes = p->read.bytes;
}

/* Returns how many records there were. */
static int count_batch(struct perf *p, rd_kafka_message_t **messages, int n, int64_t now,
                       int64_t *last_report_ms)
{
    int records = 0;

    for (int i = 0; i < n; i++) {
        if (messages[i]->err)
            continue;
        records++;
        p->read.messages++;
        p->read.bytes += messages[i]->len + messages[i]->key_len;
        if (now - *last_report_ms >= p->interval_ms) {
            end_interval(p, *last_report_ms, now);
            *last_report_ms = now;
        }
    }
    return records;
}

/* -EPIPE where nobody reads what is printed. */
static int read_all(struct perf *p, struct strbuf *why)
{
    rd_kafka_message_t *messages[BATCH];
    int64_t now = now_ms(), last_report = now, last_record = now;

    while (!rd_stopped && !p->consumer.rd.fatal && (int64_t)p->read.messages < p->wanted &&
           now - last_record <= p->timeout_ms) {
        int n = consumer_poll(&p->consumer, messages, BATCH, WAIT_MS);
        now = now_ms();
        if (count_batch(p, messages, n, now, &last_report) > 0)
            last_record = now;
        consumer_done(&p->consumer, messages, n, n);
        int r = p->out.len > 0 && !p->json ? tool_write(&p->out, why) : 0;
        if (r < 0)
            return r;
    }
    return 0;
}

static void print_metrics(struct perf *p, int64_t ms)
{
    double seconds = (double)MAX(ms, (int64_t)1) / 1000;
    const struct perf_metric v[] = {
        {"consumer-fetch-manager-metrics", "bytes-consumed-rate", (double)p->read.bytes / seconds},
        {"consumer-fetch-manager-metrics", "bytes-consumed-total", (double)p->read.bytes},
        {"consumer-fetch-manager-metrics", "records-consumed-rate",
         (double)p->read.messages / seconds},
        {"consumer-fetch-manager-metrics", "records-consumed-total", (double)p->read.messages},
    };

    perf_metrics_print(v, ARRAY_LEN(v), props_get(&p->props, "client.id"), &p->out);
}

static void add_result(struct perf *p, int64_t start, int64_t end)
{
    const struct perf_span span = {start, end, p->join_ms};

    if ((int64_t)p->read.messages < p->wanted && !rd_stopped && !p->json)
        strbuf_addf(&p->out,
                    "WARNING: Exiting before consuming the expected number of messages: timeout "
                    "(%" PRId64 " ms) exceeded. You can use the --timeout option to increase the "
                    "timeout.\n",
                    p->timeout_ms);
    if (p->json)
        perf_csv_total_json(&p->out, &p->read, &span);
    else if (!p->detailed)
        perf_csv_total(&p->out, &p->read, &span, p->date_format);
    if (p->metrics && !p->json)
        print_metrics(p, end - start);
}

/* Kafka tells the message and then the exception; ours is one line. */
static int fail(const struct invocation *inv, const struct strbuf *why)
{
    return tool_fail(inv, "%s", why->s);
}

static int run(struct perf *p)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    int64_t start = now_ms();

    p->join_start_ms = start;
    int r = read_all(p, &why);
    if (r == 0) {
        add_result(p, start, now_ms());
        r = tool_write(&p->out, &why);
    }
    consumer_leave(&p->consumer);
    if (r < 0)
        return r == -EPIPE ? TOOL_FAILED : fail(p->inv, &why);
    if (p->read.messages == 0 && p->consumer.rd.trouble)
        fprintf(stderr, "%s\n", p->consumer.rd.trouble);
    if (rd_stopped)
        return 128 + rd_stopped;
    return !p->inv->as_kafka && (int64_t)p->read.messages < p->wanted ? TOOL_FAILED : 0;
}

int cmd_consumer_perf(const struct invocation *inv)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    CLEANUP(opts_deinit) struct opts o = {0};
    struct perf p = {.inv = inv,
                     .consumer = {.on_assigned = on_assigned, .on_revoked = on_revoked}};
    int code = 0;

    int r = opts_parse(&o, &def, inv, &why);
    if (r == 0 && inv->argc > 0 && opts_answered(&o, HELP, VERSION, &code))
        return code;
    r = r < 0 ? r : check(&o, &why);
    r = r < 0 ? r : opts_json(&o, OUTPUT, &p.json, &why);
    if (r < 0)
        return opts_usage(&o, why.s);
    if (opts_has(&o, THREADS) || opts_has(&o, FETCH_THREADS))
        puts("WARNING: option [threads] and [num-fetch-threads] have been deprecated and will be "
             "ignored by the test");
    if (!opts_has(&o, HIDE_HEADER) && !p.json)
        perf_csv_header(&p.out, opts_has(&o, DETAILED));
    consumer_init(&p.consumer);
    r = tool_write(&p.out, &why);
    r = r < 0 ? r : read_numbers(&p, &o, &why);
    r = r < 0 ? r : read_props(&p, &o, &why);
    r = r < 0 ? r : begin(&p, &why);
    code = r < 0 ? fail(inv, &why) : run(&p);
    consumer_deinit(&p.consumer);
    props_deinit(&p.props);
    strbuf_deinit(&p.out);
    return code;
}
