/*
 * test_main.h - the main() of a unit test: one suite, one executable, TAP for meson
 *
 *   START_TEST(stale_epoch_is_fenced) { ... } END_TEST
 *   TEST_MAIN("broker/replica/partition", stale_epoch_is_fenced, ...)
 */
#pragma once

#include "common/base/base.h"
#include "common/base/fault.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

/* Files of one test live below this directory; made fresh for each test, removed by the test's
 * process at exit, and where that was killed by the program at its end. */
const char *test_tmpdir(void);
void test_tmpdirs_begin(void);
void test_tmpdirs_end(void);
/* Before each test: under ThreadSanitizer the tests of a suite run in one process (CK_FORK=no), and
 * must not find what the one before left. */
void test_begin(void);

static inline int test_main_run(const char *name, const TTest *const *tests, size_t count)
{
    Suite *suite = suite_create(name);
    TCase *tcase = tcase_create(name);

    tcase_set_timeout(tcase, 120);
    tcase_add_checked_fixture(tcase, test_begin, NULL);
    for (size_t i = 0; i < count; i++)
        tcase_add_test(tcase, tests[i]);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_set_tap(runner, "-");
    test_tmpdirs_begin();
    srunner_run_all(runner, CK_SILENT);
    test_tmpdirs_end();
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#define TEST_MAIN(name, ...)                                                                       \
    int main(void)                                                                                 \
    {                                                                                              \
        const TTest *const tests_[] = {__VA_ARGS__};                                               \
        return test_main_run(name, tests_, ARRAY_LEN(tests_));                                     \
    }
