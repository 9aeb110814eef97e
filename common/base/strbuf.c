#include "common/base/strbuf.h"

#include "common/base/mem.h"

#include <stdarg.h>
#include <stdio.h>

void strbuf_deinit(struct strbuf *sb)
{
    free(sb->s);
    *sb = (struct strbuf){.max = sb->max};
}

void strbuf_reset(struct strbuf *sb)
{
    sb->len = 0;
    sb->full = false;
    if (sb->s)
        sb->s[0] = '\0';
}

/* True if len more bytes may be added; there is then room for them and a NUL. */
static bool make_room(struct strbuf *sb, size_t len)
{
    if (sb->full || (sb->max && len > sb->max - sb->len)) {
        sb->full = true;
        return false;
    }
    xgrow(sb->s, sb->size, sb->len + len + 1);
    return true;
}

void strbuf_add(struct strbuf *sb, const void *data, size_t len)
{
    if (!make_room(sb, len))
        return;
    if (len)
        memcpy(sb->s + sb->len, data, len);
    sb->len += len;
    sb->s[sb->len] = '\0';
}

void strbuf_add_char(struct strbuf *sb, char c)
{
    strbuf_add(sb, &c, 1);
}

void strbuf_addz(struct strbuf *sb, const char *z)
{
    strbuf_add(sb, z, strlen(z));
}

void strbuf_add_str(struct strbuf *sb, struct str s)
{
    strbuf_add(sb, s.p, s.len);
}

void strbuf_addf(struct strbuf *sb, const char *fmt, ...)
{
    va_list ap, again;

    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n >= 0 && make_room(sb, (size_t)n)) {
        vsnprintf(sb->s + sb->len, (size_t)n + 1, fmt, again);
        sb->len += (size_t)n;
    }
    va_end(again);
}

void *strbuf_room(struct strbuf *sb, size_t n)
{
    return make_room(sb, n) ? sb->s + sb->len : NULL;
}

void strbuf_grew(struct strbuf *sb, size_t n)
{
    assert(sb->len + n < sb->size);
    sb->len += n;
    sb->s[sb->len] = '\0';
}

void strbuf_cut(struct strbuf *sb, size_t len)
{
    assert(len <= sb->len);
    sb->len = len;
    if (sb->s)
        sb->s[len] = '\0';
}

char *strbuf_detach(struct strbuf *sb)
{
    char *s = sb->s ? sb->s : xstrdup("");

    *sb = (struct strbuf){.max = sb->max};
    return s;
}
