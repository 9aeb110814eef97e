/*
 * cmd_verifiable_consumer.c - kafka-verifiable-consumer: a group's member that tells what happens
 * to it, a JSON line for each assignment, each batch of records and each commit
 */
#include "common/base/clock.h"
#include "common/base/mem.h"
#include "tools/base/args.h"
#include "tools/client/consumer.h"
#include "tools/client/events.h"

#include <errno.h>
#include <inttypes.h>
#include <strings.h>

enum id {
    TOPIC,
    GROUP_PROTOCOL,
    REMOTE_ASSIGNOR,
    GROUP_ID,
    INSTANCE_ID,
    MAX_MESSAGES,
    SESSION_TIMEOUT,
    VERBOSE,
    AUTOCOMMIT,
    RESET_POLICY,
    ASSIGNMENT_STRATEGY,
    CONSUMER_CONFIG,
    BOOTSTRAP,
    BROKER_LIST,
};

static const struct opt_spec specs[] = {
    [TOPIC] = {"topic", "TOPIC", "read this topic", OPT_REQUIRED, 0},
    [GROUP_PROTOCOL] = {"group-protocol", "GROUP_PROTOCOL", "classic (default: classic)", 0, 0},
    [REMOTE_ASSIGNOR] = {"group-remote-assignor", "GROUP_REMOTE_ASSIGNOR",
                         "of the protocol that is not there", 0, 0},
    [GROUP_ID] = {"group-id", "GROUP_ID", "the group to join", OPT_REQUIRED, 0},
    [INSTANCE_ID] = {"group-instance-id", "GROUP_INSTANCE_ID", "a static member's name", 0, 0},
    [MAX_MESSAGES] = {"max-messages", "MAX-MESSAGES",
                      "how many; -1: until it is ended (default: -1)", OPT_METAVAR | OPT_INT, 0},
    [SESSION_TIMEOUT] = {"session-timeout", "TIMEOUT_MS", "session.timeout.ms (default: 30000)",
                         OPT_METAVAR | OPT_INT, 0},
    [VERBOSE] = {"verbose", NULL, "a line for each record", 0, 0},
    [AUTOCOMMIT] = {"enable-autocommit", NULL, "commit in the background, untold", 0, 0},
    [RESET_POLICY] = {"reset-policy", "RESETPOLICY", "earliest, latest or none (default: earliest)",
                      OPT_METAVAR, 0},
    [ASSIGNMENT_STRATEGY] = {"assignment-strategy", "ASSIGNMENTSTRATEGY",
                             "class of an assignor of Kafka's "
                             "(default: org.apache.kafka.clients.consumer.RangeAssignor)",
                             OPT_METAVAR, 0},
    [CONSUMER_CONFIG] = {"consumer.config", "CONFIG_FILE", "properties of the consumer",
                         OPT_METAVAR, 0},
    [BOOTSTRAP] = {"bootstrap-server", "HOST1:PORT1[,HOST2:PORT2[...]]", "the cluster",
                   OPT_METAVAR | OPT_ONE_OF, 0},
    [BROKER_LIST] = {"broker-list", "HOST1:PORT1[,HOST2:PORT2[...]]",
                     "DEPRECATED, use --bootstrap-server", OPT_METAVAR | OPT_ONE_OF, 0},
};

static const struct args_def def = {
    "verifiable-consumer",
    {"This tool consumes messages from a specific topic and emits consumer events (e.g. group "
     "rebalances, received messages, and offsets committed) as JSON objects to STDOUT.",
     specs, ARRAY_LEN(specs)},
    NULL,
    0};

enum { BATCH = 500, WAIT_MS = 100 };

struct verifiable {
    struct consumer consumer;
    struct props props;
    struct strbuf out;
    const char *topic;
    int64_t max;
    uint64_t count;
    bool verbose, autocommit, broken;
};

static void flush(struct verifiable *v)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};

    if (tool_write(&v->out, &why) < 0)
        v->broken = true;
}

/* ---- events ---- */

static void tell_partitions(struct consumer *c, const char *name,
                            const rd_kafka_topic_partition_list_t *list)
{
    struct verifiable *v = container_of(c, struct verifiable, consumer);

    event_begin(&v->out, name);
    strbuf_addz(&v->out, ",\"partitions\":[");
    for (int i = 0; i < list->cnt; i++)
        strbuf_addf(&v->out, "%s{\"topic\":\"%s\",\"partition\":%" PRId32 "}", i ? "," : "",
                    list->elems[i].topic, list->elems[i].partition);
    strbuf_add_char(&v->out, ']');
    event_end(&v->out);
    flush(v);
}

static void on_assigned(struct consumer *c, const rd_kafka_topic_partition_list_t *list)
{
    tell_partitions(c, "partitions_assigned", list);
}

static void on_revoked(struct consumer *c, const rd_kafka_topic_partition_list_t *list)
{
    tell_partitions(c, "partitions_revoked", list);
}

static void tell_record(struct verifiable *v, const rd_kafka_message_t *m)
{
    event_begin(&v->out, "record_data");
    event_text(&v->out, "key", (struct str){m->key, m->key_len});
    event_text(&v->out, "value", (struct str){m->payload, m->len});
    event_text(&v->out, "topic", str_of(rd_kafka_topic_name(m->rkt)));
    strbuf_addf(&v->out, ",\"partition\":%" PRId32 ",\"offset\":%" PRId64, m->partition, m->offset);
    event_end(&v->out);
}

/* What of a batch is of one partition. */
struct part {
    int32_t partition;
    int count;
    int64_t first, last;
};

static void tell_batch(struct verifiable *v, int records, const struct part *parts, int count)
{
    event_begin(&v->out, "records_consumed");
    strbuf_addf(&v->out, ",\"count\":%d,\"partitions\":[", records);
    for (int i = 0; i < count; i++)
        strbuf_addf(&v->out,
                    "%s{\"topic\":\"%s\",\"partition\":%" PRId32
                    ",\"count\":%d,\"minOffset\":%" PRId64 ",\"maxOffset\":%" PRId64 "}",
                    i ? "," : "", v->topic, parts[i].partition, parts[i].count, parts[i].first,
                    parts[i].last);
    strbuf_add_char(&v->out, ']');
    event_end(&v->out);
}

static void commit(struct verifiable *v, const struct part *parts, int count)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(count);

    for (int i = 0; i < count; i++)
        rd_kafka_topic_partition_list_add(list, v->topic, parts[i].partition)->offset =
            parts[i].last + 1;
    rd_kafka_resp_err_t err = rd_kafka_commit(v->consumer.rd.rk, list, 0);
    event_begin(&v->out, "offsets_committed");
    strbuf_addz(&v->out, ",\"offsets\":[");
    for (int i = 0; i < count; i++)
        strbuf_addf(&v->out,
                    "%s{\"topic\":\"%s\",\"partition\":%" PRId32 ",\"offset\":%" PRId64 "}",
                    i ? "," : "", v->topic, parts[i].partition, parts[i].last + 1);
    strbuf_add_char(&v->out, ']');
    if (err)
        event_text(&v->out, "error", str_of(rd_kafka_err2str(err)));
    strbuf_addf(&v->out, ",\"success\":%s", err ? "false" : "true");
    event_end(&v->out);
    rd_kafka_topic_partition_list_destroy(list);
}

/* ---- the work ---- */

static struct part *part_of(struct part *parts, int *count, const rd_kafka_message_t *m)
{
    int i = 0;

    while (i < *count && parts[i].partition != m->partition)
        i++;
    if (i == *count)
        parts[(*count)++] = (struct part){.partition = m->partition, .first = m->offset};
    return &parts[i];
}

/* Of n messages those up to --max-messages; returns how many were taken. */
static int take_batch(struct verifiable *v, rd_kafka_message_t **messages, int n,
                      struct part *parts, int *ret_parts)
{
    int used = 0;

    while (used < n && (v->max < 0 || (int64_t)v->count < v->max)) {
        const rd_kafka_message_t *m = messages[used++];
        if (m->err)
            continue;
        struct part *part = part_of(parts, ret_parts, m);
        part->count++;
        part->last = m->offset;
        v->count++;
        if (v->verbose)
            tell_record(v, m);
    }
    return used;
}

static int count_records(rd_kafka_message_t **messages, int n)
{
    int records = 0;

    for (int i = 0; i < n; i++)
        records += !messages[i]->err;
    return records;
}

static void read_batch(struct verifiable *v)
{
    rd_kafka_message_t *messages[BATCH];
    struct part parts[BATCH];
    int count = 0, n = consumer_poll(&v->consumer, messages, BATCH, WAIT_MS);
    int records = count_records(messages, n);

    int used = take_batch(v, messages, n, parts, &count);
    if (records > 0) {
        tell_batch(v, records, parts, count);
        if (!v->autocommit)
            commit(v, parts, count);
    }
    consumer_done(&v->consumer, messages, used, n);
    if (v->out.len > 0)
        flush(v);
}

static int run(struct verifiable *v)
{
    event_begin(&v->out, "startup_complete");
    event_end(&v->out);
    flush(v);
    while ((v->max < 0 || (int64_t)v->count < v->max) && !rd_stopped && !v->broken &&
           !v->consumer.rd.fatal)
        read_batch(v);
    if (v->consumer.rd.fatal)
        fprintf(stderr, "%s\n", v->consumer.rd.trouble);
    consumer_leave(&v->consumer);
    event_begin(&v->out, "shutdown_complete");
    event_end(&v->out);
    flush(v);
    return rd_stopped ? 128 + rd_stopped : 0;
}

static void set_or(struct props *p, const char *key, const struct opts *o, int id,
                   const char *fallback)
{
    const char *text = args_text(o, id);

    if (text || fallback)
        props_set(p, key, text ? text : fallback);
}

/* -EINVAL with what argparse4j says; -ENOEXEC for a setting that is no good. */
static int prepare(struct verifiable *v, const struct opts *o, struct strbuf *why)
{
    const char *file = args_text(o, CONSUMER_CONFIG), *protocol = args_text(o, GROUP_PROTOCOL);
    struct wanted_topics wanted = {.name = args_text(o, TOPIC)};

    v->topic = wanted.name;
    v->max = args_int(o, MAX_MESSAGES, -1);
    v->verbose = opts_has(o, VERBOSE);
    v->autocommit = opts_has(o, AUTOCOMMIT);
    if (file && rd_load_props(&v->props, file, why) < 0)
        return -EINVAL;
    if (protocol && strcasecmp(protocol, "consumer") == 0)
        props_set(&v->props, "group.protocol", protocol); /* which is refused */
    else
        set_or(&v->props, "partition.assignment.strategy", o, ASSIGNMENT_STRATEGY,
               "org.apache.kafka.clients.consumer.RangeAssignor");
    set_or(&v->props, "group.id", o, GROUP_ID, NULL);
    set_or(&v->props, "group.instance.id", o, INSTANCE_ID, NULL);
    set_or(&v->props, "bootstrap.servers", o, opts_has(o, BOOTSTRAP) ? BOOTSTRAP : BROKER_LIST,
           NULL);
    props_set(&v->props, "enable.auto.commit", v->autocommit ? "true" : "false");
    set_or(&v->props, "auto.offset.reset", o, RESET_POLICY, "earliest");
    set_or(&v->props, "session.timeout.ms", o, SESSION_TIMEOUT, "30000");
    int r = consumer_set_java(&v->consumer, &v->props, args_text(o, GROUP_ID), why);
    r = r < 0 ? r : consumer_start(&v->consumer, why);
    r = r < 0 ? r : consumer_subscribe(&v->consumer, &wanted, why);
    return r < 0 ? -ENOEXEC : 0;
}

int cmd_verifiable_consumer(const struct invocation *inv)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    CLEANUP(args_deinit) struct args a = {0};
    struct verifiable v = {.consumer = {.on_assigned = on_assigned, .on_revoked = on_revoked}};
    int code = 0;

    if (args_answered(&a, &def, inv, &code))
        return code;
    consumer_init(&v.consumer);
    int r = prepare(&v, &a.root, &why);
    if (r == 0)
        code = run(&v);
    else
        code = r == -EINVAL ? args_wrong(&a, why.s)
                            : tool_fail(inv,
                                        "Exception in thread \"main\" "
                                        "org.apache.kafka.common.config.ConfigException: %s",
                                        why.s);
    consumer_deinit(&v.consumer);
    props_deinit(&v.props);
    strbuf_deinit(&v.out);
    return code;
}
