/*
 * dir_mover.h - the threads that move replicas between log dirs, and how fast they may
 *
 * A partition is always the same thread's, which works on one at a time, in the order of topic and
 * partition, so that each is done as soon as can be. All of them share one quota
 * (replica.alter.log.dirs.io.max.bytes.per.second). What is done for one partition is
 * partition_move.h's.
 *
 * Thread: any. LOCK_MOVER inside.
 */
#pragma once

#include "broker/quota/repl_quota.h"

struct dir_mover;
struct partition;

struct dir_mover_opts {
    const struct clock *clock;
    int threads;        /* 0: none is started, turns are made by dir_mover_turn() */
    uint32_t max_bytes; /* copied in one go: replica.fetch.max.bytes */
    struct repl_window window;
};

struct dir_mover *dir_mover_new(const struct dir_mover_opts *opts);
int dir_mover_start(struct dir_mover *mv) MUST_CHECK;
/* Ends what is being copied where it is. */
void dir_mover_stop(struct dir_mover *mv);
/* NULL-safe, returns NULL. */
struct dir_mover *dir_mover_free(struct dir_mover *mv);

/* The partition has a future log that wants to be worked on; a reference is taken. It is let go of
 * once the move is over. */
void dir_mover_add(struct dir_mover *mv, struct partition *part);
void dir_mover_set_rate(struct dir_mover *mv, int64_t bytes_per_second);

/* One turn of a thread: one step for the first of its partitions that can make one. False: there is
 * nothing to do now. */
bool dir_mover_turn(struct dir_mover *mv, int thread);
