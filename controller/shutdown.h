/*
 * shutdown.h - ControlledShutdown: a broker asks to be relieved before it stops
 *
 * From then on it is not live: it is not elected, and no ISR with it in is accepted, until its
 * registration goes. Thread: the controller's. Returns: see core.h.
 */
#pragma once

#include "controller/core.h"

/* Fills call->response. The call is answered by the caller, whatever is returned. */
enum zk_result shutdown_relieve(struct controller *c, struct controller_call *call);
