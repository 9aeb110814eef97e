#include "tools/base/stop.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t wanted;

static void on_signal(int sig UNUSED)
{
    static const char text[] = "\nstopping after this step; once more: at once\n";

    wanted = 1;
    if (isatty(STDERR_FILENO))
        (void)!write(STDERR_FILENO, text, sizeof text - 1);
}

void stop_catch(const struct invocation *inv)
{
    const struct sigaction sa = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};

    if (inv->as_kafka)
        return;
    sigaction(SIGINT, &sa, NULL);
    sigaction(SIGTERM, &sa, NULL);
}

bool stop_wanted(void)
{
    return wanted;
}

void stop_sleep(int64_t ms)
{
    const struct timespec ts = {ms / 1000, ms % 1000 * 1000000};

    if (!wanted)
        nanosleep(&ts, NULL);
}
