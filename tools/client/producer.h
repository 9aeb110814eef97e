/*
 * producer.h - records to one topic: sent at a rate, waited for, counted
 *
 *   struct producer p = {.inv = inv, .topic = ..., .on_result = ...};
 *   producer_init(&p); ... settings into p.rd ... producer_start(&p, why)
 *   producer_wait_topic(&p, ms, why); producer_send(&p, &record, opaque) ...; producer_flush(&p)
 *   producer_deinit(&p)
 *
 * Every record gets exactly one on_result(), inside producer_send(), producer_flush() or
 * producer_keep_rate(). Keys go to the partitions to which Java's producer sends them. Thread: the
 * main one.
 */
#pragma once

#include "tools/client/rd.h"
#include "tools/client/source.h"

struct producer {
    struct rd rd;
    const char *topic;
    int32_t partition;           /* of records that name none; -1: by key, or spread */
    double rate;                 /* records a second; 0: no limit */
    rd_kafka_headers_t *headers; /* of every record; NULL: none. Owned */
    int partitions;              /* of the topic; 0: not known yet */
    int64_t start_us;            /* of the rate */
    uint64_t sent, bytes, delivered, failed;
    rd_kafka_resp_err_t first_failure;
    /* Both may be NULL. on_wait: it takes longer, something may be drawn. */
    void (*on_result)(struct producer *p, const rd_kafka_message_t *m);
    void (*on_wait)(struct producer *p);
};

void producer_init(struct producer *p);
void producer_deinit(struct producer *p);
/*
 * Properties of Kafka's, with Java's defaults where those of librdkafka differ: idempotent unless
 * acks, retries or the requests in flight say otherwise.
 */
int producer_set_java(struct producer *p, const struct props *props, struct strbuf *why) MUST_CHECK;
int producer_start(struct producer *p, struct strbuf *why) MUST_CHECK;
/* Until the topic's partitions are known, as rd_partition_count(). */
int producer_wait_topic(struct producer *p, int timeout_ms, struct strbuf *why) MUST_CHECK;

/* Waits for room. A code where the record was not taken: it gets no result. */
rd_kafka_resp_err_t producer_send(struct producer *p, const struct source_record *rec, void *opaque)
    MUST_CHECK;
/* Waits until the next record is due, or a signal comes. */
void producer_keep_rate(struct producer *p);
/* Waits for the results of all; after a fatal error the rest fails. */
void producer_flush(struct producer *p);
