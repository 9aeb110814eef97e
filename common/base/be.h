/*
 * be.h - big-endian integers in unaligned memory, and the zigzag varints of Kafka's record format
 */
#pragma once

#include "common/base/base.h"

#include <endian.h>

static inline uint16_t be16_read(const void *p)
{
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return be16toh(v);
}

static inline uint32_t be32_read(const void *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return be32toh(v);
}

static inline uint64_t be64_read(const void *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return be64toh(v);
}

static inline void be16_write(void *p, uint16_t v)
{
    v = htobe16(v);
    memcpy(p, &v, sizeof v);
}

static inline void be32_write(void *p, uint32_t v)
{
    v = htobe32(v);
    memcpy(p, &v, sizeof v);
}

static inline void be64_write(void *p, uint64_t v)
{
    v = htobe64(v);
    memcpy(p, &v, sizeof v);
}

enum { VARINT_MAX_BYTES = 5, VARLONG_MAX_BYTES = 10 };

/*
 * Unsigned varint at p, at most len bytes and max_bytes of encoding. Returns the bytes read, 0
 * where the bytes end too soon or the encoding is too long.
 */
size_t varint_read_u(const uint8_t *p, size_t len, size_t max_bytes, uint64_t *ret);
/* Writes at most VARLONG_MAX_BYTES and returns how many. */
size_t varint_write_u(uint8_t *p, uint64_t v);
size_t varint_size_u(uint64_t v);

static inline uint64_t zigzag(int64_t v)
{
    return ((uint64_t)v << 1) ^ (uint64_t)(v >> 63);
}

static inline int64_t unzigzag(uint64_t v)
{
    return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}
