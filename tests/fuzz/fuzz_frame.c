/*
 * fuzz_frame.c - a byte stream cut into frames, each read as a request's header and as an answer's
 *
 * However the stream is cut into reads, the same frames come out.
 */
#include "common/wire/frame.h"

#include "common/wire/header.h"

#include <assert.h>

enum { MAX_FRAME = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_headers(struct slice frame)
{
    struct request_header h;
    struct slice body;
    int32_t correlation_id;

    if (request_header_decode(frame, &h, &body) == 0) {
        assert(body.len <= frame.len && body.p + body.len == frame.p + frame.len);
        assert(h.client_id.len <= frame.len);
    }
    (void)!response_header_decode(&h, frame, &correlation_id, &body);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice in = slice_of(data, size);

    while (in.len > 0) {
        struct slice body;
        ssize_t n = frame_next(in, MAX_FRAME, &body);

        if (n <= 0)
            break;
        assert((size_t)n <= in.len && body.len + 4 == (size_t)n);
        /* One byte less and it is no whole frame. */
        assert(frame_next(slice_sub(in, 0, (size_t)n - 1), MAX_FRAME, &body) == 0);
        assert(frame_next(in, MAX_FRAME, &body) == n);
        read_headers(body);
        in = slice_from(in, (size_t)n);
    }
    return 0;
}
