/*
 * xxh32.c - the hash as its specification has it: four lanes over stripes of 16 bytes, then the
 * rest
 */
#include "common/record/xxh32.h"

#include <endian.h>

static const uint32_t prime[] = {2654435761u, 2246822519u, 3266489917u, 668265263u, 374761393u};

enum { STRIPE = 16 };

static uint32_t rotl(uint32_t v, int by)
{
    return v << by | v >> (32 - by);
}

static uint32_t le32(const uint8_t *p)
{
    uint32_t v;

    memcpy(&v, p, sizeof v);
    return le32toh(v);
}

static uint32_t lane_round(uint32_t acc, const uint8_t *p)
{
    return rotl(acc + le32(p) * prime[1], 13) * prime[0];
}

/* Takes the whole stripes off *data. */
static uint32_t stripes(struct slice *data)
{
    uint32_t a[4] = {prime[0] + prime[1], prime[1], 0, 0 - prime[0]};

    for (; data->len >= STRIPE; *data = slice_from(*data, STRIPE))
        for (int i = 0; i < 4; i++)
            a[i] = lane_round(a[i], data->p + (ptrdiff_t)4 * i);
    return rotl(a[0], 1) + rotl(a[1], 7) + rotl(a[2], 12) + rotl(a[3], 18);
}

uint32_t xxh32(struct slice data)
{
    uint32_t length = (uint32_t)data.len;
    uint32_t h = data.len >= STRIPE ? stripes(&data) : prime[4];

    h += length;
    for (; data.len >= 4; data = slice_from(data, 4))
        h = rotl(h + le32(data.p) * prime[2], 17) * prime[3];
    for (; data.len > 0; data = slice_from(data, 1))
        h = rotl(h + data.p[0] * prime[4], 11) * prime[0];
    h = (h ^ h >> 15) * prime[1];
    h = (h ^ h >> 13) * prime[2];
    return h ^ h >> 16;
}
