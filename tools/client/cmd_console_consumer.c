/*
 * cmd_console_consumer.c - kafka-console-consumer: the records of topics, to standard output
 *
 * A group is joined only where one is named; else the partitions are read directly, which shows
 * the same records. Ends after --max-messages, when nothing came for --timeout-ms, at a signal, and
 * when nobody reads what it prints.
 */
#include "common/base/clock.h"
#include "common/base/mem.h"
#include "tools/base/java_text.h"
#include "tools/client/consumer.h"
#include "tools/client/formatter.h"

#include <errno.h>
#include <inttypes.h>
#include <strings.h>

enum id {
    TOPIC,
    WHITELIST,
    INCLUDE,
    PARTITION,
    OFFSET,
    CONSUMER_PROPERTY,
    CONSUMER_CONFIG,
    FORMATTER,
    PROPERTY,
    FORMATTER_CONFIG,
    FROM_BEGINNING,
    MAX_MESSAGES,
    TIMEOUT,
    SKIP_ERRORS,
    BOOTSTRAP,
    KEY_DESERIALIZER,
    VALUE_DESERIALIZER,
    SYSTEST_EVENTS,
    ISOLATION,
    GROUP,
    HELP,
    VERSION,
};

static const struct opt_spec specs[] = {
    [TOPIC] = {"topic", "String: topic", "The topic to consume.", 0, 0},
    [WHITELIST] = {"whitelist", "String: Java regex (String)", "DEPRECATED, use --include.", 0, 0},
    [INCLUDE] = {"include", "String: Java regex (String)",
                 "A regular expression: the topics to consume.", 0, 0},
    [PARTITION] = {"partition", "Integer: partition",
                   "The partition to consume, from its end unless --offset says otherwise.", 0, 0},
    [OFFSET] = {"offset", "String: consume offset",
                "Where to start: a number, earliest or latest. (default: latest)", 0, 0},
    [CONSUMER_PROPERTY] = {"consumer-property", "String: consumer_prop",
                           "key=value for the consumer.", 0, 0},
    [CONSUMER_CONFIG] = {"consumer.config", "String: config file",
                         "Properties of the consumer; --consumer-property wins.", 0, 0},
    [FORMATTER] = {"formatter", "String: class",
                   "Kafka's own of org.apache.kafka.tools.consumer. (default: "
                   "DefaultMessageFormatter)",
                   0, 0},
    [PROPERTY] = {"property", "String: prop",
                  "key=value for the formatter: print.timestamp, print.key, print.offset, "
                  "print.partition, print.headers, print.value, key.separator, line.separator, "
                  "headers.separator, null.literal, key.deserializer, value.deserializer, "
                  "headers.deserializer.",
                  0, 0},
    [FORMATTER_CONFIG] = {"formatter-config", "String: config file",
                          "Properties of the formatter; --property wins.", 0, 0},
    [FROM_BEGINNING] = {"from-beginning", NULL,
                        "Start at the earliest record where the group has no offset.", 0, 0},
    [MAX_MESSAGES] = {"max-messages", "Integer: num_messages", "End after so many.", 0, 0},
    [TIMEOUT] = {"timeout-ms", "Integer: timeout_ms", "End when nothing came for so long.", 0, 0},
    [SKIP_ERRORS] = {"skip-message-on-error", NULL, "Pass over records that cannot be printed.", 0,
                     0},
    [BOOTSTRAP] = {"bootstrap-server", "String: server to connect to",
                   "REQUIRED: host:port,host:port.", 0, 0},
    [KEY_DESERIALIZER] = {"key-deserializer", "String: deserializer for key", "For keys.", 0, 0},
    [VALUE_DESERIALIZER] = {"value-deserializer", "String: deserializer for values", "For values.",
                            0, 0},
    [SYSTEST_EVENTS] = {"enable-systest-events", NULL, "Say shutdown_complete at the end.", 0, 0},
    [ISOLATION] = {"isolation-level", "String",
                   "read_committed or read_uncommitted. (default: read_uncommitted)", 0, 0},
    [GROUP] = {"group", "String: consumer group id", "The consumer group.", 0, 0},
    [HELP] = {"help", NULL, "Print usage information.", 0, 0},
    [VERSION] = {"version", NULL, "Display Kafka version.", 0, 0},
};

static const struct opts_def def = {
    "This tool helps to read data from Kafka topics and outputs it to standard output.", specs,
    ARRAY_LEN(specs)};

enum { BATCH = 1000, WAIT_MS = 50, OUT_BYTES = 1 << 18 };

struct console_consumer {
    struct consumer consumer;
    struct formatter *formatter;
    struct props props;
    struct topic_filter *filter;
    const char *topic, *include, *group;
    int32_t partition; /* -1: all */
    int64_t offset;
    int64_t max, timeout_ms; /* -1: none */
    bool from_beginning, skip_errors, systest_events;
    struct strbuf out;
    struct strbuf cause; /* of the end, in Java's words */
    uint64_t count;
};

/* How reading ended; below 0 -EPIPE and -ETIMEDOUT. */
enum { READ_ALL, BAD_RECORD, BAD_PARTITION };

/* ---- command line ---- */

static int refuse(struct strbuf *why, const char *text)
{
    strbuf_addz(why, text);
    return -EINVAL;
}

static int check_flags(const struct opts *o, struct strbuf *why)
{
    int topics = opts_has(o, TOPIC) + (opts_has(o, INCLUDE) || opts_has(o, WHITELIST));

    if (topics != 1)
        return refuse(why, opts_has(o, WHITELIST)
                               ? "Exactly one of --include/--topic is required. --whitelist is "
                                 "DEPRECATED use --include instead; ignored if --include specified."
                               : "Exactly one of --include/--topic is required. ");
    if (opts_has(o, PARTITION)) {
        if (!opts_has(o, TOPIC))
            return refuse(why, "The topic is required when partition is specified.");
        if (opts_has(o, FROM_BEGINNING) && opts_has(o, OFFSET))
            return refuse(why, "Options from-beginning and offset cannot be specified together.");
    } else if (opts_has(o, OFFSET)) {
        return refuse(why, "The partition is required when offset is specified.");
    }
    return opts_require(o, BOOTSTRAP, why);
}

static bool differs(const char *a, const char *b)
{
    return a && b && strcmp(a, b) != 0;
}

static int by_text(const void *a, const void *b)
{
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;
    return strcmp(x ? x : "", y ? y : "");
}

static int tell_groups(const char **names, size_t count, struct strbuf *why)
{
    const char *last = NULL;

    strbuf_addz(why, "The group ids provided in different places (directly using '--group', via "
                     "'--consumer-property', or via '--consumer.config') do not match. Detected "
                     "group ids: ");
    qsort(names, count, sizeof *names, by_text);
    for (size_t i = 0; i < count; i++) {
        if (names[i] && (!last || strcmp(names[i], last) != 0))
            strbuf_addf(why, "%s'%s'", last ? ", " : "", names[i]);
        last = names[i] ? names[i] : last;
    }
    return -EINVAL;
}

/* One name, wherever it stands. extra: of --consumer-property only. */
static int read_group(struct console_consumer *c, const struct opts *o, const struct props *file,
                      const struct props *extra, struct strbuf *why)
{
    const char *named, *in_file = props_get(file, "group.id"),
                       *in_extra = props_get(extra, "group.id");
    int r = opts_text(o, GROUP, &named, why);

    if (r < 0)
        return r;
    if (differs(named, in_file) || differs(named, in_extra) || differs(in_file, in_extra))
        return tell_groups((const char *[]){named, in_file, in_extra}, 3, why);
    c->group = named ? named : in_extra ? in_extra : in_file;
    if (c->group && opts_has(o, PARTITION))
        return refuse(why, "Options group and partition cannot be specified together.");
    return 0;
}

static int read_offset(struct console_consumer *c, const struct opts *o, struct strbuf *why)
{
    const char *text;
    int r = opts_text(o, OFFSET, &text, why);

    if (r < 0)
        return r;
    c->offset = c->from_beginning ? RD_KAFKA_OFFSET_BEGINNING : RD_KAFKA_OFFSET_END;
    if (!text || strcasecmp(text, "latest") == 0)
        return 0;
    if (strcasecmp(text, "earliest") == 0) {
        c->offset = RD_KAFKA_OFFSET_BEGINNING;
        return 0;
    }
    if (str_to_i64(str_of(text), 0, INT64_MAX, &c->offset) == 0)
        return 0;
    strbuf_addf(why,
                "The provided offset value '%s' is incorrect. Valid values are 'earliest', "
                "'latest', or a non-negative long.",
                text);
    return -EINVAL;
}

/* A mistake that Kafka tells without the help. */
static int stop(const char *text)
{
    fflush(stdout);
    fprintf(stderr, "%s\n", text);
    return TOOL_FAILED;
}

static int read_formatter(struct console_consumer *c, const struct opts *o, struct strbuf *why)
{
    CLEANUP(strbuf_deinit) struct strbuf warning = {0};
    CLEANUP(props_deinit) struct props p = {0};
    const char *file, *class, *key, *value;
    int r = opts_text(o, FORMATTER, &class, why);

    r = r < 0 ? r : opts_text(o, FORMATTER_CONFIG, &file, why);
    r = r < 0 ? r : opts_text(o, KEY_DESERIALIZER, &key, why);
    r = r < 0 ? r : opts_text(o, VALUE_DESERIALIZER, &value, why);
    if (r == 0 && file)
        r = rd_load_props(&p, file, why);
    if (r < 0)
        return r;
    if (key && *key)
        props_set(&p, "key.deserializer", key);
    if (value && *value)
        props_set(&p, "value.deserializer", value);
    for (int i = 0; i < opts_count(o, PROPERTY); i++)
        rd_add_pair(&p, opts_nth(o, PROPERTY, i));
    r = formatter_new(class, &p, &c->formatter, &warning, why);
    if (warning.len)
        fprintf(stderr, "%s\n", warning.s);
    return r;
}

/* 1: it was said, the tool ends. */
static int read_reset(struct console_consumer *c)
{
    const char *reset = props_get(&c->props, "auto.offset.reset");

    if (reset && c->from_beginning && strcmp(reset, "earliest") != 0) {
        CLEANUP(strbuf_deinit) struct strbuf text = {0};
        strbuf_addf(&text,
                    "Can't simultaneously specify --from-beginning and 'auto.offset.reset=%s', "
                    "please remove one option",
                    reset);
        stop(text.s);
        return 1;
    }
    rd_default(&c->props, "auto.offset.reset", c->from_beginning ? "earliest" : "latest");
    return 0;
}

static int read_props(struct console_consumer *c, const struct opts *o, struct strbuf *why)
{
    CLEANUP(props_deinit) struct props extra = {0};
    const char *path, *isolation;
    int r = opts_text(o, CONSUMER_CONFIG, &path, why);

    r = r < 0 ? r : opts_text(o, ISOLATION, &isolation, why);
    if (r < 0)
        return r;
    if (path && rd_load_props(&c->props, path, why) < 0) {
        fprintf(stderr, "Exception in thread \"main\" java.nio.file.NoSuchFileException: %s\n",
                why->s);
        return 1;
    }
    for (int i = 0; i < opts_count(o, CONSUMER_PROPERTY); i++)
        rd_add_pair(&extra, opts_nth(o, CONSUMER_PROPERTY, i));
    r = read_group(c, o, &c->props, &extra, why);
    if (r < 0)
        return r;
    if (c->group) /* before the names move */
        c->group = xstrdup(c->group);
    for (size_t i = 0; i < extra.count; i++)
        props_set(&c->props, extra.v[i].key, extra.v[i].value);
    props_set(&c->props, "bootstrap.servers", opts_nth(o, BOOTSTRAP, 0));
    rd_default(&c->props, "client.id", "console-consumer");
    if (isolation)
        props_set(&c->props, "isolation.level", isolation);
    rd_default(&c->props, "isolation.level", "read_uncommitted");
    return read_reset(c);
}

static int read_numbers(struct console_consumer *c, const struct opts *o, struct strbuf *why)
{
    int32_t max = -1, partition = -1, timeout = -1;
    int r = opts_i32(o, TIMEOUT, &timeout, why);

    r = r < 0 ? r : opts_i32(o, PARTITION, &partition, why);
    r = r < 0 ? r : opts_i32(o, MAX_MESSAGES, &max, why);
    c->partition = partition;
    c->max = max;
    c->timeout_ms = timeout;
    return r;
}

/* 1: the tool ends, it was said why. */
static int read_command(struct console_consumer *c, const struct opts *o, struct strbuf *why)
{
    const char *whitelist;
    int r = check_flags(o, why);

    c->from_beginning = opts_has(o, FROM_BEGINNING);
    c->skip_errors = opts_has(o, SKIP_ERRORS);
    c->systest_events = opts_has(o, SYSTEST_EVENTS);
    r = r < 0 ? r : opts_text(o, TOPIC, &c->topic, why);
    r = r < 0 ? r : opts_text(o, INCLUDE, &c->include, why);
    r = r < 0 ? r : opts_text(o, WHITELIST, &whitelist, why);
    if (r == 0 && !c->include)
        c->include = whitelist;
    r = r < 0 ? r : read_props(c, o, why);
    r = r != 0 ? r : read_offset(c, o, why);
    return r != 0 ? r : read_formatter(c, o, why);
}

/* ---- the work ---- */

static void tell_error(const char *text)
{
    java_log_error("org.apache.kafka.tools.consumer.ConsoleConsumer", "%s", text);
}

static int print(struct console_consumer *c, const rd_kafka_message_t *m)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    struct record_header headers[CONSUMER_HEADERS_MAX];
    const struct record_text rec = consumer_text(m, headers);

    c->count++;
    if (formatter_print(c->formatter, &rec, &c->out, &why) == 0)
        return 0;
    if (!c->skip_errors) {
        strbuf_add_str(&c->cause, strbuf_str(&why));
        return BAD_RECORD;
    }
    if (tool_write(&c->out, &c->cause) < 0)
        return -EPIPE;
    tell_error("Error processing message, skipping this message: ");
    fprintf(stderr, "%s\n", why.s);
    return 0;
}

static int take(struct console_consumer *c, const rd_kafka_message_t *m)
{
    if (!m->err)
        return print(c, m);
    if (m->err == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED ||
        m->err == RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED ||
        m->err == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET) {
        strbuf_addf(&c->cause, "%s: %s", java_exception(m->err), rd_kafka_message_errstr(m));
        return BAD_PARTITION;
    }
    return 0; /* librdkafka goes on trying */
}

static int read_batch(struct console_consumer *c, int wait_ms)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    rd_kafka_message_t *messages[BATCH];
    int want = c->max < 0 ? BATCH : (int)MIN(c->max - (int64_t)c->count, (int64_t)BATCH);
    int used = 0, r = 0, n = consumer_poll(&c->consumer, messages, want, wait_ms);

    while (r == 0 && used < n) {
        r = take(c, messages[used++]);
        if (c->out.len >= OUT_BYTES && tool_write(&c->out, &why) < 0)
            r = -EPIPE;
    }
    consumer_done(&c->consumer, messages, used, n);
    if (r == 0 && n < want && tool_write(&c->out, &why) < 0)
        r = -EPIPE;
    return r;
}

static bool wants_more(const struct console_consumer *c)
{
    return !rd_stopped && !c->consumer.rd.fatal && !c->consumer.rd.denied &&
           (c->max == -1 || (int64_t)c->count < c->max);
}

/* READ_ALL also where a signal came. */
static int read_all(struct console_consumer *c)
{
    int64_t last = clock_mono_ms(&clock_system);

    while (wants_more(c)) {
        uint64_t before = c->count;
        int64_t left =
            c->timeout_ms < 0 ? WAIT_MS : last + c->timeout_ms - clock_mono_ms(&clock_system);
        int r = read_batch(c, (int)CLAMP(left, (int64_t)0, (int64_t)WAIT_MS));
        if (r != 0)
            return r;
        int64_t now = clock_mono_ms(&clock_system);
        if (c->count > before)
            last = now;
        else if (c->timeout_ms >= 0 && now - last >= c->timeout_ms)
            return -ETIMEDOUT;
    }
    return 0;
}

static int begin(struct console_consumer *c, struct strbuf *why)
{
    struct consumer *consumer = &c->consumer;
    struct str bad = rd_bad_address(props_get(&c->props, "bootstrap.servers"));

    if (!str_is_null(bad)) {
        strbuf_addf(why,
                    "org.apache.kafka.common.config.ConfigException: Invalid url in "
                    "bootstrap.servers: %.*s",
                    STR_ARG(bad));
        return -EINVAL;
    }
    if (c->include && topic_filter_new_exact(c->include, &c->filter, why) < 0)
        return -EINVAL;
    int r = consumer_set_java(consumer, &c->props, c->group, why);
    r = r < 0 ? r : consumer_start(consumer, why);
    if (r < 0)
        return r;
    const char *hide = props_get(&c->props, "exclude.internal.topics");
    const struct wanted_topics wanted = {
        .name = c->topic, .filter = c->filter, .internal = hide && !java_bool(hide)};
    const struct wanted_partitions one = {c->topic, &c->partition, &c->offset, 1};
    if (c->partition >= 0)
        return consumer_read(consumer, &one, why);
    return c->group ? consumer_subscribe(consumer, &wanted, why)
                    : consumer_read_topics(consumer, &wanted, why);
}

/* What Kafka logs about the end, before the count of messages. */
static void tell_end(const struct console_consumer *c, int r)
{
    const char *trouble = c->count == 0 ? c->consumer.rd.trouble : NULL;

    if (r == -ETIMEDOUT || r == BAD_PARTITION)
        tell_error("Error processing message, terminating consumer process: ");
    if (r == BAD_PARTITION)
        fprintf(stderr, "%s\n", c->cause.s);
    if (r == -ETIMEDOUT)
        fprintf(stderr, "org.apache.kafka.common.errors.TimeoutException%s%s\n",
                trouble ? ": " : "", trouble ? trouble : "");
    if (r == -EPIPE)
        fprintf(stderr, "Unable to write to standard out, closing consumer.\n");
}

/* The exit code. */
static int end(struct console_consumer *c, int r)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    const struct rd *rd = &c->consumer.rd;

    if (r != -EPIPE && tool_write(&c->out, &why) < 0)
        r = -EPIPE;
    tell_end(c, r);
    fprintf(stderr, "Processed a total of %" PRIu64 " messages\n", c->count);
    if (r == BAD_RECORD || rd->fatal || rd->denied) {
        tell_error(rd->denied ? "Authentication failed: terminating consumer process"
                              : "Unknown error when running consumer: ");
        fprintf(stderr, "%s\n", r == BAD_RECORD ? c->cause.s : rd->trouble);
        return TOOL_FAILED;
    }
    consumer_leave(&c->consumer);
    if (c->systest_events)
        puts("shutdown_complete");
    return rd_stopped ? 128 + rd_stopped : 0;
}

/* Settings that are no good: Kafka logs the exception. */
static int fail_to_start(const struct strbuf *why)
{
    bool is_setting = strncmp(why->s, "Invalid value", 13) == 0;

    tell_error("Unknown error when running consumer: ");
    fprintf(stderr, "%s%s\n", is_setting ? "org.apache.kafka.common.config.ConfigException: " : "",
            why->s);
    return TOOL_FAILED;
}

static int run(struct console_consumer *c, const struct opts *o)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    int r = read_numbers(c, o, &why);

    if (r < 0)
        return stop(why.s);
    r = begin(c, &why);
    return r < 0 ? fail_to_start(&why) : end(c, read_all(c));
}

static void deinit(struct console_consumer *c)
{
    consumer_deinit(&c->consumer);
    formatter_free(c->formatter);
    topic_filter_free(c->filter);
    props_deinit(&c->props);
    strbuf_deinit(&c->out);
    strbuf_deinit(&c->cause);
    free((char *)(uintptr_t)c->group);
}

int cmd_console_consumer(const struct invocation *inv)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    CLEANUP(opts_deinit) struct opts o = {0};
    struct console_consumer c = {0};
    int code = 0;

    int r = opts_parse(&o, &def, inv, &why);
    if (r == 0 && opts_answered(&o, HELP, VERSION, &code))
        return code;
    r = r < 0 ? r : read_command(&c, &o, &why);
    if (r == 0) {
        consumer_init(&c.consumer);
        code = run(&c, &o);
        deinit(&c);
        return code;
    }
    formatter_free(c.formatter);
    props_deinit(&c.props);
    return r > 0 ? TOOL_FAILED : opts_usage(&o, why.s);
}
