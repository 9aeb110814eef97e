/*
 * cmd_verifiable_producer.c - kafka-verifiable-producer: numbers into a topic, and a JSON line for
 * each that was taken or not
 */
#include "common/base/clock.h"
#include "common/base/mem.h"
#include "tools/base/args.h"
#include "tools/base/java.h"
#include "tools/base/java_text.h"
#include "tools/client/events.h"
#include "tools/client/producer.h"

#include <errno.h>
#include <inttypes.h>

enum id {
    TOPIC,
    MAX_MESSAGES,
    THROUGHPUT,
    ACKS,
    PRODUCER_CONFIG,
    CREATE_TIME,
    VALUE_PREFIX,
    REPEATING_KEYS,
    BOOTSTRAP,
    BROKER_LIST,
};

static const struct opt_spec specs[] = {
    [TOPIC] = {"topic", "TOPIC", "send to this topic", OPT_REQUIRED, 0},
    [MAX_MESSAGES] = {"max-messages", "MAX-MESSAGES",
                      "how many; -1: until it is ended (default: -1)", OPT_METAVAR | OPT_INT, 0},
    [THROUGHPUT] = {"throughput", "THROUGHPUT", "at most so many a second (default: -1)", OPT_INT,
                    0},
    [ACKS] = {"acks", "ACKS", "who must have a record (default: -1)", OPT_INT, 0, "0,1,-1"},
    [PRODUCER_CONFIG] = {"producer.config", "CONFIG_FILE", "properties of the producer",
                         OPT_METAVAR, 0},
    [CREATE_TIME] = {"message-create-time", "CREATETIME",
                     "timestamps from here on, ms (default: -1)", OPT_METAVAR | OPT_LONG, 0},
    [VALUE_PREFIX] = {"value-prefix", "VALUE-PREFIX", "values are PREFIX.N", OPT_METAVAR | OPT_INT,
                      0},
    [REPEATING_KEYS] = {"repeating-keys", "REPEATING-KEYS",
                        "keys from 0 to so many, again and again", OPT_METAVAR | OPT_INT, 0},
    [BOOTSTRAP] = {"bootstrap-server", "HOST1:PORT1[,HOST2:PORT2[...]]", "the cluster",
                   OPT_METAVAR | OPT_ONE_OF, 0},
    [BROKER_LIST] = {"broker-list", "HOST1:PORT1[,HOST2:PORT2[...]]",
                     "DEPRECATED, use --bootstrap-server", OPT_METAVAR | OPT_ONE_OF, 0},
};

static const struct args_def def = {
    "verifiable-producer",
    {"This tool produces increasing integers to the specified topic and prints JSON metadata to "
     "stdout on each \"send\" request, making externally visible which messages have been acked "
     "and "
     "which have not.",
     specs, ARRAY_LEN(specs)},
    NULL,
    0};

struct verifiable {
    struct producer producer;
    struct props props;
    struct strbuf out;
    int64_t max, throughput, create_time_ms, start_ms;
    const char *prefix;
    int64_t keys, next_key;
    uint64_t sent, acked;
    char key_text[24], value_text[48];
    bool broken;
};

static void flush(struct verifiable *v)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};

    if (tool_write(&v->out, &why) < 0)
        v->broken = true;
}

static void tell_failure(struct verifiable *v, struct str key, struct str value, int code,
                         const char *text)
{
    event_begin(&v->out, "producer_send_error");
    strbuf_addf(&v->out, ",\"exception\":\"class %s\"", java_exception(code));
    event_text(&v->out, "message", str_of(text));
    event_text(&v->out, "topic", str_of(v->producer.topic));
    event_text(&v->out, "key", key);
    event_text(&v->out, "value", value);
    event_end(&v->out);
    flush(v);
}

static void on_result(struct producer *p, const rd_kafka_message_t *m)
{
    struct verifiable *v = container_of(p, struct verifiable, producer);
    struct str key = {m->key, m->key_len}, value = {m->payload, m->len};

    if (m->err) {
        tell_failure(v, key, value, m->err, rd_kafka_err2str(m->err));
        return;
    }
    v->acked++;
    event_begin(&v->out, "producer_send_success");
    event_text(&v->out, "key", key);
    event_text(&v->out, "value", value);
    event_text(&v->out, "topic", str_of(p->topic));
    strbuf_addf(&v->out, ",\"partition\":%" PRId32 ",\"offset\":%" PRId64, m->partition, m->offset);
    event_end(&v->out);
    if (v->out.len > 1 << 16)
        flush(v);
}

static void on_wait(struct producer *p)
{
    flush(container_of(p, struct verifiable, producer));
}

/* -EINVAL with what argparse4j says; -ENOEXEC for a setting that is no good. */
static int prepare(struct verifiable *v, const struct opts *o, struct strbuf *why)
{
    const char *file = args_text(o, PRODUCER_CONFIG);
    const char *bootstrap = args_text(o, opts_has(o, BOOTSTRAP) ? BOOTSTRAP : BROKER_LIST);
    CLEANUP(props_deinit) struct props from_file = {0};
    char acks[16];

    v->producer.topic = args_text(o, TOPIC);
    v->max = args_int(o, MAX_MESSAGES, -1);
    v->throughput = args_int(o, THROUGHPUT, -1);
    v->create_time_ms = args_int(o, CREATE_TIME, -1);
    v->keys = args_int(o, REPEATING_KEYS, 0);
    v->prefix = args_text(o, VALUE_PREFIX);
    v->producer.rate = v->throughput > 0 ? (double)v->throughput : v->throughput == 0 ? 1e-9 : 0;
    if (file && rd_load_props(&from_file, file, why) < 0)
        return -EINVAL;
    props_set(&v->props, "bootstrap.servers", bootstrap);
    snprintf(acks, sizeof acks, "%d", (int)args_int(o, ACKS, -1)); /* of "+1" too */
    props_set(&v->props, "acks", acks);
    props_set(&v->props, "retries", "0");
    for (size_t i = 0; i < from_file.count; i++) /* the file wins */
        props_set(&v->props, from_file.v[i].key, from_file.v[i].value);
    int r = producer_set_java(&v->producer, &v->props, why);
    r = r < 0 ? r : producer_start(&v->producer, why);
    return r < 0 ? -ENOEXEC : 0;
}

static void next_record(struct verifiable *v, int64_t n, struct source_record *rec)
{
    snprintf(v->value_text, sizeof v->value_text, "%s%s%" PRId64, v->prefix ? v->prefix : "",
             v->prefix ? "." : "", n);
    rec->value = str_of(v->value_text);
    rec->key = STR_NULL;
    if (v->keys != 0) {
        snprintf(v->key_text, sizeof v->key_text, "%" PRId64, v->next_key++);
        rec->key = str_of(v->key_text);
        if (v->next_key == v->keys)
            v->next_key = 0;
    }
    rec->timestamp_ms = 0;
    if (v->create_time_ms >= 0) {
        rec->timestamp_ms = v->create_time_ms;
        v->create_time_ms += clock_wall_ms(&clock_system) - v->start_ms;
    }
}

static void send_one(struct verifiable *v, const struct source_record *rec)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    struct producer *p = &v->producer;
    int r = p->partitions ? 0 : producer_wait_topic(p, 60000, &why);

    v->sent++;
    if (r < 0) {
        tell_failure(v, rec->key, rec->value,
                     r == -ENOENT ? RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART
                                  : RD_KAFKA_RESP_ERR__TIMED_OUT,
                     why.s);
        return;
    }
    rd_kafka_resp_err_t err = producer_send(p, rec, NULL);
    if (err)
        tell_failure(v, rec->key, rec->value, err, rd_kafka_err2str(err));
    producer_keep_rate(p);
    if (v->throughput > 0) /* slow enough to be looked at as it goes */
        flush(v);
}

static void tell_end(struct verifiable *v)
{
    double ms = (double)MAX(clock_wall_ms(&clock_system) - v->start_ms, (int64_t)1);

    event_begin(&v->out, "shutdown_complete");
    event_end(&v->out);
    event_begin(&v->out, "tool_data");
    strbuf_addf(&v->out,
                ",\"sent\":%" PRIu64 ",\"acked\":%" PRIu64 ",\"target_throughput\":%" PRId64
                ",\"avg_throughput\":",
                v->sent, v->acked, v->throughput);
    java_double(1000 * ((double)v->acked / ms), &v->out);
    event_end(&v->out);
    flush(v);
}

static int run(struct verifiable *v)
{
    struct source_record *rec = xnew(struct source_record);

    rec->partition = -1;
    event_begin(&v->out, "startup_complete");
    event_end(&v->out);
    flush(v);
    v->start_ms = clock_wall_ms(&clock_system);
    v->producer.start_us = clock_mono_us(&clock_system);
    for (int64_t i = 0; (v->max < 0 || i < v->max) && !rd_stopped && !v->broken; i++) {
        next_record(v, i, rec);
        send_one(v, rec);
    }
    free(rec);
    producer_flush(&v->producer);
    tell_end(v);
    return rd_stopped ? 128 + rd_stopped : 0;
}

int cmd_verifiable_producer(const struct invocation *inv)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    CLEANUP(args_deinit) struct args a = {0};
    struct verifiable v = {.producer = {.on_result = on_result, .on_wait = on_wait}};
    int code = 0;

    if (args_answered(&a, &def, inv, &code))
        return code;
    producer_init(&v.producer);
    int r = prepare(&v, &a.root, &why);
    if (r == 0)
        code = run(&v);
    else
        code = r == -EINVAL ? args_wrong(&a, why.s)
                            : tool_fail(inv,
                                        "Exception in thread \"main\" "
                                        "org.apache.kafka.common.config.ConfigException: %s",
                                        why.s);
    producer_deinit(&v.producer);
    props_deinit(&v.props);
    strbuf_deinit(&v.out);
    return code;
}
