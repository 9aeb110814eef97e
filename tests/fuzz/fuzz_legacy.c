/*
 * fuzz_legacy.c - any bytes as what an old client fetches
 *
 * Byte 0: the magic it asks for. What comes out are whole valid entries of at most that magic, and
 * at most one cut end.
 */
#include "common/record/legacy.h"

#include <assert.h>

enum { UNPACK_MAX = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(strbuf_deinit) struct strbuf out = {0};
    struct down_convert_opts opts = {.max_unpacked = UNPACK_MAX};
    struct batch b;

    if (size < 1)
        return 0;
    opts.magic = data[0] & 1;
    opts.first_offset = data[0] >> 1 & 7;
    struct slice in = slice_of(data + 1, size - 1), rest = in;
    if (down_convert(in, &opts, &out) != 0)
        return 0;

    bool is_valid = true;
    while (batch_next(&rest, &b) == 1)
        is_valid = is_valid && (b.magic > opts.magic || batch_is_valid(&b));
    rest = slice_of_str(strbuf_str(&out));
    while (batch_next(&rest, &b) == 1) {
        struct legacy_message m;

        assert(b.magic <= opts.magic);
        if (is_valid)
            assert(batch_is_valid(&b));
        (void)!legacy_message_parse(&b, &m);
    }
    return 0;
}
