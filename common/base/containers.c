#include "common/base/containers.h"

#include "common/base/siphash.h"

#include <unistd.h>

static struct siphash_key key;

/* Before there are threads and tables. */
__attribute__((constructor)) static void choose_key(void)
{
    if (getentropy(&key, sizeof key) != 0)
        abort();
}

uint32_t table_hash(const void *p, size_t len)
{
    return (uint32_t)siphash128(&key, slice_of(p, len)).v[0];
}
