/*
 * test_codec.c - round trips of random messages over every type and version, and malformed input
 */
#include "common/wire/codec.h"

#include "common/base/mem.h"
#include "tests/support/random_msg.h"
#include "tests/support/test_main.h"

#include <errno.h>

enum { ROUNDS = 30 };

static struct slice encoded(const struct msg_desc *d, int16_t v, const void *msg, struct arena *a)
{
    struct writer w;

    writer_init(&w, a);
    ck_assert_int_eq(codec_encode(d, v, msg, &w), 0);
    return writer_flat(&w);
}

static void assert_bytes_eq(struct slice a, struct slice b)
{
    ck_assert_uint_eq(a.len, b.len);
    ck_assert(a.len == 0 || memcmp(a.p, b.p, a.len) == 0);
}

static void assert_prints_eq(const struct msg_desc *d, int16_t v, const void *a, const void *b)
{
    CLEANUP(strbuf_deinit) struct strbuf sa = {0};
    CLEANUP(strbuf_deinit) struct strbuf sb = {0};

    codec_print(d, v, a, &sa);
    codec_print(d, v, b, &sb);
    ck_assert_str_eq(sa.s, sb.s);
}

static void round_trip(const struct msg_desc *d, int16_t v, struct random_source *r)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    void *out = arena_alloc(&a, d->root.size), *back = arena_alloc(&a, d->root.size);

    random_msg(d, v, r, &a, out);
    struct slice bytes = encoded(d, v, out, &a);
    ck_assert_int_eq(codec_size(d, v, out), (ssize_t)bytes.len);
    struct reader rd = reader_on(bytes);
    ck_assert_int_eq(codec_read(d, v, &rd, &a, back), 0);
    ck_assert_uint_eq(reader_left(&rd), 0);
    assert_prints_eq(d, v, out, back);
    assert_bytes_eq(encoded(d, v, back, &a), bytes);
}

START_TEST(random_messages_survive_the_wire_in_every_version)
{
    struct random_source r = {20260101};

    for (size_t i = 0; i < ALL_MESSAGES_COUNT; i++)
        for (int v = all_messages[i]->min_version; v <= all_messages[i]->max_version; v++)
            for (int n = 0; n < ROUNDS; n++)
                round_trip(all_messages[i], (int16_t)v, &r);
}
END_TEST

START_TEST(defaults_survive_the_wire_in_every_version)
{
    for (size_t i = 0; i < ALL_MESSAGES_COUNT; i++) {
        const struct msg_desc *d = all_messages[i];

        for (int v = d->min_version; v <= d->max_version; v++) {
            CLEANUP(arena_deinit) struct arena a = {0};
            void *out = arena_alloc(&a, d->root.size), *back = arena_alloc(&a, d->root.size);
            struct writer w;

            msg_init(d, out);
            writer_init(&w, &a);
            /* Null by default where only a later version may say so: nothing to send. */
            if (codec_encode(d, (int16_t)v, out, &w) < 0)
                continue;
            ck_assert_int_eq(codec_decode(d, (int16_t)v, writer_flat(&w), &a, back), 0);
            assert_prints_eq(d, (int16_t)v, out, back);
        }
    }
}
END_TEST

/* Every proper prefix is refused, without a read past its end (it is a copy, so that ASan sees). */
START_TEST(every_truncation_is_refused)
{
    struct random_source r = {77};

    for (size_t i = 0; i < ALL_MESSAGES_COUNT; i++) {
        CLEANUP(arena_deinit) struct arena a = {0};
        const struct msg_desc *d = all_messages[i];
        int16_t v = d->max_version;
        void *msg = arena_alloc(&a, d->root.size);

        random_msg(d, v, &r, &a, msg);
        struct slice whole = encoded(d, v, msg, &a);
        for (size_t len = 0; len < whole.len; len++) {
            CLEANUP(free_p) uint8_t *cut = xmalloc(len + 1);
            memcpy(cut, whole.p, len);
            ck_assert_int_eq(codec_decode(d, v, slice_of(cut, len), &a, msg), -EBADMSG);
        }
    }
}
END_TEST

START_TEST(bytes_left_over_are_ignored)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    static const uint8_t in[] = {0, 0, 0, 5, 0, 7, 0xff, 0xff};
    struct heartbeat_response m;

    ck_assert_int_eq(codec_decode(&heartbeat_response_desc, 1, slice_of(in, sizeof in), &a, &m), 0);
    ck_assert_int_eq(m.throttle_time_ms, 5);
    ck_assert_int_eq(m.error_code, 7);
}
END_TEST

START_TEST(array_count_beyond_the_bytes_left_is_refused_before_allocation)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    static const uint8_t huge[] = {0x7f, 0xff, 0xff, 0xff, 0, 1, 'a'};
    /* Two topics cannot fit in three bytes after the count. */
    static const uint8_t two[] = {0, 0, 0, 2, 0, 1, 'a'};
    struct metadata_request m;

    ck_assert_int_eq(codec_decode(&metadata_request_desc, 0, slice_of(huge, sizeof huge), &a, &m),
                     -EBADMSG);
    ck_assert_int_eq(codec_decode(&metadata_request_desc, 0, slice_of(two, sizeof two), &a, &m),
                     -EBADMSG);
    ck_assert_ptr_null(a.chunks);
}
END_TEST

START_TEST(arrays_that_would_grow_far_beyond_their_bytes_are_refused)
{
    enum { COUNT = 6 * 1000 * 1000 };
    CLEANUP(arena_deinit) struct arena a = {0};
    CLEANUP(free_p) uint8_t *bytes = xcalloc(COUNT, 2); /* each name is empty */
    struct metadata_request req;

    be32_write(bytes, COUNT - 2);
    ck_assert_int_eq(codec_decode(&metadata_request_desc, 1, slice_of(bytes, COUNT * 2), &a, &req),
                     -EBADMSG);
    be32_write(bytes, 1000 * 1000);
    ck_assert_int_eq(codec_decode(&metadata_request_desc, 1, slice_of(bytes, COUNT * 2), &a, &req),
                     0);
    ck_assert_int_eq(req.topics_count, 1000 * 1000);
}
END_TEST

START_TEST(null_where_it_is_not_allowed_is_refused)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    static const uint8_t null_array[] = {0xff, 0xff, 0xff, 0xff};
    static const uint8_t null_text[] = {0xff, 0xff};
    struct metadata_request m;
    struct sasl_handshake_request h;

    ck_assert_int_eq(
        codec_decode(&metadata_request_desc, 0, slice_of(null_array, sizeof null_array), &a, &m),
        -EBADMSG);
    ck_assert_int_eq(
        codec_decode(&metadata_request_desc, 1, slice_of(null_array, sizeof null_array), &a, &m),
        0);
    ck_assert_int_eq(m.topics_count, -1);
    ck_assert_int_eq(codec_decode(&sasl_handshake_request_desc, 1,
                                  slice_of(null_text, sizeof null_text), &a, &h),
                     -EBADMSG);
}
END_TEST

START_TEST(compact_string_above_32767_bytes_is_refused)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    uint8_t *in = arena_zalloc(&a, 70000);
    struct offset_fetch_request m;
    size_t n = varint_write_u(in, 0x8000 + 1);

    (void)n;
    ck_assert_int_eq(codec_decode(&offset_fetch_request_desc, 7, slice_of(in, 70000), &a, &m),
                     -EBADMSG);
    varint_write_u(in, 0x7fff + 1);
    ck_assert_int_eq(codec_decode(&offset_fetch_request_desc, 7, slice_of(in, 70000), &a, &m), 0);
    ck_assert_uint_eq(m.group_id.len, 0x7fff);
}
END_TEST

START_TEST(unknown_version_is_refused)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct heartbeat_request m;
    struct writer w;

    msg_init(&heartbeat_request_desc, &m);
    writer_init(&w, &a);
    ck_assert_int_eq(codec_encode(&heartbeat_request_desc, 5, &m, &w), -EPROTONOSUPPORT);
    ck_assert_int_eq(codec_decode(&heartbeat_request_desc, -1, slice_of("", 0), &a, &m),
                     -EPROTONOSUPPORT);
}
END_TEST

START_TEST(field_that_the_version_lacks_must_be_default_unless_ignorable)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct fetch_request m;
    struct writer w;

    msg_init(&fetch_request_desc, &m);
    m.max_bytes = 1; /* 3+, ignorable */
    m.rack_id = STR("r1");
    writer_init(&w, &a);
    ck_assert_int_eq(codec_encode(&fetch_request_desc, 0, &m, &w), 0);
    m.replica_state.replica_id = 3; /* 15+, not ignorable */
    ck_assert_int_eq(codec_encode(&fetch_request_desc, 14, &m, &w), -EINVAL);
    ck_assert_str_eq(w.err_field, "replica_state");
    ck_assert_int_eq(codec_size(&fetch_request_desc, 14, &m), -EINVAL);
    ck_assert_int_gt(codec_size(&fetch_request_desc, 15, &m), 0);
}
END_TEST

START_TEST(null_that_the_version_cannot_say_is_not_encoded)
{
    struct metadata_request m;

    msg_init(&metadata_request_desc, &m);
    m.topics_count = -1;
    ck_assert_int_eq(codec_size(&metadata_request_desc, 0, &m), -EINVAL);
    ck_assert_int_eq(codec_size(&metadata_request_desc, 4, &m), 5);
}
END_TEST

TEST_MAIN("common/wire/codec", random_messages_survive_the_wire_in_every_version,
          defaults_survive_the_wire_in_every_version, every_truncation_is_refused,
          bytes_left_over_are_ignored,
          array_count_beyond_the_bytes_left_is_refused_before_allocation,
          arrays_that_would_grow_far_beyond_their_bytes_are_refused,
          null_where_it_is_not_allowed_is_refused, compact_string_above_32767_bytes_is_refused,
          unknown_version_is_refused, field_that_the_version_lacks_must_be_default_unless_ignorable,
          null_that_the_version_cannot_say_is_not_encoded)
