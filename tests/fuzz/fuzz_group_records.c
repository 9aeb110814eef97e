/*
 * fuzz_group_records.c - arbitrary keys and values of __consumer_offsets; the first byte chooses
 *
 * What is understood, written as a record by the newest protocol version and read again, is the
 * same; what is not is -EBADMSG, and no more.
 */
#include "broker/group/group_records.h"

#include "common/record/batch.h"

#include <errno.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct group_key some_key = {.kind = GROUP_KEY_OFFSET, .group = {"g", 1}, {"t", 1}, 1};

/* The one record that was added. Its bytes lie in out. */
static struct record finish(struct batch_builder *bb, struct strbuf *out)
{
    struct record rec;
    int r = batch_builder_finish(bb, out);

    assert(r == 0);
    struct slice rest = slice_of_str(strbuf_str(out));
    struct batch b;
    r = batch_next(&rest, &b);
    assert(r == 1 && rest.len == 0 && batch_count(&b) == 1);
    rest = batch_payload(&b);
    r = record_next(&rest, &rec);
    assert(r == 0 && rest.len == 0);
    return rec;
}

static void fuzz_key(struct slice in, struct arena *a, struct batch_builder *bb, struct strbuf *out)
{
    struct group_key k, again;
    int r = group_key_parse(in, a, &k);

    assert(r == 0 || r == -EBADMSG);
    if (r < 0 || k.kind == GROUP_KEY_UNKNOWN)
        return;
    r = tombstone_add(bb, &k, 0);
    assert(r == 0);
    struct record rec = finish(bb, out);
    assert(!rec.value.p);
    r = group_key_parse(rec.key, a, &again);
    assert(r == 0 && again.kind == k.kind && str_eq(again.group, k.group));
    assert(k.kind != GROUP_KEY_OFFSET || str_eq(again.topic, k.topic));
    assert(again.partition == k.partition);
}

static void fuzz_offset(struct slice in, struct arena *a, struct batch_builder *bb,
                        struct strbuf *out)
{
    struct committed c, again;
    int r = offset_value_parse(in, a, &c);

    assert(r == 0 || r == -EBADMSG);
    if (r < 0)
        return;
    assert(!str_is_null(c.metadata));
    r = offset_record_add(bb, IBP_3_9_IV0, &some_key, &c, 0);
    /* Version 4 can say texts that no version we write can. */
    assert(r == 0 || (r == -EINVAL && c.metadata.len > INT16_MAX));
    if (r < 0)
        return;
    r = offset_value_parse(finish(bb, out).value, a, &again);
    assert(r == 0 && again.offset == c.offset && again.commit_ms == c.commit_ms);
    assert(str_eq(again.metadata, c.metadata) && again.expire_ms == c.expire_ms);
    assert(again.leader_epoch == (c.expire_ms == -1 ? c.leader_epoch : -1));
}

static bool fits(struct str s)
{
    return s.len <= INT16_MAX;
}

static bool is_writable(const struct group_metadata_value *g)
{
    bool ok = fits(g->protocol_type) && fits(g->protocol) && fits(g->leader);

    for (int32_t i = 0; i < g->members_count; i++) {
        const struct group_metadata_value_member *m = &g->members[i];
        ok = ok && fits(m->member_id) && fits(m->group_instance_id) && fits(m->client_id) &&
             fits(m->client_host);
    }
    return ok;
}

static void fuzz_group(struct slice in, struct arena *a, struct batch_builder *bb,
                       struct strbuf *out)
{
    struct group_metadata_value g, again;
    int r = group_value_parse(in, a, &g);

    assert(r == 0 || r == -EBADMSG);
    if (r < 0)
        return;
    r = group_record_add(bb, IBP_3_9_IV0, STR("g"), &g, 0);
    assert(r == 0 ? is_writable(&g) : r == -EINVAL && !is_writable(&g));
    if (r < 0)
        return;
    r = group_value_parse(finish(bb, out).value, a, &again);
    assert(r == 0 && again.generation == g.generation && again.members_count == g.members_count);
    assert(str_eq(again.protocol_type, g.protocol_type) && str_eq(again.protocol, g.protocol));
    assert(str_eq(again.leader, g.leader));
    assert(again.current_state_timestamp == g.current_state_timestamp);
    for (int32_t i = 0; i < g.members_count; i++) {
        assert(str_eq(again.members[i].member_id, g.members[i].member_id));
        assert(again.members[i].rebalance_timeout == g.members[i].rebalance_timeout);
        assert(again.members[i].assignment.len == g.members[i].assignment.len);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const targets[])(struct slice, struct arena *, struct batch_builder *,
                                   struct strbuf *) = {fuzz_key, fuzz_offset, fuzz_group};
    CLEANUP(arena_deinit) struct arena a = {0};
    CLEANUP(strbuf_deinit) struct strbuf out = {0};
    CLEANUP(batch_builder_deinit) struct batch_builder bb;

    batch_builder_init(&bb, &(struct batch_opts)BATCH_OPTS_PLAIN);
    if (size > 0)
        targets[data[0] % ARRAY_LEN(targets)](slice_of(data + 1, size - 1), &a, &bb, &out);
    return 0;
}
