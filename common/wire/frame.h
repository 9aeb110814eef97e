/*
 * frame.h - cuts a byte stream into frames: 4 bytes of size, then that many bytes
 */
#pragma once

#include "common/base/str.h"

#include <sys/types.h>

/*
 * Bytes consumed and the frame's body, 0 where in does not hold a whole frame yet, -EMSGSIZE for a
 * size that is negative or above max: known as soon as the 4 bytes are in.
 */
ssize_t frame_next(struct slice in, uint32_t max, struct slice *ret_body) MUST_CHECK;
