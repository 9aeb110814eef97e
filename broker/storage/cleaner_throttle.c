#include "broker/storage/cleaner_throttle.h"

enum { PERIOD_US = 300 * 1000 };
static const double longest_us = 3600e6; /* a rate near zero does not overflow */

void cleaner_throttle_init(struct cleaner_throttle *t, double bytes_per_second, int64_t now_us)
{
    *t = (struct cleaner_throttle){.bytes_per_second = bytes_per_second, .since_us = now_us};
}

int64_t cleaner_throttle_add(struct cleaner_throttle *t, uint64_t bytes, int64_t now_us)
{
    int64_t elapsed_us = now_us - t->since_us, pause_us = 0;

    t->bytes += (double)bytes;
    if (elapsed_us < PERIOD_US)
        return 0;
    if (t->bytes_per_second > 0) {
        double wanted_us = MIN(t->bytes / t->bytes_per_second * 1e6, longest_us);

        pause_us = MAX((int64_t)wanted_us - elapsed_us, (int64_t)0);
    }
    t->bytes = 0;
    t->since_us = now_us + pause_us;
    return pause_us;
}
