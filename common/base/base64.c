#include "common/base/base64.h"

#include <errno.h>

static const char standard[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char for_urls[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static char *encode(struct slice d, const char *alphabet, char *out)
{
    size_t i = 0;

    for (; i + 2 < d.len; i += 3) {
        uint32_t v = (uint32_t)d.p[i] << 16 | (uint32_t)d.p[i + 1] << 8 | d.p[i + 2];

        for (int shift = 18; shift >= 0; shift -= 6)
            *out++ = alphabet[(v >> shift) & 63];
    }
    if (i < d.len) {
        uint32_t v = (uint32_t)d.p[i] << 16 | (i + 1 < d.len ? (uint32_t)d.p[i + 1] << 8 : 0);

        *out++ = alphabet[v >> 18];
        *out++ = alphabet[(v >> 12) & 63];
        if (i + 1 < d.len)
            *out++ = alphabet[(v >> 6) & 63];
    }
    *out = '\0';
    return out;
}

void base64_encode(struct slice data, char *ret_text)
{
    char *end = encode(data, standard, ret_text);

    while ((end - ret_text) % 4)
        *end++ = '=';
    *end = '\0';
}

void base64url_encode(struct slice data, char *ret_text)
{
    encode(data, for_urls, ret_text);
}

static int digit_of(char c, const char *alphabet)
{
    const char *at = c ? strchr(alphabet, c) : NULL;

    return at ? (int)(at - alphabet) : -EINVAL;
}

static int decode(struct str t, const char *alphabet, uint8_t *ret, size_t max, size_t *ret_len)
{
    uint32_t bits = 0;
    int have = 0;
    size_t n = 0;

    while (t.len && t.p[t.len - 1] == '=' && t.len % 4 != 1)
        t.len--;
    if (t.len % 4 == 1)
        return -EINVAL;
    for (size_t i = 0; i < t.len; i++) {
        int digit = digit_of(t.p[i], alphabet);

        if (digit < 0)
            return digit;
        bits = bits << 6 | (uint32_t)digit;
        have += 6;
        if (have < 8)
            continue;
        have -= 8;
        if (n == max)
            return -ENOSPC;
        ret[n++] = (uint8_t)(bits >> have);
    }
    *ret_len = n;
    return 0;
}

int base64_decode(struct str text, uint8_t *ret, size_t max, size_t *ret_len)
{
    return decode(text, standard, ret, max, ret_len);
}

int base64url_decode(struct str text, uint8_t *ret, size_t max, size_t *ret_len)
{
    return decode(text, for_urls, ret, max, ret_len);
}
