/*
 * tls.h - TLS contexts made of the ssl.* options
 *
 * Key and trust stores may be PEM (a file, or text in the options) or PKCS#12; Java's own JKS is
 * refused with the command that converts it. A file of type JKS that is PKCS#12 inside is taken, as
 * Java does. To reload, make another and renew the old one with it; the streams that there are
 * keep what they have. Errors: -EINVAL or -errno, with the reason in why. Thread: any.
 */
#pragma once

#include "common/base/strbuf.h"

enum tls_client_auth { TLS_CLIENT_AUTH_NONE, TLS_CLIENT_AUTH_REQUESTED, TLS_CLIENT_AUTH_REQUIRED };

/* NULL or empty where an option is not set. Borrowed during the call. */
struct tls_store_conf {
    const char *type; /* JKS, PKCS12, PEM */
    const char *location;
    const char *password;
    const char *certificates; /* PEM text in the options: the chain, or what is trusted */
};

struct tls_conf {
    struct tls_store_conf keystore;
    struct tls_store_conf truststore;
    const char *key;               /* ssl.keystore.key */
    const char *key_password;      /* ssl.key.password */
    const char *enabled_protocols; /* "TLSv1.2,TLSv1.3" */
    const char *cipher_suites;     /* Java's names, comma separated */
    const char
        *endpoint_identification; /* "https": a client checks the host name; "": it does not */
    enum tls_client_auth client_auth;
};

struct tls_server;
struct tls_client;

int tls_server_new(const struct tls_conf *conf, struct strbuf *why, struct tls_server **ret)
    MUST_CHECK;
/* NULL-safe, returns NULL. */
struct tls_server *tls_server_free(struct tls_server *t);

int tls_client_new(const struct tls_conf *conf, struct strbuf *why, struct tls_client **ret)
    MUST_CHECK;
struct tls_client *tls_client_free(struct tls_client *t);

/* What a running server's new certificate may differ in: ssl.allow.dn.changes, .san.changes. */
struct tls_renewal {
    bool may_change_name;
    bool may_drop_alternatives;
};
/* Whether clients that know one server's certificate find what they look for in another's: the same
 * name, and no alternative name less. -EINVAL with Kafka's words. */
int tls_server_check_renewal(const struct tls_server *t, const struct tls_server *with,
                             const struct tls_renewal *may, struct strbuf *why) MUST_CHECK;
/* Sessions to come are made with what the other one was made of, but for whether a client checks
 * host names; the other one is freed. */
void tls_server_renew(struct tls_server *t, struct tls_server *with);
void tls_client_renew(struct tls_client *t, struct tls_client *with);
