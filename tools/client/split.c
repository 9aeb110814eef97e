#define PCRE2_CODE_UNIT_WIDTH 8

#include "tools/client/split.h"

#include "common/base/mem.h"

#include <errno.h>
#include <pcre2.h>

struct splitter {
    pcre2_code *code;
    pcre2_match_data *match;
};

int splitter_new(const char *pattern, struct splitter **ret, struct strbuf *why)
{
    struct splitter *s = xnew(struct splitter);
    size_t at;
    int code;

    s->code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, 0, &code, &at, NULL);
    if (!s->code) {
        strbuf_addf(why, "%s is no regular expression (at character %zu)", pattern, at);
        *ret = splitter_free(s);
        return -EINVAL;
    }
    s->match = pcre2_match_data_create_from_pattern(s->code, NULL);
    *ret = s;
    return 0;
}

struct splitter *splitter_free(struct splitter *s)
{
    if (!s)
        return NULL;
    pcre2_match_data_free(s->match);
    pcre2_code_free(s->code);
    free(s);
    return NULL;
}

/* The next match from *at on that ends behind the first character; false where there is none. */
static bool find(struct splitter *s, struct str text, size_t *at, size_t *ret_from, size_t *ret_to)
{
    const size_t *v = pcre2_get_ovector_pointer(s->match);

    while (*at <= text.len &&
           pcre2_match(s->code, (PCRE2_SPTR)text.p, text.len, *at, 0, s->match, NULL) >= 0) {
        size_t from = v[0], to = MAX(v[0], v[1]); /* \K can turn them round */
        *at = to > from ? to : to + 1;            /* nothing is not found twice in a place */
        if (to > 0 && from < text.len) {
            *ret_from = from;
            *ret_to = to;
            return true;
        }
    }
    return false;
}

int splitter_each(struct splitter *s, struct str text, int (*on_piece)(struct str piece, void *ctx),
                  void *ctx)
{
    size_t start = 0, at = 0, from, to, empty = 0;
    bool found = true;
    int r = 0;

    if (text.len == 0)
        return on_piece(text, ctx);
    while (r >= 0 && found) {
        found = find(s, text, &at, &from, &to);
        struct str piece = {text.p + start, (found ? MAX(from, start) : text.len) - start};
        start = found ? MAX(to, start) : start;
        if (piece.len == 0) {
            empty++; /* told only where something follows */
            continue;
        }
        for (; r >= 0 && empty > 0; empty--)
            r = on_piece((struct str){text.p, 0}, ctx);
        r = r < 0 ? r : on_piece(piece, ctx);
    }
    return r < 0 ? r : 0;
}
