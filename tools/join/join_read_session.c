/*
 * join_read_session.c - sessions of their own: who may change the nodes (their ACLs), and whether
 * each server that is named answers
 */
#include "broker/config/zk_options.h"
#include "common/base/err.h"
#include "tools/join/join.h"
#include "zk/zk.h"
#include "zk/zk_direct.h"
#include "zk/zk_paths.h"

enum { SERVERS_MAX = 32 };

/* Below each of these a broker makes nodes, or changes them. */
static const char *const changed[] = {
    ZK_PATH_BROKER_IDS,   ZK_PATH_TOPICS,         ZK_PATH_CONTROLLER_EPOCH, ZK_PATH_CONTROLLER,
    "/config/topics",     ZK_PATH_CONFIG_CHANGES, ZK_PATH_DELETE_TOPICS,    ZK_PATH_ISR_CHANGES,
    ZK_PATH_PRODUCER_IDS, ZK_PATH_LOG_DIR_EVENTS, ZK_PATH_FEATURE,
};

/* ---- ACLs ---- */

static void add_acl(struct strbuf *sb, const struct zk_direct_acl *acl)
{
    static const char letters[] = {'r', 'w', 'c', 'd', 'a'};

    strbuf_addf(sb, "%s%s:%s:", sb->len ? "," : "", acl->scheme, acl->id);
    for (size_t i = 0; i < sizeof letters; i++) {
        if (acl->perms & (1 << i))
            strbuf_add_char(sb, letters[i]);
    }
}

struct str join_guard_text(struct arena *a, const struct zk_direct_acls *acls)
{
    const int32_t needed = ZK_PERM_READ | ZK_PERM_WRITE | ZK_PERM_CREATE | ZK_PERM_DELETE;
    CLEANUP(strbuf_deinit) struct strbuf sb = {.max = 400};

    for (size_t i = 0; i < acls->count; i++) {
        const struct zk_direct_acl *acl = &acls->v[i];
        if (strcmp(acl->scheme, "world") == 0 && (acl->perms & needed) == needed)
            return STR_NULL;
        add_acl(&sb, acl);
    }
    return arena_str(a, strbuf_str(&sb));
}

static void read_guard(struct join_facts *f, struct zk_direct *zk, const char *path)
{
    struct zk_direct_acls acls = {0};
    struct zk_direct_stat stat;
    int r = zk_direct_get_acl(zk, path, f->arena, &acls, &stat);

    if (r == ZK_DIRECT_NO_AUTH)
        why_texts_add(f->arena, &f->nodes.guarded,
                      arena_printf(f->arena, "%s: its ACL may not be read", path));
    if (r != 0)
        return;
    struct str text = join_guard_text(f->arena, &acls);
    if (!str_is_null(text))
        why_texts_add(f->arena, &f->nodes.guarded,
                      arena_printf(f->arena, "%s: %.*s", path, STR_ARG(text)));
}

/* As the broker itself would open it. */
static struct zk_conf session_of(const struct join_facts *f, const char *connect,
                                 int64_t timeout_ms)
{
    const struct zk_conf how = f->conf ? zk_conf_of_broker(f->conf) : (struct zk_conf){0};

    return why_zk_conf(&how, connect, timeout_ms);
}

void join_read_guards(struct join_facts *f, int64_t timeout_ms)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    const struct zk_conf how = session_of(f, f->zookeeper.p, timeout_ms);
    const struct zk_direct_conf conf = {.connect = how.connect,
                                        .session_timeout_ms = how.session_timeout_ms,
                                        .ssl = how.ssl,
                                        .ssl_truststore = how.ssl_truststore,
                                        .ssl_keystore = how.ssl_keystore,
                                        .ssl_key_password = how.ssl_key_password};
    struct zk_direct *zk = NULL;

    if (zk_direct_open(&conf, timeout_ms, &zk, &why) < 0) {
        why_unasked(&f->zk, "the ACLs of nodes: %s", why.s ? why.s : "no session");
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(changed); i++)
        read_guard(f, zk, changed[i]);
    zk_direct_close(zk);
}

/* ---- servers ---- */

struct why_texts join_servers_of(struct arena *a, struct str connect)
{
    const char *slash = memchr(connect.p, '/', connect.len);
    size_t hosts = slash ? (size_t)(slash - connect.p) : connect.len;
    struct str rest = {connect.p, hosts}, chroot = {connect.p + hosts, connect.len - hosts}, one;
    struct why_texts out = {0};

    while (str_split(&rest, ',', &one) && out.count < SERVERS_MAX) {
        one = str_trim(one);
        if (one.len)
            why_texts_add(a, &out, arena_printf(a, "%.*s%.*s", STR_ARG(one), STR_ARG(chroot)));
    }
    return out;
}

static void read_server(struct join_facts *f, struct join_server *s, struct str connect,
                        int64_t timeout_ms)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    const struct zk_conf conf = session_of(f, arena_strz(f->arena, connect), timeout_ms);
    struct zk_status status;

    struct zk *zk = zk_new(&conf);
    s->answers = zk_start(zk, &why) == 0;
    if (s->answers) {
        zk_status(zk, &status);
        s->is_read_only = status.is_read_only;
    } else {
        s->silence = arena_printf(f->arena, "no session within %d ms", (int)timeout_ms);
    }
    zk_free(zk);
}

void join_read_servers(struct join_facts *f, int64_t timeout_ms)
{
    struct why_texts all = join_servers_of(f->arena, f->zookeeper);

    if (all.count < 2)
        return;
    f->nodes.servers = arena_new_array(f->arena, struct join_server, all.count);
    f->nodes.servers_count = all.count;
    for (size_t i = 0; i < all.count; i++) {
        f->nodes.servers[i].name = all.v[i];
        read_server(f, &f->nodes.servers[i], all.v[i], timeout_ms);
    }
}
