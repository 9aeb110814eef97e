#include "tools/base/cluster.h"

#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/base/props.h"
#include "common/io/tls.h"

#include <inttypes.h>
#include <stdio.h>
#include <strings.h>
#include <time.h>

enum { BACKOFF_MS = 100, BACKOFF_MAX_MS = 1000 };

struct cluster {
    const struct invocation *inv;
    char *bootstrap, *client_id;
    struct tls_client *tls;
    bool patient;      /* tries again for the whole time */
    bool tries_once;   /* a lost connection ends the call */
    struct seed *seed; /* NULL: not connected yet */
    int64_t request_timeout_ms, api_timeout_ms;
    int64_t deadline_ms, backoff_ms;
    int attempts;
};

static int set_number(const struct props *p, const char *key, int64_t *ret, struct strbuf *why)
{
    const char *text = props_get(p, key);

    if (!text)
        return 0;
    if (str_to_i64(str_trim(str_of(text)), 0, INT32_MAX, ret) == 0)
        return 0;
    strbuf_addf(why, "Invalid value %s for configuration %s: Not a number of type INT", text, key);
    return -EINVAL;
}

static int set_tls(struct cluster *c, const struct props *p, struct strbuf *why)
{
    const char *identification = props_get(p, "ssl.endpoint.identification.algorithm");
    const struct tls_conf conf = {
        .keystore = {props_get(p, "ssl.keystore.type"), props_get(p, "ssl.keystore.location"),
                     props_get(p, "ssl.keystore.password"),
                     props_get(p, "ssl.keystore.certificate.chain")},
        .truststore = {props_get(p, "ssl.truststore.type"), props_get(p, "ssl.truststore.location"),
                       props_get(p, "ssl.truststore.password"),
                       props_get(p, "ssl.truststore.certificates")},
        .key = props_get(p, "ssl.keystore.key"),
        .key_password = props_get(p, "ssl.key.password"),
        .enabled_protocols = props_get(p, "ssl.enabled.protocols"),
        .cipher_suites = props_get(p, "ssl.cipher.suites"),
        .endpoint_identification = identification ? identification : "https",
    };

    return tls_client_new(&conf, why, &c->tls);
}

static int set_security(struct cluster *c, const struct props *p, struct strbuf *why)
{
    const char *protocol = props_get(p, "security.protocol");

    if (!protocol || strcasecmp(protocol, "PLAINTEXT") == 0)
        return 0;
    if (strcasecmp(protocol, "SSL") == 0)
        return set_tls(c, p, why);
    strbuf_addf(why, "security.protocol=%s: PLAINTEXT or SSL is possible here", protocol);
    return -EINVAL;
}

static int read_config(struct cluster *c, const struct cluster_opts *opts, struct strbuf *why)
{
    const char *path = opts->config_file;
    const char *flag = opts->config_flag ? opts->config_flag : "command-config";
    CLEANUP(props_deinit) struct props p = {0};
    int line = 0, r = props_load(&p, path, &line);

    if (r < 0) {
        if (line)
            strbuf_addf(why, "%s:%d: not a line of a properties file (--%s)", path, line, flag);
        else
            strbuf_addf(why, "%s: %s (--%s)", path, strerror(-r), flag);
        return r;
    }
    r = set_number(&p, "request.timeout.ms", &c->request_timeout_ms, why);
    r = r < 0 ? r : set_number(&p, "default.api.timeout.ms", &c->api_timeout_ms, why);
    r = r < 0 ? r : set_security(c, &p, why);
    if (r == 0 && props_get(&p, "client.id")) {
        free(c->client_id);
        c->client_id = xstrdup(props_get(&p, "client.id"));
    }
    return r;
}

/* Kafka's words for a bad list; whether there are such hosts is found out when connecting. */
static int check_bootstrap(const char *text, struct strbuf *why)
{
    struct str rest = str_of(text), item;
    int count = 0;
    int32_t port;

    while (str_split(&rest, ',', &item)) {
        item = str_trim(item);
        if (item.len == 0)
            continue;
        const char *colon = memrchr(item.p, ':', item.len);
        struct str digits =
            colon ? (struct str){colon + 1, item.len - (size_t)(colon + 1 - item.p)} : STR_NULL;
        if (!colon || colon == item.p || str_to_i32(digits, 1, UINT16_MAX, &port) < 0) {
            strbuf_addf(why, "Invalid url in bootstrap.servers: %.*s", STR_ARG(item));
            return -EINVAL;
        }
        count++;
    }
    if (count > 0)
        return 0;
    strbuf_addz(why, "You must set either bootstrap.servers or bootstrap.controllers");
    return -EINVAL;
}

int cluster_open(const struct cluster_opts *opts, struct strbuf *why, struct cluster **ret)
{
    CLEANUP(cluster_close_p) struct cluster *c = xnew(struct cluster);
    int r = 0;

    c->inv = opts->inv;
    c->patient = opts->inv->as_kafka && !opts->once;
    c->client_id = xstrdup("adminclient-1");
    c->bootstrap = xstrdup(opts->bootstrap);
    c->request_timeout_ms = opts->request_timeout_ms ? opts->request_timeout_ms : 30000;
    c->api_timeout_ms = opts->api_timeout_ms ? opts->api_timeout_ms : 60000;
    if (opts->config_file)
        r = read_config(c, opts, why);
    if (opts->timeout_ms)
        c->api_timeout_ms = opts->timeout_ms;
    if (opts->tries_once)
        c->request_timeout_ms = c->api_timeout_ms;
    c->tries_once = opts->tries_once;
    r = r < 0 ? r : check_bootstrap(opts->bootstrap, why);
    if (r < 0)
        return r;
    *ret = TAKE(c);
    return 0;
}

int cluster_refused(const struct cluster_opts *opts, int r, const char *why)
{
    if (!opts->inv->as_kafka)
        return tool_fail(opts->inv, "%s", why);
    if (opts->config_file && r == -ENOENT)
        return tool_fail(opts->inv, "%s%s\n%s", opts->said_first ? opts->said_first : "",
                         opts->config_file, why);
    return tool_fail(opts->inv, "%sFailed to create new KafkaAdminClient\nCaused by: %s",
                     opts->said_first ? opts->said_first : "", why);
}

struct cluster *cluster_close(struct cluster *c)
{
    if (!c)
        return NULL;
    seed_close(c->seed);
    tls_client_free(c->tls);
    free(c->bootstrap);
    free(c->client_id);
    free(c);
    return NULL;
}

void cluster_close_p(struct cluster **c)
{
    *c = cluster_close(*c);
}

int32_t cluster_request_timeout_ms(const struct cluster *c)
{
    return (int32_t)MIN(c->request_timeout_ms, c->api_timeout_ms);
}

void cluster_start(struct cluster *c)
{
    c->deadline_ms = clock_mono_ms(&clock_system) + c->api_timeout_ms;
    c->backoff_ms = BACKOFF_MS;
    c->attempts = 0;
}

/* False when the time is over. */
static bool wait_a_little(struct cluster *c)
{
    int64_t left = c->deadline_ms - clock_mono_ms(&clock_system);

    if (left <= 0)
        return false;
    int64_t ms = MIN(c->backoff_ms, left);
    const struct timespec ts = {ms / 1000, (ms % 1000) * 1000000};
    nanosleep(&ts, NULL);
    c->backoff_ms = MIN(c->backoff_ms * 2, (int64_t)BACKOFF_MAX_MS);
    return true;
}

/* Kafka's tools say so while they try again and again. */
static void say_unreachable(const struct cluster *c, const struct strbuf *why)
{
    if (c->patient)
        fprintf(stderr, "WARN %s, trying again\n", why->s);
}

static int connect_once(struct cluster *c, struct strbuf *why)
{
    const struct seed_opts opts = {
        .bootstrap = c->bootstrap,
        .client_id = c->client_id,
        .tls = c->tls,
        .timeout_us = cluster_request_timeout_ms(c) * INT64_C(1000),
    };

    return seed_open(&opts, why, &c->seed);
}

/* Where nobody answers as expected, the setting that it may be. */
static const char *hint(const struct cluster *c, int r)
{
    if (c->tls && r == -EPROTO)
        return "; is the certificate trusted, and the listener one with TLS? (ssl.truststore.* in "
               "--command-config)";
    if (!c->tls && (r == -ECONNRESET || r == -EBADMSG || r == -EMSGSIZE))
        return "; is it a listener with TLS? (security.protocol in --command-config)";
    if (r == -EHOSTUNREACH)
        return "; is the name of the host right? (--bootstrap-server)";
    return " (--bootstrap-server)";
}

/*
 * As Kafka's tool it tries for the whole time, as our own it says at once that nobody is there.
 */
static int connect_cluster(struct cluster *c, const char *call, struct strbuf *why)
{
    CLEANUP(strbuf_deinit) struct strbuf reason = {0};

    if (c->seed)
        return 0;
    for (;;) {
        strbuf_reset(&reason);
        int r = connect_once(c, &reason);
        if (r == 0)
            return 0;
        if (!c->patient) {
            strbuf_addf(why, "%s%s", reason.s, hint(c, r));
            return r;
        }
        say_unreachable(c, &reason);
        if (!wait_a_little(c)) {
            strbuf_addf(why, "Timed out waiting for a node assignment. Call: %s", call);
            return -ETIMEDOUT;
        }
    }
}

bool cluster_is_lost(int r)
{
    return r == -ECONNRESET || r == -ECONNREFUSED || r == -EHOSTUNREACH || r == -EPIPE ||
           r == -ENOTCONN || r == -ETIMEDOUT;
}

static int give_up(const struct cluster *c, const struct cluster_call *call, int r,
                   struct strbuf *why)
{
    char broker[24];
    const char *to = seed_address(c->seed);

    if (call->to >= 0) {
        snprintf(broker, sizeof broker, "broker %d", call->to);
        to = broker;
    }
    if (r == -EPROTONOSUPPORT)
        strbuf_addf(why, "The broker does not support %s", call->name);
    else if (cluster_is_lost(r))
        strbuf_addf(why, "Call %s to %s timed out after %d attempt(s): %s", call->name, to,
                    c->attempts, err_name(r));
    else
        strbuf_addf(why, "Call %s to %s: %s", call->name, to, err_name(r));
    return r;
}

static void drop_arena(void *obj)
{
    arena_deinit(obj);
}

int cluster_call(struct cluster *c, const struct cluster_call *call, struct arena *a,
                 const void **ret, struct strbuf *why)
{
    struct arena *answer = arena_new(a, struct arena);
    int r = connect_cluster(c, call->name, why);

    if (r < 0)
        return r;
    arena_hold(a, answer, drop_arena);
    for (;;) {
        int64_t left = c->deadline_ms - clock_mono_ms(&clock_system);
        struct rpc_request q = {.api_key = call->api_key,
                                .version = call->version,
                                .message = call->request,
                                .timeout_us = MAX(left, 1) * 1000};
        q.timeout_us = MIN(q.timeout_us, c->request_timeout_ms * 1000);
        c->attempts++;
        r = seed_call(c->seed, call->to, &q, answer, ret);
        if (r == 0)
            return 0;
        arena_deinit(answer);
        if (call->is_once || c->tries_once || !cluster_is_lost(r) || !wait_a_little(c))
            return give_up(c, call, r, why);
        (void)!seed_refresh(c->seed); /* where it fails, the next attempt says so */
    }
}

bool cluster_again(struct cluster *c, int16_t error)
{
    switch (error) {
    case NOT_CONTROLLER:
    case COORDINATOR_LOAD_IN_PROGRESS:
    case NETWORK_EXCEPTION:
    case REQUEST_TIMED_OUT:
        break;
    default:
        return false;
    }
    return cluster_wait(c);
}

bool cluster_wait(struct cluster *c)
{
    if (!wait_a_little(c))
        return false;
    if (c->seed)
        (void)!seed_refresh(c->seed); /* where it fails, the next attempt says so */
    return true;
}

int cluster_metadata(struct cluster *c, struct str topic, struct arena *a,
                     const struct metadata_response **ret, struct strbuf *why)
{
    struct metadata_request_topic one;
    struct metadata_request m;
    const struct cluster_call call = {"listTopics", SEED_ANY, API_METADATA, 12, &m};
    const void *response;

    msg_init(&metadata_request_desc, &m);
    struct_init(&metadata_request_topic_desc, &one);
    one.name = topic;
    m.allow_auto_topic_creation = false;
    m.topics = &one;
    m.topics_count = str_is_null(topic) ? -1 : topic.len > 0;
    cluster_start(c);
    int r = cluster_call(c, &call, a, &response, why);
    if (r == 0)
        *ret = response;
    return r;
}
