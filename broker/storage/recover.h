/*
 * recover.h - checks a segment batch by batch after a crash, and makes its indexes again (disk.md
 * §9.3)
 *
 * What is recognised as broken is cut off, with a line that says which bytes of which file went.
 * Called while a log is opened, before anybody else knows it. Errors: -errno of the disk; broken
 * data is no error here.
 */
#pragma once

#include "broker/storage/log_internal.h"

/* *ret_next: the offset after its last batch. *ret_is_cut: bytes were cut off, so that later
 * segments do not follow on it. */
int recover_segment(struct log *log, struct segment *seg, int64_t *ret_next, bool *ret_is_cut)
    MUST_CHECK;
/* Brings the files of the directory in order: leftovers of deletions and of unfinished cleanings
 * go, finished ones are put in place (§9.1, passes 1 to 3). *ret: the names that are left,
 * sorted. */
int recover_files(const char *dir, struct fs_names *ret) MUST_CHECK;
