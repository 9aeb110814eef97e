/*
 * cmd_console_producer.c - kafka-console-producer: lines of standard input into a topic
 *
 * As Kafka's: a record that is not taken is told of and does not change the exit code, unless
 * --sync waits for each. What came before a line that cannot be read is sent all the same.
 */
#include "common/base/clock.h"
#include "tools/base/java_text.h"
#include "tools/client/line_format.h"
#include "tools/client/producer.h"

#include <errno.h>
#include <unistd.h>

enum id {
    TOPIC,
    BOOTSTRAP,
    BROKER_LIST,
    SYNC,
    COMPRESSION,
    BATCH_SIZE,
    RETRIES,
    RETRY_BACKOFF,
    LINGER,
    ACKS,
    REQUEST_TIMEOUT,
    METADATA_EXPIRY,
    MAX_BLOCK,
    MAX_MEMORY,
    PARTITION_MEMORY,
    SOCKET_BUFFER,
    LINE_READER,
    PROPERTY,
    READER_CONFIG,
    PRODUCER_PROPERTY,
    PRODUCER_CONFIG,
    HELP,
    VERSION,
};

static const struct opt_spec specs[] = {
    [TOPIC] = {"topic", "String: topic", "REQUIRED: the topic to send to.", 0, 0},
    [BOOTSTRAP] = {"bootstrap-server", "String: server to connect to",
                   "REQUIRED unless --broker-list is there: host:port,host:port.", 0, 0},
    [BROKER_LIST] = {"broker-list", "String: broker-list", "DEPRECATED, use --bootstrap-server.", 0,
                     0},
    [SYNC] = {"sync", NULL, "Wait for each record before the next is sent.", 0, 0},
    [COMPRESSION] = {"compression-codec", "String: compression-codec",
                     "none, gzip, snappy, lz4 or zstd; without a value gzip.", OPT_OPTIONAL, 0},
    [BATCH_SIZE] = {"batch-size", "Integer: size", "batch.size (default: 16384)", 0, 0},
    [RETRIES] = {"message-send-max-retries", "Integer", "retries (default: 3)", 0, 0},
    [RETRY_BACKOFF] = {"retry-backoff-ms", "Long", "retry.backoff.ms (default: 100)", 0, 0},
    [LINGER] = {"timeout", "Long: timeout_ms", "linger.ms (default: 1000)", 0, 0},
    [ACKS] = {"request-required-acks", "String: request required acks", "acks (default: -1)", 0, 0},
    [REQUEST_TIMEOUT] = {"request-timeout-ms", "Integer: request timeout ms",
                         "request.timeout.ms (default: 1500)", 0, 0},
    [METADATA_EXPIRY] = {"metadata-expiry-ms", "Long: metadata expiration interval",
                         "metadata.max.age.ms (default: 300000)", 0, 0},
    [MAX_BLOCK] = {"max-block-ms", "Long: max block on send",
                   "How long a send waits for the topic (default: 60000)", 0, 0},
    [MAX_MEMORY] = {"max-memory-bytes", "Long: total memory in bytes",
                    "buffer.memory (default: 33554432)", 0, 0},
    [PARTITION_MEMORY] = {"max-partition-memory-bytes", "Integer: memory in bytes per partition",
                          "batch.size, before --batch-size (default: 16384)", 0, 0},
    [SOCKET_BUFFER] = {"socket-buffer-size", "Integer: size", "send.buffer.bytes (default: 102400)",
                       0, 0},
    [LINE_READER] = {"line-reader", "String: reader_class",
                     "The default only: kafka.tools.ConsoleProducer$LineMessageReader.", 0, 0},
    [PROPERTY] = {"property", "String: prop",
                  "key=value for the reader: parse.key, parse.headers, ignore.error, "
                  "key.separator, headers.delimiter, headers.separator, headers.key.separator, "
                  "null.marker.",
                  0, 0},
    [READER_CONFIG] = {"reader-config", "String: config file",
                       "Properties of the reader; --property wins.", 0, 0},
    [PRODUCER_PROPERTY] = {"producer-property", "String: producer_prop",
                           "key=value for the producer.", 0, 0},
    [PRODUCER_CONFIG] = {"producer.config", "String: config file",
                         "Properties of the producer; --producer-property wins.", 0, 0},
    [HELP] = {"help", NULL, "Print usage information.", 0, 0},
    [VERSION] = {"version", NULL, "Display Kafka version.", 0, 0},
};

static const struct opts_def def = {
    "This tool helps to read data from standard input and publish it to Kafka.", specs,
    ARRAY_LEN(specs)};

struct console_producer {
    struct producer producer;
    struct props props;
    struct line_format *format;
    bool sync;
    int64_t max_block_ms;
};

/* ---- command line ---- */

/* Flags that set a property: a flag on the command line first, then the file, then the default. */
static const struct merged {
    int id;
    const char *key, *fallback;
    char type; /* i, l: numbers; s: any text */
} merged[] = {
    {LINGER, "linger.ms", "1000", 'l'},
    {ACKS, "acks", "-1", 's'},
    {REQUEST_TIMEOUT, "request.timeout.ms", "1500", 'i'},
    {RETRIES, "retries", "3", 'i'},
    {RETRY_BACKOFF, "retry.backoff.ms", "100", 'l'},
    {SOCKET_BUFFER, "send.buffer.bytes", "102400", 'i'},
    {MAX_MEMORY, "buffer.memory", "33554432", 'l'},
    {BATCH_SIZE, "batch.size", "16384", 'i'},
    {PARTITION_MEMORY, "batch.size", "16384", 'i'},
    {METADATA_EXPIRY, "metadata.max.age.ms", "300000", 'l'},
    {MAX_BLOCK, "max.block.ms", "60000", 'l'},
};

static int merge_one(struct props *p, const struct opts *o, const struct merged *m,
                     struct strbuf *why)
{
    const char *text;
    int64_t n;
    int32_t n32;
    int r = opts_text(o, m->id, &text, why);

    if (r == 0 && m->type == 'i')
        r = opts_i32(o, m->id, &n32, why);
    if (r == 0 && m->type == 'l')
        r = opts_i64(o, m->id, &n, why);
    if (r < 0)
        return r;
    if (text)
        props_set(p, m->key, text);
    rd_default(p, m->key, m->fallback);
    return 0;
}

static int read_producer_props(struct console_producer *c, const struct opts *o,
                               const char *bootstrap, struct strbuf *why)
{
    const char *file, *codec;
    int r = opts_text(o, PRODUCER_CONFIG, &file, why);

    r = r < 0 ? r : opts_text(o, COMPRESSION, &codec, why);
    if (r == 0 && file && rd_load_props(&c->props, file, why) < 0)
        return -ENOENT;
    for (int i = 0; i < opts_count(o, PRODUCER_PROPERTY); i++)
        rd_add_pair(&c->props, opts_nth(o, PRODUCER_PROPERTY, i));
    props_set(&c->props, "bootstrap.servers", bootstrap);
    if (opts_has(o, COMPRESSION))
        props_set(&c->props, "compression.type", codec && *codec ? codec : "gzip");
    rd_default(&c->props, "client.id", "console-producer");
    for (size_t i = 0; r == 0 && i < ARRAY_LEN(merged); i++)
        r = merge_one(&c->props, o, &merged[i], why);
    const char *block = props_get(&c->props, "max.block.ms");
    if (r == 0 && str_to_i64(str_of(block), 0, INT32_MAX, &c->max_block_ms) < 0) {
        strbuf_addf(why, "Invalid value %s for configuration max.block.ms", block);
        r = -EINVAL;
    }
    return r;
}

static int read_format(struct console_producer *c, const struct opts *o, struct strbuf *why)
{
    CLEANUP(props_deinit) struct props p = {0};
    const char *file;
    int r = opts_text(o, READER_CONFIG, &file, why);

    if (r == 0 && file && rd_load_props(&p, file, why) < 0)
        return -ENOENT;
    for (int i = 0; i < opts_count(o, PROPERTY); i++)
        rd_add_pair(&p, opts_nth(o, PROPERTY, i));
    return r < 0 ? r : line_format_new(&p, &c->format, why);
}

static int check_reader(const struct opts *o, struct strbuf *why)
{
    static const char *const known[] = {"kafka.tools.ConsoleProducer$LineMessageReader",
                                        "org.apache.kafka.tools.LineMessageReader"};
    const char *name;
    int r = opts_text(o, LINE_READER, &name, why);

    if (r < 0 || !name || strcmp(name, known[0]) == 0 || strcmp(name, known[1]) == 0)
        return r;
    strbuf_addf(why, "%s: classes of your own cannot be loaded here, --line-reader is %s", name,
                known[0]);
    return -ENOEXEC;
}

/* Of what went wrong Kafka tells the class, too. */
static int fail(int r, const struct strbuf *why)
{
    const char *class = r == -ENOENT    ? "java.nio.file.NoSuchFileException"
                        : r == -ENOEXEC ? "java.lang.ClassNotFoundException"
                        : strncmp(why->s, "Invalid value", 13) == 0
                            ? "org.apache.kafka.common.config.ConfigException"
                            : "org.apache.kafka.common.KafkaException";

    fflush(stdout);
    if (strstr(why->s, " of option ") || strncmp(why->s, "Found multiple", 14) == 0)
        fprintf(stderr, "%s\n", why->s);
    else
        fprintf(stderr, "%s: %s\n", class, why->s);
    return TOOL_FAILED;
}

/* ---- the work ---- */

static void tell_failure(const struct producer *p, struct str key, struct str value, int code,
                         const char *text)
{
    CLEANUP(strbuf_deinit) struct strbuf key_text = {0};

    if (str_is_null(key))
        strbuf_addz(&key_text, "null");
    else
        strbuf_addf(&key_text, "%zu bytes", key.len);
    CLEANUP(strbuf_deinit) struct strbuf value_text = {0};
    if (str_is_null(value))
        strbuf_addz(&value_text, "null");
    else
        strbuf_addf(&value_text, "%zu bytes", value.len);
    java_log_error("org.apache.kafka.clients.producer.internals.ErrorLoggingCallback",
                   "Error when sending message to topic %s with key: %s, value: %s with error:",
                   p->topic, key_text.s, value_text.s);
    fprintf(stderr, "%s: %s\n", java_exception(code), text);
}

static void on_result(struct producer *p, const rd_kafka_message_t *m)
{
    const struct console_producer *c = container_of(p, struct console_producer, producer);

    if (m->err && !c->sync)
        tell_failure(p, (struct str){m->key, m->key_len}, (struct str){m->payload, m->len}, m->err,
                     rd_kafka_err2str(m->err));
}

/* -EIO where a record that is waited for was not taken. */
static int give_up(struct console_producer *c, const struct source_record *rec, int code,
                   const char *text)
{
    if (!c->sync) {
        tell_failure(&c->producer, rec->key, rec->value, code, text);
        return 0;
    }
    fprintf(stderr, "%s: %s\n", java_exception(code), text);
    return -EIO;
}

static int send_one(struct console_producer *c, const struct source_record *rec)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    struct producer *p = &c->producer;

    if (!p->partitions) {
        int r = producer_wait_topic(p, (int)c->max_block_ms, &why);
        if (r < 0)
            return give_up(c, rec,
                           r == -ENOENT ? RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART
                                        : RD_KAFKA_RESP_ERR__TIMED_OUT,
                           why.s);
    }
    rd_kafka_resp_err_t err = producer_send(p, rec, NULL);
    if (!err && c->sync) {
        producer_flush(p);
        err = p->first_failure;
    }
    return err ? give_up(c, rec, err, rd_kafka_err2str(err)) : 0;
}

/* What is told of a record that was not taken does not wait for the next line. */
static void on_idle(void *ctx)
{
    struct console_producer *c = ctx;

    rd_kafka_poll(c->producer.rd.rk, 0);
}

static int send_all(struct console_producer *c)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    bool talks = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    const struct source_opts so = {.kind = SOURCE_FORMATTED,
                                   .fd = STDIN_FILENO,
                                   .format = c->format,
                                   .prompt = talks ? ">" : NULL,
                                   .on_idle = on_idle,
                                   .idle_ctx = c,
                                   .count = UINT64_MAX};
    struct source *source = source_new(&so);
    struct source_record rec;
    int code = 0, r = 0;

    while (!rd_stopped && !c->producer.rd.fatal && r == 0 &&
           (r = source_next(source, &rec, &why)) > 0)
        r = send_one(c, &rec);
    if (r < 0)
        code = r == -EIO ? TOOL_FAILED : fail(r, &why);
    source_free(source);
    producer_flush(&c->producer);
    return rd_stopped ? 128 + rd_stopped : code;
}

static int prepare(struct console_producer *c, const struct opts *o, const char *bootstrap,
                   struct strbuf *why)
{
    int r = opts_text(o, TOPIC, &c->producer.topic, why);

    c->sync = opts_has(o, SYNC);
    r = r < 0 ? r : check_reader(o, why);
    r = r < 0 ? r : read_format(c, o, why);
    r = r < 0 ? r : read_producer_props(c, o, bootstrap, why);
    r = r < 0 ? r : producer_set_java(&c->producer, &c->props, why);
    return r < 0 ? r : producer_start(&c->producer, why);
}

static int run(const struct opts *o, const char *bootstrap)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    struct console_producer c = {.producer = {.on_result = on_result}};
    int code, r;

    producer_init(&c.producer);
    r = prepare(&c, o, bootstrap, &why);
    code = r < 0 ? fail(r, &why) : send_all(&c);
    producer_deinit(&c.producer);
    line_format_free(c.format);
    props_deinit(&c.props);
    return code;
}

int cmd_console_producer(const struct invocation *inv)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    CLEANUP(opts_deinit) struct opts o = {0};
    const char *bootstrap = NULL;
    int code = 0;

    int r = opts_parse(&o, &def, inv, &why);
    if (r == 0 && inv->argc > 0 && opts_answered(&o, HELP, VERSION, &code))
        return code;
    if (r == 0 && !opts_has(&o, BOOTSTRAP) && !opts_has(&o, BROKER_LIST)) {
        strbuf_addz(&why, "Missing required option(s) [bootstrap-server]");
        r = -EINVAL;
    }
    r = r < 0 ? r : opts_require(&o, TOPIC, &why);
    r = r < 0 ? r
              : opts_text(&o, opts_has(&o, BOOTSTRAP) ? BOOTSTRAP : BROKER_LIST, &bootstrap, &why);
    if (r == 0 && !str_is_null(rd_bad_address(bootstrap))) {
        strbuf_addz(&why, "Please provide valid host:port like host1:9091,host2:9092\n ");
        r = -EINVAL;
    }
    return r < 0 ? opts_usage(&o, why.s) : run(&o, bootstrap);
}
