/*
 * offset_rules.h - which partitions kafka-get-offsets is asked about
 *
 *   --topic REGEX --partitions 0,1      or      --topic-partitions foo:0,bar:2-5,baz,:7-
 *
 * A rule is a regular expression for topics and a range of partitions. Thread: any; pure.
 */
#pragma once

#include "tools/base/topic_filter.h"

struct offset_rule {
    struct topic_filter *topics; /* NULL: any */
    int32_t from, to;            /* to is not part of it */
    int32_t *ids;                /* NULL: all in the range; else only these */
    int id_count;
};

struct offset_rules {
    struct offset_rule *v;
    int count;
};

void offset_rules_deinit(struct offset_rules *r);
/* topic and partitions may be NULL. -EINVAL with Kafka's words. */
int offset_rules_of_topic(const char *topic, const char *partitions, struct offset_rules *ret,
                          struct strbuf *why) MUST_CHECK;
/* --topic-partitions */
int offset_rules_of_list(const char *text, struct offset_rules *ret, struct strbuf *why) MUST_CHECK;
bool offset_rules_match(const struct offset_rules *r, struct str topic, int32_t partition);
/* The only topic that can match; null where there may be several. */
struct str offset_rules_literal(const struct offset_rules *r);
/* --time: a word, a number, -1 to -5. */
int offset_time(const char *text, int64_t *ret, struct strbuf *why) MUST_CHECK;
