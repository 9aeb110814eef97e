/*
 * fetch.c - Fetch: the request to broker/replica and its answer back, and what old versions cannot
 * be given: formats, codecs, error codes (protocol.md 11.2)
 */
#include "broker/api/handlers.h"

#include "broker/api/answers.h"
#include "broker/config/broker_conf.h"
#include "broker/replica/delayed_fetch.h"
#include "broker/replica/replica_manager.h"
#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/io/fs.h"
#include "common/record/legacy.h"

enum { MAX_UNPACKED = 256 << 20 }; /* what one batch may hold once it is decompressed */

struct fetch_call {
    struct broker *b;
    struct request *req;
    struct fetch fetch;
    struct job convert;
};

/* ---- what old versions cannot be given ---- */

static void refuse(struct fetch_response_partition *p, int error)
{
    partition_fetch_error(p->partition_index, error, p);
    p->records = (struct records){0};
}

static struct topic_conf *conf_of(struct fetch_call *c, struct str topic, int32_t partition)
{
    struct partition *part = replica_manager_find(c->b->replicas, topic, partition);
    struct topic_conf *conf = part ? partition_conf(part) : NULL;

    partition_unref(part);
    return conf;
}

static int read_whole(struct records r, struct strbuf *ret)
{
    if (!r.file) {
        strbuf_add(ret, r.bytes.p, r.bytes.len);
        return 0;
    }
    char *CLEANUP(free_p) bytes = xmalloc(r.len);
    int e = file_pread(r.file, bytes, r.len, r.pos);
    if (e == 0)
        strbuf_add(ret, bytes, r.len);
    return e;
}

static void hold_text(struct arena *a, struct strbuf *sb, struct records *ret)
{
    struct str text = {sb->s ? sb->s : "", sb->len};

    *ret = (struct records){.bytes = slice_of_str(text)};
    if (sb->s)
        arena_hold(a, strbuf_detach(sb), free);
}

/* Of what is no whole batch, the topic's format counts. */
static bool has_newer(struct slice bytes, int8_t magic, const struct topic_conf *conf)
{
    struct batch b;
    int n = 0;

    for (; batch_next(&bytes, &b) == 1; n++)
        if (b.magic > magic)
            return true;
    return n == 0 && conf->record_version > magic;
}

/* Records as message sets of the format that the client knows (disk.md 3.2); what is of that format
 * goes out as it lies in the log. */
static int convert_down(struct fetch_call *c, const struct fetch_item *item,
                        const struct topic_conf *conf, struct fetch_response_partition *p)
{
    struct strbuf CLEANUP(strbuf_deinit) in = {0}, CLEANUP(strbuf_deinit) out = {0};
    struct down_convert_opts opts = {.magic = c->req->version <= 1 ? 0 : 1,
                                     .first_offset = item->want.offset,
                                     .max_unpacked = MAX_UNPACKED};
    bool is_consumer = !fetch_is_replica(&c->fetch.who);

    if (records_len(p->records) == 0)
        return 0;
    int r = read_whole(p->records, &in);
    if (r < 0 || !has_newer(slice_of_str(strbuf_str(&in)), opts.magic, conf))
        return r;
    if (is_consumer && !conf->message_downconversion_enable)
        return UNSUPPORTED_VERSION;
    r = down_convert(slice_of_str(strbuf_str(&in)), &opts, &out);
    if (r == 0)
        hold_text(&c->req->arena, &out, &p->records);
    return r;
}

static void adapt_part(struct fetch_call *c, const struct fetch_item *item,
                       struct fetch_response_partition *p)
{
    struct topic_conf *conf = conf_of(c, item->want.topic, item->want.partition);
    int r = 0;

    if (conf && !p->error_code) {
        if (conf->compression == COMPRESSION_ZSTD && c->req->version < 10)
            r = UNSUPPORTED_COMPRESSION_TYPE;
        else if (c->req->version < 4)
            r = convert_down(c, item, conf, p);
    }
    if (r)
        refuse(p, r);
    if (p->error_code == KAFKA_STORAGE_ERROR && c->req->version <= 5)
        p->error_code = NOT_LEADER_OR_FOLLOWER;
    topic_conf_unref(conf);
}

/* ---- the answer ---- */

typedef void (*each_part_fn)(struct fetch_call *c, const struct fetch_item *item,
                             struct fetch_response_partition *p);

static void each_part(struct fetch_call *c, each_part_fn fn)
{
    struct fetch_response *resp = &c->fetch.response;
    int32_t n = 0;

    for (int32_t i = 0; i < resp->responses_count; i++)
        for (int32_t k = 0; k < resp->responses[i].partitions_count; k++)
            fn(c, &c->fetch.answered[n++], &resp->responses[i].partitions[k]);
}

/* Whom to ask instead (KIP-951). */
static void name_leaders(struct fetch_call *c)
{
    struct fetch_response *resp = &c->fetch.response;
    struct leader_endpoints l = {0};
    int32_t n = 0;

    for (int32_t i = 0; i < resp->responses_count; i++)
        for (int32_t k = 0; k < resp->responses[i].partitions_count; k++, n++) {
            struct fetch_response_partition *p = &resp->responses[i].partitions[k];
            if (p->error_code != NOT_LEADER_OR_FOLLOWER && p->error_code != FENCED_LEADER_EPOCH)
                continue;
            if (p->current_leader.leader_id < 0)
                leader_of(c->b, c->fetch.answered[n].want.topic, p->partition_index,
                          &p->current_leader.leader_id, &p->current_leader.leader_epoch);
            leader_endpoints_add(&l, c->b, c->req, p->current_leader.leader_id);
        }
    resp->node_endpoints =
        arena_new_array(&c->req->arena, struct fetch_response_node_endpoint, (size_t)l.count);
    resp->node_endpoints_count = l.count;
    for (int32_t i = 0; i < l.count; i++)
        resp->node_endpoints[i] =
            (struct fetch_response_node_endpoint){l.v[i].id, l.v[i].host, l.v[i].port, l.v[i].rack};
}

static void on_convert(struct job *j)
{
    struct fetch_call *c = container_of(j, struct fetch_call, convert);

    each_part(c, adapt_part);
    request_reply(c->req, &c->fetch.response);
}

static void on_done(struct fetch *f)
{
    struct fetch_call *c = container_of(f, struct fetch_call, fetch);

    if (c->req->version >= 16)
        name_leaders(c);
    if (c->req->version >= 10) {
        request_reply(c->req, &c->fetch.response);
        return;
    }
    /* Old clients cost disk reads and conversion: not on the reactor. */
    c->convert.work = on_convert;
    if (c->req->version < 4)
        workq_submit(c->b->workq, &c->convert);
    else
        on_convert(&c->convert);
}

void handle_fetch(struct broker *b, struct request *req)
{
    struct fetch_call *c = arena_new(&req->arena, struct fetch_call);
    const struct fetch_request *body = req->body;
    bool by_state = req->version >= 15;

    c->b = b;
    c->req = req;
    c->fetch.req = body;
    c->fetch.who.replica_id = by_state ? body->replica_state.replica_id : body->replica_id;
    c->fetch.who.version = req->version;
    c->fetch.who.is_read_committed = body->isolation_level == 1;
    c->fetch.who.rack = body->rack_id;
    c->fetch.reactor = req->reactor;
    c->fetch.arena = &req->arena;
    c->fetch.broker_max_bytes = b->conf->fetch_max_bytes;
    c->fetch.done = on_done;
    fetch_start(b->replicas, &c->fetch);
}
