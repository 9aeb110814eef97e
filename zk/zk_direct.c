#include "zk/zk_direct.h"

#include "common/base/clock.h"
#include "common/base/lock.h"
#include "zk/zk_private.h"

enum { DATA_ROOM = 4096 };

struct zk_direct {
    zhandle_t *zh;
    struct mutex lock; /* LOCK_ZK, for all below */
    struct cond changed;
    bool connected;
    bool auth_failed;
    bool answered; /* the call without a blocking form: sync, add_auth */
    int answer;
};

const char *zk_direct_name(int code)
{
    static const struct {
        int code;
        const char *name;
    } names[] = {
        {ZRUNTIMEINCONSISTENCY, "RuntimeInconsistency"},
        {ZDATAINCONSISTENCY, "DataInconsistency"},
        {ZCONNECTIONLOSS, "ConnectionLoss"},
        {ZMARSHALLINGERROR, "MarshallingError"},
        {ZUNIMPLEMENTED, "Unimplemented"},
        {ZOPERATIONTIMEOUT, "OperationTimeout"},
        {ZBADARGUMENTS, "BadArguments"},
        {ZNONODE, "NoNode"},
        {ZNOAUTH, "NoAuth"},
        {ZBADVERSION, "BadVersion"},
        {ZNOCHILDRENFOREPHEMERALS, "NoChildrenForEphemerals"},
        {ZNODEEXISTS, "NodeExists"},
        {ZNOTEMPTY, "Directory not empty"},
        {ZSESSIONEXPIRED, "Session expired"},
        {ZINVALIDACL, "InvalidACL"},
        {ZAUTHFAILED, "AuthFailed"},
        {ZINVALIDSTATE, "ConnectionLoss"},
    };

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (names[i].code == code)
            return names[i].name;
    }
    return "SystemError";
}

/* ---- session ---- */

static void on_event(zhandle_t *zh UNUSED, int type, int state, const char *path UNUSED, void *ctx)
{
    struct zk_direct *zk = ctx;

    if (type != ZOO_SESSION_EVENT)
        return;
    WITH_LOCK(&zk->lock)
    {
        zk->connected = state == ZOO_CONNECTED_STATE;
        zk->auth_failed |= state == ZOO_AUTH_FAILED_STATE;
        cond_broadcast(&zk->changed);
    }
}

static void on_log(const char *message UNUSED)
{
}

static int open_handle(struct zk_direct *zk, const struct zk_direct_conf *conf, const char *target,
                       struct strbuf *why)
{
    zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
    errno = 0;
    if (!conf->ssl) {
        zk->zh = zookeeper_init2(target, on_event, conf->session_timeout_ms, NULL, zk,
                                 ZOO_NO_LOG_CLIENTENV, on_log);
    } else {
#if defined(KLAMM_ZK_TLS)
        CLEANUP(free_p)
        char *cert =
            xasprintf("%s,%s,%s,%s", conf->ssl_truststore, conf->ssl_keystore, conf->ssl_keystore,
                      conf->ssl_key_password ? conf->ssl_key_password : "");
        zk->zh = zookeeper_init_ssl(target, cert, on_event, conf->session_timeout_ms, NULL, zk,
                                    ZOO_NO_LOG_CLIENTENV);
#else
        strbuf_addz(why, "the installed libzookeeper_mt was built without TLS; install one that "
                         "was built with OpenSSL and rebuild");
        return -ENOTSUP;
#endif
    }
    if (zk->zh)
        return 0;
    strbuf_addf(why, "%s: %s", conf->connect, strerror(errno ? errno : EINVAL));
    return errno ? -errno : -EINVAL;
}

static int wait_connected(struct zk_direct *zk, int64_t timeout_ms)
{
    int64_t deadline_us = clock_mono_us(&clock_system) + timeout_ms * 1000;
    bool connected = false, failed = false;

    WITH_LOCK(&zk->lock)
    {
        while (!zk->connected && !zk->auth_failed &&
               cond_wait_until(&zk->changed, &zk->lock, deadline_us)) {
        }
        connected = zk->connected;
        failed = zk->auth_failed;
    }
    if (connected)
        return 0;
    return failed ? -EACCES : -ETIMEDOUT;
}

static void close_p(struct zk_direct **zk)
{
    *zk = zk_direct_close(*zk);
}

int zk_direct_open(const struct zk_direct_conf *conf, int64_t timeout_ms, struct zk_direct **ret,
                   struct strbuf *why)
{
    CLEANUP(close_p) struct zk_direct *zk = xnew(struct zk_direct);
    CLEANUP(strbuf_deinit) struct strbuf target = {0};
    CLEANUP(strbuf_deinit) struct strbuf trouble = {0};
    const char *slash = strchr(conf->connect, '/');
    CLEANUP(free_p)
    char *servers = str_dup((struct str){conf->connect, slash ? (size_t)(slash - conf->connect)
                                                              : strlen(conf->connect)});

    mutex_init(&zk->lock, LOCK_ZK);
    cond_init(&zk->changed);
    int r = zk_resolve(servers, &target, &trouble);
    if (r < 0) {
        strbuf_addf(why, "%s", trouble.s);
        return r;
    }
    if (slash && slash[1])
        strbuf_addz(&target, slash);
    r = open_handle(zk, conf, target.s, why);
    if (r < 0)
        return r;
    zoo_set_servers_resolution_delay(zk->zh, -1);
    r = wait_connected(zk, timeout_ms);
    if (r == -ETIMEDOUT)
        strbuf_addf(why, "%s: no ZooKeeper server answered within %lld s", servers,
                    (long long)timeout_ms / 1000);
    else if (r < 0)
        strbuf_addf(why, "%s: authentication failed", servers);
    if (r == 0)
        *ret = TAKE(zk);
    return r;
}

struct zk_direct *zk_direct_close(struct zk_direct *zk)
{
    if (!zk)
        return NULL;
    if (zk->zh)
        zookeeper_close(zk->zh);
    cond_deinit(&zk->changed);
    mutex_deinit(&zk->lock);
    free(zk);
    return NULL;
}

/* ---- reading ---- */

static void take_stat(const struct Stat *from, struct zk_direct_stat *ret)
{
    *ret = (struct zk_direct_stat){
        .czxid = from->czxid,
        .mzxid = from->mzxid,
        .pzxid = from->pzxid,
        .ctime_ms = from->ctime,
        .mtime_ms = from->mtime,
        .ephemeral_owner = from->ephemeralOwner,
        .version = from->version,
        .cversion = from->cversion,
        .aversion = from->aversion,
        .data_length = from->dataLength,
        .num_children = from->numChildren,
    };
}

int zk_direct_get(struct zk_direct *zk, const char *path, struct arena *a, struct slice *ret,
                  struct zk_direct_stat *ret_stat)
{
    struct Stat stat;
    int room = DATA_ROOM;

    for (;;) { /* it may grow in between */
        char *data = arena_alloc(a, (size_t)room);
        int len = room;
        int r = zoo_get(zk->zh, path, 0, data, &len, &stat);
        if (r != ZOK)
            return r;
        if (stat.dataLength > room) {
            room = stat.dataLength;
            continue;
        }
        *ret = len < 0 ? slice_of(NULL, 0) : slice_of(data, (size_t)len);
        take_stat(&stat, ret_stat);
        return 0;
    }
}

int zk_direct_exists(struct zk_direct *zk, const char *path, struct zk_direct_stat *ret)
{
    struct Stat stat;
    int r = zoo_exists(zk->zh, path, 0, &stat);

    if (r == ZOK)
        take_stat(&stat, ret);
    return r;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct str *)a)->p, ((const struct str *)b)->p);
}

int zk_direct_children(struct zk_direct *zk, const char *path, struct arena *a,
                       struct zk_direct_names *ret, struct zk_direct_stat *ret_stat)
{
    struct String_vector names = {0};
    struct Stat stat;
    int r = zoo_get_children2(zk->zh, path, 0, &names, &stat);

    if (r != ZOK)
        return r;
    ret->count = (size_t)names.count;
    ret->v = arena_new_array(a, struct str, ret->count + 1);
    for (int32_t i = 0; i < names.count; i++)
        ret->v[i] = str_of(arena_strz(a, str_of(names.data[i])));
    deallocate_String_vector(&names);
    if (ret->count > 1)
        qsort(ret->v, ret->count, sizeof *ret->v, by_name);
    take_stat(&stat, ret_stat);
    return 0;
}

/* ---- access ---- */

static struct ACL *acl_of(const struct zk_direct_acls *acls)
{
    struct ACL *list = xnew_array(struct ACL, acls->count + 1);

    for (size_t i = 0; i < acls->count; i++) { /* the library only reads them */
        const struct zk_direct_acl *acl = &acls->v[i];
        list[i] =
            (struct ACL){acl->perms, {(char *)(uintptr_t)acl->scheme, (char *)(uintptr_t)acl->id}};
    }
    return list;
}

int zk_direct_get_acl(struct zk_direct *zk, const char *path, struct arena *a,
                      struct zk_direct_acls *ret, struct zk_direct_stat *ret_stat)
{
    struct ACL_vector list = {0};
    struct Stat stat;
    int r = zoo_get_acl(zk->zh, path, &list, &stat);

    if (r != ZOK)
        return r;
    ret->count = (size_t)list.count;
    ret->v = arena_new_array(a, struct zk_direct_acl, ret->count + 1);
    for (int32_t i = 0; i < list.count; i++) {
        const struct Id *id = &list.data[i].id;
        ret->v[i] = (struct zk_direct_acl){arena_strz(a, str_of(id->scheme)),
                                           arena_strz(a, str_of(id->id)), list.data[i].perms};
    }
    deallocate_ACL_vector(&list);
    take_stat(&stat, ret_stat);
    return 0;
}

int zk_direct_set_acl(struct zk_direct *zk, const char *path, int32_t version,
                      const struct zk_direct_acls *acls)
{
    CLEANUP(free_p) struct ACL *list = acl_of(acls);
    const struct ACL_vector v = {(int32_t)acls->count, list};

    return zoo_set_acl(zk->zh, path, version, &v);
}

/* ---- writing ---- */

int zk_direct_create(struct zk_direct *zk, const struct zk_direct_node *node, struct arena *a,
                     const char **ret_path)
{
    static const int modes[] = {
        [ZK_CREATE_PERSISTENT] = 0,           [ZK_CREATE_EPHEMERAL] = 1, [ZK_CREATE_SEQUENTIAL] = 2,
        [ZK_CREATE_EPHEMERAL_SEQUENTIAL] = 3, [ZK_CREATE_CONTAINER] = 4, [ZK_CREATE_TTL] = 5,
        [ZK_CREATE_TTL_SEQUENTIAL] = 6,
    };
    CLEANUP(free_p) struct ACL *list = acl_of(&node->acls);
    const struct ACL_vector v = {(int32_t)node->acls.count, list};
    size_t room = strlen(node->path) + 16; /* a sequence number has ten digits */
    char *path = arena_alloc(a, room);
    int r = zoo_create_ttl(zk->zh, node->path, (const char *)node->data.p,
                           node->data.p ? (int)node->data.len : -1,
                           node->acls.count ? &v : &ZOO_OPEN_ACL_UNSAFE, modes[node->mode],
                           node->mode >= ZK_CREATE_TTL ? node->ttl_ms : -1, path, (int)room);

    if (r == ZOK)
        *ret_path = path;
    return r;
}

int zk_direct_set(struct zk_direct *zk, const char *path, struct slice data, int32_t version,
                  struct zk_direct_stat *ret)
{
    struct Stat stat;
    int r =
        zoo_set2(zk->zh, path, (const char *)data.p, data.p ? (int)data.len : -1, version, &stat);

    if (r == ZOK)
        take_stat(&stat, ret);
    return r;
}

int zk_direct_delete(struct zk_direct *zk, const char *path, int32_t version)
{
    return zoo_delete(zk->zh, path, version);
}

/* ---- what the library has no blocking form of ---- */

static void on_answer(int rc, const void *ctx)
{
    struct zk_direct *zk = (struct zk_direct *)(uintptr_t)ctx;

    WITH_LOCK(&zk->lock)
    {
        zk->answer = rc;
        zk->answered = true;
        cond_broadcast(&zk->changed);
    }
}

static void on_path(int rc, const char *path UNUSED, const void *ctx)
{
    on_answer(rc, ctx);
}

static void expect_answer(struct zk_direct *zk)
{
    WITH_LOCK(&zk->lock)
    zk->answered = false;
}

/* The library answers every call, at the latest when the connection is lost. */
static int wait_answer(struct zk_direct *zk, int sent)
{
    int r = sent;

    WITH_LOCK(&zk->lock)
    {
        while (sent == ZOK && !zk->answered)
            cond_wait(&zk->changed, &zk->lock);
        if (sent == ZOK)
            r = zk->answer;
    }
    return r;
}

int zk_direct_sync(struct zk_direct *zk, const char *path)
{
    expect_answer(zk);
    return wait_answer(zk, zoo_async(zk->zh, path, on_path, zk));
}

int zk_direct_add_auth(struct zk_direct *zk, const char *scheme, struct slice auth)
{
    expect_answer(zk);
    return wait_answer(
        zk, zoo_add_auth(zk->zh, scheme, (const char *)auth.p, (int)auth.len, on_answer, zk));
}
