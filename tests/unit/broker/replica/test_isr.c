#include "broker/replica/isr.h"

#include "tests/support/test_main.h"

#define IDS(...)                                                                                   \
    (int32_t[]){__VA_ARGS__}, (int32_t)(sizeof((int32_t[]){__VA_ARGS__}) / sizeof(int32_t))

START_TEST(expansion_counts_at_once_for_the_maximal_set_only)
{
    struct isr isr = {0};

    isr_set(&isr, IDS(1, 2));
    isr_propose_add(&isr, 3);
    ck_assert_int_eq(isr.change, ISR_EXPANDING);
    ck_assert(isr_maximal_has(&isr, 3));
    ck_assert(!id_list_has(&isr.committed, 3));
    ck_assert_int_eq(isr_maximal_count(&isr), 3);
    isr_revert(&isr);
    ck_assert_int_eq(isr_maximal_count(&isr), 2);
    ck_assert(!isr_maximal_has(&isr, 3));
    isr_deinit(&isr);
}
END_TEST

START_TEST(shrunk_members_count_until_it_is_agreed)
{
    struct isr isr = {0};
    struct id_list gone = {0};

    isr_set(&isr, IDS(1, 2, 3));
    id_list_set(&gone, IDS(3));
    isr_propose_remove(&isr, &gone);
    ck_assert(isr_maximal_has(&isr, 3));
    ck_assert_int_eq(isr_maximal_count(&isr), 3);
    ck_assert_int_eq(isr.proposed.count, 2);
    isr_set(&isr, IDS(1, 2));
    ck_assert_int_eq(isr.change, ISR_STABLE);
    ck_assert_int_eq(isr_maximal_count(&isr), 2);
    id_list_deinit(&gone);
    isr_deinit(&isr);
}
END_TEST

START_TEST(records_follow_the_assignment)
{
    struct remote_list l = {0};
    struct id_list ids = {0};

    id_list_set(&ids, IDS(1, 2, 3));
    remote_list_set(&l, &ids, 1);
    ck_assert_int_eq(l.count, 2);
    ck_assert_ptr_null(remote_list_find(&l, 1));
    ck_assert_int_eq(remote_list_find(&l, 2)->end_offset, -1);
    remote_list_find(&l, 3)->end_offset = 77;
    id_list_set(&ids, IDS(1, 3, 4));
    remote_list_set(&l, &ids, 1);
    ck_assert_ptr_null(remote_list_find(&l, 2));
    ck_assert_int_eq(remote_list_find(&l, 3)->end_offset, 77);
    ck_assert_int_eq(remote_list_find(&l, 4)->end_offset, -1);
    id_list_deinit(&ids);
    remote_list_deinit(&l);
}
END_TEST

static void fetched(struct remote_replica *r, int64_t offset, int64_t leader_end, int64_t now_ms)
{
    struct remote_fetch f = {offset, 0, leader_end, now_ms};

    remote_fetched(r, &f);
}

START_TEST(fetch_at_the_end_has_caught_up)
{
    struct remote_replica r = {.end_offset = -1, .caught_up_ms = REMOTE_NEVER};

    fetched(&r, 10, 10, 500);
    ck_assert_int_eq(r.caught_up_ms, 500);
    ck_assert(remote_is_caught_up(&r, 10, 999999, 100));
    ck_assert(remote_is_caught_up(&r, 11, 600, 100));
    ck_assert(!remote_is_caught_up(&r, 11, 601, 100));
}
END_TEST

START_TEST(fetch_at_the_end_of_last_time_had_caught_up_then)
{
    struct remote_replica r = {
        .end_offset = -1, .fetch_ms = REMOTE_NEVER, .caught_up_ms = REMOTE_NEVER};

    fetched(&r, 0, 10, 100);
    ck_assert_int_eq(r.caught_up_ms, REMOTE_NEVER);
    fetched(&r, 10, 20, 200);
    ck_assert_int_eq(r.caught_up_ms, 100);
    fetched(&r, 15, 30, 300);
    ck_assert_int_eq(r.caught_up_ms, 100);
    fetched(&r, 30, 40, 400);
    ck_assert_int_eq(r.caught_up_ms, 300);
}
END_TEST

START_TEST(never_fetched_is_not_caught_up_even_at_time_zero)
{
    struct remote_replica r = {.end_offset = -1, .caught_up_ms = REMOTE_NEVER};

    ck_assert(!remote_is_caught_up(&r, 5, 0, 30000));
}
END_TEST

START_TEST(new_leader_knows_nothing_of_positions)
{
    struct remote_replica r = {
        .end_offset = 50, .log_start = 3, .leader_end_at_fetch = 60, .fetch_ms = 7};
    struct remote_reset how = {.in_isr = true, .epoch_start = 40, .now_ms = 900};

    remote_reset(&r, &how);
    ck_assert_int_eq(r.end_offset, -1);
    ck_assert_int_eq(r.log_start, -1);
    ck_assert_int_eq(r.leader_end_at_fetch, -1);
    ck_assert_int_eq(r.fetch_ms, REMOTE_NEVER);
    ck_assert_int_eq(r.caught_up_ms, 900);
}
END_TEST

START_TEST(reelected_leader_keeps_positions)
{
    struct remote_replica r = {
        .end_offset = 50, .log_start = 3, .leader_end_at_fetch = 60, .fetch_ms = 7};
    struct remote_reset how = {.was_leader = true, .epoch_start = 40, .now_ms = 900};

    remote_reset(&r, &how);
    ck_assert_int_eq(r.end_offset, 50);
    ck_assert_int_eq(r.log_start, 3);
    ck_assert_int_eq(r.leader_end_at_fetch, 40);
    ck_assert_int_eq(r.fetch_ms, REMOTE_NEVER);
    ck_assert_int_eq(r.caught_up_ms, REMOTE_NEVER);
    how.in_isr = true;
    remote_reset(&r, &how);
    ck_assert_int_eq(r.fetch_ms, 900);
    ck_assert_int_eq(r.caught_up_ms, 900);
}
END_TEST

TEST_MAIN("broker/replica/isr", expansion_counts_at_once_for_the_maximal_set_only,
          shrunk_members_count_until_it_is_agreed, records_follow_the_assignment,
          fetch_at_the_end_has_caught_up, fetch_at_the_end_of_last_time_had_caught_up_then,
          never_fetched_is_not_caught_up_even_at_time_zero, new_leader_knows_nothing_of_positions,
          reelected_leader_keeps_positions)
