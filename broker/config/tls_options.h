/*
 * tls_options.h - the ssl.* keys of a listener, as common/io/tls wants them
 */
#pragma once

#include "broker/config/broker_conf.h"
#include "common/io/tls.h"

/* Borrows from the configuration. client_auth is the caller's to set. */
struct tls_conf tls_conf_of_listener(const struct broker_conf *c, const char *listener);
