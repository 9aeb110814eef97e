#include "common/wire/reader.h"

uint32_t reader_uvarint_long(struct reader *r)
{
    uint64_t v = 0;
    size_t n = varint_read_u(r->p, reader_left(r), VARINT_MAX_BYTES, &v);

    if (n == 0) {
        reader_fail(r);
        return 0;
    }
    r->p += n;
    return (uint32_t)v;
}
