#include "broker/config/throttled.h"

#include "common/base/mem.h"
#include "common/base/str.h"

struct throttled {
    bool is_all;
    int64_t *v; /* partition << 32 | broker, ascending */
    size_t count;
};

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

struct throttled *throttled_parse(const char *list)
{
    struct throttled t = {.is_all = str_eqz(str_trim(str_of(list)), "*")};
    struct str rest = str_of(list), item;
    size_t cap = 0;

    while (!t.is_all && str_split(&rest, ',', &item)) {
        xgrow(t.v, cap, t.count + 1);
        t.count += parse_one(str_trim(item), &t.v[t.count]);
    }
    if (!t.is_all && t.count == 0) {
        free(t.v);
        return NULL;
    }
    if (t.count)
        qsort(t.v, t.count, sizeof *t.v, by_key);
    struct throttled *made = xnew(struct throttled);
    *made = t;
    return made;
}

struct throttled *throttled_free(struct throttled *t)
{
    if (t)
        free(t->v);
    free(t);
    return NULL;
}

bool throttled_has(const struct throttled *t, int32_t partition, int32_t broker)
{
    int64_t key = key_of(partition, broker);

    return t && (t->is_all || bsearch(&key, t->v, t->count, sizeof key, by_key));
}
