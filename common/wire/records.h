/*
 * records.h - the record batches inside a message: bytes in memory, or a range of a file
 *
 * A Fetch answer is made of file ranges, which leave by sendfile and are never copied here. Bytes
 * where file is NULL; null where bytes.p is NULL too. Nothing is owned: whoever made the message
 * keeps the bytes and the file alive until it is sent.
 */
#pragma once

#include "common/base/str.h"

struct file;

struct records {
    struct slice bytes;
    struct file *file;
    uint64_t pos; /* byte in file */
    uint32_t len; /* bytes of the range; of the file only */
};

static inline bool records_is_null(struct records r)
{
    return r.file == NULL && r.bytes.p == NULL;
}

static inline size_t records_len(struct records r)
{
    return r.file ? r.len : r.bytes.len;
}
