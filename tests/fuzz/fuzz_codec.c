/*
 * fuzz_codec.c - any bytes through the decoder of any message; what it accepts must encode again
 *
 * Byte 0: API key, bit 7 for the answer; a key that is none picks another message. Byte 1: version.
 * The rest is the message. What is decoded encodes to bytes that decode and encode to themselves.
 */
#include "common/wire/header.h"

#include <assert.h>

enum { IS_RESPONSE = 0x80, PRINT_MAX = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct msg_desc *choose(uint8_t byte)
{
    const struct api_msgs *api = api_messages_find(byte & ~IS_RESPONSE);

    if (api)
        return byte & IS_RESPONSE ? api->response : api->request;
    return all_messages[byte % ALL_MESSAGES_COUNT];
}

static struct slice encode(const struct msg_desc *d, int16_t v, const void *msg, struct arena *a)
{
    struct writer w;

    writer_init(&w, a);
    int r = codec_encode(d, v, msg, &w);
    assert(r == 0);
    struct slice flat = writer_flat(&w);
    assert((ssize_t)flat.len == codec_size(d, v, msg));
    return flat;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    CLEANUP(strbuf_deinit) struct strbuf text = {.max = PRINT_MAX};

    if (size < 2)
        return 0;
    const struct msg_desc *d = choose(data[0]);
    int16_t v = (int16_t)(d->min_version + data[1] % (d->max_version - d->min_version + 1));
    void *msg = arena_alloc(&a, d->root.size);

    if (codec_decode(d, v, slice_of(data + 2, size - 2), &a, msg) < 0)
        return 0;
    codec_print(d, v, msg, &text);
    struct slice once = encode(d, v, msg, &a);
    void *again = arena_alloc(&a, d->root.size);
    int r = codec_decode(d, v, once, &a, again);
    assert(r == 0);
    struct slice twice = encode(d, v, again, &a);
    assert(twice.len == once.len && memcmp(twice.p, once.p, once.len) == 0);
    return 0;
}
