/*
 * msg_json.h - a message as the JSON that Kafka's tools print: camelCase names, bytes in base64, no
 * blanks
 *
 * A callback may put something better in the place of a bytes field. Pure; any thread.
 */
#pragma once

#include "common/wire/codec.h"

struct msg_json_hook {
    void *ctx;
    /* True where it has added the field's value to sb. */
    bool (*bytes)(void *ctx, const char *field, struct slice bytes, struct strbuf *sb);
};

/* hook may be NULL. */
void msg_json(const struct msg_desc *d, int16_t version, const void *msg,
              const struct msg_json_hook *hook, struct strbuf *sb);
/* In quotes, escaped as Jackson does it. */
void msg_json_text(struct str s, struct strbuf *sb);
