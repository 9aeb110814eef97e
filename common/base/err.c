#include "common/base/err.h"

#include "common/base/say.h"

#include <stdarg.h>
#include <stdio.h>

enum retry { N, R, M };

struct error {
    int16_t code;
    enum retry retry;
    const char *name;
};

static const struct error errors[] = {
#define ERROR(name, code, retry) {(code), (retry), #name},
#include "common/base/errors.def"
#undef ERROR
};

/* The table holds -1, 0, 1, ... without a gap. */
static const struct error *error_find(int code)
{
    if (code < -1 || code + 1 >= (int)ARRAY_LEN(errors))
        return NULL;
    assert(errors[code + 1].code == code);
    return &errors[code + 1];
}

int16_t err_to_wire(int r)
{
    if (r >= 0)
        return error_find(r) ? (int16_t)r : (int16_t)UNKNOWN_SERVER_ERROR;
    switch (-r) {
    case EIO:
    case ENOSPC:
    case EDQUOT:
    case EROFS:
    case ENOENT:
    case ENOTDIR:
    case EACCES:
    case EMFILE:
    case ENFILE:
    case ESTALE:
    case ENODEV:
    case ENXIO:
    case EFBIG:
        return KAFKA_STORAGE_ERROR;
    case EBADMSG:
        return CORRUPT_MESSAGE;
    default:
        return UNKNOWN_SERVER_ERROR;
    }
}

const char *err_name(int r)
{
    const struct error *e = error_find(r);

    if (e)
        return e->name;
    return r < 0 ? strerror(-r) : "UNKNOWN_ERROR_CODE";
}

bool err_is_retriable(int16_t wire_code)
{
    const struct error *e = error_find(wire_code);

    return e && e->retry != N;
}

int err_corrupt(const char *file, int line, const char *fmt, ...)
{
    char text[512];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    say_error("corrupt: %s (seen at %s:%d)", text, file, line);
    return -EBADMSG;
}
