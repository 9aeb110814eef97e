/*
 * names.h - names of the files of a partition and of the directories of a log dir (disk.md §1, §6)
 *
 * A segment's files are its base offset in 20 digits and a suffix: 00000000000000000042.timeindex;
 * what is on its way in or out has a second suffix (.deleted, .cleaned, .swap). A partition's
 * directory is TOPIC-PARTITION, or, on its way out or in, TOPIC-PARTITION.<32 hex digits>-delete
 * (-future, -stray).
 */
#pragma once

#include "common/base/str.h"

enum {
    SEGMENT_DIGITS = 20,
    FILE_NAME_MAX = 255,
};

enum segment_file_type {
    SEGMENT_LOG,
    SEGMENT_INDEX,
    SEGMENT_TIMEINDEX,
    SEGMENT_TXNINDEX,
    SEGMENT_SNAPSHOT,
    SEGMENT_FILE_TYPES
};

enum segment_file_state { SEGMENT_LIVE, SEGMENT_DELETED, SEGMENT_CLEANED, SEGMENT_SWAP };

struct segment_file {
    int64_t base;
    enum segment_file_type type;
    enum segment_file_state state;
};

/* False for a name that is no segment file's. */
bool segment_file_parse(const char *name, struct segment_file *ret);
/* malloc'ed path of a live file in the partition's directory. */
char *segment_file_path(const char *dir, int64_t base, enum segment_file_type type);

enum log_dir_kind { LOG_DIR_PLAIN, LOG_DIR_DELETE, LOG_DIR_FUTURE, LOG_DIR_STRAY };

struct log_dir_name {
    struct str topic; /* borrowed from the name; cut short where the kind is DELETE or STRAY */
    int32_t partition;
    enum log_dir_kind kind;
};

/* -EINVAL for a name that no partition's directory has. */
int log_dir_name_parse(const char *name, struct log_dir_name *ret) MUST_CHECK;
/* malloc'ed "topic-partition". */
char *log_dir_name_make(struct str topic, int32_t partition);
/* malloc'ed name of kind FUTURE with a random id; never cut. */
char *log_dir_name_make_future(struct str topic, int32_t partition);
/* malloc'ed name of kind DELETE with a random id; the topic is cut so that it fits
 * FILE_NAME_MAX. */
char *log_dir_name_make_delete(struct str topic, int32_t partition);
