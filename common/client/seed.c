#include "common/client/seed.h"

#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/wire/codec.h"

enum { METADATA_VERSION = 12, MAX_PORT = 65535 };

struct node {
    int32_t id; /* SEED_ANY: one of the list, its id is not known */
    char *host;
    int port;
    struct rpc *rpc; /* NULL: not connected yet */
};

struct seed {
    struct reactor *reactor;
    char *client_id;
    struct tls_client *tls;
    int64_t timeout_us;
    struct node *list; /* of the bootstrap text */
    size_t list_count, list_cap;
    size_t answered; /* which of them */
    struct node *brokers;
    int32_t *ids;
    int32_t broker_count;
    int32_t controller;
    char *address;
};

static int add_to_list(struct seed *s, struct str item, struct strbuf *why)
{
    const char *colon = item.len ? memrchr(item.p, ':', item.len) : NULL;
    struct str host = {item.p, colon ? (size_t)(colon - item.p) : 0}, port = STR_NULL;
    int32_t n = 0;

    if (colon)
        port = (struct str){colon + 1, item.len - host.len - 1};
    if (host.len > 2 && host.p[0] == '[' && host.p[host.len - 1] == ']')
        host = (struct str){host.p + 1, host.len - 2};
    if (host.len == 0 || str_to_i32(port, 1, MAX_PORT, &n) < 0) {
        strbuf_addf(why, "'%.*s' is not HOST:PORT", STR_ARG(item));
        return -EINVAL;
    }
    xgrow(s->list, s->list_cap, s->list_count + 1);
    s->list[s->list_count++] = (struct node){.id = SEED_ANY, .host = str_dup(host), .port = n};
    return 0;
}

static int parse_list(struct seed *s, const char *text, struct strbuf *why)
{
    struct str rest = str_of(text), item;
    int r = 0;

    while (r == 0 && str_split(&rest, ',', &item)) {
        item = str_trim(item);
        if (item.len)
            r = add_to_list(s, item, why);
    }
    if (r == 0 && s->list_count == 0) {
        strbuf_addz(why, "no broker is named");
        r = -EINVAL;
    }
    return r;
}

static int connect_node(struct seed *s, struct node *n)
{
    const struct peer_opts opts = {
        .host = n->host,
        .port = n->port,
        .client_id = s->client_id,
        .tls = s->tls,
        .connect_timeout_us = s->timeout_us,
        .request_timeout_us = s->timeout_us,
    };

    return n->rpc ? 0 : rpc_open(s->reactor, &opts, &n->rpc);
}

static int call_node(struct seed *s, struct node *n, struct rpc_request *q, struct arena *a,
                     const void **ret_response)
{
    int r = connect_node(s, n);

    return r < 0 ? r : rpc_call(n->rpc, q, a, ret_response);
}

static void release_nodes(struct node *nodes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        rpc_close(nodes[i].rpc);
        free(nodes[i].host);
    }
    free(nodes);
}

static int compare_ids(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

    return (x > y) - (x < y);
}

/* A connection that goes where it went before is kept. */
static struct rpc *take_connection(struct seed *s, const struct node *n)
{
    for (int32_t i = 0; i < s->broker_count; i++) {
        struct node *old = &s->brokers[i];

        if (old->id == n->id && old->port == n->port && strcmp(old->host, n->host) == 0)
            return TAKE(old->rpc);
    }
    return NULL;
}

static void set_brokers(struct seed *s, const struct metadata_response *m)
{
    struct node *nodes = xnew_array(struct node, (size_t)m->brokers_count + 1);
    int32_t *ids = xnew_array(int32_t, (size_t)m->brokers_count + 1);

    for (int32_t i = 0; i < m->brokers_count; i++) {
        const struct metadata_response_broker *b = &m->brokers[i];

        nodes[i] = (struct node){.id = b->node_id, .host = str_dup(b->host), .port = b->port};
        nodes[i].rpc = take_connection(s, &nodes[i]);
        ids[i] = b->node_id;
    }
    qsort(ids, (size_t)m->brokers_count, sizeof *ids, compare_ids);
    release_nodes(s->brokers, (size_t)s->broker_count);
    free(s->ids);
    s->brokers = nodes;
    s->ids = ids;
    s->broker_count = m->brokers_count;
    s->controller = m->controller_id;
}

static struct node *find_node(struct seed *s, int32_t id)
{
    if (id == SEED_ANY)
        return &s->list[s->answered];
    if (id == SEED_CONTROLLER)
        id = s->controller;
    for (int32_t i = 0; i < s->broker_count; i++) {
        if (s->brokers[i].id == id)
            return &s->brokers[i];
    }
    return NULL;
}

int seed_call(struct seed *s, int32_t broker, struct rpc_request *q, struct arena *a,
              const void **ret_response)
{
    struct node *n = find_node(s, broker);

    return n ? call_node(s, n, q, a, ret_response) : -EHOSTUNREACH;
}

int seed_metadata(struct seed *s, const struct str *topics, int32_t count, struct arena *a,
                  const struct metadata_response **ret)
{
    CLEANUP(arena_deinit) struct arena own = {0};
    struct metadata_request m;
    struct rpc_request q = {.api_key = API_METADATA, .version = METADATA_VERSION, .message = &m};
    const void *response = NULL;

    msg_init(&metadata_request_desc, &m);
    m.allow_auto_topic_creation = false;
    m.topics_count = count;
    m.topics = arena_new_array(&own, struct metadata_request_topic, (size_t)MAX(count, 0));
    for (int32_t i = 0; i < count; i++) {
        struct_init(&metadata_request_topic_desc, &m.topics[i]);
        m.topics[i].name = topics[i];
    }
    int r = seed_call(s, SEED_ANY, &q, a, &response);
    if (r == 0)
        *ret = response;
    return r;
}

int seed_refresh(struct seed *s)
{
    int r = -EHOSTUNREACH;

    for (size_t i = 0; i < s->list_count; i++) {
        CLEANUP(arena_deinit) struct arena a = {0};
        const struct metadata_response *m = NULL;

        r = seed_metadata(s, NULL, 0, &a, &m);
        if (r == 0) {
            set_brokers(s, m);
            return 0;
        }
        s->answered = (s->answered + 1) % s->list_count;
    }
    return r;
}

int seed_open(const struct seed_opts *opts, struct strbuf *why, struct seed **ret)
{
    CLEANUP(seed_close_p) struct seed *s = xnew(struct seed);

    s->client_id = opts->client_id ? xstrdup(opts->client_id) : NULL;
    s->tls = opts->tls;
    s->timeout_us = opts->timeout_us;
    s->controller = -1;
    int r = parse_list(s, opts->bootstrap, why);
    if (r < 0)
        return r;
    r = reactor_new("seed", &clock_system, &s->reactor);
    if (r == 0)
        r = reactor_start(s->reactor);
    if (r == 0)
        r = seed_refresh(s);
    if (r < 0) {
        strbuf_addf(why, "no broker of %s answers: %s", opts->bootstrap, err_name(r));
        return r;
    }
    s->address = xasprintf("%s:%d", s->list[s->answered].host, s->list[s->answered].port);
    *ret = TAKE(s);
    return 0;
}

struct seed *seed_close(struct seed *s)
{
    if (!s)
        return NULL;
    release_nodes(s->list, s->list_count);
    release_nodes(s->brokers, (size_t)s->broker_count);
    if (s->reactor)
        reactor_stop(s->reactor);
    reactor_free(s->reactor);
    free(s->ids);
    free(s->client_id);
    free(s->address);
    free(s);
    return NULL;
}

void seed_close_p(struct seed **s)
{
    *s = seed_close(*s);
}

int32_t seed_controller(const struct seed *s)
{
    return s->controller;
}

const int32_t *seed_brokers(const struct seed *s, int32_t *ret_count)
{
    *ret_count = s->broker_count;
    return s->ids;
}

const char *seed_address(const struct seed *s)
{
    return s->address;
}
