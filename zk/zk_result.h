/*
 * zk_result.h - what ZooKeeper answered, in our own words
 *
 * An enum of its own beside the sign rule of err.h: most callers branch on three or four of these,
 * and none is a fault of the object that asked. zk_result_err() translates where a result must
 * leave as an int.
 */
#pragma once

#include "common/base/base.h"

enum zk_result {
    ZK_OK = 0,
    ZK_NO_NODE,
    ZK_NODE_EXISTS,
    ZK_BAD_VERSION,
    ZK_NOT_EMPTY,
    ZK_CONTROLLER_MOVED, /* the check of /controller_epoch in a fenced write failed: resign */
    ZK_MALFORMED,        /* read, but not decodable; what and where has been said */
    ZK_SESSION_EXPIRED, /* nothing is known about what was under way; a new session is being made */
    ZK_AUTH_FAILED,
    ZK_NO_AUTH,
    ZK_CLOSING,     /* zk_stop() was called */
    ZK_ROLLED_BACK, /* this op of a multi was not at fault, but another was */
    ZK_REFUSED,     /* given up for a reason of ours, which has been said */
    ZK_OTHER,       /* anything else; the library's text has been said */
};

/* "NO_NODE"; never NULL. */
const char *zk_result_name(enum zk_result r);
/* 0, -ENOENT, -EEXIST, -EAGAIN (bad version), NOT_CONTROLLER (controller moved), -EBADMSG, -ESTALE
 * (expired), -EACCES, -ECANCELED (closing), -ENOTEMPTY, -EPERM (refused; never passed on as a Kafka
 * code), -EIO. */
int zk_result_err(enum zk_result r);
