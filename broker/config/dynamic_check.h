/*
 * dynamic_check.h - whether a running broker can go from one configuration to another
 *
 * Both have passed their own checks; here are the rules about the step between them.
 */
#pragma once

#include "broker/config/broker_conf.h"

struct conf_snapshot;

/* Whether the key and trust stores of a listener have the same settings in both. */
bool listener_has_same_stores(const struct broker_conf *a, const struct broker_conf *b,
                              const char *listener);
/* -EINVAL with Kafka's words. */
int dynamic_conf_check(const struct conf_snapshot *now, const struct broker_conf *next,
                       struct strbuf *why) MUST_CHECK;
