/*
 * rebalance_internal.h - what the files of the rules share: phases of a rebalance, and how calls
 * are ended
 *
 * rebalance.c        the phases, the timer, heartbeat, leave
 * rebalance_join.c   JoinGroup
 * rebalance_sync.c   SyncGroup
 */
#pragma once

#include "broker/group/rebalance.h"
#include "common/base/err.h"
#include "common/wire/messages.h"

int64_t rebalance_now_us(const struct group *g);

/* ---- phases ---- */

/* Begins a rebalance where none is on. */
void rebalance_prepare(struct group *g) REQUIRES(g->lock);
/* Ends the joining where everybody has joined. */
void rebalance_maybe_complete_join(struct group *g) REQUIRES(g->lock);
/* Takes a member out, answers its calls, and goes on without it. It is freed. */
void rebalance_remove(struct group *g, struct member *m) REQUIRES(g->lock);

/* ---- members ---- */

/* It has been heard of: its session begins anew. */
void rebalance_renew(struct group *g, struct member *m) REQUIRES(g->lock);
/* It has synced. */
void rebalance_synced(struct group *g, struct member *m) REQUIRES(g->lock);

/* ---- answers ---- */

void rebalance_park_join(struct group *g, struct member *m, struct join_call *c) REQUIRES(g->lock);
void rebalance_park_sync(struct group *g, struct member *m, struct sync_call *c) REQUIRES(g->lock);
/* Does nothing where none is parked. */
void rebalance_end_join(struct group *g, struct member *m, const struct join_answer *a)
    REQUIRES(g->lock);
bool rebalance_end_sync(struct group *g, struct member *m, const struct sync_answer *a)
    REQUIRES(g->lock);
/* An answer that joins nothing. */
void rebalance_refuse_join(struct join_call *c, struct str member_id, int error);
void rebalance_fail_join(struct group *g, struct member *m, struct str member_id, int error)
    REQUIRES(g->lock);
/* The present generation, as a member of it is told. */
struct join_answer rebalance_generation(const struct group *g, struct str member_id)
    REQUIRES(g->lock);
/* Everybody's assignment is told, or with an error forgotten. */
void rebalance_tell_assignments(struct group *g, int error) REQUIRES(g->lock);

/* Appends its record: s->value, or where that is NULL, the group as it is. s->done is set. */
void rebalance_store(struct group *g, struct group_store *s) REQUIRES(g->lock);
/* After done(). s is the first member of what was allocated. */
void rebalance_store_free(struct group_store *s);
