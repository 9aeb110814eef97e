#include "common/base/crc32c.h"

#include <isa-l.h>
#include <zlib.h>

uint32_t crc32c_more(uint32_t crc, struct slice data)
{
    uint32_t state = ~crc;

    /* ISA-L takes an int length. */
    while (data.len) {
        int n = (int)MIN(data.len, (size_t)INT_MAX);

        state = crc32_iscsi((unsigned char *)(uintptr_t)data.p, n, state);
        data = slice_from(data, (size_t)n);
    }
    return ~state;
}

uint32_t crc32c(struct slice data)
{
    return crc32c_more(0, data);
}

uint32_t crc32_legacy(struct slice data)
{
    return (uint32_t)crc32_z(0, data.p, data.len);
}
