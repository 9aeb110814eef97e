/*
 * restarts.h - replicas whose broker went and came back while nobody was controller
 *
 * A controller that sees a broker register anew treats it as one that died and started: it takes it
 * out of the ISR, for what it had in memory may be gone. One that dies together with the controller
 * and is back before the next one is elected would be seen by nobody: the new controller finds it
 * registered, leading, in the ISR. But its registration is younger than the partition's state
 * (czxid against mzxid, which ZooKeeper counts in one sequence). Kafka 3.9 does not look.
 *
 * Thread: the controller's. Returns: see core.h.
 */
#pragma once

#include "controller/core.h"

/* Between reading everything and the first election: where another member of the ISR stayed, those
 * that did not are not online until restarts_end(). */
void restarts_begin(struct controller *c);
/* They are told to follow whoever leads now. */
enum zk_result restarts_end(struct controller *c);
