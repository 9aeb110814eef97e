#include "tools/client/line_format.h"

#include "common/base/mem.h"
#include "tools/base/java_text.h"
#include "tools/client/split.h"

#include <errno.h>
#include <inttypes.h>

enum separator { KEY, HEADERS, HEADER, HEADER_KEY, SEPARATORS };

static const struct {
    const char *name, *fallback;
} separators[] = {
    [KEY] = {"key.separator", "\t"},
    [HEADERS] = {"headers.delimiter", "\t"},
    [HEADER] = {"headers.separator", ","},
    [HEADER_KEY] = {"headers.key.separator", ":"},
};

struct line_format {
    bool parse_key, parse_headers, ignore_error;
    char *separator[SEPARATORS];
    char *null_marker;        /* NULL: none */
    struct splitter *between; /* headers */
};

static bool flag(const struct props *p, const char *key)
{
    const char *text = props_get(p, key);
    return text && java_bool(text);
}

static int check_different(const struct line_format *f, struct strbuf *why)
{
    static const uint8_t pairs[][2] = {
        {HEADERS, HEADER}, {HEADERS, HEADER_KEY}, {HEADER, HEADER_KEY}};
    static const uint8_t order[] = {KEY, HEADER, HEADERS, HEADER_KEY};

    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
        if (strcmp(f->separator[pairs[i][0]], f->separator[pairs[i][1]]) == 0) {
            strbuf_addf(why, "%s and %s may not be equal", separators[pairs[i][0]].name,
                        separators[pairs[i][1]].name);
            return -EINVAL;
        }
    }
    for (size_t i = 0; f->null_marker && i < ARRAY_LEN(order); i++) {
        if (strcmp(f->null_marker, f->separator[order[i]]) == 0) {
            strbuf_addf(why, "null.marker and %s may not be equal", separators[order[i]].name);
            return -EINVAL;
        }
    }
    return 0;
}

int line_format_new(const struct props *p, struct line_format **ret, struct strbuf *why)
{
    struct line_format *f = xnew(struct line_format);
    const char *marker = props_get(p, "null.marker");

    f->parse_key = flag(p, "parse.key");
    f->parse_headers = flag(p, "parse.headers");
    f->ignore_error = flag(p, "ignore.error");
    f->null_marker = marker ? xstrdup(marker) : NULL;
    for (int i = 0; i < SEPARATORS; i++) {
        const char *text = props_get(p, separators[i].name);
        f->separator[i] = xstrdup(text ? text : separators[i].fallback);
    }
    int r = splitter_new(f->separator[HEADER], &f->between, why);
    r = r < 0 ? r : check_different(f, why);
    *ret = r < 0 ? line_format_free(f) : f;
    return r;
}

struct line_format *line_format_free(struct line_format *f)
{
    if (!f)
        return NULL;
    splitter_free(f->between);
    for (int i = 0; i < SEPARATORS; i++)
        free(f->separator[i]);
    free(f->null_marker);
    free(f);
    return NULL;
}

static bool is_null(const struct line_format *f, struct str s)
{
    return f->null_marker && str_eqz(s, f->null_marker);
}

static struct str or_null(const struct line_format *f, struct str s)
{
    return is_null(f, s) ? STR_NULL : s;
}

/* Cuts the part before a separator off *rest; false where it is not there. */
static bool cut(const struct line_format *f, enum separator which, struct str *rest,
                struct str *ret)
{
    const char *sep = f->separator[which];
    size_t sep_len = strlen(sep);
    const char *at = sep_len ? memmem(rest->p, rest->len, sep, sep_len) : rest->p;

    if (!at)
        return false;
    *ret = (struct str){rest->p, (size_t)(at - rest->p)};
    *rest = (struct str){at + sep_len, rest->len - ret->len - sep_len};
    return true;
}

/* Where a header goes. */
struct header_place {
    const struct line_format *f;
    uint64_t number;
    struct source_record *rec;
    struct strbuf *why;
};

static int refuse(const struct header_place *to, const char *before, struct str what,
                  const char *after)
{
    strbuf_addf(to->why, "%s'%.*s'%s", before, STR_ARG(what), after);
    return -EINVAL;
}

static int add_header(struct str pair, void *ctx)
{
    const struct header_place *to = ctx;
    struct source_header *h = &to->rec->headers[to->rec->header_count];
    struct str value = pair;

    if (to->rec->header_count == SOURCE_HEADERS_MAX) {
        strbuf_addf(to->why, "More than %d headers on line number %" PRIu64, SOURCE_HEADERS_MAX,
                    to->number);
        return -EINVAL;
    }
    if (!cut(to->f, HEADER_KEY, &value, &h->name)) {
        if (!to->f->ignore_error) {
            int r = refuse(to, "No header key separator found in pair ", pair, "");
            strbuf_addf(to->why, " on line number %" PRIu64, to->number);
            return r;
        }
        h->name = pair;
        h->value = STR_NULL;
    } else if (is_null(to->f, h->name)) {
        return refuse(to, "Header keys should not be equal to the null marker ", h->name,
                      " as they can't be null");
    } else {
        h->value = or_null(to->f, value);
    }
    to->rec->header_count++;
    return 0;
}

static int missing(const char *what, struct str line, uint64_t number, struct strbuf *why)
{
    strbuf_addf(why, "No %s found on line number %" PRIu64 ": '%.*s'", what, number, STR_ARG(line));
    return -EINVAL;
}

int line_format_split(struct line_format *f, struct str line, uint64_t number,
                      struct source_record *ret, struct strbuf *why)
{
    struct str rest = line, headers = STR_NULL, key = STR_NULL;

    if (f->parse_headers && !cut(f, HEADERS, &rest, &headers) && !f->ignore_error)
        return missing("headers delimiter", line, number, why);
    if (f->parse_key && !cut(f, KEY, &rest, &key) && !f->ignore_error)
        return missing("key separator", line, number, why);
    ret->key = str_is_null(key) ? key : or_null(f, key);
    ret->value = or_null(f, rest);
    if (str_is_null(headers) || is_null(f, headers))
        return 0;
    struct header_place to = {f, number, ret, why};
    return splitter_each(f->between, headers, add_header, &to);
}
