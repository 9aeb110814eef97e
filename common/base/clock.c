#include "common/base/clock.h"

#include <time.h>

static int64_t read_us(clockid_t id)
{
    struct timespec ts;

    clock_gettime(id, &ts);
    return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

static int64_t system_wall_ms(const struct clock *c UNUSED)
{
    return read_us(CLOCK_REALTIME) / 1000;
}

static int64_t system_mono_us(const struct clock *c UNUSED)
{
    return read_us(CLOCK_MONOTONIC);
}

const struct clock clock_system = {.wall_ms = system_wall_ms, .mono_us = system_mono_us};

static int64_t fake_wall_ms(const struct clock *c)
{
    return container_of(c, struct clock_fake, clock)->wall_ms;
}

static int64_t fake_mono_us(const struct clock *c)
{
    return container_of(c, struct clock_fake, clock)->mono_us;
}

void clock_fake_init(struct clock_fake *f, int64_t wall_ms)
{
    *f = (struct clock_fake){
        .clock = {.wall_ms = fake_wall_ms, .mono_us = fake_mono_us},
        .wall_ms = wall_ms,
        .mono_us = 1000000,
    };
}

void clock_fake_advance(struct clock_fake *f, int64_t ms)
{
    f->wall_ms += ms;
    f->mono_us += ms * 1000;
}
