/*
 * scan.h - the batches of a .log file, one after another from a position
 *
 * Two readers of the same thing: head_scan looks at headers only and skips what lies between (to
 * find an offset), batch_scan has each batch whole in memory (to check it, or to look at its
 * records). A scan ends silently where fewer bytes than a whole batch are left before its end
 * (disk.md §6.1). Values owned by one thread; the file is borrowed.
 *
 * Errors: -EBADMSG for bytes that frame no batch (*pos says where), -errno.
 */
#pragma once

#include "common/io/fs.h"
#include "common/record/batch.h"

enum { SCAN_BLOCK = 4096 };

struct head_scan {
    struct file *file;
    uint64_t pos; /* of the next batch */
    uint64_t end; /* bytes of the file that count */
    uint64_t block_pos;
    uint32_t block_len;
    uint8_t block[SCAN_BLOCK];
};

/* The first SCAN_BLOCK bytes are read with the first call of next. */
void head_scan_init(struct head_scan *s, struct file *file, uint64_t pos, uint64_t end);
/* 1: *ret is a view of its header alone (never ask for its payload), valid until the next call; it
 * lies at s->pos - ret->size. 0: no whole batch is left. */
int head_scan_next(struct head_scan *s, struct batch *ret) MUST_CHECK;

struct batch_scan {
    struct file *file;
    uint64_t pos;
    uint64_t end;
    size_t read_ahead; /* bytes asked of the disk at once; as init sets it, or more */
    uint8_t *buf;
    size_t cap;
    size_t at;
    size_t len;
};

void batch_scan_init(struct batch_scan *s, struct file *file, uint64_t pos, uint64_t end);
void batch_scan_deinit(struct batch_scan *s);
/* 1: *ret is whole in memory until the next call, and lies at s->pos - ret->size. 0: no whole batch
 * is left. */
int batch_scan_next(struct batch_scan *s, struct batch *ret) MUST_CHECK;
