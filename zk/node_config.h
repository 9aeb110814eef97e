/*
 * node_config.h - /config/TYPE/NAME: overrides of topics, brokers, clients, users, ips; and
 * /config/changes
 *
 * Reading is tolerant as in Kafka: null, not JSON, no object, or no "config" all mean "no
 * overrides". Only values that are not texts are -EBADMSG.
 */
#pragma once

#include "zk/node.h"

struct node_config_entry {
    struct str key;
    struct str value;
};

struct node_config {
    struct node_config_entry *entries;
    int32_t count;
    bool is_unreadable; /* no JSON object: counts as empty, as in Kafka; why says what it is */
};

int node_config_decode(struct slice data, struct arena *a, struct node_why *why,
                       struct node_config *ret) MUST_CHECK;
struct slice node_config_encode(struct arena *a, const struct node_config *c);
/* Null if there is none. */
struct str node_config_get(const struct node_config *c, const char *key);

/* Names of clients, users and ips in paths: Kafka's URL encoding; "<default>" stays as it is. */
struct str node_sanitize(struct arena *a, struct str name);
int node_desanitize(struct arena *a, struct str text, struct str *ret) MUST_CHECK;

/* One notification: entity_path of version 2; version 1's type and name are put together the same
 * way. */
struct node_config_change {
    struct str type; /* topics, brokers, clients, users, ips */
    struct str name; /* the rest, as it stands: "u/clients/c" for a pair */
};

/* -ENODATA for what is to be passed over without a word: no JSON. */
int node_config_change_decode(struct slice data, struct arena *a, struct node_why *why,
                              struct node_config_change *ret) MUST_CHECK;
struct slice node_config_change_encode(struct arena *a, const struct node_config_change *c);
