/*
 * stop.h - Ctrl-C in the middle of work that has several steps
 *
 * The first SIGINT or SIGTERM only asks: the step that is under way ends, and what was done is
 * said. The second ends the program at once. As Kafka's tool the first one does, as those end.
 * Thread: the main one.
 */
#pragma once

#include "tools/base/tool.h"

/* From now on. */
void stop_catch(const struct invocation *inv);
bool stop_wanted(void);
/* Waits for so long, or until it is asked to stop. */
void stop_sleep(int64_t ms);
