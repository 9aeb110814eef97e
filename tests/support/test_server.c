#include "tests/support/test_server.h"

#include "common/base/err.h"
#include "common/base/lock.h"
#include "common/base/mem.h"
#include "common/io/fs.h"
#include "tests/support/test_main.h"

#include <errno.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

enum { MAX_REACTORS = 4, MAX_PARKED = 1000, BIG_ANSWER = 100 * 1024, WAIT_US = 20000000 };

struct test_server {
    struct net net;
    struct broker broker;
    struct reactor *reactors[MAX_REACTORS];
    struct conn_set *sets[MAX_REACTORS];
    int count;
    struct listener *listener;
    struct workq *workq;
    struct mutex lock; /* what follows */
    struct cond changed;
    int started;
    struct request *parked[MAX_PARKED];
    int parked_count;
    bool parks_nothing;
    struct records records;
    char principal[200];
};

static struct test_server *server_of(struct broker *b)
{
    return container_of(b, struct test_server, broker);
}

static void note_start(struct test_server *t, const struct request *req)
{
    WITH_LOCK(&t->lock)
    {
        t->started++;
        snprintf(t->principal, sizeof t->principal, "%.*s", STR_ARG(req->principal));
        cond_broadcast(&t->changed);
    }
}

static void *new_response(struct request *req)
{
    const struct msg_desc *d = api_messages_find(req->api_key)->response;
    void *resp = arena_alloc(&req->arena, d->root.size);

    msg_init(d, resp);
    return resp;
}

static void handle_heartbeat(struct broker *b, struct request *req)
{
    const struct heartbeat_request *body = req->body;
    struct heartbeat_response *resp = new_response(req);

    note_start(server_of(b), req);
    resp->throttle_time_ms = body->generation_id;
    request_reply(req, resp);
}

static void drop_file(void *f)
{
    file_unref(f);
}

static void *fetch_response(struct test_server *t, struct request *req)
{
    struct fetch_response *resp = new_response(req);

    if (!t->records.file)
        return resp;
    resp->responses = arena_new(&req->arena, struct fetch_response_response);
    struct_init(&fetch_response_response_desc, resp->responses);
    resp->responses_count = 1;
    struct fetch_response_partition *p = arena_new(&req->arena, struct fetch_response_partition);
    struct_init(&fetch_response_partition_desc, p);
    p->records = t->records;
    resp->responses->partitions = p;
    resp->responses->partitions_count = 1;
    arena_hold(&req->arena, file_ref(t->records.file), drop_file);
    return resp;
}

static void handle_parked(struct broker *b, struct request *req)
{
    struct test_server *t = server_of(b);
    bool is_parked = false;

    note_start(t, req);
    WITH_LOCK(&t->lock)
    {
        is_parked = !t->parks_nothing && t->parked_count < MAX_PARKED;
        if (is_parked)
            t->parked[t->parked_count++] = req;
        cond_broadcast(&t->changed);
    }
    if (!is_parked)
        request_reply(req, req->api_key == API_FETCH ? fetch_response(t, req) : new_response(req));
}

struct elsewhere {
    struct job job;
    struct request *req;
};

static void reply_elsewhere(struct job *j)
{
    struct elsewhere *e = container_of(j, struct elsewhere, job);

    request_reply(e->req, new_response(e->req));
}

static void handle_leave_group(struct broker *b, struct request *req)
{
    struct elsewhere *e = arena_new(&req->arena, struct elsewhere);

    note_start(server_of(b), req);
    *e = (struct elsewhere){{.work = reply_elsewhere}, req};
    workq_submit(server_of(b)->workq, &e->job);
}

static void handle_sync_group(struct broker *b, struct request *req)
{
    note_start(server_of(b), req);
    request_close(req);
}

static void handle_produce(struct broker *b, struct request *req)
{
    const struct produce_request *body = req->body;

    note_start(server_of(b), req);
    if (body->acks == 0)
        request_no_reply(req);
    else
        request_reply(req, new_response(req));
}

static void handle_metadata(struct broker *b, struct request *req)
{
    struct metadata_response *resp = new_response(req);

    note_start(server_of(b), req);
    resp->topics_count = BIG_ANSWER / 20;
    resp->topics =
        arena_new_array(&req->arena, struct metadata_response_topic, (size_t)resp->topics_count);
    for (int i = 0; i < resp->topics_count; i++) {
        struct_init(&metadata_response_topic_desc, &resp->topics[i]);
        resp->topics[i].name = STR("name");
    }
    request_reply(req, resp);
}

static void handle_api_versions(struct broker *b, struct request *req)
{
    note_start(server_of(b), req);
    request_reply(req, new_response(req));
}

static const api_handler handlers[API_KEY_COUNT] = {
    [API_PRODUCE] = handle_produce,         [API_FETCH] = handle_parked,
    [API_METADATA] = handle_metadata,       [API_HEARTBEAT] = handle_heartbeat,
    [API_LEAVE_GROUP] = handle_leave_group, [API_SYNC_GROUP] = handle_sync_group,
    [API_LIST_GROUPS] = handle_parked,      [API_API_VERSIONS] = handle_api_versions,
};

static const struct api_table table = {handlers, API_KEY_COUNT};

static void start_threads(struct test_server *t, int reactors)
{
    t->count = MAX(reactors, 1);
    ck_assert_int_eq(workq_new("work", 1, &t->workq), 0);
    t->net.workq = t->workq;
    for (int i = 0; i < t->count; i++) {
        ck_assert_int_eq(reactor_new("net", &clock_system, &t->reactors[i]), 0);
        t->sets[i] = conn_set_new(t->reactors[i], &t->net);
        ck_assert_int_eq(reactor_start(t->reactors[i]), 0);
    }
}

struct test_server *test_server_start(const struct test_server_opts *o)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    struct test_server *t = xnew(struct test_server);

    signal(SIGPIPE, SIG_IGN);
    mutex_init(&t->lock, LOCK_PARTITION);
    cond_init(&t->changed);
    t->net = (struct net){
        .broker = &t->broker,
        .apis = &table,
        .max_frame_bytes = o->max_frame_bytes ? o->max_frame_bytes : 100 << 20,
        .max_idle_us = o->max_idle_ms * 1000,
        .max_request_bytes = o->max_request_bytes,
        .max_connections = o->max_connections ? o->max_connections : INT64_MAX,
    };
    accept_rate_init(&t->net.accept_rate, 11, 1000, INT64_MAX);
    ck_assert_int_eq(
        ip_limit_new(o->max_per_ip ? o->max_per_ip : INT64_MAX, "", &why, &t->net.ip_limit), 0);
    start_threads(t, o->reactors);
    const struct listener_opts lo = {
        .name = "TEST",
        .host = "127.0.0.1",
        .sock = {.backlog = 500, .send_buffer_bytes = -1, .receive_buffer_bytes = -1},
        .tls = o->tls,
        .net = &t->net,
        .sets = t->sets,
        .window_count = 11,
        .window_ms = 1000,
    };
    const struct listener_limits limits = {.set_count = t->count,
                                           .max_connections = INT64_MAX,
                                           .max_rate = o->max_rate ? o->max_rate : INT64_MAX};
    ck_assert_int_eq(listener_open(&lo, &limits, &why, &t->listener), 0);
    listener_start(t->listener);
    return t;
}

bool test_server_stop(struct test_server *t)
{
    bool is_empty = true;

    listener_stop(t->listener);
    for (int i = 0; i < t->count; i++)
        is_empty &= conn_set_stop(t->sets[i], clock_mono_us(&clock_system) + WAIT_US);
    ck_assert_int_eq(t->net.connections, 0);
    ck_assert_int_eq(t->net.request_bytes, 0);
    workq_free(t->workq);
    for (int i = 0; i < t->count; i++)
        reactor_stop(t->reactors[i]);
    for (int i = 0; i < t->count; i++) {
        conn_set_free(t->sets[i]);
        reactor_free(t->reactors[i]);
    }
    listener_free(t->listener);
    ip_limit_free(t->net.ip_limit);
    cond_deinit(&t->changed);
    mutex_deinit(&t->lock);
    free(t);
    return is_empty;
}

int test_server_port(const struct test_server *t)
{
    return listener_port(t->listener);
}

struct listener *test_server_listener(struct test_server *t)
{
    return t->listener;
}

int test_server_started(struct test_server *t, int at_least)
{
    int64_t deadline = clock_mono_us(&clock_system) + WAIT_US;
    LOCK_SCOPE(&t->lock);

    while (t->started < at_least) {
        if (!cond_wait_until(&t->changed, &t->lock, deadline))
            ck_abort_msg("only %d requests of %d were started", t->started, at_least);
    }
    return t->started;
}

static struct request *take_parked(struct test_server *t)
{
    int64_t deadline = clock_mono_us(&clock_system) + WAIT_US;
    LOCK_SCOPE(&t->lock);

    while (t->parked_count == 0) {
        if (!cond_wait_until(&t->changed, &t->lock, deadline))
            ck_abort_msg("no request is parked");
    }
    struct request *req = t->parked[0];
    memmove(t->parked, t->parked + 1, (size_t)--t->parked_count * sizeof *t->parked);
    return req;
}

void test_server_release(struct test_server *t, int count)
{
    for (int i = 0; i < count; i++) {
        struct request *req = take_parked(t);

        request_reply(req, req->api_key == API_FETCH ? fetch_response(t, req) : new_response(req));
    }
}

void test_server_release_all(struct test_server *t)
{
    int count = 0;

    WITH_LOCK(&t->lock)
    {
        t->parks_nothing = true;
        count = t->parked_count;
    }
    test_server_release(t, count);
}

void test_server_set_file(struct test_server *t, struct file *f, uint64_t pos, uint32_t len)
{
    t->records = (struct records){.file = f, .pos = pos, .len = len};
}

const char *test_server_principal(const struct test_server *t)
{
    return t->principal;
}

void test_server_await_connections(struct test_server *t, int count)
{
    int64_t deadline = clock_mono_us(&clock_system) + WAIT_US;

    while (listener_connections(t->listener) != count) {
        if (clock_mono_us(&clock_system) > deadline)
            ck_abort_msg("%d connections, not %d", (int)listener_connections(t->listener), count);
        sched_yield();
    }
}

/* ---- the client ---- */

int client_connect(const struct test_server *t)
{
    const struct timeval wait = {.tv_sec = WAIT_US / 1000000};
    struct sock_addr to;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(sock_addr_parse("127.0.0.1", test_server_port(t), &to), 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    ck_assert_int_eq(connect(fd, &to.any, to.len), 0);
    return fd;
}

void client_send(int fd, struct slice bytes)
{
    while (bytes.len) {
        ssize_t n = send(fd, bytes.p, bytes.len, MSG_NOSIGNAL);

        if (n < 0)
            return; /* hung up on: the test will see */
        bytes = slice_from(bytes, (size_t)n);
    }
}

static void send_message(int fd, const struct request_header *h, const void *message)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct writer w;

    writer_init(&w, &a);
    ck_assert_int_eq(request_encode(h, message, &w), 0);
    client_send(fd, writer_flat(&w));
}

static struct request_header header_for(int16_t key, int16_t version, int32_t correlation_id)
{
    return (struct request_header){key, version, correlation_id, STR("client")};
}

void client_ask(int fd, int16_t key, int16_t version, int32_t correlation_id)
{
    const struct request_header h = header_for(key, version, correlation_id);
    const struct msg_desc *d = api_messages_find(key)->request;
    CLEANUP(free_p) void *message = xmalloc(d->root.size);

    msg_init(d, message);
    send_message(fd, &h, message);
}

void client_heartbeat(int fd, int32_t correlation_id, int generation)
{
    const struct request_header h = header_for(API_HEARTBEAT, 4, correlation_id);
    struct heartbeat_request message;

    msg_init(&heartbeat_request_desc, &message);
    message.generation_id = generation;
    send_message(fd, &h, &message);
}

static bool read_all(int fd, void *dst, size_t n)
{
    for (size_t got = 0; got < n;) {
        ssize_t r = recv(fd, (uint8_t *)dst + got, n - got, 0);

        if (r < 0 && errno == EAGAIN)
            ck_abort_msg("no answer");
        if (r <= 0)
            return false;
        got += (size_t)r;
    }
    return true;
}

int32_t client_answer(int fd, int16_t key, int16_t version, struct arena *a, const void **ret)
{
    const struct request_header h = header_for(key, version, 0);
    const struct msg_desc *d = api_messages_find(key)->response;
    uint8_t size[4];
    struct slice body;
    int32_t correlation_id;

    if (!read_all(fd, size, 4))
        return -1;
    size_t len = be32_read(size);
    uint8_t *frame = arena_alloc(a, len);
    ck_assert(read_all(fd, frame, len));
    ck_assert_int_eq(response_header_decode(&h, slice_of(frame, len), &correlation_id, &body), 0);
    void *message = arena_alloc(a, d->root.size);
    ck_assert_int_eq(codec_decode(d, version, body, a, message), 0);
    *ret = message;
    return correlation_id;
}

int client_beat(int fd, int32_t correlation_id)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    const void *m = NULL;
    int32_t got = client_answer(fd, API_HEARTBEAT, 4, &a, &m);

    if (got < 0)
        return -1;
    ck_assert_int_eq(got, correlation_id);
    return ((const struct heartbeat_response *)m)->throttle_time_ms;
}

bool client_is_closed(int fd)
{
    uint8_t byte;
    ssize_t n = recv(fd, &byte, 1, MSG_PEEK);

    if (n < 0 && errno != ECONNRESET)
        ck_abort_msg("it neither answers nor hangs up");
    return n <= 0;
}
