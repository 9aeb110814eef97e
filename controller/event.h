/*
 * event.h - what the controller's thread is asked to do, one at a time, in order
 *
 * An event is embedded in whatever it carries. Anybody posts; the controller's thread runs it, or,
 * where the session or the controller that it was meant for has ended meanwhile, preempts it: it is
 * then answered without being run. Which events a new session preempts is told by generation:
 * controller_session_lost() raises it, and what was posted before is old.
 */
#pragma once

#include "common/io/inbox.h"

struct controller;

/* Values of the gauge ControllerState. */
enum controller_state {
    CONTROLLER_IDLE = 0,
    CONTROLLER_CHANGE = 1,
    CONTROLLER_BROKER_CHANGE = 2,
    CONTROLLER_TOPIC_CHANGE = 3,
    CONTROLLER_TOPIC_DELETION = 4,
    CONTROLLER_REASSIGNMENT = 5,
    CONTROLLER_AUTO_BALANCE = 6,
    CONTROLLER_MANUAL_BALANCE = 7,
    CONTROLLER_CONTROLLED_SHUTDOWN = 8,
    CONTROLLER_ISR_CHANGE = 9,
    CONTROLLER_LEADER_AND_ISR_ANSWER = 10,
    CONTROLLER_LOG_DIR_CHANGE = 11,
    CONTROLLER_SHUTDOWN = 12,
    CONTROLLER_UNCLEAN_ENABLE = 13,
    CONTROLLER_TOPIC_UNCLEAN_ENABLE = 14,
    CONTROLLER_LIST_REASSIGNMENTS = 15,
    CONTROLLER_UPDATE_METADATA_ANSWER = 16,
    CONTROLLER_UPDATE_FEATURES = 17,
    CONTROLLER_STATE_COUNT
};

enum event_kind {
    EVENT_STARTUP,
    EVENT_CONTROLLER_CHANGE,
    EVENT_REELECT,
    EVENT_EXPIRE,
    EVENT_REGISTER_AND_REELECT,
    EVENT_SHUTDOWN,
    EVENT_BROKER_CHANGE,
    EVENT_BROKER_MODIFICATION,
    EVENT_TOPIC_CHANGE,
    EVENT_PARTITION_MODIFICATION,
    EVENT_TOPIC_DELETION,
    EVENT_PREFERRED_ELECTION,
    EVENT_REASSIGN_LEGACY,
    EVENT_REASSIGN_ISR_CHANGE,
    EVENT_ISR_CHANGE,
    EVENT_LOG_DIR_CHANGE,
    EVENT_UNCLEAN_ENABLE,
    EVENT_ANSWER,
    EVENT_ALTER_PARTITION,
    EVENT_CONTROLLED_SHUTDOWN,
    EVENT_ALLOCATE_PRODUCER_IDS,
    EVENT_ELECT_LEADERS,
    EVENT_SET_PARTITIONS,
    EVENT_ALTER_REASSIGNMENTS,
    EVENT_LIST_REASSIGNMENTS,
    EVENT_UPDATE_FEATURES,
    EVENT_KIND_COUNT
};

struct event {
    struct message message;
    enum event_kind kind;
    uint32_t generation; /* set by posting */
    int64_t posted_us;
};
