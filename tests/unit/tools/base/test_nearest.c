#include "tools/base/nearest.h"

#include "tests/support/test_main.h"

static const char *nearest_of(const char *name)
{
    static const char *const known[] = {"retention.ms", "retention.bytes", "segment.ms"};
    struct nearest near = nearest_to(str_of(name));

    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        nearest_try(&near, known[i]);
    return near.best;
}

START_TEST(a_slip_finds_its_name)
{
    ck_assert_str_eq(nearest_of("retention.mx"), "retention.ms");
    ck_assert_str_eq(nearest_of("retentionms"), "retention.ms");
    ck_assert_str_eq(nearest_of("segment.mss"), "segment.ms");
    ck_assert_str_eq(nearest_of("retention.byte"), "retention.bytes");
}
END_TEST

START_TEST(what_is_far_has_no_name)
{
    ck_assert_ptr_null(nearest_of("cleanup.policy"));
    ck_assert_ptr_null(nearest_of(""));
    ck_assert_ptr_null(nearest_of("a-name-of-more-than-sixty-four-letters-which-is-not-compared-"
                                  "with-anything"));
}
END_TEST

TEST_MAIN("tools/base/nearest", a_slip_finds_its_name, what_is_far_has_no_name)
