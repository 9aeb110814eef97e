#include "common/base/utf8.h"

uint32_t utf8_next(struct str s, size_t *at)
{
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    uint8_t head = (uint8_t)s.p[(*at)++];
    size_t more = head < 0x80 ? 0 : head < 0xc0 ? 4 : head < 0xe0 ? 1 : head < 0xf0 ? 2 : 3;
    uint32_t c = more == 0 ? head : head & (0x3fu >> more);

    if (more == 4 || head > 0xf4 || more > s.len - *at)
        return 0xfffd;
    for (size_t i = 0; i < more; i++) {
        uint8_t byte = (uint8_t)s.p[*at + i];
        if ((byte & 0xc0) != 0x80)
            return 0xfffd;
        c = c << 6 | (byte & 0x3f);
    }
    if (c < least[more] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return 0xfffd;
    *at += more;
    return c;
}

size_t utf8_java_length(struct str s)
{
    size_t n = 0;

    for (size_t at = 0; at < s.len;)
        n += utf8_next(s, &at) >= 0x10000 ? 2 : 1;
    return n;
}
