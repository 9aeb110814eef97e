#include "broker/server/conn_internal.h"

#include "common/base/containers.h"
#include "common/base/say.h"

enum {
    MAX_RUNNING = 32,          /* requests of one connection at a time */
    MAX_FRAMES_PER_TURN = 64,  /* so that one connection does not keep the loop */
    MAX_QUEUED_MEM = 16 << 20, /* bytes of answers in memory at which no more is read */
    MAX_STOCK = 64,            /* requests kept for reuse per reactor */
    SCRATCH_BYTES = 64 << 10,
    STARVED_LOOK_US = 5000,
};

struct conn_set {
    struct gate *gate;
    struct reactor *reactor;
    struct conn *conns;
    int count;
    struct request *stock;
    int stock_count;
    struct conn *starved;
    struct timer starved_look;
    int64_t idle_us;
    uint8_t scratch[SCRATCH_BYTES];
};

/* ---- requests ---- */

static void on_request_over(struct message *m);

struct request *conn_request_new(struct conn *c)
{
    struct conn_set *set = c->set;
    struct request *req = set->stock;

    if (req) {
        set->stock = req->next;
        set->stock_count--;
    } else {
        req = xnew(struct request);
    }
    struct arena arena = req->arena;
    *req = (struct request){
        .arena = arena,
        .conn = c,
        .reactor = set->reactor,
        .received_us = reactor_now_us(set->reactor),
        .message.run = on_request_over,
    };
    return req;
}

static void request_free(struct conn_set *set, struct request *req)
{
    if (req->frame_buf)
        gate_count_bytes(set->gate, -(int64_t)req->frame.len);
    arena_reset(&req->arena);
    req->frame_buf = buf_unref(req->frame_buf);
    if (set->stock_count < MAX_STOCK) {
        req->next = set->stock;
        set->stock = req;
        set->stock_count++;
    } else {
        arena_deinit(&req->arena);
        free(req);
    }
}

void conn_request_drop(struct conn *c, struct request *req)
{
    gate_count_bytes(c->set->gate, (int64_t)req->frame.len);
    request_free(c->set, req);
}

void conn_started(struct conn *c, struct request *req)
{
    gate_count_bytes(c->set->gate, (int64_t)req->frame.len);
    *c->last = req;
    c->last = &req->next;
    c->running++;
}

/* ---- the end ---- */

static void conn_free_if_over(struct conn *c)
{
    if (c->state != CONN_CLOSED || c->pins || c->running || c->is_file_cold || c->is_flush_due ||
        c->is_read_due)
        return;
    assert(!c->unsent);
    free(c->principal);
    free(c);
}

/* Whoever is called from outside holds a pin, so that a connection that closes inside is freed only afterwards. */
static void conn_pin(struct conn *c)
{
    c->pins++;
}

static void conn_unpin(struct conn *c)
{
    c->pins--;
    conn_free_if_over(c);
}

static void leave_starved(struct conn *c)
{
    if (!c->is_starved)
        return;
    struct conn **at = &c->set->starved;
    while (*at != c)
        at = &(*at)->next_starved;
    *at = c->next_starved;
    c->is_starved = false;
}

static void conn_close(struct conn *c)
{
    struct conn_set *set = c->set;

    if (c->state == CONN_CLOSED)
        return;
    c->state = CONN_CLOSED;
    leave_starved(c);
    reactor_remove(set->reactor, &c->event);
    timer_cancel(set->reactor, &c->idle);
    framer_deinit(&c->framer);
    outq_deinit(&c->out);
    c->stream = stream_close(c->stream);
    DL_DELETE(set->conns, c);
    set->count--;
    gate_left(c->listener, &c->peer);
    conn_free_if_over(c);
}

/* ---- what is awaited from the socket ---- */

static bool may_read(const struct conn *c)
{
    return c->state == CONN_OPEN && !c->is_ending && !c->is_starved && c->running < MAX_RUNNING &&
           c->out.mem_bytes < MAX_QUEUED_MEM;
}

static void conn_watch(struct conn *c)
{
    uint32_t mask = 0;

    if (c->state == CONN_CLOSED)
        return;
    if (c->state == CONN_HANDSHAKE)
        mask = c->stream->wants ? c->stream->wants : EPOLLIN;
    else if (may_read(c))
        mask = EPOLLIN;
    if (c->is_blocked)
        mask |= c->stream->wants ? c->stream->wants : EPOLLOUT;
    if (mask != c->event.mask)
        reactor_modify(c->set->reactor, &c->event, mask);
}

/* ---- sending ---- */

static void on_sent(void *ctx)
{
    struct request *req = ctx;
    struct conn *c = req->conn;

    c->unsent--;
    request_free(c->set, req);
}

static void queue_answer(struct conn *c, struct request *req)
{
    for (size_t i = 0; i < req->answer.piece_count; i++) {
        const struct piece *p = &req->answer.pieces[i];

        if (p->file)
            outq_add_file(&c->out, p->file, p->pos, p->len);
        else
            outq_add_mem(&c->out, p->mem);
    }
    c->unsent++;
    outq_on_sent(&c->out, on_sent, req);
}

static void on_cold_read(struct job *j);

static void read_cold(struct job *j)
{
    struct conn *c = container_of(j, struct conn, cold);
    uint8_t page[8192];
    size_t done = 0;

    /* It is read to be in the page cache; whether that worked is seen when it is sent. */
    while (done < c->cold_range.len) {
        size_t n = MIN(c->cold_range.len - done, sizeof page);

        if (file_pread_some(c->cold_range.file, page, n, c->cold_range.pos + done) <= 0)
            break;
        done += n;
    }
}

static void fetch_cold(struct conn *c)
{
    c->cold_range = outq_cold(&c->out);
    c->cold = (struct job){.work = read_cold, .done = on_cold_read, .reply = c->set->reactor};
    c->is_file_cold = true;
    workq_submit(gate_opts(c->set->gate)->workq, &c->cold);
}

static void read_soon(struct conn *c);

static void conn_send(struct conn *c)
{
    if (c->state == CONN_CLOSED || c->is_file_cold)
        return;
    bool was_full = !may_read(c);
    int r = outq_send(&c->out, c->stream, c->set->scratch, sizeof c->set->scratch);
    c->active_us = reactor_now_us(c->set->reactor);
    c->is_blocked = r == -EAGAIN;
    if (r == -EBUSY) {
        fetch_cold(c);
    } else if (r < 0 && r != -EAGAIN) {
        say_debug("connection of %s ends while it is sent to: %s", c->host, strerror(-r));
        conn_close(c);
        return;
    }
    if (c->is_ending && outq_is_empty(&c->out)) {
        conn_close(c);
        return;
    }
    if (was_full && may_read(c))
        read_soon(c);
    conn_watch(c);
}

static void on_cold_read(struct job *j)
{
    struct conn *c = container_of(j, struct conn, cold);

    conn_pin(c);
    file_unref(c->cold_range.file);
    c->is_file_cold = false;
    conn_send(c);
    conn_unpin(c);
}

static void on_flush(struct message *m)
{
    struct conn *c = container_of(m, struct conn, flush);

    conn_pin(c);
    c->is_flush_due = false;
    conn_send(c);
    conn_unpin(c);
}

/* At the end of this turn, so that the answers of one turn leave together. */
static void send_soon(struct conn *c)
{
    if (c->is_flush_due || c->state == CONN_CLOSED)
        return;
    c->is_flush_due = true;
    c->flush.run = on_flush;
    reactor_defer(c->set->reactor, &c->flush);
}

/* A request has ended: all that are over at the head of the order go out. */
static void on_request_over(struct message *m)
{
    struct conn *c = container_of(m, struct request, message)->conn;
    bool was_full = !may_read(c);

    conn_pin(c);
    while (c->first && c->first->state != REQUEST_RUNNING) {
        struct request *req = c->first;

        c->first = req->next;
        if (!c->first)
            c->last = &c->first;
        c->running--;
        if (req->state == REQUEST_CLOSE)
            c->is_ending = true;
        if (req->state == REQUEST_ANSWERED && c->state != CONN_CLOSED && !c->is_ending)
            queue_answer(c, req);
        else
            request_free(c->set, req);
    }
    if (was_full && may_read(c))
        read_soon(c);
    send_soon(c);
    conn_unpin(c);
}

/* ---- reading ---- */

static void on_starved_look(struct timer *t)
{
    struct conn_set *set = container_of(t, struct conn_set, starved_look);
    struct conn *c;

    while ((c = set->starved) && !gate_is_full(set->gate)) {
        leave_starved(c);
        read_soon(c);
    }
    if (set->starved)
        timer_arm(set->reactor, t, reactor_now_us(set->reactor) + STARVED_LOOK_US);
}

static void starve(struct conn *c)
{
    struct conn_set *set = c->set;

    say_limited(
        SAY_WARN, 1,
        "queued.max.request.bytes is reached: nothing is read until requests under way have ended");
    c->is_starved = true;
    c->next_starved = set->starved;
    set->starved = c;
    if (!timer_is_armed(&set->starved_look))
        timer_arm(set->reactor, &set->starved_look, reactor_now_us(set->reactor) + STARVED_LOOK_US);
}

/* One frame. 1: there may be more at once; 0: wait. */
static int read_frame(struct conn *c)
{
    const struct iovec scratch = {c->set->scratch, sizeof c->set->scratch};
    struct buf *buf;
    struct slice body;
    int r = framer_next(&c->framer, c->stream, &scratch, &buf, &body);

    if (r == -EAGAIN)
        return 0;
    if (r == -EMSGSIZE)
        say_limited(SAY_WARN, 10,
                    "connection of %s to listener %s is closed: it announces a frame that is "
                    "negative or above "
                    "socket.request.max.bytes (%u)",
                    c->host, c->listener->conf->name, c->framer.max);
    if (r == 1)
        r = dispatch_frame(c, buf, body) < 0 ? -EBADMSG : 1;
    if (r == 1)
        return 1;
    conn_close(c);
    return 0;
}

static void conn_read(struct conn *c)
{
    /* TLS may hold bytes that the descriptor does not show. */
    bool is_plain = stream_can_send_file(c->stream);

    c->active_us = reactor_now_us(c->set->reactor);
    for (int i = 0; may_read(c); i++) {
        if (i == MAX_FRAMES_PER_TURN) {
            read_soon(c);
            break;
        }
        if (gate_is_full(c->set->gate)) {
            starve(c);
            break;
        }
        if (!read_frame(c) || c->state == CONN_CLOSED)
            break;
        if (is_plain && !framer_has_frame(&c->framer))
            break;
    }
}

static void on_read_again(struct message *m)
{
    struct conn *c = container_of(m, struct conn, read_again);

    conn_pin(c);
    c->is_read_due = false;
    if (c->state == CONN_OPEN) {
        conn_read(c);
        conn_watch(c);
    }
    conn_unpin(c);
}

static void read_soon(struct conn *c)
{
    if (c->is_read_due || c->state == CONN_CLOSED)
        return;
    c->is_read_due = true;
    c->read_again.run = on_read_again;
    reactor_post(c->set->reactor, &c->read_again);
}

/* ---- events ---- */

static char *principal_of(const struct conn *c)
{
    CLEANUP(strbuf_deinit) struct strbuf name = {0};

    if (c->listener->tls)
        stream_peer_name(c->stream, &name);
    return name.len ? xasprintf("User:%s", name.s) : xstrdup("User:ANONYMOUS");
}

static void shake_hands(struct conn *c)
{
    int r = stream_handshake(c->stream);

    c->active_us = reactor_now_us(c->set->reactor);
    if (r == -EAGAIN)
        return;
    if (r < 0) {
        say_limited(SAY_WARN, 10,
                    "connection of %s to listener %s is closed: TLS handshake failed: %s", c->host,
                    c->listener->conf->name, strerror(-r));
        conn_close(c);
        return;
    }
    free(c->principal);
    c->principal = principal_of(c);
    c->state = CONN_OPEN;
    read_soon(c);
}

static void on_ready(struct io_event *ev, uint32_t mask)
{
    struct conn *c = container_of(ev, struct conn, event);

    bool is_gone = (mask & (EPOLLERR | EPOLLHUP)) != 0;

    conn_pin(c);
    if (c->state == CONN_HANDSHAKE)
        shake_hands(c);
    else if (c->is_blocked)
        send_soon(c);
    if (c->state == CONN_OPEN && may_read(c) && (is_gone || (mask & EPOLLIN)))
        conn_read(c);
    else if (c->state == CONN_OPEN && is_gone && !c->is_blocked)
        conn_close(
            c); /* nothing is read or sent now: it is only told that the other side has gone */
    conn_watch(c);
    conn_unpin(c);
}

static void on_idle(struct timer *t)
{
    struct conn *c = container_of(t, struct conn, idle);
    int64_t over = c->active_us + c->set->idle_us;

    if (reactor_now_us(c->set->reactor) < over) {
        timer_arm(c->set->reactor, t, over);
        return;
    }
    say_debug("connection of %s is closed: idle for connections.max.idle.ms", c->host);
    conn_pin(c);
    conn_close(c);
    conn_unpin(c);
}

/* ---- coming in ---- */

struct arrival {
    struct message message;
    struct conn_set *set;
    struct gate_listener *listener;
    int fd;
    struct sock_addr peer;
};

static struct conn *conn_new(const struct arrival *in)
{
    struct conn *c = xnew(struct conn);

    c->set = in->set;
    c->listener = in->listener;
    c->stream =
        in->listener->tls ? stream_tls_accept(in->listener->tls, in->fd) : stream_plain_new(in->fd);
    c->state = CONN_HANDSHAKE;
    c->last = &c->first;
    c->framer.max = (uint32_t)gate_opts(in->set->gate)->conf->socket_request_max_bytes;
    c->peer = in->peer;
    c->host[0] = '/';
    sock_addr_text(&in->peer, c->host + 1);
    c->idle.fire = on_idle;
    c->active_us = reactor_now_us(in->set->reactor);
    c->event = (struct io_event){.fd = in->fd, .mask = EPOLLIN, .ready = on_ready};
    return c;
}

static void on_arrival(struct message *m)
{
    struct arrival *in = container_of(m, struct arrival, message);
    struct conn_set *set = in->set;
    struct conn *c = conn_new(in);

    free(in);
    conn_pin(c);
    DL_APPEND(set->conns, c);
    set->count++;
    int r = reactor_add(set->reactor, &c->event);
    if (r < 0) {
        say_error("connection of %s cannot be watched: %s; it is closed", c->host, strerror(-r));
        conn_close(c);
    } else {
        if (set->idle_us > 0)
            timer_arm(set->reactor, &c->idle, c->active_us + set->idle_us);
        shake_hands(c);
        conn_watch(c);
    }
    conn_unpin(c);
}

void conn_set_add(struct conn_set *set, struct gate_listener *l, int fd,
                  const struct sock_addr *peer)
{
    struct arrival *in = xnew(struct arrival);

    *in = (struct arrival){
        .message.run = on_arrival, .set = set, .listener = l, .fd = fd, .peer = *peer};
    reactor_post(set->reactor, &in->message);
}

/* ---- the set ---- */

struct conn_set *conn_set_new(struct gate *g, struct reactor *r)
{
    struct conn_set *set = xnew(struct conn_set);

    set->gate = g;
    set->reactor = r;
    set->starved_look.fire = on_starved_look;
    set->idle_us = gate_opts(g)->conf->connections_max_idle_ms * 1000;
    return set;
}

void conn_set_close_all(struct conn_set *set)
{
    while (set->conns)
        conn_close(set->conns);
}

struct conn_set *conn_set_free(struct conn_set *set)
{
    if (!set)
        return NULL;
    while (set->stock) {
        struct request *req = set->stock;

        set->stock = req->next;
        arena_deinit(&req->arena);
        free(req);
    }
    free(set);
    return NULL;
}

struct reactor *conn_set_reactor(const struct conn_set *set)
{
    return set->reactor;
}

int conn_set_count(const struct conn_set *set)
{
    return set->count;
}
