#include "tests/support/certs.h"

#include "common/base/mem.h"
#include "tests/support/test_main.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/x509v3.h>

static X509 *new_cert(EVP_PKEY *key, const char *cn, int serial)
{
    X509 *cert = X509_new();
    X509_NAME *name = X509_get_subject_name(cert);

    X509_set_version(cert, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(cert), serial);
    X509_gmtime_adj(X509_getm_notBefore(cert), -3600);
    X509_gmtime_adj(X509_getm_notAfter(cert), 86400);
    X509_set_pubkey(cert, key);
    X509_NAME_add_entry_by_txt(name, "C", MBSTRING_UTF8, (const uint8_t *)"DE", -1, -1, 0);
    X509_NAME_add_entry_by_txt(name, "O", MBSTRING_UTF8, (const uint8_t *)"Klamm", -1, -1, 0);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, (const uint8_t *)cn, -1, -1, 0);
    return cert;
}

static void add_extension(X509 *cert, X509 *issuer, int nid, const char *value)
{
    X509V3_CTX ctx;

    X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
    X509_EXTENSION *e = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
    ck_assert_ptr_nonnull(e);
    X509_add_ext(cert, e, -1);
    X509_EXTENSION_free(e);
}

static void sign(X509 *cert, X509 *issuer, EVP_PKEY *key)
{
    X509_set_issuer_name(cert, X509_get_subject_name(issuer));
    ck_assert_int_gt(X509_sign(cert, key, EVP_sha256()), 0);
}

static char *bio_text(BIO *b)
{
    char *p;
    long n = BIO_get_mem_data(b, &p);
    char *text = xstrndup(p, (size_t)n);

    BIO_free(b);
    return text;
}

static char *cert_text(X509 *cert)
{
    BIO *b = BIO_new(BIO_s_mem());

    PEM_write_bio_X509(b, cert);
    return bio_text(b);
}

static char *key_text(EVP_PKEY *key)
{
    BIO *b = BIO_new(BIO_s_mem());

    PEM_write_bio_PrivateKey(b, key, NULL, NULL, 0, NULL, NULL);
    return bio_text(b);
}

static char *write_store(const char *name, EVP_PKEY *key, X509 *cert, X509 *ca)
{
    STACK_OF(X509) *others = sk_X509_new_null();
    char *path = xasprintf("%s/%s.p12", test_tmpdir(), name);
    FILE *f = fopen(path, "wb");

    sk_X509_push(others, ca);
    PKCS12 *p12 = PKCS12_create("secret", "klamm", key, cert, others, 0, 0, 0, 0, 0);
    ck_assert(f && p12 && i2d_PKCS12_fp(f, p12) == 1);
    fclose(f);
    PKCS12_free(p12);
    sk_X509_free(others);
    return path;
}

void test_certs_init(struct test_certs *c, const char *subject)
{
    EVP_PKEY *ca_key = EVP_EC_gen("P-256"), *key = EVP_EC_gen("P-256");
    X509 *ca = new_cert(ca_key, "authority", 1), *cert = new_cert(key, subject, 2);

    add_extension(ca, ca, NID_basic_constraints, "critical,CA:TRUE");
    sign(ca, ca, ca_key);
    add_extension(cert, ca, NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1");
    sign(cert, ca, ca_key);
    *c = (struct test_certs){.ca = cert_text(ca), .chain = cert_text(cert), .key = key_text(key)};
    c->keystore = write_store(subject, key, cert, ca);
    CLEANUP(free_p) char *trust = xasprintf("%s-trust", subject);
    c->truststore = write_store(trust, NULL, NULL, ca);
    X509_free(ca);
    X509_free(cert);
    EVP_PKEY_free(ca_key);
    EVP_PKEY_free(key);
}

void test_certs_deinit(struct test_certs *c)
{
    free(c->ca);
    free(c->chain);
    free(c->key);
    free(c->keystore);
    free(c->truststore);
    *c = (struct test_certs){0};
}

struct tls_conf test_tls_conf(const struct test_certs *c, const struct test_certs *trusted)
{
    return (struct tls_conf){
        .keystore = {.type = "PEM", .certificates = c->chain},
        .key = c->key,
        .truststore = {.type = "PEM", .certificates = trusted->ca},
    };
}
