/*
 * codec_print.c - messages as text for people (see codec.h)
 */
#include "common/wire/codec.h"

#include <inttypes.h>

static void print_struct(const struct struct_desc *desc, int version, const void *obj,
                         struct strbuf *sb);

static void print_str(struct str s, struct strbuf *sb)
{
    if (str_is_null(s)) {
        strbuf_addz(sb, "null");
        return;
    }
    strbuf_add_char(sb, '"');
    for (size_t i = 0; i < s.len && !sb->full; i++) {
        unsigned char c = (unsigned char)s.p[i];

        if (c < 0x20 || c == 0x7f) {
            strbuf_addf(sb, "\\u%04x", c);
            continue;
        }
        if (c == '"' || c == '\\')
            strbuf_add_char(sb, '\\');
        strbuf_add_char(sb, (char)c);
    }
    strbuf_add_char(sb, '"');
}

static void print_length(bool is_null, size_t len, struct strbuf *sb)
{
    if (is_null)
        strbuf_addz(sb, "null");
    else
        strbuf_addf(sb, "\"<%zu bytes>\"", len);
}

static void print_uuid(struct uuid id, struct strbuf *sb)
{
    char text[UUID_TEXT_LEN + 1];

    uuid_to_text(id, text);
    strbuf_addf(sb, "\"%s\"", text);
}

static void print_nested(const struct field *f, int version, const void *at, struct strbuf *sb)
{
    const void *obj = at;

    if (f->flags & FIELD_POINTER)
        memcpy(&obj, at, sizeof obj);
    if (obj)
        print_struct(f->elem, version, obj, sb);
    else
        strbuf_addz(sb, "null");
}

static void print_value(const struct field *f, int version, const void *at, struct strbuf *sb)
{
    switch ((enum field_type)f->type) {
    case FIELD_BOOL:
        strbuf_addz(sb, *(const bool *)at ? "true" : "false");
        break;
    case FIELD_I8:
        strbuf_addf(sb, "%d", *(const int8_t *)at);
        break;
    case FIELD_I16:
        strbuf_addf(sb, "%d", *(const int16_t *)at);
        break;
    case FIELD_U16:
        strbuf_addf(sb, "%u", *(const uint16_t *)at);
        break;
    case FIELD_I32:
        strbuf_addf(sb, "%" PRId32, *(const int32_t *)at);
        break;
    case FIELD_I64:
        strbuf_addf(sb, "%" PRId64, *(const int64_t *)at);
        break;
    case FIELD_F64:
        strbuf_addf(sb, "%.17g", *(const double *)at);
        break;
    case FIELD_UUID:
        print_uuid(*(const struct uuid *)at, sb);
        break;
    case FIELD_STR:
        print_str(*(const struct str *)at, sb);
        break;
    case FIELD_BYTES: {
        const struct slice *s = at;
        print_length(s->p == NULL, s->len, sb);
        break;
    }
    case FIELD_RECORDS: {
        const struct records *r = at;
        print_length(records_is_null(*r), records_len(*r), sb);
        break;
    }
    case FIELD_STRUCT:
        print_nested(f, version, at, sb);
        break;
    }
}

static size_t elem_size(const struct field *f)
{
    static const uint8_t sizes[] = {
        [FIELD_I8] = 1,
        [FIELD_I16] = 2,
        [FIELD_U16] = 2,
        [FIELD_I32] = 4,
        [FIELD_I64] = 8,
        [FIELD_UUID] = sizeof(struct uuid),
        [FIELD_STR] = sizeof(struct str),
    };
    return f->elem ? f->elem->size : sizes[f->type];
}

static void print_array(const struct field *f, int version, const void *at, struct strbuf *sb)
{
    const uint8_t *elems;
    int32_t count;

    memcpy(&elems, at, sizeof elems);
    memcpy(&count, (const uint8_t *)at + sizeof elems, sizeof count);
    if (count < 0) {
        strbuf_addz(sb, "null");
        return;
    }
    strbuf_add_char(sb, '[');
    for (int32_t i = 0; i < count && !sb->full; i++) {
        if (i > 0)
            strbuf_add_char(sb, ',');
        print_value(f, version, elems + (size_t)i * elem_size(f), sb);
    }
    strbuf_add_char(sb, ']');
}

static void print_struct(const struct struct_desc *desc, int version, const void *obj,
                         struct strbuf *sb)
{
    const char *between = "";

    strbuf_add_char(sb, '{');
    for (uint32_t i = 0; i < desc->field_count && !sb->full; i++) {
        const struct field *f = &desc->fields[i];
        const void *at = (const uint8_t *)obj + f->at;

        if (!field_in(f, version))
            continue;
        strbuf_addf(sb, "%s\"%s\":", between, f->name);
        between = ",";
        if (f->flags & FIELD_ARRAY)
            print_array(f, version, at, sb);
        else
            print_value(f, version, at, sb);
    }
    strbuf_add_char(sb, '}');
}

void codec_print(const struct msg_desc *d, int16_t version, const void *msg, struct strbuf *sb)
{
    print_struct(&d->root, version, msg, sb);
}
