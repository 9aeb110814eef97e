/*
 * checkpoint.h - the offset checkpoint files of a log dir: one offset per partition, as text
 * (disk.md §7.1)
 *
 *   0                    version
 *   2                    number of lines that follow
 *   orders 0 1500        topic, partition, offset
 *
 * Written aside and renamed into place, so a reader sees the old file or the new one. Values owned
 * by their maker. Thread: any, one writer per file.
 */
#pragma once

#include "common/base/strbuf.h"

struct checkpoint_entry {
    struct str topic; /* in the checkpoint's own memory */
    int32_t partition;
    int64_t offset;
};

/* Zeroed is empty. */
struct checkpoint {
    struct checkpoint_entry *v;
    size_t count;
    size_t cap;
    bool is_sorted;
    struct strbuf text; /* what was read */
};

void checkpoint_deinit(struct checkpoint *c);
/* topic is borrowed until deinit. */
void checkpoint_add(struct checkpoint *c, struct str topic, int32_t partition, int64_t offset);
/* NULL where there is none. Sorts at first use. */
const struct checkpoint_entry *checkpoint_find(struct checkpoint *c, struct str topic,
                                               int32_t partition);

/* An absent or zero-length file is an empty checkpoint. -EBADMSG for a malformed one: *ret_why says
 * file, line and what (malloc'ed). c must be zeroed. */
int checkpoint_read(const char *path, struct checkpoint *c, char **ret_why) MUST_CHECK;
int checkpoint_write(const char *path, const struct checkpoint *c) MUST_CHECK;
