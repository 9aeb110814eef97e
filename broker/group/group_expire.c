#include "broker/group/group_expire.h"

#include "common/wire/codec.h"

#include <errno.h>

enum { VERSION_BYTES = 2 };

struct read_topic {
    UT_hash_handle hh;
    size_t len;
    char name[];
};

void read_topics_deinit(struct read_topics *t)
{
    struct read_topic *topic, *next;

    HASH_ITER (hh, t->set, topic, next) {
        HASH_DEL(t->set, topic);
        free(topic);
    }
    *t = (struct read_topics){0};
}

static struct read_topic *find(const struct read_topics *t, struct str name)
{
    struct read_topic *topic;

    HASH_FIND(hh, t->set, name.p, name.len, topic);
    return topic;
}

static void add(struct read_topics *t, struct str name)
{
    if (find(t, name))
        return;
    struct read_topic *topic = xmalloc(sizeof *topic + name.len);

    *topic = (struct read_topic){.len = name.len};
    if (name.len)
        memcpy(topic->name, name.p, name.len);
    HASH_ADD_KEYPTR(hh, t->set, topic->name, topic->len, topic);
}

int read_topics_add(struct read_topics *t, struct slice metadata)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct consumer_protocol_subscription m;
    int r = metadata.len < VERSION_BYTES
                ? -EBADMSG
                : codec_decode(&consumer_protocol_subscription_desc, 0,
                               slice_from(metadata, VERSION_BYTES), &a, &m);

    if (r < 0) {
        t->is_unknown = true;
        return r;
    }
    for (int32_t i = 0; i < m.topics_count; i++)
        add(t, m.topics[i]);
    return 0;
}

bool read_topics_has(const struct read_topics *t, struct str topic)
{
    return t->is_unknown || find(t, topic) != NULL;
}

/* Clients may give any time of a commit: wraps, as in Kafka, where it must not overflow. */
static bool is_old(const struct group_age *g, int64_t since_ms)
{
    return (int64_t)((uint64_t)g->now_ms - (uint64_t)since_ms) >= g->retention_ms;
}

bool offset_is_expired(const struct group_age *g, struct str topic, const struct committed *c,
                       bool is_pending)
{
    int64_t since_ms = c->commit_ms;

    if (is_pending)
        return false;
    if (str_is_null(g->protocol_type)) {
        /* The commit's age, whatever the state. */
    } else if (g->is_empty) {
        if (g->state_ms != -1)
            since_ms = g->state_ms;
    } else if (!g->is_stable || !str_eqz(g->protocol_type, "consumer") || !g->topics ||
               read_topics_has(g->topics, topic)) {
        return false;
    }
    return c->expire_ms != -1 ? g->now_ms >= c->expire_ms : is_old(g, since_ms);
}
