/*
 * cmd_produce.c - klamm produce: records from standard input, or generated ones, into a topic
 *
 * Every record is waited for: the tool ends when the cluster has answered for each of them, and
 * fails where one was not taken, with the count and the reason.
 */
#include "tools/base/progress.h"
#include "tools/client/producer.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <unistd.h>

enum id {
    BOOTSTRAP,
    TOPIC,
    CONFIG,
    PROPERTY,
    QUIET,
    HELP,
    PARTITION,
    ACKS,
    KEY_SEPARATOR,
    NULL_MARKER,
    HEADER,
    COMPRESSION,
    IDEMPOTENT,
    RATE,
    COUNT,
    SIZE,
    INPUT,
    OUTPUT,
    TIMEOUT,
};

static const struct opt_spec specs[] = {
    [BOOTSTRAP] = RD_SPEC_BOOTSTRAP,
    [TOPIC] = RD_SPEC_TOPIC,
    [CONFIG] = RD_SPEC_CONFIG,
    [PROPERTY] = RD_SPEC_PROPERTY,
    [QUIET] = RD_SPEC_QUIET,
    [HELP] = RD_SPEC_HELP,
    [PARTITION] = {"partition", "N", "send everything there; else by key, or spread", 0, 'p'},
    [ACKS] = {"acks", "0|1|all", "who must have a record before it counts (all)", 0, 'a'},
    [KEY_SEPARATOR] = {"key-separator", "text", "lines are KEY text VALUE", 0, 'K'},
    [NULL_MARKER] = {"null-marker", "text", "a key or value that is just this is null", 0, 'Z'},
    [HEADER] = {"header", "name=value", "a header of every record (repeatable)", 0, 'H'},
    [COMPRESSION] = {"compression", "codec", "none, gzip, snappy, lz4 or zstd", 0, 'z'},
    [IDEMPOTENT] = {"idempotent", NULL, "no duplicates, no reordering, whatever happens", 0, 0},
    [RATE] = {"rate", "N", "at most N records a second", 0, 'r'},
    [COUNT] = {"count", "N", "generate N records; of lines, take the first N", 0, 'c'},
    [SIZE] = {"size", "bytes", "generate records of this size (100): a counter, filled up", 0, 's'},
    [INPUT] = {"input", "lines|json", "what standard input holds (lines)", 0, 0},
    [OUTPUT] = {"output", "json", "print a summary on standard output", 0, 'o'},
    [TIMEOUT] = {"timeout-ms", "ms", "give a record up after this time (120000)", 0, 0},
};

static const struct opts_def def = {"send records to a topic", specs, ARRAY_LEN(specs)};

struct produce {
    const struct invocation *inv;
    struct producer producer;
    struct source *source;
    struct progress progress;
};

static void on_wait(struct producer *producer)
{
    struct produce *p = container_of(producer, struct produce, producer);

    progress_at(&p->progress, producer->delivered, producer->bytes);
}

static int set_text(struct rd *rd, const struct opts *o, int id, const char *key,
                    struct strbuf *why)
{
    const char *value;
    int r = opts_text(o, id, &value, why);

    return r < 0 || !value ? r : rd_set(rd, key, value, why);
}

static int configure(struct produce *p, const struct opts *o, struct strbuf *why)
{
    const struct rd_ids ids = {BOOTSTRAP, CONFIG, PROPERTY};
    struct rd *rd = &p->producer.rd;
    int r = rd_set(rd, "message.timeout.ms", "120000", why);

    r = r < 0 ? r : rd_set(rd, "partitioner", "murmur2_random", why);
    r = r < 0 ? r : rd_set(rd, "queue.buffering.max.messages", "500000", why);
    r = r < 0 ? r : rd_configure(rd, o, &ids, RD_KAFKA_PRODUCER, why);
    r = r < 0 ? r : set_text(rd, o, ACKS, "acks", why);
    r = r < 0 ? r : set_text(rd, o, COMPRESSION, "compression.codec", why);
    r = r < 0 ? r : set_text(rd, o, TIMEOUT, "message.timeout.ms", why);
    if (r == 0 && opts_has(o, IDEMPOTENT))
        r = rd_set(rd, "enable.idempotence", "true", why);
    return r;
}

static int read_headers(struct produce *p, const struct opts *o, struct strbuf *why)
{
    int count = opts_count(o, HEADER);

    if (count == 0)
        return 0;
    p->producer.headers = rd_kafka_headers_new((size_t)count);
    for (int i = 0; i < count; i++) {
        const char *text = opts_nth(o, HEADER, i), *eq = strchr(text, '=');
        if (!eq) {
            strbuf_addf(why, "--header %s: name=value is wanted", text);
            return -EINVAL;
        }
        rd_kafka_header_add(p->producer.headers, text, eq - text, eq + 1, -1);
    }
    return 0;
}

static int choose(const struct opts *o, int id, const char *const *names, int *ret,
                  struct strbuf *why)
{
    const char *text;
    int r = opts_text(o, id, &text, why);

    if (r < 0 || !text)
        return r;
    for (int i = 0; names[i]; i++) {
        if (strcmp(text, names[i]) == 0) {
            *ret = i;
            return 0;
        }
    }
    strbuf_addf(why, "--%s %s: %s%s%s", specs[id].name, text, names[0], names[1] ? " or " : "",
                names[1] ? names[1] : "");
    return -EINVAL;
}

static int make_source(struct produce *p, const struct opts *o, struct strbuf *why)
{
    static const char *const inputs[] = {"lines", "json", NULL};
    struct source_opts so = {.kind = SOURCE_LINES, .fd = STDIN_FILENO};
    int64_t count = INT64_MAX, size = 100;
    int input = 0, r = opts_i64(o, COUNT, &count, why);

    r = r < 0 ? r : opts_i64(o, SIZE, &size, why);
    r = r < 0 ? r : choose(o, INPUT, inputs, &input, why);
    r = r < 0 ? r : opts_text(o, KEY_SEPARATOR, &so.key_separator, why);
    r = r < 0 ? r : opts_text(o, NULL_MARKER, &so.null_marker, why);
    if (r < 0)
        return r;
    if (count < 0 || size < 0 || size > SOURCE_LINE_MAX) {
        strbuf_addf(why, "--count and --size are numbers from 0, --size up to %d", SOURCE_LINE_MAX);
        return -EINVAL;
    }
    so.count = (uint64_t)count;
    so.size = (size_t)size;
    /* --count alone generates; with a word about the input it limits */
    if (opts_has(o, SIZE) || (opts_has(o, COUNT) && !opts_has(o, INPUT)))
        so.kind = SOURCE_GENERATED;
    else if (input == 1)
        so.kind = SOURCE_JSON;
    if (so.kind == SOURCE_GENERATED && !opts_has(o, COUNT)) {
        strbuf_addz(why, "--size generates records: --count says how many");
        return -EINVAL;
    }
    p->source = source_new(&so);
    progress_start(&p->progress, "sent", so.count == INT64_MAX ? 0 : so.count, opts_has(o, QUIET));
    return 0;
}

static int prepare(struct produce *p, const struct opts *o, struct strbuf *why)
{
    struct producer *producer = &p->producer;
    int64_t rate = 0;
    int r = configure(p, o, why);

    r = r < 0 ? r : opts_text(o, TOPIC, &producer->topic, why);
    if (r == 0 && !producer->topic) {
        strbuf_addz(why, "--topic must be specified");
        return -EINVAL;
    }
    r = r < 0 ? r : opts_i32(o, PARTITION, &producer->partition, why);
    r = r < 0 ? r : opts_i64(o, RATE, &rate, why);
    producer->rate = (double)rate;
    r = r < 0 ? r : read_headers(p, o, why);
    r = r < 0 ? r : make_source(p, o, why);
    return r < 0 ? r : producer_start(producer, why);
}

static int send_all(struct produce *p, struct strbuf *why)
{
    struct producer *producer = &p->producer;
    struct source_record rec;
    int r = 0;

    while (!rd_stopped && !producer->rd.fatal && (r = source_next(p->source, &rec, why)) > 0) {
        producer_keep_rate(producer);
        rd_kafka_resp_err_t err = producer_send(producer, &rec, NULL);
        if (err) {
            strbuf_addf(why, "record %" PRIu64 ": %s", producer->sent + 1, rd_kafka_err2str(err));
            return -EINVAL;
        }
    }
    return MIN(r, 0);
}

static void print_summary(const struct progress *progress, const struct producer *p)
{
    json_t *o =
        json_pack("{s:s, s:I, s:I, s:I, s:I, s:f}", "topic", p->topic, "sent", (json_int_t)p->sent,
                  "delivered", (json_int_t)p->delivered, "failed", (json_int_t)p->failed, "bytes",
                  (json_int_t)p->bytes, "seconds", progress_seconds(progress));

    if (p->failed)
        json_object_set_new(o, "error", json_string(rd_kafka_err2name(p->first_failure)));
    json_dumpf(o, stdout, JSON_REAL_PRECISION(6));
    putchar('\n');
    json_decref(o);
}

static int report(const struct invocation *inv, struct producer *p, int r, const struct strbuf *why)
{
    CLEANUP(strbuf_deinit) struct strbuf cause = {0};

    if (p->failed == 0 && r < 0)
        return tool_fail(inv, "%s (after %" PRIu64 " records)", why->s, p->delivered);
    if (p->failed == 0)
        return tool_done(inv);
    strbuf_addz(&cause, rd_kafka_err2str(p->first_failure));
    if (p->rd.fatal)
        strbuf_addf(&cause, "; %s", p->rd.trouble);
    else if (p->first_failure == RD_KAFKA_RESP_ERR__MSG_TIMED_OUT)
        rd_explain(&p->rd, p->topic, &cause);
    return tool_fail(inv, "%" PRIu64 " of %" PRIu64 " records not delivered: %s", p->failed,
                     p->sent, cause.s);
}

static int run(struct produce *p, bool summary)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    struct producer *producer = &p->producer;
    int r = producer_wait_topic(producer, 10000, &why);

    if (r < 0)
        return tool_fail(p->inv, "%s", why.s);
    if (producer->partition >= producer->partitions)
        return tool_misused(p->inv, "--partition %d: topic %s has %d", producer->partition,
                            producer->topic, producer->partitions);
    r = send_all(p, &why);
    producer_flush(producer);
    progress_end(&p->progress, producer->delivered, producer->bytes);
    if (summary)
        print_summary(&p->progress, producer);
    return report(p->inv, producer, r, &why);
}

int cmd_produce(const struct invocation *inv)
{
    static const char *const outputs[] = {"json", NULL};
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    CLEANUP(opts_deinit) struct opts o = {0};
    struct produce p = {.inv = inv, .producer = {.on_wait = on_wait}};
    int output = -1, code = 0;

    int r = opts_parse(&o, &def, inv, &why);
    if (r == 0 && opts_answered(&o, HELP, -1, &code))
        return code;
    producer_init(&p.producer);
    r = r < 0 ? r : choose(&o, OUTPUT, outputs, &output, &why);
    r = r < 0 ? r : prepare(&p, &o, &why);
    code = r < 0 ? opts_usage(&o, why.s) : run(&p, output == 0);
    source_free(p.source);
    producer_deinit(&p.producer);
    return code;
}
