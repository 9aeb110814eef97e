#include "common/wire/frame.h"

#include "common/base/be.h"

#include <errno.h>

enum { FRAME_SIZE_LEN = 4 };

ssize_t frame_next(struct slice in, uint32_t max, struct slice *ret_body)
{
    if (in.len < FRAME_SIZE_LEN)
        return 0;
    uint32_t n = be32_read(in.p);
    if (n > max || n > INT32_MAX)
        return -EMSGSIZE;
    if (in.len - FRAME_SIZE_LEN < n)
        return 0;
    *ret_body = slice_sub(in, FRAME_SIZE_LEN, n);
    return (ssize_t)n + FRAME_SIZE_LEN;
}
