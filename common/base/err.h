/*
 * err.h - how functions say that something went wrong
 *
 *   0    done
 *   < 0  -errno: this object cannot go on (disk, stored bytes, a peer that sends garbage). Passed
 *        up unchanged to whoever owns the object: the connection is closed, the log dir goes
 *        offline, the thread stops.
 *   > 0  a Kafka error code: an answer for a client, listed in the header comment of each function
 *        that returns it.
 *
 * Kafka's own -1 (UNKNOWN_SERVER_ERROR) is never used inside (it would read as -EPERM);
 * err_to_wire() is the only translation.
 */
#pragma once

#include "common/base/base.h"
#include "common/base/str.h"

#include <errno.h>

/* The codes of Kafka 3.9, by their names in the protocol. */
enum kafka_error {
#define ERROR(name, code, retry) name = (code),
#include "common/base/errors.def"
#undef ERROR
};

/* The code that a client is told: -EIO, -ENOSPC, -EROFS and their like are KAFKA_STORAGE_ERROR,
 * -EBADMSG is CORRUPT_MESSAGE, other negatives are UNKNOWN_SERVER_ERROR. */
int16_t err_to_wire(int r);
/* "NOT_CONTROLLER" for a Kafka code (wire's -1 too), strerror's text for another negative. Never
 * NULL; static storage. */
const char *err_name(int r);
bool err_is_retriable(int16_t wire_code);

/* Says at error level what was found broken, with the line that saw it, and yields -EBADMSG. */
#define CORRUPT(...) err_corrupt(__FILE__, __LINE__, __VA_ARGS__)
int err_corrupt(const char *file, int line, const char *fmt, ...) PRINTF_LIKE(3, 4);
