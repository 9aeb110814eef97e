/*
 * cmd_consume.c - klamm consume: the records of a topic, to standard output
 *
 * Partitions are read side by side, without a group: records of one partition come in order, those
 * of different ones mixed. Ends after --count records, at the end of every partition, when nothing
 * came for --timeout-ms, or at a signal. With --count it fails where there were fewer.
 */
#include "common/base/clock.h"
#include "common/base/mem.h"
#include "tools/base/progress.h"
#include "tools/base/timestamp.h"
#include "tools/client/consumer.h"

#include <errno.h>
#include <inttypes.h>

enum id {
    BOOTSTRAP,
    TOPIC,
    CONFIG,
    PROPERTY,
    QUIET,
    HELP,
    PARTITION,
    FROM,
    FROM_BEGINNING,
    COUNT,
    MAX_MESSAGES,
    EXIT_AT_END,
    TIMEOUT,
    FORMAT,
    KEY_SEPARATOR,
    OUTPUT,
    ISOLATION,
};

static const struct opt_spec specs[] = {
    [BOOTSTRAP] = RD_SPEC_BOOTSTRAP,
    [TOPIC] = RD_SPEC_TOPIC,
    [CONFIG] = RD_SPEC_CONFIG,
    [PROPERTY] = RD_SPEC_PROPERTY,
    [QUIET] = RD_SPEC_QUIET,
    [HELP] = RD_SPEC_HELP,
    [PARTITION] = {"partition", "N", "only this partition (repeatable)", 0, 'p'},
    [FROM] = {"from", "where",
              "beginning, end, an offset, -N for the last N of each partition, or "
              "a time: @MILLISECONDS or 2026-11-30T12:00:00Z (end)",
              0, 'f'},
    [FROM_BEGINNING] = {"from-beginning", NULL, "the same as --from beginning", 0, 0},
    [COUNT] = {"count", "N", "end after N records", 0, 'c'},
    [MAX_MESSAGES] = {"max-messages", "N", "the same as --count", 0, 0},
    [EXIT_AT_END] = {"exit-at-end", NULL, "end when every partition is read to its end", 0, 'e'},
    [TIMEOUT] = {"timeout-ms", "ms", "end when nothing came for so long", 0, 0},
    [FORMAT] = {"format", "text",
                "%s value %k key %t topic %p partition %o offset %T timestamp "
                "%h headers %S %K lengths, \\n \\t",
                0, 'F'},
    [KEY_SEPARATOR] = {"key-separator", "text", "print KEY text VALUE", 0, 'K'},
    [OUTPUT] = {"output", "json", "one JSON object a line", 0, 'o'},
    [ISOLATION] = {"isolation-level", "level", "read_committed (default) or read_uncommitted", 0,
                   0},
};

static const struct opts_def def = {"print the records of a topic", specs, ARRAY_LEN(specs)};

enum { BATCH = 1000, WAIT_MS = 20, OUT_BYTES = 1 << 18 };

struct consume {
    const struct invocation *inv;
    struct consumer consumer;
    struct progress progress;
    const char *topic;
    int32_t *partitions;
    int partition_count, open_count; /* open: not read to its end, where that is awaited */
    int64_t start;                   /* offset, or one of librdkafka's; of all partitions */
    int64_t start_ms;                /* -1: not by time */
    int64_t count, timeout_ms;       /* -1: none */
    bool exit_at_end, json;
    char *format;
    size_t format_len;
    struct strbuf out;
    uint64_t read, bytes;
};

static int parse_start(struct consume *c, const char *text, struct strbuf *why)
{
    int64_t n;

    c->start = RD_KAFKA_OFFSET_END;
    c->start_ms = -1;
    if (strcmp(text, "end") == 0 || strcmp(text, "latest") == 0)
        return 0;
    if (strcmp(text, "beginning") == 0 || strcmp(text, "earliest") == 0) {
        c->start = RD_KAFKA_OFFSET_BEGINNING;
        return 0;
    }
    if (str_to_i64(str_of(text), -INT32_MAX, INT64_MAX, &n) == 0) {
        c->start = n >= 0 ? n : RD_KAFKA_OFFSET_TAIL(-n);
        return 0;
    }
    if (timestamp_parse(text, &c->start_ms) == 0)
        return 0;
    strbuf_addf(why,
                "--from %s: beginning, end, an offset, -N, @MILLISECONDS or "
                "2026-11-30T12:00:00Z is wanted",
                text);
    return -EINVAL;
}

static int read_start(struct consume *c, const struct opts *o, struct strbuf *why)
{
    const char *from;
    int r = opts_text(o, FROM, &from, why);

    if (r < 0)
        return r;
    if (opts_has(o, FROM_BEGINNING)) {
        if (from) {
            strbuf_addz(why, "--from and --from-beginning cannot be used together");
            return -EINVAL;
        }
        from = "beginning";
    }
    return parse_start(c, from ? from : "end", why);
}

static int read_format(struct consume *c, const struct opts *o, struct strbuf *why)
{
    const char *text, *separator, *output;
    int r = opts_text(o, FORMAT, &text, why);

    r = r < 0 ? r : opts_text(o, KEY_SEPARATOR, &separator, why);
    r = r < 0 ? r : opts_text(o, OUTPUT, &output, why);
    if (r < 0)
        return r;
    if (output && strcmp(output, "json") != 0) {
        strbuf_addf(why, "--output %s: json is wanted", output);
        return -EINVAL;
    }
    c->json = output != NULL;
    CLEANUP(strbuf_deinit) struct strbuf made = {0};
    if (!text) {
        for (const char *p = separator; p && *p; p++)
            strbuf_addf(&made, p == separator ? "%%k%s%c" : "%s%c", *p == '%' ? "%" : "", *p);
        strbuf_addz(&made, "%s\\n");
        text = made.s;
    }
    c->format = record_format(text, &c->format_len, why);
    return c->format ? 0 : -EINVAL;
}

static int read_limits(struct consume *c, const struct opts *o, struct strbuf *why)
{
    c->count = c->timeout_ms = -1;
    c->exit_at_end = opts_has(o, EXIT_AT_END);
    int r = opts_i64(o, MAX_MESSAGES, &c->count, why);
    r = r < 0 ? r : opts_i64(o, COUNT, &c->count, why);
    return r < 0 ? r : opts_i64(o, TIMEOUT, &c->timeout_ms, why);
}

static int read_partitions(struct consume *c, const struct opts *o, struct strbuf *why)
{
    int n = opts_count(o, PARTITION);

    c->partitions = xnew_array(int32_t, (size_t)n);
    for (int i = 0; i < n; i++) {
        const char *text = opts_nth(o, PARTITION, i);
        if (str_to_i32(str_of(text), 0, INT32_MAX, &c->partitions[i]) < 0) {
            strbuf_addf(why, "--partition %s: a number from 0 is wanted", text);
            return -EINVAL;
        }
    }
    c->partition_count = n;
    return 0;
}

static int configure(struct consume *c, const struct opts *o, struct strbuf *why)
{
    const struct rd_ids ids = {BOOTSTRAP, CONFIG, PROPERTY};
    const char *reset = c->start == RD_KAFKA_OFFSET_BEGINNING ? "earliest"
                        : c->start == RD_KAFKA_OFFSET_END     ? "latest"
                                                              : "error";
    const char *isolation;
    int r = rd_set(&c->consumer.rd, "enable.partition.eof", "true", why);

    r = r < 0 ? r : rd_set(&c->consumer.rd, "check.crcs", "true", why);
    r = r < 0 ? r : rd_set(&c->consumer.rd, "auto.offset.reset", reset, why);
    r = r < 0 ? r : rd_set(&c->consumer.rd, "fetch.wait.max.ms", "100", why);
    r = r < 0 ? r : rd_configure(&c->consumer.rd, o, &ids, RD_KAFKA_CONSUMER, why);
    r = r < 0 ? r : opts_text(o, ISOLATION, &isolation, why);
    if (r == 0 && isolation)
        r = rd_set(&c->consumer.rd, "isolation.level", isolation, why);
    return r < 0 ? r : consumer_start(&c->consumer, why);
}

static int prepare(struct consume *c, const struct opts *o, struct strbuf *why)
{
    int r = opts_text(o, TOPIC, &c->topic, why);

    if (r == 0 && !c->topic) {
        strbuf_addz(why, "--topic must be specified");
        return -EINVAL;
    }
    r = r < 0 ? r : read_start(c, o, why);
    r = r < 0 ? r : read_format(c, o, why);
    r = r < 0 ? r : read_limits(c, o, why);
    r = r < 0 ? r : read_partitions(c, o, why);
    return r < 0 ? r : configure(c, o, why);
}

/* All partitions, where none was named. */
static int choose_partitions(struct consume *c, struct strbuf *why)
{
    int count, r = rd_partition_count(&c->consumer.rd, c->topic, 10000, why, &count);

    if (r < 0)
        return r;
    for (int i = 0; i < c->partition_count; i++) {
        if (c->partitions[i] >= count) {
            strbuf_addf(why, "--partition %d: topic %s has %d", c->partitions[i], c->topic, count);
            return -EINVAL;
        }
    }
    if (c->partition_count == 0) {
        free(c->partitions);
        c->partitions = xnew_array(int32_t, (size_t)count);
        for (int i = 0; i < count; i++)
            c->partitions[i] = i;
        c->partition_count = count;
    }
    c->open_count = c->partition_count;
    return 0;
}

/* The offsets of c->start_ms, in ret; a partition without a record that late starts at its end. */
static int offsets_by_time(struct consume *c, int64_t *ret, struct strbuf *why)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(c->partition_count);

    for (int i = 0; i < c->partition_count; i++)
        rd_kafka_topic_partition_list_add(list, c->topic, c->partitions[i])->offset = c->start_ms;
    rd_kafka_resp_err_t err = rd_kafka_offsets_for_times(c->consumer.rd.rk, list, 10000);
    for (int i = 0; !err && i < c->partition_count; i++) {
        err = list->elems[i].err;
        ret[i] = list->elems[i].offset;
    }
    rd_kafka_topic_partition_list_destroy(list);
    if (err)
        strbuf_addf(why, "cannot find the offsets of that time: %s", rd_kafka_err2str(err));
    return err ? -EHOSTUNREACH : 0;
}

static int start(struct consume *c, struct strbuf *why)
{
    CLEANUP(free_p) int64_t *offsets = xnew_array(int64_t, (size_t)c->partition_count);
    int r = 0;

    for (int i = 0; i < c->partition_count; i++)
        offsets[i] = c->start;
    if (c->start_ms >= 0)
        r = offsets_by_time(c, offsets, why);
    const struct wanted_partitions wanted = {c->topic, c->partitions, offsets, c->partition_count};
    return r < 0 ? r : consumer_read(&c->consumer, &wanted, why);
}

static void print(struct consume *c, const rd_kafka_message_t *m)
{
    struct record_header headers[CONSUMER_HEADERS_MAX];
    const struct record_text rec = consumer_text(m, headers);

    if (c->json)
        record_print_json(&c->out, &rec);
    else
        record_print(&c->out, (struct str){c->format, c->format_len}, &rec);
    c->read++;
    c->bytes += m->len + m->key_len;
}

/* -EINVAL for what ends the tool. */
static int take(struct consume *c, const rd_kafka_message_t *m, struct strbuf *why)
{
    if (!m->err) {
        print(c, m);
        return c->out.len >= OUT_BYTES ? tool_write(&c->out, why) : 0;
    }
    if (m->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
        c->open_count -= c->exit_at_end;
        if (c->exit_at_end)
            consumer_stop(&c->consumer, m);
        return 0;
    }
    if (rd_kafka_message_errstr(m))
        strbuf_addf(why, "partition %d: %s", m->partition, rd_kafka_message_errstr(m));
    return -EINVAL;
}

static int read_batch(struct consume *c, struct strbuf *why)
{
    rd_kafka_message_t *messages[BATCH];
    int want = BATCH, r = 0;

    if (c->count >= 0)
        want = (int)MIN(c->count - (int64_t)c->read, (int64_t)BATCH);
    int n = consumer_poll(&c->consumer, messages, want, WAIT_MS);
    for (int i = 0; i < n; i++) {
        if (r == 0 && c->open_count > 0)
            r = take(c, messages[i], why);
    }
    consumer_done(&c->consumer, messages, n, n);
    return r == 0 && n < want ? tool_write(&c->out, why) : r;
}

static bool wants_more(const struct consume *c)
{
    return !rd_stopped && !c->consumer.rd.fatal && c->open_count > 0 &&
           (c->count < 0 || (int64_t)c->read < c->count);
}

/* 1 where the time was up. */
static int read_all(struct consume *c, struct strbuf *why)
{
    int64_t last = clock_mono_ms(&clock_system);

    while (wants_more(c)) {
        uint64_t before = c->read;
        int r = read_batch(c, why);
        if (r < 0)
            return r;
        progress_at(&c->progress, c->read, c->bytes);
        if (c->timeout_ms < 0)
            continue;
        int64_t now = clock_mono_ms(&clock_system);
        if (c->read > before)
            last = now;
        else if (now - last >= c->timeout_ms)
            return 1;
    }
    return 0;
}

static int report(const struct consume *c, int r, const struct strbuf *why)
{
    const char *trouble = c->consumer.rd.trouble;

    if (r == -EPIPE) /* whoever reads has seen enough */
        return TOOL_FAILED;
    if (r < 0)
        return tool_fail(c->inv, "%s", why->len ? why->s : trouble ? trouble : "reading failed");
    if (c->consumer.rd.fatal)
        return tool_fail(c->inv, "%s", trouble);
    if (c->count >= 0 && (int64_t)c->read < c->count && !rd_stopped)
        return tool_fail(c->inv, "%" PRIu64 " of %" PRId64 " records, then %s%s%s", c->read,
                         c->count, r > 0 ? "nothing within --timeout-ms" : "the end",
                         trouble ? "; " : "", trouble ? trouble : "");
    return tool_done(c->inv);
}

static int run(struct consume *c, bool quiet)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    int r = choose_partitions(c, &why);

    progress_start(&c->progress, "read", c->count > 0 ? (uint64_t)c->count : 0, quiet);
    r = r < 0 ? r : start(c, &why);
    r = r < 0 ? r : read_all(c, &why);
    int written = r != -EPIPE ? tool_write(&c->out, &why) : r;
    r = written < 0 ? written : r;
    progress_end(&c->progress, c->read, c->bytes);
    return report(c, r, &why);
}

static void deinit(struct consume *c)
{
    consumer_deinit(&c->consumer);
    free(c->partitions);
    free(c->format);
    strbuf_deinit(&c->out);
}

int cmd_consume(const struct invocation *inv)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    CLEANUP(opts_deinit) struct opts o = {0};
    struct consume c = {.inv = inv};
    int code = 0;

    int r = opts_parse(&o, &def, inv, &why);
    if (r == 0 && opts_answered(&o, HELP, -1, &code))
        return code;
    consumer_init(&c.consumer);
    r = r < 0 ? r : prepare(&c, &o, &why);
    code = r < 0 ? opts_usage(&o, why.s) : run(&c, opts_has(&o, QUIET));
    deinit(&c);
    return code;
}
