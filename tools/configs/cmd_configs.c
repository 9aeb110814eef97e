/*
 * cmd_configs.c - kafka-configs: its command line, its checks in their order, its exit codes
 */
#include "common/base/err.h"
#include "common/base/mem.h"
#include "tools/base/java.h"
#include "tools/configs/configs.h"

#include <netdb.h>
#include <stdarg.h>

enum { CALL_MS = 30000 };

static const struct opt_spec specs[] = {
    [CONFIGS_BOOTSTRAP] = {"bootstrap-server", "host:port,...", "the cluster to connect to", 0,
                           'b'},
    [CONFIGS_CONTROLLERS] = {"bootstrap-controller", "host:port,...",
                             "controllers to connect to; those of a cluster with ZooKeeper are "
                             "brokers",
                             OPT_KAFKAS, 0},
    [CONFIGS_ZOOKEEPER] = {"zookeeper", "host:port,.../chroot",
                           "ZooKeeper, where no broker is up yet: SCRAM credentials of users, "
                           "settings of brokers that are down",
                           0, 0},
    [CONFIGS_CONFIG_FILE] = {"command-config", "file",
                             "client properties: security.protocol, ssl.*, timeouts", 0, 0},
    [CONFIGS_ZK_TLS_FILE] = {"zk-tls-config-file", "file",
                             "zookeeper.ssl.* properties for --zookeeper", 0, 0},
    [CONFIGS_ALTER] = {"alter", NULL, "change settings", 0, 0},
    [CONFIGS_DESCRIBE] = {"describe", NULL, "print settings", 0, 0},
    [CONFIGS_ALL] = {"all", NULL, "also those that are set elsewhere, and defaults", 0, 0},
    [CONFIGS_TYPE] = {"entity-type", "type",
                      "topics, clients, users, brokers, ips, broker-loggers, client-metrics; users "
                      "and clients may stand together",
                      0, 0},
    [CONFIGS_NAME] = {"entity-name", "name", "the one that is meant", 0, 0},
    [CONFIGS_DEFAULT] = {"entity-default", NULL, "what counts for all that have none of their own",
                         0, 0},
    [CONFIGS_TOPIC] = {"topic", "topic", "a topic", 0, 't'},
    [CONFIGS_CLIENT] = {"client", "client id", "a client", 0, 0},
    [CONFIGS_USER] = {"user", "user", "a user", 0, 0},
    [CONFIGS_BROKER] = {"broker", "id", "a broker", 0, 0},
    [CONFIGS_LOGGER] = {"broker-logger", "id", "the loggers of a broker", 0, 0},
    [CONFIGS_IP] = {"ip", "address", "an address", 0, 0},
    [CONFIGS_CLIENT_DEFAULTS] = {"client-defaults", NULL, "all clients", 0, 0},
    [CONFIGS_USER_DEFAULTS] = {"user-defaults", NULL, "all users", 0, 0},
    [CONFIGS_BROKER_DEFAULTS] = {"broker-defaults", NULL, "all brokers", 0, 0},
    [CONFIGS_IP_DEFAULTS] = {"ip-defaults", NULL, "all addresses", 0, 0},
    [CONFIGS_ADD] = {"add-config", "k1=v1,k2=[a,b]",
                     "settings to set; square brackets hold a value with commas together", 0, 0},
    [CONFIGS_ADD_FILE] = {"add-config-file", "file", "the same, as a properties file", 0, 0},
    [CONFIGS_DELETE] = {"delete-config", "k1,k2", "settings to take back", 0, 0},
    [CONFIGS_FORCE] = {"force", NULL, "set names that nothing has, too", 0, 0},
    [CONFIGS_DRY_RUN] = {"dry-run", NULL, "check, and say what would change, and change nothing",
                         OPT_OURS, 0},
    [CONFIGS_OUTPUT] = {"output", "table|json", "how to print", OPT_OURS, 'o'},
    [CONFIGS_HELP] = {"help", NULL, "show this", 0, 'h'},
    [CONFIGS_VERSION] = {"version", NULL, "print the version of Kafka that this follows", 0, 0},
};

static const struct opts_def def = {
    "show and change settings of topics and brokers, quotas, SCRAM credentials", specs,
    ARRAY_LEN(specs)};

/* ---- failures ---- */

int configs_refused(struct configs *c, int16_t error, struct str message)
{
    CLEANUP(strbuf_deinit) struct strbuf name = {0};
    struct str words = str_is_null(message) ? cluster_error_text(error, STR_NULL) : message;

    cluster_exception(error, &name);
    strbuf_addf(&c->exception,
                "java.util.concurrent.ExecutionException: org.apache.kafka.common.errors.%s: %.*s\n"
                "Caused by: org.apache.kafka.common.errors.%s: %.*s",
                name.s, STR_ARG(words), name.s, STR_ARG(words));
    if (error == UNKNOWN_TOPIC_OR_PARTITION && words.len == 0 && c->names.count)
        strbuf_addf(&c->why, "there is no topic %s", c->names.v[0]);
    else
        strbuf_add_str(&c->why, cluster_error_text(error, message));
    return error;
}

int configs_lost(struct configs *c, int r, const char *api)
{
    if (r != -EPROTONOSUPPORT) {
        strbuf_addz(&c->exception, "java.util.concurrent.TimeoutException");
        return r;
    }
    strbuf_addf(
        &c->exception,
        "java.util.concurrent.ExecutionException: "
        "org.apache.kafka.common.errors.UnsupportedVersionException: The node does not "
        "support %s\nCaused by: org.apache.kafka.common.errors.UnsupportedVersionException: "
        "The node does not support %s",
        api, api);
    if (c->why.len == 0)
        strbuf_addf(&c->why, "The broker does not support %s", api);
    return r;
}

int configs_throw(struct configs *c, const char *exception, const char *fmt, ...)
{
    char *CLEANUP(free_p) text = NULL;
    va_list ap;

    va_start(ap, fmt);
    if (vasprintf(&text, fmt, ap) < 0)
        abort();
    va_end(ap);
    strbuf_addf(&c->exception, "%s: %s", exception, text);
    strbuf_addz(&c->why, text);
    return -EIO;
}

int configs_check_drop(struct configs *c, const struct texts *set)
{
    const struct texts bad = texts_filter(&c->arena, &c->drop, set, false);

    if (bad.count == 0)
        return 0;
    strbuf_addz(&c->why, c->as_kafka ? "Invalid config(s): " : "not set, so not to be deleted: ");
    texts_join(&bad, ",", &c->why);
    return -EINVAL;
}

static int fail(struct configs *c)
{
    const struct invocation *inv = c->o->inv;

    if (!c->as_kafka || c->exception.len == 0)
        return tool_fail(inv, "%s", c->why.len ? c->why.s : "");
    fflush(stdout);
    fputs("Error while executing config command with args '", stderr);
    for (int i = 0; i < inv->argc; i++)
        fprintf(stderr, "%s%s", i ? " " : "", inv->argv[i]);
    fprintf(stderr, "'\n%s\n", c->exception.s);
    return TOOL_FAILED;
}

/* ---- checks that need nothing but the command line ---- */

static int refuse(struct configs *c, const char *fmt, ...) PRINTF_LIKE(2, 3);

static int refuse(struct configs *c, const char *fmt, ...)
{
    char *CLEANUP(free_p) text = NULL;
    va_list ap;

    va_start(ap, fmt);
    if (vasprintf(&text, fmt, ap) < 0)
        abort();
    va_end(ap);
    strbuf_addz(&c->why, text);
    return -EINVAL;
}

static bool has_type(const struct configs *c, const char *type)
{
    return texts_has(&c->types, type);
}

static int check_doubles(struct configs *c)
{
    CLEANUP(strbuf_deinit) struct strbuf twice = {0};

    for (size_t i = 0; i < c->types.count; i++) {
        const struct texts before = {c->types.v, i};
        if (texts_has(&before, c->types.v[i]))
            strbuf_addf(&twice, "%s%s", twice.len ? "," : "", c->types.v[i]);
    }
    return twice.len ? refuse(c, "Duplicate entity type(s) specified: %s", twice.s) : 0;
}

static int check_types(struct configs *c)
{
    static const char *const by_brokers[] = {TYPE_TOPICS, TYPE_CLIENTS, TYPE_USERS,  TYPE_BROKERS,
                                             TYPE_IPS,    TYPE_LOGGERS, TYPE_METRICS};
    static const char *const by_zookeeper[] = {TYPE_USERS, TYPE_BROKERS};
    bool asks_brokers = opts_has(c->o, CONFIGS_BOOTSTRAP) || opts_has(c->o, CONFIGS_CONTROLLERS);
    const struct texts allowed = {(const char **)(asks_brokers ? by_brokers : by_zookeeper),
                                  asks_brokers ? ARRAY_LEN(by_brokers) : ARRAY_LEN(by_zookeeper)};

    for (size_t i = 0; i < c->types.count; i++) {
        if (texts_has(&allowed, c->types.v[i]))
            continue;
        strbuf_addf(&c->why, "Invalid entity type %s, the entity type must be one of ",
                    c->types.v[i]);
        texts_join(&allowed, ", ", &c->why);
        strbuf_addf(&c->why, " with a %s argument",
                    asks_brokers ? "--bootstrap-server or --bootstrap-controller" : "--zookeeper");
        return -EINVAL;
    }
    if (c->types.count == 0)
        return refuse(c, "At least one entity type must be specified");
    if (c->types.count > 1 &&
        (c->types.count > 2 || !has_type(c, TYPE_USERS) || !has_type(c, TYPE_CLIENTS)))
        return refuse(c, "Only 'users' and 'clients' entity types may be specified together");
    return 0;
}

static int check_shortcuts(struct configs *c)
{
    bool is_long = opts_has(c->o, CONFIGS_TYPE) || opts_has(c->o, CONFIGS_NAME) ||
                   opts_has(c->o, CONFIGS_DEFAULT);

    for (int id = CONFIGS_TOPIC; is_long && id <= CONFIGS_IP_DEFAULTS; id++) {
        if (opts_has(c->o, id))
            return refuse(c, "--entity-{type,name,default} should not be used in conjunction with "
                             "specific entity flags");
    }
    return 0;
}

static int check_addresses(struct configs *c)
{
    bool by_zookeeper = opts_has(c->o, CONFIGS_ZOOKEEPER);
    int n = opts_has(c->o, CONFIGS_BOOTSTRAP) + opts_has(c->o, CONFIGS_CONTROLLERS) + by_zookeeper;

    if (n == 0)
        return refuse(c, "One of the required --bootstrap-server, --boostrap-controller, or "
                         "--zookeeper arguments must be specified");
    if (n > 1)
        return refuse(c,
                      "Only one of --bootstrap-server, --boostrap-controller, and --zookeeper can "
                      "be specified");
    if (by_zookeeper && opts_has(c->o, CONFIGS_ALL))
        return refuse(c, "--bootstrap-server must be specified for --all");
    if (!by_zookeeper && opts_has(c->o, CONFIGS_ZK_TLS_FILE))
        return refuse(c, "Only the --zookeeper option can be used with the --zk-tls-config-file "
                         "option.");
    return 0;
}

static bool is_broker_id(const char *name)
{
    int32_t id;

    return str_to_i32(str_of(name), INT32_MIN, INT32_MAX, &id) == 0;
}

static bool is_address(const char *name)
{
    struct addrinfo *found = NULL;
    bool is_known = strcmp(name, "<default>") == 0 || getaddrinfo(name, NULL, NULL, &found) == 0;

    if (found)
        freeaddrinfo(found);
    return is_known;
}

/* The names of these flags, which ends with -1, must be of that kind. */
static int check_names(struct configs *c, const int *flags, bool (*is_fine)(const char *name),
                       const char *what)
{
    for (; *flags >= 0; flags++) {
        const char *name;
        int r = opts_text(c->o, *flags, &name, &c->why);

        if (r < 0)
            return r;
        if (name && !is_fine(name)) {
            strbuf_addf(&c->why, "The entity name for %s must be a valid %s, but it is: %s",
                        c->types.v[0], what, name);
            return -EINVAL;
        }
    }
    return 0;
}

static bool has_named(const struct configs *c)
{
    for (size_t i = 0; i < c->names.count; i++) {
        if (*c->names.v[i])
            return true;
    }
    return false;
}

static int check_entities(struct configs *c)
{
    static const int brokers[] = {CONFIGS_NAME, CONFIGS_BROKER, CONFIGS_LOGGER, -1};
    static const int ips[] = {CONFIGS_NAME, CONFIGS_IP, -1};
    bool is_named = has_named(c);
    int r = 0;

    if (is_named && (has_type(c, TYPE_BROKERS) || has_type(c, TYPE_LOGGERS)))
        r = check_names(c, brokers, is_broker_id, "integer broker id");
    if (r == 0 && is_named && has_type(c, TYPE_IPS))
        r = check_names(c, ips, is_address, "IP or resolvable host");
    if (r == 0 && opts_has(c->o, CONFIGS_DESCRIBE) && has_type(c, TYPE_LOGGERS) && !is_named)
        r = refuse(c, "an entity name must be specified with --describe of %s", c->types.v[0]);
    return r;
}

static int check_alter(struct configs *c)
{
    bool may_be_default = has_type(c, TYPE_USERS) || has_type(c, TYPE_CLIENTS) ||
                          has_type(c, TYPE_BROKERS) || has_type(c, TYPE_IPS);
    bool adds = opts_has(c->o, CONFIGS_ADD), adds_file = opts_has(c->o, CONFIGS_ADD_FILE);

    if (!opts_has(c->o, CONFIGS_ALTER))
        return 0;
    if (may_be_default && c->names.count == 0)
        return refuse(c,
                      "an entity-name or default entity must be specified with --alter of users, "
                      "clients, brokers or ips");
    if (!may_be_default && !has_named(c))
        return refuse(c, "an entity name must be specified with --alter of %s", c->types.v[0]);
    if (adds && adds_file)
        return refuse(c, "Only one of --add-config or --add-config-file must be specified");
    if (!adds && !adds_file && !opts_has(c->o, CONFIGS_DELETE))
        return refuse(c,
                      "At least one of --add-config, --add-config-file, or --delete-config must be "
                      "specified with --alter");
    return 0;
}

/* What Kafka's tool checks, in its order. */
static int check_args(struct configs *c)
{
    int r;

    configs_entity_types(c->o, &c->arena, &c->types);
    r = check_doubles(c);
    r = r ? r : check_types(c);
    r = r ? r : check_shortcuts(c);
    r = r ? r : configs_entity_names(c->o, &c->arena, &c->names, &c->why);
    r = r ? r : check_addresses(c);
    r = r ? r : check_entities(c);
    return r ? r : check_alter(c);
}

/* ---- settings to add and to delete ---- */

static int load_file(struct configs *c, const char *path)
{
    CLEANUP(props_deinit) struct props p = {0};
    int line = 0, r = props_load(&p, path, &line);

    if (r == -ENOENT)
        return configs_throw(c, "java.nio.file.NoSuchFileException", "%s", path);
    if (r < 0 && line) {
        strbuf_addf(&c->why, "%s:%d: not a line of a properties file (--add-config-file)", path,
                    line);
        return r;
    }
    if (r < 0)
        return configs_throw(c, "java.nio.file.FileSystemException", "%s: %s", path, strerror(-r));
    java_properties_sort(&p); /* Kafka's tool puts the one table into another */
    props_add(&c->add, &p);
    return 0;
}

static int read_settings(struct configs *c)
{
    const char *text;
    int r = opts_text(c->o, CONFIGS_ADD_FILE, &text, &c->why);

    r = r == 0 && text ? load_file(c, text) : r;
    r = r ? r : opts_text(c->o, CONFIGS_ADD, &text, &c->why);
    r = r == 0 && text ? configs_parse_add(text, &c->add, &c->why) : r;
    r = r ? r : configs_check_keys(&c->add, &c->why);
    if (r)
        return r;
    java_properties_sort(&c->add);
    configs_parse_drop(c->o, &c->arena, &c->drop);
    text = props_get(&c->add, "message.format.version");
    if (text && c->as_kafka)
        printf("WARNING: The configuration message.format.version=%s is specified. This "
               "configuration will be ignored if the version is newer than the "
               "inter.broker.protocol.version specified in the broker or if the "
               "inter.broker.protocol.version is 3.0 or newer. This configuration is deprecated "
               "and it will be removed in Apache Kafka 4.0.\n",
               text);
    return 0;
}

/* ---- with brokers ---- */

/* What has settings; the others have quotas. */
static bool is_resource(const char *type)
{
    return strcmp(type, TYPE_USERS) != 0 && strcmp(type, TYPE_CLIENTS) != 0 &&
           strcmp(type, TYPE_IPS) != 0;
}

static int alter(struct configs *c)
{
    const char *type = c->types.v[0];
    int r = 0;

    if (c->types.count != c->names.count)
        r = refuse(c, "An entity name must be specified for every entity type");
    r = r ? r : read_settings(c);
    if (r)
        return r;
    if (strcmp(type, TYPE_USERS) == 0 || strcmp(type, TYPE_CLIENTS) == 0)
        r = configs_alter_users(c);
    else
        r = strcmp(type, TYPE_IPS) == 0 ? configs_alter_ips(c) : configs_alter_resource(c);
    if (r || !c->as_kafka)
        return r;
    if (*c->names.v[0])
        printf("Completed updating config for %.*s %s.\n", STR_ARG(configs_singular(type)),
               c->names.v[0]);
    else
        printf("Completed updating default config for %s in the cluster.\n", type);
    return 0;
}

static int describe(struct configs *c)
{
    CLEANUP(table_deinit) struct table t = {0};
    const char *type = c->types.v[0];
    bool is_user = strcmp(type, TYPE_USERS) == 0;

    if (is_resource(type))
        return configs_describe_resource(c);
    int r = configs_describe_quotas(c, &t);
    if (r == 0 && is_user && !has_type(c, TYPE_CLIENTS) && !texts_has(&c->names, ""))
        r = configs_describe_scram(c, &t);
    if (r == 0 && !c->as_kafka)
        configs_print_table(c, &t);
    return r;
}

/* Brokers of a cluster with ZooKeeper are no controllers, and say so: Kafka's tool finds out when
 * it has begun. */
static int ask_controllers(struct configs *c)
{
    bool has_head = c->as_kafka && c->names.count && opts_has(c->o, CONFIGS_DESCRIBE) &&
                    is_resource(c->types.v[0]);
    struct describe_cluster_request m;
    const struct cluster_call call = {"describeCluster", SEED_ANY, API_DESCRIBE_CLUSTER, 1, &m};
    const void *got;

    if (has_head)
        configs_print_head(c->types.v[0], c->names.v[0], opts_has(c->o, CONFIGS_ALL), stdout);
    msg_init(&describe_cluster_request_desc, &m);
    m.endpoint_type = 2;
    cluster_start(c->cluster);
    int r = cluster_call(c->cluster, &call, &c->arena, &got, &c->why);
    if (r < 0)
        return configs_lost(c, r, "DESCRIBE_CLUSTER");
    const struct describe_cluster_response *response = got;
    return configs_refused(c, response->error_code ? response->error_code : UNSUPPORTED_VERSION,
                           response->error_message);
}

static int fail_to_open(struct configs *c, const struct cluster_opts *co, int r)
{
    CLEANUP(strbuf_deinit) struct strbuf why = c->why;

    c->why = (struct strbuf){0};
    if (r == -ENOENT && co->config_file)
        configs_throw(c, "java.nio.file.NoSuchFileException", "%s", co->config_file);
    else
        strbuf_addf(&c->exception,
                    "org.apache.kafka.common.KafkaException: Failed to create new "
                    "KafkaAdminClient\nCaused by: org.apache.kafka.common.config.ConfigException: "
                    "%s",
                    why.s);
    strbuf_reset(&c->why);
    strbuf_add_str(&c->why, strbuf_str(&why));
    return r;
}

static int ask_brokers(struct configs *c)
{
    bool to_controllers = opts_has(c->o, CONFIGS_CONTROLLERS);
    struct cluster_opts co = {.inv = c->o->inv, .api_timeout_ms = CALL_MS};
    int r = opts_text(c->o, CONFIGS_CONFIG_FILE, &co.config_file, &c->why);

    r = r ? r
          : opts_text(c->o, to_controllers ? CONFIGS_CONTROLLERS : CONFIGS_BOOTSTRAP, &co.bootstrap,
                      &c->why);
    if (r < 0)
        return r;
    r = cluster_open(&co, &c->why, &c->cluster);
    if (r < 0)
        return fail_to_open(c, &co, r);
    if (to_controllers)
        return ask_controllers(c);
    return opts_has(c->o, CONFIGS_ALTER) ? alter(c) : describe(c);
}

/* ---- with ZooKeeper ---- */

static int ask_zookeeper(struct configs *c)
{
    const char *connect;
    int r = 0;

    if (c->as_kafka)
        puts("Warning: --zookeeper is deprecated and will be removed in a future version of "
             "Kafka.\nUse --bootstrap-server instead to specify a broker to connect to.");
    r = opts_text(c->o, CONFIGS_ZOOKEEPER, &connect, &c->why);
    if (r == 0 && opts_has(c->o, CONFIGS_ALTER))
        r = read_settings(c);
    return r ? r : configs_zookeeper(c, connect);
}

static int run(struct configs *c)
{
    int r = opts_has(c->o, CONFIGS_ZOOKEEPER) ? ask_zookeeper(c) : ask_brokers(c);

    return r == 0 ? tool_done(c->o->inv) : fail(c);
}

static int check_and_run(struct configs *c)
{
    static const int with_alter[] = {CONFIGS_DESCRIBE, -1};
    static const int with_describe[] = {CONFIGS_ALTER, CONFIGS_ADD, CONFIGS_DELETE, -1};
    int r = 0;

    if (opts_has(c->o, CONFIGS_ALTER) + opts_has(c->o, CONFIGS_DESCRIBE) != 1)
        r = refuse(c, "Command must include exactly one action: --describe, --alter");
    r = r ? r : opts_exclude(c->o, CONFIGS_ALTER, with_alter, &c->why);
    r = r ? r : opts_exclude(c->o, CONFIGS_DESCRIBE, with_describe, &c->why);
    r = r ? r : opts_json(c->o, CONFIGS_OUTPUT, &c->as_json, &c->why);
    if (r < 0)
        return opts_usage(c->o, c->why.s);
    r = check_args(c);
    return r < 0 ? tool_misused(c->o->inv, "%s", c->why.s) : run(c);
}

int cmd_configs(const struct invocation *inv)
{
    CLEANUP(opts_deinit) struct opts o = {0};
    struct configs c = {.o = &o, .as_kafka = inv->as_kafka};
    int code;

    if (opts_parse(&o, &def, inv, &c.why) < 0) {
        code = tool_misused(inv, "%s", c.why.s);
    } else if (!opts_answered(&o, CONFIGS_HELP, CONFIGS_VERSION, &code)) {
        c.is_dry = opts_has(&o, CONFIGS_DRY_RUN);
        code = check_and_run(&c);
    }
    cluster_close(c.cluster);
    props_deinit(&c.add);
    arena_deinit(&c.arena);
    strbuf_deinit(&c.why);
    strbuf_deinit(&c.exception);
    return code;
}
