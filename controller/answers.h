/*
 * answers.h - what brokers answer to the controller's requests
 *
 * Thread: the controller's. Returns: see core.h.
 */
#pragma once

#include "controller/core.h"

enum zk_result answers_handle(struct controller *c, const struct control_answer *a);
/* Children of /log_dir_event_notification changed: those brokers are asked, by LeaderAndIsr, which
 * of their replicas are still there. */
enum zk_result answers_ask_log_dirs(struct controller *c);
