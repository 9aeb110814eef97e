/*
 * isr.h - ISRs that leaders change: AlterPartition, and the notifications of older brokers
 *
 * Thread: the controller's. Returns: see core.h.
 */
#pragma once

#include "controller/core.h"

/* Fills call->response. The call is answered by the caller, whatever is returned. */
enum zk_result isr_alter(struct controller *c, struct controller_call *call);
/* Children of /isr_change_notification changed. */
enum zk_result isr_changes(struct controller *c);
