#include "broker/server/conn.h"

#include "broker/server/dispatch.h"
#include "broker/server/listener.h"
#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/base/say.h"
#include "common/io/framer.h"
#include "common/io/outq.h"
#include "common/wire/writer.h"

enum conn_state { CONN_HANDSHAKE, CONN_OPEN, CONN_ENDING, CONN_CLOSED };

enum {
    MAX_OPEN = 16,            /* requests that wait, of one connection */
    MAX_UNSENT = 1024 * 1024, /* bytes of answers in memory, above which no request starts */
    MAX_UNSENT_ANSWERS = 64,
    REQUESTS_PER_TURN = 256,
    READS_PER_TURN = 4,
};

struct conn {
    struct conn_link link;
    struct conn_set *set;
    struct listener *listener;
    struct stream *stream;
    struct io_event event;
    struct framer framer;
    struct outq out;
    struct request *oldest; /* in order: those that run, and answered ones behind them */
    struct request **newest;
    struct sock_addr peer;
    char *host;
    char *principal; /* NULL: anonymous */
    struct message flush;
    struct message more;
    size_t held_bytes; /* of its framer, as counted in net->request_bytes */
    uint16_t open;     /* requests that are not answered */
    uint16_t unsent;   /* answers in the output queue */
    uint8_t state;
    bool is_in_loop;
    bool is_flush_deferred;
    bool is_more_posted;
    bool is_warming;  /* the head of the output queue is being read from the disk */
    bool has_barrier; /* the newest request keeps others from starting */
    bool is_held;     /* it would read on if it might */
    uint32_t
        out_wants; /* what the output waits for, 0: nothing; a later read changes stream->wants */
};

static const struct str anonymous = {"User:ANONYMOUS", sizeof "User:ANONYMOUS" - 1};

static void run_loop(struct conn *c);
static void on_event(struct io_event *ev, uint32_t mask);
static void run_flush(struct message *m);
static void run_more(struct message *m);
static void on_answered(struct message *m);

struct conn_link *conn_link(struct conn *c)
{
    return &c->link;
}

struct listener *conn_listener(const struct conn *c)
{
    return c->listener;
}

struct conn_set *conn_get_set(const struct conn *c)
{
    return c->set;
}

struct str conn_principal(const struct conn *c)
{
    return c->principal ? str_of(c->principal) : anonymous;
}

struct str conn_host(const struct conn *c)
{
    return str_of(c->host);
}

/* ---- beginning and end ---- */

void conn_open(struct conn_set *s, const struct conn_opts *opts)
{
    struct conn *c = xnew(struct conn);
    char text[SOCK_ADDR_TEXT];

    c->set = s;
    c->listener = opts->listener;
    c->peer = opts->peer;
    sock_addr_text(&opts->peer, text);
    c->host = xasprintf("/%s", text);
    c->newest = &c->oldest;
    c->framer.max = conn_set_net(s)->max_frame_bytes;
    c->flush.run = run_flush;
    c->more.run = run_more;
    c->stream = opts->tls ? stream_tls_accept(opts->tls, opts->fd) : stream_plain_new(opts->fd);
    c->state = opts->tls ? CONN_HANDSHAKE : CONN_OPEN;
    c->event = (struct io_event){.fd = opts->fd, .mask = EPOLLIN, .ready = on_event};
    conn_set_add(s, c);
    int r = reactor_add(conn_set_reactor(s), &c->event);
    if (r < 0) {
        c->event.fd = -1;
        conn_close(c, err_name(r));
    }
}

/* Frees it once nothing refers to it any more. */
static void free_if_done(struct conn *c)
{
    if (c->state != CONN_CLOSED || c->open || c->is_in_loop || c->is_flush_deferred ||
        c->is_more_posted || c->is_warming)
        return;
    conn_set_gone(c->set);
    free(c->principal);
    free(c->host);
    free(c);
}

static void free_request(struct request *req)
{
    struct conn *c = req->conn;
    struct net *net = conn_set_net(c->set);
    struct arena a = req->arena; /* the request lies in it */

    if (req->cost)
        net->request_bytes -= (int64_t)req->cost;
    conn_set_give_arena(c->set, &a);
}

static void on_sent(void *ctx)
{
    struct request *req = ctx;

    req->conn->unsent--;
    free_request(req);
}

/* Answers that wait behind an open request go; those that run come back by on_answered(). */
static void drop_answered(struct conn *c)
{
    struct request *req = c->oldest;

    c->oldest = NULL;
    c->newest = &c->oldest;
    while (req) {
        struct request *next = req->next;

        if (req->is_done)
            free_request(req);
        req = next;
    }
}

/* Bytes that arrived and are no request yet count, too, where there is a limit. */
static void count_held(struct conn *c)
{
    struct net *net = conn_set_net(c->set);
    size_t held = framer_held(&c->framer);

    if (net->max_request_bytes > 0 && held != c->held_bytes)
        net->request_bytes += (int64_t)held - (int64_t)c->held_bytes;
    c->held_bytes = held;
}

void conn_close(struct conn *c, const char *why)
{
    if (c->state == CONN_CLOSED)
        return;
    say_debug("connection ends listener=%s client=%s open_requests=%d reason=%s",
              listener_name(c->listener), c->host, c->open, why);
    if (c->event.fd >= 0)
        reactor_remove(conn_set_reactor(c->set), &c->event);
    c->stream = stream_close(c->stream);
    conn_set_remove(c->set, c);
    listener_lost(c->listener, &c->peer);
    c->state = CONN_CLOSED;
    outq_deinit(&c->out);
    framer_deinit(&c->framer);
    count_held(c);
    drop_answered(c);
    free_if_done(c);
}

/* ---- output ---- */

static void watch(struct conn *c, uint32_t mask)
{
    reactor_modify(conn_set_reactor(c->set), &c->event, mask);
}

/* What is here already, whole or in part, goes on even when requests hold too much: only then can
 * memory come back. */
static bool may_start(const struct conn *c)
{
    return c->state == CONN_OPEN && !c->has_barrier && c->open < MAX_OPEN &&
           c->unsent < MAX_UNSENT_ANSWERS && c->out.mem_bytes < MAX_UNSENT &&
           (c->framer.large || framer_has_frame(&c->framer) || !net_is_full(conn_set_net(c->set)));
}

/* Reading stops only when bytes come that must wait (on_event); here it starts again. */
static uint32_t read_mask(const struct conn *c)
{
    return may_start(c) ? EPOLLIN : c->event.mask & EPOLLIN;
}

/* A range of a log on its way into the page cache, on a thread that may wait for the disk. */
struct warming {
    struct job job;
    struct conn *conn;
    struct outq_range range;
};

static void read_range(struct job *j)
{
    struct warming *w = container_of(j, struct warming, job);
    void *bytes = xmalloc(w->range.len);
    ssize_t n = file_pread_some(w->range.file, bytes, w->range.len, w->range.pos);

    (void)n; /* an error shows when it is sent */
    free(bytes);
}

static void on_warm(struct job *j)
{
    struct warming *w = container_of(j, struct warming, job);
    struct conn *c = w->conn;

    file_unref(w->range.file);
    free(w);
    c->is_warming = false;
    if (c->state != CONN_CLOSED)
        run_loop(c);
    else
        free_if_done(c);
}

static void warm(struct conn *c)
{
    struct warming *w = xnew(struct warming);

    *w = (struct warming){
        .job = {.work = read_range, .done = on_warm, .reply = conn_set_reactor(c->set)},
        .conn = c,
        .range = outq_cold(&c->out),
    };
    c->is_warming = true;
    workq_submit(conn_set_net(c->set)->workq, &w->job);
}

static void send_out(struct conn *c)
{
    size_t before = c->out.bytes;
    int r = outq_send(&c->out, c->stream, conn_set_scratch(c->set), CONN_SCRATCH);

    if (c->out.bytes != before)
        conn_set_touch(c->set, c);
    c->out_wants = r == -EAGAIN ? c->stream->wants : 0;
    if (r == -EBUSY)
        warm(c);
    else if (r < 0 && r != -EAGAIN)
        conn_close(c, err_name(r));
    else if (r == 0 && c->state == CONN_ENDING && !c->open)
        conn_close(c, "the client has hung up");
}

static void run_flush(struct message *m)
{
    struct conn *c = container_of(m, struct conn, flush);

    c->is_flush_deferred = false;
    if (c->state != CONN_CLOSED)
        run_loop(c);
    else
        free_if_done(c);
}

/* The answers of one turn leave together, at its end. */
static void flush_later(struct conn *c)
{
    if (c->is_flush_deferred)
        return;
    c->is_flush_deferred = true;
    reactor_defer(conn_set_reactor(c->set), &c->flush);
}

/* ---- answers ---- */

static void queue_answer(struct conn *c, struct request *req)
{
    const struct writer *w = req->answer;

    for (size_t i = 0; i < w->piece_count; i++) {
        const struct piece *p = &w->pieces[i];

        if (p->file)
            outq_add_file(&c->out, p->file, p->pos, p->len);
        else
            outq_add_mem(&c->out, p->mem);
    }
    c->unsent++;
    outq_on_sent(&c->out, on_sent, req);
    flush_later(c);
}

/* Takes the answered requests off the front. False: one of them closes the connection. */
static bool take_answers(struct conn *c)
{
    while (c->oldest && c->oldest->is_done) {
        struct request *req = c->oldest;
        enum request_outcome outcome = req->outcome;

        c->oldest = req->next;
        if (!c->oldest)
            c->newest = &c->oldest;
        if (outcome == REQUEST_ANSWERED)
            queue_answer(c, req);
        else
            free_request(req);
        if (outcome == REQUEST_CLOSES)
            return false;
    }
    return true;
}

static void on_answered(struct message *m)
{
    struct request *req = container_of(m, struct request, message);
    struct conn *c = req->conn;

    assert(c->open > 0);
    c->open--;
    req->is_done = true;
    if (c->state == CONN_CLOSED) {
        free_request(req);
        free_if_done(c);
        return;
    }
    if (req->is_barrier)
        c->has_barrier = false;
    if (!take_answers(c)) {
        conn_close(c, "a request asked for it");
        return;
    }
    /* From another thread, or later: what had to wait may start now, and an ending connection may
     * end. */
    if (!c->is_in_loop)
        flush_later(c);
}

/* ---- input ---- */

static void start_request(struct conn *c, struct buf *buf, struct slice frame)
{
    struct request *req = NULL;
    struct net *net = conn_set_net(c->set);
    int r = dispatch_decode(c, buf, frame, &req);

    if (r < 0) {
        conn_close(c, err_name(r));
        return;
    }
    req->message.run = on_answered;
    if (net->max_request_bytes > 0) {
        req->cost = frame.len;
        net->request_bytes += (int64_t)frame.len;
    }
    *c->newest = req;
    c->newest = &req->next;
    c->open++;
    dispatch_run(c, req);
    /* If it is still the newest of the list, it has not been sent away. */
    if (c->state == CONN_OPEN && c->newest == &req->next && !req->is_done)
        c->has_barrier = req->is_barrier;
}

static void end_input(struct conn *c)
{
    if (!c->open && outq_is_empty(&c->out)) {
        conn_close(c, "the client has hung up");
        return;
    }
    /* It may have said all it wanted to say, and wait for the answers. */
    c->state = CONN_ENDING;
    watch(c, c->event.mask & ~(uint32_t)EPOLLIN);
}

static void more_later(struct conn *c)
{
    if (c->is_more_posted)
        return;
    c->is_more_posted = true;
    reactor_post(conn_set_reactor(c->set), &c->more);
}

/* One frame, read if need be. False: nothing more to do now. */
static bool read_one(struct conn *c, int *reads)
{
    const struct iovec scratch = {conn_set_scratch(c->set), CONN_SCRATCH};
    struct buf *buf = NULL;
    struct slice frame;

    if (!framer_has_frame(&c->framer) && *reads > 0) {
        if (c->framer.is_drained)
            return false;
        if (*reads >= READS_PER_TURN) {
            more_later(c); /* others have their turn; TLS may hold bytes that epoll does not show */
            return false;
        }
    }
    *reads += !framer_has_frame(&c->framer);
    int r = framer_next(&c->framer, c->stream, &scratch, &buf, &frame);
    count_held(c);
    if (r == -EAGAIN)
        return !c->framer.is_drained;
    if (r == 1)
        start_request(c, buf, frame);
    else if (r == 0)
        end_input(c);
    else
        conn_close(c, r == -EMSGSIZE ? "a request is too large" : err_name(r));
    return r == 1;
}

/* Whatever frees the way (an answer, memory) looks for it again. */
static void hold(struct conn *c)
{
    c->is_held = true;
    if (net_is_full(conn_set_net(c->set)))
        conn_set_starve(c->set, c);
}

static void read_requests(struct conn *c)
{
    int reads = 0;

    c->is_held = false;
    for (int i = 0; may_start(c); i++) {
        if (i >= REQUESTS_PER_TURN) {
            more_later(c);
            return;
        }
        if (!read_one(c, &reads))
            return;
    }
    if (c->state == CONN_OPEN)
        hold(c);
}

/* Sends what can be sent, sees to it that what can be started is started, and says what to wait
 * for. */
static void run_loop(struct conn *c)
{
    if (c->is_in_loop)
        return;
    c->is_in_loop = true;
    if (!outq_is_empty(&c->out) && !c->is_warming)
        send_out(c);
    if (c->is_held && may_start(c))
        more_later(c);
    if (c->state == CONN_ENDING && !c->open && outq_is_empty(&c->out))
        conn_close(c, "the client has hung up");
    c->is_in_loop = false;
    if (c->state == CONN_CLOSED)
        free_if_done(c);
    else
        watch(c, read_mask(c) | c->out_wants);
}

void conn_resume(struct conn *c)
{
    run_loop(c);
}

static void shake_hands(struct conn *c)
{
    CLEANUP(strbuf_deinit) struct strbuf name = {0};
    int r = stream_handshake(c->stream);

    if (r == -EAGAIN) {
        watch(c, c->stream->wants);
        return;
    }
    if (r < 0) {
        say_limited(SAY_INFO, 5,
                    "TLS handshake failed, connection closes listener=%s client=%s reason=%s",
                    listener_name(c->listener), c->host, err_name(r));
        conn_close(c, "the handshake failed");
        return;
    }
    stream_peer_name(c->stream, &name);
    if (name.len)
        c->principal = xasprintf("User:%s", name.s);
    c->state = CONN_OPEN;
    watch(c, EPOLLIN);
    more_later(c); /* the first request may have come with the last bytes of the handshake */
}

static void read_and_run(struct conn *c)
{
    c->is_in_loop = true;
    conn_set_touch(c->set, c);
    read_requests(c);
    c->is_in_loop = false;
    if (c->state == CONN_CLOSED)
        free_if_done(c);
}

static void run_more(struct message *m)
{
    struct conn *c = container_of(m, struct conn, more);

    c->is_more_posted = false;
    if (c->state == CONN_OPEN)
        read_and_run(c);
    else
        free_if_done(c);
}

static void on_event(struct io_event *ev, uint32_t mask)
{
    struct conn *c = container_of(ev, struct conn, event);

    if (c->state == CONN_HANDSHAKE) {
        conn_set_touch(c->set, c);
        shake_hands(c);
        return;
    }
    if (mask & c->out_wants) {
        flush_later(c);
        return;
    }
    if (mask & (EPOLLERR | EPOLLHUP) && !(mask & EPOLLIN)) {
        conn_close(c, "the client is gone");
        return;
    }
    if (!may_start(c)) {
        watch(c, c->event.mask & ~(uint32_t)EPOLLIN); /* it has to wait in the kernel */
        if (c->state == CONN_OPEN)
            hold(c);
        return;
    }
    read_and_run(c);
}
