#include "common/wire/writer.h"

enum {
    FIRST_CHUNK = 256,
    MAX_CHUNK = 32 * 1024,
    FIRST_PIECES = 4,
    /* Below this, copying is cheaper than one more entry in writev. */
    MIN_REFERENCED = 1024,
};

void writer_init(struct writer *w, struct arena *arena)
{
    *w = (struct writer){.arena = arena, .next_chunk = FIRST_CHUNK};
}

void writer_init_measure(struct writer *w, uint8_t *scratch, size_t size)
{
    *w = (struct writer){.at = scratch, .end = scratch + size, .start = scratch};
}

void writer_fail(struct writer *w, int err, const char *field)
{
    if (w->err)
        return;
    w->err = err;
    w->err_field = field;
}

static void add_piece(struct writer *w, struct piece piece)
{
    w->total += piece.len;
    if (!w->arena || piece.len == 0)
        return;
    if (w->piece_count == w->piece_max) {
        size_t max = w->piece_max ? w->piece_max * 2 : FIRST_PIECES;
        struct piece *pieces = arena_alloc(w->arena, max * sizeof *pieces);

        if (w->piece_count)
            memcpy(pieces, w->pieces, w->piece_count * sizeof *pieces);
        w->pieces = pieces;
        w->piece_max = max;
    }
    w->pieces[w->piece_count++] = piece;
}

void writer_end(struct writer *w)
{
    size_t n = (size_t)(w->at - w->start);

    add_piece(w, (struct piece){.mem = slice_of(w->start, n), .len = n});
    w->start = w->at;
}

void writer_grow(struct writer *w, size_t n)
{
    size_t size = MAX(w->next_chunk, n);

    if (!w->arena) { /* measuring: the same scratch again */
        w->total += (size_t)(w->at - w->start);
        w->at = w->start;
        assert((size_t)(w->end - w->at) >= n);
        return;
    }
    writer_end(w);
    w->start = w->at = arena_alloc(w->arena, size);
    w->end = w->start + size;
    w->next_chunk = MIN(w->next_chunk * 4, (size_t)MAX_CHUNK);
}

void writer_bytes(struct writer *w, const void *p, size_t n)
{
    if (!w->arena)
        w->total += n;
    else if (n)
        memcpy(writer_room(w, n), p, n);
}

void writer_records(struct writer *w, const struct records *r)
{
    if (!r->file && r->bytes.len < MIN_REFERENCED) {
        writer_bytes(w, r->bytes.p, r->bytes.len);
        return;
    }
    if (w->arena)
        writer_end(w);
    if (r->file)
        add_piece(w, (struct piece){.file = r->file, .pos = r->pos, .len = r->len});
    else
        add_piece(w, (struct piece){.mem = r->bytes, .len = r->bytes.len});
}

struct slice writer_flat(struct writer *w)
{
    writer_end(w);
    if (w->piece_count == 1 && !w->pieces[0].file)
        return w->pieces[0].mem;
    uint8_t *flat = arena_alloc(w->arena, w->total);
    size_t at = 0;

    for (size_t i = 0; i < w->piece_count; i++) {
        assert(!w->pieces[i].file);
        memcpy(flat + at, w->pieces[i].mem.p, w->pieces[i].len);
        at += w->pieces[i].len;
    }
    return slice_of(flat, at);
}
