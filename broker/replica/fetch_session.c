#include "broker/replica/fetch_session.h"

#include "broker/replica/partition_isr.h"
#include "common/base/be.h"
#include "common/base/err.h"
#include "common/base/random.h"

#include <stdatomic.h>

enum { SHARDS = 8, EVICTION_MS = 120000 };

struct shard {
    struct mutex lock; /* LOCK_FETCH_SESSIONS */
    struct fetch_session *sessions;
};

struct fetch_sessions {
    const struct clock *clock;
    int32_t slots_per_shard;
    _Atomic uint32_t next_shard;
    struct shard shards[SHARDS];
};

static const int32_t ids_per_shard = INT32_MAX / SHARDS;

/* ---- partitions of a session ---- */

static uint32_t make_key(bool uses_ids, struct str topic, struct uuid id, uint8_t *to)
{
    if (uses_ids) {
        memcpy(to, id.b, sizeof id.b);
        return sizeof id.b;
    }
    memcpy(to, topic.p, topic.len);
    return (uint32_t)topic.len;
}

static struct session_part *find_part(struct fetch_session *s, const struct fetch_want *want)
{
    size_t room = MAX(want->topic.len, sizeof want->topic_id) + 4;
    uint8_t *CLEANUP(free_p) key = xmalloc(room);
    uint32_t len = make_key(s->uses_ids, want->topic, want->topic_id, key);
    struct session_part *sp;

    be32_write(key + len, (uint32_t)want->partition);
    HASH_FIND(hh, s->parts, key, len + 4, sp);
    return sp;
}

/* Under the partition's lock. What was settled was at the end at the follower's last fetch. */
static void on_news(struct partition_watch *w, unsigned news)
{
    struct session_part *sp = container_of(w, struct session_part, watch);
    struct fetch_session *s = sp->session;
    /* Only what can end a wait wakes it: a follower learns of the watermark with its next
     * records. */
    unsigned wakes = NEWS_STATE | (s->replica_id >= 0 ? NEWS_END : NEWS_HW);
    bool was_settled = false;

    WITH_LOCK(&s->news_lock)
    {
        if (sp->place == PLACE_SETTLED) {
            was_settled = true;
            sp->place = PLACE_NEWS;
            DL_APPEND(s->news, sp);
        } else if (sp->place == PLACE_WORK) {
            sp->came_again = true;
        }
        if (s->parked && (news & wakes))
            delayed_poke(s->parked);
    }
    if (was_settled && s->replica_id >= 0)
        partition_replica_was_idle(sp->part, s->replica_id, atomic_load(&s->last_fetch_ms));
}

static unsigned wanted_news(const struct fetch_session *s)
{
    return NEWS_HW | NEWS_START | NEWS_STATE | (s->replica_id >= 0 ? NEWS_END : 0);
}

void fetch_session_attach(struct session_part *sp, struct partition *part)
{
    if (sp->part)
        partition_unwatch(sp->part, &sp->watch);
    partition_unref(sp->part);
    sp->part = part;
    if (!part)
        return;
    sp->watch = (struct partition_watch){.wants = wanted_news(sp->session), .news = on_news};
    partition_watch(part, &sp->watch);
}

static void set_want(struct session_part *sp, const struct fetch_want *want)
{
    struct str topic = sp->want.topic;

    sp->want = *want;
    if (str_is_null(topic) && !str_is_null(want->topic))
        topic = (struct str){str_dup(want->topic), want->topic.len};
    sp->want.topic = topic;
}

static struct session_part *add_part(struct fetch_session *s, const struct fetch_want *want)
{
    size_t room = MAX(want->topic.len, sizeof want->topic_id) + 4;
    struct session_part *sp = xcalloc(1, sizeof *sp + room);

    sp->session = s;
    set_want(sp, want);
    sp->key_len = make_key(s->uses_ids, want->topic, want->topic_id, sp->key);
    be32_write(sp->key + sp->key_len, (uint32_t)want->partition);
    sp->key_len += 4;
    sp->told_hw = -1;
    sp->told_start = -1;
    HASH_ADD_KEYPTR(hh, s->parts, sp->key, sp->key_len, sp);
    sp->place = PLACE_NEWS;
    WITH_LOCK(&s->news_lock)
    {
        DL_APPEND(s->news, sp);
    }
    return sp;
}

static void drop_part(struct session_part *sp)
{
    struct fetch_session *s = sp->session;

    fetch_session_attach(sp, NULL);
    WITH_LOCK(&s->news_lock)
    {
        if (sp->place == PLACE_NEWS)
            DL_DELETE(s->news, sp);
    }
    HASH_DELETE(hh, s->parts, sp);
    free((char *)(uintptr_t)sp->want.topic.p);
    free(sp);
}

/* ---- sessions ---- */

static struct fetch_session *session_new(const struct fetch_who *who, int64_t now_ms)
{
    struct fetch_session *s = xnew(struct fetch_session);

    mutex_init(&s->lock, LOCK_FETCH_SESSION);
    mutex_init(&s->news_lock, LOCK_FETCH_NEWS);
    s->epoch = 1;
    s->uses_ids = who->version >= 13;
    s->replica_id = who->replica_id;
    s->refs = 1;
    s->created_ms = now_ms;
    s->last_fetch_ms = now_ms;
    return s;
}

struct fetch_session *fetch_session_unref(struct fetch_session *s)
{
    struct session_part *sp, *tmp;

    if (!s || atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) != 1)
        return NULL;
    HASH_ITER (hh, s->parts, sp, tmp) {
        drop_part(sp);
    }
    mutex_deinit(&s->lock);
    mutex_deinit(&s->news_lock);
    free(s);
    return NULL;
}

struct fetch_sessions *fetch_sessions_new(const struct clock *clock, int32_t slots)
{
    struct fetch_sessions *c = xnew(struct fetch_sessions);

    c->clock = clock;
    c->slots_per_shard = slots / SHARDS;
    for (int i = 0; i < SHARDS; i++)
        mutex_init(&c->shards[i].lock, LOCK_FETCH_SESSIONS);
    return c;
}

struct fetch_sessions *fetch_sessions_free(struct fetch_sessions *c)
{
    for (int i = 0; c && i < SHARDS; i++) {
        struct fetch_session *s, *tmp;
        HASH_ITER (hh, c->shards[i].sessions, s, tmp) {
            HASH_DELETE(hh, c->shards[i].sessions, s);
            fetch_session_unref(s);
        }
        mutex_deinit(&c->shards[i].lock);
    }
    free(c);
    return NULL;
}

int32_t fetch_sessions_count(struct fetch_sessions *c)
{
    int32_t n = 0;

    for (int i = 0; i < SHARDS; i++) {
        LOCK_SCOPE(&c->shards[i].lock);
        n += (int32_t)HASH_COUNT(c->shards[i].sessions);
    }
    return n;
}

static struct shard *shard_of(struct fetch_sessions *c, int32_t id)
{
    return &c->shards[MIN(id / ids_per_shard, SHARDS - 1)];
}

static struct fetch_session *find_session(struct fetch_sessions *c, int32_t id)
{
    struct fetch_session *s = NULL;

    if (id <= 0)
        return NULL;
    struct shard *shard = shard_of(c, id);
    LOCK_SCOPE(&shard->lock);
    HASH_FIND_INT(shard->sessions, &id, s);
    if (s)
        atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);
    return s;
}

static void remove_session(struct fetch_sessions *c, int32_t id)
{
    struct fetch_session *s = NULL;

    if (id <= 0)
        return;
    struct shard *shard = shard_of(c, id);
    WITH_LOCK(&shard->lock)
    {
        HASH_FIND_INT(shard->sessions, &id, s);
        if (s)
            HASH_DELETE(hh, shard->sessions, s);
    }
    fetch_session_unref(s);
}

/* ---- a request ---- */

static struct fetch_want want_of(const struct fetch_request_topic *t,
                                 const struct fetch_request_partition *p)
{
    return (struct fetch_want){
        .topic = t->topic.len ? t->topic : STR_NULL,
        .topic_id = t->topic_id,
        .partition = p->partition,
        .current_leader_epoch = p->current_leader_epoch,
        .offset = p->fetch_offset,
        .last_fetched_epoch = p->last_fetched_epoch,
        .log_start = p->log_start_offset,
        .max_bytes = p->partition_max_bytes,
    };
}

static void update_part(struct fetch_session *s, const struct fetch_want *want)
{
    struct session_part *sp = find_part(s, want);

    if (!sp) {
        add_part(s, want);
        return;
    }
    set_want(sp, want);
    WITH_LOCK(&s->news_lock)
    {
        if (sp->place == PLACE_SETTLED) {
            sp->place = PLACE_NEWS;
            DL_APPEND(s->news, sp);
        }
    }
}

static void take_over(struct fetch_session *s, const struct fetch_request *req) REQUIRES(s->lock)
{
    for (int32_t i = 0; i < req->topics_count; i++)
        for (int32_t k = 0; k < req->topics[i].partitions_count; k++) {
            struct fetch_want want = want_of(&req->topics[i], &req->topics[i].partitions[k]);
            update_part(s, &want);
        }
    for (int32_t i = 0; i < req->forgotten_topics_data_count; i++) {
        const struct fetch_request_forgotten_topics_data *t = &req->forgotten_topics_data[i];
        for (int32_t k = 0; k < t->partitions_count; k++) {
            struct fetch_want want = {.topic = t->topic, .topic_id = t->topic_id};
            want.partition = t->partitions[k];
            struct session_part *sp = find_part(s, &want);
            if (sp)
                drop_part(sp);
        }
    }
    atomic_store(&s->size, (int32_t)HASH_COUNT(s->parts));
}

static int32_t epoch_after(int32_t epoch)
{
    return epoch == INT32_MAX ? 1 : epoch + 1;
}

static int use_session(struct fetch_session *s, const struct fetch_request *req, int16_t version)
    REQUIRES(s->lock)
{
    if (s->epoch != req->session_epoch)
        return INVALID_FETCH_SESSION_EPOCH;
    if (s->uses_ids != (version >= 13))
        return FETCH_SESSION_TOPIC_ID_ERROR;
    take_over(s, req);
    s->epoch = epoch_after(s->epoch);
    return 0;
}

int fetch_sessions_begin(struct fetch_sessions *c, const struct fetch_request *req,
                         const struct fetch_who *who, enum fetch_kind *ret_kind,
                         struct fetch_session **ret)
{
    *ret = NULL;
    if (who->version < 7 || req->session_epoch == 0 || req->session_epoch == -1) {
        remove_session(c, req->session_id);
        *ret_kind = who->version >= 7 && req->session_epoch == 0 ? FETCH_FULL : FETCH_SESSIONLESS;
        return 0;
    }
    struct fetch_session *s = find_session(c, req->session_id);
    if (!s)
        return FETCH_SESSION_ID_NOT_FOUND;
    int r;
    bool is_empty;
    WITH_LOCK(&s->lock)
    {
        r = use_session(s, req, who->version);
        is_empty = !s->parts;
    }
    atomic_store(&s->last_fetch_ms, clock_mono_ms(c->clock));
    *ret_kind = FETCH_INCREMENTAL;
    if (r == 0 && is_empty) {
        remove_session(c, s->id);
        *ret_kind = FETCH_SESSIONLESS;
    }
    if (r || is_empty)
        fetch_session_unref(s);
    else
        *ret = s;
    return r;
}

/* ---- making one ---- */

static bool may_evict(const struct fetch_session *old, const struct fetch_who *who, int32_t size,
                      int64_t now_ms)
{
    if (now_ms - atomic_load(&old->last_fetch_ms) > EVICTION_MS)
        return true;
    bool old_is_replica = old->replica_id >= 0, is_replica = who->replica_id >= 0;
    if (old_is_replica != is_replica)
        return is_replica;
    return now_ms - old->created_ms > EVICTION_MS && atomic_load(&old->size) < size;
}

/* The best one to give up: idle too long before a consumer's before a smaller one; among equals the
 * one idle longest. */
static struct fetch_session *find_victim(struct shard *shard, const struct fetch_who *who,
                                         int32_t size, int64_t now_ms)
{
    struct fetch_session *s, *tmp, *best = NULL;
    int64_t best_used = INT64_MAX;

    HASH_ITER (hh, shard->sessions, s, tmp) {
        int64_t used = atomic_load(&s->last_fetch_ms);
        if (used >= best_used || !may_evict(s, who, size, now_ms))
            continue;
        best = s;
        best_used = used;
    }
    return best;
}

static int32_t pick_id(struct shard *shard, int32_t shard_index)
{
    for (;;) {
        uint32_t random;
        struct fetch_session *taken;
        random_bytes(&random, sizeof random);
        int32_t id = shard_index * ids_per_shard + (int32_t)(random % (uint32_t)ids_per_shard);
        HASH_FIND_INT(shard->sessions, &id, taken);
        if (id > 0 && !taken)
            return id;
    }
}

static bool insert_session(struct fetch_sessions *c, struct fetch_session *s,
                           const struct fetch_who *who)
{
    int32_t index = (int32_t)(atomic_fetch_add(&c->next_shard, 1) % SHARDS);
    struct shard *shard = &c->shards[index];
    struct fetch_session *victim = NULL;
    bool has_room;

    WITH_LOCK(&shard->lock)
    {
        has_room = (int32_t)HASH_COUNT(shard->sessions) < c->slots_per_shard;
        if (!has_room) {
            victim = find_victim(shard, who, s->size, s->created_ms);
            has_room = victim != NULL;
        }
        if (victim)
            HASH_DELETE(hh, shard->sessions, victim);
        if (has_room) {
            s->id = pick_id(shard, index);
            HASH_ADD_INT(shard->sessions, id, s);
        }
    }
    fetch_session_unref(victim);
    return has_room;
}

int32_t fetch_sessions_create(struct fetch_sessions *c, const struct fetch_who *who,
                              const struct fetch_told *told, int32_t count)
{
    if (c->slots_per_shard == 0)
        return 0;
    struct fetch_session *s = session_new(who, clock_mono_ms(c->clock));

    for (int32_t i = 0; i < count; i++) {
        if (find_part(s, told[i].want))
            continue;
        struct session_part *sp = add_part(s, told[i].want);
        sp->told_hw = told[i].data->high_watermark;
        sp->told_start = told[i].data->log_start_offset;
        if (told[i].part)
            fetch_session_attach(sp, partition_ref(told[i].part));
    }
    s->size = (int32_t)HASH_COUNT(s->parts);
    /* From the moment it is in the table it may be evicted, so its id is read before. */
    atomic_fetch_add(&s->refs, 1);
    int32_t id = insert_session(c, s, who) ? s->id : 0;
    if (!id)
        fetch_session_unref(s);
    fetch_session_unref(s);
    return id;
}

/* ---- work ---- */

bool fetch_session_is_at(const struct fetch_session *s, int32_t request_epoch)
{
    return s->epoch == epoch_after(request_epoch);
}

struct session_part **fetch_session_take_work(struct fetch_session *s, struct arena *a,
                                              int32_t *ret_count)
{
    struct session_part *sp, *list, **work;
    int32_t n = 0;

    WITH_LOCK(&s->news_lock)
    {
        list = TAKE(s->news);
        DL_FOREACH (list, sp) {
            sp->place = PLACE_WORK;
            sp->came_again = false;
            n++;
        }
    }
    /* On no list now, and nobody but the holder of the session's lock changes that. */
    work = arena_new_array(a, struct session_part *, (size_t)n);
    *ret_count = n;
    n = 0;
    for (sp = list; sp; sp = sp->next)
        work[n++] = sp;
    return work;
}

void fetch_session_put_work(struct session_part *sp, bool is_settled)
{
    LOCK_SCOPE(&sp->session->news_lock);
    assert(sp->place == PLACE_WORK);
    if (is_settled && !sp->came_again) {
        sp->place = PLACE_SETTLED;
        return;
    }
    sp->place = PLACE_NEWS;
    DL_APPEND(sp->session->news, sp);
}

bool fetch_session_tell(struct session_part *sp, const struct fetch_response_partition *d)
{
    bool must = records_len(d->records) > 0 || d->high_watermark != sp->told_hw ||
                d->log_start_offset != sp->told_start || d->error_code ||
                d->preferred_read_replica >= 0 || d->diverging_epoch.epoch >= 0 ||
                d->diverging_epoch.end_offset >= 0;

    sp->told_hw = d->error_code ? -1 : d->high_watermark;
    sp->told_start = d->log_start_offset;
    return must;
}

void fetch_session_park(struct fetch_session *s, struct delayed *d, const struct delayed *was)
{
    LOCK_SCOPE(&s->news_lock);
    if (d || s->parked == was)
        s->parked = d;
}
