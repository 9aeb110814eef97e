#include "tools/base/stop.h"

#include "tests/support/test_main.h"

#include <signal.h>

START_TEST(the_first_signal_only_asks)
{
    const struct invocation kafkas = {.as_kafka = true}, ours = {.as_kafka = false};
    struct sigaction before, now;

    ck_assert_int_eq(sigaction(SIGINT, NULL, &before), 0);
    stop_catch(&kafkas);
    ck_assert_int_eq(sigaction(SIGINT, NULL, &now), 0);
    ck_assert_ptr_eq(now.sa_handler, before.sa_handler);
    stop_catch(&ours);
    ck_assert(!stop_wanted());
    raise(SIGINT);
    ck_assert(stop_wanted());
    stop_sleep(60000); /* does not */
    /* and the second one would end the program */
    ck_assert_int_eq(sigaction(SIGINT, NULL, &now), 0);
    ck_assert_ptr_eq(now.sa_handler, SIG_DFL);
}
END_TEST

TEST_MAIN("tools/base/stop", the_first_signal_only_asks)
