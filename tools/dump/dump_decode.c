/*
 * dump_decode.c - keys and values of records as text: plain, and those of the coordinators' topics
 */
#include "common/base/err.h"
#include "common/wire/codec.h"
#include "tools/base/msg_json.h"
#include "tools/dump/dump_log.h"

#include <inttypes.h>

void dump_text_deinit(struct dump_text *t)
{
    strbuf_deinit(&t->key);
    strbuf_deinit(&t->payload);
}

/* ---- plain ---- */

static int add_plain(enum dump_decoder decoder, struct slice bytes, struct strbuf *sb,
                     struct strbuf *why)
{
    size_t want = decoder == DUMP_LONG ? 8 : 4;

    if (decoder == DUMP_TEXT) {
        strbuf_add_str(sb, str_of_slice(bytes));
        return 0;
    }
    if (bytes.len < want) {
        strbuf_addf(why, "a key or value of %zu bytes is no number of %zu", bytes.len, want);
        return -EINVAL;
    }
    if (decoder == DUMP_LONG)
        strbuf_addf(sb, "%" PRId64, (int64_t)be64_read(bytes.p));
    else
        strbuf_addf(sb, "%" PRId32, (int32_t)be32_read(bytes.p));
    return 0;
}

static int decode_plain(const struct dump *d, const struct record *rec, struct dump_text *t,
                        struct strbuf *why)
{
    int r = 0;

    t->has_key = rec->key.p;
    t->has_payload = rec->value.p;
    if (t->has_key)
        r = add_plain(d->key_decoder, rec->key, &t->key, why);
    if (r == 0 && t->has_payload)
        r = add_plain(d->value_decoder, rec->value, &t->payload, why);
    return r;
}

/* ---- __consumer_offsets ---- */

struct decoded {
    const struct msg_desc *desc;
    int16_t version;
    void *msg;
};

static int decode_message(const struct msg_desc *desc, struct slice bytes, struct arena *a,
                          struct decoded *ret)
{
    ret->desc = desc;
    ret->msg = arena_alloc(a, desc->root.size);
    return codec_decode_versioned(desc, bytes, a, &ret->version, ret->msg);
}

/* Subscriptions and assignments of the consumer protocol, where they are that. */
static bool add_member_data(void *ctx, const char *field, struct slice bytes, struct strbuf *sb)
{
    struct arena *a = ctx;
    bool is_subscription = strcmp(field, "subscription") == 0;
    struct decoded data;

    if (!is_subscription && strcmp(field, "assignment") != 0)
        return false;
    if (decode_message(is_subscription ? &consumer_protocol_subscription_desc
                                       : &consumer_protocol_assignment_desc,
                       bytes, a, &data) < 0)
        return false;
    msg_json(data.desc, data.version, data.msg, NULL, sb);
    return true;
}

static void add_value(const struct decoded *v, struct arena *a, struct strbuf *sb)
{
    const struct msg_json_hook hook = {.ctx = a, .bytes = add_member_data};
    const struct group_metadata_value *group = v->msg;
    bool is_consumers =
        v->desc == &group_metadata_value_desc && str_eqz(group->protocol_type, "consumer");

    strbuf_addf(sb, "{\"version\":\"%d\",\"data\":", v->version);
    msg_json(v->desc, v->version, v->msg, is_consumers ? &hook : NULL, sb);
    strbuf_add_char(sb, '}');
}

static void add_key(const struct decoded *k, struct strbuf *sb)
{
    strbuf_addf(sb, "{\"type\":\"%d\",\"data\":", k->version);
    msg_json(k->desc, k->version, k->msg, NULL, sb);
    strbuf_add_char(sb, '}');
}

/* part: "key" or "value". */
static void skip_record(const struct record *rec, const char *part, struct dump_text *t)
{
    struct slice bytes = *part == 'k' ? rec->key : rec->value;

    strbuf_reset(&t->key);
    strbuf_addf(&t->key, "Error at offset %" PRId64 ", skipping. ", rec->offset);
    if (bytes.len < 2)
        strbuf_addf(&t->key, "Could not read version from %s's buffer.", part);
    else
        strbuf_addf(&t->key, "Could not read record with version %d from %s's buffer due to: null.",
                    (int16_t)be16_read(bytes.p), part);
    t->has_payload = false;
}

static void decode_group_record(const struct record *rec, struct arena *a, struct dump_text *t)
{
    int16_t type = rec->key.len >= 2 ? (int16_t)be16_read(rec->key.p) : -1;
    bool is_offset = type == 0 || type == 1;
    struct decoded key, value;

    if (rec->key.len < 2) {
        skip_record(rec, "key", t);
        return;
    }
    if (!is_offset && type != 2) {
        strbuf_addf(&t->key, "Unknown record type %d at offset %" PRId64 ", skipping.", type,
                    rec->offset);
        return;
    }
    if (decode_message(is_offset ? &offset_commit_key_desc : &group_metadata_key_desc, rec->key, a,
                       &key) < 0) {
        skip_record(rec, "key", t);
        return;
    }
    t->has_payload = true;
    if (!rec->value.p)
        strbuf_addz(&t->payload, "<DELETE>");
    else if (decode_message(is_offset ? &offset_commit_value_desc : &group_metadata_value_desc,
                            rec->value, a, &value) < 0) {
        skip_record(rec, "value", t);
        return;
    } else
        add_value(&value, a, &t->payload);
    add_key(&key, &t->key);
}

static int decode_offsets(const struct record *rec, struct dump_text *t, struct strbuf *why)
{
    CLEANUP(arena_deinit) struct arena a = {0};

    if (!rec->key.p) {
        strbuf_addf(why,
                    "Failed to decode message at offset %" PRId64
                    " using offset topic decoder (message had a missing key)",
                    rec->offset);
        return -EINVAL;
    }
    t->has_key = true;
    decode_group_record(rec, &a, t);
    return 0;
}

/* ---- __transaction_state ---- */

static const char *txn_state_name(int8_t state)
{
    static const char *const names[] = {"Empty",        "Ongoing",          "PrepareCommit",
                                        "PrepareAbort", "CompleteCommit",   "CompleteAbort",
                                        "Dead",         "PrepareEpochFence"};

    return state >= 0 && (size_t)state < ARRAY_LEN(names) ? names[state] : "Unknown";
}

static void add_txn_value(const struct transaction_log_value *v, struct strbuf *sb)
{
    const char *between = "";

    strbuf_addf(sb, "producerId:%" PRId64 ",producerEpoch:%d,state=%s,partitions=[", v->producer_id,
                v->producer_epoch, txn_state_name(v->transaction_status));
    for (int32_t i = 0; i < v->transaction_partitions_count; i++) {
        const struct transaction_log_value_transaction_partition *t = &v->transaction_partitions[i];

        for (int32_t j = 0; j < t->partition_ids_count; j++, between = ",")
            strbuf_addf(sb, "%s%.*s-%" PRId32, between, STR_ARG(t->topic), t->partition_ids[j]);
    }
    strbuf_addf(sb, "],txnLastUpdateTimestamp=%" PRId64 ",txnTimeoutMs=%" PRId32,
                v->transaction_last_update_timestamp_ms, v->transaction_timeout_ms);
}

static int decode_transactions(const struct record *rec, struct dump_text *t, struct strbuf *why)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct decoded key, value;

    t->has_key = true;
    if (rec->key.len >= 2 && be16_read(rec->key.p) != 0) {
        strbuf_addf(&t->key, "unknown::version=%d", (int16_t)be16_read(rec->key.p));
        return 0;
    }
    if (decode_message(&transaction_log_key_desc, rec->key, &a, &key) < 0 ||
        (rec->value.p && decode_message(&transaction_log_value_desc, rec->value, &a, &value) < 0)) {
        strbuf_addf(why, "the record at offset %" PRId64 " is none of the transaction log",
                    rec->offset);
        return -EINVAL;
    }
    strbuf_addf(&t->key, "transaction_metadata::transactionalId=%.*s",
                STR_ARG(((struct transaction_log_key *)key.msg)->transactional_id));
    t->has_payload = true;
    if (rec->value.p)
        add_txn_value(value.msg, &t->payload);
    else
        strbuf_addz(&t->payload, "<DELETE>");
    return 0;
}

int dump_decode(const struct dump *d, const struct record *rec, struct dump_text *ret,
                struct strbuf *why)
{
    strbuf_reset(&ret->key);
    strbuf_reset(&ret->payload);
    ret->has_key = ret->has_payload = false;
    if (d->value_decoder == DUMP_OFFSETS)
        return decode_offsets(rec, ret, why);
    if (d->value_decoder == DUMP_TRANSACTIONS)
        return decode_transactions(rec, ret, why);
    return decode_plain(d, rec, ret, why);
}
