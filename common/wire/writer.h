/*
 * writer.h - builds outgoing bytes as a list of pieces: memory, and ranges of files
 *
 * Memory is taken from an arena in growing chunks; nothing is moved once written, and record bytes
 * are not copied: file ranges become pieces of their own, and so do large records in memory.
 * Whoever made the records keeps them alive until the pieces are sent. Failure (something that
 * cannot be encoded) sticks: the first one is in err, and the field that caused it in err_field.
 *
 *   struct writer w;
 *   writer_init(&w, &arena);
 *   r = codec_encode(&fetch_response_desc, version, &response, &w);
 *   writer_end(&w);    and w.pieces[0 .. w.piece_count - 1] are w.total bytes
 *
 * A writer has one owner and is not moved while it measures (writer_init_measure).
 */
#pragma once

#include "common/base/arena.h"
#include "common/base/be.h"
#include "common/wire/records.h"

struct piece {
    struct slice mem; /* where file is NULL */
    struct file *file;
    uint64_t pos; /* byte in file */
    size_t len;   /* of either kind */
};

struct writer {
    struct arena *arena; /* NULL: only measures */
    uint8_t *at, *end;   /* room in the present chunk */
    uint8_t *start;      /* bytes from here to at belong to no piece yet */
    struct piece *pieces;
    size_t piece_count, piece_max;
    size_t total; /* bytes of all pieces */
    size_t next_chunk;
    int err;
    const char *err_field;
};

void writer_init(struct writer *w, struct arena *arena);
/* Counts instead of writing: writer_len() says how long it would be. scratch: 16 bytes or more. */
void writer_init_measure(struct writer *w, uint8_t *scratch, size_t size);
/* Closes the last piece. More may be written afterwards, and needs another writer_end. */
void writer_end(struct writer *w);
void writer_fail(struct writer *w, int err, const char *field);
/* Everything in one piece of memory; only for messages without file ranges. Needs no writer_end. */
struct slice writer_flat(struct writer *w);

/* Makes room for n bytes in one place. */
void writer_grow(struct writer *w, size_t n);
void writer_bytes(struct writer *w, const void *p, size_t n);
/* The content of records, without a length before it. */
void writer_records(struct writer *w, const struct records *r);

static inline size_t writer_len(const struct writer *w)
{
    return w->total + (size_t)(w->at - w->start);
}

/* n bytes (16 at most while measuring) that the caller fills before the pieces are sent. */
static inline uint8_t *writer_room(struct writer *w, size_t n)
{
    if ((size_t)(w->end - w->at) < n)
        writer_grow(w, n);
    w->at += n;
    return w->at - n;
}

static inline void writer_i8(struct writer *w, int8_t v)
{
    *writer_room(w, 1) = (uint8_t)v;
}

static inline void writer_i16(struct writer *w, int16_t v)
{
    be16_write(writer_room(w, 2), (uint16_t)v);
}

static inline void writer_i32(struct writer *w, int32_t v)
{
    be32_write(writer_room(w, 4), (uint32_t)v);
}

static inline void writer_i64(struct writer *w, int64_t v)
{
    be64_write(writer_room(w, 8), (uint64_t)v);
}

static inline void writer_uvarint(struct writer *w, uint32_t v)
{
    uint8_t *p = writer_room(w, VARINT_MAX_BYTES);
    w->at = p + varint_write_u(p, v);
}
