#include "tests/support/fake_broker.h"

#include "common/base/mem.h"
#include "common/base/thread.h"
#include "common/io/framer.h"
#include "common/io/sock.h"
#include "tests/support/test_main.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { MAX_CONNS = 32 };

struct fake_conn {
    struct stream *stream;
    struct framer framer;
};

struct fake_broker {
    fake_answer_fn answer;
    void *ctx;
    int listening;
    int stop_fd;
    struct thread thread;
    struct fake_conn conns[MAX_CONNS];
    _Atomic int accepted;
    int16_t limits[API_KEY_COUNT];
    uint8_t scratch[65536];
};

static void hang_up(struct fake_conn *c)
{
    framer_deinit(&c->framer);
    c->stream = stream_close(c->stream);
}

static void send_all(struct fake_conn *c, struct slice bytes)
{
    while (bytes.len) {
        struct pollfd p = {.fd = c->stream->fd, .events = POLLOUT};
        ssize_t n = send(c->stream->fd, bytes.p, bytes.len, MSG_NOSIGNAL);

        if (n < 0 && errno != EAGAIN)
            return;
        if (n < 0)
            poll(&p, 1, -1);
        else
            bytes = slice_from(bytes, (size_t)n);
    }
}

static void *own_versions(const struct fake_broker *f, struct arena *a)
{
    struct api_versions_response *v = arena_new(a, struct api_versions_response);

    msg_init(&api_versions_response_desc, v);
    v->api_keys = arena_new_array(a, struct api_versions_response_api_key, API_KEY_COUNT);
    for (int16_t key = 0; key < API_KEY_COUNT; key++) {
        const struct api_msgs *api = api_messages_find(key);

        if (api && f->limits[key] >= 0)
            v->api_keys[v->api_keys_count++] = (struct api_versions_response_api_key){
                key, api->min_version,
                f->limits[key] < api->max_version ? f->limits[key] : api->max_version};
    }
    return v;
}

static enum fake_action decide(struct fake_broker *f, const struct fake_request *q, void **response)
{
    if (q->header.request_api_key != API_API_VERSIONS)
        return f->answer(f->ctx, q, response);
    *response = own_versions(f, q->arena);
    return FAKE_ANSWER;
}

static void serve(struct fake_broker *f, struct fake_conn *c, struct slice frame)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct fake_request q = {.arena = &a};
    struct slice body;
    void *response = NULL;
    struct writer w;

    ck_assert_int_eq(request_header_decode(frame, &q.header, &body), 0);
    const struct api_msgs *api = api_messages_find(q.header.request_api_key);
    void *message = arena_zalloc(&a, api->request->root.size);
    int16_t version = q.header.request_api_version;
    ck_assert_int_eq(codec_decode(api->request, version, body, &a, message), 0);
    q.body = message;
    switch (decide(f, &q, &response)) {
    case FAKE_ANSWER:
        writer_init(&w, &a);
        ck_assert_int_eq(response_encode(q.header.request_api_key, version, q.header.correlation_id,
                                         response, &w),
                         0);
        send_all(c, writer_flat(&w));
        break;
    case FAKE_SILENCE:
        break;
    case FAKE_CLOSE:
        hang_up(c);
        break;
    case FAKE_GARBAGE:
        send_all(c, slice_of("\0\0\0\7garbage", 11));
        break;
    }
}

static void receive(struct fake_broker *f, struct fake_conn *c)
{
    const struct iovec scratch = {f->scratch, sizeof f->scratch};

    while (c->stream) {
        struct buf *buf = NULL;
        struct slice frame;
        int r = framer_next(&c->framer, c->stream, &scratch, &buf, &frame);

        if (r == -EAGAIN)
            return;
        if (r <= 0) {
            hang_up(c);
            return;
        }
        serve(f, c, frame);
        buf_unref(buf);
    }
}

static void accept_one(struct fake_broker *f)
{
    struct sock_addr peer;
    int fd = -1;

    if (sock_accept(f->listening, &fd, &peer) < 0)
        return;
    for (int i = 0; i < MAX_CONNS; i++) {
        if (!f->conns[i].stream) {
            f->conns[i] = (struct fake_conn){stream_plain_new(fd), {.max = INT32_MAX}};
            f->accepted++;
            return;
        }
    }
    ck_abort_msg("too many connections");
}

static void run(void *arg)
{
    struct fake_broker *f = arg;

    for (;;) {
        struct pollfd p[MAX_CONNS + 2] = {{f->stop_fd, POLLIN, 0}, {f->listening, POLLIN, 0}};

        for (int i = 0; i < MAX_CONNS; i++)
            p[i + 2] = (struct pollfd){f->conns[i].stream ? f->conns[i].stream->fd : -1, POLLIN, 0};
        if (poll(p, ARRAY_LEN(p), -1) < 0 || p[0].revents)
            return;
        if (p[1].revents)
            accept_one(f);
        for (int i = 0; i < MAX_CONNS; i++) {
            if (p[i + 2].revents && f->conns[i].stream)
                receive(f, &f->conns[i]);
        }
    }
}

struct fake_broker *fake_broker_start(fake_answer_fn answer, void *ctx)
{
    const struct sock_opts opts = {
        .backlog = 20, .send_buffer_bytes = -1, .receive_buffer_bytes = -1};
    struct fake_broker *f = xnew(struct fake_broker);

    f->answer = answer;
    f->ctx = ctx;
    f->stop_fd = eventfd(0, EFD_CLOEXEC);
    for (int i = 0; i < API_KEY_COUNT; i++)
        f->limits[i] = INT16_MAX;
    ck_assert_int_eq(sock_listen("127.0.0.1", 0, &opts, &f->listening), 0);
    ck_assert_int_eq(thread_start(&f->thread, "fake-broker", run, f), 0);
    return f;
}

int fake_broker_port(const struct fake_broker *f)
{
    return sock_port(f->listening);
}

int fake_broker_accepted(const struct fake_broker *f)
{
    return f->accepted;
}

void fake_broker_limit(struct fake_broker *f, int16_t api_key, int16_t max_version)
{
    f->limits[api_key] = max_version;
}

struct fake_broker *fake_broker_stop(struct fake_broker *f)
{
    uint64_t one = 1;

    ck_assert_int_eq(write(f->stop_fd, &one, sizeof one), sizeof one);
    thread_join(&f->thread);
    for (int i = 0; i < MAX_CONNS; i++) {
        if (f->conns[i].stream)
            hang_up(&f->conns[i]);
    }
    close(f->listening);
    close(f->stop_fd);
    free(f);
    return NULL;
}
