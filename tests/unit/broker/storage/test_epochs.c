#include "broker/storage/epochs.h"

#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/base/say.h"
#include "common/io/fs.h"
#include "tests/support/random_msg.h"
#include "tests/support/test_main.h"

static void free_epochs_p(struct epochs **e)
{
    *e = epochs_free(*e);
}

static struct epochs *fresh(void)
{
    struct epochs *e = NULL;

    ck_assert_int_eq(epochs_open(test_tmpdir(), &e), 0);
    return e;
}

static void check_file(const char *want)
{
    CLEANUP(free_p) char *path = xasprintf("%s/leader-epoch-checkpoint", test_tmpdir());
    CLEANUP(strbuf_deinit) struct strbuf text = {0};

    ck_assert_int_eq(fs_read_file(path, 10000, &text), 0);
    ck_assert_str_eq(text.s, want);
}

START_TEST(an_assignment_is_on_disk_at_once)
{
    CLEANUP(free_epochs_p) struct epochs *e = fresh();

    ck_assert_int_eq(epochs_assign(e, 0, 0), 0);
    ck_assert_int_eq(epochs_assign(e, 3, 1500), 0);
    check_file("0\n2\n0 0\n3 1500\n");
    ck_assert_int_eq(epochs_assign(e, 3, 1600), 0);
    check_file("0\n2\n0 0\n3 1500\n");
    CLEANUP(free_epochs_p) struct epochs *again = fresh();
    ck_assert_uint_eq(epochs_count(again), 2);
    ck_assert_int_eq(epochs_at(again, 1).epoch, 3);
    ck_assert_int_eq(epochs_at(again, 1).start_offset, 1500);
}
END_TEST

START_TEST(a_new_entry_replaces_what_contradicts_it)
{
    CLEANUP(free_epochs_p) struct epochs *e = fresh();

    epochs_assign_unflushed(e, 1, 10);
    epochs_assign_unflushed(e, 2, 20);
    epochs_assign_unflushed(e, 3, 30);
    epochs_assign_unflushed(e, 4, 20); /* starts before 3, and where 2 does */
    ck_assert_uint_eq(epochs_count(e), 2);
    epochs_assign_unflushed(e, 2, 50); /* an older epoch later on */
    ck_assert_uint_eq(epochs_count(e), 2);
    ck_assert_int_eq(epochs_latest(e), 2);
    epochs_assign_unflushed(e, 2, 40); /* the same, earlier */
    ck_assert_int_eq(epochs_at(e, 1).start_offset, 40);
    epochs_assign_unflushed(e, -1, 60); /* batches without an epoch */
    ck_assert_int_eq(epochs_latest(e), 2);
}
END_TEST

START_TEST(truncation_from_the_end_drops_what_starts_there)
{
    CLEANUP(free_epochs_p) struct epochs *e = fresh();

    epochs_assign_unflushed(e, 1, 10);
    epochs_assign_unflushed(e, 2, 20);
    ck_assert_int_eq(epochs_assign(e, 3, 30), 0);
    epochs_truncate_from_end(e, 31);
    ck_assert_uint_eq(epochs_count(e), 3);
    epochs_truncate_from_end(e, 20);
    ck_assert_uint_eq(epochs_count(e), 1);
    check_file("0\n3\n1 10\n2 20\n3 30\n");
    ck_assert_int_eq(epochs_flush(e), 0);
    check_file("0\n1\n1 10\n");
}
END_TEST

START_TEST(truncation_from_the_start_keeps_the_epoch_that_reaches_over_it)
{
    CLEANUP(free_epochs_p) struct epochs *e = fresh();

    epochs_assign_unflushed(e, 1, 10);
    epochs_assign_unflushed(e, 2, 20);
    epochs_assign_unflushed(e, 3, 30);
    epochs_truncate_from_start(e, 5);
    ck_assert_uint_eq(epochs_count(e), 3);
    epochs_truncate_from_start(e, 25);
    ck_assert_int_eq(epochs_flush(e), 0);
    check_file("0\n2\n2 25\n3 30\n");
    epochs_truncate_from_start(e, 30);
    ck_assert_int_eq(epochs_flush(e), 0);
    check_file("0\n1\n3 30\n");
    epochs_truncate_from_start(e, 99);
    ck_assert_int_eq(epochs_at(e, 0).start_offset, 99);
    epochs_clear(e);
    ck_assert_int_eq(epochs_flush(e), 0);
    check_file("0\n0\n");
}
END_TEST

static void check_end(const struct epochs *e, int32_t epoch, int32_t want_epoch,
                      int64_t want_offset)
{
    int32_t got_epoch;
    int64_t got_offset;

    epochs_end_offset(e, epoch, 100, &got_epoch, &got_offset);
    ck_assert_int_eq(got_epoch, want_epoch);
    ck_assert_int_eq(got_offset, want_offset);
}

START_TEST(the_end_offset_of_an_epoch)
{
    CLEANUP(free_epochs_p) struct epochs *e = fresh();

    check_end(e, 0, -1, -1);
    check_end(e, -2, -1, -1);
    epochs_assign_unflushed(e, 2, 10);
    epochs_assign_unflushed(e, 4, 20);
    epochs_assign_unflushed(e, 7, 30);
    check_end(e, -1, -1, -1);
    check_end(e, -2, -2, 10); /* as for any that is older than the first */
    check_end(e, 8, -1, -1);
    check_end(e, 7, 7, 100);
    check_end(e, 6, 4, 30);
    check_end(e, 4, 4, 30);
    check_end(e, 3, 2, 20);
    check_end(e, 1, 1, 10);
    ck_assert_int_eq(epochs_of_offset(e, 9), -1);
    ck_assert_int_eq(epochs_of_offset(e, 10), 2);
    ck_assert_int_eq(epochs_of_offset(e, 29), 4);
    ck_assert_int_eq(epochs_of_offset(e, 1000), 7);
    ck_assert_int_eq(epochs_previous(e, 7), 4);
    ck_assert_int_eq(epochs_previous(e, 2), -1);
    ck_assert_int_eq(epochs_earliest(e), 2);
}
END_TEST

START_TEST(a_malformed_file_is_refused)
{
    CLEANUP(free_p) char *path = xasprintf("%s/leader-epoch-checkpoint", test_tmpdir());
    static const char *const bad[] = {"1\n0\n", "0\n1\n5\n", "0\n2\n1 1\n", "0\n1\n-3 1\n",
                                      "0\n1\n1 1 1\n"};

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct epochs *e = NULL;

        ck_assert_int_eq(fs_replace_file(path, str_of(bad[i])), 0);
        ck_assert_int_eq(epochs_open(test_tmpdir(), &e), -EBADMSG);
        ck_assert_ptr_null(e);
    }
}
END_TEST

/* Whatever is done, both columns increase and the file says the same. */
START_TEST(both_columns_always_increase)
{
    say_set_level(SAY_ERROR);
    for (uint64_t seed = 1; seed <= 50; seed++) {
        struct random_source r = {seed};
        CLEANUP(free_epochs_p) struct epochs *e = fresh();

        for (int step = 0; step < 100; step++) {
            int64_t offset = random_to(&r, 100);

            switch (random_to(&r, 6)) {
            case 0:
                epochs_truncate_from_end(e, offset);
                break;
            case 1:
                epochs_truncate_from_start(e, offset);
                break;
            default:
                epochs_assign_unflushed(e, (int32_t)random_to(&r, 20), offset);
            }
            for (size_t i = 1; i < epochs_count(e); i++) {
                ck_assert_int_lt(epochs_at(e, i - 1).epoch, epochs_at(e, i).epoch);
                ck_assert_int_lt(epochs_at(e, i - 1).start_offset, epochs_at(e, i).start_offset);
            }
        }
        ck_assert_int_eq(epochs_flush(e), 0);
        CLEANUP(free_epochs_p) struct epochs *again = fresh();
        ck_assert_uint_eq(epochs_count(again), epochs_count(e));
        epochs_clear(again);
        ck_assert_int_eq(epochs_flush(again), 0);
    }
}
END_TEST

START_TEST(while_none_are_kept_there_is_no_file_and_nothing_is_assigned)
{
    CLEANUP(free_p) char *path = xasprintf("%s/leader-epoch-checkpoint", test_tmpdir());
    CLEANUP(free_epochs_p) struct epochs *e = fresh();

    ck_assert_int_eq(epochs_assign(e, 3, 10), 0);
    ck_assert_int_eq(epochs_keep(e, true), 0);
    ck_assert_int_eq(epochs_latest(e), 3);
    ck_assert_int_eq(epochs_keep(e, false), 0);
    ck_assert_int_eq(epochs_latest(e), -1);
    ck_assert_int_eq(epochs_assign(e, 4, 20), 0);
    epochs_assign_unflushed(e, 5, 30);
    ck_assert_int_eq(epochs_flush(e), 0);
    ck_assert_int_eq(epochs_latest(e), -1);
    ck_assert(!fs_exists(path));
    ck_assert_int_eq(epochs_keep(e, true), 0);
    ck_assert_int_eq(epochs_latest(e), -1);
    ck_assert_int_eq(epochs_assign(e, 6, 40), 0);
    check_file("0\n1\n6 40\n");
}
END_TEST

TEST_MAIN("broker/storage/epochs", an_assignment_is_on_disk_at_once,
          a_new_entry_replaces_what_contradicts_it, truncation_from_the_end_drops_what_starts_there,
          truncation_from_the_start_keeps_the_epoch_that_reaches_over_it,
          the_end_offset_of_an_epoch, while_none_are_kept_there_is_no_file_and_nothing_is_assigned,
          a_malformed_file_is_refused, both_columns_always_increase)
