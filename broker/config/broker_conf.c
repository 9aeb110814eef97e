#include "broker/config/broker_conf.h"

#include "broker/config/topic_defaults.h"
#include "common/base/mem.h"
#include "common/base/say.h"
#include "common/conf/checks.h"

#include <ctype.h>
#include <errno.h>
#include <strings.h>

const struct conf_option broker_options[] = {
#define OPTION(key, type, dflt, check, importance, mode, field)                                    \
    {(key),                                                                                        \
     CONF_##type,                                                                                  \
     dflt,                                                                                         \
     check,                                                                                        \
     CONF_##importance,                                                                            \
     CONF_##mode,                                                                                  \
     offsetof(struct broker_conf, field)},
#define UNUSED_OPTION(key, type, dflt, check, importance, mode)                                    \
    {(key), CONF_##type, dflt, check, CONF_##importance, CONF_##mode, -1},
#include "broker/config/broker_conf.def"
#undef OPTION
#undef UNUSED_OPTION
};

const size_t broker_option_count = ARRAY_LEN(broker_options);

static const struct conf_option *find_option(const char *key)
{
    return conf_find(broker_options, broker_option_count, str_of(key));
}

struct broker_conf *broker_conf_free(struct broker_conf *c)
{
    if (!c)
        return NULL;
    conf_release(broker_options, broker_option_count, c);
    listeners_deinit(&c->listener);
    for (int i = 0; i < c->dir_count; i++)
        free(c->dirs[i]);
    free(c->dirs);
    topic_conf_unref(c->topic_defaults);
    topic_defaults_free(c->topic_default_texts);
    props_deinit(&c->props);
    free(c);
    return NULL;
}

static bool is_set(const struct broker_conf *c, const char *key)
{
    return props_get(&c->props, key) != NULL;
}

static int refuse(struct strbuf *why, const char *what)
{
    strbuf_addz(why, what);
    return -EINVAL;
}

/* Keys of the other mode that change what the process would be; the rest of them is ignored, as
 * Kafka does. */
static int refuse_kraft(const struct broker_conf *c, struct strbuf *why)
{
    static const char *const keys[] = {
        "process.roles",
        "controller.quorum.voters",
        "controller.quorum.bootstrap.servers",
        "controller.listener.names",
        "metadata.log.dir",
    };

    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        const char *value = props_get(&c->props, keys[i]);

        if (value && *value) {
            strbuf_addf(why,
                        "%s=%s belongs to KRaft mode; this broker runs in ZooKeeper mode only: "
                        "remove the key, and set "
                        "zookeeper.connect",
                        keys[i], value);
            return -EINVAL;
        }
    }
    const char *migration = props_get(&c->props, "zookeeper.metadata.migration.enable");
    if (migration && strcasecmp(migration, "true") == 0)
        return refuse(why, "zookeeper.metadata.migration.enable=true: this broker does not migrate "
                           "to KRaft; remove the key "
                           "to stay on ZooKeeper");
    return 0;
}

/* ---- what would silently be less safe, or different, than the file says ---- */

static int refuse_authorizer(const struct broker_conf *c, struct strbuf *why)
{
    if (!c->authorizer_class_name[0])
        return 0;
    strbuf_addf(why,
                "authorizer.class.name=%s: access control is not served yet, and starting "
                "without it would open the "
                "cluster to everyone; remove the key only if that is wanted",
                c->authorizer_class_name);
    return -EINVAL;
}

static int refuse_sasl(const struct broker_conf *c, struct strbuf *why)
{
    for (int i = 0; i < c->listener.count; i++) {
        if (c->listener.v[i].protocol >= PROTO_SASL_PLAINTEXT) {
            strbuf_addf(why, "listener %s uses %s: SASL is not served yet; use PLAINTEXT or SSL",
                        c->listener.v[i].name, security_protocol_name(c->listener.v[i].protocol));
            return -EINVAL;
        }
    }
    return 0;
}

static int refuse_zookeeper_acl(const struct broker_conf *c, struct strbuf *why)
{
    if (!c->zookeeper_set_acl)
        return 0;
    return refuse(why, "zookeeper.set.acl=true needs an authenticated ZooKeeper session (SASL "
                       "or TLS), which the installed "
                       "client library does not offer; set it to false");
}

static int refuse_providers(const struct broker_conf *c, struct strbuf *why)
{
    for (size_t i = 0; i < c->props.count; i++) {
        const struct prop *p = &c->props.v[i];

        if (strstr(p->value, "${") && is_set(c, "config.providers")) {
            strbuf_addf(why,
                        "line %d: %s takes its value from a config provider, which is not served: "
                        "write the value "
                        "itself, or pass it with --override",
                        p->line, p->key);
            return -EINVAL;
        }
    }
    return 0;
}

typedef int (*refusal_fn)(const struct broker_conf *c, struct strbuf *why);

static const refusal_fn unserved[] = {refuse_authorizer, refuse_sasl, refuse_zookeeper_acl,
                                      refuse_providers};

static int refuse_unserved(const struct broker_conf *c, struct strbuf *why)
{
    int r = 0;

    for (size_t i = 0; i < ARRAY_LEN(unserved) && r == 0; i++)
        r = unserved[i](c, why);
    return r;
}

static int check_broker_id(struct broker_conf *c, struct strbuf *why)
{
    if (is_set(c, "node.id")) {
        if (!is_set(c, "broker.id"))
            c->broker_id = c->node_id;
        else if (c->broker_id != c->node_id)
            return refuse(
                why,
                "broker.id and node.id are two names of one thing and must be equal: remove one");
    }
    if (c->broker_id_generation_enable) {
        if (c->broker_id < -1 || c->broker_id > c->reserved_broker_max_id) {
            strbuf_addf(why,
                        "broker.id=%d must be greater than or equal to -1 and not greater than "
                        "reserved.broker.max.id (%d)",
                        c->broker_id, c->reserved_broker_max_id);
            return -EINVAL;
        }
    } else if (c->broker_id < 0) {
        return refuse(
            why,
            "broker.id must be greater than or equal to 0 (broker.id.generation.enable is false)");
    }
    return 0;
}

static int check_dirs(struct broker_conf *c, struct strbuf *why)
{
    struct str rest = str_of(c->log_dirs ? c->log_dirs : c->log_dir), dir;

    while (str_split(&rest, ',', &dir)) {
        dir = str_trim(dir);
        if (dir.len == 0)
            continue;
        for (int i = 0; i < c->dir_count; i++) {
            if (str_eqz(dir, c->dirs[i])) {
                strbuf_addf(why, "log.dirs names %.*s twice", STR_ARG(dir));
                return -EINVAL;
            }
        }
        c->dirs = xreallocarray(c->dirs, (size_t)c->dir_count + 1, sizeof *c->dirs);
        c->dirs[c->dir_count++] = str_dup(dir);
    }
    if (c->dir_count == 0)
        return refuse(why, "At least one log directory must be defined via log.dirs or log.dir.");
    return 0;
}

static int check_listeners(struct broker_conf *c, struct strbuf *why)
{
    const struct listeners_text text = {
        .listeners = c->listeners,
        .advertised_listeners = c->advertised_listeners,
        .listener_security_protocol_map = c->listener_security_protocol_map,
        .inter_broker_listener_name = c->inter_broker_listener_name,
        .security_inter_broker_protocol = c->security_inter_broker_protocol,
        .is_protocol_set = is_set(c, "security.inter.broker.protocol"),
        .control_plane_listener_name = c->control_plane_listener_name,
    };

    return listeners_parse(&text, &c->listener, why);
}

/* Host names are looked up when the limits are applied. */
static int check_ip_overrides(const struct broker_conf *c, struct strbuf *why)
{
    struct str rest = str_of(c->max_connections_per_ip_overrides), item;

    while (str_split(&rest, ',', &item)) {
        struct str count = str_trim(item);
        const char *colon = count.len ? memrchr(count.p, ':', count.len) : NULL;
        int32_t max;

        if (count.len == 0)
            continue;
        if (colon)
            count = str_trim((struct str){colon + 1, (size_t)(count.p + count.len - colon - 1)});
        if (str_to_i32(count, INT32_MIN, INT32_MAX, &max) == 0)
            continue;
        strbuf_addf(why, "For input string: \"%.*s\"", STR_ARG(count));
        return -EINVAL;
    }
    return 0;
}

static int check_cleaner(const struct broker_conf *c, struct strbuf *why)
{
    if (c->log_cleaner_threads == 0)
        return refuse(why, "/ by zero");
    if (c->log_cleaner_dedupe_buffer_size / c->log_cleaner_threads <= 1 << 20)
        return refuse(why,
                      "requirement failed: log.cleaner.dedupe.buffer.size must be at least 1MB "
                      "per cleaner thread.");
    return 0;
}

static int check_together(const struct broker_conf *c, struct strbuf *why)
{
    if (c->replica_fetch_wait_max_ms > c->replica_socket_timeout_ms)
        return refuse(why,
                      "requirement failed: replica.socket.timeout.ms should be always at least "
                      "replica.fetch.wait.max.ms to prevent "
                      "unnecessary socket timeouts");
    if (c->replica_fetch_wait_max_ms > c->replica_lag_time_max_ms)
        return refuse(
            why,
            "requirement failed: replica.fetch.wait.max.ms should always be less than or equal to "
            "replica.lag.time.max.ms to "
            "prevent frequent changes in ISR");
    if (c->queued_max_request_bytes > 0 &&
        c->queued_max_request_bytes < c->socket_request_max_bytes)
        return refuse(why, "requirement failed: queued.max.request.bytes must be -1 or at least "
                           "socket.request.max.bytes");
    if (c->max_connections_per_ip == 0 && c->max_connections_per_ip_overrides[0] == '\0')
        return refuse(why, "requirement failed: max.connections.per.ip can be set to zero only if "
                           "max.connections.per.ip.overrides property is "
                           "set.");
    if (c->replica_selector_class && *c->replica_selector_class &&
        !strstr(c->replica_selector_class, "RackAwareReplicaSelector") &&
        !strstr(c->replica_selector_class, "LeaderSelector")) {
        strbuf_addf(why,
                    "replica.selector.class=%s is a plug-in that cannot be loaded here; "
                    "org.apache.kafka.common.replica.RackAwareReplicaSelector is built in",
                    c->replica_selector_class);
        return -EINVAL;
    }
    return 0;
}

static int check_zookeeper(struct broker_conf *c, struct strbuf *why)
{
    if (!c->zookeeper_connect || !*c->zookeeper_connect)
        return refuse(
            why, "Missing required configuration `zookeeper.connect` which has no default value.");
    c->connect_timeout_ms = c->zookeeper_connection_timeout_ms == CONF_UNSET_INT
                                ? c->zookeeper_session_timeout_ms
                                : c->zookeeper_connection_timeout_ms;
    return 0;
}

static int parse_version(const char *key, const char *value, enum ibp *ret, struct strbuf *why)
{
    struct str text = str_trim(str_of(value));

    if (ibp_parse(text, ret) == 0)
        return 0;
    strbuf_addf(why, "Invalid value %.*s for configuration %s: Version %.*s is not a valid version",
                STR_ARG(text), key, STR_ARG(text));
    return -EINVAL;
}

/* The other brokers must know the format that is written. */
static int check_message_format(const struct broker_conf *c, struct strbuf *why)
{
    static const char key[] = "log.message.format.version";
    enum ibp version;
    int r = parse_version(key, c->log_message_format_version, &version, why);

    if (r < 0 || ibp_record_version(c->ibp) >= ibp_record_version(version))
        return r;
    struct str least = ibp_line(ibp_of_record_version(ibp_record_version(version)));
    strbuf_addf(why,
                "requirement failed: %s %s can only be used when inter.broker.protocol.version is "
                "set to version %.*s or higher",
                key, c->log_message_format_version, STR_ARG(least));
    return -EINVAL;
}

/* What follows from the keys, and whether they go together. */
static int derive_values(struct broker_conf *c, struct strbuf *why)
{
    int r = parse_version("inter.broker.protocol.version", c->inter_broker_protocol_version,
                          &c->ibp, why);
    if (r == 0)
        r = check_zookeeper(c, why);
    if (r == 0)
        r = check_broker_id(c, why);
    if (r == 0)
        r = check_dirs(c, why);
    if (r == 0)
        r = check_listeners(c, why);
    if (r == 0)
        r = check_together(c, why);
    if (r == 0)
        r = check_ip_overrides(c, why);
    if (r == 0)
        r = check_cleaner(c, why);
    if (r == 0)
        r = check_message_format(c, why);
    return r;
}

static int derive_topics(struct broker_conf *c, struct strbuf *why)
{
    int r = topic_defaults_make(c, &c->topic_default_texts, why);

    return r < 0 ? r : topic_conf_build(c, NULL, 0, &c->topic_defaults, why);
}

static int derive(struct broker_conf *c, struct strbuf *why)
{
    int r = refuse_kraft(c, why);

    if (r == 0)
        r = derive_values(c, why);
    if (r == 0)
        r = refuse_unserved(c, why);
    return r < 0 ? r : derive_topics(c, why);
}

/* Takes the properties over. */
static struct broker_conf *parse(struct props *props, struct strbuf *why)
{
    struct broker_conf *c = xnew(struct broker_conf);
    int r = 0;

    c->props = MOVE(*props);
    conf_set_defaults(broker_options, broker_option_count, c);
    for (size_t i = 0; i < c->props.count && r == 0; i++) {
        const struct prop *p = &c->props.v[i];
        const struct conf_option *o = find_option(p->key);

        if (o)
            r = conf_set(o, c, str_of(p->value), why);
        if (r < 0 && p->line)
            strbuf_addf(why, " (line %d)", p->line);
    }
    return r < 0 ? broker_conf_free(c) : c;
}

int broker_conf_from_props(struct props *props, struct broker_conf **ret, struct strbuf *why)
{
    struct broker_conf *c = parse(props, why);

    if (!c)
        return -EINVAL;
    if (derive(c, why) < 0) {
        broker_conf_free(c);
        return -EINVAL;
    }
    *ret = c;
    return 0;
}

/* ---- files ---- */

static int read_props(const char *path, struct props *ret, struct strbuf *why)
{
    int line = 0;
    int r = props_load(ret, path, &line);

    if (r < 0 && line > 0)
        strbuf_addf(why, "%s: line %d: malformed \\u escape or a NUL byte", path, line);
    else if (r < 0)
        strbuf_addf(why, "%s: cannot be read: %s", path, strerror(-r));
    return r;
}

static int apply_overrides(struct props *props, char *const *overrides, int count,
                           struct strbuf *why)
{
    for (int i = 0; i < count; i++) {
        struct str rest = str_of(overrides[i]), key;

        str_split(&rest, '=', &key);
        if (str_is_null(rest) || str_trim(key).len == 0) {
            strbuf_addf(why, "--override %s: expected key=value", overrides[i]);
            return -EINVAL;
        }
        CLEANUP(free_p) char *name = str_dup(str_trim(key));
        props_set(props, name, rest.p);
    }
    return 0;
}

int broker_conf_load(const char *path, char *const *overrides, int override_count,
                     struct broker_conf **ret, struct strbuf *why)
{
    CLEANUP(props_deinit) struct props props = {0};
    CLEANUP(strbuf_deinit) struct strbuf reason = {0};
    int r = read_props(path, &props, why);

    if (r < 0)
        return r;
    r = apply_overrides(&props, overrides, override_count, why);
    if (r < 0)
        return r;
    r = broker_conf_from_props(&props, ret, &reason);
    if (r < 0)
        strbuf_addf(why, "%s: %s", path, reason.s);
    return r;
}

/* Passes r on; a refusal is told, and the text is empty again. */
static int tell(int r, struct strbuf *why, broker_conf_refused_fn fn, void *ctx)
{
    if (r < 0)
        fn(ctx, why->s ? why->s : strerror(-r));
    strbuf_reset(why);
    return r;
}

struct broker_conf *broker_conf_probe(const char *path, broker_conf_refused_fn fn, void *ctx)
{
    CLEANUP(props_deinit) struct props props = {0};
    CLEANUP(strbuf_deinit) struct strbuf why = {0};

    if (tell(read_props(path, &props, &why), &why, fn, ctx) < 0)
        return NULL;
    struct broker_conf *c = parse(&props, &why);
    if (!c) {
        (void)tell(-EINVAL, &why, fn, ctx);
        return NULL;
    }
    (void)tell(refuse_kraft(c, &why), &why, fn, ctx);
    if (tell(derive_values(c, &why), &why, fn, ctx) < 0)
        return broker_conf_free(c);
    for (size_t i = 0; i < ARRAY_LEN(unserved); i++)
        (void)tell(unserved[i](c, &why), &why, fn, ctx);
    return tell(derive_topics(c, &why), &why, fn, ctx) < 0 ? broker_conf_free(c) : c;
}

const char *broker_conf_text(const struct broker_conf *c, const char *key, const char *listener)
{
    const char *value = NULL;

    if (listener) {
        CLEANUP(free_p) char *prefixed = xasprintf("listener.name.%s.%s", listener, key);

        for (char *p = prefixed + strlen("listener.name."); *p && *p != '.'; p++)
            *p = (char)tolower((unsigned char)*p);
        value = props_get(&c->props, prefixed);
    }
    if (!value)
        value = props_get(&c->props, key);
    if (!value) {
        const struct conf_option *o = find_option(key);

        value = o ? o->default_text : NULL;
    }
    return value;
}

static bool is_family(const char *key)
{
    static const char *const families[] = {"listener.name.",   "authorizer.zookeeper.",
                                           "metrics.context.", "config.providers",
                                           "rsm.config.",      "rlmm.config."};

    for (size_t i = 0; i < ARRAY_LEN(families); i++) {
        if (strncmp(key, families[i], strlen(families[i])) == 0)
            return true;
    }
    return false;
}

enum broker_key_use broker_key_use(const char *key)
{
    const struct conf_option *o = find_option(key);
    bool is_ours = strcmp(key, "zookeeper.digest.auth") == 0; /* zk/zk.h */

    if (o)
        return o->at < 0 ? KEY_UNUSED : KEY_USED;
    return is_ours || is_family(key) ? KEY_USED : KEY_UNKNOWN;
}

void broker_conf_say_unused(const struct broker_conf *c)
{
    CLEANUP(strbuf_deinit) struct strbuf unused = {.max = 3000};
    CLEANUP(strbuf_deinit) struct strbuf unknown = {.max = 3000};

    for (size_t i = 0; i < c->props.count; i++) {
        enum broker_key_use use = broker_key_use(c->props.v[i].key);

        if (use != KEY_USED)
            strbuf_addf(use == KEY_UNUSED ? &unused : &unknown, " %s", c->props.v[i].key);
    }
    if (unused.len)
        say_info("configuration keys that are set and have no effect here (yet):%s", unused.s);
    if (unknown.len)
        say_warn("configuration keys that no 3.9 broker in ZooKeeper mode knows, ignored:%s",
                 unknown.s);
}
