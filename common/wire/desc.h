/*
 * desc.h - how a message is described to the codec: fields, structs, messages, APIs
 *
 * The tables are generated from the schemas into messages.c, are constant, and may be read by any
 * thread. A field's value lies at .at in its struct: an array as a pointer followed by its int32_t
 * count, a nullable struct as a pointer (FIELD_POINTER), any other struct in place.
 */
#pragma once

#include "common/base/base.h"

enum field_type {
    FIELD_BOOL,
    FIELD_I8,
    FIELD_I16,
    FIELD_U16,
    FIELD_I32,
    FIELD_I64,
    FIELD_F64,
    FIELD_UUID,
    FIELD_STR,
    FIELD_BYTES,
    FIELD_RECORDS,
    FIELD_STRUCT,
};

enum field_flag {
    FIELD_ARRAY = BIT(0),
    FIELD_IGNORABLE = BIT(1), /* dropped silently by versions that lack it */
    FIELD_CLASSIC = BIT(2),   /* classic length in flexible versions too */
    FIELD_POINTER = BIT(3),
};

struct struct_desc;

struct field {
    const char *name;
    const struct struct_desc *elem; /* of FIELD_STRUCT */
    uint32_t at;
    uint8_t type;
    uint8_t flags;
    int8_t tag;                    /* -1: not in the tag section */
    int8_t since, until;           /* versions that have it, both ends included */
    int8_t null_since, null_until; /* versions in which it may be null; 1, 0 where there is none */
};

struct struct_desc {
    const char *name;
    const struct field *fields;
    const void *defaults;      /* an instance with all defaults */
    const uint16_t *min_sizes; /* fewest bytes on the wire, from the message's min_version on */
    uint32_t size;
    uint32_t field_count;
};

enum { NEVER_FLEXIBLE = 127 };

struct msg_desc {
    const char *name; /* "FetchRequest", "OffsetCommitValue" */
    struct struct_desc root;
    int16_t key; /* -1 where it is no request or response */
    int8_t min_version, max_version;
    int8_t flexible_since;
};

struct api_msgs {
    const char *name; /* "Fetch" */
    const struct msg_desc *request, *response;
    int8_t min_version, max_version;
    int8_t flexible_since;
};

static inline bool field_in(const struct field *f, int version)
{
    return version >= f->since && version <= f->until;
}

static inline bool field_nullable_in(const struct field *f, int version)
{
    return version >= f->null_since && version <= f->null_until;
}

static inline bool msg_has_version(const struct msg_desc *d, int version)
{
    return version >= d->min_version && version <= d->max_version;
}

/* Sets a whole message, or an element that is to go into one, to its defaults. */
static inline void struct_init(const struct struct_desc *d, void *obj)
{
    memcpy(obj, d->defaults, d->size);
}

static inline void msg_init(const struct msg_desc *d, void *msg)
{
    struct_init(&d->root, msg);
}
