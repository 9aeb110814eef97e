/*
 * groups_plan.h - what `klamm groups` reads from its user: topics with partitions, reset plans,
 * moments, durations, lists of states
 *
 * Texts are borrowed or copied into the arena given. -EINVAL with the reason in why, as Kafka's
 * tool words it where as_kafka. Thread: any; no state but the arguments.
 */
#pragma once

#include "common/base/arena.h"
#include "common/base/strbuf.h"

struct part {
    struct str topic;
    int32_t partition;
};

struct parts {
    struct part *v;
    size_t count, cap; /* grows in an arena */
};

int part_order(const void *a, const void *b);
void parts_add(struct parts *p, struct arena *a, struct part part);
/* Sorted, doubles dropped; the first double found, or NULL. */
const struct part *parts_sort(struct parts *p);

/* "t:0,1": whether the partitions are named. */
bool topic_arg_has_parts(const char *text);
int topic_arg_parse(const char *text, struct arena *a, struct parts *ret, struct strbuf *why)
    MUST_CHECK;

/* One line of a reset plan. */
struct plan_line {
    struct str group; /* null: the one that the command line names */
    struct part part;
    int64_t offset;
    int line; /* from 1 */
};

struct reset_plan {
    struct plan_line *v; /* sorted; of several lines for a partition the last one */
    size_t count;
};

struct reset_plan_opts {
    bool as_kafka;
    bool is_single; /* one group is named: lines may go without it */
};

/*
 * Lines "topic,partition,offset" or "group,topic,partition,offset"; values may be quoted. Kafka's
 * tool takes the first form where one group is named and the first line can be read so.
 */
int reset_plan_parse(struct str text, const struct reset_plan_opts *opts, struct arena *a,
                     struct reset_plan *ret, struct strbuf *why) MUST_CHECK;
/* The lines of one group, *ret_count of them. */
const struct plan_line *reset_plan_of(const struct reset_plan *p, struct str group,
                                      size_t *ret_count);
/* A value as Kafka writes it into such a line. */
void csv_add(struct strbuf *out, struct str value);

/* "2023-11-14T22:13:25.000[Z|+01:00|+01]" as Java reads it; without a zone it is UTC. */
int datetime_parse(const char *text, int64_t *ret_ms, struct strbuf *why) MUST_CHECK;
/* "P1DT2H3M4.5S": the moment that long before now. */
int duration_before(const char *text, int64_t now_ms, int64_t *ret_ms, struct strbuf *why)
    MUST_CHECK;

/* "Stable,empty" as brokers spell them, or "classic,consumer". */
int states_parse(const char *text, struct arena *a, struct str **ret, int32_t *ret_count,
                 struct strbuf *why) MUST_CHECK;
int types_parse(const char *text, struct arena *a, struct str **ret, int32_t *ret_count,
                struct strbuf *why) MUST_CHECK;
