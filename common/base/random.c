#include "common/base/random.h"

#include <openssl/rand.h>
#include <stdlib.h>

void random_bytes(void *p, size_t n)
{
    assert(n <= INT_MAX);
    /* Without randomness every id and salt is worthless: there is no sensible way to go on. */
    if (RAND_bytes(p, (int)n) != 1)
        abort();
}

uint32_t random_below(uint32_t bound)
{
    uint32_t limit = UINT32_MAX - UINT32_MAX % bound;
    uint32_t v;

    assert(bound > 0);
    do
        random_bytes(&v, sizeof v);
    while (v >= limit);
    return v % bound;
}
