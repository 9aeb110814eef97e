/*
 * consumer.h - records of topics: as a member of a group, or of partitions without a group
 *
 *   consumer_init(&c); ... settings into c.rd ... consumer_start(&c, why)
 *   consumer_read(&c, &partitions, why)            these partitions, or
 *   consumer_read_topics(&c, &wanted, why)         all of the topics, also those made later, or
 *   consumer_subscribe(&c, &wanted, why)           what the group assigns
 *   n = consumer_poll(&c, messages, max, ms) ... consumer_done(&c, messages, used, n)
 *   consumer_deinit(&c)
 *
 * Without a group nothing is committed and no coordinator is asked: that is how the tools read
 * where no group was named. Topics that a regular expression names are looked for again and again.
 * Thread: the main one.
 */
#pragma once

#include "tools/base/topic_filter.h"
#include "tools/client/rd.h"
#include "tools/client/record_text.h"

struct wanted_topics {
    const char *name;            /* or */
    struct topic_filter *filter; /* borrowed */
    bool internal;               /* of the filter: the coordinators' topics too */
};

struct wanted_partitions {
    const char *topic;
    const int32_t *partitions;
    const int64_t *offsets; /* where to start; also librdkafka's RD_KAFKA_OFFSET_* */
    int count;
};

struct reading; /* a partition that is read without a group */

struct consumer {
    struct rd rd;
    rd_kafka_queue_t *queue;
    struct wanted_topics wanted;
    bool in_group, left;
    int64_t
        start; /* of partitions that consumer_read_topics() finds: offset or one of librdkafka's */
    int64_t refresh_at_ms;
    struct reading *reading;
    int reading_count, reading_cap;
    rd_kafka_topic_partition_list_t *subscribed; /* names, of a filter in a group */
    /* Both may be NULL. */
    void (*on_assigned)(struct consumer *c, const rd_kafka_topic_partition_list_t *partitions);
    void (*on_revoked)(struct consumer *c, const rd_kafka_topic_partition_list_t *partitions);
};

enum { CONSUMER_HEADERS_MAX = 256 };

void consumer_init(struct consumer *c);
/* Leaves the group, which commits what enable.auto.commit leaves to it. */
void consumer_leave(struct consumer *c);
void consumer_deinit(struct consumer *c);
/* Properties of Kafka's; a group is joined only where group_id is not NULL. */
int consumer_set_java(struct consumer *c, const struct props *p, const char *group_id,
                      struct strbuf *why) MUST_CHECK;
int consumer_start(struct consumer *c, struct strbuf *why) MUST_CHECK;

/* -EINVAL and the reason, as below. */
int consumer_read(struct consumer *c, const struct wanted_partitions *wanted, struct strbuf *why)
    MUST_CHECK;
int consumer_read_topics(struct consumer *c, const struct wanted_topics *wanted, struct strbuf *why)
    MUST_CHECK;
int consumer_subscribe(struct consumer *c, const struct wanted_topics *wanted, struct strbuf *why)
    MUST_CHECK;

/* Up to max messages, errors among them; none where nothing came within wait_ms. */
int consumer_poll(struct consumer *c, rd_kafka_message_t **messages, int max, int wait_ms);
/* Frees them; the first `used` count as read, for commits. */
void consumer_done(struct consumer *c, rd_kafka_message_t **messages, int used, int count);
/* No more of this partition. */
void consumer_stop(struct consumer *c, const rd_kafka_message_t *m);

/* A view of it, as record_text.h has them; headers has room for CONSUMER_HEADERS_MAX. */
struct record_text consumer_text(const rd_kafka_message_t *m, struct record_header *headers);
