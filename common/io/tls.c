#include "common/io/tls.h"

#include "common/base/err.h"
#include "common/base/lock.h"
#include "common/base/mem.h"
#include "common/io/tls_internal.h"

#include <arpa/inet.h>
#include <openssl/x509v3.h>

/* A context that may be exchanged: who makes a session of it holds the lock for that moment. */
struct shared_ctx {
    struct mutex lock; /* LOCK_TLS; guards what follows */
    SSL_CTX *ctx;
};

struct tls_server {
    struct shared_ctx shared;
};

struct tls_client {
    struct shared_ctx shared;
    bool checks_host;
};

static void free_bio(BIO **bio)
{
    BIO_free(*bio);
}

static void free_names(GENERAL_NAMES **names)
{
    GENERAL_NAMES_free(*names);
}

static void free_x509(X509 **x)
{
    X509_free(*x);
}

static void shared_init(struct shared_ctx *s, SSL_CTX *ctx)
{
    mutex_init(&s->lock, LOCK_TLS);
    s->ctx = ctx;
}

static void shared_deinit(struct shared_ctx *s)
{
    SSL_CTX_free(s->ctx);
    mutex_deinit(&s->lock);
}

static SSL *shared_session(const struct shared_ctx *shared)
{
    struct shared_ctx *s = (struct shared_ctx *)(uintptr_t)shared;
    LOCK_SCOPE(&s->lock);

    return SSL_new(s->ctx);
}

static void shared_renew(struct shared_ctx *s, struct shared_ctx *with)
{
    WITH_LOCK(&s->lock)
    {
        SSL_CTX *old = s->ctx;

        s->ctx = with->ctx;
        with->ctx = old;
    }
}

static const struct {
    const char *name;
    int version;
    uint64_t off;
} protocols[] = {
    {"TLSv1.2", TLS1_2_VERSION, SSL_OP_NO_TLSv1_2},
    {"TLSv1.3", TLS1_3_VERSION, SSL_OP_NO_TLSv1_3},
};

static int set_protocols(SSL_CTX *ctx, const char *list, struct strbuf *why)
{
    struct str rest = str_of(list && *list ? list : "TLSv1.2,TLSv1.3"), part;
    uint64_t off = SSL_OP_NO_TLSv1_2 | SSL_OP_NO_TLSv1_3;

    while (str_split(&rest, ',', &part)) {
        part = str_trim(part);
        for (size_t i = 0; i < ARRAY_LEN(protocols); i++)
            off &= str_eqz(part, protocols[i].name) ? ~protocols[i].off : ~(uint64_t)0;
    }
    if (off == (SSL_OP_NO_TLSv1_2 | SSL_OP_NO_TLSv1_3)) {
        strbuf_addf(why, "ssl.enabled.protocols=%s names neither TLSv1.2 nor TLSv1.3", list);
        return -EINVAL;
    }
    SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
    SSL_CTX_set_options(ctx, off);
    return 0;
}

static void add_to_list(struct strbuf *list, struct str item)
{
    if (list->len)
        strbuf_add_char(list, ':');
    strbuf_add_str(list, item);
}

static int set_ciphers(SSL_CTX *ctx, const char *suites, struct strbuf *why)
{
    CLEANUP(strbuf_deinit) struct strbuf old = {0};
    CLEANUP(strbuf_deinit) struct strbuf tls13 = {0};
    struct str rest = str_of(suites), part;

    if (!suites || !*suites)
        return 0;
    while (str_split(&rest, ',', &part)) {
        part = str_trim(part);
        CLEANUP(free_p) char *name = str_dup(part);
        const char *ours = OPENSSL_cipher_name(name);

        if (strstr(name, "_WITH_"))
            add_to_list(&old, ours && strcmp(ours, "(NONE)") != 0 ? str_of(ours) : part);
        else if (part.len)
            add_to_list(&tls13, part);
    }
    bool is_fine = (!old.len || SSL_CTX_set_cipher_list(ctx, old.s) == 1) &&
                   (!tls13.len || SSL_CTX_set_ciphersuites(ctx, tls13.s) == 1);
    if (is_fine)
        return 0;
    strbuf_addf(why, "ssl.cipher.suites=%s: ", suites);
    tls_add_error(why);
    return -EINVAL;
}

static void free_ctx(SSL_CTX **ctx)
{
    SSL_CTX_free(*ctx);
}

static int make_ctx(const struct tls_conf *conf, const SSL_METHOD *method, struct strbuf *why,
                    SSL_CTX **ret)
{
    CLEANUP(free_ctx) SSL_CTX *ctx = SSL_CTX_new(method);
    int r;

    if (!ctx) {
        tls_add_error(why);
        return -ENOMEM;
    }
    /* An idle connection gives its record buffers back; a retried write may come from another
     * address. */
    SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                              SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF |
                                 SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION);
    SSL_CTX_set_num_tickets(ctx, 0);
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    r = set_protocols(ctx, conf->enabled_protocols, why);
    if (r == 0)
        r = set_ciphers(ctx, conf->cipher_suites, why);
    if (r == 0)
        r = tls_load_trust(conf, ctx, why);
    if (r == 0)
        *ret = TAKE(ctx);
    return r;
}

int tls_server_new(const struct tls_conf *conf, struct strbuf *why, struct tls_server **ret)
{
    static const int verify[] = {
        [TLS_CLIENT_AUTH_NONE] = SSL_VERIFY_NONE,
        [TLS_CLIENT_AUTH_REQUESTED] = SSL_VERIFY_PEER,
        [TLS_CLIENT_AUTH_REQUIRED] = SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
    };
    CLEANUP(free_ctx) SSL_CTX *ctx = NULL;
    bool has_key = false;
    int r = make_ctx(conf, TLS_server_method(), why, &ctx);

    if (r == 0)
        r = tls_load_key(conf, ctx, why, &has_key);
    if (r == 0 && !has_key) {
        strbuf_addz(why,
                    "an SSL listener needs a key: set ssl.keystore.location or ssl.keystore.key");
        r = -EINVAL;
    }
    if (r < 0)
        return r;
    SSL_CTX_set_verify(ctx, verify[conf->client_auth], NULL);
    struct tls_server *t = xnew(struct tls_server);
    shared_init(&t->shared, TAKE(ctx));
    *ret = t;
    return 0;
}

struct tls_server *tls_server_free(struct tls_server *t)
{
    if (t)
        shared_deinit(&t->shared);
    free(t);
    return NULL;
}

int tls_client_new(const struct tls_conf *conf, struct strbuf *why, struct tls_client **ret)
{
    CLEANUP(free_ctx) SSL_CTX *ctx = NULL;
    bool has_key;
    int r = make_ctx(conf, TLS_client_method(), why, &ctx);

    if (r == 0)
        r = tls_load_key(conf, ctx, why, &has_key);
    if (r < 0)
        return r;
    SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
    struct tls_client *t = xnew(struct tls_client);
    shared_init(&t->shared, TAKE(ctx));
    t->checks_host = !conf->endpoint_identification || *conf->endpoint_identification;
    *ret = t;
    return 0;
}

struct tls_client *tls_client_free(struct tls_client *t)
{
    if (t)
        shared_deinit(&t->shared);
    free(t);
    return NULL;
}

/* Borrowed from a context that nobody exchanges meanwhile. */
static X509 *certificate_of(const struct shared_ctx *s)
{
    return SSL_CTX_get0_certificate(s->ctx);
}

static void add_name(struct strbuf *out, X509 *x)
{
    CLEANUP(free_bio) BIO *bio = BIO_new(BIO_s_mem());
    char *text = NULL;

    if (!bio || X509_NAME_print_ex(bio, X509_get_subject_name(x), 0, XN_FLAG_RFC2253) < 0)
        return;
    long n = BIO_get_mem_data(bio, &text);
    strbuf_add_str(out, (struct str){text, (size_t)MAX(n, 0L)});
}

static bool has_alternative(const GENERAL_NAMES *names, GENERAL_NAME *wanted)
{
    for (int i = 0; i < sk_GENERAL_NAME_num(names); i++) {
        if (GENERAL_NAME_cmp(sk_GENERAL_NAME_value(names, i), wanted) == 0)
            return true;
    }
    return false;
}

/* A certificate without any has NULL, of which there are -1. */
static bool has_alternatives_of(X509 *next, X509 *old)
{
    CLEANUP(free_names)
    GENERAL_NAMES *now = X509_get_ext_d2i(next, NID_subject_alt_name, NULL, NULL);
    CLEANUP(free_names)
    GENERAL_NAMES *before = X509_get_ext_d2i(old, NID_subject_alt_name, NULL, NULL);

    for (int i = 0; i < sk_GENERAL_NAME_num(before); i++) {
        if (!now || !has_alternative(now, sk_GENERAL_NAME_value(before, i)))
            return false;
    }
    return true;
}

static int compare(X509 *old, X509 *next, const struct tls_renewal *may, struct strbuf *why)
{
    static const char failed[] = "Validation of dynamic config update of SSLFactory failed: "
                                 "org.apache.kafka.common.config.ConfigException: Keystore ";

    if (!may->may_change_name &&
        X509_NAME_cmp(X509_get_subject_name(old), X509_get_subject_name(next)) != 0) {
        strbuf_addf(why, "%sDistinguishedName does not match: existing={DN=", failed);
        add_name(why, old);
        strbuf_addz(why, "}, new={DN=");
        add_name(why, next);
        strbuf_addz(why, "}");
        return -EINVAL;
    }
    if (!may->may_drop_alternatives && !has_alternatives_of(next, old)) {
        strbuf_addf(why,
                    "%sSubjectAltNames do not match: the new certificate lacks some of those "
                    "of the existing one (DN=",
                    failed);
        add_name(why, old);
        strbuf_addz(why, ")");
        return -EINVAL;
    }
    return 0;
}

int tls_server_check_renewal(const struct tls_server *t, const struct tls_server *with,
                             const struct tls_renewal *may, struct strbuf *why)
{
    struct shared_ctx *s = (struct shared_ctx *)(uintptr_t)&t->shared;
    CLEANUP(free_x509) X509 *old = NULL;

    WITH_LOCK(&s->lock)
    {
        old = certificate_of(s);
        if (old)
            X509_up_ref(old);
    }
    X509 *next = certificate_of(&with->shared);
    return old && next ? compare(old, next, may, why) : 0;
}

void tls_server_renew(struct tls_server *t, struct tls_server *with)
{
    shared_renew(&t->shared, &with->shared);
    tls_server_free(with);
}

void tls_client_renew(struct tls_client *t, struct tls_client *with)
{
    shared_renew(&t->shared, &with->shared);
    tls_client_free(with);
}

SSL *tls_server_session(const struct tls_server *t)
{
    return shared_session(&t->shared);
}

SSL *tls_client_session(const struct tls_client *t, const char *host)
{
    SSL *ssl = shared_session(&t->shared);
    struct in6_addr ip;
    bool is_ip = inet_pton(AF_INET, host, &ip) == 1 || inet_pton(AF_INET6, host, &ip) == 1;

    if (!ssl)
        return NULL;
    if (!is_ip)
        SSL_set_tlsext_host_name(ssl, host);
    if (t->checks_host && is_ip)
        X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host);
    else if (t->checks_host)
        SSL_set1_host(ssl, host);
    return ssl;
}
