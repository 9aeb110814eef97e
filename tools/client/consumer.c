#include "tools/client/consumer.h"

#include "common/base/clock.h"
#include "common/base/mem.h"

#include <errno.h>

enum { REFRESH_MS = 10000, REFRESH_SOON_MS = 200, ASK_MS = 300 };

struct reading {
    rd_kafka_topic_t *rkt; /* one for all partitions of a topic */
    int32_t partition;
};

/* ---- settings ---- */

static void on_rebalance(rd_kafka_t *rk, rd_kafka_resp_err_t err,
                         rd_kafka_topic_partition_list_t *partitions, void *opaque)
{
    struct consumer *c = container_of((struct rd *)opaque, struct consumer, rd);
    bool assign = err == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS;
    bool cooperative = strcmp(rd_kafka_rebalance_protocol(rk), "COOPERATIVE") == 0;
    rd_kafka_error_t *failed = NULL;

    if (!assign && c->on_revoked)
        c->on_revoked(c, partitions);
    if (cooperative)
        failed = assign ? rd_kafka_incremental_assign(rk, partitions)
                        : rd_kafka_incremental_unassign(rk, partitions);
    else
        rd_kafka_assign(rk, assign ? partitions : NULL);
    if (failed)
        rd_kafka_error_destroy(failed);
    if (assign && c->on_assigned)
        c->on_assigned(c, partitions);
}

void consumer_init(struct consumer *c)
{
    rd_init(&c->rd);
    rd_listen(&c->rd);
    c->start = RD_KAFKA_OFFSET_END;
}

int consumer_set_java(struct consumer *c, const struct props *p, const char *group_id,
                      struct strbuf *why)
{
    const char *reset = props_get(p, "auto.offset.reset");
    int r = rd_set(&c->rd, "allow.auto.create.topics", "true", why);

    r = r < 0 ? r : rd_set(&c->rd, "check.crcs", "true", why);
    r = r < 0 ? r : rd_set(&c->rd, "enable.auto.offset.store", "false", why);
    r = r < 0 ? r : rd_set(&c->rd, "fetch.wait.max.ms", "100", why);
    r = r < 0 ? r : rd_set_java(&c->rd, p, RD_KAFKA_CONSUMER, why);
    if (r == 0 && group_id)
        r = rd_set(&c->rd, "group.id", group_id, why);
    c->in_group = group_id != NULL;
    if (reset && strcmp(reset, "earliest") == 0)
        c->start = RD_KAFKA_OFFSET_BEGINNING;
    rd_kafka_conf_set_rebalance_cb(c->rd.conf, on_rebalance);
    return r;
}

int consumer_start(struct consumer *c, struct strbuf *why)
{
    int r = rd_start(&c->rd, RD_KAFKA_CONSUMER, why);

    if (r < 0)
        return r;
    if (c->in_group)
        rd_kafka_poll_set_consumer(c->rd.rk);
    c->queue = c->in_group ? rd_kafka_queue_get_consumer(c->rd.rk) : rd_kafka_queue_new(c->rd.rk);
    return 0;
}

void consumer_leave(struct consumer *c)
{
    if (c->rd.rk && c->in_group && !c->left)
        rd_kafka_consumer_close(c->rd.rk);
    c->left = true;
}

void consumer_deinit(struct consumer *c)
{
    rd_kafka_topic_t *last = NULL;

    consumer_leave(c);
    for (int i = 0; i < c->reading_count; i++)
        rd_kafka_consume_stop(c->reading[i].rkt, c->reading[i].partition);
    if (c->queue)
        rd_kafka_queue_destroy(c->queue);
    for (int i = 0; i < c->reading_count; i++) {
        if (c->reading[i].rkt != last)
            rd_kafka_topic_destroy(c->reading[i].rkt);
        last = c->reading[i].rkt;
    }
    if (c->subscribed)
        rd_kafka_topic_partition_list_destroy(c->subscribed);
    free(c->reading);
    rd_deinit(&c->rd);
}

/* ---- partitions without a group ---- */

static int start_one(struct consumer *c, rd_kafka_topic_t *rkt, int32_t partition, int64_t offset,
                     struct strbuf *why)
{
    if (rd_kafka_consume_start_queue(rkt, partition, offset, c->queue) < 0) {
        strbuf_addf(why, "partition %d: %s", partition, rd_kafka_err2str(rd_kafka_last_error()));
        return -EINVAL;
    }
    xgrow(c->reading, c->reading_cap, c->reading_count + 1);
    c->reading[c->reading_count++] = (struct reading){rkt, partition};
    return 0;
}

int consumer_read(struct consumer *c, const struct wanted_partitions *wanted, struct strbuf *why)
{
    rd_kafka_topic_t *rkt = rd_kafka_topic_new(c->rd.rk, wanted->topic, NULL);
    const struct rd_kafka_metadata *md;
    int before = c->reading_count, r = 0;

    /* found out now, or librdkafka looks for the leader a while later */
    if (rd_kafka_metadata(c->rd.rk, 0, rkt, &md, ASK_MS) == 0)
        rd_kafka_metadata_destroy(md);
    for (int i = 0; r == 0 && i < wanted->count; i++)
        r = start_one(c, rkt, wanted->partitions[i], wanted->offsets[i], why);
    if (c->reading_count == before)
        rd_kafka_topic_destroy(rkt);
    return r;
}

void consumer_stop(struct consumer *c UNUSED, const rd_kafka_message_t *m)
{
    rd_kafka_consume_stop(m->rkt, m->partition);
}

/* How many partitions of the topic are read; they are read from 0 on. */
static int read_count(const struct consumer *c, const char *topic, rd_kafka_topic_t **ret_rkt)
{
    int n = 0;

    for (int i = 0; i < c->reading_count; i++) {
        if (strcmp(rd_kafka_topic_name(c->reading[i].rkt), topic) == 0) {
            *ret_rkt = c->reading[i].rkt;
            n++;
        }
    }
    return n;
}

static int read_new_partitions(struct consumer *c, const struct rd_kafka_metadata_topic *t,
                               struct strbuf *why)
{
    rd_kafka_topic_t *rkt = NULL;
    int from = read_count(c, t->topic, &rkt), r = 0;

    if (from >= t->partition_cnt)
        return 0;
    if (!rkt)
        rkt = rd_kafka_topic_new(c->rd.rk, t->topic, NULL);
    for (int i = from; r == 0 && i < t->partition_cnt; i++)
        r = start_one(c, rkt, i, c->start, why);
    return r;
}

/* ---- topics ---- */

static bool is_wanted(const struct wanted_topics *w, const char *topic)
{
    bool is_internal =
        strcmp(topic, "__consumer_offsets") == 0 || strcmp(topic, "__transaction_state") == 0;

    if (w->name)
        return strcmp(topic, w->name) == 0;
    return (w->internal || !is_internal) && topic_filter_match(w->filter, str_of(topic));
}

static int ask(struct consumer *c, const struct rd_kafka_metadata **ret)
{
    rd_kafka_topic_t *only =
        c->wanted.name ? rd_kafka_topic_new(c->rd.rk, c->wanted.name, NULL) : NULL;
    rd_kafka_resp_err_t err = rd_kafka_metadata(c->rd.rk, only == NULL, only, ret, ASK_MS);

    if (only)
        rd_kafka_topic_destroy(only);
    return err ? -EHOSTUNREACH : 0;
}

/* Subscribes again where there are other topics than before. */
static void subscribe_found(struct consumer *c, const struct rd_kafka_metadata *md)
{
    rd_kafka_topic_partition_list_t *names = rd_kafka_topic_partition_list_new(8);
    bool changed = false;

    for (int i = 0; i < md->topic_cnt; i++) {
        const char *name = md->topics[i].topic;
        if (!is_wanted(&c->wanted, name))
            continue;
        rd_kafka_topic_partition_list_add(names, name, RD_KAFKA_PARTITION_UA);
        changed |= !c->subscribed ||
                   !rd_kafka_topic_partition_list_find(c->subscribed, name, RD_KAFKA_PARTITION_UA);
    }
    changed |= c->subscribed && c->subscribed->cnt != names->cnt;
    if (!changed) {
        rd_kafka_topic_partition_list_destroy(names);
        return;
    }
    if (c->subscribed)
        rd_kafka_topic_partition_list_destroy(c->subscribed);
    c->subscribed = names;
    if (names->cnt > 0)
        rd_kafka_subscribe(c->rd.rk, names);
}

/* What topics and partitions there are now; soon again where there are none. */
static int refresh(struct consumer *c, struct strbuf *why)
{
    const struct rd_kafka_metadata *md;
    int r = 0, found = 0;

    if (ask(c, &md) == 0) {
        for (int i = 0; r == 0 && i < md->topic_cnt; i++) {
            const struct rd_kafka_metadata_topic *t = &md->topics[i];
            if (!is_wanted(&c->wanted, t->topic))
                continue;
            found += t->partition_cnt;
            if (!c->in_group)
                r = read_new_partitions(c, t, why);
        }
        if (c->in_group)
            subscribe_found(c, md);
        rd_kafka_metadata_destroy(md);
    }
    c->refresh_at_ms = clock_mono_ms(&clock_system) + (found ? REFRESH_MS : REFRESH_SOON_MS);
    return r;
}

int consumer_read_topics(struct consumer *c, const struct wanted_topics *wanted, struct strbuf *why)
{
    c->wanted = *wanted;
    return refresh(c, why);
}

int consumer_subscribe(struct consumer *c, const struct wanted_topics *wanted, struct strbuf *why)
{
    c->wanted = *wanted;
    if (!wanted->name)
        return refresh(c, why);
    rd_kafka_topic_partition_list_t *one = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(one, wanted->name, RD_KAFKA_PARTITION_UA);
    rd_kafka_resp_err_t err = rd_kafka_subscribe(c->rd.rk, one);
    rd_kafka_topic_partition_list_destroy(one);
    if (err)
        strbuf_addf(why, "cannot subscribe to %s: %s", wanted->name, rd_kafka_err2str(err));
    return err ? -EINVAL : 0;
}

/* ---- messages ---- */

static bool looks_again(const struct consumer *c)
{
    return c->wanted.filter || (c->wanted.name && !c->in_group);
}

int consumer_poll(struct consumer *c, rd_kafka_message_t **messages, int max, int wait_ms)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};

    if (looks_again(c) && clock_mono_ms(&clock_system) >= c->refresh_at_ms &&
        refresh(c, &why) < 0) {
        free(c->rd.trouble);
        c->rd.trouble = strbuf_detach(&why);
    }
    ssize_t n = rd_kafka_consume_batch_queue(c->queue, wait_ms, messages, (size_t)max);
    if (!c->in_group)
        rd_kafka_poll(c->rd.rk, 0);
    return (int)MAX(n, (ssize_t)0);
}

void consumer_done(struct consumer *c, rd_kafka_message_t **messages, int used, int count)
{
    for (int i = 0; i < count; i++) {
        const rd_kafka_message_t *m = messages[i];
        bool last = i + 1 == used || (i + 1 < used && (messages[i + 1]->rkt != m->rkt ||
                                                       messages[i + 1]->partition != m->partition));
        if (c->in_group && last && !m->err)
            rd_kafka_offset_store(m->rkt, m->partition, m->offset);
    }
    for (int i = 0; i < count; i++)
        rd_kafka_message_destroy(messages[i]);
}

struct record_text consumer_text(const rd_kafka_message_t *m, struct record_header *headers)
{
    rd_kafka_timestamp_type_t kind;
    rd_kafka_headers_t *list;
    struct record_text rec = {.topic = rd_kafka_topic_name(m->rkt),
                              .partition = m->partition,
                              .offset = m->offset,
                              .timestamp_ms = rd_kafka_message_timestamp(m, &kind),
                              .key = {m->key, m->key_len},
                              .value = {m->payload, m->len},
                              .headers = headers};
    const void *value;
    size_t len;

    rec.append_time = kind == RD_KAFKA_TIMESTAMP_LOG_APPEND_TIME;
    if (rd_kafka_message_headers(m, &list) != 0)
        return rec;
    while (rec.header_count < CONSUMER_HEADERS_MAX &&
           rd_kafka_header_get_all(list, (size_t)rec.header_count, &headers[rec.header_count].name,
                                   &value, &len) == 0)
        headers[rec.header_count++].value = (struct str){value, len};
    return rec;
}
