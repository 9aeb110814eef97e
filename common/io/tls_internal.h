/*
 * tls_internal.h - what tls.c, tls_store.c and stream_tls.c share: key stores, and sessions of a
 * context
 */
#pragma once

#include "common/io/tls.h"

#include <openssl/ssl.h>

/* Puts the key and its certificates into the context. Nothing is done where no key is configured:
 * *ret_has_key. */
int tls_load_key(const struct tls_conf *conf, SSL_CTX *ctx, struct strbuf *why, bool *ret_has_key)
    MUST_CHECK;
/* Puts what is trusted into the context: the system's authorities where no trust store is
 * configured. */
int tls_load_trust(const struct tls_conf *conf, SSL_CTX *ctx, struct strbuf *why) MUST_CHECK;
/* Adds the oldest error of OpenSSL's queue in words, and empties the queue. */
void tls_add_error(struct strbuf *why);

/* NULL where there is no memory. */
SSL *tls_server_session(const struct tls_server *t);
/* With the checks of the host name that the context asks for. */
SSL *tls_client_session(const struct tls_client *t, const char *host);
