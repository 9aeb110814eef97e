/*
 * dynamic_check.h - whether a running broker can go from one configuration to another
 *
 * Both have passed their own checks; here are the rules about the step between them.
 */
#pragma once

#include "broker/config/broker_conf.h"

struct conf_snapshot;

/* -EINVAL with Kafka's words. */
int dynamic_conf_check(const struct conf_snapshot *now, const struct broker_conf *next,
                       struct strbuf *why) MUST_CHECK;
