/*
 * topic_defaults.h - the defaults that server.properties gives to topics, as texts in the order of
 * topic_options
 *
 * Private to broker/config. A topic's key has a first synonym in server.properties, and a few have
 * others of a coarser unit behind it (log.retention.ms, then minutes, then hours).
 */
#pragma once

#include "common/base/strbuf.h"

struct broker_conf;

/* -EINVAL where a combination is refused. */
int topic_defaults_make(const struct broker_conf *c, char ***ret, struct strbuf *why) MUST_CHECK;
void topic_defaults_free(char **texts);
