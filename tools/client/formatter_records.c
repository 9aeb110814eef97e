/*
 * formatter_records.c - the records of __consumer_offsets and __transaction_state as JSON
 */
#include "common/base/err.h"
#include "common/wire/codec.h"
#include "tools/base/msg_json.h"
#include "tools/client/formatter.h"

/* Which key versions a topic has, and what they and their values are. */
struct stored {
    int16_t low, high;
    const struct msg_desc *key, *value;
};

static const struct stored stored[] = {
    [RECORD_OFFSETS] = {0, 1, &offset_commit_key_desc, &offset_commit_value_desc},
    [RECORD_GROUPS] = {2, 2, &group_metadata_key_desc, &group_metadata_value_desc},
    [RECORD_TRANSACTIONS] = {0, 0, &transaction_log_key_desc, &transaction_log_value_desc},
};

/* Keys of __consumer_offsets that are of the other kind are passed over, others are "unknown". */
static bool is_other_kind(enum record_kind kind, int16_t version)
{
    return kind != RECORD_TRANSACTIONS && version >= 0 && version <= 2 &&
           (version < stored[kind].low || version > stored[kind].high);
}

/* {"version":V,"data":...} */
static int add_part(const struct msg_desc *d, bool is_known, struct str bytes, struct strbuf *out,
                    struct strbuf *why)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    int16_t version = (int16_t)be16_read(bytes.p);

    strbuf_addf(out, "{\"version\":%d,\"data\":", version);
    if (!is_known || version < d->min_version || version > d->max_version) {
        strbuf_addz(out, "\"unknown\"}");
        return 0;
    }
    void *msg = arena_alloc(&a, d->root.size);
    if (codec_decode_versioned(d, slice_of_str(bytes), &a, &version, msg) < 0) {
        strbuf_addz(why, "java.nio.BufferUnderflowException");
        return -EINVAL;
    }
    msg_json(d, version, msg, NULL, out);
    strbuf_add_char(out, '}');
    return 0;
}

static int add_value(const struct stored *s, struct str value, struct strbuf *out,
                     struct strbuf *why)
{
    if (!str_is_null(value))
        return add_part(s->value, true, value, out, why);
    strbuf_addz(out, "null");
    return 0;
}

int formatter_print_stored(enum record_kind kind, const struct record_text *rec, struct strbuf *out,
                           struct strbuf *why)
{
    const struct stored *s = &stored[kind];
    size_t before = out->len;

    if ((!str_is_null(rec->key) && rec->key.len < 2) ||
        (!str_is_null(rec->value) && rec->value.len < 2)) {
        strbuf_addz(why, "java.nio.BufferUnderflowException");
        return -EINVAL;
    }
    if (str_is_null(rec->key))
        return 0;
    int16_t version = (int16_t)be16_read(rec->key.p);
    if (is_other_kind(kind, version))
        return 0;
    strbuf_addz(out, "{\"key\":");
    int r = add_part(s->key, version >= s->low && version <= s->high, rec->key, out, why);
    strbuf_addz(out, ",\"value\":");
    r = r < 0 ? r : add_value(s, rec->value, out, why);
    strbuf_add_char(out, '}');
    if (r < 0)
        strbuf_cut(out, before); /* the object is printed whole or not at all */
    return r;
}
