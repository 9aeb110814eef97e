/*
 * elect.h - what the parts of `klamm elect` share
 *
 * cmd_elect.c reads the command line and asks; elect_plan.c reads a file of partitions, and has
 * the order in which Kafka's tool prints them; elect_print.c prints. Thread: the main one.
 */
#pragma once

#include "common/base/arena.h"
#include "common/base/strbuf.h"

#include <stdio.h>

struct elect_part {
    struct str topic;
    int32_t partition;
    int16_t error;      /* what came of it; ELECTION_NOT_NEEDED is no failure */
    struct str message; /* with the error, or what a dry run found */
};

struct elect_parts {
    struct elect_part *v;
    size_t count;
};

enum election { ELECT_PREFERRED = 0, ELECT_UNCLEAN = 1 }; /* of the wire */

/* ---- elect_plan.c; pure ---- */

/* {"partitions":[{"topic":"t","partition":0}]}. -EINVAL with Kafka's words. */
int elect_parse(struct str json, struct arena *a, struct elect_parts *ret, struct strbuf *why)
    MUST_CHECK;
/* As Java's sets of partitions give them. */
void elect_sort(struct elect_parts *p);

/* ---- elect_print.c ---- */

/* "PREFERRED" */
const char *election_name(enum election type);
/* Returns how many could not be elected. */
size_t elect_print(const struct elect_parts *p, enum election type, FILE *out);
/* The same as our own table, or as JSON. */
size_t elect_print_table(const struct elect_parts *p, bool as_json, FILE *out);
