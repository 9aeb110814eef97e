/*
 * fake_tree.h - an in-memory tree of znodes with ZooKeeper's rules, for fake_zk.c
 *
 * Versions, czxid, ephemeral owners, sequential names, multis that happen as a whole or not at all.
 * No locks, no sessions.
 */
#pragma once

#include "common/base/clock.h"
#include "common/base/containers.h"
#include "zk/zk_batch.h"
#include "zk/zk_watch.h"

struct fake_node {
    UT_hash_handle hh;
    char *path;
    uint8_t *data; /* NULL: null */
    size_t len;
    struct zk_stat stat;
    struct fake_node *parent, *children, *prev, *next;
};

struct fake_event {
    enum zk_event event;
    char *path;
    struct fake_event *next;
};

struct fake_tree {
    struct fake_node *by_path;
    int64_t zxid;
    const struct clock *clock;
    struct fake_event *events; /* what the last writes have set off, in order */
};

void fake_tree_init(struct fake_tree *t, const struct clock *clock);
void fake_tree_deinit(struct fake_tree *t);
struct fake_node *fake_tree_find(struct fake_tree *t, const char *path);
/* Runs the op, or the multi of count ops, for that session; results go to the ops, texts to the
 * arena. */
void fake_tree_run(struct fake_tree *t, struct zk_op *ops, size_t count, int64_t session,
                   struct arena *a);
/* Removes the ephemeral nodes of a session. */
void fake_tree_end_session(struct fake_tree *t, int64_t session);
/* Hands the events over. */
struct fake_event *fake_tree_take_events(struct fake_tree *t);
void fake_event_free(struct fake_event *e);
