#include "common/base/say.h"

#include "common/base/clock.h"
#include "common/base/thread.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { MAX_LINE = 4096, WINDOW_US = 10000000 };

static const char *const level_names[] = {"DEBUG", "INFO", "WARN", "ERROR"};
static _Atomic int min_level = SAY_INFO;

void say_set_level(enum say_level min)
{
    min_level = (int)min;
}

bool say_is_on(enum say_level level)
{
    return (int)level >= min_level;
}

/* "[2026-11-30 12:00:00,123] INFO [reactor-0] " in UTC; returns its length. */
static size_t put_prefix(char *line, enum say_level level)
{
    int64_t ms = clock_wall_ms(&clock_system);
    time_t s = (time_t)(ms / 1000);
    struct tm tm;

    gmtime_r(&s, &tm);
    size_t n = strftime(line, MAX_LINE, "[%Y-%m-%d %H:%M:%S", &tm);
    n += (size_t)snprintf(line + n, MAX_LINE - n, ",%03d] %s [%s] ", (int)(ms % 1000),
                          level_names[level], thread_name());
    return n;
}

void say(enum say_level level, const char *fmt, ...)
{
    char line[MAX_LINE];
    va_list ap;

    if (!say_is_on(level))
        return;
    size_t n = put_prefix(line, level);
    va_start(ap, fmt);
    int more = vsnprintf(line + n, sizeof line - n - 1, fmt, ap);
    va_end(ap);
    n = MIN(n + (size_t)MAX(more, 0), sizeof line - 2);
    line[n++] = '\n';
    /* One write is one line, also when threads speak at once; a full or closed stderr must not stop
     * the broker. */
    ssize_t written UNUSED = write(STDERR_FILENO, line, n);
}

bool say_limit_pass(struct say_limit *l, uint32_t per_10s, uint32_t *ret_left_out)
{
    int64_t now = clock_mono_us(&clock_system);
    int64_t start = l->window_us;

    *ret_left_out = 0;
    if (now - start >= WINDOW_US && atomic_compare_exchange_strong(&l->window_us, &start, now)) {
        uint32_t said = atomic_exchange(&l->said, 1);

        *ret_left_out = said > per_10s ? said - per_10s : 0;
        return true;
    }
    return atomic_fetch_add(&l->said, 1) < per_10s;
}
