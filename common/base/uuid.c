#include "common/base/uuid.h"

#include "common/base/base64.h"
#include "common/base/random.h"

#include <errno.h>

static bool is_reserved(struct uuid id)
{
    static const uint8_t high_half[8];

    /* Kafka keeps 0 and 1 (and the ids next to them) for itself. */
    return memcmp(id.b, high_half, sizeof high_half) == 0;
}

struct uuid uuid_random(void)
{
    struct uuid id;
    char text[UUID_TEXT_LEN + 1];

    do {
        random_bytes(id.b, sizeof id.b);
        id.b[6] = (uint8_t)((id.b[6] & 0x0f) | 0x40);
        id.b[8] = (uint8_t)((id.b[8] & 0x3f) | 0x80);
        uuid_to_text(id, text);
    } while (is_reserved(id) || text[0] == '-');
    return id;
}

void uuid_to_text(struct uuid id, char ret_text[UUID_TEXT_LEN + 1])
{
    char padded[BASE64_TEXT_SIZE(sizeof id.b)];

    base64url_encode(slice_of(id.b, sizeof id.b), padded);
    memcpy(ret_text, padded, UUID_TEXT_LEN);
    ret_text[UUID_TEXT_LEN] = '\0';
}

void uuid_to_dashed(struct uuid id, char ret_text[UUID_DASHED_LEN + 1])
{
    static const char digits[] = "0123456789abcdef";
    char *at = ret_text;

    for (size_t i = 0; i < sizeof id.b; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *at++ = '-';
        *at++ = digits[id.b[i] >> 4];
        *at++ = digits[id.b[i] & 15];
    }
    *at = '\0';
}

int uuid_from_text(struct str text, struct uuid *ret)
{
    struct uuid id;
    size_t n;
    int r;

    if (text.len != UUID_TEXT_LEN && text.len != UUID_TEXT_LEN + 2)
        return -EINVAL;
    r = base64url_decode(text, id.b, sizeof id.b, &n);
    if (r < 0 || n != sizeof id.b)
        return -EINVAL;
    *ret = id;
    return 0;
}
