#include "common/base/arena.h"

#include "tests/support/test_main.h"

#include <stdint.h>

START_TEST(memory_is_aligned_and_does_not_overlap)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    uint8_t *before = NULL;

    for (size_t n = 1; n < 3000; n += 7) {
        uint8_t *p = arena_alloc(&a, n);

        ck_assert_uint_eq((uintptr_t)p % 16, 0);
        memset(p, (int)(n & 0xff), n);
        if (before)
            ck_assert_uint_eq(before[0], (n - 7) & 0xff);
        before = p;
    }
}
END_TEST

START_TEST(an_allocation_larger_than_a_chunk_works)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    uint8_t *p = arena_zalloc(&a, 10 * 1000 * 1000);

    ck_assert_uint_eq(p[10 * 1000 * 1000 - 1], 0);
}
END_TEST

static int drops;

static void count_drop(void *obj)
{
    ck_assert_int_eq(*(int *)obj, drops);
    drops++;
}

START_TEST(held_objects_are_dropped_newest_first_at_reset)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    int second = 0, first = 1;

    arena_hold(&a, &first, count_drop);
    arena_hold(&a, &second, count_drop);
    arena_reset(&a);
    ck_assert_int_eq(drops, 2);
    arena_reset(&a);
    ck_assert_int_eq(drops, 2);
}
END_TEST

START_TEST(a_held_buffer_lives_until_reset)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct buf *b = buf_new(8);

    arena_hold_buf(&a, buf_ref(b));
    ck_assert_uint_eq(b->refs, 2);
    arena_reset(&a);
    ck_assert_uint_eq(b->refs, 1);
    buf_unref(b);
}
END_TEST

START_TEST(text_is_copied_and_terminated_and_null_stays_null)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct str s = arena_str(&a, STR("abc"));

    ck_assert_str_eq(s.p, "abc");
    ck_assert(str_is_null(arena_str(&a, STR_NULL)));
    ck_assert_str_eq(arena_printf(&a, "%s-%d", "t", 3).p, "t-3");
}
END_TEST

TEST_MAIN("common/base/arena", memory_is_aligned_and_does_not_overlap,
          an_allocation_larger_than_a_chunk_works, held_objects_are_dropped_newest_first_at_reset,
          a_held_buffer_lives_until_reset, text_is_copied_and_terminated_and_null_stays_null)
