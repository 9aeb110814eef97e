/*
 * failover.h - the first work of a new controller: read everything, tell everybody
 */
#pragma once

#include "controller/core.h"

/* c->epoch and c->epoch_version are set. Anything but ZK_OK means that the term cannot begin. */
enum zk_result failover_run(struct controller *c);
/* Registers, or drops, the handlers of all znodes that a controller watches, but for those of
 * single brokers and topics. */
void failover_watch(struct controller *c);
void failover_unwatch(struct controller *c);
