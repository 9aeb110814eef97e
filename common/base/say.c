#include "common/base/say.h"

#include "common/base/clock.h"
#include "common/base/thread.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { MAX_LINE = 4096, WINDOW_US = 10000000 };

enum { INHERITED = -1, ROOT = 0 };

static const char *const level_names[SAY_LEVELS] = {"TRACE", "DEBUG", "INFO",
                                                    "WARN",  "ERROR", "FATAL"};

/* A folder stands behind the one that it lies in. */
static struct {
    const char *folder;
    _Atomic int level;
} loggers[] = {
    {"root", SAY_INFO},
    {"broker", INHERITED},
    {"broker/api", INHERITED},
    {"broker/config", INHERITED},
    {"broker/group", INHERITED},
    {"broker/meta", INHERITED},
    {"broker/quota", INHERITED},
    {"broker/replica", INHERITED},
    {"broker/request", INHERITED},
    {"broker/server", INHERITED},
    {"broker/storage", INHERITED},
    {"broker/txn", INHERITED},
    {"common", INHERITED},
    {"common/client", INHERITED},
    {"common/io", INHERITED},
    {"controller", INHERITED},
    {"zk", INHERITED},
};

/* The least level that any of them has. */
static _Atomic int min_level = SAY_INFO;

static void find_min(void)
{
    int min = SAY_LEVELS;

    for (size_t i = 0; i < ARRAY_LEN(loggers); i++)
        min = loggers[i].level == INHERITED ? min : MIN(min, (int)loggers[i].level);
    min_level = min;
}

void say_set_level(enum say_level min)
{
    say_logger_set(ROOT, min);
}

bool say_is_on(enum say_level level)
{
    return (int)level >= min_level;
}

int say_logger_count(void)
{
    return (int)ARRAY_LEN(loggers);
}

const char *say_logger_name(int logger)
{
    return loggers[logger].folder;
}

static bool lies_in(const char *path, const char *folder)
{
    size_t n = strlen(folder);

    return strncmp(path, folder, n) == 0 && path[n] == '/';
}

enum say_level say_logger_level(int logger)
{
    int level = loggers[logger].level;

    for (int i = logger - 1; i > ROOT && level == INHERITED; i--) {
        if (lies_in(loggers[logger].folder, loggers[i].folder))
            level = loggers[i].level;
    }
    return (enum say_level)(level == INHERITED ? (int)loggers[ROOT].level : level);
}

void say_logger_set(int logger, enum say_level min)
{
    loggers[logger].level = (int)min;
    find_min();
}

void say_logger_unset(int logger)
{
    assert(logger != ROOT);
    loggers[logger].level = INHERITED;
    find_min();
}

/* "../../broker/storage/log.c": the last one that it lies in. */
static enum say_level level_of(const char *file)
{
    while (strncmp(file, "../", 3) == 0)
        file += 3;
    for (int i = (int)ARRAY_LEN(loggers) - 1; i > ROOT; i--) {
        if (lies_in(file, loggers[i].folder))
            return say_logger_level(i);
    }
    return say_logger_level(ROOT);
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

void say_from(const char *file, enum say_level level, const char *fmt, ...)
{
    char line[MAX_LINE];
    va_list ap;

    if (!say_is_on(level) || level < level_of(file))
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
