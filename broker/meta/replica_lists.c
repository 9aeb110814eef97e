/*
 * replica_lists.c - the checks of replica_lists.h, in Kafka's order: of all lists whether their
 * brokers are known, how many lists there are, each list by itself, and whether they are as long as
 * the others
 */
#include "broker/meta/replica_lists.h"

#include "common/base/strbuf.h"

enum { TOLD_MAX = 100 }; /* ids in a message: a client can send many */

static bool has_id(const int32_t *ids, int32_t count, int32_t id)
{
    for (int32_t i = 0; i < count; i++)
        if (ids[i] == id)
            return true;
    return false;
}

static void add_id(struct strbuf *list, int32_t id)
{
    strbuf_addf(list, "%s%d", list->len ? ", " : "", id);
}

/* Each is told once. */
static struct str check_known(const struct replica_lists *r, struct arena *a)
{
    CLEANUP(strbuf_deinit) struct strbuf list = {0};
    int32_t told[TOLD_MAX], count = 0;

    for (int32_t i = 0; i < r->count; i++)
        for (int32_t k = 0; k < r->lists[i].count && count < TOLD_MAX; k++) {
            int32_t id = r->lists[i].ids[k];

            if (has_id(r->brokers, r->broker_count, id) || has_id(told, count, id))
                continue;
            told[count++] = id;
            add_id(&list, id);
        }
    if (count == 0)
        return STR_NULL;
    return arena_printf(a, "Unknown broker(s) in replica assignment: %.*s.",
                        STR_ARG(strbuf_str(&list)));
}

static bool has_duplicate(const struct replica_lists *r, const struct replica_list *l)
{
    /* All of them are known, so that a longer list repeats one; this also bounds the comparing. */
    if (l->count > r->broker_count)
        return true;
    for (int32_t i = 0; i < l->count; i++)
        if (has_id(l->ids, i, l->ids[i]))
            return true;
    return false;
}

static struct str check_list(const struct replica_lists *r, int32_t i, struct arena *a)
{
    CLEANUP(strbuf_deinit) struct strbuf list = {0};
    const struct replica_list *l = &r->lists[i];
    int32_t partition = r->first_partition + i;

    if (l->count <= 0)
        return arena_printf(a, "Cannot have replication factor of 0 for partition id %d.",
                            partition);
    if (!has_duplicate(r, l))
        return STR_NULL;
    for (int32_t k = 0; k < l->count && k < TOLD_MAX; k++)
        add_id(&list, l->ids[k]);
    return arena_printf(
        a, "Duplicate brokers not allowed in replica assignment: %.*s for partition id %d.",
        STR_ARG(strbuf_str(&list)), partition);
}

static struct str check_factors(const struct replica_lists *r, struct arena *a)
{
    CLEANUP(strbuf_deinit) struct strbuf partitions = {0}, factors = {0};
    int32_t count = 0;

    for (int32_t i = 0; i < r->count && count < TOLD_MAX; i++) {
        if (r->lists[i].count == r->factor)
            continue;
        count++;
        add_id(&partitions, r->first_partition + i);
        add_id(&factors, r->lists[i].count);
    }
    if (count == 0)
        return STR_NULL;
    return arena_printf(a,
                        "Inconsistent replication factor between partitions, partition 0 has %d "
                        "while partitions [%.*s] have replication factors [%.*s], respectively.",
                        r->factor, STR_ARG(strbuf_str(&partitions)), STR_ARG(strbuf_str(&factors)));
}

struct str replica_lists_check(const struct replica_lists *r, struct arena *a)
{
    struct str why = check_known(r, a);

    if (str_is_null(why) && r->count != r->wanted)
        return arena_printf(
            a, "Increasing the number of partitions by %d but %d assignments provided.", r->wanted,
            r->count);
    for (int32_t i = 0; i < r->count && str_is_null(why); i++)
        why = check_list(r, i, a);
    return str_is_null(why) ? check_factors(r, a) : why;
}
