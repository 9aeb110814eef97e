#include "broker/config/dynamic_keys.h"

#include "broker/config/broker_conf.h"
#include "common/base/mem.h"
#include "common/base/say.h"

#include <errno.h>

/* Settings of replication quotas: nobody's option, known only here. */
static const struct conf_option throttle_options[] = {
    {"leader.replication.throttled.rate",
     CONF_LONG,
     "9223372036854775807",
     {CONF_AT_LEAST},
     CONF_MEDIUM,
     CONF_CLUSTER_WIDE,
     -1},
    {"follower.replication.throttled.rate",
     CONF_LONG,
     "9223372036854775807",
     {CONF_AT_LEAST},
     CONF_MEDIUM,
     CONF_CLUSTER_WIDE,
     -1},
    {"replica.alter.log.dirs.io.max.bytes.per.second",
     CONF_LONG,
     "9223372036854775807",
     {CONF_AT_LEAST},
     CONF_MEDIUM,
     CONF_CLUSTER_WIDE,
     -1},
};

/* Different names of one setting, the one that counts first. */
static const char *const families[][KEY_NAMES_MAX] = {
    {"log.roll.ms", "log.roll.hours"},
    {"log.roll.jitter.ms", "log.roll.jitter.hours"},
    {"log.retention.ms", "log.retention.minutes", "log.retention.hours"},
};

/* Stores and passwords of TLS can be changed for one listener only. */
static const char *const store_keys[] = {
    "ssl.keystore.type",       "ssl.keystore.location",
    "ssl.keystore.password",   "ssl.key.password",
    "ssl.truststore.type",     "ssl.truststore.location",
    "ssl.truststore.password", "ssl.keystore.certificate.chain",
    "ssl.keystore.key",        "ssl.truststore.certificates",
};

/* A listener's keys that may be set for all brokers at once. */
static const char *const limit_keys[] = {"max.connections", "max.connection.creation.rate",
                                         "num.network.threads"};

/* "listener.name.external.plain.sasl.jaas.config": a mechanism stands between. */
static const char *const mechanism_keys[] = {
    "sasl.jaas.config",          "sasl.login.callback.handler.class",
    "sasl.login.class",          "sasl.server.callback.handler.class",
    "connections.max.reauth.ms",
};

static bool is_one_of(const char *key, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(key, list[i]) == 0)
            return true;
    }
    return false;
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);

    return n >= m && strcmp(text + n - m, end) == 0;
}

static const struct conf_option *exact_option(const char *key)
{
    const struct conf_option *o = conf_find(broker_options, broker_option_count, str_of(key));

    return o ? o : conf_find(throttle_options, ARRAY_LEN(throttle_options), str_of(key));
}

/* What follows "listener.name.<listener>.". */
static const char *after_listener(const char *key)
{
    static const char prefix[] = "listener.name.";
    const char *dot;

    if (strncmp(key, prefix, sizeof prefix - 1) != 0)
        return NULL;
    dot = strchr(key + sizeof prefix - 1, '.');
    return dot ? dot + 1 : NULL;
}

const char *broker_key_base(const char *key)
{
    const char *base = after_listener(key);

    for (size_t i = 0; base && i < ARRAY_LEN(mechanism_keys); i++) {
        if (ends_with(base, mechanism_keys[i]))
            return mechanism_keys[i];
    }
    return base;
}

const struct conf_option *broker_key_option(const char *key)
{
    const struct conf_option *o = exact_option(key);
    const char *base = o ? NULL : broker_key_base(key);

    return base ? exact_option(base) : o;
}

size_t broker_key_names(const char *key, bool with_base, const char *ret[KEY_NAMES_MAX])
{
    const char *base = with_base ? broker_key_base(key) : NULL;
    size_t n = 0;

    for (size_t i = 0; i < ARRAY_LEN(families); i++) {
        if (!is_one_of(key, families[i], families[i][2] ? 3 : 2))
            continue;
        for (; n < KEY_NAMES_MAX && families[i][n]; n++)
            ret[n] = families[i][n];
        return n;
    }
    ret[n++] = key;
    if (strcmp(key, "log.flush.interval.ms") == 0)
        ret[n++] = "log.flush.scheduler.interval.ms";
    else if (base)
        ret[n++] = base;
    return n;
}

bool broker_key_is_dynamic(const char *key)
{
    const struct conf_option *o = conf_find(broker_options, broker_option_count, str_of(key));

    return o && o->mode != CONF_READ_ONLY;
}

bool broker_key_is_password(const char *key)
{
    for (size_t i = 0; i < broker_option_count; i++) {
        const struct conf_option *o = &broker_options[i];

        if (o->type == CONF_PASSWORD && o->mode != CONF_READ_ONLY && ends_with(key, o->key))
            return true;
    }
    return false;
}

/* ---- the rules ---- */

static bool is_fixed(const char *key)
{
    return conf_find(broker_options, broker_option_count, str_of(key)) &&
           !broker_key_is_dynamic(key);
}

static bool is_general_store(const char *key)
{
    return is_one_of(key, store_keys, ARRAY_LEN(store_keys));
}

bool listener_key_is_dynamic(const char *base)
{
    return is_general_store(base) || is_one_of(base, limit_keys, ARRAY_LEN(limit_keys));
}

/* Makes sense for one broker only. */
static bool is_own(const char *key)
{
    const struct conf_option *o = exact_option(key);
    const char *base = after_listener(key);

    if (base)
        return !is_one_of(base, limit_keys, ARRAY_LEN(limit_keys));
    return o && o->mode == CONF_PER_BROKER;
}

static int refuse_keys(const struct props *p, bool (*is_wrong)(const char *key), const char *words,
                       const char *set, struct strbuf *why)
{
    int n = 0;

    for (size_t i = 0; i < p->count; i++) {
        if (!is_wrong(p->v[i].key))
            continue;
        if (n++ == 0)
            strbuf_addf(why, "%s: %s(", words, set);
        strbuf_addf(why, "%s%s", n > 1 ? ", " : "", p->v[i].key);
    }
    if (n == 0)
        return 0;
    strbuf_add_char(why, ')');
    return -EINVAL;
}

static int check_value(const struct props *p, const struct conf_option *o, struct strbuf *why)
{
    for (size_t i = 0; i < p->count; i++) {
        const char *base = after_listener(p->v[i].key);

        if (strcmp(base ? base : p->v[i].key, o->key) != 0)
            continue;
        int r = conf_validate(o, str_of(p->v[i].value), why);
        if (r < 0)
            return r;
    }
    return 0;
}

static int check_values(const struct props *p, struct strbuf *why)
{
    int r = 0;

    for (size_t i = 0; i < broker_option_count && r == 0; i++)
        r = check_value(p, &broker_options[i], why);
    for (size_t i = 0; i < ARRAY_LEN(throttle_options) && r == 0; i++)
        r = check_value(p, &throttle_options[i], why);
    return r;
}

int dynamic_props_check(const struct props *p, bool is_per_broker, struct strbuf *why)
{
    int r = refuse_keys(p, is_fixed, "Cannot update these configs dynamically", "Set", why);

    if (r == 0)
        r = refuse_keys(p, is_general_store,
                        "These security configs can be dynamically updated only per-listener using "
                        "the listener prefix",
                        "HashSet", why);
    if (r == 0)
        r = check_values(p, why);
    if (r == 0 && !is_per_broker)
        r = refuse_keys(p, is_own,
                        "Cannot update these configs at default cluster level, broker id must be "
                        "specified",
                        "Set", why);
    return r;
}

void dynamic_props_clean(struct props *p, bool is_per_broker)
{
    for (size_t i = p->count; i-- > 0;) {
        CLEANUP(strbuf_deinit) struct strbuf why = {0};
        struct props one = {&p->v[i], 1, 1};

        if (dynamic_props_check(&one, is_per_broker, &why) == 0)
            continue;
        say_error("a setting in ZooKeeper (/config/brokers) cannot be used and is passed over: %s",
                  why.s);
        CLEANUP(free_p) char *key = xstrdup(p->v[i].key);
        props_remove(p, key);
    }
}
