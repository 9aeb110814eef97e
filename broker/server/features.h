/*
 * features.h - /feature as this broker has seen it: nothing may be finalized that it does not know,
 * and its version is told to clients (ApiVersions, KIP-584)
 *
 * Followed by a watch, and read again on a worker and in every new session. Thread: any.
 */
#pragma once

#include "common/base/strbuf.h"
#include "common/io/workq.h"
#include "zk/zk_store.h"

struct features {
    struct zk_store *zk;
    struct workq *workq;
    struct job job;
    _Atomic int64_t epoch; /* version of the znode, -1: there is none, or it is off */
    _Atomic int wanted;    /* reads that are asked for; the first one starts the job */
};

/* In place; ctx of the watch, so it lives as long as the store. */
void features_init(struct features *f, struct zk_store *zk, struct workq *workq);
/* Before the broker serves: reads it and follows it from then on. -EINVAL where a feature is
 * finalized that a 3.9 broker in ZooKeeper mode does not support. Blocks. */
int features_start(struct features *f, struct strbuf *why) MUST_CHECK;
/* In a new session. */
void features_read_again(struct features *f);
