/*
 * log_files.h - a partition's directory with given bytes in its files, for fuzzers of what opens it
 *
 * One thread. Whatever cannot be set up aborts: it is no finding.
 */
#pragma once

#include "broker/storage/log_internal.h"

struct log_files {
    char path[64];
    struct topic_conf *conf;
};

void log_files_init(struct log_files *f);
void log_files_deinit(struct log_files *f);
/* The file of the segment with base 0. */
void log_files_put(struct log_files *f, enum segment_file_type type, struct slice bytes);
int log_files_open(struct log_files *f, bool is_clean, struct log **ret) MUST_CHECK;

/* Reads the log from start to end, at most max batches. Asserts that what is read are batches with
 * offsets that go up. False where a read failed. */
bool log_files_walk(struct log *log, int max);
/* count batches of two records, without producer, from offset 0 on. */
struct slice log_files_batches(struct arena *a, int count);
