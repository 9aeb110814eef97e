/*
 * node.h - what all znode codecs share
 *
 * A codec turns the bytes of a znode into a struct and back. Decoders are as strict about JSON
 * types as Kafka's are (a quoted number is not a number), look fields up by name, and ignore
 * unknown ones. They never crash: bytes that do not fit give -EBADMSG and a text of what is wrong
 * in *why (which may be NULL). Size and nesting are bounded. Everything decoded lives in the
 * caller's arena; encoders put the bytes there too. Pure functions: any thread.
 */
#pragma once

#include "common/base/arena.h"
#include "common/base/err.h"

enum {
    NODE_MAX_BYTES = 16 << 20, /* a topic of 100,000 partitions with 5 replicas is 4 MB */
    NODE_MAX_DEPTH = 32,
};

struct node_why {
    char text[192];
};

/* Broker ids, in their order. */
struct node_ids {
    int32_t *list;
    int32_t count;
};

bool node_ids_eq(const struct node_ids *a, const struct node_ids *b);
bool node_ids_has(const struct node_ids *ids, int32_t id);
