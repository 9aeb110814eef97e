/*
 * codec_encode.c - structs to bytes, and how many that would be (see codec.h)
 */
#include "common/wire/codec.h"

#include <errno.h>

struct encoder {
    struct writer *w;
    int version;
    bool flexible;
};

enum { MAX_STRING = 0x7fff, SCRATCH = 64 };

static void encode_struct(const struct encoder *e, const struct struct_desc *desc, const void *obj);

static int32_t array_count(const void *at)
{
    int32_t count;

    memcpy(&count, (const uint8_t *)at + sizeof(void *), sizeof count);
    return count;
}

static const void *pointer_at(const void *at)
{
    const void *p;

    memcpy(&p, at, sizeof p);
    return p;
}

static const uint8_t scalar_sizes[] = {
    [FIELD_BOOL] = 1, [FIELD_I8] = 1,  [FIELD_I16] = 2, [FIELD_U16] = 2,
    [FIELD_I32] = 4,  [FIELD_I64] = 8, [FIELD_F64] = 8, [FIELD_UUID] = 16,
};

static bool struct_is_default(const struct struct_desc *desc, const void *obj);

static bool field_is_default(const struct field *f, const void *at, const void *def)
{
    if (f->flags & FIELD_ARRAY)
        return array_count(at) == array_count(def);
    switch ((enum field_type)f->type) {
    case FIELD_STR:
        return str_eq(*(const struct str *)at, *(const struct str *)def);
    case FIELD_BYTES:
        return str_eq(str_of_slice(*(const struct slice *)at),
                      str_of_slice(*(const struct slice *)def));
    case FIELD_RECORDS:
        return records_is_null(*(const struct records *)at);
    case FIELD_STRUCT:
        return f->flags & FIELD_POINTER ? !pointer_at(at) : struct_is_default(f->elem, at);
    default:
        return memcmp(at, def, scalar_sizes[f->type]) == 0;
    }
}

static bool struct_is_default(const struct struct_desc *desc, const void *obj)
{
    for (uint32_t i = 0; i < desc->field_count; i++) {
        const struct field *f = &desc->fields[i];

        if (!field_is_default(f, (const uint8_t *)obj + f->at,
                              (const uint8_t *)desc->defaults + f->at))
            return false;
    }
    return true;
}

static void write_length(const struct encoder *e, const struct field *f, bool is_short, int32_t n)
{
    if (e->flexible && !(f->flags & FIELD_CLASSIC))
        writer_uvarint(e->w, (uint32_t)n + 1);
    else if (is_short)
        writer_i16(e->w, (int16_t)n);
    else
        writer_i32(e->w, n);
}

/* False where nothing more is to be written: null, or a failure. */
static bool write_bytes_length(const struct encoder *e, const struct field *f, bool is_null,
                               size_t len, bool nullable)
{
    bool is_short = f->type == FIELD_STR;

    if ((is_null && !nullable) || len > (is_short ? MAX_STRING : INT32_MAX - 1)) {
        writer_fail(e->w, -EINVAL, f->name);
        return false;
    }
    write_length(e, f, is_short, is_null ? -1 : (int32_t)len);
    return !is_null;
}

static void encode_bytes(const struct encoder *e, const struct field *f, struct slice s,
                         bool nullable)
{
    if (write_bytes_length(e, f, s.p == NULL, s.len, nullable))
        writer_bytes(e->w, s.p, s.len);
}

static void encode_pointer(const struct encoder *e, const struct field *f, const void *obj)
{
    if (!obj && !field_nullable_in(f, e->version)) {
        writer_fail(e->w, -EINVAL, f->name);
        return;
    }
    writer_i8(e->w, obj ? 1 : -1);
    if (obj)
        encode_struct(e, f->elem, obj);
}

static void encode_value(const struct encoder *e, const struct field *f, const void *at,
                         bool nullable)
{
    struct writer *w = e->w;

    switch ((enum field_type)f->type) {
    case FIELD_BOOL:
        writer_i8(w, *(const bool *)at);
        break;
    case FIELD_I8:
        writer_i8(w, *(const int8_t *)at);
        break;
    case FIELD_I16:
    case FIELD_U16:
        writer_i16(w, *(const int16_t *)at);
        break;
    case FIELD_I32:
        writer_i32(w, *(const int32_t *)at);
        break;
    case FIELD_I64:
    case FIELD_F64: /* the same eight bytes */
        writer_i64(w, *(const int64_t *)at);
        break;
    case FIELD_UUID:
        memcpy(writer_room(w, 16), at, 16);
        break;
    case FIELD_STR:
        encode_bytes(e, f, slice_of_str(*(const struct str *)at), nullable);
        break;
    case FIELD_BYTES:
        encode_bytes(e, f, *(const struct slice *)at, nullable);
        break;
    case FIELD_RECORDS: {
        const struct records *r = at;

        if (write_bytes_length(e, f, records_is_null(*r), records_len(*r), nullable))
            writer_records(w, r);
        break;
    }
    case FIELD_STRUCT:
        if (f->flags & FIELD_POINTER)
            encode_pointer(e, f, pointer_at(at));
        else
            encode_struct(e, f->elem, at);
        break;
    }
}

static size_t elem_size(const struct field *f)
{
    if (f->elem)
        return f->elem->size;
    return f->type == FIELD_STR ? sizeof(struct str) : scalar_sizes[f->type];
}

static void encode_array(const struct encoder *e, const struct field *f, const void *at)
{
    int32_t count = array_count(at);
    const uint8_t *elems = pointer_at(at);
    size_t size = elem_size(f);

    if (count < 0 && !field_nullable_in(f, e->version)) {
        writer_fail(e->w, -EINVAL, f->name);
        return;
    }
    write_length(e, f, false, MAX(count, -1));
    for (int32_t i = 0; i < count; i++)
        encode_value(e, f, elems + (size_t)i * size, false);
}

static void encode_field(const struct encoder *e, const struct field *f, const void *at)
{
    if (f->flags & FIELD_ARRAY)
        encode_array(e, f, at);
    else
        encode_value(e, f, at, field_nullable_in(f, e->version));
}

static void encode_tag(const struct encoder *e, const struct field *f, const void *at)
{
    uint8_t scratch[SCRATCH];
    struct writer measure;
    struct encoder dry = *e;

    writer_init_measure(&measure, scratch, sizeof scratch);
    dry.w = &measure;
    encode_field(&dry, f, at);
    writer_uvarint(e->w, (uint32_t)f->tag);
    writer_uvarint(e->w, (uint32_t)writer_len(&measure));
    encode_field(e, f, at);
}

static bool tag_is_written(const struct encoder *e, const struct struct_desc *desc,
                           const struct field *f, const void *obj)
{
    return f->tag >= 0 && field_in(f, e->version) &&
           !field_is_default(f, (const uint8_t *)obj + f->at,
                             (const uint8_t *)desc->defaults + f->at);
}

/* The schemas list the tagged fields of a struct in ascending order, as the wire wants them. */
static void encode_tags(const struct encoder *e, const struct struct_desc *desc, const void *obj,
                        uint32_t count)
{
    writer_uvarint(e->w, count);
    for (uint32_t i = 0; count > 0 && i < desc->field_count; i++) {
        const struct field *f = &desc->fields[i];

        if (tag_is_written(e, desc, f, obj)) {
            encode_tag(e, f, (const uint8_t *)obj + f->at);
            count--;
        }
    }
}

static void encode_struct(const struct encoder *e, const struct struct_desc *desc, const void *obj)
{
    uint32_t tags = 0;

    for (uint32_t i = 0; i < desc->field_count; i++) {
        const struct field *f = &desc->fields[i];
        const void *at = (const uint8_t *)obj + f->at;

        if (f->tag >= 0)
            tags += tag_is_written(e, desc, f, obj);
        else if (field_in(f, e->version))
            encode_field(e, f, at);
        if (!field_in(f, e->version) && !(f->flags & FIELD_IGNORABLE) &&
            !field_is_default(f, at, (const uint8_t *)desc->defaults + f->at))
            writer_fail(e->w, -EINVAL, f->name);
    }
    if (e->flexible)
        encode_tags(e, desc, obj, tags);
}

int codec_encode(const struct msg_desc *d, int16_t version, const void *msg, struct writer *w)
{
    struct encoder e = {w, version, version >= d->flexible_since};

    if (!msg_has_version(d, version))
        return -EPROTONOSUPPORT;
    encode_struct(&e, &d->root, msg);
    return w->err;
}

int codec_encode_versioned(const struct msg_desc *d, int16_t version, const void *msg,
                           struct writer *w)
{
    writer_i16(w, version);
    return codec_encode(d, version, msg, w);
}

ssize_t codec_size(const struct msg_desc *d, int16_t version, const void *msg)
{
    uint8_t scratch[SCRATCH];
    struct writer w;

    writer_init_measure(&w, scratch, sizeof scratch);
    int r = codec_encode(d, version, msg, &w);
    return r < 0 ? r : (ssize_t)writer_len(&w);
}
