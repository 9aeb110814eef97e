/*
 * test_group_records.c - the bytes of disk.md 16.7, every version that is written or read, and what
 * is refused
 */
#include "broker/group/group_records.h"

#include "tests/support/random_batch.h"
#include "tests/support/test_main.h"

#include <errno.h>

static const int64_t NOW = 1700000000000;

#define KEY_OFFSET "00 01 00 02 67 31 00 01 74 00 00 00 03"
#define KEY_GROUP  "00 02 00 02 67 31"
#define AT_NOW     "00 00 01 8b cf e5 68 00"

static struct arena a;

static const struct group_key offset_key = {
    GROUP_KEY_OFFSET, 1, {"g1", 2}, {"t", 1}, 3,
};
static const struct group_key group_key = {.kind = GROUP_KEY_GROUP, .version = 2, {"g1", 2}};

static const struct committed plain = {
    .offset = 42,
    .leader_epoch = 7,
    .metadata = {"", 0},
    .commit_ms = 1700000000000,
    .expire_ms = -1,
};

static struct group_metadata_value_member member = {
    .member_id = STR("m"),
    .group_instance_id = STR("i"),
    .client_id = STR("c"),
    .client_host = STR("/h"),
    .rebalance_timeout = 60000,
    .session_timeout = 10000,
    .subscription = {(const uint8_t *)"s", 1},
    .assignment = {(const uint8_t *)"a", 1},
};

static struct group_metadata_value stable = {
    .protocol_type = STR("consumer"),
    .generation = 5,
    .protocol = STR("range"),
    .leader = STR("m"),
    .current_state_timestamp = 1700000000000,
    .members = &member,
    .members_count = 1,
};

static struct slice hex(const char *text)
{
    return hex_bytes(&a, text);
}

static void assert_hex(struct slice got, const char *want)
{
    struct slice w = hex(want);

    ck_assert_uint_eq(got.len, w.len);
    ck_assert(memcmp(got.p, w.p, w.len) == 0);
}

static void begin(struct batch_builder *bb, int64_t base)
{
    struct batch_opts opts = BATCH_OPTS_PLAIN;

    opts.base_offset = base;
    opts.base_sequence = 0;
    batch_builder_init(bb, &opts);
}

/* The batch's records, each with its offset; they lie in the arena. */
static int32_t finish(struct batch_builder *bb, struct record *ret, int32_t max)
{
    CLEANUP(strbuf_deinit) struct strbuf out = {0};

    ck_assert_int_eq(batch_builder_finish(bb, &out), 0);
    struct str bytes = arena_str(&a, strbuf_str(&out));
    struct batch b = only_batch(slice_of_str(bytes));
    struct slice rest = batch_payload(&b);
    int32_t n = batch_count(&b);

    ck_assert_int_le(n, max);
    for (int32_t i = 0; i < n; i++) {
        ck_assert_int_eq(record_next(&rest, &ret[i]), 0);
        ret[i].offset = record_offset(&b, &ret[i]);
        ret[i].timestamp = record_timestamp(&b, &ret[i]);
    }
    batch_builder_deinit(bb);
    return n;
}

static struct record only(struct batch_builder *bb)
{
    struct record rec;

    ck_assert_int_eq(finish(bb, &rec, 1), 1);
    return rec;
}

static struct record offset_record(enum ibp ibp, const struct committed *c)
{
    struct batch_builder bb;

    begin(&bb, 0);
    ck_assert_int_eq(offset_record_add(&bb, ibp, &offset_key, c, NOW), 0);
    return only(&bb);
}

static struct record group_record(enum ibp ibp, const struct group_metadata_value *v)
{
    struct batch_builder bb;

    begin(&bb, 0);
    ck_assert_int_eq(group_record_add(&bb, ibp, STR("g1"), v, NOW), 0);
    return only(&bb);
}

START_TEST(golden_bytes)
{
    struct record rec = offset_record(IBP_3_9_IV0, &plain);

    assert_hex(rec.key, KEY_OFFSET);
    assert_hex(rec.value, "00 03 00 00 00 00 00 00 00 2a 00 00 00 07 00 00 " AT_NOW);
    ck_assert_int_eq(rec.timestamp, NOW);
    rec = group_record(IBP_3_9_IV0, &stable);
    assert_hex(rec.key, KEY_GROUP);
    arena_deinit(&a);
}
END_TEST

#define OFFSET_V1 "00 01 00 00 00 00 00 00 00 2a 00 00 " AT_NOW
#define OFFSET_V2 "00 02 00 00 00 00 00 00 00 2a 00 00 " AT_NOW
#define OFFSET_V3 "00 03 00 00 00 00 00 00 00 2a 00 00 00 07 00 00 " AT_NOW
#define NO_EXPIRY "ff ff ff ff ff ff ff ff"

START_TEST(offset_is_written_as_the_protocol_version_allows)
{
    static const struct {
        enum ibp ibp;
        const char *hex;
    } cases[] = {
        {IBP_0_8_0, OFFSET_V1 NO_EXPIRY}, {IBP_2_0_IV1, OFFSET_V1 NO_EXPIRY},
        {IBP_2_1_IV0, OFFSET_V2},         {IBP_2_1_IV1, OFFSET_V3},
        {IBP_3_9_IV0, OFFSET_V3},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_hex(offset_record(cases[i].ibp, &plain).value, cases[i].hex);
    arena_deinit(&a);
}
END_TEST

START_TEST(expiry_of_the_client_costs_the_leader_epoch)
{
    struct committed c = plain, back;

    c.expire_ms = 1700000000000;
    for (enum ibp ibp = IBP_2_0_IV1; ibp <= IBP_3_9_IV0; ibp++) {
        struct record rec = offset_record(ibp, &c);

        assert_hex(rec.value, OFFSET_V1 AT_NOW);
        ck_assert_int_eq(offset_value_parse(rec.value, &a, &back), 0);
        ck_assert_int_eq(back.expire_ms, NOW);
        ck_assert_int_eq(back.leader_epoch, -1);
    }
    arena_deinit(&a);
}
END_TEST

#define TYPE_TO_LEADER "00 08 63 6f 6e 73 75 6d 65 72 00 00 00 05 00 05 72 61 6e 67 65 00 01 6d "
#define CLIENT         "00 01 63 00 02 2f 68 "
#define REST           "00 00 27 10 00 00 00 01 73 00 00 00 01 61"
#define TIMEOUT        "00 00 ea 60 "
#define GROUP_V0       "00 00 " TYPE_TO_LEADER "00 00 00 01 00 01 6d " CLIENT REST
#define GROUP_V1       "00 01 " TYPE_TO_LEADER "00 00 00 01 00 01 6d " CLIENT TIMEOUT REST
#define GROUP_V2       "00 02 " TYPE_TO_LEADER AT_NOW " 00 00 00 01 00 01 6d " CLIENT TIMEOUT REST
#define GROUP_V3                                                                                   \
    "00 03 " TYPE_TO_LEADER AT_NOW " 00 00 00 01 00 01 6d 00 01 69 " CLIENT TIMEOUT REST

START_TEST(group_is_written_as_the_protocol_version_allows)
{
    static const struct {
        enum ibp ibp;
        const char *hex;
    } cases[] = {
        {IBP_0_8_0, GROUP_V0},   {IBP_0_10_0_IV1, GROUP_V0}, {IBP_0_10_1_IV0, GROUP_V1},
        {IBP_2_0_IV1, GROUP_V1}, {IBP_2_1_IV0, GROUP_V2},    {IBP_2_2_IV1, GROUP_V2},
        {IBP_2_3_IV0, GROUP_V3}, {IBP_3_9_IV0, GROUP_V3},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct record rec = group_record(cases[i].ibp, &stable);

        assert_hex(rec.key, KEY_GROUP);
        assert_hex(rec.value, cases[i].hex);
    }
    arena_deinit(&a);
}
END_TEST

START_TEST(group_is_read_in_every_version)
{
    static const char *const values[] = {GROUP_V0, GROUP_V1, GROUP_V2, GROUP_V3};

    for (int v = 0; v < (int)ARRAY_LEN(values); v++) {
        struct group_metadata_value g;

        ck_assert_int_eq(group_value_parse(hex(values[v]), &a, &g), 0);
        ck_assert(str_eqz(g.protocol_type, "consumer") && str_eqz(g.protocol, "range"));
        ck_assert(str_eqz(g.leader, "m") && g.generation == 5 && g.members_count == 1);
        ck_assert_int_eq(g.current_state_timestamp, v >= 2 ? NOW : -1);
        const struct group_metadata_value_member *m = g.members;
        ck_assert(str_eqz(m->member_id, "m") && str_eqz(m->client_host, "/h"));
        ck_assert(v >= 3 ? str_eqz(m->group_instance_id, "i") : str_is_null(m->group_instance_id));
        ck_assert_int_eq(m->rebalance_timeout, v == 0 ? 10000 : 60000);
        ck_assert_int_eq(m->session_timeout, 10000);
        ck_assert(slice_eq(m->subscription, member.subscription));
        ck_assert(slice_eq(m->assignment, member.assignment));
    }
    arena_deinit(&a);
}
END_TEST

/* Version 4 is only read: nothing but the encoding differs from 3, and unknown tags are skipped. */
START_TEST(flexible_versions_are_read)
{
    struct committed c;
    struct group_metadata_value g;

    ck_assert_int_eq(
        offset_value_parse(
            hex("00 04 00 00 00 00 00 00 00 2a 00 00 00 07 03 6d 64 " AT_NOW " 01 00 02 aa bb"), &a,
            &c),
        0);
    ck_assert(c.offset == 42 && c.leader_epoch == 7 && c.commit_ms == NOW && c.expire_ms == -1);
    ck_assert(str_eqz(c.metadata, "md"));
    ck_assert_int_eq(
        group_value_parse(hex("00 04 09 63 6f 6e 73 75 6d 65 72 00 00 00 05 00 00 " AT_NOW " 02 "
                              "02 6d 00 02 63 03 2f 68 " TIMEOUT "00 00 27 10 02 73 02 61 00 00"),
                          &a, &g),
        0);
    ck_assert(str_eqz(g.protocol_type, "consumer") && str_is_null(g.protocol));
    ck_assert(str_is_null(g.leader) && g.members_count == 1);
    ck_assert_int_eq(g.members[0].rebalance_timeout, 60000);
    arena_deinit(&a);
}
END_TEST

START_TEST(offset_is_read_in_every_old_version)
{
    static const struct {
        const char *hex;
        int32_t leader_epoch;
        int64_t expire_ms;
    } cases[] = {
        {"00 00 00 00 00 00 00 00 00 2a 00 02 6d 64 " AT_NOW, -1, -1},
        {"00 01 00 00 00 00 00 00 00 2a 00 02 6d 64 " AT_NOW " " NO_EXPIRY, -1, -1},
        {"00 01 00 00 00 00 00 00 00 2a 00 02 6d 64 " AT_NOW " 00 00 00 00 00 00 00 09", -1, 9},
        {"00 02 00 00 00 00 00 00 00 2a 00 02 6d 64 " AT_NOW, -1, -1},
        {"00 03 00 00 00 00 00 00 00 2a 00 00 00 07 00 02 6d 64 " AT_NOW, 7, -1},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct committed c;

        ck_assert_int_eq(offset_value_parse(hex(cases[i].hex), &a, &c), 0);
        ck_assert(c.offset == 42 && str_eqz(c.metadata, "md") && c.commit_ms == NOW);
        ck_assert_int_eq(c.leader_epoch, cases[i].leader_epoch);
        ck_assert_int_eq(c.expire_ms, cases[i].expire_ms);
    }
    arena_deinit(&a);
}
END_TEST

START_TEST(group_without_a_protocol_type_is_written_as_empty_text)
{
    struct group_metadata_value none = {.generation = 1, .current_state_timestamp = -1}, back;
    struct record rec = group_record(IBP_3_9_IV0, &none);

    assert_hex(rec.value, "00 03 00 00 00 00 00 01 ff ff ff ff " NO_EXPIRY " 00 00 00 00");
    ck_assert_int_eq(group_value_parse(rec.value, &a, &back), 0);
    ck_assert(str_is_null(back.protocol_type) && str_is_null(back.protocol));
    ck_assert(str_is_null(back.leader) && back.members_count == 0);
    arena_deinit(&a);
}
END_TEST

START_TEST(keys_are_told_apart_by_their_version)
{
    struct group_key k;

    ck_assert_int_eq(group_key_parse(hex(KEY_OFFSET), &a, &k), 0);
    ck_assert(k.kind == GROUP_KEY_OFFSET && k.version == 1 && k.partition == 3);
    ck_assert(str_eqz(k.group, "g1") && str_eqz(k.topic, "t"));
    ck_assert_int_eq(group_key_parse(hex("00 00 00 00 00 01 74 ff ff ff ff"), &a, &k), 0);
    ck_assert(k.kind == GROUP_KEY_OFFSET && k.version == 0 && k.partition == -1);
    ck_assert(str_eq(k.group, STR("")));
    ck_assert_int_eq(group_key_parse(hex(KEY_GROUP), &a, &k), 0);
    ck_assert(k.kind == GROUP_KEY_GROUP && k.version == 2 && str_eqz(k.group, "g1"));
    static const char *const unknown[] = {"00 03", "00 05 00 02 67 31", "7f ff", "ff ff", "80 00"};
    for (size_t i = 0; i < ARRAY_LEN(unknown); i++) {
        ck_assert_int_eq(group_key_parse(hex(unknown[i]), &a, &k), 0);
        ck_assert_int_eq(k.kind, GROUP_KEY_UNKNOWN);
    }
    ck_assert_int_eq(k.version, -32768);
    arena_deinit(&a);
}
END_TEST

START_TEST(broken_bytes_are_told)
{
    static const char *const whole[] = {KEY_OFFSET, KEY_GROUP, OFFSET_V3, GROUP_V3};
    struct group_key k;
    struct committed c;
    struct group_metadata_value g;

    ck_assert_int_eq(group_key_parse((struct slice){0}, &a, &k), -EBADMSG);
    ck_assert_int_eq(offset_value_parse((struct slice){0}, &a, &c), -EBADMSG);
    ck_assert_int_eq(group_value_parse((struct slice){0}, &a, &g), -EBADMSG);
    for (size_t i = 0; i < ARRAY_LEN(whole); i++) {
        struct slice s = hex(whole[i]);

        for (size_t cut = 1; cut <= s.len; cut++) {
            struct slice part = slice_sub(s, 0, s.len - cut);
            int r = i < 2    ? group_key_parse(part, &a, &k)
                    : i == 2 ? offset_value_parse(part, &a, &c)
                             : group_value_parse(part, &a, &g);
            ck_assert_int_eq(r, -EBADMSG);
        }
    }
    static const char *const version[] = {"00 05", "ff ff"};
    for (size_t i = 0; i < ARRAY_LEN(version); i++) {
        ck_assert_int_eq(offset_value_parse(hex(version[i]), &a, &c), -EBADMSG);
        ck_assert_int_eq(group_value_parse(hex(version[i]), &a, &g), -EBADMSG);
    }
    arena_deinit(&a);
}
END_TEST

START_TEST(records_of_a_batch_get_offsets_in_a_row)
{
    struct batch_builder bb;
    struct record recs[4];

    begin(&bb, 100);
    ck_assert_int_eq(offset_record_add(&bb, IBP_3_9_IV0, &offset_key, &plain, NOW), 0);
    ck_assert_int_eq(tombstone_add(&bb, &offset_key, NOW + 1), 0);
    ck_assert_int_eq(group_record_add(&bb, IBP_3_9_IV0, STR("g1"), &stable, NOW + 2), 0);
    ck_assert_int_eq(tombstone_add(&bb, &group_key, NOW + 3), 0);
    ck_assert_int_eq(finish(&bb, recs, 4), 4);
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(recs[i].offset, 100 + i);
        ck_assert_int_eq(recs[i].timestamp, NOW + i);
        ck_assert_int_eq(recs[i].header_count, 0);
        assert_hex(recs[i].key, i < 2 ? KEY_OFFSET : KEY_GROUP);
        ck_assert_int_eq(recs[i].value.p == NULL, i % 2);
    }
    arena_deinit(&a);
}
END_TEST

START_TEST(text_that_is_too_long_adds_nothing)
{
    struct batch_builder bb;
    struct committed c = plain;
    struct group_metadata_value g = stable;
    struct group_key key = offset_key;
    static char text[32768];

    memset(text, 'x', sizeof text);
    begin(&bb, 0);
    c.metadata = (struct str){text, sizeof text};
    ck_assert_int_eq(offset_record_add(&bb, IBP_3_9_IV0, &offset_key, &c, NOW), -EINVAL);
    g.leader = c.metadata;
    ck_assert_int_eq(group_record_add(&bb, IBP_3_9_IV0, STR("g1"), &g, NOW), -EINVAL);
    key.group = c.metadata;
    ck_assert_int_eq(tombstone_add(&bb, &key, NOW), -EINVAL);
    ck_assert_int_eq(bb.count, 0);
    c.metadata.len--;
    ck_assert_int_eq(offset_record_add(&bb, IBP_3_9_IV0, &offset_key, &c, NOW), 0);
    struct record rec = only(&bb);
    ck_assert_int_eq(offset_value_parse(rec.value, &a, &c), 0);
    ck_assert_uint_eq(c.metadata.len, 32767);
    arena_deinit(&a);
}
END_TEST

TEST_MAIN("broker/group/group_records", golden_bytes,
          offset_is_written_as_the_protocol_version_allows,
          expiry_of_the_client_costs_the_leader_epoch,
          group_is_written_as_the_protocol_version_allows, group_is_read_in_every_version,
          flexible_versions_are_read, offset_is_read_in_every_old_version,
          group_without_a_protocol_type_is_written_as_empty_text,
          keys_are_told_apart_by_their_version, broken_bytes_are_told,
          records_of_a_batch_get_offsets_in_a_row, text_that_is_too_long_adds_nothing)
