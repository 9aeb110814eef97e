/*
 * codec_decode.c - bytes to structs (see codec.h)
 */
#include "common/wire/codec.h"

#include <errno.h>

struct decoder {
    struct reader r;
    struct arena *arena;
    int version;
    int version_index; /* into struct_desc.min_sizes */
    bool flexible;
    size_t budget; /* bytes that arrays may still take */
};

/* The arrays of a message for 200,000 partitions take a third of it; small elements of a hostile
 * one would grow tenfold in memory, and more where they are handled. */
enum { MAX_STRING = 0x7fff, ARRAY_BUDGET = 128 << 20 };

static void decode_struct(struct decoder *d, const struct struct_desc *desc, void *obj);

/* A length or count; -1 for null, which is a failure where it is not allowed. */
static int32_t read_length(struct decoder *d, const struct field *f, bool nullable)
{
    bool is_short = f->type == FIELD_STR;
    int32_t n;

    if (d->flexible && !(f->flags & FIELD_CLASSIC))
        n = (int32_t)(reader_uvarint(&d->r) - 1);
    else
        n = is_short ? reader_i16(&d->r) : reader_i32(&d->r);
    if (n >= 0)
        return n;
    if (!nullable)
        reader_fail(&d->r);
    return -1;
}

static struct slice read_bytes(struct decoder *d, const struct field *f, bool nullable)
{
    int32_t n = read_length(d, f, nullable);

    if (n < 0)
        return slice_of(NULL, 0);
    if (f->type == FIELD_STR && n > MAX_STRING)
        reader_fail(&d->r);
    return reader_slice(&d->r, (size_t)n);
}

static void decode_pointer(struct decoder *d, const struct field *f, void *at)
{
    void *obj = NULL;

    if (reader_i8(&d->r) >= 0) {
        obj = arena_alloc(d->arena, f->elem->size);
        decode_struct(d, f->elem, obj);
    } else if (!field_nullable_in(f, d->version)) {
        reader_fail(&d->r);
    }
    memcpy(at, &obj, sizeof obj);
}

static void decode_value(struct decoder *d, const struct field *f, void *at, bool nullable)
{
    struct reader *r = &d->r;

    switch ((enum field_type)f->type) {
    case FIELD_BOOL:
        *(bool *)at = reader_i8(r) != 0;
        break;
    case FIELD_I8:
        *(int8_t *)at = reader_i8(r);
        break;
    case FIELD_I16:
    case FIELD_U16:
        *(int16_t *)at = reader_i16(r);
        break;
    case FIELD_I32:
        *(int32_t *)at = reader_i32(r);
        break;
    case FIELD_I64:
    case FIELD_F64: /* the same eight bytes */
        *(int64_t *)at = reader_i64(r);
        break;
    case FIELD_UUID:
        *(struct uuid *)at = reader_uuid(r);
        break;
    case FIELD_STR:
        *(struct str *)at = str_of_slice(read_bytes(d, f, nullable));
        break;
    case FIELD_BYTES:
        *(struct slice *)at = read_bytes(d, f, nullable);
        break;
    case FIELD_RECORDS:
        *(struct records *)at = (struct records){.bytes = read_bytes(d, f, nullable)};
        break;
    case FIELD_STRUCT:
        if (f->flags & FIELD_POINTER)
            decode_pointer(d, f, at);
        else
            decode_struct(d, f->elem, at);
        break;
    }
}

static const struct {
    uint8_t in_memory;
    uint8_t on_wire;
} elem_sizes[] = {
    [FIELD_I8] = {1, 1},
    [FIELD_I16] = {2, 2},
    [FIELD_U16] = {2, 2},
    [FIELD_I32] = {4, 4},
    [FIELD_I64] = {8, 8},
    [FIELD_UUID] = {sizeof(struct uuid), 16},
    [FIELD_STR] = {sizeof(struct str), 1},
};

static void decode_i32s(struct reader *r, int32_t *to, size_t count)
{
    const uint8_t *p = reader_take(r, count * 4);

    for (size_t i = 0; p && i < count; i++)
        to[i] = (int32_t)be32_read(p + 4 * i);
}

static void decode_array(struct decoder *d, const struct field *f, void *at)
{
    int32_t count = read_length(d, &(struct field){.type = FIELD_I32, .flags = f->flags},
                                field_nullable_in(f, d->version));
    size_t size = f->elem ? f->elem->size : elem_sizes[f->type].in_memory;
    size_t least = f->elem ? f->elem->min_sizes[d->version_index] : elem_sizes[f->type].on_wire;
    uint8_t *elems = NULL;

    if (count > 0 && ((size_t)count > reader_left(&d->r) / MAX(least, (size_t)1) ||
                      (size_t)count > d->budget / size)) {
        reader_fail(&d->r);
        count = 0;
    }
    if (count > 0) {
        d->budget -= (size_t)count * size;
        elems = arena_alloc(d->arena, (size_t)count * size);
        if (f->type == FIELD_I32)
            decode_i32s(&d->r, (int32_t *)(void *)elems, (size_t)count);
        else
            for (int32_t i = 0; i < count && !d->r.bad; i++)
                decode_value(d, f, elems + (size_t)i * size, false);
    }
    memcpy(at, &elems, sizeof elems);
    memcpy((uint8_t *)at + sizeof elems, &count, sizeof count);
}

static void decode_field(struct decoder *d, const struct field *f, void *at)
{
    if (f->flags & FIELD_ARRAY)
        decode_array(d, f, at);
    else
        decode_value(d, f, at, field_nullable_in(f, d->version));
}

static const struct field *find_tag(const struct decoder *d, const struct struct_desc *desc,
                                    uint32_t tag)
{
    for (uint32_t i = 0; i < desc->field_count; i++) {
        const struct field *f = &desc->fields[i];

        if (f->tag >= 0 && (uint32_t)f->tag == tag && field_in(f, d->version))
            return f;
    }
    return NULL;
}

static void decode_tags(struct decoder *d, const struct struct_desc *desc, void *obj)
{
    uint32_t count = reader_uvarint(&d->r);

    for (uint32_t i = 0; i < count && !d->r.bad; i++) {
        uint32_t tag = reader_uvarint(&d->r);
        uint32_t size = reader_uvarint(&d->r);
        struct slice data = reader_slice(&d->r, size);
        const struct field *f = find_tag(d, desc, tag);

        if (!f || d->r.bad)
            continue;
        struct reader outer = d->r;
        d->r = reader_on(data);
        decode_field(d, f, (uint8_t *)obj + f->at);
        /* The size must be the field's own, or the two ends disagree about what it is. */
        if (d->r.bad || reader_left(&d->r) != 0)
            reader_fail(&outer);
        d->r = outer;
    }
}

static void decode_struct(struct decoder *d, const struct struct_desc *desc, void *obj)
{
    struct_init(desc, obj);
    for (uint32_t i = 0; i < desc->field_count; i++) {
        const struct field *f = &desc->fields[i];

        if (field_in(f, d->version) && f->tag < 0)
            decode_field(d, f, (uint8_t *)obj + f->at);
    }
    if (d->flexible)
        decode_tags(d, desc, obj);
}

int codec_read(const struct msg_desc *d, int16_t version, struct reader *r, struct arena *a,
               void *ret_msg)
{
    if (!msg_has_version(d, version))
        return -EPROTONOSUPPORT;
    struct decoder dec = {
        .r = *r,
        .arena = a,
        .version = version,
        .version_index = version - d->min_version,
        .flexible = version >= d->flexible_since,
        .budget = ARRAY_BUDGET,
    };
    decode_struct(&dec, &d->root, ret_msg);
    *r = dec.r;
    return r->bad ? -EBADMSG : 0;
}

int codec_decode(const struct msg_desc *d, int16_t version, struct slice in, struct arena *a,
                 void *ret_msg)
{
    struct reader r = reader_on(in);
    return codec_read(d, version, &r, a, ret_msg);
}

int codec_decode_versioned(const struct msg_desc *d, struct slice in, struct arena *a,
                           int16_t *ret_version, void *ret_msg)
{
    struct reader r = reader_on(in);
    *ret_version = reader_i16(&r);
    return r.bad ? -EBADMSG : codec_read(d, *ret_version, &r, a, ret_msg);
}
