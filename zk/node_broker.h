/*
 * node_broker.h - /brokers/ids/N: where a broker listens
 *
 * Versions 1 to 5 (and later ones, as 5) are read; 2 (no map of protocols, no rack), 4 (no
 * features) and 5 are written. Version 1 has host and port only, which become one PLAINTEXT
 * endpoint. Listener names are upper-cased in endpoints; keys of listener_security_protocol_map are
 * taken as they are. The broker epoch is the node's czxid and not in here.
 */
#pragma once

#include "zk/node.h"

/* Kafka's numbers. */
enum node_protocol {
    NODE_PLAINTEXT = 0,
    NODE_SSL = 1,
    NODE_SASL_PLAINTEXT = 2,
    NODE_SASL_SSL = 3,
};

struct node_endpoint {
    struct str listener;
    struct str host; /* without the brackets of IPv6 */
    int32_t port;
    enum node_protocol protocol;
};

struct node_feature {
    struct str name;
    int16_t min_version;
    int16_t max_version;
};

struct node_broker {
    int32_t version; /* written, not read; 0: the newest */
    struct node_endpoint *endpoints;
    int32_t endpoint_count;
    struct str rack; /* null: none */
    int32_t jmx_port;
    int64_t timestamp_ms; /* written, not read */
    struct node_feature *features;
    int32_t feature_count;
};

int node_broker_decode(struct slice data, struct arena *a, struct node_why *why,
                       struct node_broker *ret) MUST_CHECK;
struct slice node_broker_encode(struct arena *a, const struct node_broker *b);

/* NULL if there is none. */
const struct node_endpoint *node_broker_endpoint(const struct node_broker *b, struct str listener);
/* The same endpoints and features; a changed rack alone does not count. */
bool node_broker_same(const struct node_broker *a, const struct node_broker *b);
/* True if they advertise one host:port pair in common; *ret (may be NULL) is a's endpoint. */
bool node_broker_collides(const struct node_broker *a, const struct node_broker *b,
                          const struct node_endpoint **ret);
struct node_broker node_broker_copy(struct arena *a, const struct node_broker *b);
const char *node_protocol_name(enum node_protocol p);
/* -EINVAL for a text that names none. Exact, upper case. */
int node_protocol_parse(struct str name, enum node_protocol *ret) MUST_CHECK;
