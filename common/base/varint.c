/*
 * varint.c - the bounds-checked reading and writing of varints that be.h declares
 */
#include "common/base/be.h"

size_t varint_read_u(const uint8_t *p, size_t len, size_t max_bytes, uint64_t *ret)
{
    size_t n = MIN(len, max_bytes);
    uint64_t v = 0;

    for (size_t i = 0; i < n; i++) {
        v |= (uint64_t)(p[i] & 0x7f) << (7 * i);
        if (!(p[i] & 0x80)) {
            *ret = v;
            return i + 1;
        }
    }
    return 0;
}

size_t varint_write_u(uint8_t *p, uint64_t v)
{
    size_t n = 0;

    for (; v >= 0x80; v >>= 7)
        p[n++] = (uint8_t)(v | 0x80);
    p[n++] = (uint8_t)v;
    return n;
}

size_t varint_size_u(uint64_t v)
{
    size_t n = 1;

    for (; v >= 0x80; v >>= 7)
        n++;
    return n;
}
