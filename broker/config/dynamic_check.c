#include "broker/config/dynamic_check.h"

#include "broker/config/dynamic_keys.h"
#include "broker/config/live_conf.h"
#include "common/base/mem.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* How Kafka wraps the reason why a step is refused. */
#define WRAPPED_BEFORE "Invalid value org.apache.kafka.common.config.ConfigException: "
#define WRAPPED_AFTER  " for configuration Invalid dynamic configuration"

static int refuse(struct strbuf *why, const char *fmt, ...) PRINTF_LIKE(2, 3);

static int refuse(struct strbuf *why, const char *fmt, ...)
{
    char words[2000];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(words, sizeof words, fmt, ap);
    va_end(ap);
    strbuf_addf(why, WRAPPED_BEFORE "%s" WRAPPED_AFTER, words);
    return -EINVAL;
}

static int64_t number_of(const struct broker_conf *c, const char *key, const char *listener)
{
    const char *text = broker_conf_text(c, key, listener);
    int64_t n = 0;
    int r = str_to_i64(str_trim(str_of(text)), INT64_MIN, INT64_MAX, &n);

    return r < 0 ? 0 : n;
}

static int64_t number(const struct broker_conf *c, const char *key)
{
    return number_of(c, key, NULL);
}

/* A pool of threads grows and shrinks by at most a factor of two at a time. */
static int check_threads(const char *key, int64_t from, int64_t to, struct strbuf *why)
{
    static const char words[] = "Dynamic thread count update validation failed for ";

    if (to == from)
        return 0;
    if (to <= 0)
        return refuse(why, "%s%s=%" PRId64 ", value should be at least 1", words, key, to);
    if (to < from / 2)
        return refuse(why,
                      "%s%s=%" PRId64 ", value should be at least half the current value %" PRId64,
                      words, key, to, from);
    if (to > from * 2)
        return refuse(why,
                      "%s%s=%" PRId64 ", value should not be greater than double the current "
                      "value %" PRId64,
                      words, key, to, from);
    return 0;
}

static int check_pools(const struct broker_conf *now, const struct broker_conf *next,
                       struct strbuf *why)
{
    static const char *const keys[] = {"num.io.threads", "num.replica.fetchers",
                                       "num.recovery.threads.per.data.dir", "background.threads"};
    int r = 0;

    for (size_t i = 0; i < ARRAY_LEN(keys) && r == 0; i++)
        r = check_threads(keys[i], number(now, keys[i]), number(next, keys[i]), why);
    return r;
}

/* Each listener may have a number of its own. */
static int check_network_threads(const struct broker_conf *now, const struct broker_conf *next,
                                 struct strbuf *why)
{
    static const char key[] = "num.network.threads";
    int r = 0;

    for (int i = 0; i < now->listener.count && r == 0; i++) {
        const char *name = now->listener.v[i].name;

        r = check_threads(key, number_of(now, key, name), number_of(next, key, name), why);
    }
    return r;
}

static int check_cleaner(const struct broker_conf *now, const struct broker_conf *next,
                         struct strbuf *why)
{
    int64_t from = number(now, "log.cleaner.threads"), to = number(next, "log.cleaner.threads");

    if (to == from)
        return 0;
    if (to < 1)
        return refuse(why, "Log cleaner threads should be at least 1");
    if (to < from / 2)
        return refuse(why,
                      "Log cleaner threads cannot be reduced to less than half the current value "
                      "%" PRId64,
                      from);
    if (to > from * 2)
        return refuse(why,
                      "Log cleaner threads cannot be increased to more than double the current "
                      "value %" PRId64,
                      from);
    return 0;
}

/* Of tiered storage, which is off: the rules hold all the same. */
static int check_local(const char *key, int64_t local, const char *whole_key, int64_t whole,
                       struct strbuf *why)
{
    if (whole == -1 || local == -2)
        return 0;
    if (local == -1)
        return refuse(why,
                      "Invalid value -1 for configuration %s: Value must not be -1 as %s value is "
                      "set as %" PRId64 ".",
                      key, whole_key, whole);
    if (local > whole)
        return refuse(why,
                      "Invalid value %" PRId64
                      " for configuration %s: Value must not be more than %s property value: "
                      "%" PRId64,
                      local, key, whole_key, whole);
    return 0;
}

static int check_retention(const struct broker_conf *next, struct strbuf *why)
{
    int r = check_local("log.local.retention.ms", number(next, "log.local.retention.ms"),
                        "log.retention.ms", next->topic_defaults->retention_ms, why);

    if (r == 0)
        r = check_local("log.local.retention.bytes", number(next, "log.local.retention.bytes"),
                        "log.retention.bytes", MAX(next->topic_defaults->retention_bytes, -1), why);
    return r;
}

/* No plug-in can be loaded; the one that Kafka brings along may be named. */
static int check_reporters(const struct broker_conf *next, struct strbuf *why)
{
    struct str rest = str_of(broker_conf_text(next, "metric.reporters", NULL)), name;
    bool are_known = true;

    while (str_split(&rest, ',', &name)) {
        name = str_trim(name);
        are_known &= name.len == 0 || str_eqz(name, "org.apache.kafka.common.metrics.JmxReporter");
    }
    if (are_known)
        return 0;
    return refuse(why, "Validation of dynamic config update of Set(metric.reporters) failed with "
                       "class class kafka.server.DynamicMetricsReporters");
}

static bool is_same_text(const char *a, const char *b)
{
    return (!a && !b) || (a && b && strcmp(a, b) == 0);
}

static bool is_changed(const struct props *a, const struct props *b, const char *key)
{
    return !is_same_text(props_get(a, key), props_get(b, key));
}

bool listener_has_same_stores(const struct broker_conf *a, const struct broker_conf *b,
                              const char *listener)
{
    for (size_t i = 0; i < broker_option_count; i++) {
        const char *key = broker_options[i].key;

        if (listener_key_is_store(key) &&
            !is_same_text(broker_conf_text(a, key, listener), broker_conf_text(b, key, listener)))
            return false;
    }
    return true;
}

static bool has_store(const struct broker_conf *c, const char *listener, const char *location,
                      const char *text)
{
    return broker_conf_text(c, location, listener) || broker_conf_text(c, text, listener);
}

static bool has_key_store(const struct broker_conf *c, const char *listener)
{
    return has_store(c, listener, "ssl.keystore.location", "ssl.keystore.certificate.chain");
}

static bool has_trust_store(const struct broker_conf *c, const char *listener)
{
    return has_store(c, listener, "ssl.truststore.location", "ssl.truststore.certificates");
}

/* Also of listeners that are taken away with this step: their stores may go with the next one. */
static int check_stores(const struct broker_conf *now, const struct broker_conf *next,
                        struct strbuf *why)
{
    static const char failed[] = "Validation of dynamic config update of SSLFactory failed: "
                                 "org.apache.kafka.common.config.ConfigException: ";

    for (int i = 0; i < now->listener.count; i++) {
        const struct listener_conf *l = &now->listener.v[i];

        if (l->protocol != PROTO_SSL)
            continue;
        if (has_key_store(now, l->name) && !has_key_store(next, l->name))
            return refuse(why,
                          "%sCannot remove the SSL keystore from an existing listener for which a "
                          "keystore was configured.",
                          failed);
        if (!has_trust_store(now, l->name) && has_trust_store(next, l->name))
            return refuse(why,
                          "%sCannot add SSL truststore to an existing listener for which no "
                          "truststore was configured.",
                          failed);
    }
    return 0;
}

/* Whether something that is said of one listener, and is fixed while it is open, is other in b. */
static bool has_fixed_changes(const char *listener, const struct props *a, const struct props *b)
{
    CLEANUP(free_p) char *prefix = xasprintf("listener.name.%s.", listener);
    size_t n = strlen(prefix);

    for (char *p = prefix; *p; p++)
        *p = (char)tolower((unsigned char)*p);
    for (size_t i = 0; i < a->count; i++) {
        const char *key = a->v[i].key;

        if (strncmp(key, prefix, n) == 0 && !listener_key_is_dynamic(key + n) &&
            is_changed(a, b, key))
            return true;
    }
    return false;
}

/* Keys that Kafka's listeners hear of. */
static bool is_of_listeners(const struct conf_option *o)
{
    return o->mode == CONF_PER_BROKER ||
           (o->mode == CONF_CLUSTER_WIDE && listener_key_is_dynamic(o->key));
}

/* Of a listener that is open and stays. */
static int check_listener(const struct conf_snapshot *now, const struct broker_conf *next,
                          const struct listener_conf *l, struct strbuf *why)
{
    const struct listener_conf *open = listeners_find(&now->conf->listener, str_of(l->name));

    if (!open)
        return 0;
    if (has_fixed_changes(l->name, &now->file->props, &next->props) ||
        has_fixed_changes(l->name, &next->props, &now->file->props))
        return refuse(why,
                      "Configs cannot be updated dynamically for existing listener "
                      "ListenerName(%s), restart broker or create a new listener for update",
                      l->name);
    if (open->protocol != l->protocol)
        return refuse(why,
                      "Security protocol cannot be updated for existing listener ListenerName(%s)",
                      l->name);
    return 0;
}

/* As in Kafka these are looked at only when a general key of the listeners changes, and compared
 * with the file. */
static int check_listeners(const struct conf_snapshot *now, const struct broker_conf *next,
                           struct strbuf *why)
{
    bool is_told = false;
    int r = 0;

    for (size_t i = 0; i < broker_option_count; i++)
        is_told |= is_of_listeners(&broker_options[i]) &&
                   is_changed(&now->conf->props, &next->props, broker_options[i].key);
    for (int i = 0; is_told && i < next->listener.count && r == 0; i++)
        r = check_listener(now, next, &next->listener.v[i], why);
    return r;
}

int dynamic_conf_check_stored(const struct conf_snapshot *now, const struct broker_conf *next,
                              struct strbuf *why)
{
    return check_listeners(now, next, why);
}

int dynamic_conf_check(const struct conf_snapshot *now, const struct broker_conf *next,
                       struct strbuf *why)
{
    const struct broker_conf *old = now->conf;
    int r = check_stores(old, next, why);

    if (r == 0)
        r = check_network_threads(old, next, why);
    if (r == 0 && is_changed(&old->props, &next->props, "metric.reporters"))
        r = check_reporters(next, why);
    if (r == 0)
        r = check_pools(old, next, why);
    if (r == 0)
        r = check_cleaner(old, next, why);
    if (r == 0)
        r = check_retention(next, why);
    return r ? r : check_listeners(now, next, why);
}
