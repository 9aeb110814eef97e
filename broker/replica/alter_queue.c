#include "broker/replica/alter_queue.h"

#include "common/base/containers.h"
#include "common/base/err.h"
#include "common/base/say.h"
#include "common/client/peer.h"
#include "common/wire/messages.h"

#include <stdatomic.h>

enum {
    CONTROLLER_RETRY_MS = 100,
    ERROR_RETRY_MS = 50,
    MAX_PER_REQUEST = 10000, /* keeps a request far below the size that a broker takes */
};

struct item {
    struct partition *part; /* a reference; the key */
    int32_t leader_epoch;
    int32_t partition_epoch;
    struct id_list isr;
    struct uuid topic_id;
    bool is_sent; /* in the request in flight; the reactor's */
    UT_hash_handle hh;
    struct item *prev, *next;
};

struct alter_queue {
    struct alter_queue_opts opts;
    struct mutex lock; /* LOCK_ALTER_QUEUE: by_part, items, is_posted */
    struct item *by_part;
    struct item *items; /* in the order of coming */
    bool is_posted;
    /* The reactor's: */
    struct message wake;
    struct message stop;
    struct timer retry;
    struct peer *peer;
    int32_t controller; /* whom the peer speaks to, -1 nobody */
    struct peer_call call;
    struct item **sent;
    int32_t sent_count;
    bool in_flight;
    bool is_stopped;
};

static void item_free(struct item *it)
{
    partition_unref(it->part);
    id_list_deinit(&it->isr);
    free(it);
}

/* ---- from any thread ---- */

static void post_wake(struct alter_queue *q)
{
    bool must_post;

    WITH_LOCK(&q->lock)
    {
        must_post = !q->is_posted;
        q->is_posted = true;
    }
    if (must_post)
        reactor_post(q->opts.reactor, &q->wake);
}

bool alter_queue_propose(struct alter_queue *q, const struct isr_proposal *p)
{
    struct item *it;

    LOCK_SCOPE(&q->lock);
    HASH_FIND_PTR(q->by_part, &p->part, it);
    if (it)
        return false;
    it = xnew(struct item);
    it->part = partition_ref(p->part);
    it->leader_epoch = p->leader_epoch;
    it->partition_epoch = p->partition_epoch;
    it->topic_id = log_topic_id(p->part->log);
    id_list_set(&it->isr, p->isr->v, p->isr->count);
    HASH_ADD_PTR(q->by_part, part, it);
    DL_APPEND(q->items, it);
    if (!q->is_posted)
        reactor_post(q->opts.reactor, &q->wake);
    q->is_posted = true;
    return true;
}

/* ---- the way to the controller ---- */

static void retry_in(struct alter_queue *q, int64_t ms)
{
    if (!q->is_stopped)
        timer_arm(q->opts.reactor, &q->retry, reactor_now_us(q->opts.reactor) + ms * 1000);
}

/* The peer itself is freed by the next sending: this may run inside one of its calls. */
static void forget_controller(struct alter_queue *q)
{
    q->controller = -1;
}

static bool find_controller(struct alter_queue *q)
{
    const struct metadata_snapshot *CLEANUP(metadata_put_p) s = metadata_get(q->opts.metadata);
    int32_t id = metadata_controller(s);
    const struct meta_broker *b = id < 0 ? NULL : metadata_broker(s, id);
    const struct meta_endpoint *e = b ? meta_broker_endpoint(b, str_of(q->opts.listener)) : NULL;

    if (q->peer && e && q->controller == id)
        return true;
    q->peer = peer_free(q->peer);
    q->controller = -1;
    if (!e) {
        say_limited(SAY_WARN, 2,
                    "in-sync sets cannot be changed: no controller is known controller=%d; waits "
                    "for its UpdateMetadata, asked again every %d ms",
                    id, CONTROLLER_RETRY_MS);
        return false;
    }
    char *CLEANUP(free_p) host = str_dup(e->host);
    char *CLEANUP(free_p) client_id = xasprintf("%d", q->opts.broker_id);
    struct peer_opts opts = {
        .host = host,
        .port = e->port,
        .client_id = client_id,
        .tls = q->opts.tls,
        .connect_timeout_us = q->opts.request_timeout_ms * 1000,
        .request_timeout_us = q->opts.request_timeout_ms * 1000,
    };
    q->peer = peer_new(q->opts.reactor, &opts);
    peer_negotiate(q->peer);
    q->controller = id;
    return true;
}

/* ---- the request ---- */

static int32_t take_to_send(struct alter_queue *q)
{
    struct item *it;
    int32_t n = 0, count;

    LOCK_SCOPE(&q->lock);
    DL_COUNT(q->items, it, count);
    count = MIN(count, MAX_PER_REQUEST);
    free(q->sent);
    q->sent = xnew_array(struct item *, (size_t)count + 1);
    DL_FOREACH (q->items, it) {
        if (n == count)
            break;
        q->sent[n++] = it;
    }
    return n;
}

/* One topic entry for each partition: the controller takes them so, and changes are few. */
static bool fill(struct alter_queue *q, struct arena *a, struct alter_partition_request *req)
{
    /* Version 2 has ids only; a controller that lacks it could not be told the names any more. */
    bool has_ids = q->opts.ibp >= IBP_3_3_IV0;

    msg_init(&alter_partition_request_desc, req);
    req->broker_id = q->opts.broker_id;
    req->broker_epoch = atomic_load(q->opts.broker_epoch);
    req->topics = arena_new_array(a, struct alter_partition_request_topic, (size_t)q->sent_count);
    req->topics_count = q->sent_count;
    for (int32_t i = 0; i < q->sent_count; i++) {
        struct item *it = q->sent[i];
        struct alter_partition_request_topic *t = &req->topics[i];
        struct alter_partition_request_partition *p =
            arena_new(a, struct alter_partition_request_partition);
        struct_init(&alter_partition_request_topic_desc, t);
        struct_init(&alter_partition_request_partition_desc, p);
        t->topic_name = it->part->topic;
        t->topic_id = it->topic_id;
        t->partitions = p;
        t->partitions_count = 1;
        p->partition_index = it->part->id;
        p->leader_epoch = it->leader_epoch;
        p->partition_epoch = it->partition_epoch;
        p->new_isr = it->isr.v;
        p->new_isr_count = it->isr.count;
        has_ids &= !uuid_is_zero(it->topic_id);
    }
    return has_ids;
}

/* ---- the answer ---- */

static void answered(struct alter_queue *q, struct item *it,
                     const struct alter_partition_response_partition *p)
{
    struct isr_answer answer = {
        .error = p->error_code,
        .proposed_leader_epoch = it->leader_epoch,
        .proposed_partition_epoch = it->partition_epoch,
        .leader_epoch = p->leader_epoch,
        .partition_epoch = p->partition_epoch,
        .isr = p->isr,
        .isr_count = p->isr_count,
    };

    WITH_LOCK(&q->lock)
    {
        HASH_DEL(q->by_part, it);
        DL_DELETE(q->items, it);
    }
    partition_isr_answered(it->part, &answer);
    item_free(it);
}

static bool is_about(const struct alter_queue *q, const struct item *it,
                     const struct alter_partition_response_topic *t, int32_t partition)
{
    bool same = q->call.version >= 2 ? uuid_eq(it->topic_id, t->topic_id)
                                     : str_eq(it->part->topic, t->topic_name);

    return same && it->part->id == partition;
}

/* Answers come in the order of the request, so the search nearly always ends at once. */
static void give_answer(struct alter_queue *q, const struct alter_partition_response_topic *t,
                        const struct alter_partition_response_partition *p, int32_t *from)
{
    for (int32_t n = 0; n < q->sent_count; n++) {
        int32_t i = (*from + n) % q->sent_count;
        if (!q->sent[i] || !is_about(q, q->sent[i], t, p->partition_index))
            continue;
        answered(q, TAKE(q->sent[i]), p);
        *from = i + 1;
        return;
    }
}

static bool has_moved(const struct alter_partition_response *resp)
{
    if (resp->error_code == NOT_CONTROLLER)
        return true;
    for (int32_t i = 0; i < resp->topics_count; i++)
        for (int32_t k = 0; k < resp->topics[i].partitions_count; k++)
            if (resp->topics[i].partitions[k].error_code == NOT_CONTROLLER)
                return true;
    return false;
}

static void on_response(struct alter_queue *q, const struct alter_partition_response *resp)
{
    int32_t from = 0;

    if (has_moved(resp)) {
        forget_controller(q);
        retry_in(q, CONTROLLER_RETRY_MS);
        return;
    }
    if (resp->error_code) {
        say_limited(SAY_WARN, 5, "AlterPartition refused error=%s; repeated in %d ms",
                    err_name(resp->error_code), ERROR_RETRY_MS);
        retry_in(q, ERROR_RETRY_MS);
        return;
    }
    for (int32_t i = 0; i < resp->topics_count; i++)
        for (int32_t k = 0; k < resp->topics[i].partitions_count; k++)
            give_answer(q, &resp->topics[i], &resp->topics[i].partitions[k], &from);
    post_wake(q);
}

static void on_done(struct peer_call *call, int r, const void *response)
{
    struct alter_queue *q = container_of(call, struct alter_queue, call);

    q->in_flight = false;
    if (q->is_stopped)
        return;
    if (r == 0) {
        on_response(q, response);
        return;
    }
    say_limited(SAY_WARN, 5,
                "AlterPartition got no answer controller=%d error=%s; repeated in %d ms",
                q->controller, err_name(r), CONTROLLER_RETRY_MS);
    forget_controller(q);
    retry_in(q, CONTROLLER_RETRY_MS);
}

static void send_pending(struct alter_queue *q)
{
    struct alter_partition_request req;
    struct arena CLEANUP(arena_deinit) a = {0};

    if (q->in_flight || q->is_stopped || timer_is_armed(&q->retry))
        return;
    q->sent_count = take_to_send(q);
    if (q->sent_count == 0)
        return;
    if (!find_controller(q)) {
        retry_in(q, CONTROLLER_RETRY_MS);
        return;
    }
    bool has_ids = fill(q, &a, &req);
    q->in_flight = true;
    q->call = (struct peer_call){
        .api_key = API_ALTER_PARTITION,
        .version = has_ids ? 2 : 1,
        .request = &req,
        .done = on_done,
    };
    peer_send(q->peer, &q->call);
}

/* ---- life ---- */

static void on_wake(struct message *m)
{
    struct alter_queue *q = container_of(m, struct alter_queue, wake);

    WITH_LOCK(&q->lock)
    {
        q->is_posted = false;
    }
    send_pending(q);
}

static void on_retry(struct timer *t)
{
    send_pending(container_of(t, struct alter_queue, retry));
}

static void on_stop(struct message *m)
{
    struct alter_queue *q = container_of(m, struct alter_queue, stop);

    q->is_stopped = true;
    timer_cancel(q->opts.reactor, &q->retry);
    q->peer = peer_free(q->peer);
}

struct alter_queue *alter_queue_new(const struct alter_queue_opts *opts)
{
    struct alter_queue *q = xnew(struct alter_queue);

    q->opts = *opts;
    mutex_init(&q->lock, LOCK_ALTER_QUEUE);
    q->wake.run = on_wake;
    q->stop.run = on_stop;
    q->retry.fire = on_retry;
    q->controller = -1;
    return q;
}

void alter_queue_stop(struct alter_queue *q)
{
    reactor_post(q->opts.reactor, &q->stop);
}

struct alter_queue *alter_queue_free(struct alter_queue *q)
{
    struct item *it, *tmp;

    if (!q)
        return NULL;
    HASH_CLEAR(hh, q->by_part);
    DL_FOREACH_SAFE (q->items, it, tmp) {
        DL_DELETE(q->items, it);
        item_free(it);
    }
    free(q->sent);
    mutex_deinit(&q->lock);
    free(q);
    return NULL;
}
