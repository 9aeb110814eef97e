/*
 * uuid.h - Kafka's 16-byte ids (topic ids, directory ids) and their text form
 *
 * Text is base64url without padding, 22 characters. All zeroes means "no id".
 */
#pragma once

#include "common/base/str.h"

enum { UUID_TEXT_LEN = 22, UUID_DASHED_LEN = 36 };

struct uuid {
    uint8_t b[16];
};

static inline bool uuid_is_zero(struct uuid id)
{
    static const struct uuid zero;
    return memcmp(id.b, zero.b, sizeof id.b) == 0;
}

static inline bool uuid_eq(struct uuid a, struct uuid b)
{
    return memcmp(a.b, b.b, sizeof a.b) == 0;
}

/* A random (version 4) id that Kafka would also give out: not reserved, its text not starting with
 * '-'. */
struct uuid uuid_random(void);
/* ret_text holds UUID_TEXT_LEN + 1 bytes. */
void uuid_to_text(struct uuid id, char ret_text[UUID_TEXT_LEN + 1]);
/* As Java prints a UUID: "01234567-89ab-..."; member ids end in one. */
void uuid_to_dashed(struct uuid id, char ret_text[UUID_DASHED_LEN + 1]);
/* -EINVAL for anything but 22 (or padded 24) characters of base64url. */
int uuid_from_text(struct str text, struct uuid *ret) MUST_CHECK;
