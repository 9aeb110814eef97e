/*
 * group_records.c - which version of which message is written, and what an old one lacks
 */
#include "broker/group/group_records.h"

#include "common/wire/codec.h"

#include <errno.h>

enum {
    KEY_OFFSET_MAX = 1, /* written */
    KEY_GROUP = 2,
    /* Key and value of an ordinary commit: those are encoded without malloc. */
    ROOM = 1024,
};

static int offset_key_parse(struct slice key, struct arena *a, struct group_key *ret)
{
    struct offset_commit_key m;
    int16_t version;
    int r = codec_decode_versioned(&offset_commit_key_desc, key, a, &version, &m);

    if (r < 0)
        return r;
    *ret = (struct group_key){GROUP_KEY_OFFSET, version, m.group, m.topic, m.partition};
    return 0;
}

static int group_name_parse(struct slice key, struct arena *a, struct group_key *ret)
{
    struct group_metadata_key m;
    int16_t version;
    int r = codec_decode_versioned(&group_metadata_key_desc, key, a, &version, &m);

    if (r < 0)
        return r;
    *ret = (struct group_key){.kind = GROUP_KEY_GROUP, .version = version, .group = m.group};
    return 0;
}

int group_key_parse(struct slice key, struct arena *a, struct group_key *ret)
{
    struct reader r = reader_on(key);
    int16_t version = reader_i16(&r);

    if (r.bad)
        return -EBADMSG;
    if (version >= 0 && version <= KEY_OFFSET_MAX)
        return offset_key_parse(key, a, ret);
    if (version == KEY_GROUP)
        return group_name_parse(key, a, ret);
    *ret = (struct group_key){.kind = GROUP_KEY_UNKNOWN, .version = version};
    return 0;
}

/* A version that is not known is bytes that cannot be read, like any others. */
static int value_decode(const struct msg_desc *d, struct slice value, struct arena *a,
                        int16_t *ret_version, void *ret_msg)
{
    int r = codec_decode_versioned(d, value, a, ret_version, ret_msg);

    return r == -EPROTONOSUPPORT ? -EBADMSG : r;
}

int offset_value_parse(struct slice value, struct arena *a, struct committed *ret)
{
    struct offset_commit_value m;
    int16_t version;
    int r = value_decode(&offset_commit_value_desc, value, a, &version, &m);

    if (r < 0)
        return r;
    *ret = (struct committed){
        .offset = m.offset,
        .leader_epoch = m.leader_epoch,
        .metadata = m.metadata,
        .commit_ms = m.commit_timestamp,
        .expire_ms = m.expire_timestamp,
        .log_offset = -1,
    };
    return 0;
}

int group_value_parse(struct slice value, struct arena *a, struct group_metadata_value *ret)
{
    struct group_metadata_value m;
    int16_t version;
    int r = value_decode(&group_metadata_value_desc, value, a, &version, &m);

    if (r < 0)
        return r;
    if (m.protocol_type.len == 0)
        m.protocol_type = STR_NULL;
    for (int32_t i = 0; version == 0 && i < m.members_count; i++)
        m.members[i].rebalance_timeout = m.members[i].session_timeout;
    *ret = m;
    return 0;
}

static int encode(const struct msg_desc *d, int16_t version, const void *msg, struct arena *a,
                  struct slice *ret)
{
    struct writer w;

    writer_init(&w, a);
    int r = codec_encode_versioned(d, version, msg, &w);
    if (r == 0)
        *ret = writer_flat(&w);
    return r;
}

static int key_encode(const struct group_key *key, struct arena *a, struct slice *ret)
{
    struct offset_commit_key offset = {key->group, key->topic, key->partition};
    struct group_metadata_key group = {key->group};

    assert(key->kind == GROUP_KEY_OFFSET || key->kind == GROUP_KEY_GROUP);
    if (key->kind == GROUP_KEY_OFFSET)
        return encode(&offset_commit_key_desc, KEY_OFFSET_MAX, &offset, a, ret);
    return encode(&group_metadata_key_desc, KEY_GROUP, &group, a, ret);
}

static void add(struct batch_builder *bb, struct slice key, struct slice value, int64_t now_ms)
{
    batch_builder_add(
        bb, &(struct record){
                .offset = bb->last_offset + 1, .timestamp = now_ms, .key = key, .value = value});
}

static int16_t offset_value_version(enum ibp ibp, const struct committed *c)
{
    if (ibp < IBP_2_1_IV0 || c->expire_ms != -1)
        return 1;
    return ibp < IBP_2_1_IV1 ? 2 : 3;
}

int offset_record_add(struct batch_builder *bb, enum ibp ibp, const struct group_key *key,
                      const struct committed *c, int64_t now_ms)
{
    _Alignas(max_align_t) uint8_t room[ROOM];
    CLEANUP(arena_deinit) struct arena a = arena_on(room, sizeof room);
    struct offset_commit_value m = {
        .offset = c->offset,
        .leader_epoch = c->leader_epoch,
        .metadata = c->metadata,
        .commit_timestamp = c->commit_ms,
        .expire_timestamp = c->expire_ms,
    };
    struct slice k, v;

    assert(key->kind == GROUP_KEY_OFFSET);
    int r = key_encode(key, &a, &k);
    if (r == 0)
        r = encode(&offset_commit_value_desc, offset_value_version(ibp, c), &m, &a, &v);
    if (r == 0)
        add(bb, k, v, now_ms);
    return r;
}

static int16_t group_value_version(enum ibp ibp)
{
    if (ibp < IBP_0_10_1_IV0)
        return 0;
    if (ibp < IBP_2_1_IV0)
        return 1;
    return ibp < IBP_2_3_IV0 ? 2 : 3;
}

int group_record_add(struct batch_builder *bb, enum ibp ibp, struct str group,
                     const struct group_metadata_value *value, int64_t now_ms)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct group_key key = {.kind = GROUP_KEY_GROUP, .group = group};
    struct group_metadata_value m = *value;
    struct slice k, v;

    if (str_is_null(m.protocol_type))
        m.protocol_type = STR("");
    int r = key_encode(&key, &a, &k);
    if (r == 0)
        r = encode(&group_metadata_value_desc, group_value_version(ibp), &m, &a, &v);
    if (r == 0)
        add(bb, k, v, now_ms);
    return r;
}

int tombstone_add(struct batch_builder *bb, const struct group_key *key, int64_t now_ms)
{
    _Alignas(max_align_t) uint8_t room[ROOM];
    CLEANUP(arena_deinit) struct arena a = arena_on(room, sizeof room);
    struct slice k;
    int r = key_encode(key, &a, &k);

    if (r == 0)
        add(bb, k, (struct slice){0}, now_ms);
    return r;
}
