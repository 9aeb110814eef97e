/*
 * dump_log.h - between the files of `klamm dump-log`
 *
 *   cmd_dump_log.c   flags, which file is what       dump_segment.c   .log
 *   dump_decode.c    keys and values as text         dump_index.c     .index .timeindex .txnindex
 *   .snapshot
 *
 * What does not fit together is collected and said on stderr at the end, as Kafka does; it fails
 * nothing. A file that cannot be read at all ends the tool: those functions return its exit code.
 */
#pragma once

#include "common/io/fs.h"
#include "common/record/record.h"
#include "tools/base/tool.h"

enum dump_decoder {
    DUMP_TEXT,
    DUMP_LONG,
    DUMP_INTEGER,
    DUMP_OFFSETS,
    DUMP_TRANSACTIONS,
};

/* What is said at the end, in this order. */
enum dump_late {
    LATE_INDEX_MISMATCH,
    LATE_TIME_MISMATCH,
    LATE_TIME_ORDER,
    LATE_TIME_OFFSET,
    LATE_GAPS,
    LATE_COUNT,
};

struct dump {
    const struct invocation *inv;
    bool print_data;
    bool is_deep;
    bool skip_metadata;
    bool verify_only;
    bool sanity_only;
    bool as_json; /* dump_json.c prints in place of Kafka's lines */
    int32_t max_bytes;
    int32_t max_message_size;
    enum dump_decoder key_decoder;
    enum dump_decoder value_decoder; /* DUMP_OFFSETS, DUMP_TRANSACTIONS: of the key too */
    const char
        *old_decoders[2]; /* class names that Kafka calls deprecated, of value and key; NULL */
    struct strbuf late[LATE_COUNT];
};

/* One file under work. */
struct dump_file {
    const char *path; /* as given */
    char *full_path;
    const char *name; /* in path */
    int64_t base;     /* the offset in its name */
    struct file *file;
    uint64_t size;
};

void dump_file_deinit(struct dump_file *f);
/* Says why and returns TOOL_FAILED where it cannot be opened or its name holds no offset. */
int dump_file_open(const struct dump *d, const char *path, struct dump_file *ret) MUST_CHECK;
/* The file beside f that has the same offset and another suffix. */
int dump_file_open_twin(const struct dump *d, const struct dump_file *f, const char *suffix,
                        struct dump_file *ret) MUST_CHECK;

/* Reads batches one by one; b lies in memory of the reader until the next call. */
struct dump_reader {
    const struct dump_file *f;
    uint64_t pos;
    uint64_t end;
    struct strbuf bytes;
};

void dump_reader_deinit(struct dump_reader *r);
/* 1, 0 at the end (a torn batch too), or < 0. */
int dump_reader_next(struct dump_reader *r, struct batch *ret) MUST_CHECK;

int dump_segment(struct dump *d, const struct dump_file *f) MUST_CHECK;
int dump_offset_index(struct dump *d, const struct dump_file *f) MUST_CHECK;
int dump_time_index(struct dump *d, const struct dump_file *f) MUST_CHECK;
int dump_txn_index(struct dump *d, const struct dump_file *f) MUST_CHECK;
int dump_snapshot(struct dump *d, const struct dump_file *f) MUST_CHECK;

/* A record's key and value as text; has_… false: nothing is printed for it. */
struct dump_text {
    struct strbuf key;
    struct strbuf payload;
    bool has_key;
    bool has_payload;
};

void dump_text_deinit(struct dump_text *t);
/* -EINVAL and why where Kafka's tool would give up. */
int dump_decode(const struct dump *d, const struct record *rec, struct dump_text *ret,
                struct strbuf *why) MUST_CHECK;

/* ---- dump_json.c ---- */

struct dump_number {
    const char *name;
    int64_t value;
};

struct record_iter;

void dump_json_numbers(const struct dump_file *f, const char *type, const struct dump_number *v,
                       size_t count);
void dump_json_batch(const struct dump_file *f, const struct batch *b, uint64_t pos);
/* text: NULL where keys and values are not printed. */
void dump_json_record(const struct dump_file *f, const struct record_iter *it,
                      const struct record *rec, const struct dump_text *text);
