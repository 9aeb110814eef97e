#include "common/base/hash.h"

#include "common/base/utf8.h"

int32_t hash_java(struct str s)
{
    uint32_t h = 0;

    for (size_t at = 0; at < s.len;) {
        uint32_t c = utf8_next(s, &at);

        if (c >= 0x10000) {
            h = 31 * h + (0xd800 + ((c - 0x10000) >> 10));
            c = 0xdc00 + (c & 0x3ff);
        }
        h = 31 * h + c;
    }
    return (int32_t)h;
}

int32_t hash_murmur2(struct slice data)
{
    const uint32_t m = 0x5bd1e995;
    uint32_t h = 0x9747b28c ^ (uint32_t)data.len;
    size_t words = data.len / 4;

    for (size_t i = 0; i < words; i++) {
        uint32_t k;

        memcpy(&k, data.p + 4 * i, sizeof k);
        k *= m;
        k ^= k >> 24;
        h = h * m ^ k * m;
    }
    const uint8_t *tail = data.p + 4 * words;
    switch (data.len % 4) {
    case 3:
        h ^= (uint32_t)tail[2] << 16;
        __attribute__((fallthrough));
    case 2:
        h ^= (uint32_t)tail[1] << 8;
        __attribute__((fallthrough));
    case 1:
        h = (h ^ tail[0]) * m;
        break;
    default:
        break;
    }
    h = (h ^ h >> 13) * m;
    return (int32_t)(h ^ h >> 15);
}
