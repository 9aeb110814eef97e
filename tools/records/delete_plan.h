/*
 * delete_plan.h - up to which offset the records of partitions are to be deleted, as JSON
 *
 *   {"partitions":[{"topic":"foo","partition":1,"offset":1}],"version":1}
 *
 * Offset -1 is the high watermark. Thread: any; pure.
 */
#pragma once

#include "common/base/arena.h"
#include "common/base/strbuf.h"

struct delete_entry {
    struct str topic;
    int32_t partition;
    int64_t offset;
};

struct delete_plan {
    struct delete_entry *v; /* sorted by topic and partition */
    size_t count;
};

/* -EINVAL with Kafka's words; an entry that stands twice is an error. */
int delete_plan_parse(struct str json, struct arena *a, struct delete_plan *ret, struct strbuf *why)
    MUST_CHECK;
