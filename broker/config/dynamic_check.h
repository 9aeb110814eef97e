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
/* Of a request: -EINVAL with Kafka's words. */
int dynamic_conf_check(const struct conf_snapshot *now, const struct broker_conf *next,
                       struct strbuf *why) MUST_CHECK;
/* Of what stands in ZooKeeper: only what open listeners cannot do. How far pools of threads go at
 * once was asked when it was written; who reads it late may find several such steps as one. */
int dynamic_conf_check_stored(const struct conf_snapshot *now, const struct broker_conf *next,
                              struct strbuf *why) MUST_CHECK;
