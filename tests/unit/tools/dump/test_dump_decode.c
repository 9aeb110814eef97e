#include "tools/dump/dump_log.h"

#include "tests/support/random_batch.h"
#include "tests/support/test_main.h"

static void check_decoded(const struct dump *d, const struct record *rec, const char *key,
                          const char *payload)
{
    CLEANUP(dump_text_deinit) struct dump_text t = {0};
    CLEANUP(strbuf_deinit) struct strbuf why = {0};

    ck_assert_int_eq(dump_decode(d, rec, &t, &why), 0);
    ck_assert_int_eq(t.has_key, key != NULL);
    ck_assert_int_eq(t.has_payload, payload != NULL);
    if (key)
        ck_assert_str_eq(strbuf_str(&t.key).p, key);
    if (payload)
        ck_assert_str_eq(strbuf_str(&t.payload).p, payload);
}

START_TEST(plain_records_are_text_or_numbers)
{
    struct record rec = {.key = slice_of("key", 3)};

    check_decoded(&(struct dump){0}, &rec, "key", NULL);
    rec.value = slice_of("", 0);
    check_decoded(&(struct dump){0}, &rec, "key", "");
    rec.key = slice_of("\0\0\0\0\0\0\1\0", 8);
    rec.value = slice_of("\xff\xff\xff\xff", 4);
    check_decoded(&(struct dump){.key_decoder = DUMP_LONG, .value_decoder = DUMP_INTEGER}, &rec,
                  "256", "-1");
}
END_TEST

START_TEST(a_number_that_is_too_short_is_no_number)
{
    CLEANUP(dump_text_deinit) struct dump_text t = {0};
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    const struct record rec = {.key = slice_of("\0\0\0", 3)};

    ck_assert_int_lt(dump_decode(&(struct dump){.key_decoder = DUMP_LONG}, &rec, &t, &why), 0);
    ck_assert_ptr_nonnull(strstr(why.s, "3 bytes"));
}
END_TEST

START_TEST(committed_offsets_of_the_worked_example)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    const struct dump d = {.value_decoder = DUMP_OFFSETS};
    struct record rec = {
        .key = hex_bytes(&a, "00 01 00 02 67 31 00 01 74 00 00 00 03"),
        .value = hex_bytes(
            &a, "00 03 00 00 00 00 00 00 00 2a 00 00 00 07 00 00 00 00 01 8b cf e5 68 00"),
    };

    check_decoded(&d, &rec,
                  "{\"type\":\"1\",\"data\":{\"group\":\"g1\",\"topic\":\"t\",\"partition\":3}}",
                  "{\"version\":\"3\",\"data\":{\"offset\":42,\"leaderEpoch\":7,\"metadata\":\"\","
                  "\"commitTimestamp\":1700000000000}}");
    rec.value = (struct slice){0};
    check_decoded(&d, &rec,
                  "{\"type\":\"1\",\"data\":{\"group\":\"g1\",\"topic\":\"t\",\"partition\":3}}",
                  "<DELETE>");
}
END_TEST

START_TEST(group_records_that_are_none_are_skipped)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    const struct dump d = {.value_decoder = DUMP_OFFSETS};
    struct record rec = {.offset = 9, .key = hex_bytes(&a, "00 03 00 01 67")};

    check_decoded(&d, &rec, "Unknown record type 3 at offset 9, skipping.", NULL);
    rec.key = hex_bytes(&a, "00 01 00 09 67");
    check_decoded(
        &d, &rec,
        "Error at offset 9, skipping. Could not read record with version 1 from key's buffer "
        "due to: null.",
        NULL);
    rec.key = hex_bytes(&a, "00 02 00 02 67 31");
    rec.value = hex_bytes(&a, "00");
    check_decoded(&d, &rec,
                  "Error at offset 9, skipping. Could not read version from value's buffer.", NULL);
}
END_TEST

START_TEST(transactions_of_the_worked_example)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    const struct dump d = {.value_decoder = DUMP_TRANSACTIONS};
    struct record rec = {
        .key = hex_bytes(&a, "00 00 00 02 74 78"),
        .value = hex_bytes(
            &a, "00 00 00 00 00 00 00 00 0f a0 00 02 00 00 ea 60 01 00 00 00 01 00 01 74 00 00 00 "
                "01 00 00 00 03 00 00 01 8b cf e5 68 05 00 00 01 8b cf e5 68 00"),
    };

    check_decoded(&d, &rec, "transaction_metadata::transactionalId=tx",
                  "producerId:4000,producerEpoch:2,state=Ongoing,partitions=[t-3],"
                  "txnLastUpdateTimestamp=1700000000005,txnTimeoutMs=60000");
    rec.value = hex_bytes(
        &a, "00 00 00 00 00 00 00 00 0f a0 00 00 00 00 ea 60 00 ff ff ff ff 00 00 01 8b cf e5 68 "
            "00 ff ff ff ff ff ff ff ff");
    check_decoded(&d, &rec, "transaction_metadata::transactionalId=tx",
                  "producerId:4000,producerEpoch:0,state=Empty,partitions=[],"
                  "txnLastUpdateTimestamp=1700000000000,txnTimeoutMs=60000");
    rec.value = (struct slice){0};
    check_decoded(&d, &rec, "transaction_metadata::transactionalId=tx", "<DELETE>");
    rec.key = hex_bytes(&a, "00 05 00 00");
    check_decoded(&d, &rec, "unknown::version=5", NULL);
}
END_TEST

TEST_MAIN("tools/dump/dump_decode", plain_records_are_text_or_numbers,
          a_number_that_is_too_short_is_no_number, committed_offsets_of_the_worked_example,
          group_records_that_are_none_are_skipped, transactions_of_the_worked_example)
