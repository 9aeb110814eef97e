#include "broker/txn/id_block.h"

#include "common/base/err.h"
#include "common/base/lock.h"
#include "common/base/mem.h"
#include "common/base/say.h"
#include "common/wire/messages.h"
#include "zk/zk_cluster.h"

struct block {
    int64_t next;
    int64_t end; /* the first id that is not ours */
    int64_t size;
};

struct id_block {
    struct id_block_opts opts;
    struct mutex lock; /* LOCK_PRODUCERS; guards what follows */
    struct block now;
    struct block ahead;
    bool is_asking;
    /* Of the request that is under way: */
    struct job job;
    struct link_call call;
    struct allocate_producer_ids_request request;
};

struct id_block *id_block_new(const struct id_block_opts *opts)
{
    struct id_block *ib = xnew(struct id_block);

    ib->opts = *opts;
    mutex_init(&ib->lock, LOCK_PRODUCERS);
    return ib;
}

struct id_block *id_block_free(struct id_block *ib)
{
    if (!ib)
        return NULL;
    mutex_deinit(&ib->lock);
    free(ib);
    return NULL;
}

static void got_block(struct id_block *ib, int64_t start, int64_t size)
{
    say_info("producer id block first=%" PRId64 " count=%" PRId64, start, size);
    LOCK_SCOPE(&ib->lock);
    ib->ahead = (struct block){start, start + size, size};
    ib->is_asking = false;
}

static void got_none(struct id_block *ib, const char *why)
{
    say_limited(SAY_WARN, 5,
                "no block of producer ids: %s; asked again with the next InitProducerId", why);
    LOCK_SCOPE(&ib->lock);
    ib->is_asking = false;
}

/* ---- from the controller ---- */

static int16_t error_of(const void *response)
{
    return ((const struct allocate_producer_ids_response *)response)->error_code;
}

static void on_response(struct link_call *c, int r, const void *response)
{
    struct id_block *ib = container_of(c, struct id_block, call);
    const struct allocate_producer_ids_response *resp = response;

    if (r < 0)
        got_none(ib, err_name(r));
    else if (resp->error_code || resp->producer_id_start < 0 || resp->producer_id_len <= 0)
        got_none(ib, err_name(resp->error_code));
    else
        got_block(ib, resp->producer_id_start, resp->producer_id_len);
}

static void ask_controller(struct id_block *ib)
{
    msg_init(&allocate_producer_ids_request_desc, &ib->request);
    ib->request.broker_id = ib->opts.broker_id;
    ib->request.broker_epoch = *ib->opts.broker_epoch;
    ib->call = (struct link_call){
        .api_key = API_ALLOCATE_PRODUCER_IDS,
        .request = &ib->request,
        .deadline_us = INT64_MAX,
        .error_of = error_of,
        .done = on_response,
    };
    controller_link_send(ib->opts.link, &ib->call);
}

/* ---- from ZooKeeper ---- */

static void ask_zookeeper(struct job *j)
{
    struct id_block *ib = container_of(j, struct id_block, job);
    struct node_producer_block block;
    enum zk_result r = zk_producer_block_next(ib->opts.zk, ib->opts.broker_id, &block);

    if (r == ZK_OK)
        got_block(ib, block.start, block.end - block.start + 1);
    else
        got_none(ib, zk_result_name(r));
}

static void ask(struct id_block *ib)
{
    if (ib->opts.ibp >= IBP_3_0_IV0) {
        ask_controller(ib);
        return;
    }
    ib->job = (struct job){.work = ask_zookeeper};
    workq_submit(ib->opts.workq, &ib->job);
}

/* ---- ids ---- */

static bool is_nearly_used(const struct block *b)
{
    return b->next >= b->end - b->size / 10;
}

int id_block_take(struct id_block *ib, int64_t *ret_id)
{
    bool must_ask = false;
    int r = 0;

    WITH_LOCK(&ib->lock)
    {
        if (ib->now.next == ib->now.end) {
            ib->now = ib->ahead;
            ib->ahead = (struct block){0};
        }
        if (ib->now.next == ib->now.end)
            r = COORDINATOR_LOAD_IN_PROGRESS;
        else
            *ret_id = ib->now.next++;
        must_ask = !ib->is_asking && ib->ahead.size == 0 && is_nearly_used(&ib->now);
        ib->is_asking |= must_ask;
    }
    if (must_ask)
        ask(ib);
    return r;
}
