/*
 * group_append.h - records on their way into __consumer_offsets
 *
 * A batch is built, handed to the partition as a produce request of our own (acks and timeout from
 * offsets.commit.*), and its end reported on the reactor that it was begun on. Thread: a reactor's.
 */
#pragma once

#include "broker/group/group_manager.h"
#include "broker/group/group_records.h"
#include "broker/replica/delayed_produce.h"
#include "broker/replica/replica_manager.h"

/* Embedded in what is stored; its memory must live until done(). */
struct group_append {
    struct group_manager *manager;
    int32_t partition;
    struct strbuf batch;
    /* No lock held, in a later turn of the reactor. error is a code of Produce, not translated. */
    void (*done)(struct group_append *a, int error, int64_t first_offset);
    /* Its own: */
    struct reactor *reactor;
    struct produce produce;
    struct produce_part part;
    struct arena arena;
    struct message message;
    int error;
};

/* Starts a batch of group records; offset commits carry a sequence of 0 (disk.md 12.6). */
void group_batch_init(const struct group_manager *m, struct batch_builder *bb, bool is_commit);
/* Finishes bb into a->batch and appends it. The lock of a group may be held. */
void group_append_start(struct group_append *a, struct batch_builder *bb);
/* The same without waiting for anything: tombstones. A failure is in the log only. */
void group_append_forget(struct group_manager *m, int32_t partition, struct batch_builder *bb);

/* group_env.store. */
void group_append_store(void *manager, struct group_store *s);
/* What clients are told where the record of a group could not be appended (protocol.md 11.9). */
int group_error_of_store(int error);
/* The same of an offset commit (11.12). */
int group_error_of_commit(int error);
