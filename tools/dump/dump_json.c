/*
 * dump_json.c - what is in the files of a partition as JSON: an object a line, each with its file
 * and what it is
 */
#include "common/record/record_iter.h"
#include "tools/dump/dump_log.h"

#include <jansson.h>
#include <stdio.h>

static void put(json_t *o)
{
    json_dumpf(o, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(o);
}

static json_t *start(const struct dump_file *f, const char *type)
{
    return json_pack("{s:s, s:s}", "file", f->path, "type", type);
}

static void set(json_t *o, const char *name, int64_t n)
{
    json_object_set_new(o, name, json_integer(n));
}

/* What is no UTF-8 cannot stand in JSON: the text is null then. */
static void set_text(json_t *o, const char *name, struct str text)
{
    json_t *v = json_stringn(text.p ? text.p : "", text.len);

    json_object_set_new(o, name, v ? v : json_null());
}

void dump_json_numbers(const struct dump_file *f, const char *type, const struct dump_number *v,
                       size_t count)
{
    json_t *o = start(f, type);

    for (size_t i = 0; i < count; i++)
        set(o, v[i].name, v[i].value);
    put(o);
}

static void set_v2(json_t *o, const struct batch *b)
{
    set(o, "base_offset", batch_base_offset(b));
    set(o, "count", batch_count(b));
    set(o, "base_sequence", batch_base_sequence(b));
    set(o, "last_sequence", batch_last_sequence(b));
    set(o, "producer_id", batch_producer_id(b));
    set(o, "producer_epoch", batch_producer_epoch(b));
    set(o, "partition_leader_epoch", batch_leader_epoch(b));
    json_object_set_new(o, "is_transactional", json_boolean(batch_is_transactional(b)));
    json_object_set_new(o, "is_control", json_boolean(batch_is_control(b)));
    if (batch_has_delete_horizon(b))
        set(o, "delete_horizon_ms", batch_base_timestamp(b));
}

void dump_json_batch(const struct dump_file *f, const struct batch *b, uint64_t pos)
{
    json_t *o = start(f, "batch");

    if (batch_is_v2(b))
        set_v2(o, b);
    set(o, "last_offset", batch_last_offset(b));
    set(o, "position", (int64_t)pos);
    set(o, "max_timestamp", batch_max_timestamp(b));
    set(o, "size", b->size);
    set(o, "magic", b->magic);
    set_text(o, "compression", str_of(compression_name(batch_codec(b))));
    set(o, "crc", batch_crc(b));
    json_object_set_new(o, "is_valid", json_boolean(batch_is_valid(b)));
    put(o);
}

static json_t *header_keys(const struct record *rec)
{
    json_t *list = json_array();
    struct slice rest = rec->headers;
    struct record_header h;

    for (int32_t i = 0; i < rec->header_count && record_header_next(&rest, &h) == 0; i++) {
        json_t *key = json_stringn(h.key.p, h.key.len);
        json_array_append_new(list, key ? key : json_null());
    }
    return list;
}

void dump_json_record(const struct dump_file *f, const struct record_iter *it,
                      const struct record *rec, const struct dump_text *text)
{
    json_t *o = start(f, "record");

    set(o, "offset", rec->offset);
    set(o, "timestamp", rec->timestamp);
    set(o, "key_size", rec->key.p ? (int64_t)rec->key.len : -1);
    set(o, "value_size", rec->value.p ? (int64_t)rec->value.len : -1);
    if (batch_is_v2(&it->batch))
        json_object_set_new(o, "header_keys", header_keys(rec));
    if (text && text->has_key)
        set_text(o, "key", strbuf_str(&text->key));
    if (text && text->has_payload)
        set_text(o, "payload", strbuf_str(&text->payload));
    put(o);
}
