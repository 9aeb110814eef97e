/*
 * listeners.h - listeners, advertised.listeners and what hangs on their names
 *
 * Parsed with Kafka's rules and words of refusal. Owned by the configuration, immutable.
 */
#pragma once

#include "common/base/strbuf.h"

enum security_protocol {
    PROTO_PLAINTEXT = 0,
    PROTO_SSL = 1,
    PROTO_SASL_PLAINTEXT = 2,
    PROTO_SASL_SSL = 3
};

struct listener_conf {
    char *name; /* upper case */
    enum security_protocol protocol;
    char *host; /* "" = all addresses */
    int port;   /* 0 = any */
    bool is_advertised;
    char *advertised_host; /* "" = this machine's own name */
    int advertised_port;
    bool is_inter_broker;
    bool is_control_plane;
};

struct listeners {
    struct listener_conf *v;
    int count;
};

/* The values of the keys they are made of; NULL where a key is not set. */
struct listeners_text {
    const char *listeners;
    const char *advertised_listeners;
    const char *listener_security_protocol_map;
    const char *inter_broker_listener_name;
    const char *security_inter_broker_protocol;
    bool is_protocol_set; /* security.inter.broker.protocol stands in the file */
    const char *control_plane_listener_name;
};

/* -EINVAL and the reason in why. */
int listeners_parse(const struct listeners_text *text, struct listeners *ret, struct strbuf *why)
    MUST_CHECK;
void listeners_deinit(struct listeners *l);
const struct listener_conf *listeners_find(const struct listeners *l, struct str name);
const struct listener_conf *listeners_inter_broker(const struct listeners *l);
/* NULL where there is none. */
const struct listener_conf *listeners_control_plane(const struct listeners *l);
const char *security_protocol_name(enum security_protocol p);
int security_protocol_parse(struct str name, enum security_protocol *ret) MUST_CHECK;
