/*
 * isr.h - the in-sync set of one partition as its leader sees it: members, a change under way, what
 * each replica has, and how far the high watermark may go (controller.md B7, B8; KIP-497)
 *
 * Pure bookkeeping: no clock, no lock, no I/O. Part of struct partition and guarded by its lock.
 * Times are milliseconds of the monotonic clock.
 *
 * Always: while a change is under way the committed set is the old one, and the maximal set (what
 * the high watermark waits for) is the larger of the two.
 */
#pragma once

#include "common/base/base.h"

struct id_list {
    int32_t *v;
    int32_t count;
};

void id_list_set(struct id_list *l, const int32_t *ids, int32_t count);
void id_list_deinit(struct id_list *l);
bool id_list_has(const struct id_list *l, int32_t id);
bool id_list_eq(const struct id_list *a, const struct id_list *b);

enum isr_change { ISR_STABLE, ISR_SHRINKING, ISR_EXPANDING };

struct isr {
    struct id_list committed;
    struct id_list proposed; /* empty while stable */
    enum isr_change change;
};

void isr_deinit(struct isr *isr);
/* A new committed set; a change under way is forgotten. */
void isr_set(struct isr *isr, const int32_t *ids, int32_t count);
/* The change under way is forgotten, the committed set stays. */
void isr_revert(struct isr *isr);
void isr_propose_add(struct isr *isr, int32_t id);
/* Without those in gone. */
void isr_propose_remove(struct isr *isr, const struct id_list *gone);
bool isr_maximal_has(const struct isr *isr, int32_t id);
int32_t isr_maximal_count(const struct isr *isr);

/* Long before any clock began, and still far from overflow. */
#define REMOTE_NEVER (INT64_MIN / 2)

/* What the leader knows of another replica from its fetches; -1 where it has not fetched yet. */
struct remote_replica {
    int32_t id;
    int64_t end_offset;
    int64_t log_start;
    int64_t leader_end_at_fetch;
    int64_t fetch_ms;
    int64_t caught_up_ms;
};

struct remote_list {
    struct remote_replica *v;
    int32_t count;
};

/* One record for each of ids but self; those that are known keep theirs. */
void remote_list_set(struct remote_list *l, const struct id_list *ids, int32_t self);
void remote_list_deinit(struct remote_list *l);
struct remote_replica *remote_list_find(const struct remote_list *l, int32_t id);

/* A new leader epoch: positions are unknown unless we were the leader already (B2.1). */
struct remote_reset {
    bool was_leader;
    bool in_isr;
    int64_t epoch_start;
    int64_t now_ms;
};
void remote_reset(struct remote_replica *r, const struct remote_reset *how);

struct remote_fetch {
    int64_t offset;
    int64_t log_start;
    int64_t leader_end; /* before the read */
    int64_t now_ms;
};
void remote_fetched(struct remote_replica *r, const struct remote_fetch *f);
bool remote_is_caught_up(const struct remote_replica *r, int64_t leader_end, int64_t now_ms,
                         int64_t lag_ms);
