/*
 * tls_store.c - reads key and trust stores, PEM and PKCS#12 (see tls.h), into a context
 */
#include "common/io/tls_internal.h"

#include "common/base/be.h"
#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/io/fs.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>

enum { MAX_STORE_BYTES = 4 << 20 };

static const uint32_t jks_magic = 0xfeedfeed, jceks_magic = 0xcececece;

static bool is_set(const char *s)
{
    return s && *s;
}

static void free_bio(BIO **b)
{
    BIO_free(*b);
}

static void free_cert(X509 **c)
{
    X509_free(*c);
}

static void free_certs(STACK_OF(X509) * *s)
{
    sk_X509_pop_free(*s, X509_free);
}

static void free_pkcs12(PKCS12 **p)
{
    PKCS12_free(*p);
}

void tls_add_error(struct strbuf *why)
{
    unsigned long e = ERR_get_error();
    const char *reason = e ? ERR_reason_error_string(e) : NULL;

    strbuf_addz(why, reason ? reason : "unknown reason");
    ERR_clear_error();
}

/* What a store held: a key with its chain, the leaf first, or certificates alone. */
struct contents {
    EVP_PKEY *key;
    STACK_OF(X509) * certs;
};

static void contents_deinit(struct contents *c)
{
    EVP_PKEY_free(c->key);
    sk_X509_pop_free(c->certs, X509_free);
    *c = (struct contents){0};
}

static int give_password(char *buf, int size, int writing UNUSED, void *password)
{
    const char *p = password ? password : "";
    int len = (int)strlen(p);

    if (len > size)
        return -1;
    memcpy(buf, p, (size_t)len);
    return len;
}

static BIO *bio_on(struct str text)
{
    return BIO_new_mem_buf(text.p, (int)text.len);
}

static int read_pem_certs(struct str text, const char *what, struct contents *c, struct strbuf *why)
{
    CLEANUP(free_bio) BIO *in = bio_on(text);
    X509 *cert;

    while ((cert = PEM_read_bio_X509(in, NULL, give_password, NULL)) != NULL)
        sk_X509_push(c->certs, cert);
    ERR_clear_error(); /* the end of the text is one, too */
    if (sk_X509_num(c->certs) > 0)
        return 0;
    strbuf_addf(why, "%s holds no certificate in PEM form", what);
    return -EINVAL;
}

static int read_pem_key(struct str text, const char *what, const char *password, struct contents *c,
                        struct strbuf *why)
{
    CLEANUP(free_bio) BIO *in = bio_on(text);

    c->key = PEM_read_bio_PrivateKey(in, NULL, give_password, (void *)(uintptr_t)password);
    if (c->key)
        return 0;
    strbuf_addf(why,
                "%s holds no private key that can be read (is ssl.key.password right?): ", what);
    tls_add_error(why);
    return -EINVAL;
}

static int refuse_jks(const char *path, struct strbuf *why)
{
    strbuf_addf(
        why,
        "%s is a JKS key store, which only Java can read; convert it with: keytool -importkeystore "
        "-srckeystore %s -destkeystore %s.p12 -deststoretype PKCS12, and set the type to PKCS12",
        path, path, path);
    return -EINVAL;
}

static int read_pkcs12(struct str bytes, const struct tls_store_conf *conf, struct contents *c,
                       struct strbuf *why)
{
    CLEANUP(free_bio) BIO *in = bio_on(bytes);
    CLEANUP(free_pkcs12) PKCS12 *p12 = d2i_PKCS12_bio(in, NULL);
    CLEANUP(free_cert) X509 *leaf = NULL;
    CLEANUP(free_certs) STACK_OF(X509) *others = NULL;

    if (!p12) {
        strbuf_addf(why, "%s is not a PKCS12 key store: ", conf->location);
        tls_add_error(why);
        return -EINVAL;
    }
    if (!PKCS12_parse(p12, conf->password ? conf->password : "", &c->key, &leaf, &others)) {
        strbuf_addf(why,
                    "%s cannot be opened (is its password right? is it encrypted with an algorithm "
                    "of the last "
                    "century, RC2 or so?): ",
                    conf->location);
        tls_add_error(why);
        return -EINVAL;
    }
    if (leaf)
        sk_X509_push(c->certs, TAKE(leaf));
    while (others && sk_X509_num(others) > 0)
        sk_X509_push(c->certs, sk_X509_shift(others));
    return 0;
}

/* A store that is a file. want_key: of a PEM file, read the key as well. */
static int read_store_file(const struct tls_store_conf *conf, bool want_key,
                           const char *key_password, struct contents *c, struct strbuf *why)
{
    CLEANUP(strbuf_deinit) struct strbuf bytes = {0};
    int r = fs_read_file(conf->location, MAX_STORE_BYTES, &bytes);

    if (r < 0) {
        strbuf_addf(why, "%s cannot be read: %s", conf->location, err_name(r));
        return r;
    }
    struct str text = strbuf_str(&bytes);
    uint32_t magic = text.len >= 4 ? be32_read((const uint8_t *)text.p) : 0;
    if (magic == jks_magic || magic == jceks_magic)
        return refuse_jks(conf->location, why);
    if (!str_eqz(str_of(conf->type), "PEM"))
        return read_pkcs12(text, conf, c, why);
    r = read_pem_certs(text, conf->location, c, why);
    if (r == 0 && want_key)
        r = read_pem_key(text, conf->location, key_password, c, why);
    return r;
}

static int read_keystore(const struct tls_conf *conf, struct contents *c, struct strbuf *why)
{
    if (is_set(conf->keystore.location))
        return read_store_file(&conf->keystore, true, conf->key_password, c, why);
    int r = read_pem_certs(str_of(conf->keystore.certificates), "ssl.keystore.certificate.chain", c,
                           why);
    return r < 0 ? r
                 : read_pem_key(str_of(conf->key), "ssl.keystore.key", conf->key_password, c, why);
}

static bool use_key(SSL_CTX *ctx, const struct contents *c)
{
    if (SSL_CTX_use_certificate(ctx, sk_X509_value(c->certs, 0)) != 1)
        return false;
    for (int i = 1; i < sk_X509_num(c->certs); i++) {
        if (SSL_CTX_add1_chain_cert(ctx, sk_X509_value(c->certs, i)) != 1)
            return false;
    }
    return SSL_CTX_use_PrivateKey(ctx, c->key) == 1 && SSL_CTX_check_private_key(ctx) == 1;
}

int tls_load_key(const struct tls_conf *conf, SSL_CTX *ctx, struct strbuf *why, bool *ret_has_key)
{
    CLEANUP(contents_deinit) struct contents c = {.certs = sk_X509_new_null()};

    if (!is_set(conf->keystore.location) && !is_set(conf->key)) {
        *ret_has_key = false;
        return 0;
    }
    int r = read_keystore(conf, &c, why);
    if (r < 0)
        return r;
    if (!c.key || sk_X509_num(c.certs) == 0) {
        strbuf_addf(why, "%s holds no private key with its certificate", conf->keystore.location);
        return -EINVAL;
    }
    if (!use_key(ctx, &c)) {
        strbuf_addz(why, "the key store's key cannot be used: ");
        tls_add_error(why);
        return -EINVAL;
    }
    *ret_has_key = true;
    return 0;
}

int tls_load_trust(const struct tls_conf *conf, SSL_CTX *ctx, struct strbuf *why)
{
    CLEANUP(contents_deinit) struct contents c = {.certs = sk_X509_new_null()};
    X509_STORE *store = SSL_CTX_get_cert_store(ctx);
    int r;

    /* As in Java, whatever stands in the trust store is trusted, be it an authority or not. */
    X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN);
    if (is_set(conf->truststore.location))
        r = read_store_file(&conf->truststore, false, NULL, &c, why);
    else if (is_set(conf->truststore.certificates))
        r = read_pem_certs(str_of(conf->truststore.certificates), "ssl.truststore.certificates", &c,
                           why);
    else
        r = SSL_CTX_set_default_verify_paths(ctx) == 1 ? 0 : -EINVAL;
    for (int i = 0; r == 0 && i < sk_X509_num(c.certs); i++)
        X509_STORE_add_cert(store, sk_X509_value(c.certs, i));
    ERR_clear_error();
    return r;
}
