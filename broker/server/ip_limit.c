#include "broker/server/ip_limit.h"

#include "common/base/containers.h"
#include "common/base/err.h"
#include "common/base/lock.h"

enum { MAX_ADDRS = 16 };

/* IPv4 in the form that IPv6 gives it, so that both ways to connect count together. */
struct ip {
    uint8_t b[16];
};

struct entry {
    struct ip ip;
    int64_t count;
    UT_hash_handle hh;
};

struct override {
    struct ip ip;
    int64_t max;
    UT_hash_handle hh;
};

struct ip_limit {
    struct mutex lock;
    int64_t max;
    struct entry *entries; /* addresses with connections */
    struct override *overrides;
};

static struct ip ip_of(const struct sock_addr *a)
{
    struct ip ip = {{[10] = 0xff, [11] = 0xff}};

    if (a->any.sa_family == AF_INET6)
        memcpy(ip.b, &a->v6.sin6_addr, 16);
    else
        memcpy(ip.b + 12, &a->v4.sin_addr, 4);
    return ip;
}

static void add_override(struct ip_limit *l, const struct sock_addr *a, int64_t max)
{
    struct ip ip = ip_of(a);
    struct override *o = NULL;

    HASH_FIND(hh, l->overrides, &ip, sizeof ip, o);
    if (!o) {
        o = xnew(struct override);
        o->ip = ip;
        HASH_ADD(hh, l->overrides, ip, sizeof o->ip, o);
    }
    o->max = max;
}

static int parse_override(struct ip_limit *l, struct str item, struct strbuf *why)
{
    const char *colon = memrchr(item.p, ':', item.len);
    struct sock_addr addrs[MAX_ADDRS];
    int32_t max = 0;
    int count = 0;

    if (!colon || str_to_i32((struct str){colon + 1, (size_t)(item.p + item.len - colon - 1)}, 0,
                             INT32_MAX, &max) < 0) {
        strbuf_addf(why, "max.connections.per.ip.overrides: '%.*s' is not HOST:COUNT",
                    STR_ARG(item));
        return -EINVAL;
    }
    CLEANUP(free_p) char *host = xstrndup(item.p, (size_t)(colon - item.p));
    if (sock_addr_lookup(host, 0, addrs, MAX_ADDRS, &count) < 0) {
        strbuf_addf(why, "max.connections.per.ip.overrides: host '%s' is not known", host);
        return -EINVAL;
    }
    for (int i = 0; i < count; i++)
        add_override(l, &addrs[i], max);
    return 0;
}

int ip_limit_new(int64_t max, const char *overrides, struct strbuf *why, struct ip_limit **ret)
{
    struct ip_limit *l = xnew(struct ip_limit);
    struct str rest = str_of(overrides), item;
    int r = 0;

    mutex_init(&l->lock, LOCK_CONNECTIONS);
    l->max = max;
    while (r == 0 && str_split(&rest, ',', &item)) {
        item = str_trim(item);
        if (item.len)
            r = parse_override(l, item, why);
    }
    if (r < 0) {
        ip_limit_free(l);
        return r;
    }
    *ret = l;
    return 0;
}

static void free_overrides(struct override *list)
{
    struct override *o, *next;

    HASH_ITER (hh, list, o, next) {
        HASH_DEL(list, o);
        free(o);
    }
}

int ip_limit_set(struct ip_limit *l, int64_t max, const char *overrides, struct strbuf *why)
{
    struct ip_limit *next = NULL;
    int r = ip_limit_new(max, overrides, why, &next);

    if (r < 0)
        return r;
    WITH_LOCK(&l->lock)
    {
        struct override *old = l->overrides;

        l->overrides = next->overrides;
        next->overrides = old;
        l->max = max;
    }
    ip_limit_free(next);
    return 0;
}

struct ip_limit *ip_limit_free(struct ip_limit *l)
{
    struct entry *e, *next_e;

    if (!l)
        return NULL;
    free_overrides(l->overrides);
    HASH_ITER (hh, l->entries, e, next_e) {
        HASH_DEL(l->entries, e);
        free(e);
    }
    mutex_deinit(&l->lock);
    free(l);
    return NULL;
}

static int64_t max_of(const struct ip_limit *l, const struct ip *ip)
{
    struct override *o = NULL;

    HASH_FIND(hh, l->overrides, ip, sizeof *ip, o);
    return o ? o->max : l->max;
}

bool ip_limit_take(struct ip_limit *l, const struct sock_addr *peer)
{
    struct ip ip = ip_of(peer);
    struct entry *e = NULL;
    LOCK_SCOPE(&l->lock);

    HASH_FIND(hh, l->entries, &ip, sizeof ip, e);
    if ((e ? e->count : 0) >= max_of(l, &ip))
        return false;
    if (!e) {
        e = xnew(struct entry);
        e->ip = ip;
        HASH_ADD(hh, l->entries, ip, sizeof e->ip, e);
    }
    e->count++;
    return true;
}

void ip_limit_release(struct ip_limit *l, const struct sock_addr *peer)
{
    struct ip ip = ip_of(peer);
    struct entry *e = NULL;
    LOCK_SCOPE(&l->lock);

    HASH_FIND(hh, l->entries, &ip, sizeof ip, e);
    assert(e && e->count > 0);
    if (--e->count == 0) {
        HASH_DEL(l->entries, e);
        free(e);
    }
}
