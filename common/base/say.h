/*
 * say.h - diagnostics ("log" always means the data log)
 *
 * One line per event, key facts as name=value, and for whatever waits: what is awaited, since when,
 * and what unblocks it. A line goes to stderr with one write: time, level, thread, text. Thread:
 * any.
 *
 *   say_info("replica caught up partition=%s-%d offset=%" PRId64, topic, partition, offset);
 *
 * Where a client can trigger a line, use say_limited(): at most `per_10s` lines each ten seconds
 * and call site, then one line that counts what was left out.
 */
#pragma once

#include "common/base/base.h"

#include <inttypes.h>

/* Nothing is said at the first and the last: they are thresholds. */
enum say_level { SAY_TRACE, SAY_DEBUG, SAY_INFO, SAY_WARN, SAY_ERROR, SAY_FATAL, SAY_LEVELS };

/* The root's. */
void say_set_level(enum say_level min);
/* Whether any logger says such lines. */
bool say_is_on(enum say_level level);
void say_from(const char *file, enum say_level level, const char *fmt, ...) PRINTF_LIKE(3, 4);

#define say(level, ...) say_from(__FILE__, (level), __VA_ARGS__)

#define say_error(...) say(SAY_ERROR, __VA_ARGS__)
#define say_warn(...)  say(SAY_WARN, __VA_ARGS__)
#define say_info(...)  say(SAY_INFO, __VA_ARGS__)
#define say_debug(...)                                                                             \
    do {                                                                                           \
        if (say_is_on(SAY_DEBUG))                                                                  \
            say(SAY_DEBUG, __VA_ARGS__);                                                           \
    } while (0)

/*
 * Loggers: one for each folder of source files, and "root" above all, the first. Lines of a folder
 * without a level of its own have the level of the folder that it lies in.
 */
int say_logger_count(void);
const char *say_logger_name(int logger);
/* Its own level, or the one that it has from above. */
enum say_level say_logger_level(int logger);
void say_logger_set(int logger, enum say_level min);
/* Of any but the root: gives up its own level. */
void say_logger_unset(int logger);

/* State per call site; guarded by atomics inside. */
struct say_limit {
    _Atomic int64_t window_us;
    _Atomic uint32_t said;
};

/* True if a line may be said now; *ret_left_out counts the lines left out in the window before, to
 * be mentioned. */
bool say_limit_pass(struct say_limit *l, uint32_t per_10s, uint32_t *ret_left_out);

#define say_limited(level, per_10s, fmt, ...)                                                      \
    do {                                                                                           \
        static struct say_limit limit_;                                                            \
        uint32_t left_out_;                                                                        \
        if (say_limit_pass(&limit_, (per_10s), &left_out_)) {                                      \
            if (left_out_)                                                                         \
                say((level), fmt " (%u more like this left out)", ##__VA_ARGS__, left_out_);       \
            else                                                                                   \
                say((level), fmt, ##__VA_ARGS__);                                                  \
        }                                                                                          \
    } while (0)
