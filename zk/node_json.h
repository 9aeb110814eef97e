/*
 * node_json.h - the codecs' way through jansson: bounded parsing, typed fields, one text of what is
 * wrong
 *
 * Inside zk/node_*.c only. All decoders below give 0 or -EBADMSG with *why filled in.
 */
#pragma once

#include "zk/node.h"

#include <jansson.h>

int node_wrong(struct node_why *why, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* The root object, to be released. -ENODATA for bytes that are no JSON; -EBADMSG for null, empty,
 * another type than object, and what is over the bounds. */
int node_parse(struct slice data, struct node_why *why, json_t **ret) MUST_CHECK;

static inline void json_decref_p(json_t **j)
{
    json_decref(*j);
}

/* Required fields of obj. Integers are JSON integers of 32 bits, as Kafka's decoders have it. */
int node_i32(const json_t *obj, const char *key, struct node_why *why, int32_t *ret) MUST_CHECK;
int node_str(const json_t *obj, const char *key, struct arena *a, struct node_why *why,
             struct str *ret) MUST_CHECK;
/* Integers as decimal text. */
int node_i64_text(const json_t *obj, const char *key, struct node_why *why, int64_t *ret)
    MUST_CHECK;
int node_object(const json_t *obj, const char *key, struct node_why *why, json_t **ret) MUST_CHECK;
int node_array(const json_t *obj, const char *key, struct node_why *why, json_t **ret) MUST_CHECK;
/* An array of ids; what names it in the text. */
int node_ids_decode(const json_t *array, const char *what, struct arena *a, struct node_why *why,
                    struct node_ids *ret) MUST_CHECK;
/* The key of an object as a number >= 0. */
int node_key_i32(const char *key, const char *what, struct node_why *why, int32_t *ret) MUST_CHECK;

/* A copy of a JSON text. */
struct str node_text(struct arena *a, const json_t *string);

/* Compact text of root, which is released. */
struct slice node_dump(struct arena *a, json_t *root);
json_t *node_json_str(struct str s);
json_t *node_json_ids(const struct node_ids *ids);
