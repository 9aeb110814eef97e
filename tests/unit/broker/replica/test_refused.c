#include "broker/replica/refused.h"

#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/record/builder.h"
#include "tests/support/test_main.h"

static struct refused *refused;
static struct strbuf bytes;
static int64_t now_ms;

static struct slice batch(int64_t producer_id, int16_t epoch, int32_t sequence)
{
    struct batch_opts opts = BATCH_OPTS_PLAIN;
    struct batch_builder bb;

    opts.producer_id = producer_id;
    opts.producer_epoch = epoch;
    opts.base_sequence = sequence;
    strbuf_deinit(&bytes);
    bytes = (struct strbuf){0};
    batch_builder_init(&bb, &opts);
    batch_builder_add(&bb, &(struct record){.timestamp = 1});
    ck_assert_int_eq(batch_builder_finish(&bb, &bytes), 0);
    batch_builder_deinit(&bb);
    return slice_of(bytes.s, bytes.len);
}

static void note(int64_t producer_id, int32_t sequence)
{
    refused_note(&refused, batch(producer_id, 0, sequence), NOT_ENOUGH_REPLICAS, now_ms);
}

static int because(int64_t producer_id, int32_t sequence)
{
    return refused_because(refused, batch(producer_id, 0, sequence), now_ms);
}

static void end(void)
{
    strbuf_deinit(&bytes);
    free(TAKE(refused));
}

START_TEST(only_later_batches_of_that_producer)
{
    ck_assert_int_eq(because(1, 5), 0);
    note(1, 5);
    note(1, 7);
    ck_assert_int_eq(because(1, 6), NOT_ENOUGH_REPLICAS);
    ck_assert_int_eq(because(1, 5), 0);
    ck_assert_int_eq(because(1, 4), 0);
    ck_assert_int_eq(because(2, 6), 0);
    ck_assert_int_eq(refused_because(refused, batch(1, 1, 6), now_ms), 0);
    end();
}
END_TEST

START_TEST(until_it_has_come)
{
    note(1, 5);
    refused_taken(refused, batch(1, 0, 4)); /* an earlier one, once more */
    ck_assert_int_eq(because(1, 6), NOT_ENOUGH_REPLICAS);
    refused_taken(refused, batch(1, 0, 5));
    ck_assert_int_eq(because(1, 6), 0);
    note(1, 6);
    refused_taken(refused, batch(1, 1, 0)); /* the producer has begun anew */
    ck_assert_int_eq(because(1, 7), 0);
    end();
}
END_TEST

/* It went to another leader long ago: a gap is a gap. */
START_TEST(not_for_ever)
{
    now_ms = 1000;
    note(1, 5);
    now_ms += 29999;
    ck_assert_int_eq(because(1, 6), NOT_ENOUGH_REPLICAS);
    now_ms++;
    ck_assert_int_eq(because(1, 6), 0);
    note(1, 9);
    ck_assert_int_eq(because(1, 10), NOT_ENOUGH_REPLICAS);
    ck_assert_int_eq(because(1, 9), 0);
    end();
}
END_TEST

START_TEST(sequences_go_on_at_0)
{
    note(1, INT32_MAX);
    ck_assert_int_eq(because(1, 0), NOT_ENOUGH_REPLICAS);
    ck_assert_int_eq(because(1, INT32_MAX - 1), 0);
    end();
}
END_TEST

START_TEST(many_producers_and_none)
{
    note(NO_PRODUCER_ID, NO_SEQUENCE);
    refused_note(&refused, (struct slice){0}, NOT_LEADER_OR_FOLLOWER, now_ms);
    ck_assert_ptr_null(refused);
    for (int64_t id = 0; id < 100; id++)
        note(id, 5);
    ck_assert_int_eq(because(0, 6), 0);
    for (int64_t id = 92; id < 100; id++)
        ck_assert_int_eq(because(id, 6), NOT_ENOUGH_REPLICAS);
    end();
}
END_TEST

TEST_MAIN("broker/replica/refused", only_later_batches_of_that_producer, until_it_has_come,
          not_for_ever, sequences_go_on_at_0, many_producers_and_none)
