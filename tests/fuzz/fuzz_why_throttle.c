/*
 * fuzz_why_throttle.c - lists of throttled replicas, as topics' settings have them
 *
 * Whatever the text, what was taken from it is sorted, found again, and in it.
 */
#include "tools/why/why_facts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct why_throttle t = why_throttle_parse(&a, (struct str){(const char *)data, size});

    assert(t.count <= size / 2 + 1);
    assert(!t.is_all || (size && memchr(data, '*', size)));
    for (size_t i = 0; i < t.count; i++) {
        assert(i == 0 || t.v[i - 1] <= t.v[i]);
        assert(why_throttles(&t, (int32_t)(t.v[i] >> 32), (int32_t)t.v[i]));
    }
    arena_deinit(&a);
    return 0;
}
