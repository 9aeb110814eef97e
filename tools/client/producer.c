#include "tools/client/producer.h"

#include "common/base/clock.h"
#include "common/base/mem.h"

#include <errno.h>
#include <unistd.h>

static void on_delivery(rd_kafka_t *rk UNUSED, const rd_kafka_message_t *m, void *opaque)
{
    struct producer *p = container_of((struct rd *)opaque, struct producer, rd);

    if (!m->err)
        p->delivered++;
    else if (p->failed++ == 0)
        p->first_failure = m->err;
    if (p->on_result)
        p->on_result(p, m);
}

void producer_init(struct producer *p)
{
    rd_init(&p->rd);
    rd_listen(&p->rd);
    p->partition = RD_KAFKA_PARTITION_UA;
    rd_kafka_conf_set_dr_msg_cb(p->rd.conf, on_delivery);
}

void producer_deinit(struct producer *p)
{
    if (p->headers)
        rd_kafka_headers_destroy(p->headers);
    rd_deinit(&p->rd);
}

/* As Java decides where enable.idempotence is not set. */
static bool is_idempotent(const struct props *p)
{
    const char *acks = props_get(p, "acks"), *retries = props_get(p, "retries");
    const char *in_flight = props_get(p, "max.in.flight.requests.per.connection");

    int32_t most = 5;
    if (in_flight && str_to_i32(str_of(in_flight), 0, INT32_MAX, &most) < 0)
        most = 5;
    return (!acks || strcmp(acks, "all") == 0 || strcmp(acks, "-1") == 0) &&
           (!retries || strcmp(retries, "0") != 0) && most <= 5;
}

int producer_set_java(struct producer *p, const struct props *props, struct strbuf *why)
{
    static const char *const defaults[][2] = {{"partitioner", "murmur2_random"},
                                              {"message.max.bytes", "1048576"},
                                              {"linger.ms", "0"},
                                              {"queue.buffering.max.messages", "500000"}};
    int r = 0;

    for (size_t i = 0; r == 0 && i < ARRAY_LEN(defaults); i++)
        r = rd_set(&p->rd, defaults[i][0], defaults[i][1], why);
    if (r == 0 && !props_get(props, "enable.idempotence") && is_idempotent(props))
        r = rd_set(&p->rd, "enable.idempotence", "true", why);
    if (r == 0 && !props_get(props, "transactional.id"))
        r = rd_set(&p->rd, "delivery.timeout.ms", "120000", why);
    return r < 0 ? r : rd_set_java(&p->rd, props, RD_KAFKA_PRODUCER, why);
}

int producer_start(struct producer *p, struct strbuf *why)
{
    p->start_us = clock_mono_us(&clock_system);
    return rd_start(&p->rd, RD_KAFKA_PRODUCER, why);
}

int producer_wait_topic(struct producer *p, int timeout_ms, struct strbuf *why)
{
    return rd_partition_count(&p->rd, p->topic, timeout_ms, why, &p->partitions);
}

static void serve(struct producer *p, int wait_ms)
{
    rd_kafka_poll(p->rd.rk, wait_ms);
    if (p->on_wait)
        p->on_wait(p);
}

/* NULL where the record has none: librdkafka owns what is returned once the record is queued. */
static rd_kafka_headers_t *headers_of(const struct producer *p, const struct source_record *rec)
{
    rd_kafka_headers_t *h = p->headers ? rd_kafka_headers_copy(p->headers) : NULL;

    if (!h && rec->header_count)
        h = rd_kafka_headers_new((size_t)rec->header_count);
    for (int i = 0; i < rec->header_count; i++) {
        const struct source_header *from = &rec->headers[i];
        rd_kafka_header_add(h, from->name.p, (ssize_t)from->name.len, from->value.p,
                            (ssize_t)from->value.len);
    }
    return h;
}

rd_kafka_resp_err_t producer_send(struct producer *p, const struct source_record *rec, void *opaque)
{
    rd_kafka_headers_t *h = headers_of(p, rec);
    int32_t partition = rec->partition >= 0 ? rec->partition : p->partition;
    rd_kafka_resp_err_t err;

    for (;;) {
        err = rd_kafka_producev(
            p->rd.rk, RD_KAFKA_V_TOPIC(p->topic), RD_KAFKA_V_PARTITION(partition),
            RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_KEY(rec->key.p, rec->key.len),
            RD_KAFKA_V_VALUE((void *)(uintptr_t)rec->value.p, rec->value.len),
            RD_KAFKA_V_TIMESTAMP(rec->timestamp_ms), RD_KAFKA_V_HEADERS(h),
            RD_KAFKA_V_OPAQUE(opaque), RD_KAFKA_V_END);
        if (err != RD_KAFKA_RESP_ERR__QUEUE_FULL || rd_stopped)
            break;
        serve(p, 20);
    }
    if (err) {
        if (h)
            rd_kafka_headers_destroy(h);
        return err;
    }
    p->bytes += rec->key.len + rec->value.len;
    if ((++p->sent & 31) == 0) /* often enough for latencies, seldom enough to cost nothing */
        serve(p, 0);
    return 0;
}

void producer_keep_rate(struct producer *p)
{
    if (p->rate <= 0)
        return;
    double never_us = 1e15, after_us = (double)p->sent * 1e6 / p->rate;
    int64_t due = p->start_us + (int64_t)MIN(after_us, never_us), left;

    while ((left = due - clock_mono_us(&clock_system)) > 0 && !rd_stopped) {
        rd_kafka_poll(p->rd.rk, (int)MIN(left / 1000, (int64_t)100));
        if (left < 1000)
            usleep((useconds_t)MIN(left, (int64_t)200));
    }
}

void producer_flush(struct producer *p)
{
    while (rd_kafka_outq_len(p->rd.rk) > 0 && !p->rd.fatal) {
        rd_kafka_flush(p->rd.rk, 100); /* does not wait for linger.ms */
        serve(p, 0);
    }
    if (p->rd.fatal) {
        rd_kafka_purge(p->rd.rk, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
        rd_kafka_flush(p->rd.rk, 1000);
    }
}
