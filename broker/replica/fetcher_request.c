/*
 * fetcher_request.c - what a fetcher asks its leader for: positions that have changed, in a session
 * where the leader gives one (KIP-227, controller.md B5.1)
 */
#include "broker/replica/fetcher_state.h"

#include <stdatomic.h>

static int16_t fetch_version(enum ibp ibp)
{
    static const struct {
        enum ibp since;
        int16_t version;
    } table[] = {
        {IBP_3_9_IV0, 17},   {IBP_3_7_IV4, 16},   {IBP_3_5_IV1, 15},   {IBP_3_5_IV0, 14},
        {IBP_3_1_IV0, 13},   {IBP_2_7_IV1, 12},   {IBP_2_3_IV1, 11},   {IBP_2_1_IV2, 10},
        {IBP_2_0_IV1, 8},    {IBP_1_1_IV0, 7},    {IBP_0_11_0_IV1, 5}, {IBP_0_11_0_IV0, 4},
        {IBP_0_10_1_IV1, 3}, {IBP_0_10_0_IV0, 2},
    };

    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (ibp >= table[i].since)
            return table[i].version;
    return ibp >= IBP_0_9_0 ? 1 : 0;
}

static bool is_wanted(const struct followed *fo)
{
    return fo->step == STEP_FETCH && !fo->is_delayed;
}

static void free_forgotten(struct fetcher *f)
{
    while (f->forgotten) {
        struct forgotten *gone = f->forgotten;
        f->forgotten = gone->next;
        free((char *)(uintptr_t)gone->topic.p);
        free(gone);
    }
}

void fetcher_new_session(struct fetcher *f)
{
    f->session_id = 0;
    f->session_epoch = 0;
    free_forgotten(f);
}

/* ---- building ---- */

struct build {
    struct fetcher *f;
    struct arena arena;
    struct fetch_request req;
    int16_t version;
    size_t topic_room;
    size_t part_room;
    struct fetch_request_partition *parts;
    size_t part_count;
    const struct followed *last;
    int64_t max_wait_ms;
};

static void begin(struct build *b, size_t room)
{
    const struct fetcher_conf *conf = b->f->opts.conf;
    struct fetch_request *req = &b->req;

    msg_init(&fetch_request_desc, req);
    if (b->version >= 15) {
        req->replica_state.replica_id = conf->broker_id;
        req->replica_state.replica_epoch = atomic_load(conf->broker_epoch);
    } else {
        req->replica_id = conf->broker_id;
    }
    req->max_wait_ms = (int32_t)b->max_wait_ms;
    req->min_bytes = conf->min_bytes;
    req->max_bytes = conf->response_max_bytes;
    if (b->version >= 7) {
        req->session_id = b->f->session_id;
        req->session_epoch = b->f->session_epoch;
    }
    req->topics = arena_new_array(&b->arena, struct fetch_request_topic, room);
    b->parts = arena_new_array(&b->arena, struct fetch_request_partition, room);
}

static void add(struct build *b, struct followed *fo)
{
    struct fetch_request_partition *p = &b->parts[b->part_count++];
    struct log *log = fo->part->log;

    if (!b->last || !str_eq(b->last->part->topic, fo->part->topic)) {
        struct fetch_request_topic *t = &b->req.topics[b->req.topics_count++];
        struct_init(&fetch_request_topic_desc, t);
        t->topic = fo->part->topic;
        t->topic_id = fo->topic_id;
        t->partitions = p;
    }
    b->req.topics[b->req.topics_count - 1].partitions_count++;
    struct_init(&fetch_request_partition_desc, p);
    p->partition = fo->part->id;
    p->current_leader_epoch = fo->leader_epoch;
    p->fetch_offset = fo->offset;
    if (b->version >= 12)
        p->last_fetched_epoch = log_latest_epoch(log);
    p->log_start_offset = log_start_offset(log);
    p->partition_max_bytes = b->f->opts.conf->max_bytes;
    fo->sent_offset = fo->offset;
    fo->sent_epoch = fo->leader_epoch;
    fo->in_request = true;
    fo->in_session = b->version >= 7;
    b->last = fo;
}

static void add_forgotten(struct build *b)
{
    struct fetch_request *req = &b->req;
    size_t n = 0;

    for (struct forgotten *gone = b->f->forgotten; gone; gone = gone->next)
        n++;
    req->forgotten_topics_data =
        arena_new_array(&b->arena, struct fetch_request_forgotten_topics_data, n);
    for (struct forgotten *gone = b->f->forgotten; gone; gone = gone->next) {
        struct fetch_request_forgotten_topics_data *t =
            &req->forgotten_topics_data[req->forgotten_topics_data_count++];
        t->topic = gone->topic;
        t->topic_id = gone->topic_id;
        t->partitions = &gone->partition;
        t->partitions_count = 1;
    }
}

/* All that can be fetched; what the session had does not matter any more. */
static void build_full(struct build *b)
{
    struct followed *fo, *tmp;

    begin(b, HASH_COUNT(b->f->by_part));
    free_forgotten(b->f);
    HASH_ITER (hh, b->f->by_part, fo, tmp) {
        fo->in_session = false;
        fo->in_request = false;
        if (!is_wanted(fo))
            continue;
        followed_unlist(fo);
        add(b, fo);
    }
}

/* A partition that left and came back between two requests is updated, not forgotten. */
static void unforget(struct fetcher *f, const struct followed *fo)
{
    struct forgotten **at = &f->forgotten;

    while (*at) {
        struct forgotten *gone = *at;
        if (gone->partition != fo->part->id || !str_eq(gone->topic, fo->part->topic) ||
            !uuid_eq(gone->topic_id, fo->topic_id)) {
            at = &gone->next;
            continue;
        }
        *at = gone->next;
        free((char *)(uintptr_t)gone->topic.p);
        free(gone);
    }
}

static void build_incremental(struct build *b)
{
    struct fetcher *f = b->f;
    struct followed *fo, *tmp;
    int count;

    DL_COUNT(f->lists[STEP_FETCH], fo, count);
    begin(b, (size_t)count);
    DL_FOREACH_SAFE (f->lists[STEP_FETCH], fo, tmp) {
        followed_unlist(fo);
        if (f->forgotten && !fo->in_session)
            unforget(f, fo);
        add(b, fo);
    }
    add_forgotten(b);
}

/* While the quota of throttled replicas is used up, those that are behind are left out, as long as
 * it takes and no longer: what is not fetched in time is lost to the rate. */
static void hold_throttled(struct fetcher *f)
{
    int64_t wait_ms = repl_quota_wait_ms(f->opts.conf->quota);
    struct followed *fo, *tmp;

    if (wait_ms == 0)
        return;
    HASH_ITER (hh, f->by_part, fo, tmp) {
        if (fo->step != STEP_FETCH || fo->lag == 0 || !partition_follows_throttled(fo->part))
            continue;
        if (!fo->is_delayed)
            followed_delay(fo, wait_ms);
    }
}

static bool has_wanted(struct fetcher *f)
{
    struct followed *fo, *tmp;

    if (f->lists[STEP_FETCH])
        return true;
    HASH_ITER (hh, f->by_part, fo, tmp) {
        if (is_wanted(fo))
            return true;
    }
    return false;
}

bool fetcher_send_fetch(struct fetcher *f)
{
    struct build b = {.f = f, .version = fetch_version(f->opts.conf->ibp)};
    bool uses_ids = b.version >= 13 && f->without_id == 0;

    hold_throttled(f);
    if (!has_wanted(f))
        return false;
    if (b.version >= 13 && !uses_ids)
        b.version = 12;
    /* Those that are delayed are asked for when this one is answered. */
    b.max_wait_ms = fetcher_until_due_ms(f, f->opts.conf->wait_max_ms);
    /* A session goes either by ids or by names. */
    if (uses_ids != f->uses_ids)
        f->session_epoch = 0;
    f->uses_ids = uses_ids;
    f->is_full = f->session_epoch == 0 || b.version < 7;
    if (f->is_full)
        build_full(&b);
    else
        build_incremental(&b);
    f->asked_count = (int32_t)b.part_count;
    f->call.api_key = API_FETCH;
    f->call.version = b.version;
    fetcher_send(f, STEP_FETCH, &b.req);
    if (!f->is_full)
        free_forgotten(f);
    arena_deinit(&b.arena);
    return true;
}
