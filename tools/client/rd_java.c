/*
 * rd_java.c - client properties of Kafka's, in librdkafka's words
 *
 * Most keys have the same name. Stores differ: what Java calls a trust store of type PEM is
 * ssl.ca.location here, a key store of type PEM a certificate and a key in one file; a PKCS#12 key
 * store is taken as it is, a PKCS#12 trust store cannot be.
 */
#include "common/base/mem.h"
#include "common/base/props.h"
#include "tools/client/rd.h"

#include <errno.h>
#include <inttypes.h>
#include <strings.h>

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

/* ---- properties one by one ---- */

enum {
    P = BIT(RD_KAFKA_PRODUCER),
    C = BIT(RD_KAFKA_CONSUMER),
    ELSEWHERE = BIT(4), /* dealt with by other code, or without a meaning here: nothing to say */
};

static const struct java_key {
    const char *name;
    const char *rd; /* NULL: the same */
    uint8_t who;
    const char *words; /* the values there are, as Java lists them; NULL: librdkafka checks */
} java_keys[] = {
    {"bootstrap.servers", NULL, P | C, NULL},
    {"client.id", NULL, P | C, NULL},
    {"client.rack", NULL, C, NULL},
    {"security.protocol", NULL, P | C, NULL},
    {"sasl.mechanism", NULL, P | C, NULL},
    {"sasl.kerberos.service.name", NULL, P | C, NULL},
    {"ssl.cipher.suites", NULL, P | C, NULL},
    {"metadata.max.age.ms", NULL, P | C, NULL},
    {"reconnect.backoff.ms", NULL, P | C, NULL},
    {"reconnect.backoff.max.ms", NULL, P | C, NULL},
    {"connections.max.idle.ms", NULL, P | C, NULL},
    {"retry.backoff.ms", NULL, P, NULL},
    {"retry.backoff.ms", NULL, C | ELSEWHERE, NULL},
    {"retry.backoff.max.ms", NULL, P | C | ELSEWHERE, NULL},
    {"send.buffer.bytes", "socket.send.buffer.bytes", P | C, NULL},
    {"receive.buffer.bytes", "socket.receive.buffer.bytes", P | C, NULL},
    {"request.timeout.ms", NULL, P, NULL},
    {"request.timeout.ms", "socket.timeout.ms", C, NULL},
    {"acks", NULL, P, "all, -1, 0, 1"},
    {"compression.type", NULL, P, "none, gzip, snappy, lz4, zstd"},
    {"compression.gzip.level", "compression.level", P, NULL},
    {"compression.lz4.level", "compression.level", P, NULL},
    {"compression.zstd.level", "compression.level", P, NULL},
    {"linger.ms", NULL, P, NULL},
    {"batch.size", NULL, P, NULL},
    {"max.request.size", "message.max.bytes", P, NULL},
    {"max.in.flight.requests.per.connection", NULL, P, NULL},
    {"enable.idempotence", NULL, P, NULL},
    {"retries", NULL, P, NULL},
    {"delivery.timeout.ms", NULL, P, NULL},
    {"transactional.id", NULL, P, NULL},
    {"transaction.timeout.ms", NULL, P, NULL},
    {"buffer.memory", "queue.buffering.max.kbytes", P, NULL},
    {"max.block.ms", NULL, P | ELSEWHERE, NULL},
    {"group.id", NULL, C, NULL},
    {"group.instance.id", NULL, C, NULL},
    {"auto.offset.reset", NULL, C, "latest, earliest, none"},
    {"enable.auto.commit", NULL, C, NULL},
    {"auto.commit.interval.ms", NULL, C, NULL},
    {"session.timeout.ms", NULL, C, NULL},
    {"heartbeat.interval.ms", NULL, C, NULL},
    {"max.poll.interval.ms", NULL, C, NULL},
    {"fetch.min.bytes", NULL, C, NULL},
    {"fetch.max.bytes", NULL, C, NULL},
    {"fetch.max.wait.ms", "fetch.wait.max.ms", C, NULL},
    {"max.partition.fetch.bytes", NULL, C, NULL},
    {"isolation.level", NULL, C, "read_committed, read_uncommitted"},
    {"check.crcs", NULL, C, NULL},
    {"allow.auto.create.topics", NULL, C, NULL},
    {"partition.assignment.strategy", NULL, C, NULL},
    {"exclude.internal.topics", NULL, C | ELSEWHERE, NULL},
    {"max.poll.records", NULL, C | ELSEWHERE, NULL},
    {"default.api.timeout.ms", NULL, C | ELSEWHERE, NULL},
    {"group.remote.assignor", NULL, C | ELSEWHERE, NULL},
    {"group.protocol", NULL, C | ELSEWHERE, NULL},
    {"partitioner.class", NULL, P | ELSEWHERE, NULL},
    {"key.serializer", NULL, P | ELSEWHERE, NULL},
    {"value.serializer", NULL, P | ELSEWHERE, NULL},
    {"key.deserializer", NULL, C | ELSEWHERE, NULL},
    {"value.deserializer", NULL, C | ELSEWHERE, NULL},
    {"enable.metrics.push", NULL, P | C | ELSEWHERE, NULL},
    {"auto.include.jmx.reporter", NULL, P | C | ELSEWHERE, NULL},
    {"ssl.endpoint.identification.algorithm", NULL, P | C | ELSEWHERE, NULL},
    {"sasl.jaas.config", NULL, P | C | ELSEWHERE, NULL},
};

/* The stores, which set_trust() and set_key() read. */
static bool is_store(const char *key)
{
    return strncmp(key, "ssl.keystore.", 13) == 0 || strncmp(key, "ssl.truststore.", 15) == 0 ||
           strcmp(key, "ssl.key.password") == 0;
}

/* What a class of the user's would do cannot be done here, and leaving it out would be silent. */
static bool changes_outcome(const char *key, const char *value)
{
    static const char *const classes[] = {"interceptor.classes",
                                          "partitioner.class",
                                          "sasl.login.callback.handler.class",
                                          "sasl.client.callback.handler.class",
                                          "sasl.login.class",
                                          "security.providers"};

    if (strcmp(value, "org.apache.kafka.clients.producer.internals.DefaultPartitioner") == 0)
        return false; /* is what goes without it */
    for (size_t i = 0; i < ARRAY_LEN(classes); i++) {
        if (strcmp(key, classes[i]) == 0)
            return *value != '\0';
    }
    return strcmp(key, "group.protocol") == 0 && strcasecmp(value, "consumer") == 0;
}

static bool is_listed(const char *words, const char *value)
{
    struct str rest = str_of(words), word;

    while (str_split(&rest, ',', &word)) {
        if (str_eqz(str_trim(word), value))
            return true;
    }
    return false;
}

/* Java's names of the assignors, or the name of a class that has none here. */
static int translate_assignors(const char *value, struct strbuf *ret, struct strbuf *why)
{
    static const char *const names[][2] = {
        {"org.apache.kafka.clients.consumer.RangeAssignor", "range"},
        {"org.apache.kafka.clients.consumer.RoundRobinAssignor", "roundrobin"},
        {"org.apache.kafka.clients.consumer.CooperativeStickyAssignor", "cooperative-sticky"},
    };
    struct str rest = str_of(value), word;

    while (str_split(&rest, ',', &word)) {
        size_t i = 0;
        word = str_trim(word);
        while (i < ARRAY_LEN(names) && !str_eqz(word, names[i][0]))
            i++;
        if (i == ARRAY_LEN(names)) {
            strbuf_addf(why,
                        "partition.assignment.strategy: %.*s is not there, only RangeAssignor, "
                        "RoundRobinAssignor and CooperativeStickyAssignor are",
                        STR_ARG(word));
            return -EINVAL;
        }
        strbuf_addf(ret, "%s%s", ret->len ? "," : "", names[i][1]);
    }
    return 0;
}

/* The value as librdkafka takes it. */
static int translate(const struct java_key *key, const char *value, struct strbuf *ret,
                     struct strbuf *why)
{
    int64_t n;

    if (key->words && !is_listed(key->words, value)) {
        strbuf_addf(why, "Invalid value %s for configuration %s: String must be one of: %s", value,
                    key->name, key->words);
        return -EINVAL;
    }
    if (strcmp(key->name, "partition.assignment.strategy") == 0)
        return translate_assignors(value, ret, why);
    if (strcmp(key->name, "buffer.memory") == 0 && str_to_i64(str_of(value), 0, INT64_MAX, &n) == 0)
        strbuf_addf(ret, "%" PRId64, MAX(n / 1024, (int64_t)1));
    else if (strcmp(key->name, "auto.offset.reset") == 0 && strcmp(value, "none") == 0)
        strbuf_addz(ret, "error");
    else if (key->rd && strncmp(key->rd, "socket.", 7) == 0 && strcmp(value, "-1") == 0)
        strbuf_addz(ret, "0"); /* the system's choice */
    else
        strbuf_addz(ret, value);
    return 0;
}

static int set_java_key(struct rd *rd, const struct java_key *key, const char *value,
                        struct strbuf *why)
{
    CLEANUP(strbuf_deinit) struct strbuf theirs = {0}, text = {0};
    int r = translate(key, value, &text, why);

    if (r < 0)
        return r;
    r = rd_set(rd, key->rd ? key->rd : key->name, strbuf_str(&text).p, &theirs);
    if (r < 0)
        strbuf_addf(why, "Invalid value %s for configuration %s: %s", value, key->name, theirs.s);
    return r;
}

static const struct java_key *find_key(const char *name, rd_kafka_type_t type)
{
    for (size_t i = 0; i < ARRAY_LEN(java_keys); i++) {
        if (strcmp(java_keys[i].name, name) == 0 && java_keys[i].who & BIT(type))
            return &java_keys[i];
    }
    return NULL;
}

static int set_one(struct rd *rd, const struct prop *p, rd_kafka_type_t type, struct strbuf *why)
{
    const struct java_key *key = find_key(p->key, type);
    rd_kafka_type_t other = type == RD_KAFKA_PRODUCER ? RD_KAFKA_CONSUMER : RD_KAFKA_PRODUCER;

    if (changes_outcome(p->key, p->value)) {
        strbuf_addf(why,
                    "%s=%s: this client has no counterpart, and without it the outcome would "
                    "be another",
                    p->key, p->value);
        return -EINVAL;
    }
    if (key)
        return key->who & ELSEWHERE ? 0 : set_java_key(rd, key, p->value, why);
    if (!is_store(p->key) && !find_key(p->key, other))
        fprintf(stderr, "%s: this client has no counterpart, it is left out\n", p->key);
    return 0;
}

int rd_set_java(struct rd *rd, const struct props *p, rd_kafka_type_t type, struct strbuf *why)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < p->count; i++)
        r = set_one(rd, &p->v[i], type, why);
    r = r < 0 ? r : set_identification(rd, p, why);
    r = r < 0 ? r : set_trust(rd, p, why);
    r = r < 0 ? r : set_key(rd, p, why);
    return r < 0 ? r : set_sasl(rd, p, why);
}

int rd_configure_java(struct rd *rd, const char *path, rd_kafka_type_t type, struct strbuf *why)
{
    CLEANUP(props_deinit) struct props p = {0};
    int line = 0, r = props_load(&p, path, &line);

    if (r < 0) {
        strbuf_addf(why, "%s: %s (--command-config)", path,
                    line ? "not a properties file" : strerror(-r));
        return -EINVAL;
    }
    return rd_set_java(rd, &p, type, why);
}

void rd_add_pair(struct props *p, const char *pair)
{
    const char *eq = strchr(pair, '=');
    CLEANUP(free_p) char *key = xstrndup(pair, eq ? (size_t)(eq - pair) : strlen(pair));

    props_set(p, key, eq ? eq + 1 : "");
}

int rd_load_props(struct props *p, const char *path, struct strbuf *why)
{
    int line = 0, r = props_load(p, path, &line);

    if (r == 0)
        return 0;
    strbuf_addz(why, path);
    if (line)
        strbuf_addf(why, ", line %d: not a properties file", line);
    else if (r != -ENOENT)
        strbuf_addf(why, ": %s", strerror(-r));
    return r;
}

void rd_default(struct props *p, const char *key, const char *value)
{
    if (!props_get(p, key))
        props_set(p, key, value);
}
