/*
 * partition_move.h - a replica moves from one log dir of this broker to another (KIP-113)
 *
 * The copy, the partition's future log, is always a prefix of the log: the mover alone appends to
 * it what the log has, high watermark or not, and cuts it where the log was cut. Once it ends where
 * the log ends the two change places under the partition's lock; nothing that uses the partition or
 * its log sees a difference.
 *
 * Who begins and gives up a move holds LOCK_REPLICA_STATE; partition_move_some() is one thread's at
 * a time.
 */
#pragma once

#include "broker/replica/partition.h"
#include "common/base/mem.h"

/* Has the partition move with a future log that was found or made, and takes over the reference.
 * With the one that it is moving with already the two are compared again. */
void partition_begin_move(struct partition *part, struct log *future);
/* Lets go of the future log, which stays where it is. */
void partition_end_move(struct partition *part);
/* A move that is held goes on, from where log and copy agree. False: there is none. */
bool partition_resume_move(struct partition *part);
/* The dir that it is moving to (the manager's pointer), NULL: none. */
const char *partition_move_dir(struct partition *part);
/* Whether a mover has to work on it. */
bool partition_wants_mover(struct partition *part);

/* Where records pass through; one for each mover. */
struct move_room {
    uint8_t *bytes;
    size_t cap;
    uint32_t max_bytes; /* that a step copies, if a batch is not larger */
};
void move_room_deinit(struct move_room *room);

enum move_step {
    MOVE_GOES_ON,
    MOVE_WAITS,  /* there is nothing to copy, and it cannot end just now */
    MOVE_OVER,   /* it has arrived, or was given up */
    MOVE_FAILED, /* not tried again until it is begun anew; it has been said */
};

/* Copies some, or ends the move. *ret_bytes is what was copied. Blocks. */
enum move_step partition_move_some(struct partition *part, struct move_room *room,
                                   int64_t *ret_bytes);
