/*
 * msg_json.c - walks the descriptor tables
 */
#include "tools/base/msg_json.h"

#include "common/base/base64.h"
#include "common/base/mem.h"

#include <inttypes.h>

struct printer {
    int version;
    const struct msg_json_hook *hook;
    struct strbuf *sb;
};

static void print_struct(const struct printer *p, const struct struct_desc *desc, const void *obj);

static void print_escaped(unsigned char c, struct strbuf *sb)
{
    static const char short_names[] = "\bb\tt\nn\ff\rr\"\"\\\\";

    for (const char *s = short_names; *s; s += 2)
        if ((unsigned char)*s == c) {
            strbuf_addf(sb, "\\%c", s[1]);
            return;
        }
    if (c < 0x20)
        strbuf_addf(sb, "\\u%04X", c);
    else
        strbuf_add_char(sb, (char)c);
}

void msg_json_text(struct str s, struct strbuf *sb)
{
    if (str_is_null(s)) {
        strbuf_addz(sb, "null");
        return;
    }
    strbuf_add_char(sb, '"');
    for (size_t i = 0; i < s.len; i++)
        print_escaped((unsigned char)s.p[i], sb);
    strbuf_add_char(sb, '"');
}

static void print_bytes(const struct printer *p, const char *field, struct slice bytes)
{
    if (!bytes.p) {
        strbuf_addz(p->sb, "null");
        return;
    }
    if (p->hook && p->hook->bytes(p->hook->ctx, field, bytes, p->sb))
        return;
    CLEANUP(free_p) char *text = xmalloc(BASE64_TEXT_SIZE(bytes.len));
    base64_encode(bytes, text);
    strbuf_addf(p->sb, "\"%s\"", text);
}

static void print_nested(const struct printer *p, const struct field *f, const void *at)
{
    const void *obj = at;

    if (f->flags & FIELD_POINTER)
        memcpy(&obj, at, sizeof obj);
    if (obj)
        print_struct(p, f->elem, obj);
    else
        strbuf_addz(p->sb, "null");
}

static void print_uuid(const struct printer *p, const struct uuid *id)
{
    char text[UUID_TEXT_LEN + 1];

    uuid_to_text(*id, text);
    strbuf_addf(p->sb, "\"%s\"", text);
}

static void print_value(const struct printer *p, const struct field *f, const void *at)
{
    struct strbuf *sb = p->sb;

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
        print_uuid(p, at);
        break;
    case FIELD_STR:
        msg_json_text(*(const struct str *)at, sb);
        break;
    case FIELD_BYTES:
        print_bytes(p, f->name, *(const struct slice *)at);
        break;
    case FIELD_RECORDS:
        print_bytes(p, f->name, ((const struct records *)at)->bytes);
        break;
    case FIELD_STRUCT:
        print_nested(p, f, at);
        break;
    }
}

static size_t elem_size(const struct field *f)
{
    static const uint8_t sizes[] = {
        [FIELD_BOOL] = sizeof(bool),
        [FIELD_I8] = 1,
        [FIELD_I16] = 2,
        [FIELD_U16] = 2,
        [FIELD_I32] = 4,
        [FIELD_I64] = 8,
        [FIELD_F64] = 8,
        [FIELD_UUID] = sizeof(struct uuid),
        [FIELD_STR] = sizeof(struct str),
        [FIELD_BYTES] = sizeof(struct slice),
    };
    return f->elem ? f->elem->size : sizes[f->type];
}

static void print_array(const struct printer *p, const struct field *f, const void *at)
{
    const uint8_t *elems;
    int32_t count;

    memcpy(&elems, at, sizeof elems);
    memcpy(&count, (const uint8_t *)at + sizeof elems, sizeof count);
    if (count < 0) {
        strbuf_addz(p->sb, "null");
        return;
    }
    strbuf_add_char(p->sb, '[');
    for (int32_t i = 0; i < count; i++) {
        if (i > 0)
            strbuf_add_char(p->sb, ',');
        print_value(p, f, elems + (size_t)i * elem_size(f));
    }
    strbuf_add_char(p->sb, ']');
}

/* group_instance_id -> "groupInstanceId": */
static void print_name(const char *name, struct strbuf *sb)
{
    strbuf_add_char(sb, '"');
    for (; *name; name++) {
        bool is_upper = *name == '_' && name[1] >= 'a' && name[1] <= 'z';

        if (is_upper)
            name++;
        strbuf_add_char(sb, is_upper ? (char)(*name - 'a' + 'A') : *name);
    }
    strbuf_addz(sb, "\":");
}

static void print_struct(const struct printer *p, const struct struct_desc *desc, const void *obj)
{
    bool is_first = true;

    strbuf_add_char(p->sb, '{');
    for (uint32_t i = 0; i < desc->field_count; i++) {
        const struct field *f = &desc->fields[i];
        const void *at = (const uint8_t *)obj + f->at;

        if (!field_in(f, p->version))
            continue;
        if (!is_first)
            strbuf_add_char(p->sb, ',');
        is_first = false;
        print_name(f->name, p->sb);
        if (f->flags & FIELD_ARRAY)
            print_array(p, f, at);
        else
            print_value(p, f, at);
    }
    strbuf_add_char(p->sb, '}');
}

void msg_json(const struct msg_desc *d, int16_t version, const void *msg,
              const struct msg_json_hook *hook, struct strbuf *sb)
{
    const struct printer p = {.version = version, .hook = hook, .sb = sb};

    print_struct(&p, &d->root, msg);
}
