/*
 * topic_names.h - which names a topic may have, and which topics belong to the cluster itself
 */
#pragma once

#include "common/base/arena.h"

/* INVALID_TOPIC_EXCEPTION with Kafka's words in *ret_why (in the arena), or 0. */
int topic_name_check(struct arena *a, struct str name, struct str *ret_why) MUST_CHECK;
/* __consumer_offsets, __transaction_state. */
bool topic_name_is_internal(struct str name);
/* The name with '.' as '_': topics that agree in it collide, as metric names are made from it. */
struct str topic_name_folded(struct arena *a, struct str name);
