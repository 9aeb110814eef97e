/*
 * zk_consumers.h - offsets that old clients keep in ZooKeeper (OffsetCommit and OffsetFetch v0)
 *
 * /consumers/GROUP/offsets/TOPIC/PARTITION holds the offset as decimal text; the last writer wins.
 * The group is taken as it is, so that one with a slash makes a deeper path, and one that gives no
 * valid path fails with ZK_OTHER; both as in Kafka.
 *
 * Both functions give each entry a result of its own, and pipeline: one round trip for reading or
 * for writing again, four where all is new.
 */
#pragma once

#include "zk/zk_store.h"

struct zk_consumer_offset {
    struct str topic;  /* in */
    int32_t partition; /* in */
    int64_t offset;    /* in, or out */
    enum zk_result result;
};

/* ZK_OK; ZK_NO_NODE: none is kept (offset is -1); ZK_MALFORMED: not a number (said); or what went
 * wrong. */
void zk_consumer_offsets_read(struct zk_store *s, struct str group, struct zk_consumer_offset *list,
                              size_t count);
/* Creates what is missing, parents too. ZK_OK, or what went wrong. */
void zk_consumer_offsets_write(struct zk_store *s, struct str group,
                               struct zk_consumer_offset *list, size_t count);
