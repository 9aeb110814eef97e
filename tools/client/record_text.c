#include "tools/client/record_text.h"

#include "common/base/base64.h"
#include "common/base/mem.h"

#include <inttypes.h>
#include <jansson.h>

static int unescape(char c)
{
    switch (c) {
    case 'n':
        return '\n';
    case 't':
        return '\t';
    case 'r':
        return '\r';
    case '0':
        return '\0';
    case '\\':
        return '\\';
    default:
        return -1;
    }
}

char *record_format(const char *text, size_t *ret_len, struct strbuf *why)
{
    CLEANUP(strbuf_deinit) struct strbuf out = {0};

    for (const char *p = text; *p; p++) {
        if (*p == '\\') {
            int c = unescape(*++p);
            if (c < 0) {
                strbuf_addf(why, "--format: \\%c means nothing", *p ? *p : ' ');
                return NULL;
            }
            strbuf_add_char(&out, (char)c);
            continue;
        }
        strbuf_add_char(&out, *p);
        if (*p == '%') {
            if (!*++p || !strchr("sSkKtpoTh%", *p)) {
                strbuf_addf(why, "--format: %%%c means nothing", *p ? *p : ' ');
                return NULL;
            }
            strbuf_add_char(&out, *p);
        }
    }
    *ret_len = out.len;
    return strbuf_detach(&out);
}

static void add_length(struct strbuf *out, struct str s)
{
    strbuf_addf(out, "%" PRId64, str_is_null(s) ? (int64_t)-1 : (int64_t)s.len);
}

static void add_headers(struct strbuf *out, const struct record_text *rec)
{
    for (int i = 0; i < rec->header_count; i++) {
        strbuf_addz(out, i ? "," : "");
        strbuf_addz(out, rec->headers[i].name);
        strbuf_add_char(out, '=');
        strbuf_add_str(out, rec->headers[i].value);
    }
}

static void add_field(struct strbuf *out, char what, const struct record_text *rec)
{
    switch (what) {
    case 's':
        strbuf_add_str(out, rec->value);
        break;
    case 'S':
        add_length(out, rec->value);
        break;
    case 'k':
        strbuf_add_str(out, rec->key);
        break;
    case 'K':
        add_length(out, rec->key);
        break;
    case 't':
        strbuf_addz(out, rec->topic);
        break;
    case 'p':
        strbuf_addf(out, "%" PRId32, rec->partition);
        break;
    case 'o':
        strbuf_addf(out, "%" PRId64, rec->offset);
        break;
    case 'T':
        strbuf_addf(out, "%" PRId64, rec->timestamp_ms);
        break;
    case 'h':
        add_headers(out, rec);
        break;
    default:
        strbuf_add_char(out, what);
    }
}

void record_print(struct strbuf *out, struct str format, const struct record_text *rec)
{
    for (size_t i = 0; i < format.len; i++) {
        if (format.p[i] == '%')
            add_field(out, format.p[++i], rec);
        else
            strbuf_add_char(out, format.p[i]);
    }
}

static json_t *json_of(struct str s)
{
    if (str_is_null(s))
        return json_null();
    json_t *text = json_stringn(s.p, s.len);
    if (text)
        return text;
    CLEANUP(free_p) char *b64 = xmalloc(BASE64_TEXT_SIZE(s.len));
    base64_encode(slice_of_str(s), b64);
    return json_pack("{s:s}", "base64", b64);
}

static int add_piece(const char *piece, size_t len, void *out)
{
    strbuf_add(out, piece, len);
    return 0;
}

void record_print_json(struct strbuf *out, const struct record_text *rec)
{
    json_t *time = rec->timestamp_ms < 0 ? json_null() : json_integer(rec->timestamp_ms);
    json_t *o = json_pack("{s:s, s:i, s:I, s:o, s:o, s:o}", "topic", rec->topic, "partition",
                          (int)rec->partition, "offset", (json_int_t)rec->offset, "timestamp", time,
                          "key", json_of(rec->key), "value", json_of(rec->value));

    if (rec->header_count > 0) {
        json_t *headers = json_array();
        for (int i = 0; i < rec->header_count; i++)
            json_array_append_new(headers,
                                  json_pack("[o, o]", json_of(str_of(rec->headers[i].name)),
                                            json_of(rec->headers[i].value)));
        json_object_set_new(o, "headers", headers);
    }
    json_dump_callback(o, add_piece, out, JSON_COMPACT);
    strbuf_add_char(out, '\n');
    json_decref(o);
}
