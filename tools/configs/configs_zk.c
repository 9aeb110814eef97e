/*
 * configs_zk.c - kafka-configs --zookeeper: what must stand in ZooKeeper before brokers start
 *
 * Credentials of users, and settings of brokers that are down, with their passwords sealed. Node
 * and notification are written together: there is no moment between them.
 */
#include "broker/config/dynamic_keys.h"
#include "broker/config/passwords.h"
#include "common/base/mem.h"
#include "common/base/say.h"
#include "tools/base/java.h"
#include "tools/configs/configs.h"
#include "tools/configs/configs_scram.h"
#include "zk/zk.h"
#include "zk/zk_configs.h"
#include "zk/zk_paths.h"

#define DEFAULT_NAME     "<default>"
#define ENCODER          "password.encoder."
#define CONFIG_EXCEPTION "org.apache.kafka.common.config.ConfigException"

enum { KAFKA_TIMEOUT_MS = 30000, OUR_TIMEOUT_MS = 5000 };

struct zk_form {
    struct configs *c;
    struct zk *zk;
    struct zk_store *store;
    const char *type;
    struct str name;      /* as it stands in the path; "" where none is given */
    struct props now;     /* what is there */
    struct props encoder; /* password.encoder.*: used, not stored */
};

/* ---- failures ---- */

static int zk_failed(struct zk_form *f, enum zk_result r, const char *path)
{
    struct configs *c = f->c;

    if (r == ZK_OK)
        return 0;
    if (r != ZK_NO_NODE)
        return configs_throw(c, "org.apache.zookeeper.KeeperException",
                             "KeeperErrorCode = %s for %s", zk_result_name(r), path);
    strbuf_addz(&c->why, c->as_kafka ? "Path length must be > 0"
                                     : "the chroot that --zookeeper names does not exist");
    return -ENOENT;
}

static void add_props(const struct props *p, struct strbuf *out)
{
    for (size_t i = 0; i < p->count; i++)
        strbuf_addf(out, "%s%s=%s", i ? ", " : "", p->v[i].key, p->v[i].value);
}

/* "... option must be specified to update users configs: {add: {..}, delete: List(..)}" */
static void say_refused(struct zk_form *f)
{
    struct configs *c = f->c;
    bool alters = opts_has(c->o, CONFIGS_ALTER);

    strbuf_addf(&c->why, "requirement failed: --bootstrap-server option must be specified to %s %s",
                alters ? "update" : "describe", f->type);
    if (!alters)
        return;
    strbuf_addz(&c->why, " configs: {add: {");
    add_props(&c->add, &c->why);
    strbuf_addf(&c->why, "}, delete: %s(", opts_has(c->o, CONFIGS_DELETE) ? "ArrayBuffer" : "List");
    texts_join(&c->drop, ", ", &c->why);
    strbuf_addz(&c->why, ")}");
}

/* ---- the session ---- */

/* The words in which Kafka's tool does not take an address. */
static int check_address(struct configs *c, const char *connect)
{
    struct str rest = {connect, strcspn(connect, "/")}, item;
    int32_t port;

    if (rest.len == 0) {
        strbuf_addz(&c->why, "A HostProvider may not be empty!");
        return -EINVAL;
    }
    while (str_split(&rest, ',', &item)) {
        const char *colon = item.len ? memrchr(item.p, ':', item.len) : NULL;
        if (!colon || colon == item.p + item.len - 1)
            continue;
        struct str digits = {colon + 1, (size_t)(item.p + item.len - colon - 1)};
        if (str_to_i32(digits, 0, INT32_MAX, &port) < 0) {
            strbuf_addf(&c->why, "For input string: \"%.*s\"", STR_ARG(digits));
            return -EINVAL;
        }
    }
    return 0;
}

static int read_tls(struct configs *c, struct props *p, struct zk_conf *conf)
{
    const char *path, *ssl;
    int line = 0, r = opts_text(c->o, CONFIGS_ZK_TLS_FILE, &path, &c->why);

    if (r < 0 || !path)
        return r;
    r = props_load(p, path, &line);
    if (r == -ENOENT)
        return configs_throw(c, "java.nio.file.NoSuchFileException", "%s", path);
    if (r < 0) {
        strbuf_addf(&c->why, "%s: %s (--zk-tls-config-file)", path, strerror(-r));
        return r;
    }
    ssl = props_get(p, "zookeeper.ssl.client.enable");
    conf->ssl = ssl && strcasecmp(ssl, "true") == 0;
    conf->ssl_truststore = props_get(p, "zookeeper.ssl.truststore.location");
    conf->ssl_keystore = props_get(p, "zookeeper.ssl.keystore.location");
    conf->ssl_key_password = props_get(p, "zookeeper.ssl.keystore.password");
    return 0;
}

/* As our own tool the chroot of a cluster to be is made with its first setting. */
static int open_session(struct zk_form *f, const char *connect)
{
    CLEANUP(props_deinit) struct props tls = {0};
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    struct configs *c = f->c;
    int timeout = c->as_kafka ? KAFKA_TIMEOUT_MS : OUR_TIMEOUT_MS;
    struct zk_conf conf = {
        .connect = connect,
        .session_timeout_ms = KAFKA_TIMEOUT_MS,
        .connection_timeout_ms = timeout,
        .max_in_flight = 10,
        .finds_chroot = c->as_kafka || c->is_dry || !opts_has(c->o, CONFIGS_ALTER),
    };
    int r = check_address(c, connect);

    r = r < 0 ? r : read_tls(c, &tls, &conf);
    if (r < 0)
        return r;
    f->zk = zk_new(&conf);
    r = zk_start(f->zk, &why);
    if (r == 0) {
        f->store = zk_as_store(f->zk);
        return 0;
    }
    if (r == -ETIMEDOUT && c->as_kafka)
        return configs_throw(c, "kafka.zookeeper.ZooKeeperClientTimeoutException",
                             "Timed out waiting for connection while in state: CONNECTING");
    strbuf_add_str(&c->why, strbuf_str(&why));
    return r;
}

/* ---- entities ---- */

/* The path's part for a name as it was given. */
static struct str path_name(struct zk_form *f, const char *name)
{
    struct arena *a = &f->c->arena;

    if (!*name)
        return STR(DEFAULT_NAME);
    if (strcmp(f->type, TYPE_USERS) != 0)
        return str_of(name);
    return strcmp(name, DEFAULT_NAME) == 0 ? STR("%3Cdefault%3E") : node_sanitize(a, str_of(name));
}

static int find_entity(struct zk_form *f)
{
    struct configs *c = f->c;

    f->type = c->types.v[0];
    if (strcmp(f->type, TYPE_USERS) == 0 && opts_has(c->o, CONFIGS_ALTER) &&
        c->names.count != c->types.count) {
        strbuf_addz(&c->why, "--entity-name or --entity-default must be specified with each "
                             "--entity-type for --alter");
        return -EINVAL;
    }
    f->name = c->names.count ? path_name(f, c->names.v[0]) : STR("");
    return 0;
}

/* "user-principal 'alice'", "default brokers" */
static const char *entity_text(struct zk_form *f, struct str name)
{
    struct arena *a = &f->c->arena;
    bool is_user = strcmp(f->type, TYPE_USERS) == 0;
    const char *kind = is_user ? "user-principal" : f->type;
    struct str clear = name;

    if (str_eqz(name, DEFAULT_NAME))
        return arena_strz(a, arena_printf(a, "default %s", kind));
    if (is_user && node_desanitize(a, name, &clear) < 0)
        clear = name;
    return arena_strz(a, arena_printf(a, "%s '%.*s'", kind, STR_ARG(clear)));
}

static int read_entity(struct zk_form *f, struct str name, struct props *ret)
{
    struct node_config node;
    enum zk_result r = zk_config_read(f->store, f->type, name, &f->c->arena, &node);

    if (r != ZK_OK)
        return zk_failed(f, r, f->type);
    for (int32_t i = 0; i < node.count; i++)
        props_set(ret, arena_strz(&f->c->arena, node.entries[i].key),
                  arena_strz(&f->c->arena, node.entries[i].value));
    return 0;
}

/* ---- brokers that are up answer for themselves ---- */

static int refuse_running(struct zk_form *f, struct str who)
{
    struct configs *c = f->c;

    if (!c->as_kafka) {
        strbuf_addf(&c->why,
                    "%.*s up: use --bootstrap-server, --zookeeper is for brokers that are "
                    "down",
                    STR_ARG(who));
        return -EINVAL;
    }
    say_refused(f);
    strbuf_addf(&c->why,
                " - %.*s running. Broker configuration operations using ZooKeeper are only "
                "supported if the affected broker(s) are not running.",
                STR_ARG(who));
    return -EINVAL;
}

static int check_down(struct zk_form *f)
{
    struct configs *c = f->c;
    struct zk_names up;
    int32_t id;

    if (str_eqz(f->name, DEFAULT_NAME)) {
        enum zk_result r = zk_store_children(f->store, ZK_PATH_BROKER_IDS, false, &c->arena, &up);
        if (r != ZK_OK)
            return zk_failed(f, r, ZK_PATH_BROKER_IDS);
        return up.count ? refuse_running(f, arena_printf(&c->arena, "%zu brokers are", up.count))
                        : 0;
    }
    if (str_to_i32(f->name, INT32_MIN, INT32_MAX, &id) < 0) {
        strbuf_addf(&c->why,
                    "Error parsing broker %.*s. The broker's Entity Name must be a single integer "
                    "value",
                    STR_ARG(f->name));
        return -EINVAL;
    }
    const char *path = zk_path_broker(&c->arena, id);
    enum zk_result r = zk_store_exists(f->store, path, NULL);
    if (r == ZK_NO_NODE)
        return 0;
    return r == ZK_OK ? refuse_running(f, arena_printf(&c->arena, "broker %d is", id))
                      : zk_failed(f, r, path);
}

/* ---- settings of brokers ---- */

static void take_encoder(struct zk_form *f)
{
    struct props *add = &f->c->add;

    for (size_t i = add->count; i-- > 0;) {
        CLEANUP(free_p) char *key = xstrdup(add->v[i].key);

        if (strncmp(key, ENCODER, strlen(ENCODER)) != 0)
            continue;
        props_set(&f->encoder, key, add->v[i].value);
        props_remove(add, key);
    }
}

static int check_secret(struct zk_form *f)
{
    struct configs *c = f->c;
    CLEANUP(strbuf_deinit) struct strbuf keys = {0};

    for (size_t i = 0; i < c->add.count; i++) {
        if (broker_key_is_password(c->add.v[i].key))
            strbuf_addf(&keys, "%s%s", keys.len ? ", " : "", c->add.v[i].key);
    }
    if (keys.len == 0 || props_get(&f->encoder, ENCODER "secret"))
        return keys.len > 0;
    strbuf_addf(&c->why,
                "requirement failed: " ENCODER "secret must be specified to update Set(%s). Other "
                "password encoder configs like cipher algorithm and iterations may also be "
                "specified to override the default encoding parameters. Password encoder configs "
                "will not be persisted in ZooKeeper.",
                keys.s);
    return -EINVAL;
}

/* What Java finds wrong with the encoder's own settings. */
static int check_encoder(struct zk_form *f)
{
    static const char *const numbers[] = {ENCODER "key.length", ENCODER "iterations"};
    const char *cipher = props_get(&f->encoder, ENCODER "cipher.algorithm");
    struct configs *c = f->c;
    int32_t n;

    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        const char *text = props_get(&f->encoder, numbers[i]);
        if (text && str_to_i32(str_of(text), INT32_MIN, INT32_MAX, &n) < 0) {
            strbuf_addf(&c->why, "For input string: \"%s\"", text);
            return -EINVAL;
        }
    }
    if (cipher && strncmp(cipher, "AES/", 4) != 0)
        return configs_throw(c, "java.security.NoSuchAlgorithmException",
                             "Cannot find any provider supporting %s", cipher);
    props_remove(&f->encoder, ENCODER "keyfactory.algorithm"); /* Kafka's tool passes it over */
    return 0;
}

static int32_t encoder_number(const struct broker_conf *conf, const char *key)
{
    int32_t n = 0;

    return str_to_i32(str_of(broker_conf_text(conf, key, NULL)), INT32_MIN, INT32_MAX, &n) < 0 ? 0
                                                                                               : n;
}

/* Given, or as a broker has them by default; of any size, as Kafka's tool takes them. All borrowed:
 * the encoder looks at nothing else. */
static void take_encoder_settings(struct broker_conf *conf, const struct props *encoder)
{
    conf->props = *encoder;
    conf->password_encoder_secret =
        (char *)(uintptr_t)broker_conf_text(conf, ENCODER "secret", NULL);
    conf->password_encoder_cipher_algorithm =
        (char *)(uintptr_t)broker_conf_text(conf, ENCODER "cipher.algorithm", NULL);
    conf->password_encoder_key_length = encoder_number(conf, ENCODER "key.length");
    conf->password_encoder_iterations = encoder_number(conf, ENCODER "iterations");
}

static int seal(struct zk_form *f)
{
    CLEANUP(free_p) struct broker_conf *conf = xnew(struct broker_conf);
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    int r = check_encoder(f);

    if (r < 0)
        return r;
    take_encoder_settings(conf, &f->encoder);
    r = passwords_encode(conf, &f->c->add, &why);
    if (r < 0)
        strbuf_addf(&f->c->why, "%s", f->c->as_kafka ? "Empty key" : why.s);
    return r;
}

static int prepare_broker(struct zk_form *f)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    struct configs *c = f->c;

    if (c->add.count + c->drop.count == 0)
        return 0;
    int r = check_down(f);
    if (r < 0)
        return r;
    take_encoder(f);
    if (dynamic_props_check(&c->add, !str_eqz(f->name, DEFAULT_NAME), &why) < 0)
        return configs_throw(c, CONFIG_EXCEPTION, "%s", why.s);
    r = check_secret(f);
    return r > 0 ? seal(f) : r;
}

/* ---- credentials of users ---- */

static int make_credential(struct zk_form *f, enum scram_mechanism m, const char *key)
{
    CLEANUP(strbuf_deinit) struct strbuf stored = {0};
    struct configs *c = f->c;
    struct scram_given given;
    uint8_t salt[SCRAM_SALT];
    int r = scram_parse(m, props_get(&c->add, key), true, &given, &c->why);

    if (r == 0 && given.password.len == 0) {
        strbuf_addz(&c->why, c->as_kafka ? "Empty key" : "the password must not be empty");
        r = -EINVAL;
    }
    if (r < 0)
        return r;
    scram_salt(salt);
    scram_print_stored(&given, slice_of(salt, sizeof salt), &stored);
    props_set(&c->add, key, stored.s);
    return 0;
}

static int prepare_user(struct zk_form *f)
{
    struct configs *c = f->c;
    bool is_scram = true;
    int r = 0;

    if (c->add.count + c->drop.count == 0)
        return 0;
    for (size_t i = 0; i < c->add.count; i++)
        is_scram = is_scram && scram_mechanism(str_of(c->add.v[i].key));
    for (size_t i = 0; i < c->drop.count; i++)
        is_scram = is_scram && scram_mechanism(str_of(c->drop.v[i]));
    if (!is_scram && !c->as_kafka) {
        strbuf_addz(&c->why, "users have only SCRAM-SHA-256 and SCRAM-SHA-512 with --zookeeper: "
                             "use --bootstrap-server for quotas");
        return -EINVAL;
    }
    if (!is_scram) {
        say_refused(f);
        strbuf_addz(&c->why, ". User configuration updates using ZooKeeper are only supported for "
                             "SCRAM credential updates.");
        return -EINVAL;
    }
    for (int m = SCRAM_SHA_256; m <= SCRAM_SHA_512 && r == 0; m++) {
        if (props_get(&c->add, scram_name(m)))
            r = make_credential(f, (enum scram_mechanism)m, scram_name(m));
    }
    return r;
}

/* Quotas are all that the default user may have. */
static int check_default_user(struct zk_form *f)
{
    CLEANUP(strbuf_deinit) struct strbuf keys = {0};
    struct configs *c = f->c;

    if (strcmp(f->type, TYPE_USERS) != 0 || !str_eqz(f->name, DEFAULT_NAME))
        return 0;
    for (size_t i = 0; i < f->now.count; i++) {
        if (scram_mechanism(str_of(f->now.v[i].key)))
            strbuf_addf(&keys, "%s%s", keys.len ? ", " : "", f->now.v[i].key);
    }
    if (keys.len == 0)
        return 0;
    strbuf_addf(&c->why, "requirement failed: Unknown Dynamic Configuration: HashSet(%s).", keys.s);
    return -EINVAL;
}

/* ---- changing ---- */

static int write_entity(struct zk_form *f)
{
    struct arena *a = &f->c->arena;
    struct node_config node = {arena_new_array(a, struct node_config_entry, f->now.count + 1), 0};
    struct str name = f->name;
    int32_t id;

    if (strcmp(f->type, TYPE_BROKERS) == 0 &&
        str_to_i32(name, INT32_MIN, INT32_MAX, &id) == 0) /* "01" is broker 1 */
        name = arena_printf(a, "%d", id);
    for (size_t i = 0; i < f->now.count; i++)
        node.entries[node.count++] =
            (struct node_config_entry){str_of(f->now.v[i].key), str_of(f->now.v[i].value)};
    return zk_failed(f, zk_config_bootstrap(f->store, f->type, name, &node), f->type);
}

/* What is never shown: sealed or not, it is a secret. */
static struct str shown(const char *key, const char *value)
{
    bool is_secret = scram_mechanism(str_of(key)) || broker_key_is_password(key);

    return value && is_secret ? STR("(hidden)") : str_of(value);
}

static void say_changed(struct zk_form *f, const struct props *before)
{
    struct configs *c = f->c;
    struct config_change *changes =
        arena_new_array(&c->arena, struct config_change, c->add.count + c->drop.count + 1);
    size_t n = 0;

    if (c->as_kafka) {
        printf("Completed updating config for entity: %s.\n", entity_text(f, f->name));
        return;
    }
    for (size_t i = 0; i < c->add.count; i++) {
        const char *key = c->add.v[i].key;
        changes[n++] = (struct config_change){key, shown(key, props_get(before, key)),
                                              shown(key, c->add.v[i].value)};
    }
    for (size_t i = 0; i < c->drop.count; i++)
        changes[n++] = (struct config_change){
            c->drop.v[i], shown(c->drop.v[i], props_get(before, c->drop.v[i])), STR_NULL};
    configs_print_changes(c, entity_text(f, f->name), changes, n);
}

static int alter(struct zk_form *f)
{
    CLEANUP(props_deinit) struct props before = {0};
    struct configs *c = f->c;
    int r = find_entity(f);

    if (r == 0)
        r = strcmp(f->type, TYPE_USERS) == 0 ? prepare_user(f) : prepare_broker(f);
    r = r ? r : read_entity(f, f->name, &f->now);
    if (r)
        return r;
    const struct texts set = props_keys(&c->arena, &f->now);
    props_add(&before, &f->now);
    r = configs_check_drop(c, &set);
    if (r)
        return r;
    props_add(&f->now, &c->add);
    java_properties_sort(&f->now);
    for (size_t i = 0; i < c->drop.count; i++)
        props_remove(&f->now, c->drop.v[i]);
    r = check_default_user(f);
    if (r == 0 && !c->is_dry)
        r = write_entity(f);
    if (r == 0)
        say_changed(f, &before);
    return r;
}

/* ---- describing ---- */

static void print_entity(struct zk_form *f, struct str name, struct props *p, struct table *t)
{
    const char *entity = entity_text(f, name);

    java_properties_sort(p);
    for (size_t i = 0; i < p->count && !f->c->as_kafka; i++) {
        struct str value = shown(p->v[i].key, p->v[i].value);
        table_cell(t, "%s", entity);
        table_cell(t, "%s", p->v[i].key);
        table_cell(t, "%.*s", STR_ARG(value));
    }
    if (!f->c->as_kafka)
        return;
    printf("Configs for %s are ", entity);
    for (size_t i = 0; i < p->count; i++)
        printf("%s%s=%s", i ? "," : "", p->v[i].key, p->v[i].value);
    putchar('\n');
}

/* In the order in which ZooKeeper names them. */
static int all_users(struct zk_form *f, struct zk_names *ret)
{
    CLEANUP(zk_batch_deinit) struct zk_batch b = {0};
    size_t at = zk_batch_children(&b, ZK_PATH_CONFIG "/" TYPE_USERS, false);

    zk_store_run(f->store, &b);
    const struct zk_op *op = &b.ops[at];
    if (op->result != ZK_OK && op->result != ZK_NO_NODE)
        return zk_failed(f, op->result, op->path);
    *ret = (struct zk_names){arena_new_array(&f->c->arena, struct str, op->ret_names_count + 1), 0};
    for (size_t i = 0; op->result == ZK_OK && i < op->ret_names_count; i++)
        ret->list[ret->count++] = arena_str(&f->c->arena, op->ret_names[i]);
    return 0;
}

static int describe(struct zk_form *f)
{
    CLEANUP(table_deinit) struct table t = {0};
    struct zk_names names;
    int r = find_entity(f);
    bool all = f->name.len == 0;

    if (r == 0 && strcmp(f->type, TYPE_BROKERS) == 0)
        r = check_down(f);
    names = (struct zk_names){&f->name, 1};
    if (r == 0 && all)
        r = all_users(f, &names);
    table_add(&t, "ENTITY", false);
    table_add(&t, "SETTING", false);
    table_add(&t, "VALUE", false);
    for (size_t i = 0; r == 0 && i < names.count; i++) {
        CLEANUP(props_deinit) struct props p = {0};

        r = read_entity(f, names.list[i], &p);
        if (r == 0 && (p.count || !all))
            print_entity(f, names.list[i], &p, &t);
    }
    if (r == 0 && !f->c->as_kafka)
        configs_print_table(f->c, &t);
    return r;
}

int configs_zookeeper(struct configs *c, const char *connect)
{
    struct zk_form f = {.c = c};
    int r;

    say_set_level(SAY_ERROR); /* of the session's life only what is wrong */
    r = open_session(&f, connect);

    if (r == 0)
        r = opts_has(c->o, CONFIGS_ALTER) ? alter(&f) : describe(&f);
    zk_free(f.zk);
    props_deinit(&f.now);
    props_deinit(&f.encoder);
    return r;
}
