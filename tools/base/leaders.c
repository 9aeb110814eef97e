#include "tools/base/leaders.h"

#include "common/base/err.h"
#include "common/base/mem.h"
#include "tools/base/stop.h"

/* ---- who leads ---- */

static struct led *next_topic(const struct leaders_work *w, struct led *from)
{
    struct led *p = from;

    while (p < w->v + w->count && str_eq(p->topic, from->topic))
        p++;
    return p;
}

/* Metadata of the topics of which a partition is not done. */
static int ask_metadata(struct cluster *c, const struct leaders_work *w, struct arena *a,
                        const struct metadata_response **ret, struct strbuf *why)
{
    struct metadata_request m;
    const struct cluster_call call = {w->metadata_call, SEED_ANY, API_METADATA, 12, &m};
    const void *got;

    msg_init(&metadata_request_desc, &m);
    m.allow_auto_topic_creation = false;
    m.topics = arena_new_array(a, struct metadata_request_topic, w->count);
    for (struct led *p = w->v, *end; p < w->v + w->count; p = end) {
        bool wanted = false;
        end = next_topic(w, p);
        for (const struct led *q = p; q < end; q++)
            wanted |= !q->done;
        if (!wanted)
            continue;
        struct_init(&metadata_request_topic_desc, &m.topics[m.topics_count]);
        m.topics[m.topics_count++].name = p->topic;
    }
    int r = cluster_call(c, &call, a, &got, why);
    if (r == 0)
        *ret = got;
    return r;
}

static const struct metadata_response_topic *find_topic(const struct metadata_response *m,
                                                        struct str name)
{
    for (int32_t i = 0; i < m->topics_count; i++) {
        if (str_eq(m->topics[i].name, name))
            return &m->topics[i];
    }
    return NULL;
}

/* What the metadata says of one partition: its leader, or an error. */
static int16_t find_leader(const struct metadata_response_topic *topic, int32_t partition,
                           int32_t *ret)
{
    *ret = -1;
    if (!topic)
        return UNKNOWN_TOPIC_OR_PARTITION;
    if (topic->error_code)
        return topic->error_code;
    for (int32_t i = 0; i < topic->partitions_count; i++) {
        const struct metadata_response_partition *p = &topic->partitions[i];
        if (p->partition_index != partition)
            continue;
        *ret = p->leader_id;
        return p->leader_id < 0 ? LEADER_NOT_AVAILABLE : 0;
    }
    return UNKNOWN_TOPIC_OR_PARTITION;
}

static bool is_passing(int16_t error)
{
    switch (error) {
    case LEADER_NOT_AVAILABLE:
    case NOT_LEADER_OR_FOLLOWER:
    case REPLICA_NOT_AVAILABLE:
    case KAFKA_STORAGE_ERROR:
    case OFFSET_NOT_AVAILABLE:
    case FENCED_LEADER_EPOCH:
    case UNKNOWN_LEADER_EPOCH:
    case NETWORK_EXCEPTION:
        return true;
    default:
        return false;
    }
}

static void take_leaders(struct leaders_work *w, const struct metadata_response *m)
{
    for (struct led *p = w->v, *end; p < w->v + w->count; p = end) {
        const struct metadata_response_topic *topic = find_topic(m, p->topic);
        end = next_topic(w, p);
        for (struct led *q = p; q < end; q++) {
            if (q->done)
                continue;
            q->error = find_leader(topic, q->partition, &q->leader);
            q->done = q->error && !is_passing(q->error) &&
                      !(w->patient && q->error == UNKNOWN_TOPIC_OR_PARTITION);
        }
    }
}

/* ---- asking ---- */

static size_t count_done(const struct leaders_work *w)
{
    size_t n = 0;

    for (size_t i = 0; i < w->count; i++)
        n += w->v[i].done;
    return n;
}

/* All partitions of one leader. */
static int ask_leader(struct leaders_work *w, int32_t leader, struct led **room, struct strbuf *why)
{
    size_t at = 0;
    int r = 0;

    while (r == 0 && at < w->count && !stop_wanted()) {
        size_t n = 0;
        for (; at < w->count && n < LEADERS_CHUNK; at++) {
            if (!w->v[at].done && w->v[at].leader == leader)
                room[n++] = &w->v[at];
        }
        if (n == 0)
            break;
        strbuf_reset(why);
        r = w->ask(w->ctx, leader, room, n, why);
        for (size_t i = 0; i < n; i++) {
            if (r < 0) /* the broker may be gone: somebody else may lead by now */
                room[i]->error = NETWORK_EXCEPTION;
            room[i]->leader = -1;
            room[i]->done = !is_passing(room[i]->error) &&
                            !(w->patient && room[i]->error == UNKNOWN_TOPIC_OR_PARTITION);
        }
        if (w->progress)
            w->progress(w->ctx, count_done(w));
    }
    return r;
}

static int ask_all(struct leaders_work *w, struct led **room, struct strbuf *why)
{
    for (size_t i = 0; i < w->count && !stop_wanted(); i++) {
        if (w->v[i].done || w->v[i].leader < 0)
            continue;
        int r = ask_leader(w, w->v[i].leader, room, why);
        if (r == -EPROTONOSUPPORT)
            return r;
    }
    return 0;
}

int leaders_run(struct cluster *c, struct leaders_work *w, struct arena *a, struct strbuf *why)
{
    CLEANUP(free_p)
    struct led **room = xnew_array(struct led *, MIN(w->count, (size_t)LEADERS_CHUNK) + 1);
    const struct metadata_response *m = NULL;

    cluster_start(c);
    for (;;) {
        int r = ask_metadata(c, w, a, &m, why);
        if (r < 0)
            return r;
        take_leaders(w, m);
        r = ask_all(w, room, why);
        if (r < 0)
            return r;
        if (count_done(w) == w->count)
            return 0;
        if (stop_wanted())
            return -EINTR;
        if (!cluster_again(c, NETWORK_EXCEPTION))
            return -ETIMEDOUT;
    }
}

/* ---- offsets ---- */

struct led *leaders_find(struct led *const *parts, size_t count, size_t *at, struct str topic,
                         int32_t partition)
{
    for (size_t n = 0; n < count; n++, ++*at) {
        struct led *p = parts[*at % count];
        if (p->partition == partition && str_eq(p->topic, topic))
            return p;
    }
    return NULL;
}

static void take_offsets(const struct list_offsets_response *m, struct led *const *parts,
                         size_t count)
{
    size_t at = 0;

    for (size_t i = 0; i < count; i++) {
        parts[i]->error = UNKNOWN_SERVER_ERROR;
        parts[i]->answer = -1;
    }
    for (int32_t t = 0; t < m->topics_count; t++) {
        for (int32_t i = 0; i < m->topics[t].partitions_count; i++) {
            const struct list_offsets_response_partition *from = &m->topics[t].partitions[i];
            struct led *to =
                leaders_find(parts, count, &at, m->topics[t].name, from->partition_index);
            if (to) {
                to->error = from->error_code;
                to->answer = from->offset;
            }
        }
    }
}

int leaders_ask_offsets(struct cluster *c, int32_t leader, struct led *const *parts, size_t count,
                        struct strbuf *why)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct list_offsets_request m;
    const struct cluster_call call = {"listOffsets", leader, API_LIST_OFFSETS, 9, &m, true};
    struct list_offsets_request_topic *topic = NULL;
    const void *got;

    msg_init(&list_offsets_request_desc, &m);
    m.replica_id = -1;
    m.topics = arena_new_array(&a, struct list_offsets_request_topic, count);
    for (size_t i = 0; i < count; i++) {
        struct list_offsets_request_partition *p;
        if (!topic || !str_eq(topic->name, parts[i]->topic)) {
            topic = &m.topics[m.topics_count++];
            *topic = (struct list_offsets_request_topic){
                .name = parts[i]->topic,
                .partitions =
                    arena_new_array(&a, struct list_offsets_request_partition, count - i)};
        }
        p = &topic->partitions[topic->partitions_count++];
        struct_init(&list_offsets_request_partition_desc, p);
        p->partition_index = parts[i]->partition;
        p->timestamp = parts[i]->asked;
    }
    int r = cluster_call(c, &call, &a, &got, why);
    if (r == 0)
        take_offsets(got, parts, count);
    return r;
}
