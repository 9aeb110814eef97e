/*
 * replica_dirs.h - in which log dir a replica is to be: AlterReplicaLogDirs (KIP-113), and moves
 * that a start of the broker found under way
 *
 * Takes LOCK_REPLICA_STATE, makes and deletes logs: call it on a worker. Authorization is the
 * caller's.
 */
#pragma once

#include "broker/replica/replica_manager.h"

/*
 * Begins the replica's way to the dir (absolute, as DescribeLogDirs tells it), in place of another
 * that it is on; the dir it is in gives up the move. In Kafka's order: INVALID_TOPIC_EXCEPTION (its
 * name is too long for a future log), LOG_DIR_NOT_FOUND, KAFKA_STORAGE_ERROR (one of the dirs is
 * offline); REPLICA_NOT_AVAILABLE and UNKNOWN_TOPIC_OR_PARTITION: it is not here, and the dir is
 * remembered for its creation.
 */
int replica_dirs_alter(struct replica_manager *m, struct str topic, int32_t partition,
                       struct str dir) MUST_CHECK;

/* After the partition's role was set: a future log that lies beside its log is worked on. The
 * manager's state lock is held. */
void replica_dirs_go_on(struct replica_manager *m, struct partition *part);
