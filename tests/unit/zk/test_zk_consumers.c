#include "zk/zk_consumers.h"

#include "tests/unit/zk/zk_test.h"

#define G STR("g")

static struct zk_consumer_offset entry(const char *topic, int32_t partition, int64_t offset)
{
    return (struct zk_consumer_offset){str_of(topic), partition, offset, ZK_OTHER};
}

static void begin(struct zk_test *z)
{
    zk_test_init(z);
    say_set_level(SAY_ERROR + 1);
}

START_TEST(offsets_are_kept_as_decimal_text)
{
    struct zk_test z;
    struct zk_consumer_offset w[] = {entry("t", 0, 42), entry("t", 1, 0), entry("u", 0, INT64_MAX)};
    struct zk_consumer_offset r[] = {entry("t", 0, 7), entry("t", 1, 7), entry("u", 0, 7),
                                     entry("u", 1, 7), entry("v", 0, 7)};

    begin(&z);
    zk_consumer_offsets_write(z.s, G, w, 3);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(w[i].result, ZK_OK);
    ck_assert(zk_test_holds(&z, "/consumers/g/offsets/t/0", "42"));
    ck_assert(zk_test_holds(&z, "/consumers/g/offsets/t/1", "0"));
    ck_assert(zk_test_holds(&z, "/consumers/g/offsets/u/0", "9223372036854775807"));
    zk_consumer_offsets_read(z.t, G, r, 5);
    for (int i = 0; i < 5; i++) {
        ck_assert_int_eq(r[i].result, i < 3 ? ZK_OK : ZK_NO_NODE);
        ck_assert_int_eq(r[i].offset, i < 3 ? w[i].offset : -1);
    }
    zk_test_deinit(&z);
}
END_TEST

START_TEST(last_writer_wins)
{
    struct zk_test z;
    struct zk_consumer_offset w = entry("t", 0, 42);

    begin(&z);
    zk_consumer_offsets_write(z.s, G, &w, 1);
    w.offset = -5;
    zk_consumer_offsets_write(z.t, G, &w, 1);
    ck_assert_int_eq(w.result, ZK_OK);
    ck_assert(zk_test_holds(&z, "/consumers/g/offsets/t/0", "-5"));
    zk_test_deinit(&z);
}
END_TEST

START_TEST(what_is_there_takes_one_round)
{
    struct zk_test z;
    enum { COUNT = 1000 };
    static struct zk_consumer_offset w[COUNT];

    begin(&z);
    for (int i = 0; i < COUNT; i++)
        w[i] = entry(i < COUNT / 2 ? "t" : "u", i, i);
    zk_consumer_offsets_write(z.s, G, w, COUNT);
    uint64_t before = fake_zk_rounds(z.one);
    zk_consumer_offsets_write(z.s, G, w, COUNT);
    ck_assert_uint_eq(fake_zk_rounds(z.one), before + 1);
    zk_consumer_offsets_read(z.s, G, w, COUNT);
    ck_assert_uint_eq(fake_zk_rounds(z.one), before + 2);
    for (int i = 0; i < COUNT; i++)
        ck_assert(w[i].result == ZK_OK && w[i].offset == i);
    /* One that is missing costs three more, and the parents it has are not made again. */
    w[0].partition = COUNT;
    zk_consumer_offsets_write(z.s, G, w, COUNT);
    ck_assert_uint_eq(fake_zk_rounds(z.one), before + 5);
    ck_assert(zk_test_holds(&z, "/consumers/g/offsets/t/1000", "0"));
    zk_test_deinit(&z);
}
END_TEST

START_TEST(more_than_a_chunk_is_read_and_written)
{
    struct zk_test z;
    enum { COUNT = ZK_CHUNK + 3 };
    static struct zk_consumer_offset w[COUNT];

    begin(&z);
    for (int i = 0; i < COUNT; i++)
        w[i] = entry("t", i, i + 1);
    zk_consumer_offsets_write(z.s, G, w, COUNT);
    for (int i = 0; i < COUNT; i++) {
        ck_assert_int_eq(w[i].result, ZK_OK);
        w[i].offset = 0;
    }
    zk_consumer_offsets_read(z.s, G, w, COUNT);
    for (int i = 0; i < COUNT; i++)
        ck_assert(w[i].result == ZK_OK && w[i].offset == i + 1);
    zk_test_deinit(&z);
}
END_TEST

START_TEST(what_is_no_number_is_told)
{
    static const char *const bad[] = {"", " 1", "1 ", "0x1", "1.0", "9223372036854775808", "a"};
    struct zk_test z;

    begin(&z);
    ck_assert_int_eq(
        zk_store_create_deep(z.s, "/consumers/g/offsets/t/0", bytes("-9223372036854775808")),
        ZK_OK);
    struct zk_consumer_offset r[] = {entry("t", 0, 1), entry("t", 1, 1)};
    ck_assert_int_eq(zk_store_create(z.s, "/consumers/g/offsets/t/1", (struct slice){0}, 0), ZK_OK);
    zk_consumer_offsets_read(z.s, G, r, 2);
    ck_assert(r[0].result == ZK_OK && r[0].offset == INT64_MIN);
    ck_assert(r[1].result == ZK_NO_NODE && r[1].offset == -1);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        zk_store_set(z.s, "/consumers/g/offsets/t/1", bytes(bad[i]), -1, NULL);
        zk_consumer_offsets_read(z.s, G, r, 2);
        ck_assert_int_eq(r[0].result, ZK_OK);
        ck_assert_int_eq(r[1].result, ZK_MALFORMED);
        ck_assert_int_eq(r[1].offset, -1);
    }
    /* And is written over. */
    r[1].offset = 3;
    zk_consumer_offsets_write(z.s, G, &r[1], 1);
    ck_assert(zk_test_holds(&z, "/consumers/g/offsets/t/1", "3"));
    zk_test_deinit(&z);
}
END_TEST

static void write_first(const struct zk_op *op, void *ctx)
{
    if (op->kind == ZK_OP_CREATE && strcmp(op->path, "/consumers/g/offsets/t/0") == 0)
        zk_store_create_deep(ctx, op->path, bytes("1"));
}

START_TEST(another_client_that_creates_it_first_is_overwritten)
{
    struct zk_test z;
    struct zk_consumer_offset w[] = {entry("t", 0, 42), entry("t", 1, 43)};

    begin(&z);
    fake_zk_hook(z.one, write_first, z.t);
    zk_consumer_offsets_write(z.s, G, w, 2);
    ck_assert(w[0].result == ZK_OK && w[1].result == ZK_OK);
    ck_assert(zk_test_holds(&z, "/consumers/g/offsets/t/0", "42"));
    ck_assert(zk_test_holds(&z, "/consumers/g/offsets/t/1", "43"));
    zk_test_deinit(&z);
}
END_TEST

START_TEST(lost_answers_change_nothing)
{
    /* Each write in turn: the set, what making three parents takes, the create. */
    for (int nth = 1; nth <= 6; nth++) {
        struct zk_test z;
        struct zk_consumer_offset w = entry("t", 0, 42);

        begin(&z);
        fake_zk_lose_reply(z.one, nth);
        zk_consumer_offsets_write(z.s, G, &w, 1);
        ck_assert_int_eq(w.result, ZK_OK);
        ck_assert(zk_test_holds(&z, "/consumers/g/offsets/t/0", "42"));
        zk_test_deinit(&z);
    }
}
END_TEST

START_TEST(ill_ensemble_fails_each_entry)
{
    /* Each request in turn: two sets, what making three parents takes, two creates. */
    for (int nth = 1; nth <= 10; nth++) {
        struct zk_test z;
        struct zk_consumer_offset w[] = {entry("t", 0, 42), entry("t", 1, 43)};

        begin(&z);
        fake_zk_fail(z.one, nth, ZK_SESSION_EXPIRED);
        zk_consumer_offsets_write(z.s, G, w, 2);
        ck_assert_int_eq(w[1].result, ZK_SESSION_EXPIRED);
        zk_consumer_offsets_read(z.s, G, w, 2);
        ck_assert(w[0].result == ZK_SESSION_EXPIRED && w[0].offset == -1);
        zk_test_deinit(&z);
    }
}
END_TEST

START_TEST(group_with_a_slash_is_a_deeper_path_and_one_with_a_nul_is_none)
{
    struct zk_test z;
    struct zk_consumer_offset w = entry("t", 0, 42);
    struct zk_names names;

    begin(&z);
    zk_consumer_offsets_write(z.s, STR("a/b"), &w, 1);
    ck_assert_int_eq(w.result, ZK_OK);
    ck_assert(zk_test_holds(&z, "/consumers/a/b/offsets/t/0", "42"));
    zk_consumer_offsets_write(z.s, STR("c\0d"), &w, 1);
    ck_assert_int_eq(w.result, ZK_OTHER);
    zk_consumer_offsets_read(z.s, STR("a\0d"), &w, 1);
    ck_assert(w.result == ZK_OTHER && w.offset == -1);
    ck_assert_int_eq(zk_store_children(z.s, ZK_PATH_CONSUMERS, false, &z.a, &names), ZK_OK);
    ck_assert_uint_eq(names.count, 1);
    zk_test_deinit(&z);
}
END_TEST

TEST_MAIN("zk/zk_consumers", offsets_are_kept_as_decimal_text, last_writer_wins,
          what_is_there_takes_one_round, more_than_a_chunk_is_read_and_written,
          what_is_no_number_is_told, another_client_that_creates_it_first_is_overwritten,
          lost_answers_change_nothing, ill_ensemble_fails_each_entry,
          group_with_a_slash_is_a_deeper_path_and_one_with_a_nul_is_none)
