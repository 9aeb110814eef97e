/*
 * producer_ids.h - AllocateProducerIds: the next block of producer ids for a broker
 *
 * Thread: the controller's. Returns: see core.h.
 */
#pragma once

#include "controller/core.h"

/* Fills call->response. The call is answered by the caller, whatever is returned. */
enum zk_result producer_ids_allocate(struct controller *c, struct controller_call *call);
