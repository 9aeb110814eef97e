/*
 * strbuf.h - a growing text or byte buffer with a cap
 *
 * A zeroed struct is a valid empty buffer without a cap. Past the cap nothing is added and the
 * buffer remembers it (strbuf_full), so that a caller checks once. s is NUL-terminated whenever it
 * is not NULL.
 */
#pragma once

#include "common/base/str.h"

struct strbuf {
    char *s;
    size_t len;
    size_t size;
    size_t max; /* 0 = no cap */
    bool full;
};

void strbuf_deinit(struct strbuf *sb);
void strbuf_reset(struct strbuf *sb);
void strbuf_add(struct strbuf *sb, const void *data, size_t len);
void strbuf_add_char(struct strbuf *sb, char c);
void strbuf_addz(struct strbuf *sb, const char *z);
void strbuf_add_str(struct strbuf *sb, struct str s);
void strbuf_addf(struct strbuf *sb, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Room for n bytes behind what is there, NULL past the cap; strbuf_grew() then says how many were
 * written. */
void *strbuf_room(struct strbuf *sb, size_t n);
void strbuf_grew(struct strbuf *sb, size_t n);
/* Forgets what stands behind len, which must not be more than is there. */
void strbuf_cut(struct strbuf *sb, size_t len);
/* Hands the text over (never NULL) and leaves an empty buffer. */
char *strbuf_detach(struct strbuf *sb);

static inline struct str strbuf_str(const struct strbuf *sb)
{
    return (struct str){sb->s ? sb->s : "", sb->len};
}
