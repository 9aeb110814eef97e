#include "common/base/siphash.h"

#include "common/base/random.h"

#include <endian.h>

enum { ROUNDS = 2, LAST_ROUNDS = 4, WORD = 8 };

struct siphash_key siphash_key_random(void)
{
    struct siphash_key key;

    random_bytes(&key, sizeof key);
    return key;
}

static inline uint64_t rotate(uint64_t x, unsigned by)
{
    return (x << by) | (x >> (64 - by));
}

static inline void mix(uint64_t v[4], int rounds)
{
    for (int i = 0; i < rounds; i++) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = rotate(v[1], 13) ^ v[0];
        v[3] = rotate(v[3], 16) ^ v[2];
        v[0] = rotate(v[0], 32);
        v[2] += v[1];
        v[0] += v[3];
        v[1] = rotate(v[1], 17) ^ v[2];
        v[3] = rotate(v[3], 21) ^ v[0];
        v[2] = rotate(v[2], 32);
    }
}

static inline void take(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    mix(v, ROUNDS);
    v[0] ^= word;
}

static inline uint64_t word_at(const uint8_t *p, size_t n)
{
    uint64_t word = 0;

    memcpy(&word, p, n);
    return le64toh(word);
}

static inline uint64_t result(uint64_t v[4])
{
    mix(v, LAST_ROUNDS);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

struct hash128 siphash128(const struct siphash_key *key, struct slice data)
{
    const uint64_t k0 = le64toh(key->v[0]), k1 = le64toh(key->v[1]);
    uint64_t v[4] = {k0 ^ UINT64_C(0x736f6d6570736575), k1 ^ UINT64_C(0x646f72616e646f6d) ^ 0xee,
                     k0 ^ UINT64_C(0x6c7967656e657261), k1 ^ UINT64_C(0x7465646279746573)};
    size_t whole = data.len / WORD * WORD;
    struct hash128 out;

    for (size_t i = 0; i < whole; i += WORD)
        take(v, word_at(data.p + i, WORD));
    uint64_t last = (uint64_t)data.len << 56;
    if (whole < data.len)
        last |= word_at(data.p + whole, data.len - whole);
    take(v, last);
    v[2] ^= 0xee;
    out.v[0] = result(v);
    v[1] ^= 0xdd;
    out.v[1] = result(v);
    return out;
}
