/*
 * answers.h - what several handlers put into their answers the same way
 */
#pragma once

#include "broker/request/broker.h"
#include "broker/request/request.h"

/* Where clients of the request's listener reach a new leader (KIP-951). */
struct leader_endpoint {
    int32_t id;
    struct str host; /* borrowed from the arena */
    int32_t port;
    struct str rack;
};

/* Endpoints of leaders that were named in an answer, each once. */
struct leader_endpoints {
    struct leader_endpoint *v;
    int32_t count;
    int32_t room;
};

/* Adds a leader, where it is alive and has such a listener. */
void leader_endpoints_add(struct leader_endpoints *l, struct broker *b, struct request *req,
                          int32_t leader);
/* Leader and epoch as the metadata knows them, where the partition itself did not tell; -1 and -1
 * unknown. */
void leader_of(struct broker *b, struct str topic, int32_t partition, int32_t *leader,
               int32_t *epoch);
bool topic_is_internal(struct str topic);
