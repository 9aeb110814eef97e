/*
 * certs.h - keys and certificates for tests, made on the spot
 */
#pragma once

#include "common/io/tls.h"

/* An authority, and what it signed: PEM text, and the same as PKCS#12 files in the test's directory
 * (password "secret"). */
struct test_certs {
    char *ca;    /* certificate of the authority */
    char *chain; /* certificate for subject, valid for localhost and 127.0.0.1 */
    char *key;
    char *keystore;   /* path */
    char *truststore; /* path */
};

/* subject: a common name; the rest of it is O=Klamm, C=DE. */
void test_certs_init(struct test_certs *c, const char *subject);
void test_certs_deinit(struct test_certs *c);
/* A side that shows c's certificate and trusts what trusted's authority signed. */
struct tls_conf test_tls_conf(const struct test_certs *c, const struct test_certs *trusted);
