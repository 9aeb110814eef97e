#include "broker/group/subscription.h"

#include "common/base/err.h"
#include "common/wire/codec.h"

bool group_is_of_consumers(const struct group *g)
{
    return str_eqz(g->protocol_type, "consumer");
}

static int add_topics(struct subscription *s, size_t *cap, struct arena *a, struct slice metadata)
{
    struct consumer_protocol_subscription sub;
    int16_t version;
    int r =
        codec_decode_versioned(&consumer_protocol_subscription_desc, metadata, a, &version, &sub);

    if (r < 0)
        return r;
    xgrow(s->topics, *cap, s->count + (size_t)sub.topics_count);
    for (int32_t i = 0; i < sub.topics_count; i++)
        s->topics[s->count++] = arena_str(a, sub.topics[i]);
    return 0;
}

static int compare(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static void free_topics(void *topics)
{
    free(topics);
}

void subscription_read(const struct group *g, struct arena *a, struct subscription *ret)
{
    size_t cap = 0;
    int r = 0;

    *ret = (struct subscription){0};
    if (!group_is_of_consumers(g) || (g->members && str_is_null(g->protocol)))
        return;
    for (const struct member *m = g->members; m && r == 0; m = m->hh.next) {
        const struct member_protocol *p = member_protocol(m, g->protocol);

        r = p ? add_topics(ret, &cap, a, p->metadata) : -EBADMSG;
    }
    if (ret->topics)
        arena_hold(a, ret->topics, free_topics);
    if (r == 0 && ret->count > 0)
        qsort(ret->topics, ret->count, sizeof *ret->topics, compare);
    ret->is_known = r == 0;
}

bool subscription_has(const struct subscription *s, struct str topic)
{
    return s->count > 0 && bsearch(&topic, s->topics, s->count, sizeof *s->topics, compare);
}
