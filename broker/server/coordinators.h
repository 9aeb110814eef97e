/*
 * coordinators.h - the coordinators that live on internal topics, as the replicas below tell of
 * them: who leads, who does not any more, which topics are gone
 *
 * Thread: the worker that carries out the controller's requests.
 */
#pragma once

#include "broker/request/broker.h"
#include "common/base/str.h"

struct update_metadata_request;

/* Their settings are those of b->conf. Reactors and workers exist. */
struct group_manager *coordinators_make_groups(const struct broker *b);

void coordinators_elected(struct broker *b, struct str topic, int32_t partition,
                          int32_t leader_epoch);
void coordinators_resigned(struct broker *b, struct str topic, int32_t partition,
                           int32_t leader_epoch);
/* Offsets of partitions that are gone are dropped, in a job of its own. */
void coordinators_metadata_updated(struct broker *b, const struct update_metadata_request *req);
