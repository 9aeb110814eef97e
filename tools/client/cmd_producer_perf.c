/*
 * cmd_producer_perf.c - kafka-producer-perf-test: as many records as fast as they go, or at a rate
 *
 * A latency is the time from handing a record over to its answer, in whole milliseconds.
 */
#include "common/base/clock.h"
#include "common/base/mem.h"
#include "tools/base/args.h"
#include "tools/base/java.h"
#include "tools/base/java_text.h"
#include "tools/client/perf_metrics.h"
#include "tools/client/perf_stats.h"
#include "tools/client/producer.h"
#include "tools/client/split.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

enum id {
    TOPIC,
    NUM_RECORDS,
    PAYLOAD_DELIMITER,
    THROUGHPUT,
    PRODUCER_PROPS,
    PRODUCER_CONFIG,
    PRINT_METRICS,
    TRANSACTIONAL_ID,
    TRANSACTION_DURATION,
    RECORD_SIZE,
    PAYLOAD_FILE,
    PAYLOAD_MONOTONIC,
    OUTPUT,
    BOOTSTRAP,
};

static const struct opt_spec specs[] = {
    [TOPIC] = {"topic", "TOPIC", "send to this topic", OPT_REQUIRED, 0},
    [NUM_RECORDS] = {"num-records", "NUM-RECORDS", "how many records",
                     OPT_METAVAR | OPT_LONG | OPT_REQUIRED, 0},
    [PAYLOAD_DELIMITER] = {"payload-delimiter", "PAYLOAD-DELIMITER",
                           "between the payloads of a file, a regular expression (default: \\n)",
                           OPT_METAVAR, 0},
    [THROUGHPUT] = {"throughput", "THROUGHPUT", "records a second, -1: as fast as they go",
                    OPT_DOUBLE | OPT_REQUIRED, 0},
    [PRODUCER_PROPS] = {"producer-props", "PROP-NAME=PROP-VALUE",
                        "properties of the producer, bootstrap.servers among them; they win",
                        OPT_METAVAR | OPT_MANY, 0},
    [PRODUCER_CONFIG] = {"producer.config", "CONFIG-FILE", "properties of the producer",
                         OPT_METAVAR, 0},
    [PRINT_METRICS] = {"print-metrics", NULL, "print counts and rates at the end", 0, 0},
    [TRANSACTIONAL_ID] =
        {"transactional-id", "TRANSACTIONAL-ID",
         "for transactions (default: performance-producer-default-transactional-id)", OPT_METAVAR,
         0},
    [TRANSACTION_DURATION] = {"transaction-duration-ms", "TRANSACTION-DURATION",
                              "commit after so long; 0: no transactions (default: 0)",
                              OPT_METAVAR | OPT_LONG, 0},
    [RECORD_SIZE] = {"record-size", "RECORD-SIZE", "bytes of a record, random letters",
                     OPT_METAVAR | OPT_INT | OPT_ONE_OF, 0},
    [PAYLOAD_FILE] = {"payload-file", "PAYLOAD-FILE", "take payloads from it, at random",
                      OPT_METAVAR | OPT_ONE_OF, 0},
    [PAYLOAD_MONOTONIC] = {"payload-monotonic", NULL, "payloads are numbers, from 0 on", OPT_ONE_OF,
                           0},
    [OUTPUT] = {"output", "table|json", "how the result is printed (table)", OPT_OURS, 'o'},
    [BOOTSTRAP] = {"bootstrap-server", "host:port,...", "the cluster", OPT_OURS, 0},
};

static const struct args_def def = {
    "producer-performance",
    {"This tool is used to verify the producer performance.", specs, ARRAY_LEN(specs)},
    NULL,
    0};

enum { FILE_MAX = 1 << 30, TRANSACTION_WAIT_MS = 60000 };

struct payloads {
    struct strbuf file;
    struct str *v;
    size_t count, cap;
    char *random; /* of this size, made anew for every record */
    size_t size;
    uint64_t seed;
    char number[24];
};

struct perf {
    const struct invocation *inv;
    struct producer producer;
    struct props props;
    struct payloads payloads;
    struct perf_stats stats;
    struct strbuf out;
    int64_t records, transaction_ms;
    int64_t transaction_start; /* -1: none is open */
    bool json, broken;         /* broken: nobody reads what is printed */
};

/* ---- payloads ---- */

static uint64_t next_random(struct payloads *p)
{
    p->seed = p->seed * 6364136223846793005u + 1442695040888963407u;
    return p->seed >> 16;
}

static struct str random_payload(struct payloads *p)
{
    for (size_t i = 0; i < p->size; i++) {
        if (i % 4 == 0)
            next_random(p);
        p->random[i] = (char)('A' + ((p->seed >> (24 + i % 4 * 8) & 0xff) * 26 >> 8));
    }
    return (struct str){p->random, p->size};
}

static struct str next_payload(struct payloads *p, uint64_t n)
{
    if (p->count)
        return p->v[next_random(p) % p->count];
    if (p->random)
        return random_payload(p);
    snprintf(p->number, sizeof p->number, "%llu", (unsigned long long)n);
    return str_of(p->number);
}

static int add_payload(struct str piece, void *ctx)
{
    struct payloads *p = ctx;

    xgrow(p->v, p->cap, p->count + 1);
    p->v[p->count++] = piece;
    return 0;
}

static int read_file(const char *path, struct strbuf *ret, struct strbuf *why)
{
    FILE *f = fopen(path, "re");
    size_t n = 1;

    ret->max = FILE_MAX;
    while (f && n > 0 && !ret->full) {
        char *room = strbuf_room(ret, 1 << 16);
        n = room ? fread(room, 1, 1 << 16, f) : 0;
        strbuf_grew(ret, n);
        ret->full |= !room;
    }
    bool bad = f && (ferror(f) || ret->full);
    if (bad)
        strbuf_addf(why, "%s: cannot be read, or is above %d MB", path, FILE_MAX >> 20);
    else if (!f || ret->len == 0)
        strbuf_addz(why, "java.lang.IllegalArgumentException: File does not exist or empty file "
                         "provided.");
    if (f)
        fclose(f);
    return why->len ? -EINVAL : 0;
}

/* The path from the root on, as it is told. */
static char *absolute(const char *path)
{
    char here[PATH_MAX];

    if (path[0] == '/' || !getcwd(here, sizeof here))
        return xstrdup(path);
    return xasprintf("%s/%s", here, path);
}

static int read_payloads(struct perf *p, const char *path, const char *delimiter,
                         struct strbuf *why)
{
    struct splitter *s = NULL;
    CLEANUP(free_p) char *shown = absolute(path);

    printf("Reading payloads from: %s\n", shown);
    int r = read_file(path, &p->payloads.file, why);
    bool is_default = !delimiter || strcmp(delimiter, "\\n") == 0;
    r = r < 0 ? r : splitter_new(is_default ? "\n" : delimiter, &s, why);
    r = r < 0 ? r : splitter_each(s, strbuf_str(&p->payloads.file), add_payload, &p->payloads);
    splitter_free(s);
    if (r == 0)
        printf("Number of messages read: %zu\n", p->payloads.count);
    if (r == 0 && p->payloads.count == 0) {
        strbuf_addf(why, "%s holds nothing but delimiters", path);
        return -EINVAL;
    }
    return r;
}

/* ---- command line ---- */

/* Words of the form key=value: neither may hold another '=', nor the value be empty. */
static int read_props(struct perf *p, const struct opts *o, struct strbuf *why)
{
    const char *file = args_text(o, PRODUCER_CONFIG);
    CLEANUP(strbuf_deinit) struct strbuf path = {0};

    if (file && rd_load_props(&p->props, file, &path) < 0) {
        strbuf_addf(why, "java.nio.file.NoSuchFileException: %s", path.s);
        return -EINVAL;
    }
    for (int i = 0; i < opts_count(o, PRODUCER_PROPS); i++) {
        const char *word = opts_nth(o, PRODUCER_PROPS, i), *eq = strchr(word, '=');
        if (!eq || !eq[1] || strchr(eq + 1, '=')) {
            strbuf_addf(why, "java.lang.IllegalArgumentException: Invalid property: %s", word);
            return -EINVAL;
        }
        rd_add_pair(&p->props, word);
    }
    if (opts_has(o, BOOTSTRAP))
        props_set(&p->props, "bootstrap.servers", args_text(o, BOOTSTRAP));
    if (p->transaction_ms > 0) {
        const char *id = args_text(o, TRANSACTIONAL_ID);
        props_set(&p->props, "transactional.id",
                  id ? id : "performance-producer-default-transactional-id");
    }
    rd_default(&p->props, "client.id", "perf-producer-client");
    return 0;
}

static int read_numbers(struct perf *p, const struct opts *o, struct strbuf *why)
{
    int64_t size = args_int(o, RECORD_SIZE, 0);
    double throughput = 0;

    p->records = args_int(o, NUM_RECORDS, 0);
    p->transaction_ms = args_int(o, TRANSACTION_DURATION, 0);
    if (java_parse_double(str_of(args_text(o, THROUGHPUT)), &throughput) == 0)
        /* none a second: for ever, as with Kafka; that is until a signal */
        p->producer.rate = throughput > 0 ? throughput : throughput == 0 ? 1e-9 : 0;
    if (p->records < 1 || p->records > INT64_C(1) << 40) {
        strbuf_addf(why, "--num-records %s: a number from 1 is wanted", args_text(o, NUM_RECORDS));
        return -EINVAL;
    }
    if (opts_has(o, RECORD_SIZE) && (size < 0 || size > SOURCE_LINE_MAX)) {
        strbuf_addf(why, "--record-size %s: a number from 0 to %d is wanted",
                    args_text(o, RECORD_SIZE), SOURCE_LINE_MAX);
        return -EINVAL;
    }
    if (opts_has(o, RECORD_SIZE)) {
        p->payloads.size = (size_t)size;
        p->payloads.random = xmalloc(p->payloads.size + 1);
    }
    return 0;
}

static int prepare(struct perf *p, const struct opts *o, struct strbuf *why)
{
    int r = read_numbers(p, o, why);

    if (r == 0 && opts_has(o, PAYLOAD_FILE))
        r = read_payloads(p, args_text(o, PAYLOAD_FILE), args_text(o, PAYLOAD_DELIMITER), why);
    r = r < 0 ? r : read_props(p, o, why);
    if (r == 0 && !props_get(&p->props, "bootstrap.servers")) {
        strbuf_addz(why, "org.apache.kafka.common.KafkaException: Failed to construct kafka "
                         "producer: bootstrap.servers is missing");
        return -EINVAL;
    }
    r = r < 0 ? r : producer_set_java(&p->producer, &p->props, why);
    return r < 0 ? r : producer_start(&p->producer, why);
}

/* ---- the work ---- */

static int64_t now_ms(void)
{
    return clock_mono_ms(&clock_system);
}

/* A line about the last seconds; as JSON only the end is told. */
static void say_window(struct perf *p)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};

    if (p->json)
        strbuf_reset(&p->out);
    else if (tool_write(&p->out, &why) < 0)
        p->broken = true;
}

static void on_result(struct producer *producer, const rd_kafka_message_t *m)
{
    struct perf *p = container_of(producer, struct perf, producer);
    int64_t now = now_ms();

    if (m->err) {
        fprintf(stderr, "%s: %s\n", java_exception(m->err), rd_kafka_err2str(m->err));
        return;
    }
    perf_stats_record(&p->stats, (int32_t)(now - (int64_t)(intptr_t)m->_private), m->len, now,
                      &p->out);
    if (p->out.len > 0)
        say_window(p);
}

/* *err is freed; the reason into why. */
static int told(rd_kafka_error_t *err, const char *what, struct strbuf *why)
{
    if (!err)
        return 0;
    strbuf_addf(why, "%s: cannot %s a transaction: %s", java_exception(rd_kafka_error_code(err)),
                what, rd_kafka_error_string(err));
    rd_kafka_error_destroy(err);
    return -EIO;
}

static int commit(struct perf *p, struct strbuf *why)
{
    if (p->transaction_start < 0)
        return 0;
    p->transaction_start = -1;
    return told(rd_kafka_commit_transaction(p->producer.rd.rk, TRANSACTION_WAIT_MS), "commit", why);
}

static int begin(struct perf *p, int64_t now, struct strbuf *why)
{
    if (p->transaction_ms <= 0 || p->transaction_start >= 0)
        return 0;
    p->transaction_start = now;
    return told(rd_kafka_begin_transaction(p->producer.rd.rk), "begin", why);
}

static int send_one(struct perf *p, uint64_t n, struct source_record *rec, struct strbuf *why)
{
    rec->value = next_payload(&p->payloads, n);
    int64_t now = now_ms();
    int r = begin(p, now, why);
    if (r < 0)
        return r;
    rd_kafka_resp_err_t err = producer_send(&p->producer, rec, (void *)(intptr_t)now);
    if (err)
        fprintf(stderr, "%s: %s\n", java_exception(err), rd_kafka_err2str(err));
    if (p->transaction_start >= 0 && now - p->transaction_start >= p->transaction_ms)
        r = commit(p, why);
    producer_keep_rate(&p->producer);
    return r;
}

static int send_all(struct perf *p, struct strbuf *why)
{
    struct source_record *rec = xnew(struct source_record);
    int r = 0;

    rec->partition = -1;
    for (int64_t i = 0; r == 0 && i < p->records; i++) {
        if (rd_stopped || p->broken || p->producer.rd.fatal)
            break;
        r = send_one(p, (uint64_t)i, rec, why);
    }
    free(rec);
    producer_flush(&p->producer);
    return r < 0 ? r : commit(p, why);
}

static void print_metrics(struct perf *p)
{
    const struct perf_stats *s = &p->stats;
    double seconds = (double)MAX(now_ms() - s->start_ms, (int64_t)1) / 1000,
           count = (double)s->count;
    const struct perf_metric v[] = {
        {"producer-metrics", "byte-total", (double)s->bytes},
        {"producer-metrics", "record-error-total", (double)p->producer.failed},
        {"producer-metrics", "record-latency-avg", (double)s->latency_sum / count},
        {"producer-metrics", "record-latency-max", s->latency_max},
        {"producer-metrics", "record-send-rate", count / seconds},
        {"producer-metrics", "record-send-total", count},
    };

    perf_metrics_print(v, ARRAY_LEN(v), props_get(&p->props, "client.id"), &p->out);
}

static int wait_milliseconds(const struct props *p)
{
    const char *text = props_get(p, "max.block.ms");
    int32_t ms = 60000;

    return text && str_to_i32(str_of(text), 0, INT32_MAX, &ms) < 0 ? 60000 : ms;
}

static int run(struct perf *p, bool metrics)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    int block = wait_milliseconds(&p->props), r = 0;

    if (p->transaction_ms > 0)
        r = told(rd_kafka_init_transactions(p->producer.rd.rk, block), "prepare", &why);
    if (r < 0)
        return tool_fail(p->inv, "%s", why.s);
    perf_stats_init(&p->stats, (uint64_t)p->records, now_ms());
    p->producer.start_us = clock_mono_us(&clock_system);
    r = producer_wait_topic(&p->producer, block, &why);
    if (r < 0) /* no record was sent, and no exit code tells it, as with Kafka */
        fprintf(stderr, "%s: %s\n", java_exception(RD_KAFKA_RESP_ERR__TIMED_OUT), why.s);
    else
        r = send_all(p, &why);
    if (r == -EIO)
        return tool_fail(p->inv, "%s", why.s);
    (p->json ? perf_stats_print_json : perf_stats_print)(&p->stats, now_ms(), &p->out);
    if (metrics && !p->json)
        print_metrics(p);
    r = tool_write(&p->out, &why);
    if (r < 0 && r != -EPIPE)
        return tool_fail(p->inv, "%s", why.s);
    if (rd_stopped)
        return 128 + rd_stopped;
    return !p->inv->as_kafka && p->producer.failed + (p->stats.count == 0) > 0 ? TOOL_FAILED : 0;
}

static int fail(const struct invocation *inv, const struct strbuf *why)
{
    bool is_setting = strncmp(why->s, "Invalid value", 13) == 0;

    return tool_fail(inv, "%s%s%s", inv->as_kafka ? "Exception in thread \"main\" " : "",
                     is_setting ? "org.apache.kafka.common.config.ConfigException: " : "", why->s);
}

int cmd_producer_perf(const struct invocation *inv)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    CLEANUP(args_deinit) struct args a = {0};
    const struct opts *o = &a.root;
    struct perf p = {.inv = inv, .producer = {.on_result = on_result}, .transaction_start = -1};
    int code = 0;

    if (args_answered(&a, &def, inv, &code))
        return code;
    if (!opts_has(o, PRODUCER_PROPS) && !opts_has(o, PRODUCER_CONFIG) && !opts_has(o, BOOTSTRAP))
        return args_wrong(&a, "Either --producer-props or --producer.config must be specified.");
    if (opts_json(o, OUTPUT, &p.json, &why) < 0)
        return args_wrong(&a, why.s);
    p.producer.topic = args_text(o, TOPIC);
    producer_init(&p.producer);
    int r = prepare(&p, o, &why);
    code = r < 0 ? fail(inv, &why) : run(&p, opts_has(o, PRINT_METRICS));
    producer_deinit(&p.producer);
    perf_stats_deinit(&p.stats);
    props_deinit(&p.props);
    strbuf_deinit(&p.payloads.file);
    free(p.payloads.v);
    free(p.payloads.random);
    strbuf_deinit(&p.out);
    return code;
}
