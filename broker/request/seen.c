#include "broker/request/seen.h"

#include "common/base/containers.h"

struct seen {
    UT_hash_handle hh;
    int32_t at;
};

int32_t seen_add(struct seen **set, struct arena *a, struct str name, int32_t at)
{
    struct seen *s;

    HASH_FIND(hh, *set, name.p, name.len, s);
    if (s)
        return s->at;
    s = arena_new(a, struct seen);
    s->at = at;
    HASH_ADD_KEYPTR(hh, *set, name.p, name.len, s);
    return -1;
}

void seen_clear(struct seen **set)
{
    HASH_CLEAR(hh, *set);
}
