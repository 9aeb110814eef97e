#include "broker/replica/delayed_fetch.h"

#include "broker/replica/replica_manager.h"
#include "common/base/err.h"
#include "common/io/fs.h"

#include <stdatomic.h>

/* ---- which partitions ---- */

/* Items of a session live for one round, as there may be many while it waits. */
static struct arena *items_arena(struct fetch *f)
{
    return f->session ? &f->scratch : f->arena;
}

/* What is known before reading: 100, then 29, then 3; those come last in the answer. */
static int check_known(struct fetch *f, const struct metadata_snapshot *s, struct fetch_item *item)
{
    if (f->who.version >= 13) {
        const struct meta_topic *t = metadata_topic_by_id(s, item->want.topic_id);
        if (!t)
            return UNKNOWN_TOPIC_ID;
        if (str_is_null(item->want.topic))
            item->want.topic = arena_str(items_arena(f), t->name);
    }
    if (f->may_read && !f->may_read(f, item->want.topic))
        return TOPIC_AUTHORIZATION_FAILED;
    return metadata_partition(s, item->want.topic, item->want.partition)
               ? 0
               : UNKNOWN_TOPIC_OR_PARTITION;
}

static int compare_refused(const struct fetch_item *a, const struct fetch_item *b)
{
    return (a->refused != 0) - (b->refused != 0);
}

/* Keeps the order, but for the refused ones, which go to the end. */
static void order_items(struct fetch *f)
{
    struct fetch_item *sorted =
        arena_new_array(items_arena(f), struct fetch_item, (size_t)f->item_count);
    int32_t n = 0;

    for (int pass = 0; pass < 2; pass++)
        for (int32_t i = 0; i < f->item_count; i++)
            if ((f->items[i].refused != 0) == pass)
                sorted[n++] = f->items[i];
    f->items = sorted;
}

static void settle_order(struct fetch *f)
{
    for (int32_t i = 1; i < f->item_count; i++)
        if (compare_refused(&f->items[i - 1], &f->items[i]) > 0) {
            order_items(f);
            return;
        }
}

static void add_item(struct fetch *f, const struct metadata_snapshot *s,
                     const struct fetch_request_topic *t, const struct fetch_request_partition *p)
{
    struct fetch_item *item = &f->items[f->item_count++];

    item->fetch = f;
    item->want = (struct fetch_want){
        .topic = t->topic.len ? t->topic : STR_NULL,
        .topic_id = t->topic_id,
        .partition = p->partition,
        .current_leader_epoch = p->current_leader_epoch,
        .offset = p->fetch_offset,
        .last_fetched_epoch = p->last_fetched_epoch,
        .log_start = p->log_start_offset,
        .max_bytes = p->partition_max_bytes,
    };
    item->refused = check_known(f, s, item);
    if (!item->refused)
        item->error =
            replica_manager_get(f->m, item->want.topic, item->want.partition, &item->part);
}

static void items_of_request(struct fetch *f)
{
    const struct metadata_snapshot *CLEANUP(metadata_put_p) s =
        metadata_get(replica_manager_env(f->m)->metadata);
    size_t total = 0;

    for (int32_t i = 0; i < f->req->topics_count; i++)
        total += (size_t)f->req->topics[i].partitions_count;
    f->items = arena_new_array(f->arena, struct fetch_item, total);
    for (int32_t i = 0; i < f->req->topics_count; i++)
        for (int32_t k = 0; k < f->req->topics[i].partitions_count; k++)
            add_item(f, s, &f->req->topics[i], &f->req->topics[i].partitions[k]);
    settle_order(f);
}

static void item_of_session(struct fetch *f, const struct metadata_snapshot *s,
                            struct session_part *sp, struct fetch_item *item)
{
    struct partition *part = NULL;

    item->fetch = f;
    item->session_part = sp;
    item->want = sp->want;
    item->refused = check_known(f, s, item);
    if (str_is_null(sp->want.topic) && !str_is_null(item->want.topic))
        sp->want.topic = (struct str){str_dup(item->want.topic), item->want.topic.len};
    if (item->refused)
        return;
    if (!sp->part) {
        item->error = replica_manager_get(f->m, item->want.topic, item->want.partition, &part);
        fetch_session_attach(sp, part);
    }
    item->part = sp->part;
}

/* The session's partitions with news; its lock is held until they are put back. */
static void items_of_session(struct fetch *f)
{
    const struct metadata_snapshot *CLEANUP(metadata_put_p) s =
        metadata_get(replica_manager_env(f->m)->metadata);
    arena_reset(&f->scratch);
    struct session_part **work = fetch_session_take_work(f->session, &f->scratch, &f->item_count);

    f->items = arena_new_array(&f->scratch, struct fetch_item, (size_t)f->item_count);
    for (int32_t i = 0; i < f->item_count; i++)
        item_of_session(f, s, work[i], &f->items[i]);
    settle_order(f);
}

/* ---- reading ---- */

/* As in Kafka, only who does not get as far as the log is told of no aborted transactions. */
static void refuse_item(struct fetch_item *item)
{
    partition_fetch_error(item->want.partition, item->refused ? item->refused : item->error,
                          &item->got.data);
    if (!item->refused)
        item->got.data.aborted_transactions_count = -1;
    item->got.is_settled = false;
}

static void read_items(struct fetch *f, bool is_first)
{
    struct fetch_who who = f->who;
    int64_t left = f->max_bytes;
    bool has_some = false;

    who.moves_replica = is_first;
    for (int32_t i = 0; i < f->item_count; i++) {
        struct fetch_item *item = &f->items[i];
        if (item->refused || item->error) {
            refuse_item(item);
            continue;
        }
        struct fetch_read read = {
            .who = &who,
            .want = &item->want,
            .max_bytes = (uint32_t)MAX(MIN((int64_t)item->want.max_bytes, left), 0),
            .min_one_batch = who.version >= 3 && !has_some,
            .arena = f->arena,
        };
        partition_fetch(item->part, &read, &item->got);
        f->is_held |= item->got.is_held;
        int64_t bytes = (int64_t)records_len(item->got.data.records);
        has_some |= bytes > 0;
        left = MAX(left - bytes, 0);
    }
}

static void drop_read(struct fetch *f)
{
    for (int32_t i = 0; i < f->item_count; i++) {
        struct records *records = &f->items[i].got.data.records;
        if (records->file)
            file_unref(records->file);
        *records = (struct records){0};
    }
}

static bool has_something_to_say(const struct fetch_response_partition *d)
{
    return d->error_code || d->preferred_read_replica >= 0 || d->diverging_epoch.epoch >= 0 ||
           d->diverging_epoch.end_offset >= 0;
}

static bool must_answer(const struct fetch *f)
{
    int32_t others = f->session ? atomic_load(&f->session->size) - f->item_count : 0;
    int64_t bytes = 0;

    for (int32_t i = 0; i < f->item_count; i++) {
        const struct fetch_item *item = &f->items[i];
        /* Acknowledgements wait for a follower, and it asks again soon. */
        if (item->refused && fetch_is_replica(&f->who))
            return true;
        if (item->refused)
            continue;
        others++;
        bytes += (int64_t)records_len(item->got.data.records);
        if (has_something_to_say(&item->got.data))
            return true;
    }
    return f->req->max_wait_ms <= 0 || others <= 0 || bytes >= f->min_bytes;
}

/* ---- the answer ---- */

static bool same_topic(const struct fetch *f, const struct fetch_item *a,
                       const struct fetch_item *b)
{
    return f->who.version >= 13 ? uuid_eq(a->want.topic_id, b->want.topic_id)
                                : str_eq(a->want.topic, b->want.topic);
}

static void drop_file(void *file)
{
    file_unref(file);
}

/* What throttled followers are given counts, whether they are in sync or not. */
static void count_throttled(struct fetch *f)
{
    int64_t bytes = 0;

    for (int32_t i = 0; i < f->answered_count; i++) {
        if (f->answered[i].got.is_throttled)
            bytes += (int64_t)records_len(f->answered[i].got.data.records);
    }
    if (bytes)
        repl_quota_record(&replica_manager_env(f->m)->leader_quota, bytes);
}

static void build_response(struct fetch *f)
{
    struct fetch_response *resp = &f->response;
    struct fetch_response_partition *parts =
        arena_new_array(f->arena, struct fetch_response_partition, (size_t)f->answered_count);

    resp->responses =
        arena_new_array(f->arena, struct fetch_response_response, (size_t)f->answered_count);
    resp->responses_count = 0;
    for (int32_t i = 0; i < f->answered_count; i++) {
        struct fetch_item *item = &f->answered[i];
        if (i == 0 || !same_topic(f, item - 1, item)) {
            struct fetch_response_response *t = &resp->responses[resp->responses_count++];
            struct_init(&fetch_response_response_desc, t);
            if (f->who.version < 13 && !str_is_null(item->want.topic))
                t->topic = item->want.topic;
            t->topic_id = item->want.topic_id;
            t->partitions = &parts[i];
        }
        resp->responses[resp->responses_count - 1].partitions_count++;
        parts[i] = item->got.data;
        if (parts[i].records.file)
            arena_hold(f->arena, parts[i].records.file, drop_file);
    }
    count_throttled(f);
}

static void remember_full(struct fetch *f)
{
    struct fetch_told *told = arena_new_array(f->arena, struct fetch_told, (size_t)f->item_count);

    for (int32_t i = 0; i < f->item_count; i++)
        told[i] = (struct fetch_told){&f->items[i].want, f->items[i].part, &f->items[i].got.data};
    f->response.session_id =
        fetch_sessions_create(replica_manager_sessions(f->m), &f->who, told, f->item_count);
}

static void answer_full(struct fetch *f)
{
    f->answered = f->items;
    f->answered_count = f->item_count;
    if (f->kind == FETCH_FULL)
        remember_full(f);
    build_response(f);
}

static void put_back(struct fetch_item *item)
{
    /* Looked up anew the next time: it may have come, or come back, in another place. */
    if (item->got.data.error_code && item->session_part->part)
        fetch_session_attach(item->session_part, NULL);
    fetch_session_put_work(item->session_part, item->got.is_settled && !item->got.data.error_code);
}

/* Those that gave data go to the end of the order, so that every partition has its turn. */
static void answer_incremental(struct fetch *f)
{
    f->answered = arena_new_array(f->arena, struct fetch_item, (size_t)f->item_count);
    for (int32_t i = 0; i < f->item_count; i++) {
        struct fetch_item *item = &f->items[i];
        if (fetch_session_tell(item->session_part, &item->got.data)) {
            struct fetch_item *told = &f->answered[f->answered_count++];
            *told = *item;
            told->want.topic = arena_str(f->arena, item->want.topic);
            told->session_part = NULL;
            told->part = NULL;
        }
        if (!records_len(item->got.data.records))
            put_back(item);
    }
    for (int32_t i = 0; i < f->item_count; i++)
        if (records_len(f->items[i].got.data.records))
            put_back(&f->items[i]);
    f->response.session_id = f->session->id;
    build_response(f);
}

static void answer_error(struct fetch *f, int error, int32_t session_id)
{
    f->response.error_code = (int16_t)error;
    f->response.session_id = session_id;
}

/* ---- rounds ---- */

/* True where the answer was made. */
static bool round_of_request(struct fetch *f, bool is_first)
{
    read_items(f, is_first);
    if (is_first && !must_answer(f)) {
        drop_read(f);
        return false;
    }
    answer_full(f);
    return true;
}

static bool round_of_session(struct fetch *f, bool is_first)
{
    LOCK_SCOPE(&f->session->lock);
    if (!fetch_session_is_at(f->session, f->req->session_epoch)) {
        answer_error(f, INVALID_FETCH_SESSION_EPOCH, f->session->id);
        return true;
    }
    items_of_session(f);
    read_items(f, is_first);
    if (!is_first || must_answer(f)) {
        answer_incremental(f);
        return true;
    }
    drop_read(f);
    for (int32_t i = 0; i < f->item_count; i++)
        fetch_session_put_work(f->items[i].session_part, false);
    return false;
}

static bool run_round(struct fetch *f, bool is_first)
{
    return f->session ? round_of_session(f, is_first) : round_of_request(f, is_first);
}

static void finish(struct fetch *f)
{
    for (int32_t i = 0; !f->session && i < f->item_count; i++)
        f->items[i].part = partition_unref(f->items[i].part);
    f->session = fetch_session_unref(f->session);
    arena_deinit(&f->scratch);
    f->done(f);
}

/* ---- waiting ---- */

static bool is_enough(struct fetch *f)
{
    int64_t bytes = 0;

    for (int32_t i = 0; i < f->item_count; i++) {
        struct fetch_item *item = &f->items[i];
        if (item->refused)
            continue;
        if (!item->part)
            return true;
        struct fetch_ready ready =
            partition_fetch_ready(item->part, &f->who, &item->want, f->min_bytes <= 1);
        bytes += ready.bytes;
        if (ready.must_answer || bytes >= f->min_bytes)
            return true;
    }
    return false;
}

static bool look_at_session(struct fetch *f)
{
    LOCK_SCOPE(&f->session->lock);
    if (!fetch_session_is_at(f->session, f->req->session_epoch))
        return true;
    items_of_session(f);
    bool enough = is_enough(f);
    for (int32_t i = 0; i < f->item_count; i++)
        fetch_session_put_work(f->items[i].session_part, false);
    return enough;
}

static void on_news(struct partition_watch *w, unsigned news UNUSED)
{
    delayed_poke(&container_of(w, struct fetch_item, watch)->fetch->delayed);
}

static void watch_items(struct fetch *f)
{
    unsigned end = fetch_is_replica(&f->who) ? NEWS_END : 0;

    for (int32_t i = 0; i < f->item_count; i++) {
        struct fetch_item *item = &f->items[i];
        if (!item->part)
            continue;
        item->watch = (struct partition_watch){.wants = NEWS_HW | NEWS_START | NEWS_STATE | end,
                                               .news = on_news};
        partition_watch(item->part, &item->watch);
        item->is_watching = true;
    }
}

static void unwatch_items(struct fetch *f)
{
    for (int32_t i = 0; i < f->item_count; i++) {
        struct fetch_item *item = &f->items[i];
        if (item->is_watching)
            partition_unwatch(item->part, &item->watch);
        item->is_watching = false;
    }
}

static bool on_look(struct delayed *d, bool is_last)
{
    struct fetch *f = container_of(d, struct fetch, delayed);
    bool ends = is_last || atomic_load(&replica_manager_env(f->m)->is_stopping);

    if (!ends)
        ends = f->session ? look_at_session(f) : is_enough(f);
    if (!ends)
        return false;
    if (f->session)
        fetch_session_park(f->session, NULL, d);
    else
        unwatch_items(f);
    return true;
}

static void on_finish(struct delayed *d)
{
    struct fetch *f = container_of(d, struct fetch, delayed);

    run_round(f, false);
    finish(f);
}

/* A follower that the quota holds waits as long as the rate needs, so that it is used up. */
static int64_t longest_wait_ms(const struct fetch *f)
{
    int64_t max_ms = f->req->max_wait_ms;

    if (!f->is_held)
        return max_ms;
    return MIN(max_ms, MAX(repl_quota_wait_ms(&replica_manager_env(f->m)->leader_quota), 1));
}

static void park(struct fetch *f)
{
    f->delayed.reactor = f->reactor;
    f->delayed.look = on_look;
    f->delayed.finish = on_finish;
    delayed_init(&f->delayed);
    if (f->session)
        fetch_session_park(f->session, &f->delayed, NULL);
    else
        watch_items(f);
    delayed_park(&f->delayed, reactor_now_us(f->reactor) + longest_wait_ms(f) * 1000);
}

void fetch_start(struct replica_manager *m, struct fetch *f)
{
    int32_t wanted = f->who.version >= 3 ? f->req->max_bytes : INT32_MAX;

    msg_init(&fetch_response_desc, &f->response);
    f->m = m;
    f->is_held = false;
    f->max_bytes = CLAMP(wanted, 0, f->broker_max_bytes);
    f->min_bytes = MIN(f->req->min_bytes, f->max_bytes);
    int r =
        fetch_sessions_begin(replica_manager_sessions(m), f->req, &f->who, &f->kind, &f->session);
    if (r) {
        answer_error(f, r, 0);
        finish(f);
        return;
    }
    if (!f->session)
        items_of_request(f);
    if (run_round(f, true))
        finish(f);
    else
        park(f);
}
