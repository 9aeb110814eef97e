/*
 * replica_node.c - see replica_node.h
 */
#include "tests/support/replica_node.h"

#include "broker/config/throttled.h"
#include "broker/replica/fetcher_pool.h"
#include "broker/replica/offsets.h"
#include "broker/replica/partition.h"
#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/base/say.h"
#include "common/io/fs.h"
#include "common/record/builder.h"
#include "common/record/record_iter.h"
#include "tests/support/test_main.h"

/* ---- the world ---- */

void world_init(struct node_world *w)
{
    static int runs;

    w->run = w->keeps_dirs ? runs : ++runs;
    w->keeps_dirs = false;
    clock_fake_init(&w->clock, 1700000000000);
    w->clock.mono_us = 1000000000;
    if (reactor_new("test", &w->clock.clock, &w->reactor))
        abort();
    w->pool = (struct reactor_pool){.v = &w->reactor, .count = 1};
    if (!w->ibp)
        w->ibp = IBP_3_9_IV0;
    if (!w->min_isr)
        w->min_isr = 1;
    if (!w->controller_epoch)
        w->controller_epoch = 1;
    if (!w->fetch_session_slots)
        w->fetch_session_slots = 1000;
    reactor_turn(w->reactor, 0);
}

void world_deinit(struct node_world *w)
{
    world_run(w, 0);
    w->reactor = reactor_free(w->reactor);
}

void world_run(struct node_world *w, int64_t ms)
{
    for (int64_t i = 0; i <= ms; i++) {
        for (int k = 0; k < 20; k++)
            reactor_turn(w->reactor, 0);
        if (i < ms)
            clock_fake_advance(&w->clock, 1);
    }
}

/* ---- requests of other brokers ---- */

struct served {
    struct node *node;
    struct fake_call *fc;
    struct fetch fetch;
};

static void on_fetched(struct fetch *f)
{
    struct served *s = container_of(f, struct served, fetch);

    fake_call_reply(s->fc, &f->response);
}

static void serve_fetch(struct node *n, struct fake_call *fc)
{
    struct served *s = arena_new(&fc->arena, struct served);
    const struct fetch_request *req = fc->request;

    s->node = n;
    s->fc = fc;
    s->fetch.req = req;
    s->fetch.who.replica_id = fc->version >= 15 ? req->replica_state.replica_id : req->replica_id;
    s->fetch.who.version = fc->version;
    s->fetch.reactor = n->world->reactor;
    s->fetch.arena = &fc->arena;
    s->fetch.broker_max_bytes = 57671680;
    s->fetch.done = on_fetched;
    fetch_start(n->m, &s->fetch);
}

static void serve_epochs(struct node *n, struct fake_call *fc)
{
    const struct offset_for_leader_epoch_request *req = fc->request;
    struct offset_for_leader_epoch_response resp;

    msg_init(&offset_for_leader_epoch_response_desc, &resp);
    resp.topics = arena_new_array(&fc->arena, struct offset_for_leader_epoch_response_topic,
                                  (size_t)req->topics_count);
    resp.topics_count = req->topics_count;
    for (int32_t i = 0; i < req->topics_count; i++) {
        const struct offset_for_leader_epoch_request_partition *q = req->topics[i].partitions;
        struct offset_for_leader_epoch_response_partition *p =
            arena_new(&fc->arena, struct offset_for_leader_epoch_response_partition);
        struct offsets_query query = {.topic = req->topics[i].topic,
                                      .partition = q->partition,
                                      .replica_id = req->replica_id,
                                      .current_leader_epoch = q->current_leader_epoch};
        p->partition = q->partition;
        p->error_code = err_to_wire(
            offsets_end_of_epoch(n->m, &query, q->leader_epoch, &p->leader_epoch, &p->end_offset));
        resp.topics[i] =
            (struct offset_for_leader_epoch_response_topic){req->topics[i].topic, p, 1};
    }
    fake_call_reply(fc, &resp);
}

static void serve_offsets(struct node *n, struct fake_call *fc)
{
    const struct list_offsets_request *req = fc->request;
    struct list_offsets_response resp;

    msg_init(&list_offsets_response_desc, &resp);
    resp.topics =
        arena_new_array(&fc->arena, struct list_offsets_response_topic, (size_t)req->topics_count);
    resp.topics_count = req->topics_count;
    for (int32_t i = 0; i < req->topics_count; i++) {
        const struct list_offsets_request_partition *q = req->topics[i].partitions;
        struct list_offsets_response_partition *p =
            arena_new(&fc->arena, struct list_offsets_response_partition);
        struct timestamp_offset found = {-1, -1, -1};
        struct offsets_query query = {.topic = req->topics[i].name,
                                      .partition = q->partition_index,
                                      .replica_id = req->replica_id,
                                      .current_leader_epoch = q->current_leader_epoch,
                                      .timestamp = q->timestamp,
                                      .version = fc->version};
        struct_init(&list_offsets_response_partition_desc, p);
        p->partition_index = q->partition_index;
        p->error_code = err_to_wire(offsets_find(n->m, &query, &found));
        p->offset = found.offset;
        resp.topics[i] = (struct list_offsets_response_topic){req->topics[i].name, p, 1};
    }
    fake_call_reply(fc, &resp);
}

static void serve(void *ctx, struct fake_call *fc)
{
    struct node *n = ctx;

    if (!n->intercept || !n->intercept(n, fc))
        node_serve(n, fc);
}

void node_serve(struct node *n, struct fake_call *fc)
{
    switch (fc->api_key) {
    case API_FETCH:
        serve_fetch(n, fc);
        break;
    case API_OFFSET_FOR_LEADER_EPOCH:
        serve_epochs(n, fc);
        break;
    case API_LIST_OFFSETS:
        serve_offsets(n, fc);
        break;
    default:
        n->serve_other(n, fc);
    }
}

/* ---- life ---- */

static struct topic_conf *conf_of(void *ctx, const char *topic UNUSED)
{
    struct node *n = ctx;
    struct topic_conf *c = topic_conf_new();

    c->min_insync_replicas = n->world->min_isr;
    if (n->world->throttled) {
        c->leader_throttled = throttled_parse(n->world->throttled);
        c->follower_throttled = throttled_parse(n->world->throttled);
    }
    if (n->world->segment_bytes)
        c->segment_bytes = n->world->segment_bytes;
    return c;
}

static void on_dir_failed(void *ctx, const char *dir)
{
    struct node *n = ctx;

    n->dirs_failed++;
    if (n->world->log_dirs > 1 && n->m)
        replica_manager_dir_failed(n->m, dir);
}

static void on_all_dirs_failed(void *ctx UNUSED)
{
}

static void open_logs(struct node *n)
{
    const char *dirs[] = {n->dirs[0], n->dirs[1], n->dirs[2]};
    char *why = NULL;
    struct log_manager_opts opts = {
        .clock = &n->world->clock.clock,
        .dirs = dirs,
        .dir_count = MAX(n->world->log_dirs, 1),
        .recovery_threads_per_dir = 1,
        .flush_scheduler_interval_ms = 86400000000,
        .retention_check_interval_ms = 86400000000,
        .recovery_checkpoint_interval_ms = 86400000000,
        .start_offset_checkpoint_interval_ms = 86400000000,
        .high_watermark_checkpoint_interval_ms = 86400000000,
        .producer_id_expiration_ms = 86400000,
        .producer_id_expiration_check_interval_ms = 86400000000,
        .events = {.ctx = n,
                   .dir_failed = on_dir_failed,
                   .all_dirs_failed = on_all_dirs_failed,
                   .topic_conf = conf_of},
    };

    if (log_manager_new(&opts, &n->logs, &why)) {
        fprintf(stderr, "logs of node %d: %s\n", n->id, why ? why : "?");
        abort();
    }
    if (log_manager_load(n->logs))
        abort();
}

void node_open(struct node *n, struct node_world *w, int32_t id)
{
    n->world = w;
    n->id = id;
    n->broker_epoch = n->broker_epoch + 1;
    snprintf(n->dir, sizeof n->dir, "%s/%d-node-%d", test_tmpdir(), w->run, id);
    snprintf(n->dirs[0], sizeof n->dirs[0], "%s", n->dir);
    for (int i = 1; i < NODE_DIRS_MAX; i++)
        snprintf(n->dirs[i], sizeof n->dirs[i], "%s-%c", n->dir, 'a' + i);
    for (int i = 0; i < MAX(w->log_dirs, 1); i++)
        if (!fs_exists(n->dirs[i]) && fs_mkdir(n->dirs[i]))
            abort();
    n->metadata = metadata_new();
    open_logs(n);
    n->m = replica_manager_new(&(struct replica_manager_opts){
        .clock = &w->clock.clock,
        .metadata = n->metadata,
        .logs = n->logs,
        .reactors = &w->pool,
        .workq = w->workq,
        .zk = w->zk,
        .broker_id = id,
        .broker_epoch = &n->broker_epoch,
        .ibp = w->ibp,
        .inter_broker_listener = "INT",
        .replica_lag_time_max_ms = 30000,
        .replica_fetch_wait_max_ms = 500,
        .replica_fetch_min_bytes = 1,
        .replica_fetch_max_bytes = 1048576,
        .replica_fetch_response_max_bytes = 10485760,
        .replica_fetch_backoff_ms = 1000,
        .replica_socket_timeout_ms = 30000,
        .request_timeout_ms = 30000,
        .controller_socket_timeout_ms = 30000,
        .num_replica_fetchers = 1,
        .fetch_max_bytes = 57671680,
        .fetch_session_slots = w->fetch_session_slots,
        .throttle_window = {11, 1000},
        .move_window = {11, 1000},
        .is_rack_aware = w->is_rack_aware,
        .events = {.ctx = n, .topic_conf = conf_of},
    });
    fake_broker_open(NODE_PORT + id, serve, n);
}

static void close_node(struct node *n, bool crash)
{
    fake_broker_close(NODE_PORT + n->id);
    replica_manager_stop(n->m);
    world_run(n->world, 0);
    n->m = replica_manager_free(n->m);
    if (!crash)
        log_manager_stop(n->logs);
    n->logs = log_manager_free(n->logs);
    n->metadata = metadata_free(n->metadata);
}

void node_close(struct node *n)
{
    close_node(n, false);
}

void node_crash(struct node *n)
{
    close_node(n, true);
}

/* ---- orders ---- */

struct uuid node_topic_id(const char *topic)
{
    struct uuid id = {{0x11}};

    memcpy(id.b + 1, topic, MIN(strlen(topic), sizeof id.b - 1));
    return id;
}

static int32_t *ids_of(struct arena *a, const int32_t *ids, int32_t count)
{
    int32_t *v = arena_new_array(a, int32_t, (size_t)count + 1);

    if (count)
        memcpy(v, ids, (size_t)count * sizeof *v);
    return v;
}

void node_tell(struct node *n, int32_t controller, const int32_t *alive, int32_t alive_count,
               const struct node_state_of *st)
{
    struct arena CLEANUP(arena_deinit) a = {0};
    struct update_metadata_request req;
    struct update_metadata_response resp;

    msg_init(&update_metadata_request_desc, &req);
    req.controller_id = controller;
    req.live_brokers =
        arena_new_array(&a, struct update_metadata_request_live_broker, (size_t)alive_count);
    req.live_brokers_count = alive_count;
    for (int32_t i = 0; i < alive_count; i++) {
        struct update_metadata_request_endpoint *e =
            arena_new(&a, struct update_metadata_request_endpoint);
        static const char *const racks[] = {"a", "b", "c", "d"};
        *e = (struct update_metadata_request_endpoint){
            .port = NODE_PORT + alive[i], .host = STR("h"), .listener = STR("INT")};
        req.live_brokers[i] =
            (struct update_metadata_request_live_broker){.id = alive[i],
                                                         .endpoints = e,
                                                         .endpoints_count = 1,
                                                         .rack = str_of(racks[alive[i] % 4])};
    }
    struct update_metadata_request_topic_state t = {0};
    struct update_metadata_request_partition_state p = {0};
    if (st) {
        t.topic_name = str_of(st->topic);
        t.topic_id = node_topic_id(st->topic);
        t.partition_states = &p;
        t.partition_states_count = 1;
        p.partition_index = st->partition;
        p.leader = st->leader;
        p.leader_epoch = st->leader_epoch;
        p.zk_version = st->partition_epoch;
        p.isr = ids_of(&a, st->isr, st->isr_count);
        p.isr_count = st->isr_count;
        p.replicas = ids_of(&a, st->replicas, st->replica_count);
        p.replicas_count = st->replica_count;
        req.topic_states = &t;
        req.topic_states_count = 1;
    }
    req.controller_epoch = n->world->controller_epoch;
    orders_update_metadata(n->m, &req, &resp);
    if (resp.error_code)
        abort();
}

int node_order(struct node *n, int32_t controller_epoch, const struct node_state_of *st)
{
    struct arena CLEANUP(arena_deinit) a = {0};
    struct leader_and_isr_request req;
    struct leader_and_isr_response resp;
    struct leader_and_isr_request_partition_state p = {
        .partition_index = st->partition,
        .controller_epoch = controller_epoch,
        .leader = st->leader,
        .leader_epoch = st->leader_epoch,
        .isr = ids_of(&a, st->isr, st->isr_count),
        .isr_count = st->isr_count,
        .partition_epoch = st->partition_epoch,
        .replicas = ids_of(&a, st->replicas, st->replica_count),
        .replicas_count = st->replica_count,
        .is_new = st->is_new,
    };
    struct leader_and_isr_request_topic_state t = {
        .topic_name = str_of(st->topic),
        .topic_id = node_topic_id(st->topic),
        .partition_states = &p,
        .partition_states_count = 1,
    };

    msg_init(&leader_and_isr_request_desc, &req);
    req.controller_epoch = controller_epoch;
    req.topic_states = &t;
    req.topic_states_count = 1;
    orders_leader_and_isr(n->m, &req, 7, &a, &resp);
    if (resp.error_code)
        return resp.error_code;
    return resp.topics[0].partition_errors[0].error_code;
}

int node_stop_replica(struct node *n, const char *topic, int32_t partition, int32_t epoch,
                      bool is_delete)
{
    struct arena CLEANUP(arena_deinit) a = {0};
    struct stop_replica_request req;
    struct stop_replica_response resp;
    struct stop_replica_request_partition_state p = {partition, epoch, is_delete};
    struct stop_replica_request_topic_state t = {str_of(topic), &p, 1};

    msg_init(&stop_replica_request_desc, &req);
    req.controller_epoch = n->world->controller_epoch;
    req.topic_states = &t;
    req.topic_states_count = 1;
    orders_stop_replica(n->m, &req, &a, &resp);
    return resp.error_code ? resp.error_code : resp.partition_errors[0].error_code;
}

struct partition *node_partition(struct node *n, const char *topic, int32_t partition)
{
    struct partition *part = replica_manager_find(n->m, str_of(topic), partition);

    /* The table keeps it. */
    if (part)
        partition_unref(part);
    return part;
}

/* ---- produce ---- */

static void on_produced(struct produce *p)
{
    struct node_produce *np = container_of(p, struct node_produce, produce);

    np->is_done = true;
    np->error = np->part.error;
    np->offset = np->part.append.log.first_offset;
}

static struct node_produce *make(struct node *n, const char *topic, const struct batch_opts *opts,
                                 const char *value)
{
    struct node_produce *np = xnew(struct node_produce);
    struct batch_builder bb;
    struct strbuf out = {0};

    batch_builder_init(&bb, opts);
    batch_builder_add(&bb, &(struct record){.timestamp = n->world->clock.wall_ms,
                                            .value = slice_of_str(str_of(value))});
    if (batch_builder_finish(&bb, &out))
        abort();
    batch_builder_deinit(&bb);
    arena_hold(&np->arena, out.s, free);
    np->part.topic = arena_str(&np->arena, str_of(topic));
    np->part.records = slice_of(out.s, out.len);
    np->produce.parts = &np->part;
    np->produce.count = 1;
    np->produce.timeout_ms = 1000;
    np->produce.reactor = n->world->reactor;
    np->produce.arena = &np->arena;
    np->produce.done = on_produced;
    np->error = -1;
    np->offset = -1;
    return np;
}

struct node_produce *node_produce_make(struct node *n, const char *topic, int16_t acks,
                                       int32_t timeout_ms, const char *value)
{
    const struct batch_opts opts = BATCH_OPTS_PLAIN;
    struct node_produce *np = make(n, topic, &opts, value);

    np->produce.acks = acks;
    np->produce.timeout_ms = timeout_ms;
    return np;
}

struct node_produce *node_produce_as(struct node *n, const char *topic, int16_t acks,
                                     const struct node_producer *who)
{
    struct batch_opts opts = BATCH_OPTS_PLAIN;

    opts.producer_id = who->id;
    opts.producer_epoch = who->epoch;
    opts.base_sequence = who->sequence;
    struct node_produce *np = make(n, topic, &opts, "v");
    np->produce.acks = acks;
    produce_start(n->m, &np->produce);
    return np;
}

struct node_produce *node_produce(struct node *n, const char *topic, int16_t acks,
                                  int32_t timeout_ms, const char *value)
{
    struct node_produce *np = node_produce_make(n, topic, acks, timeout_ms, value);

    produce_start(n->m, &np->produce);
    return np;
}

void node_produce_free(struct node_produce *p)
{
    assert(p->is_done);
    arena_deinit(&p->arena);
    free(p);
}

/* ---- fetch ---- */

struct node_fetch *node_fetch_new(int16_t version, int32_t replica_id)
{
    struct node_fetch *f = xnew(struct node_fetch);

    msg_init(&fetch_request_desc, &f->req);
    f->version = version;
    f->req.topics = arena_new_array(&f->arena, struct fetch_request_topic, 64);
    f->req.max_wait_ms = 500;
    f->req.min_bytes = 1;
    f->fetch.who.replica_id = replica_id;
    f->fetch.who.version = version;
    return f;
}

struct fetch_request_partition *node_fetch_add(struct node_fetch *f, const char *topic,
                                               int32_t partition, int64_t offset)
{
    struct fetch_request_topic *t = &f->req.topics[f->req.topics_count++];
    struct fetch_request_partition *p = arena_new(&f->arena, struct fetch_request_partition);

    assert(f->req.topics_count <= 64);
    struct_init(&fetch_request_topic_desc, t);
    struct_init(&fetch_request_partition_desc, p);
    if (f->version < 13)
        t->topic = arena_str(&f->arena, str_of(topic));
    else
        t->topic_id = node_topic_id(topic);
    t->partitions = p;
    t->partitions_count = 1;
    p->partition = partition;
    p->fetch_offset = offset;
    p->partition_max_bytes = 1048576;
    return p;
}

static void on_test_fetched(struct fetch *fetch)
{
    container_of(fetch, struct node_fetch, fetch)->is_done = true;
}

void node_fetch_start(struct node *n, struct node_fetch *f)
{
    f->fetch.req = &f->req;
    f->fetch.reactor = n->world->reactor;
    f->fetch.arena = &f->arena;
    f->fetch.broker_max_bytes = 57671680;
    f->fetch.done = on_test_fetched;
    fetch_start(n->m, &f->fetch);
}

const struct fetch_response_partition *node_fetch_part(const struct node_fetch *f,
                                                       const char *topic, int32_t partition)
{
    const struct fetch_response *resp = &f->fetch.response;

    for (int32_t i = 0; i < resp->responses_count; i++) {
        const struct fetch_response_response *t = &resp->responses[i];
        bool same =
            f->version < 13 ? str_eqz(t->topic, topic) : uuid_eq(t->topic_id, node_topic_id(topic));
        for (int32_t k = 0; same && k < t->partitions_count; k++)
            if (t->partitions[k].partition_index == partition)
                return &t->partitions[k];
    }
    return NULL;
}

void node_fetch_free(struct node_fetch *f)
{
    assert(f->is_done);
    arena_deinit(&f->arena);
    free(f);
}

/* ---- reading a log ---- */

static void add_values(struct slice bytes, struct strbuf *out, int64_t *next)
{
    struct batch b;

    while (batch_next(&bytes, &b) == 1) {
        struct record_iter it = {0};
        struct record rec;
        int r = record_iter_init(&it, &b, 1 << 20);
        assert(r == 0);
        while (record_iter_next(&it, &rec) == 1)
            strbuf_addf(out, "%" PRId64 ":%.*s\n", rec.offset, (int)rec.value.len,
                        (const char *)rec.value.p);
        record_iter_deinit(&it);
        *next = batch_next_offset(&b);
    }
}

void node_read_log(struct log *log, int64_t upper, struct strbuf *out)
{
    int64_t at = log_start_offset(log);

    while (at < upper) {
        struct log_read_opts opts = {at, 1 << 20, upper, true};
        struct log_read got = {0};
        int64_t before = at;
        int r = log_read(log, &opts, &got);
        assert(r == 0);
        struct strbuf CLEANUP(strbuf_deinit) bytes = {0};
        if (got.records.file) {
            char *p = xmalloc(got.records.len);
            r = file_pread(got.records.file, p, got.records.len, got.records.pos);
            assert(r == 0);
            strbuf_add(&bytes, p, got.records.len);
            free(p);
            file_unref(got.records.file);
        }
        add_values(slice_of(bytes.s, bytes.len), out, &at);
        assert(at > before);
    }
}
