#include "tools/client/source.h"

#include "common/base/base64.h"
#include "common/base/mem.h"
#include "tools/client/line_format.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

/* A record's key and value and the values of its headers; twice for what is tried first. */
enum { IDLE_MS = 100, READ_BYTES = 1 << 18, TEXTS_MAX = 2 * (SOURCE_HEADERS_MAX + 2) };

struct source {
    struct source_opts opts;
    uint64_t taken;
    char *in; /* what was read: [at, len) is not taken yet */
    size_t at, len, size;
    bool ended;
    bool after_return; /* a line feed that comes next belongs to the line before */
    char *generated;
    json_t *object;                      /* the record's, SOURCE_JSON */
    char *texts[SOURCE_HEADERS_MAX + 2]; /* of values that are no text in JSON */
    int text_count;
};

struct source *source_new(const struct source_opts *opts)
{
    struct source *s = xnew(struct source);

    s->opts = *opts;
    if (opts->kind == SOURCE_GENERATED) {
        s->size = MAX(opts->size, (size_t)24) + 1;
        s->generated = xmalloc(s->size);
        memset(s->generated, 'x', s->size);
    }
    return s;
}

static void drop_object(struct source *s)
{
    while (s->text_count > 0)
        free(s->texts[--s->text_count]);
    json_decref(s->object);
    s->object = NULL;
}

struct source *source_free(struct source *s)
{
    if (!s)
        return NULL;
    drop_object(s);
    free(s->in);
    free(s->generated);
    free(s);
    return NULL;
}

/* Until there is something to read, or the end; false where a signal came. */
static bool wait_for_input(const struct source *s)
{
    struct pollfd p = {.fd = s->opts.fd, .events = POLLIN};
    int n = 1;

    while (s->opts.on_idle && (n = poll(&p, 1, IDLE_MS)) == 0)
        s->opts.on_idle(s->opts.idle_ctx);
    return n >= 0 || errno != EINTR;
}

static int fill(struct source *s, struct strbuf *why)
{
    if (s->at > 0) {
        memmove(s->in, s->in + s->at, s->len - s->at);
        s->len -= s->at;
        s->at = 0;
    }
    if (s->len == SOURCE_LINE_MAX) {
        strbuf_addf(why, "line %" PRIu64 " is longer than %d bytes", s->taken + 1, SOURCE_LINE_MAX);
        return -EINVAL;
    }
    xgrow(s->in, s->size, MIN(s->len + READ_BYTES, (size_t)SOURCE_LINE_MAX));
    size_t room = MIN(s->size, (size_t)SOURCE_LINE_MAX) - s->len;
    ssize_t n = wait_for_input(s) ? read(s->opts.fd, s->in + s->len, room) : 0;
    if (n < 0 && errno != EINTR) {
        strbuf_addf(why, "cannot read: %s", strerror(errno));
        return -errno;
    }
    if (n <= 0) { /* a signal ends it too */
        s->ended = true;
        return 0;
    }
    s->len += (size_t)n;
    return 0;
}

/* Where the line ends, of which `seen` bytes were looked at before; NULL where that is not read. */
static char *line_end(const struct source *s, size_t seen)
{
    char *from = s->in + s->at + seen;
    size_t len = s->len - s->at - seen;
    char *nl = len ? memchr(from, '\n', len) : NULL;

    if (s->opts.kind != SOURCE_FORMATTED || len == 0)
        return nl;
    char *cr = memchr(from, '\r', nl ? (size_t)(nl - from) : len);
    return cr ? cr : nl;
}

/* 1 and a line without its end; 0 at the end. A last line may lack its line feed. */
static int next_line(struct source *s, struct str *ret, struct strbuf *why)
{
    size_t seen = 0;

    for (;;) {
        if (s->after_return && s->len > s->at) {
            s->at += s->in[s->at] == '\n';
            s->after_return = false;
        }
        char *nl = line_end(s, seen);
        size_t end = nl ? (size_t)(nl - s->in) : s->len;
        if (nl || (s->ended && end > s->at)) {
            *ret = (struct str){s->in + s->at, end - s->at};
            s->at = end + (nl ? 1 : 0);
            s->after_return = nl && *nl == '\r';
            return 1;
        }
        if (s->ended)
            return 0;
        seen = s->len - s->at;
        int r = fill(s, why);
        if (r < 0)
            return r;
    }
}

static struct str or_null(const struct source *s, struct str text)
{
    return s->opts.null_marker && str_eqz(text, s->opts.null_marker) ? STR_NULL : text;
}

static int split_line(struct source *s, struct str line, struct source_record *ret,
                      struct strbuf *why)
{
    const char *sep = s->opts.key_separator;
    const char *at = sep ? memmem(line.p, line.len, sep, strlen(sep)) : NULL;

    if (sep && !at) {
        strbuf_addf(why, "line %" PRIu64 " has no key: '%s' is not in it (--key-separator)",
                    s->taken + 1, sep);
        return -EINVAL;
    }
    if (at) {
        size_t key_len = (size_t)(at - line.p), skip = key_len + strlen(sep);
        ret->key = or_null(s, (struct str){line.p, key_len});
        line = (struct str){line.p + skip, line.len - skip};
    }
    ret->value = or_null(s, line);
    return 1;
}

static char *keep(struct source *s, char *text)
{
    assert(s->text_count < TEXTS_MAX);
    return s->texts[s->text_count++] = text;
}

/* {"base64":"..."}: bytes that are no text. False for any other value. */
static bool take_base64(struct source *s, const json_t *v, struct str *ret)
{
    const json_t *coded = json_object_get(v, "base64");

    if (!json_is_string(coded) || json_object_size(v) != 1)
        return false;
    struct str text = {json_string_value(coded), json_string_length(coded)};
    char *bytes = keep(s, xmalloc(text.len + 1));
    ret->p = bytes;
    return base64_decode(text, (uint8_t *)bytes, text.len + 1, &ret->len) == 0;
}

/* The bytes of a value in JSON; null for null and for what is not there. */
static struct str json_bytes(struct source *s, const json_t *v)
{
    struct str bytes;

    if (!v || json_is_null(v))
        return STR_NULL;
    if (json_is_string(v))
        return (struct str){json_string_value(v), json_string_length(v)};
    if (take_base64(s, v, &bytes))
        return bytes;
    return str_of(keep(s, json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY)));
}

static void add_header(struct source *s, const char *name, const json_t *value,
                       struct source_record *ret)
{
    ret->headers[ret->header_count++] = (struct source_header){str_of(name), json_bytes(s, value)};
}

/* An object, or a list of [name, value]. */
static int take_headers(struct source *s, json_t *headers, struct source_record *ret)
{
    void *it;

    if (!headers || json_is_null(headers))
        return 0;
    if ((!json_is_object(headers) && !json_is_array(headers)) ||
        json_object_size(headers) > SOURCE_HEADERS_MAX ||
        json_array_size(headers) > SOURCE_HEADERS_MAX)
        return -EINVAL;
    for (it = json_object_iter(headers); it; it = json_object_iter_next(headers, it))
        add_header(s, json_object_iter_key(it), json_object_iter_value(it), ret);
    for (size_t i = 0; i < json_array_size(headers); i++) {
        const json_t *pair = json_array_get(headers, i);
        const char *name = json_string_value(json_array_get(pair, 0));
        if (!name || json_array_size(pair) != 2)
            return -EINVAL;
        add_header(s, name, json_array_get(pair, 1), ret);
    }
    return 0;
}

static int take_number(const json_t *object, const char *key, int64_t max, int64_t *ret)
{
    const json_t *v = json_object_get(object, key);

    if (!v)
        return 0;
    if (!json_is_integer(v) || json_integer_value(v) < -1 || json_integer_value(v) > max)
        return -EINVAL;
    *ret = json_integer_value(v);
    return 0;
}

static int take_object(struct source *s, struct str line, struct source_record *ret,
                       struct strbuf *why)
{
    json_error_t error;
    int64_t partition = -1, timestamp = 0;

    s->object = json_loadb(line.p, line.len, JSON_ALLOW_NUL, &error);
    if (!json_is_object(s->object)) {
        strbuf_addf(why, "line %" PRIu64 " is no JSON object: %s", s->taken + 1,
                    s->object ? "something else" : error.text);
        return -EINVAL;
    }
    ret->key = json_bytes(s, json_object_get(s->object, "key"));
    ret->value = json_bytes(s, json_object_get(s->object, "value"));
    if (take_headers(s, json_object_get(s->object, "headers"), ret) < 0 ||
        take_number(s->object, "partition", INT32_MAX, &partition) < 0 ||
        take_number(s->object, "timestamp", INT64_MAX, &timestamp) < 0) {
        strbuf_addf(why,
                    "line %" PRIu64
                    ": headers is an object or a list of [name, value], at most %d, partition and "
                    "timestamp are numbers",
                    s->taken + 1, SOURCE_HEADERS_MAX);
        return -EINVAL;
    }
    ret->partition = (int32_t)partition;
    ret->timestamp_ms = timestamp;
    return 1;
}

static void generate(struct source *s, struct source_record *ret)
{
    int n = snprintf(s->generated, s->size, "%" PRIu64, s->taken);

    s->generated[n] = ' ';
    ret->value = (struct str){s->generated, MAX(s->opts.size, (size_t)n)};
}

static int take_line(struct source *s, struct str line, struct source_record *ret,
                     struct strbuf *why)
{
    if (s->opts.kind == SOURCE_JSON)
        return take_object(s, line, ret, why);
    if (s->opts.kind == SOURCE_LINES)
        return split_line(s, line, ret, why);
    int r = line_format_split(s->opts.format, line, s->taken + 1, ret, why);
    return r < 0 ? r : 1;
}

int source_next(struct source *s, struct source_record *ret, struct strbuf *why)
{
    struct str line;

    drop_object(s);
    ret->key = ret->value = STR_NULL;
    ret->partition = -1;
    ret->timestamp_ms = 0;
    ret->header_count = 0;
    if (s->taken >= s->opts.count)
        return 0;
    if (s->opts.kind == SOURCE_GENERATED) {
        generate(s, ret);
        s->taken++;
        return 1;
    }
    if (s->opts.prompt) {
        fputs(s->opts.prompt, stdout);
        fflush(stdout);
    }
    int r = next_line(s, &line, why);
    if (r > 0)
        r = take_line(s, line, ret, why);
    s->taken += r > 0;
    return r;
}
