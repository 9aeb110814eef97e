#include "broker/storage/producer_state.h"

#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/base/say.h"
#include "common/io/fs.h"
#include "tests/support/random_batch.h"
#include "tests/support/test_main.h"

enum { EXPIRATION_MS = 86400000 };

static const int64_t now_ms = 1700000000000;

static void free_state_p(struct producer_state **ps)
{
    *ps = producer_state_free(*ps);
}

static struct producer_state *open_state(bool verify)
{
    CLEANUP(fs_names_deinit) struct fs_names files = {0};
    const struct producer_state_opts opts = {.name = "t-0",
                                             .files = &files,
                                             .dir = test_tmpdir(),
                                             .expiration_ms = EXPIRATION_MS,
                                             .verify_transactions = verify};

    ck_assert_int_eq(fs_list_dir(opts.dir, &files), 0);
    return producer_state_new(&opts);
}

struct sent {
    int64_t producer_id;
    int16_t epoch;
    int32_t sequence;
    int32_t count;
    bool is_txn;
    uint64_t token;
    int64_t timestamp;
};

static struct slice data_batch(struct arena *a, const struct sent *s, int64_t offset)
{
    CLEANUP(batch_builder_deinit) struct batch_builder bb;
    CLEANUP(strbuf_deinit) struct strbuf out = {0};
    struct batch_opts opts = BATCH_OPTS_PLAIN;

    opts.base_offset = offset;
    opts.producer_id = s->producer_id;
    opts.producer_epoch = s->epoch;
    opts.base_sequence = s->sequence;
    opts.is_transactional = s->is_txn;
    batch_builder_init(&bb, &opts);
    for (int i = 0; i < s->count; i++)
        batch_builder_add(&bb, &(struct record){.offset = offset + i,
                                                .timestamp = s->timestamp ? s->timestamp : now_ms});
    ck_assert_int_eq(batch_builder_finish(&bb, &out), 0);
    return slice_of_str(arena_str(a, strbuf_str(&out)));
}

static void apply_all(struct producer_state *ps, const struct producer_changes *ch, int64_t next)
{
    producer_state_apply(ps, ch);
    for (size_t i = 0; i < ch->completed_count; i++)
        producer_state_complete(ps, &ch->completed[i]);
    producer_state_set_end(ps, next);
}

/* As a client's append; the answer, -1 for a duplicate. */
static int append(struct producer_state *ps, const struct sent *s)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    CLEANUP(producer_changes_deinit) struct producer_changes ch = {0};
    int64_t offset = producer_state_end(ps);
    const struct producer_check_opts opts = {.origin = APPEND_CLIENT, .verification = s->token};
    int r = producer_state_check(ps, data_batch(&a, s, offset), &opts, &ch);

    if (r != 0)
        return r;
    if (ch.is_duplicate)
        return -1;
    apply_all(ps, &ch, offset + s->count);
    return 0;
}

struct marker_result {
    int r;
    int64_t lso;
    size_t completed;
};

static struct marker_result append_marker(struct producer_state *ps, const struct txn_marker *m,
                                          int origin)
{
    CLEANUP(strbuf_deinit) struct strbuf out = {0};
    CLEANUP(producer_changes_deinit) struct producer_changes ch = {0};
    const struct producer_check_opts opts = {.origin = origin};
    struct txn_marker at = *m;
    struct marker_result res = {0};

    at.offset = producer_state_end(ps);
    at.timestamp = now_ms;
    txn_marker_build(&at, &out);
    res.r = producer_state_check(ps, slice_of_str(strbuf_str(&out)), &opts, &ch);
    if (res.r != 0)
        return res;
    res.completed = ch.completed_count;
    producer_state_apply(ps, &ch);
    for (size_t i = 0; i < ch.completed_count; i++) {
        res.lso = producer_state_lso_after(ps, &ch.completed[i]);
        producer_state_complete(ps, &ch.completed[i]);
    }
    producer_state_set_end(ps, at.offset + 1);
    return res;
}

START_TEST(sequences_must_follow_each_other)
{
    CLEANUP(free_state_p) struct producer_state *ps = open_state(false);

    ck_assert_int_eq(append(ps, &(struct sent){1, 0, 7, 3}),
                     0); /* an unknown producer may begin anywhere */
    ck_assert_int_eq(append(ps, &(struct sent){1, 0, 11, 1}), OUT_OF_ORDER_SEQUENCE_NUMBER);
    ck_assert_int_eq(append(ps, &(struct sent){1, 0, 9, 1}), OUT_OF_ORDER_SEQUENCE_NUMBER);
    ck_assert_int_eq(append(ps, &(struct sent){1, 0, 10, 1}), 0);
    ck_assert_int_eq(append(ps, &(struct sent){2, 0, 0, 1}), 0);
    ck_assert_uint_eq(producer_state_count(ps), 2);
}
END_TEST

START_TEST(sequences_go_on_at_zero_after_the_largest)
{
    CLEANUP(free_state_p) struct producer_state *ps = open_state(false);

    ck_assert_int_eq(append(ps, &(struct sent){1, 0, INT32_MAX - 1, 2}), 0);
    ck_assert_int_eq(append(ps, &(struct sent){1, 0, 0, 2}), 0);
    ck_assert_int_eq(append(ps, &(struct sent){2, 0, INT32_MAX - 1, 4}), 0);
    ck_assert_int_eq(append(ps, &(struct sent){2, 0, 2, 1}), 0);
    ck_assert_int_eq(append(ps, &(struct sent){2, 0, INT32_MAX - 1, 4}), -1);
}
END_TEST

START_TEST(the_last_five_batches_are_known_again)
{
    CLEANUP(free_state_p) struct producer_state *ps = open_state(false);
    CLEANUP(arena_deinit) struct arena a = {0};
    CLEANUP(producer_changes_deinit) struct producer_changes ch = {0};
    const struct producer_check_opts opts = {.origin = APPEND_CLIENT};

    for (int i = 0; i < 7; i++)
        ck_assert_int_eq(append(ps, &(struct sent){1, 0, 2 * i, 2}), 0);
    for (int i = 2; i < 7; i++)
        ck_assert_int_eq(append(ps, &(struct sent){1, 0, 2 * i, 2}), -1);
    ck_assert_int_eq(append(ps, &(struct sent){1, 0, 2, 2}), OUT_OF_ORDER_SEQUENCE_NUMBER);
    ck_assert_int_eq(append(ps, &(struct sent){1, 0, 4, 3}), OUT_OF_ORDER_SEQUENCE_NUMBER);
    struct slice again = data_batch(&a, &(struct sent){1, 0, 6, 2}, 14);
    ck_assert_int_eq(producer_state_check(ps, again, &opts, &ch), 0);
    ck_assert(ch.is_duplicate);
    ck_assert_int_eq(ch.duplicate.first_offset, 6);
    ck_assert_int_eq(ch.duplicate.last_offset, 7);
    ck_assert_int_eq(ch.duplicate.timestamp, now_ms);
}
END_TEST

START_TEST(an_older_epoch_is_fenced_and_a_newer_one_begins_at_zero)
{
    CLEANUP(free_state_p) struct producer_state *ps = open_state(false);

    ck_assert_int_eq(append(ps, &(struct sent){1, 3, 0, 1}), 0);
    ck_assert_int_eq(append(ps, &(struct sent){1, 2, 1, 1}), INVALID_PRODUCER_EPOCH);
    ck_assert_int_eq(append(ps, &(struct sent){1, 4, 1, 1}), OUT_OF_ORDER_SEQUENCE_NUMBER);
    ck_assert_int_eq(append(ps, &(struct sent){1, 4, 0, 1}), 0);
    ck_assert_int_eq(append(ps, &(struct sent){1, 3, 0, 1}), INVALID_PRODUCER_EPOCH);
}
END_TEST

START_TEST(a_refused_append_changes_nothing)
{
    CLEANUP(free_state_p) struct producer_state *ps = open_state(false);

    ck_assert_int_eq(append(ps, &(struct sent){1, 0, 0, 5}), 0);
    ck_assert_int_eq(append(ps, &(struct sent){1, 5, 3, 1}), OUT_OF_ORDER_SEQUENCE_NUMBER);
    ck_assert_int_eq(append(ps, &(struct sent){1, 0, 5, 1}), 0);
    ck_assert_int_eq(append(ps, &(struct sent){1, 0, 0, 5}), -1);
}
END_TEST

START_TEST(an_open_transaction_holds_the_stable_offset)
{
    CLEANUP(free_state_p) struct producer_state *ps = open_state(false);
    const struct txn_marker commit = {.producer_id = 1, .is_commit = true},
                            abort_2 = {.producer_id = 2};

    producer_state_set_end(ps, 100);
    ck_assert_int_eq(producer_state_first_unstable(ps), -1);
    ck_assert_int_eq(append(ps, &(struct sent){1, 0, 0, 2, true}), 0); /* 100, 101 */
    ck_assert_int_eq(append(ps, &(struct sent){2, 0, 0, 1, true}), 0); /* 102 */
    ck_assert_int_eq(append(ps, &(struct sent){1, 0, 2, 1, true}), 0); /* 103 */
    ck_assert_int_eq(append(ps, &(struct sent){1, 0, 3, 1, false}), INVALID_TXN_STATE);
    ck_assert_int_eq(producer_state_first_unstable(ps), 100);
    ck_assert(producer_state_has_open_txn(ps, 1));

    struct marker_result m = append_marker(ps, &commit, APPEND_COORDINATOR); /* 104 */
    ck_assert_int_eq(m.r, 0);
    ck_assert_uint_eq(m.completed, 1);
    ck_assert_int_eq(m.lso, 102);
    ck_assert(!producer_state_has_open_txn(ps, 1));
    ck_assert_int_eq(producer_state_first_unstable(ps), 100); /* until the marker is replicated */
    producer_state_high_watermark_moved(ps, 104);
    ck_assert_int_eq(producer_state_first_unstable(ps), 100);
    producer_state_high_watermark_moved(ps, 105);
    ck_assert_int_eq(producer_state_first_unstable(ps), 102);

    m = append_marker(ps, &abort_2, APPEND_COORDINATOR); /* 105 */
    ck_assert_int_eq(m.lso, 106);
    producer_state_high_watermark_moved(ps, 106);
    ck_assert_int_eq(producer_state_first_unstable(ps), -1);
}
END_TEST

START_TEST(a_marker_without_data_updates_epochs_only)
{
    CLEANUP(free_state_p) struct producer_state *ps = open_state(false);
    const struct txn_marker m = {.producer_id = 1, .producer_epoch = 4, .coordinator_epoch = 6};
    struct marker_result res = append_marker(ps, &m, APPEND_COORDINATOR);

    ck_assert_int_eq(res.r, 0);
    ck_assert_uint_eq(res.completed, 0);
    ck_assert_int_eq(producer_state_first_unstable(ps), -1);
    ck_assert_int_eq(append(ps, &(struct sent){1, 4, 1, 1}), OUT_OF_ORDER_SEQUENCE_NUMBER);
    ck_assert_int_eq(append(ps, &(struct sent){1, 3, 0, 1}), INVALID_PRODUCER_EPOCH);
    ck_assert_int_eq(append(ps, &(struct sent){1, 4, 0, 1}), 0);
}
END_TEST

START_TEST(old_markers_are_fenced_but_not_when_replicated)
{
    CLEANUP(free_state_p) struct producer_state *ps = open_state(false);
    const struct txn_marker first = {.producer_id = 1, .producer_epoch = 4, .coordinator_epoch = 6};
    const struct txn_marker old_epoch = {
        .producer_id = 1, .producer_epoch = 3, .coordinator_epoch = 6};
    const struct txn_marker zombie = {
        .producer_id = 1, .producer_epoch = 4, .coordinator_epoch = 5};

    say_set_level(SAY_ERROR);
    ck_assert_int_eq(append_marker(ps, &first, APPEND_COORDINATOR).r, 0);
    ck_assert_int_eq(append_marker(ps, &old_epoch, APPEND_COORDINATOR).r, INVALID_PRODUCER_EPOCH);
    ck_assert_int_eq(append_marker(ps, &zombie, APPEND_COORDINATOR).r,
                     TRANSACTION_COORDINATOR_FENCED);
    ck_assert_int_eq(append_marker(ps, &zombie, PRODUCER_ORIGIN_REPLICATION).r, 0);
    ck_assert_int_eq(append_marker(ps, &old_epoch, PRODUCER_ORIGIN_REPLICATION).r, 0);
}
END_TEST

START_TEST(a_transaction_begins_with_its_token_only)
{
    CLEANUP(free_state_p) struct producer_state *ps = open_state(true);
    const struct txn_marker commit = {.producer_id = 1, .is_commit = true};

    ck_assert_int_eq(append(ps, &(struct sent){1, 0, 0, 1, true}), INVALID_TXN_STATE);
    uint64_t token = producer_state_verify(ps, 1, 0, 0, now_ms);
    ck_assert_uint_ne(token, 0);
    ck_assert_int_eq(append(ps, &(struct sent){1, 0, 0, 1, true, token + 1}), INVALID_TXN_STATE);
    ck_assert_int_eq(append(ps, &(struct sent){1, 0, 3, 1, true, token}),
                     OUT_OF_ORDER_SEQUENCE_NUMBER);
    ck_assert_int_eq(append(ps, &(struct sent){1, 0, 0, 1, true, token}), 0);
    ck_assert_uint_eq(producer_state_verify(ps, 1, 1, 0, now_ms), 0);
    ck_assert_int_eq(append(ps, &(struct sent){1, 0, 1, 1, true}), 0);
    ck_assert_int_eq(append_marker(ps, &commit, APPEND_COORDINATOR).r, 0);
    ck_assert_int_eq(append(ps, &(struct sent){1, 0, 2, 1, true, token}), INVALID_TXN_STATE);
    ck_assert_uint_ne(producer_state_verify(ps, 1, 2, 0, now_ms), token);
}
END_TEST

START_TEST(idle_producers_expire_unless_a_transaction_is_open)
{
    CLEANUP(free_state_p) struct producer_state *ps = open_state(false);

    ck_assert_int_eq(append(ps, &(struct sent){1, 0, 0, 1}), 0);
    ck_assert_int_eq(append(ps, &(struct sent){2, 0, 0, 1, true}), 0);
    ck_assert_int_eq(
        append(ps, &(struct sent){.producer_id = 3, .count = 1, .timestamp = now_ms + 1}), 0);
    producer_state_expire(ps, now_ms + EXPIRATION_MS - 1);
    ck_assert_uint_eq(producer_state_count(ps), 3);
    producer_state_expire(ps, now_ms + EXPIRATION_MS);
    ck_assert_uint_eq(producer_state_count(ps), 2);
    ck_assert_int_eq(append(ps, &(struct sent){1, 0, 55, 1}), 0);
}
END_TEST

static void check_reloaded(const struct producer_state *want)
{
    CLEANUP(free_state_p) struct producer_state *ps = open_state(false);

    ck_assert_int_eq(producer_state_truncate_and_reload(ps, 0, producer_state_end(want), now_ms),
                     0);
    ck_assert_int_eq(producer_state_end(ps), producer_state_end(want));
    ck_assert_uint_eq(producer_state_count(ps), producer_state_count(want));
    ck_assert_int_eq(producer_state_first_unstable(ps), producer_state_first_unstable(want));
}

START_TEST(a_snapshot_brings_the_state_back)
{
    CLEANUP(free_state_p) struct producer_state *ps = open_state(false);
    CLEANUP(free_p) char *path = NULL, *none = NULL;

    ck_assert_int_eq(append(ps, &(struct sent){1, 2, 0, 4}), 0);
    ck_assert_int_eq(append(ps, &(struct sent){2, 0, 0, 1, true}), 0);
    ck_assert_int_eq(producer_state_take_snapshot(ps, true, &path), 0);
    ck_assert_ptr_nonnull(strstr(path, "/00000000000000000005.snapshot"));
    ck_assert_int_eq(producer_state_take_snapshot(ps, true, &none), 0);
    ck_assert_ptr_null(none);
    check_reloaded(ps);

    CLEANUP(free_state_p) struct producer_state *back = open_state(false);
    ck_assert_int_eq(producer_state_truncate_and_reload(back, 0, 5, now_ms), 0);
    ck_assert(producer_state_has_open_txn(back, 2));
    ck_assert_int_eq(append(back, &(struct sent){1, 2, 0, 4}), -1);
    ck_assert_int_eq(append(back, &(struct sent){1, 2, 4, 1}), 0);
}
END_TEST

START_TEST(a_broken_snapshot_makes_way_for_an_older_one)
{
    CLEANUP(free_state_p) struct producer_state *ps = open_state(false);
    CLEANUP(free_p) char *path = NULL;

    say_set_level(SAY_ERROR);
    ck_assert_int_eq(append(ps, &(struct sent){1, 0, 0, 4}), 0);
    ck_assert_int_eq(producer_state_take_snapshot(ps, true, NULL), 0);
    ck_assert_int_eq(append(ps, &(struct sent){2, 0, 0, 4}), 0);
    ck_assert_int_eq(producer_state_take_snapshot(ps, true, &path), 0);
    ck_assert_int_eq(fs_replace_file(path, STR("\0\1torn")), 0);

    CLEANUP(free_state_p) struct producer_state *back = open_state(false);
    ck_assert_int_eq(producer_state_truncate_and_reload(back, 0, 8, now_ms), 0);
    ck_assert_int_eq(producer_state_end(back), 4);
    ck_assert_uint_eq(producer_state_count(back), 1);
    ck_assert(!fs_exists(path));
}
END_TEST

START_TEST(expired_producers_are_not_loaded)
{
    CLEANUP(free_state_p) struct producer_state *ps = open_state(false), *back = open_state(false);

    ck_assert_int_eq(append(ps, &(struct sent){1, 0, 0, 1}), 0);
    ck_assert_int_eq(append(ps, &(struct sent){2, 0, 0, 1, true}), 0);
    ck_assert_int_eq(producer_state_take_snapshot(ps, true, NULL), 0);
    producer_state_free(back);
    back = open_state(false);
    ck_assert_int_eq(producer_state_truncate_and_reload(back, 0, 2, now_ms + EXPIRATION_MS), 0);
    ck_assert_uint_eq(producer_state_count(back), 1);
    ck_assert(producer_state_has_open_txn(back, 2));
}
END_TEST

/* Snapshots at the given offsets. */
static void snapshots_at(struct producer_state *ps, const int64_t *offsets, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        producer_state_set_end(ps, offsets[i]);
        ck_assert_int_eq(producer_state_take_snapshot(ps, false, NULL), 0);
    }
}

START_TEST(truncation_drops_snapshots_outside_the_log)
{
    static const int64_t offsets[] = {10, 20, 30};
    CLEANUP(free_state_p) struct producer_state *ps = open_state(false);

    snapshots_at(ps, offsets, 3);
    ck_assert_int_eq(producer_state_truncate_and_reload(ps, 10, 25, now_ms), 0);
    ck_assert_int_eq(producer_state_oldest_snapshot(ps), 20);
    ck_assert_int_eq(producer_state_latest_snapshot(ps), 20);
    ck_assert_int_eq(producer_state_end(ps), 20);
    ck_assert_int_eq(producer_state_truncate_fully(ps, 500), 0);
    ck_assert_int_eq(producer_state_latest_snapshot(ps), -1);
    ck_assert_int_eq(producer_state_end(ps), 500);
    CLEANUP(free_state_p) struct producer_state *again = open_state(false);
    ck_assert_int_eq(producer_state_latest_snapshot(again), -1);
}
END_TEST

START_TEST(stray_snapshots_go_but_for_the_newest)
{
    static const int64_t offsets[] = {10, 15, 20, 25, 33, 35};
    static const int64_t bases[] = {0, 10, 20, 30};
    CLEANUP(free_state_p) struct producer_state *ps = open_state(false);
    CLEANUP(free_p) char *path = NULL;

    snapshots_at(ps, offsets, ARRAY_LEN(offsets));
    ck_assert_int_eq(producer_state_remove_stray_snapshots(ps, bases, ARRAY_LEN(bases)), 0);
    ck_assert(producer_state_has_snapshot(ps, 10) && producer_state_has_snapshot(ps, 20));
    ck_assert(producer_state_has_snapshot(ps, 35));
    ck_assert(!producer_state_has_snapshot(ps, 15) && !producer_state_has_snapshot(ps, 25));
    ck_assert(!producer_state_has_snapshot(ps, 33));
    ck_assert_int_eq(producer_state_delete_snapshots_before(ps, 20), 0);
    ck_assert_int_eq(producer_state_oldest_snapshot(ps), 20);
    ck_assert_int_eq(producer_state_mark_snapshot_deleted(ps, 20, &path), 0);
    ck_assert(fs_exists(path));
    ck_assert_int_eq(producer_state_oldest_snapshot(ps), 35);
}
END_TEST

struct aborts {
    struct completed_txn v[8];
    int64_t lso[8];
    size_t count;
};

static int note_abort(void *ctx, const struct completed_txn *c, int64_t lso)
{
    struct aborts *a = ctx;

    a->v[a->count] = *c;
    a->lso[a->count++] = lso;
    return 0;
}

START_TEST(a_replay_finds_transactions_and_aborts)
{
    CLEANUP(free_state_p) struct producer_state *ps = open_state(false);
    CLEANUP(arena_deinit) struct arena a = {0};
    CLEANUP(strbuf_deinit) struct strbuf bytes = {0};
    struct aborts aborts = {0};
    const struct sent one = {1, 0, 0, 2, true}, two = {2, 0, 9, 1, true}, plain = {3, 0, 4, 1};
    struct slice s;

    s = data_batch(&a, &one, 50);
    strbuf_add(&bytes, s.p, s.len);
    s = data_batch(&a, &two, 52);
    strbuf_add(&bytes, s.p, s.len);
    s = data_batch(&a, &plain, 53);
    strbuf_add(&bytes, s.p, s.len);
    txn_marker_build(&(struct txn_marker){.offset = 54, .producer_id = 1}, &bytes);
    ck_assert_int_eq(
        producer_state_replay(ps, slice_of_str(strbuf_str(&bytes)), note_abort, &aborts), 0);
    ck_assert_uint_eq(aborts.count, 1);
    ck_assert_int_eq(aborts.v[0].producer_id, 1);
    ck_assert_int_eq(aborts.v[0].first_offset, 50);
    ck_assert_int_eq(aborts.v[0].last_offset, 54);
    ck_assert_int_eq(aborts.lso[0], 52);
    ck_assert_int_eq(producer_state_end(ps), 55);
    ck_assert_int_eq(producer_state_first_unstable(ps), 50);
    producer_state_high_watermark_moved(ps, 55);
    ck_assert_int_eq(producer_state_first_unstable(ps), 52);
    ck_assert_int_eq(append(ps, &(struct sent){3, 0, 5, 1}), 0);
}
END_TEST

/* A producer that sends in order, with retries and epoch bumps, is never refused; whatever it does,
 * a reload is the same. */
START_TEST(an_orderly_producer_is_never_refused)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        CLEANUP(free_state_p) struct producer_state *ps = open_state(false);
        struct random_source r = {seed};
        int32_t next[4] = {0};
        int16_t epoch[4] = {0};

        for (int step = 0; step < 200; step++) {
            uint32_t p = random_to(&r, 4);
            struct sent s = {p, epoch[p], next[p], 1 + (int32_t)random_to(&r, 5)};

            if (random_to(&r, 20) == 0)
                s = (struct sent){p, ++epoch[p], 0, 1};
            ck_assert_int_eq(append(ps, &s), 0);
            ck_assert_int_eq(append(ps, &s), -1);
            next[p] = sequence_add(s.sequence, s.count);
            ck_assert_int_eq(append(ps, &(struct sent){p, epoch[p], next[p] + 1, 1}),
                             OUT_OF_ORDER_SEQUENCE_NUMBER);
        }
        ck_assert_int_eq(producer_state_take_snapshot(ps, false, NULL), 0);
        check_reloaded(ps);
        ck_assert_int_eq(producer_state_truncate_fully(ps, 0), 0);
    }
}
END_TEST

TEST_MAIN("broker/storage/producer_state", sequences_must_follow_each_other,
          sequences_go_on_at_zero_after_the_largest, the_last_five_batches_are_known_again,
          an_older_epoch_is_fenced_and_a_newer_one_begins_at_zero, a_refused_append_changes_nothing,
          an_open_transaction_holds_the_stable_offset, a_marker_without_data_updates_epochs_only,
          old_markers_are_fenced_but_not_when_replicated, a_transaction_begins_with_its_token_only,
          idle_producers_expire_unless_a_transaction_is_open, a_snapshot_brings_the_state_back,
          a_broken_snapshot_makes_way_for_an_older_one, expired_producers_are_not_loaded,
          truncation_drops_snapshots_outside_the_log, stray_snapshots_go_but_for_the_newest,
          a_replay_finds_transactions_and_aborts, an_orderly_producer_is_never_refused)
