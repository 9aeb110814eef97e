#include "common/base/lock.h"

#include "common/base/clock.h"
#include "tests/support/test_main.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

START_TEST(locks_taken_in_order_pass)
{
    struct mutex outer, inner;

    mutex_init(&outer, LOCK_PARTITION);
    mutex_init(&inner, LOCK_LOG);
    WITH_LOCK(&outer)
    {
        WITH_LOCK(&inner)
        lock_assert_held(LOCK_LOG);
        WITH_LOCK(&inner)
        lock_assert_held(LOCK_PARTITION);
    }
}
END_TEST

START_TEST(a_lock_out_of_order_aborts)
{
    struct mutex outer, inner;

    mutex_init(&outer, LOCK_PARTITION);
    mutex_init(&inner, LOCK_LOG);
    dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
    mutex_lock(&inner);
    mutex_lock(&outer);
}
END_TEST

START_TEST(a_timed_wait_ends)
{
    struct mutex m;
    struct cond c;

    mutex_init(&m, LOCK_LOG);
    cond_init(&c);
    WITH_LOCK(&m)
    ck_assert(!cond_wait_until(&c, &m, clock_mono_us(&clock_system) + 1000));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("common/base/lock");
    TCase *tcase = tcase_create("lock");

    tcase_add_test(tcase, locks_taken_in_order_pass);
    tcase_add_test_raise_signal(tcase, a_lock_out_of_order_aborts, SIGABRT);
    tcase_add_test(tcase, a_timed_wait_ends);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_set_tap(runner, "-");
    srunner_run_all(runner, CK_SILENT);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
