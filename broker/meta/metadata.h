/*
 * metadata.h - what this broker knows of the cluster: the controller's UpdateMetadata requests,
 * applied
 *
 * Readers take a snapshot by reference, without a lock that a writer could hold for long, and see
 * either all of an update or nothing of it. A writer copies only the topics that changed. Writers:
 * one at a time, under LOCK_REPLICA_STATE.
 */
#pragma once

#include "common/base/str.h"
#include "common/base/uuid.h"

struct metadata;          /* the holder of the current snapshot */
struct metadata_snapshot; /* immutable, reference-counted */
struct update_metadata_request;

struct meta_endpoint {
    struct str listener;
    struct str host;
    int32_t port;
    int16_t security_protocol;
};

struct meta_broker {
    int32_t id;
    struct str rack; /* null where unknown */
    const struct meta_endpoint *endpoints;
    int32_t endpoint_count;
};

struct meta_partition {
    int32_t index;
    int32_t controller_epoch;
    int32_t leader; /* -1 none */
    int32_t leader_epoch;
    int32_t partition_epoch;
    const int32_t *replicas;
    int32_t replica_count;
    const int32_t *isr;
    int32_t isr_count;
    const int32_t *offline;
    int32_t offline_count;
};

struct meta_topic {
    struct str name;
    struct uuid id;                          /* zero where unknown */
    const struct meta_partition *partitions; /* by index, ascending; with gaps possible */
    int32_t partition_count;
};

struct metadata *metadata_new(void);
struct metadata *metadata_free(struct metadata *m);

/* The current snapshot with a reference. Thread: any. */
const struct metadata_snapshot *metadata_get(struct metadata *m);
void metadata_put(const struct metadata_snapshot *s);
void metadata_put_p(const struct metadata_snapshot **s);

/* Applies an update (controller.md B3) and makes it current. */
void metadata_update(struct metadata *m, const struct update_metadata_request *req);

/* All of these borrow from the snapshot; NULL where unknown. */
const struct meta_topic *metadata_topic(const struct metadata_snapshot *s, struct str name);
const struct meta_topic *metadata_topic_by_id(const struct metadata_snapshot *s, struct uuid id);
const struct meta_partition *metadata_partition(const struct metadata_snapshot *s, struct str topic,
                                                int32_t partition);
const struct meta_broker *metadata_broker(const struct metadata_snapshot *s, int32_t id);
const struct meta_endpoint *meta_broker_endpoint(const struct meta_broker *b, struct str listener);
/* -1 where none is known. */
int32_t metadata_controller(const struct metadata_snapshot *s);
/* In the order of ids. */
int32_t metadata_broker_count(const struct metadata_snapshot *s);
const struct meta_broker *metadata_broker_at(const struct metadata_snapshot *s, int32_t i);
/* Every topic, in no particular order; stops when each() returns false. */
int32_t metadata_topic_count(const struct metadata_snapshot *s);
/* Whether any topic has been told of since this broker started, though it may be gone. */
bool metadata_has_heard_of_topics(const struct metadata_snapshot *s);
typedef bool (*meta_topic_fn)(const struct meta_topic *t, void *ctx);
void metadata_each_topic(const struct metadata_snapshot *s, meta_topic_fn each, void *ctx);
