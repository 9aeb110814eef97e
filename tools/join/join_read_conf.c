/*
 * join_read_conf.c - server.properties as a start reads it: the parser's checks, those of the
 * ZooKeeper session, and keys and certificates
 */
#include "broker/config/tls_options.h"
#include "broker/config/zk_options.h"
#include "common/base/err.h"
#include "tools/join/join.h"

static void on_refused(void *ctx, const char *why)
{
    struct join_facts *f = ctx;

    why_texts_add(f->arena, &f->refused, arena_str(f->arena, str_of(why)));
}

static void refuse(struct join_facts *f, const struct strbuf *why, int r, const char *listener)
{
    struct str text = why->len ? strbuf_str(why) : str_of(err_name(r));

    if (listener)
        text = arena_printf(f->arena, "%.*s (listener %s)", STR_ARG(text), listener);
    why_texts_add(f->arena, &f->refused, arena_str(f->arena, text));
}

static void check_zk(struct join_facts *f)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    struct zk_conf conf = zk_conf_of_broker(f->conf);
    int r;

    conf.set_acl = false; /* has been refused */
    r = zk_conf_check(&conf, &why);
    if (r < 0)
        refuse(f, &why, r, NULL);
}

static void check_listener(struct join_facts *f, const struct listener_conf *l)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    const struct tls_conf conf = tls_conf_of_listener(f->conf, l->name);
    struct tls_server *server = NULL;
    struct tls_client *client = NULL;
    int r;

    if (l->protocol != PROTO_SSL)
        return;
    r = tls_server_new(&conf, &why, &server);
    if (r == 0 && (l->is_inter_broker || l->is_control_plane))
        r = tls_client_new(&conf, &why, &client);
    if (r < 0)
        refuse(f, &why, r, l->name);
    tls_client_free(client);
    tls_server_free(server);
}

void join_read_conf(struct join_facts *f, const char *path)
{
    f->config = path;
    f->conf = broker_conf_probe(path, on_refused, f);
    if (!f->conf)
        return;
    check_zk(f);
    for (int i = 0; i < f->conf->listener.count; i++)
        check_listener(f, &f->conf->listener.v[i]);
}

static struct str at_run_time(const struct join_facts *f, const char *key)
{
    struct str own = node_config_get(&f->nodes.of_one, key);

    return str_is_null(own) ? node_config_get(&f->nodes.of_all, key) : own;
}

const char *join_setting(const struct join_facts *f, const char *key)
{
    struct str value = at_run_time(f, key);

    if (!str_is_null(value))
        return arena_strz(f->arena, value);
    return f->conf ? broker_conf_text(f->conf, key, NULL) : NULL;
}

int32_t join_default_min_isr(const struct join_facts *f)
{
    const char *text = join_setting(f, "min.insync.replicas");
    int32_t min;

    return text && str_to_i32(str_trim(str_of(text)), 1, INT32_MAX, &min) == 0 ? min : 1;
}
