#include "common/client/peer.h"

#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/base/say.h"
#include "common/io/framer.h"
#include "common/io/lookup.h"
#include "common/io/outq.h"
#include "common/wire/header.h"

/*
 * IDLE -> LOOKUP -> CONNECTING -> HANDSHAKE -> ASKING -> READY, and from each of them back to IDLE.
 * LOOKUP is for host names only, ASKING (for ApiVersions) only where versions are negotiated.
 */
enum state { PEER_IDLE, PEER_LOOKUP, PEER_CONNECTING, PEER_HANDSHAKE, PEER_ASKING, PEER_READY };

enum { MAX_ADDRS = 8, SCRATCH = 8192, READS_PER_TURN = 16 };

struct range {
    int16_t min;
    int16_t max; /* -1: the broker does not have it */
};

/* An encoded request, from peer_send() until its last byte has left. */
struct frame {
    struct frame *next;
    struct arena arena;
    struct slice bytes;
};

struct call_list {
    struct peer_call *head;
    struct peer_call **tail;
};

struct peer {
    struct reactor *reactor;
    char *host;
    int port;
    char *client_id;
    struct tls_client *tls;
    int64_t connect_timeout_us;
    int64_t request_timeout_us;
    int64_t idle_timeout_us;

    enum state state;
    struct lookup *lookup;
    struct sock_addr addrs[MAX_ADDRS];
    int addr_count;
    int addr_at;
    struct stream *stream;
    struct io_event event; /* watched from CONNECTING on */
    struct framer framer;
    struct outq out;

    struct frame *unsent; /* until READY */
    struct frame **unsent_tail;
    struct call_list waiting; /* for their answers, in the order of the wire */
    struct call_list failed;  /* done() is to be called with their correlation_id as r */
    struct message fail_message;
    bool fail_posted;
    struct message flush_message;
    bool flush_deferred;
    struct message receive_message; /* to go on after others had their turn */
    bool receive_posted;
    struct message free_message;
    bool is_freed;

    struct timer timer;
    int64_t connect_deadline_us;
    int64_t used_us;
    int32_t next_correlation_id;

    struct range *ranges; /* by API key; NULL: not negotiated */
    struct peer_call ask;
};

static void on_event(struct io_event *ev, uint32_t mask);
static void on_timer(struct timer *t);
static void run_failed(struct message *m);
static void run_flush(struct message *m);
static void run_receive(struct message *m);

static void list_init(struct call_list *l)
{
    l->head = NULL;
    l->tail = &l->head;
}

static void list_push(struct call_list *l, struct peer_call *c)
{
    c->next = NULL;
    *l->tail = c;
    l->tail = &c->next;
}

static struct peer_call *list_pop(struct call_list *l)
{
    struct peer_call *c = l->head;

    if (c) {
        l->head = c->next;
        if (!l->head)
            l->tail = &l->head;
    }
    return c;
}

static int64_t now_us(const struct peer *p)
{
    return clock_mono_us(reactor_clock(p->reactor));
}

struct peer *peer_new(struct reactor *r, const struct peer_opts *opts)
{
    struct peer *p = xnew(struct peer);

    p->reactor = r;
    p->host = xstrdup(opts->host);
    p->port = opts->port;
    p->client_id = opts->client_id ? xstrdup(opts->client_id) : NULL;
    p->tls = opts->tls;
    p->connect_timeout_us = opts->connect_timeout_us;
    p->request_timeout_us = opts->request_timeout_us;
    p->idle_timeout_us = opts->idle_timeout_us;
    p->unsent_tail = &p->unsent;
    list_init(&p->waiting);
    list_init(&p->failed);
    p->fail_message.run = run_failed;
    p->flush_message.run = run_flush;
    p->receive_message.run = run_receive;
    p->timer.fire = on_timer;
    p->event.ready = on_event;
    p->event.fd = -1;
    p->framer.max = INT32_MAX;
    return p;
}

void peer_negotiate(struct peer *p)
{
    if (!p->ranges)
        p->ranges = xnew_array(struct range, API_KEY_COUNT);
}

bool peer_is_connected(const struct peer *p)
{
    return p->state == PEER_READY;
}

/* To be told so soon, but not from within the caller's call. */
static void fail_later(struct peer *p, struct peer_call *c, int r)
{
    c->correlation_id = r;
    list_push(&p->failed, c);
    if (!p->fail_posted) {
        p->fail_posted = true;
        reactor_post(p->reactor, &p->fail_message);
    }
}

static void call_done(struct peer_call *c, int r, const void *response, struct arena *a)
{
    c->arena = a;
    c->done(c, r, response);
}

static void run_failed(struct message *m)
{
    struct peer *p = container_of(m, struct peer, fail_message);
    struct peer_call *c;

    p->fail_posted = false;
    while ((c = list_pop(&p->failed)) != NULL) {
        struct arena none = {0};

        call_done(c, c->correlation_id, NULL, &none);
    }
}

static void frame_free(void *frame)
{
    struct frame *f = frame;

    arena_deinit(&f->arena);
    free(f);
}

/* Connects no more, forgets the connection and its bytes. Calls stay. */
static void drop_connection(struct peer *p)
{
    p->lookup = lookup_cancel(p->lookup);
    if (p->event.fd >= 0)
        reactor_remove(p->reactor, &p->event);
    p->event.fd = -1;
    p->stream = stream_close(p->stream);
    outq_deinit(&p->out);
    framer_deinit(&p->framer);
    while (p->unsent) {
        struct frame *f = p->unsent;

        p->unsent = f->next;
        frame_free(f);
    }
    p->unsent_tail = &p->unsent;
    p->state = PEER_IDLE;
}

/* The connection is lost; r for those whose time is up is -ETIMEDOUT whatever the reason. */
static void fail_all(struct peer *p, int r)
{
    int64_t now = now_us(p);
    struct peer_call *c;

    if (p->state != PEER_IDLE)
        say_debug("connection ended peer=%s:%d reason=%s", p->host, p->port, err_name(r));
    drop_connection(p);
    timer_cancel(p->reactor, &p->timer);
    while ((c = list_pop(&p->waiting)) != NULL) {
        if (c != &p->ask)
            fail_later(p, c, c->deadline_us <= now ? -ETIMEDOUT : r);
    }
}

void peer_disconnect(struct peer *p)
{
    fail_all(p, -ECONNRESET);
}

static void run_free(struct message *m)
{
    struct peer *p = container_of(m, struct peer, free_message);

    if (p->fail_posted || p->flush_deferred || p->receive_posted) {
        reactor_post(p->reactor, m); /* after those */
        return;
    }
    free(p->ranges);
    free(p->client_id);
    free(p->host);
    free(p);
}

struct peer *peer_free(struct peer *p)
{
    struct peer_call *c;

    if (!p)
        return NULL;
    assert(!p->is_freed);
    p->is_freed = true;
    fail_all(p, -ECANCELED);
    while ((c = list_pop(&p->failed)) != NULL) {
        struct arena none = {0};

        call_done(c, -ECANCELED, NULL, &none);
    }
    /* We may be inside one of our own callbacks. */
    p->free_message.run = run_free;
    reactor_post(p->reactor, &p->free_message);
    return NULL;
}

/* When something is to be looked at: the earliest deadline. */
static void arm_timer(struct peer *p)
{
    int64_t at = INT64_MAX;

    for (const struct peer_call *c = p->waiting.head; c; c = c->next)
        at = MIN(at, c->deadline_us);
    if (p->state != PEER_IDLE && p->state < PEER_READY)
        at = MIN(at, p->connect_deadline_us);
    if (p->state == PEER_READY && !p->waiting.head && p->idle_timeout_us)
        at = MIN(at, p->used_us + p->idle_timeout_us);
    if (at == INT64_MAX)
        timer_cancel(p->reactor, &p->timer);
    else
        timer_arm(p->reactor, &p->timer, at);
}

static void on_timer(struct timer *t)
{
    struct peer *p = container_of(t, struct peer, timer);
    int64_t now = now_us(p);
    bool is_late = p->state < PEER_READY && p->connect_deadline_us <= now;
    bool is_idle = !p->waiting.head && p->idle_timeout_us && p->used_us + p->idle_timeout_us <= now;

    for (const struct peer_call *c = p->waiting.head; c; c = c->next)
        is_late |= c->deadline_us <= now;
    /* Answers come in order: behind one that is missing, none can be had from this connection. */
    if (is_late)
        fail_all(p, p->state == PEER_READY ? -ECONNRESET : -ETIMEDOUT);
    else if (is_idle)
        drop_connection(p);
    else
        arm_timer(p);
}

static void watch(struct peer *p, uint32_t mask)
{
    reactor_modify(p->reactor, &p->event, mask);
}

static void flush(struct peer *p)
{
    uint8_t scratch[1]; /* there are no files in requests */
    int r = outq_send(&p->out, p->stream, scratch, sizeof scratch);

    if (r < 0 && r != -EAGAIN)
        fail_all(p, r);
    else
        watch(p, EPOLLIN | (r == -EAGAIN ? p->stream->wants : 0));
}

static void run_flush(struct message *m)
{
    struct peer *p = container_of(m, struct peer, flush_message);

    p->flush_deferred = false;
    if (p->state >= PEER_ASKING)
        flush(p);
}

/* What is sent within one turn of the reactor leaves together at its end. */
static void flush_later(struct peer *p)
{
    if (p->flush_deferred)
        return;
    p->flush_deferred = true;
    reactor_defer(p->reactor, &p->flush_message);
}

static void send_now(struct peer *p, struct frame *f)
{
    outq_add_mem(&p->out, f->bytes);
    outq_on_sent(&p->out, frame_free, f);
    flush_later(p);
}

static int encode(struct peer *p, struct peer_call *c, const void *body, struct frame *f)
{
    const struct request_header h = {
        .request_api_key = c->api_key,
        .request_api_version = c->version,
        .correlation_id = c->correlation_id,
        .client_id = str_of(p->client_id),
    };
    struct writer w;

    writer_init(&w, &f->arena);
    int r = request_encode(&h, body, &w);
    if (r == 0)
        f->bytes = writer_flat(&w);
    else if (w.err_field)
        say_debug("request cannot be encoded api=%d version=%d field=%s", c->api_key, c->version,
                  w.err_field);
    return r;
}

/* The version that both sides have, at most the one wanted; the frame was encoded with that one. */
static int adapt(struct peer *p, struct peer_call *c, struct frame *f)
{
    const struct api_msgs *api = api_messages_find(c->api_key);
    struct range has = p->ranges[c->api_key];
    int16_t version = c->version < has.max ? c->version : has.max;
    struct request_header h;
    struct slice body;

    if (version < MAX(has.min, (int16_t)api->min_version))
        return -EPROTONOSUPPORT;
    if (version == c->version)
        return 0;
    void *message = arena_zalloc(&f->arena, api->request->root.size);
    int r = request_header_decode(slice_from(f->bytes, 4), &h, &body);
    if (r == 0)
        r = codec_decode(api->request, c->version, body, &f->arena, message);
    c->version = version;
    return r < 0 ? r : encode(p, c, message, f);
}

/* The order of the calls stays; one that the broker cannot take is left out. */
static void send_unsent(struct peer *p)
{
    struct call_list calls = p->waiting;

    if (!calls.head)
        return;
    list_init(&p->waiting);
    for (struct peer_call *c; (c = list_pop(&calls)) != NULL;) {
        struct frame *f = p->unsent;

        p->unsent = f->next;
        int r = p->ranges ? adapt(p, c, f) : 0;
        if (r == 0) {
            list_push(&p->waiting, c);
            send_now(p, f);
        } else {
            frame_free(f);
            fail_later(p, c, r);
        }
    }
    p->unsent_tail = &p->unsent;
}

static void become_ready(struct peer *p)
{
    p->state = PEER_READY;
    p->used_us = now_us(p);
    send_unsent(p);
    arm_timer(p);
}

static void on_ranges(struct peer_call *c, int r, const void *response)
{
    struct peer *p = container_of(c, struct peer, ask);
    const struct api_versions_response *v = response;

    if (r == 0 && v->error_code)
        r = -EPROTONOSUPPORT;
    if (r < 0) {
        fail_all(p, r);
        return;
    }
    for (int i = 0; i < API_KEY_COUNT; i++)
        p->ranges[i] = (struct range){0, -1};
    for (int32_t i = 0; i < v->api_keys_count; i++) {
        const struct api_versions_response_api_key *k = &v->api_keys[i];

        if (k->api_key >= 0 && k->api_key < API_KEY_COUNT)
            p->ranges[k->api_key] = (struct range){k->min_version, k->max_version};
    }
    become_ready(p);
}

/* Version 0 is understood by every broker since 0.10, and answers all that is wanted. */
static void ask_for_ranges(struct peer *p)
{
    struct api_versions_request request;
    struct frame *f = xnew(struct frame);

    msg_init(&api_versions_request_desc, &request);
    p->state = PEER_ASKING;
    p->ask = (struct peer_call){.api_key = API_API_VERSIONS,
                                .done = on_ranges,
                                .correlation_id = p->next_correlation_id++,
                                .deadline_us = p->connect_deadline_us,
                                .next = p->waiting.head};
    int r = encode(p, &p->ask, &request, f);
    assert(r == 0);
    if (!p->waiting.head)
        p->waiting.tail = &p->ask.next;
    p->waiting.head = &p->ask;
    send_now(p, f);
}

static void shake_hands(struct peer *p)
{
    int r = stream_handshake(p->stream);

    if (r == -EAGAIN) {
        watch(p, p->stream->wants);
    } else if (r < 0) {
        say_debug("handshake failed peer=%s:%d reason=%s", p->host, p->port, err_name(r));
        fail_all(p, r);
    } else if (p->ranges) {
        watch(p, EPOLLIN);
        ask_for_ranges(p);
    } else {
        watch(p, EPOLLIN);
        become_ready(p);
    }
}

/* Tries the addresses from addr_at on; r is what the last one said. */
static void try_addrs(struct peer *p, int r)
{
    for (; p->addr_at < p->addr_count; p->addr_at++) {
        int fd = -1;

        r = sock_connect(&p->addrs[p->addr_at], &fd);
        if (r < 0)
            continue;
        p->event.fd = fd;
        p->event.mask = EPOLLOUT;
        p->stream = p->tls ? stream_tls_connect(p->tls, fd, p->host) : stream_plain_new(fd);
        r = reactor_add(p->reactor, &p->event);
        if (r == 0)
            return;
        p->event.fd = -1;
        p->stream = stream_close(p->stream);
    }
    fail_all(p, r);
}

static void on_connected(struct peer *p)
{
    int r = sock_error(p->event.fd);

    if (r == 0) {
        p->state = PEER_HANDSHAKE;
        shake_hands(p);
        return;
    }
    reactor_remove(p->reactor, &p->event);
    p->event.fd = -1;
    p->stream = stream_close(p->stream);
    p->addr_at++;
    try_addrs(p, r);
}

static void on_lookup(void *ctx, int r, const struct sock_addr *addrs, int count)
{
    struct peer *p = ctx;

    p->lookup = NULL;
    if (r < 0) {
        fail_all(p, r == -ENOENT ? -EHOSTUNREACH : r);
        return;
    }
    p->addr_count = MIN(count, (int)MAX_ADDRS);
    memcpy(p->addrs, addrs, (size_t)p->addr_count * sizeof *addrs);
    p->state = PEER_CONNECTING;
    try_addrs(p, -EHOSTUNREACH);
}

static void start_connecting(struct peer *p)
{
    const struct lookup_opts opts = {p->host, p->port, on_lookup, p};

    p->connect_deadline_us = now_us(p) + p->connect_timeout_us;
    p->addr_at = 0;
    if (sock_addr_parse(p->host, p->port, &p->addrs[0]) == 0) {
        p->addr_count = 1;
        p->state = PEER_CONNECTING;
        try_addrs(p, -EHOSTUNREACH);
        return;
    }
    p->state = PEER_LOOKUP;
    int r = lookup_start(p->reactor, &opts, &p->lookup);
    if (r < 0)
        fail_all(p, r);
}

void peer_send(struct peer *p, struct peer_call *c)
{
    struct frame *f = xnew(struct frame);

    assert(!p->is_freed);
    c->correlation_id = p->next_correlation_id++;
    c->deadline_us = now_us(p) + (c->timeout_us ? c->timeout_us : p->request_timeout_us);
    int r = encode(p, c, c->request, f);
    if (r == 0 && p->state == PEER_READY && p->ranges)
        r = adapt(p, c, f);
    if (r < 0) {
        frame_free(f);
        fail_later(p, c, r);
        return;
    }
    list_push(&p->waiting, c);
    if (p->state == PEER_READY) {
        send_now(p, f);
    } else {
        *p->unsent_tail = f;
        p->unsent_tail = &f->next;
    }
    if (p->state == PEER_IDLE)
        start_connecting(p);
    if (!timer_is_armed(&p->timer) || p->timer.deadline_us > c->deadline_us)
        arm_timer(p);
}

/* One answer: it belongs to the oldest call. */
static int take_answer(struct peer *p, struct buf *buf, struct slice frame)
{
    CLEANUP(arena_deinit) struct arena arena = {0};
    struct peer_call *c = p->waiting.head;
    int32_t correlation_id;
    struct slice body;

    arena_hold_buf(&arena, buf);
    if (!c)
        return -EBADMSG;
    const struct api_msgs *api = api_messages_find(c->api_key);
    const struct request_header h = {.request_api_key = c->api_key,
                                     .request_api_version = c->version};
    void *response = arena_zalloc(&arena, api->response->root.size);
    int r = response_header_decode(&h, frame, &correlation_id, &body);
    if (r == 0 && correlation_id != c->correlation_id)
        r = -EBADMSG;
    if (r == 0)
        r = codec_decode(api->response, c->version, body, &arena, response);
    if (r < 0) {
        say_limited(SAY_WARN, 5, "answer not understood peer=%s:%d api=%s version=%d, reconnecting",
                    p->host, p->port, api->name, c->version);
        return r;
    }
    list_pop(&p->waiting);
    call_done(c, 0, response, &arena);
    return 0;
}

static void receive_later(struct peer *p)
{
    if (p->receive_posted)
        return;
    p->receive_posted = true;
    reactor_post(p->reactor, &p->receive_message);
}

static void receive(struct peer *p)
{
    uint8_t bytes[SCRATCH];
    const struct iovec scratch = {bytes, sizeof bytes};

    for (int i = 0;; i++) {
        struct buf *buf = NULL;
        struct slice frame;

        if (i >= READS_PER_TURN && !framer_has_frame(&p->framer)) {
            receive_later(p);
            break;
        }
        int r = framer_next(&p->framer, p->stream, &scratch, &buf, &frame);
        if (r == -EAGAIN && p->framer.is_drained)
            break;
        if (r == -EAGAIN)
            continue; /* TLS may hold bytes that the descriptor does not show */
        r = r == 1 ? take_answer(p, buf, frame) : r == 0 ? -ECONNRESET : r;
        /* done() may have freed the peer, or disconnected it. */
        if (p->is_freed || p->state < PEER_ASKING)
            return;
        if (r < 0) {
            fail_all(p, r);
            return;
        }
    }
    p->used_us = now_us(p);
    arm_timer(p);
}

static void run_receive(struct message *m)
{
    struct peer *p = container_of(m, struct peer, receive_message);

    p->receive_posted = false;
    if (p->state >= PEER_ASKING)
        receive(p);
}

static void on_event(struct io_event *ev, uint32_t mask)
{
    struct peer *p = container_of(ev, struct peer, event);

    if (p->state == PEER_CONNECTING) {
        on_connected(p);
    } else if (p->state == PEER_HANDSHAKE) {
        shake_hands(p);
    } else {
        if (!outq_is_empty(&p->out))
            flush(p);
        if (p->state >= PEER_ASKING && (mask & (EPOLLIN | EPOLLHUP | EPOLLERR)))
            receive(p);
    }
}
