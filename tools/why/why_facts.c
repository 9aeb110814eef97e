#include "tools/why/why_facts.h"

#include "common/base/mem.h"

#include <stdarg.h>
#include <stdio.h>

struct why_broker *why_find_broker(const struct why_facts *f, int32_t id)
{
    int32_t low = 0, high = f->brokers_count;

    while (low < high) {
        int32_t mid = low + (high - low) / 2;
        if (f->brokers[mid].id < id)
            low = mid + 1;
        else
            high = mid;
    }
    return low < f->brokers_count && f->brokers[low].id == id ? &f->brokers[low] : NULL;
}

struct why_broker *why_add_broker(struct why_facts *f, int32_t id)
{
    struct why_broker *known = why_find_broker(f, id);

    if (known)
        return known;
    struct why_broker *all =
        arena_new_array(f->arena, struct why_broker, (size_t)f->brokers_count + 1);
    int32_t at = 0;
    while (at < f->brokers_count && f->brokers[at].id < id)
        at++;
    if (at > 0)
        memcpy(all, f->brokers, (size_t)at * sizeof *all);
    if (at < f->brokers_count)
        memcpy(all + at + 1, f->brokers + at, (size_t)(f->brokers_count - at) * sizeof *all);
    all[at] = (struct why_broker){
        .id = id, .sees_controller = -2, .leader_rate = -1, .follower_rate = -1};
    f->brokers = all;
    f->brokers_count++;
    return &f->brokers[at];
}

struct why_topic *why_find_topic(const struct why_facts *f, struct str name)
{
    int32_t low = 0, high = f->topics_count;

    while (low < high) {
        int32_t mid = low + (high - low) / 2;
        if (str_cmp(f->topics[mid].name, name) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low < f->topics_count && str_eq(f->topics[low].name, name) ? &f->topics[low] : NULL;
}

struct why_partition *why_find_partition(const struct why_facts *f, struct str topic,
                                         int32_t partition)
{
    const struct why_topic *t = why_find_topic(f, topic);

    for (int32_t i = 0; t && i < t->count; i++) {
        /* Sorted, as a rule without gaps. */
        int32_t at = (partition + i) % t->count;
        if (at >= 0 && t->v[at].partition == partition)
            return &t->v[at];
    }
    return NULL;
}

const struct why_copy *why_find_copy(const struct why_partition *p, int32_t broker)
{
    for (int32_t i = 0; p->copies && i < p->replicas.count; i++) {
        if (p->copies[i].broker == broker)
            return &p->copies[i];
    }
    return NULL;
}

void why_add_bad(struct why_facts *f, struct str path, const char *why)
{
    struct why_zk_facts *z = &f->zk;

    if (z->bad_count == WHY_BAD_MAX)
        return;
    if (z->bad_count == z->bad_cap) {
        size_t cap = z->bad_cap * 2 + 4;
        struct why_bad_node *v = arena_new_array(f->arena, struct why_bad_node, cap);
        if (z->bad_count)
            memcpy(v, z->bad, z->bad_count * sizeof *v);
        z->bad = v;
        z->bad_cap = cap;
    }
    z->bad[z->bad_count++] =
        (struct why_bad_node){arena_str(f->arena, path), arena_str(f->arena, str_of(why))};
}

int32_t why_partition_count(const struct why_facts *f)
{
    int32_t n = 0;

    for (int32_t i = 0; i < f->topics_count; i++)
        n += f->topics[i].count;
    return n;
}

bool why_is_unwell(const struct why_partition *p)
{
    if (p->leader < 0 || p->offline.count > 0 || p->adding.count > 0 || p->removing.count > 0)
        return true;
    for (int32_t i = 0; i < p->replicas.count; i++) {
        if (!why_has(&p->isr, p->replicas.v[i]))
            return true;
    }
    return false;
}

static int64_t throttle_key(int32_t partition, int32_t broker)
{
    return (int64_t)partition << 32 | broker;
}

static int by_key(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

struct why_throttle why_throttle_parse(struct arena *a, struct str text)
{
    struct why_throttle t = {.v = arena_new_array(a, int64_t, text.len / 2 + 1)};
    struct str rest = text, item, first;
    int32_t partition, broker;

    while (str_split(&rest, ',', &item)) {
        item = str_trim(item);
        t.is_all |= str_eqz(item, "*");
        if (!str_split(&item, ':', &first) || str_is_null(item) ||
            str_to_i32(first, 0, INT32_MAX, &partition) < 0 ||
            str_to_i32(item, 0, INT32_MAX, &broker) < 0)
            continue;
        t.v[t.count++] = throttle_key(partition, broker);
    }
    qsort(t.v, t.count, sizeof *t.v, by_key);
    return t;
}

bool why_throttles(const struct why_throttle *t, int32_t partition, int32_t broker)
{
    int64_t key = throttle_key(partition, broker);

    return t->is_all || (t->count && bsearch(&key, t->v, t->count, sizeof key, by_key));
}

static void forget_registrations(struct why_facts *f)
{
    for (int32_t i = 0; i < f->brokers_count; i++)
        f->brokers[i].registered = WHY_UNKNOWN;
}

static void forget_zk(struct why_facts *f)
{
    f->zk = (struct why_zk_facts){.answers = WHY_NO,
                                  .silence = STR("it is another cluster's"),
                                  .is_other_cluster = true,
                                  .cluster_id = f->zk.cluster_id,
                                  .controller = -1};
    forget_registrations(f);
}

void why_settle(struct why_facts *f)
{
    if (f->zk.answers == WHY_NO)
        forget_registrations(f);
    if (f->zk.answers != WHY_YES)
        return;
    if (f->zk.cluster_id.len && f->cluster_id.len && !str_eq(f->zk.cluster_id, f->cluster_id)) {
        forget_zk(f);
        return;
    }
    for (int32_t i = 0; i < f->brokers_count; i++) {
        if (f->brokers[i].registered == WHY_UNKNOWN)
            f->brokers[i].registered = WHY_NO;
    }
}

void why_unasked(struct why_facts *f, const char *fmt, ...)
{
    char text[512];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    for (size_t i = 0; i < f->unasked.count; i++) {
        if (str_eqz(f->unasked.v[i], text))
            return;
    }
    why_texts_add(f->arena, &f->unasked, arena_str(f->arena, str_of(text)));
}
