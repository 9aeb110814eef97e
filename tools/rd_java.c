/*
 * rd_java.c - a client properties file of Kafka's, in librdkafka's words
 *
 * Most keys have the same name. Stores differ: what Java calls a trust store of type PEM is
 * ssl.ca.location here, a key store of type PEM a certificate and a key in one file; a PKCS#12 key
 * store is taken as it is, a PKCS#12 trust store cannot be.
 */
#include "common/base/mem.h"
#include "common/base/props.h"
#include "tools/rd.h"

#include <errno.h>

static bool is_pem(const struct props *p, const char *key)
{
    const char *type = props_get(p, key);
    return type && strcmp(type, "PEM") == 0;
}

/* Sets key where the file has java_key. */
static int move(struct rd *rd, const struct props *p, const char *java_key, const char *key,
                struct strbuf *why)
{
    const char *value = props_get(p, java_key);
    return value ? rd_set(rd, key, value, why) : 0;
}

static int set_trust(struct rd *rd, const struct props *p, struct strbuf *why)
{
    if (props_get(p, "ssl.truststore.location") && !is_pem(p, "ssl.truststore.type")) {
        strbuf_addz(why, "ssl.truststore.type: producing and consuming take PEM only; openssl "
                         "pkcs12 -in FILE -nokeys -out ca.pem makes it");
        return -EINVAL;
    }
    int r = move(rd, p, "ssl.truststore.location", "ssl.ca.location", why);
    return r < 0 ? r : move(rd, p, "ssl.truststore.certificates", "ssl.ca.pem", why);
}

static int set_key(struct rd *rd, const struct props *p, struct strbuf *why)
{
    bool pem = is_pem(p, "ssl.keystore.type");
    int r;

    if (pem) {
        r = move(rd, p, "ssl.keystore.location", "ssl.certificate.location", why);
        r = r < 0 ? r : move(rd, p, "ssl.keystore.location", "ssl.key.location", why);
    } else {
        r = move(rd, p, "ssl.keystore.location", "ssl.keystore.location", why);
        r = r < 0 ? r : move(rd, p, "ssl.keystore.password", "ssl.keystore.password", why);
    }
    r = r < 0 ? r : move(rd, p, "ssl.keystore.certificate.chain", "ssl.certificate.pem", why);
    r = r < 0 ? r : move(rd, p, "ssl.keystore.key", "ssl.key.pem", why);
    return r < 0 ? r : move(rd, p, "ssl.key.password", "ssl.key.password", why);
}

/* The text behind key=" in a JAAS line. */
static int set_from_jaas(struct rd *rd, const char *jaas, const char *key, const char *rd_key,
                         struct strbuf *why)
{
    CLEANUP(free_p) char *wanted = xasprintf("%s=\"", key);
    const char *at = strstr(jaas, wanted), *end = at ? strchr(at + strlen(wanted), '"') : NULL;

    if (!end)
        return 0;
    at += strlen(wanted);
    CLEANUP(free_p) char *value = xstrndup(at, (size_t)(end - at));
    return rd_set(rd, rd_key, value, why);
}

static int set_sasl(struct rd *rd, const struct props *p, struct strbuf *why)
{
    const char *jaas = props_get(p, "sasl.jaas.config");
    int r = jaas ? set_from_jaas(rd, jaas, "username", "sasl.username", why) : 0;

    return r < 0 || !jaas ? r : set_from_jaas(rd, jaas, "password", "sasl.password", why);
}

static int set_identification(struct rd *rd, const struct props *p, struct strbuf *why)
{
    const char *algorithm = props_get(p, "ssl.endpoint.identification.algorithm");

    if (!algorithm)
        return 0;
    return rd_set(rd, "ssl.endpoint.identification.algorithm", *algorithm ? algorithm : "none",
                  why);
}

int rd_configure_java(struct rd *rd, const char *path, struct strbuf *why)
{
    static const char *const same[] = {
        "acks",
        "client.id",
        "client.rack",
        "compression.type",
        "linger.ms",
        "batch.size",
        "security.protocol",
        "sasl.mechanism",
        "isolation.level",
        "max.request.size",
        "ssl.cipher.suites",
        "enable.idempotence",
    };
    CLEANUP(props_deinit) struct props p = {0};
    int line = 0, r = props_load(&p, path, &line);

    if (r < 0) {
        strbuf_addf(why, "%s: %s (--command-config)", path,
                    line ? "not a properties file" : strerror(-r));
        return -EINVAL;
    }
    for (size_t i = 0; r == 0 && i < ARRAY_LEN(same); i++) {
        const char *key = strcmp(same[i], "max.request.size") == 0 ? "message.max.bytes" : same[i];
        r = move(rd, &p, same[i], key, why);
    }
    r = r < 0 ? r : set_identification(rd, &p, why);
    r = r < 0 ? r : set_trust(rd, &p, why);
    r = r < 0 ? r : set_key(rd, &p, why);
    return r < 0 ? r : set_sasl(rd, &p, why);
}
