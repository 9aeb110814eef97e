/*
 * balance.h - leadership back to the preferred leaders, and elections that somebody asks for
 *
 * Thread: the controller's. Returns: see core.h.
 */
#pragma once

#include "controller/core.h"

/* The timer: elects preferred leaders of every broker that leads too little of what it should. */
enum zk_result balance_run(struct controller *c);
/* ElectLeaders. Every entry gets its error; the call is answered by the caller. */
enum zk_result balance_elect(struct controller *c, struct controller_elections *call);
/* /admin/preferred_replica_election, old tools' way; reading it arms the watch for the next. */
enum zk_result balance_legacy(struct controller *c);
