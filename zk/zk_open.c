/*
 * zk_open.c - configuration, addresses and handles of the ZooKeeper library
 *
 * What the installed library cannot do (TLS, SASL) is refused here with the reason. Thread: the
 * session thread's, but for zk_conf_check() and zk_acl_for(), which are pure.
 */
#include "zk/zk_private.h"

#include <netdb.h>
#include <netinet/in.h>

#if defined(KLAMM_ZK_SASL)
#include <sasl/sasl.h>
#endif

enum { DEFAULT_PORT = 2181 };

enum zk_result zk_result_of(int rc)
{
    switch (rc) {
    case ZOK:
        return ZK_OK;
    case ZNONODE:
        return ZK_NO_NODE;
    case ZNODEEXISTS:
        return ZK_NODE_EXISTS;
    case ZBADVERSION:
        return ZK_BAD_VERSION;
    case ZNOTEMPTY:
        return ZK_NOT_EMPTY;
    case ZSESSIONEXPIRED:
    case ZINVALIDSTATE:
        return ZK_SESSION_EXPIRED;
    case ZAUTHFAILED:
        return ZK_AUTH_FAILED;
    case ZNOAUTH:
        return ZK_NO_AUTH;
    case ZCLOSING:
        return ZK_CLOSING;
    case ZRUNTIMEINCONSISTENCY:
        return ZK_ROLLED_BACK;
    default:
        say_limited(SAY_WARN, 10, "ZooKeeper answered %d (%s)", rc, zerror(rc));
        return ZK_OTHER;
    }
}

/* "/a/b": no empty part, no slash at the end. */
static bool is_chroot(const char *path)
{
    size_t n = strlen(path);

    return n > 1 && path[n - 1] != '/' && !strstr(path, "//");
}

static int check_connect(const struct zk_conf *conf, struct strbuf *ret_why)
{
    const char *slash = conf->connect ? strchr(conf->connect, '/') : NULL;

    if (!conf->connect || !*conf->connect || conf->connect == slash) {
        strbuf_addz(ret_why, "zookeeper.connect names no server: set it to "
                             "host:port[,host:port...][/chroot]");
        return -EINVAL;
    }
    if (slash && strcmp(slash, "/") != 0 && !is_chroot(slash)) {
        strbuf_addf(ret_why,
                    "zookeeper.connect=%s: the chroot \"%s\" stands once, at the end, as /a or "
                    "/a/b",
                    conf->connect, slash);
        return -EINVAL;
    }
    return 0;
}

static int check_tls(const struct zk_conf *conf, struct strbuf *ret_why)
{
    if (!conf->ssl)
        return 0;
#if defined(KLAMM_ZK_TLS)
    if (conf->ssl_truststore && conf->ssl_keystore)
        return 0;
    strbuf_addz(ret_why, "zookeeper.ssl.client.enable=true needs zookeeper.ssl.truststore.location "
                         "and zookeeper.ssl.keystore.location, both as PEM files");
    return -EINVAL;
#else
    strbuf_addz(ret_why, "zookeeper.ssl.client.enable=true, but the installed libzookeeper_mt was "
                         "built without TLS. Install one that was built with OpenSSL and rebuild, "
                         "or set it to false and protect the way to ZooKeeper otherwise");
    return -ENOTSUP;
#endif
}

static int check_sasl(const struct zk_conf *conf, struct strbuf *ret_why UNUSED)
{
    if (!conf->sasl_user)
        return 0;
#if defined(KLAMM_ZK_SASL)
    return 0;
#else
    strbuf_addz(ret_why, "SASL to ZooKeeper is configured (JAAS section Client), but the installed "
                         "libzookeeper_mt was built without SASL. Remove that section; "
                         "zookeeper.digest.auth=user:password works without it");
    return -ENOTSUP;
#endif
}

int zk_conf_check(const struct zk_conf *conf, struct strbuf *ret_why)
{
    int r = check_connect(conf, ret_why);

    if (r < 0 || (r = check_tls(conf, ret_why)) < 0 || (r = check_sasl(conf, ret_why)) < 0)
        return r;
    if (conf->max_in_flight < 1 || conf->session_timeout_ms < 1) {
        strbuf_addz(ret_why, "zookeeper.max.in.flight.requests and zookeeper.session.timeout.ms "
                             "must be at least 1");
        return -EINVAL;
    }
    if (conf->digest_auth && !strchr(conf->digest_auth, ':')) {
        strbuf_addz(ret_why, "zookeeper.digest.auth is user:password");
        return -EINVAL;
    }
    if (conf->set_acl && !conf->digest_auth && !conf->sasl_user && !conf->ssl) {
        strbuf_addz(ret_why, "zookeeper.set.acl=true needs an identity that owns the nodes: set "
                             "zookeeper.digest.auth=user:password, or set it to false");
        return -EINVAL;
    }
    return 0;
}

/* Adds the addresses of one host[:port]. The library wants IPv6 without brackets: the port is what
 * follows the last colon. */
static int resolve_one(struct str server, struct strbuf *ret)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list = NULL, *ai;
    const char *colon = memrchr(server.p, ':', server.len);
    const char *bracket = memrchr(server.p, ']', server.len);
    struct str host = server, port = STR_NULL;
    char name[256], address[64];

    if (colon && (!bracket || colon > bracket)) {
        host.len = (size_t)(colon - server.p);
        port = (struct str){colon + 1, server.len - host.len - 1};
    }
    if (host.len >= 2 && host.p[0] == '[' && host.p[host.len - 1] == ']')
        host = (struct str){host.p + 1, host.len - 2};
    if (host.len == 0 || host.len >= sizeof name)
        return EAI_NONAME;
    memcpy(name, host.p, host.len);
    name[host.len] = '\0';
    int r = getaddrinfo(name, NULL, &hints, &list);

    for (ai = list; r == 0 && ai; ai = ai->ai_next) {
        if (getnameinfo(ai->ai_addr, ai->ai_addrlen, address, sizeof address, NULL, 0,
                        NI_NUMERICHOST) != 0)
            continue;
        strbuf_addf(ret, "%s%s:", ret->len ? "," : "", address);
        if (port.p)
            strbuf_add_str(ret, port);
        else
            strbuf_addf(ret, "%d", DEFAULT_PORT);
    }
    if (list)
        freeaddrinfo(list);
    return r;
}

/*
 * The library goes two servers further after each failure, so that of an even number it only ever
 * tries every other one: of two, one of which is dead, perhaps always the dead one. An odd number
 * of addresses has no such gap.
 */
static void make_odd(struct strbuf *addresses)
{
    struct str list = strbuf_str(addresses), rest = list, first;
    size_t count = 1;

    for (size_t i = 0; i < list.len; i++)
        count += list.p[i] == ',';
    if (count % 2 == 1 || !str_split(&rest, ',', &first))
        return;
    CLEANUP(free_p) char *again = str_dup(first);

    strbuf_addf(addresses, ",%s", again);
}

int zk_resolve(const char *servers, struct strbuf *ret_addresses, struct strbuf *ret_why)
{
    struct str rest = str_of(servers), server;

    while (str_split(&rest, ',', &server)) {
        server = str_trim(server);
        if (server.len == 0)
            continue;
        int r = resolve_one(server, ret_addresses);

        if (r != 0)
            strbuf_addf(ret_why, "%s%.*s: %s", ret_why->len ? "; " : "", STR_ARG(server),
                        gai_strerror(r));
    }
    if (ret_addresses->len) {
        make_odd(ret_addresses);
        return 0;
    }
    if (ret_why->len == 0)
        strbuf_addz(ret_why, "no server is named");
    return -ENOENT;
}

/* The library's own words, which come with a line for each failed connect: for whoever looks
 * closer. */
static void on_log(const char *message)
{
    say_debug("libzookeeper: %.*s", (int)strcspn(message, "\n"), message);
}

static zhandle_t *open_plain(struct zk_handle *h, const char *addresses)
{
    int flags = ZOO_NO_LOG_CLIENTENV | (h->zk->conf.only_reads ? ZOO_READONLY : 0);

    return zookeeper_init2(addresses, zk_on_event, h->zk->conf.session_timeout_ms, NULL, h, flags,
                           on_log);
}

#if defined(KLAMM_ZK_TLS)
/* The library takes "ca,certificate,key,password" and does not compare host names with
 * certificates. */
static zhandle_t *open_tls(struct zk_handle *h, const char *addresses)
{
    const struct zk_conf *c = &h->zk->conf;
    CLEANUP(free_p)
    char *cert = xasprintf("%s,%s,%s,%s", c->ssl_truststore, c->ssl_keystore, c->ssl_keystore,
                           c->ssl_key_password ? c->ssl_key_password : "");

    say_limited(SAY_WARN, 1, "the ZooKeeper library does not check host names in certificates");
    return zookeeper_init_ssl(addresses, cert, zk_on_event, c->session_timeout_ms, NULL, h,
                              ZOO_NO_LOG_CLIENTENV);
}
#endif

#if defined(KLAMM_ZK_SASL)
static zhandle_t *open_sasl(struct zk_handle *h, const char *addresses)
{
    const struct zk_conf *c = &h->zk->conf;
    sasl_callback_t *callbacks =
        zoo_sasl_make_basic_callbacks(c->sasl_user, NULL, c->sasl_password_file);
    zoo_sasl_params_t params = {
        .service = "zookeeper",
        .host = "zk-sasl-md5",
        .mechlist = "DIGEST-MD5",
        .callbacks = callbacks,
    };

    if (!callbacks)
        return NULL;
    return zookeeper_init_sasl(addresses, zk_on_event, c->session_timeout_ms, NULL, h,
                               ZOO_NO_LOG_CLIENTENV, on_log, &params);
}
#endif

static zhandle_t *open_any(struct zk_handle *h, const char *addresses)
{
#if defined(KLAMM_ZK_TLS)
    if (h->zk->conf.ssl)
        return open_tls(h, addresses);
#endif
#if defined(KLAMM_ZK_SASL)
    if (h->zk->conf.sasl_user)
        return open_sasl(h, addresses);
#endif
    return open_plain(h, addresses);
}

int zk_handle_open(struct zk_handle *h, const char *addresses)
{
    const char *auth = h->zk->conf.digest_auth;
    CLEANUP(free_p) char *target = xasprintf("%s%s", addresses, h->zk->chroot ? h->zk->chroot : "");

    zoo_set_debug_level(say_is_on(SAY_DEBUG) ? ZOO_LOG_LEVEL_INFO : ZOO_LOG_LEVEL_ERROR);
    errno = 0;
    zhandle_t *zh = open_any(h, target);
    if (!zh)
        return errno ? -errno : -EINVAL;
    /* Addresses need no resolving; without this the library would do it on every turn of its loop.
     * */
    zoo_set_servers_resolution_delay(zh, -1);
    if (auth)
        zoo_add_auth(zh, "digest", auth, (int)strlen(auth), NULL, NULL);
    WITH_LOCK(&h->zk->lock)
    h->zh = zh;
    return 0;
}

struct zk_handle *zk_handle_close(struct zk_handle *h)
{
    if (!h)
        return NULL;
    if (h->zh)
        zookeeper_close(h->zh);
    free(h);
    return NULL;
}

static bool is_sensitive(const char *path)
{
    static const char *const prefixes[] = {"/config/users", "/config/brokers",
                                           "/delegation_token/tokens"};

    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
        if (strncmp(path, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    }
    return false;
}

/* Given at creation only; nodes that exist keep theirs. */
const struct ACL_vector *zk_acl_for(const struct zk *zk, const char *path)
{
    static struct ACL owner_and_readers[] = {
        {0x1f, {(char *)"auth", (char *)""}},
        {0x01, {(char *)"world", (char *)"anyone"}},
    };
    static const struct ACL_vector guarded = {2, owner_and_readers};

    if (!zk->conf.set_acl || strcmp(path, "/consumers") == 0)
        return &ZOO_OPEN_ACL_UNSAFE;
    return is_sensitive(path) ? &ZOO_CREATOR_ALL_ACL : &guarded;
}
