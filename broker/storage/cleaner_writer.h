/*
 * cleaner_writer.h - the segment that a cleaning writes: BASE.log.cleaned with its indexes
 *
 *   cleaner_writer_open -> add, add_aborted ... -> finish -> log_swap takes it      (or discard)
 *
 * Nobody else knows the files until they are swapped in; a crash before leaves what the next start
 * removes. Value owned by one thread. Errors: -errno of the disk; -EOVERFLOW where the segment
 * would exceed 2 GiB.
 */
#pragma once

#include "broker/storage/log_internal.h"
#include "broker/storage/txn_index.h"

#define SUFFIX_CLEANED ".cleaned"
#define SUFFIX_SWAP    ".swap"

struct cleaner_writer_opts {
    const char *dir;
    int64_t base;
    const struct topic_conf *conf;
    size_t buffer_bytes; /* written at once */
    struct mutex *shared;
};

struct cleaner_writer {
    struct cleaner_writer_opts opts;
    struct segment *seg;
    struct strbuf pending; /* whole batches; the caller appends to it, then calls _added() */
};

/* Makes the files; what an earlier cleaning left under their names goes. */
int cleaner_writer_open(struct cleaner_writer *w, const struct cleaner_writer_opts *opts)
    MUST_CHECK;
/* Writes what is pending, where that is much. */
int cleaner_writer_added(struct cleaner_writer *w) MUST_CHECK;
int cleaner_writer_add_aborted(struct cleaner_writer *w, struct txn_entry e) MUST_CHECK;
/* Writes, seals and fsyncs everything; the files look as if last written at modified_ms. */
int cleaner_writer_finish(struct cleaner_writer *w, int64_t modified_ms) MUST_CHECK;
/* Frees it; removes the files where the segment was not taken. */
void cleaner_writer_deinit(struct cleaner_writer *w);
/* malloc'ed path of a file of a segment on its way in. */
char *cleaner_file_path(const char *dir, int64_t base, enum segment_file_type type,
                        const char *suffix);
/* Removes files of that suffix. */
int cleaner_files_remove(const char *dir, int64_t base, const char *suffix) MUST_CHECK;
