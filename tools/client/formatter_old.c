/*
 * formatter_old.c - the coordinators' records as Kafka printed them before 3.9: a line each
 */
#include "common/base/err.h"
#include "common/wire/codec.h"
#include "tools/client/formatter.h"

#include <inttypes.h>

static int underflow(struct strbuf *why)
{
    strbuf_addz(why, "java.nio.BufferUnderflowException");
    return -EINVAL;
}

static int decode(const struct msg_desc *d, struct str bytes, struct arena *a, void **ret,
                  struct strbuf *why)
{
    int16_t version;

    *ret = arena_alloc(a, d->root.size);
    return codec_decode_versioned(d, slice_of_str(bytes), a, &version, *ret) < 0 ? underflow(why)
                                                                                 : 0;
}

/* ---- offsets ---- */

static int print_offset(const struct record_text *rec, struct arena *a, struct strbuf *out,
                        struct strbuf *why)
{
    void *msg;
    int r = decode(&offset_commit_key_desc, rec->key, a, &msg, why);

    if (r < 0)
        return r;
    const struct offset_commit_key *k = msg;
    if (str_is_null(rec->value)) {
        strbuf_addf(out, "[%.*s,%.*s,%" PRId32 "]::NULL\n", STR_ARG(k->group), STR_ARG(k->topic),
                    k->partition);
        return 0;
    }
    r = decode(&offset_commit_value_desc, rec->value, a, &msg, why);
    if (r < 0)
        return r;
    const struct offset_commit_value *v = msg;
    strbuf_addf(out, "[%.*s,%.*s,%" PRId32 "]::OffsetAndMetadata(offset=%" PRId64 ", leaderEpoch=",
                STR_ARG(k->group), STR_ARG(k->topic), k->partition, v->offset);
    if (v->leader_epoch < 0)
        strbuf_addz(out, "Optional.empty");
    else
        strbuf_addf(out, "Optional[%" PRId32 "]", v->leader_epoch);
    strbuf_addf(out, ", metadata=%.*s, commitTimestamp=%" PRId64 ", expireTimestamp=",
                STR_ARG(v->metadata), v->commit_timestamp);
    if (v->expire_timestamp < 0)
        strbuf_addz(out, "None)\n");
    else
        strbuf_addf(out, "Some(%" PRId64 "))\n", v->expire_timestamp);
    return 0;
}

/* ---- groups ---- */

static void add_option(struct strbuf *out, struct str s)
{
    if (str_is_null(s))
        strbuf_addz(out, "None");
    else
        strbuf_addf(out, "Some(%.*s)", STR_ARG(s));
}

static void add_member(struct strbuf *out, const struct group_metadata_value *g,
                       const struct group_metadata_value_member *m)
{
    strbuf_addf(out,
                "%.*s -> MemberMetadata(memberId=%.*s, groupInstanceId=", STR_ARG(m->member_id),
                STR_ARG(m->member_id));
    add_option(out, m->group_instance_id);
    strbuf_addf(out,
                ", clientId=%.*s, clientHost=%.*s, sessionTimeoutMs=%" PRId32
                ", rebalanceTimeoutMs=%" PRId32 ", supportedProtocols=List(%.*s))",
                STR_ARG(m->client_id), STR_ARG(m->client_host), m->session_timeout,
                m->rebalance_timeout < 0 ? m->session_timeout : m->rebalance_timeout,
                STR_ARG(g->protocol));
}

static int print_group(const struct record_text *rec, struct arena *a, struct strbuf *out,
                       struct strbuf *why)
{
    void *msg;
    int r = decode(&group_metadata_key_desc, rec->key, a, &msg, why);

    if (r < 0)
        return r;
    struct str name = ((const struct group_metadata_key *)msg)->group;
    if (str_is_null(rec->value)) {
        strbuf_addf(out, "%.*s::NULL\n", STR_ARG(name));
        return 0;
    }
    r = decode(&group_metadata_value_desc, rec->value, a, &msg, why);
    if (r < 0)
        return r;
    const struct group_metadata_value *g = msg;
    strbuf_addf(out, "%.*s::GroupMetadata(groupId=%.*s, generation=%" PRId32 ", protocolType=",
                STR_ARG(name), STR_ARG(name), g->generation);
    add_option(out, g->protocol_type.len ? g->protocol_type : STR_NULL);
    strbuf_addf(out, ", currentState=%s, members=HashMap(", g->members_count ? "Stable" : "Empty");
    for (int32_t i = 0; i < g->members_count; i++) {
        strbuf_addz(out, i ? ", " : "");
        add_member(out, g, &g->members[i]);
    }
    strbuf_addz(out, "))\n");
    return 0;
}

/* ---- transactions ---- */

static void add_transaction(struct strbuf *out, struct str name,
                            const struct transaction_log_value *v)
{
    static const char *const states[] = {"Empty",        "Ongoing",          "PrepareCommit",
                                         "PrepareAbort", "CompleteCommit",   "CompleteAbort",
                                         "Dead",         "PrepareEpochFence"};
    size_t state = (uint8_t)v->transaction_status;
    const char *between = "";

    strbuf_addf(out,
                "TransactionMetadata(transactionalId=%.*s, producerId=%" PRId64
                ", producerEpoch=%d, txnTimeoutMs=%" PRId32
                ", state=%s, pendingState=None, topicPartitions=HashSet(",
                STR_ARG(name), v->producer_id, v->producer_epoch, v->transaction_timeout_ms,
                state < ARRAY_LEN(states) ? states[state] : "Unknown");
    for (int32_t i = 0; i < v->transaction_partitions_count; i++) {
        const struct transaction_log_value_transaction_partition *t = &v->transaction_partitions[i];

        for (int32_t j = 0; j < t->partition_ids_count; j++, between = ", ")
            strbuf_addf(out, "%s%.*s-%" PRId32, between, STR_ARG(t->topic), t->partition_ids[j]);
    }
    strbuf_addf(out, "), txnStartTimestamp=%" PRId64 ", txnLastUpdateTimestamp=%" PRId64 ")",
                v->transaction_start_timestamp_ms, v->transaction_last_update_timestamp_ms);
}

static int print_transaction(const struct record_text *rec, struct arena *a, struct strbuf *out,
                             struct strbuf *why)
{
    int16_t version = (int16_t)be16_read(rec->key.p);
    void *msg;

    if (version != 0) {
        strbuf_addf(out, "unknown::version=%d\n", version);
        return 0;
    }
    int r = decode(&transaction_log_key_desc, rec->key, a, &msg, why);
    if (r < 0)
        return r;
    struct str name = ((const struct transaction_log_key *)msg)->transactional_id;
    r = str_is_null(rec->value) ? 0 : decode(&transaction_log_value_desc, rec->value, a, &msg, why);
    if (r < 0)
        return r;
    strbuf_addf(out, "%.*s::", STR_ARG(name));
    if (str_is_null(rec->value))
        strbuf_addz(out, "NULL");
    else
        add_transaction(out, name, msg);
    strbuf_add_char(out, '\n');
    return 0;
}

int formatter_print_old(enum record_kind kind, const struct record_text *rec, struct strbuf *out,
                        struct strbuf *why)
{
    CLEANUP(arena_deinit) struct arena a = {0};

    if (str_is_null(rec->key))
        return 0;
    if (rec->key.len < 2)
        return underflow(why);
    int16_t version = (int16_t)be16_read(rec->key.p);
    if (kind == RECORD_TRANSACTIONS)
        return print_transaction(rec, &a, out, why);
    if (kind == RECORD_OFFSETS && (version == 0 || version == 1))
        return print_offset(rec, &a, out, why);
    return kind == RECORD_GROUPS && version == 2 ? print_group(rec, &a, out, why) : 0;
}
