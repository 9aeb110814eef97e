#include "broker/config/throttled.h"

#include "common/base/mem.h"
#include "common/base/str.h"

static int64_t key_of(int32_t partition, int32_t broker)
{
    return (int64_t)partition << 32 | (uint32_t)broker;
}

static int by_key(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static bool parse_one(struct str item, int64_t *ret)
{
    struct str rest = item, part;
    int32_t partition, broker;

    if (!str_split(&rest, ':', &part) || str_is_null(rest) ||
        str_to_i32(part, 0, INT32_MAX, &partition) < 0 ||
        str_to_i32(rest, 0, INT32_MAX, &broker) < 0)
        return false;
    *ret = key_of(partition, broker);
    return true;
}

void throttled_parse(struct throttled *t, const char *list)
{
    struct str rest = str_of(list), item;
    size_t cap = 0;

    *t = (struct throttled){.is_all = str_eqz(str_trim(rest), "*")};
    while (!t->is_all && str_split(&rest, ',', &item)) {
        xgrow(t->v, cap, t->count + 1);
        t->count += parse_one(str_trim(item), &t->v[t->count]);
    }
    if (t->count)
        qsort(t->v, t->count, sizeof *t->v, by_key);
}

void throttled_copy(struct throttled *to, const struct throttled *from)
{
    *to = *from;
    to->v = from->count ? xnew_array(int64_t, from->count) : NULL;
    if (from->count)
        memcpy(to->v, from->v, from->count * sizeof *to->v);
}

void throttled_deinit(struct throttled *t)
{
    free(t->v);
    *t = (struct throttled){0};
}

bool throttled_has(const struct throttled *t, int32_t partition, int32_t broker)
{
    int64_t key = key_of(partition, broker);

    return t->is_all || (t->count && bsearch(&key, t->v, t->count, sizeof key, by_key));
}
