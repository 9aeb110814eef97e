#include "tests/support/random_msg.h"

enum { MAX_TEXT = 12, LONG_TEXT = 300, MAX_ELEMS = 3 };

struct filler {
    struct random_source *r;
    struct arena *a;
    int version;
};

static void fill_struct(const struct filler *fl, const struct struct_desc *desc, void *obj);

static uint8_t *random_text(const struct filler *fl, size_t *ret_len)
{
    size_t len = random_to(fl->r, random_to(fl->r, 20) == 0 ? LONG_TEXT : MAX_TEXT);
    uint8_t *p = arena_alloc(fl->a, len + 1);

    for (size_t i = 0; i < len; i++)
        p[i] = (uint8_t)('!' + random_to(fl->r, '~' - '!'));
    *ret_len = len;
    return p;
}

static void fill_bytes(const struct filler *fl, const struct field *f, void *at, bool nullable)
{
    size_t len = 0;
    const uint8_t *p = random_text(fl, &len);

    if (nullable && random_to(fl->r, 4) == 0)
        p = NULL, len = 0;
    if (f->type == FIELD_RECORDS)
        *(struct records *)at = (struct records){.bytes = slice_of(p, len)};
    else if (f->type == FIELD_BYTES)
        *(struct slice *)at = slice_of(p, len);
    else
        *(struct str *)at = str_of_slice(slice_of(p, len));
}

static void fill_nested(const struct filler *fl, const struct field *f, void *at, bool nullable)
{
    void *obj = at;

    if (f->flags & FIELD_POINTER) {
        obj = nullable && random_to(fl->r, 4) == 0 ? NULL : arena_alloc(fl->a, f->elem->size);
        memcpy(at, &obj, sizeof obj);
    }
    if (obj)
        fill_struct(fl, f->elem, obj);
}

static void fill_value(const struct filler *fl, const struct field *f, void *at, bool nullable)
{
    uint64_t v = random_next(fl->r);

    switch ((enum field_type)f->type) {
    case FIELD_BOOL:
        *(bool *)at = v & 1;
        break;
    case FIELD_I8:
        *(int8_t *)at = (int8_t)v;
        break;
    case FIELD_I16:
    case FIELD_U16:
        *(int16_t *)at = (int16_t)v;
        break;
    case FIELD_I32:
        *(int32_t *)at = (int32_t)v;
        break;
    case FIELD_I64:
        *(int64_t *)at = (int64_t)v;
        break;
    case FIELD_F64:
        *(double *)at = (double)(int64_t)v / 3;
        break;
    case FIELD_UUID:
        for (size_t i = 0; i < 16; i++)
            ((struct uuid *)at)->b[i] = (uint8_t)random_next(fl->r);
        break;
    case FIELD_STR:
    case FIELD_BYTES:
    case FIELD_RECORDS:
        fill_bytes(fl, f, at, nullable);
        break;
    case FIELD_STRUCT:
        fill_nested(fl, f, at, nullable);
        break;
    }
}

static void fill_array(const struct filler *fl, const struct field *f, void *at, bool nullable)
{
    int32_t count = (int32_t)random_to(fl->r, MAX_ELEMS + 1);
    size_t size = f->elem ? f->elem->size : 16; /* the largest other element */
    static const uint8_t sizes[] = {[FIELD_I8] = 1,  [FIELD_I16] = 2, [FIELD_U16] = 2,
                                    [FIELD_I32] = 4, [FIELD_I64] = 8, [FIELD_STRUCT] = 0};
    uint8_t *elems = arena_alloc(fl->a, (size_t)count * size);

    if (f->type < ARRAY_LEN(sizes) && sizes[f->type])
        size = sizes[f->type];
    if (nullable && random_to(fl->r, 4) == 0)
        count = -1;
    for (int32_t i = 0; i < count; i++)
        fill_value(fl, f, elems + (size_t)i * size, false);
    memcpy(at, &elems, sizeof elems);
    memcpy((uint8_t *)at + sizeof elems, &count, sizeof count);
}

static void fill_struct(const struct filler *fl, const struct struct_desc *desc, void *obj)
{
    struct_init(desc, obj);
    for (uint32_t i = 0; i < desc->field_count; i++) {
        const struct field *f = &desc->fields[i];
        void *at = (uint8_t *)obj + f->at;
        bool nullable = field_nullable_in(f, fl->version);

        if (!field_in(f, fl->version) || (f->tag >= 0 && random_to(fl->r, 3) == 0))
            continue;
        if (f->flags & FIELD_ARRAY)
            fill_array(fl, f, at, nullable);
        else
            fill_value(fl, f, at, nullable);
    }
}

void random_msg(const struct msg_desc *d, int16_t version, struct random_source *r, struct arena *a,
                void *ret_msg)
{
    const struct filler fl = {r, a, version};
    fill_struct(&fl, &d->root, ret_msg);
}
