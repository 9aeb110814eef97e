/*
 * why_zk.c - the session with ZooKeeper in which is read
 */
#include "common/base/say.h"
#include "tools/why/why.h"
#include "zk/zk.h"

enum { IN_FLIGHT = 100, SESSION_MS = 6000 };

static struct zk *open_session(struct why_facts *f, const struct zk_conf *conf)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    struct zk *zk = zk_new(conf);
    struct zk_status status;

    say_set_level(SAY_ERROR); /* what the session tells a broker's log */
    if (zk_start(zk, &why) < 0) {
        f->zk.answers = WHY_NO;
        f->zk.silence = arena_str(f->arena, strbuf_str(&why));
        return zk_free(zk);
    }
    zk_status(zk, &status);
    f->zk.is_read_only = status.is_read_only;
    f->zk.answers = WHY_YES;
    return zk;
}

struct zk_conf why_zk_conf(const struct zk_conf *how, const char *connect, int64_t timeout_ms)
{
    struct zk_conf conf = *how;

    conf.connect = connect;
    conf.session_timeout_ms = SESSION_MS;
    conf.connection_timeout_ms = (int32_t)timeout_ms;
    conf.max_in_flight = IN_FLIGHT;
    conf.only_reads = true;
    conf.set_acl = false;
    return conf;
}

struct zk *why_zk_ask(struct why_facts *f, const char *connect, int64_t timeout_ms,
                      const struct zk_conf *how)
{
    const struct zk_conf nobody = {0}, conf = why_zk_conf(how ? how : &nobody, connect, timeout_ms);
    struct zk *zk = open_session(f, &conf);
    if (zk)
        why_zk_read(f, zk_as_store(zk));
    return zk;
}
