/*
 * log_internal.h - what the files that make up a log share: log.c, log_append.c, log_read.c,
 * log_time.c, log_trim.c, log_load.c, recover.c, and the manager, which opens and closes logs
 *
 * Two locks. `lock` (LOCK_LOG) is held by whoever changes the log, over its I/O. `shared`
 * (LOCK_LOG_INDEX) is held for a few words' time by whoever publishes such a change and by readers:
 * the list of segments, sizes, bodies, index tails, the cache of the last batches, conf. So a
 * reader never waits for a write or an fsync.
 */
#pragma once

#include "broker/storage/epochs.h"
#include "broker/storage/log.h"
#include "broker/storage/producer_state.h"
#include "broker/storage/segment.h"
#include "common/base/clock.h"
#include "common/base/containers.h"

/* Where the manager's keeper comes in. Any thread; LOCK_LOG may be held. */
struct log_hooks {
    void *ctx;
    /* The log rolled, or its files have to be fsynced for another reason: log_flush() it soon. */
    void (*flush_soon)(void *ctx, struct log *log);
    /* Removes the files later; takes over the references. */
    void (*remove_later)(void *ctx, struct segment_files *files, int64_t delay_ms);
    /* Writes recovery points and clean offsets of this log's dir before it returns: this log's went
     * down. LOCK_LOG is not held. */
    int (*checkpoint_now)(void *ctx, struct log *log);
};

enum { TAIL_BATCHES = 16 };

/* Where the last batches of the active segment begin; made with the first append. first is where
 * its offsets may begin at the earliest: the end of the batch before. */
struct tail_cache {
    uint32_t count; /* batches ever put in; entry i is at i % TAIL_BATCHES */
    struct {
        int64_t first;
        uint32_t pos;
    } v[TAIL_BATCHES];
};

struct log {
    _Atomic unsigned refs;
    _Atomic bool is_broken; /* a write could not be undone: nothing more is written */
    _Atomic bool is_hw_set; /* the replica layer has said where the high watermark is */
    _Atomic bool is_closed; /* cleanly, or its directory is on its way out */
    int32_t partition;
    struct mutex lock;
    struct mutex shared;
    char *topic;
    char *path; /* its directory; changes under both locks */
    /* The log dir, the manager's; changes under both locks and the manager's. */
    const char *_Atomic root;
    bool is_future; /* on its way to another log dir */
    const struct clock *clock;
    const struct log_hooks *hooks; /* NULL in tests of a log alone */
    struct topic_conf *conf;       /* changes under both locks */
    struct epochs *epochs;
    struct producer_state *producers;
    struct uuid topic_id;
    bool is_id_written;
    int64_t dir_changed_us; /* its directory, as it was found; 0: made anew */

    /* Written under both locks. */
    _Atomic int64_t start;
    _Atomic int64_t end;
    _Atomic int64_t high_watermark; /* under shared alone */
    _Atomic int64_t first_unstable; /* -1: none */
    _Atomic int64_t size;
    _Atomic int64_t first_dirty; /* no cleaning has seen what is at or above, -1: not known */
    struct segment **segments;   /* ascending; at least one */
    uint32_t segment_count;
    uint32_t segment_cap;
    uint32_t cuts;  /* counts changes but for appends, so that a reader finds out */
    uint32_t drops; /* counts closed segments that went, so that the cleaner finds out */
    uint32_t swaps; /* odd while the files of segments are exchanged */
    struct tail_cache *tail;

    /* Under lock alone. */
    int64_t recovery_point;
    int64_t first_batch_ts; /* of the active segment; SEGMENT_TS_UNKNOWN: not looked up */
    int64_t active_since_ms;
    int64_t roll_jitter_ms;
    int64_t unflushed; /* records since the last flush */
    int64_t last_flush_ms;
    int64_t last_append_ms;
    bool is_active_ready; /* the last segment has a writable body */
    bool is_dir_dirty;    /* files were made since the last flush */
    bool is_flush_asked;  /* hooks->flush_soon was called and log_flush() not yet */

    /* The manager's. */
    UT_hash_handle hh;
    char *key;
    size_t key_len;
    int64_t checkpointed_hw;
    struct log *next;
    bool is_queued;

    /* The cleaner's, under LOCK_CLEANER. */
    bool is_being_cleaned;
    bool is_uncleanable;    /* put aside until a restart */
    bool is_moving;         /* its copy in another dir has to find it as it is */
    int64_t clean_after_us; /* not before */
};

struct log_open_opts {
    struct str topic;
    int32_t partition;
    const char *root;
    const char *path;
    struct topic_conf *conf; /* a reference is taken */
    const struct clock *clock;
    const struct log_hooks *hooks;
    int64_t producer_id_expiration_ms;
    bool is_clean;          /* the dir was stopped in order */
    int64_t recovery_point; /* from the checkpoint, 0 where none */
    int64_t start_offset;   /* from the checkpoint, 0 where none */
    bool is_future;
};

/* Opens what lies in the directory, recovering where needed; an empty directory becomes an empty
 * log. One reference. */
int log_open(const struct log_open_opts *opts, struct log **ret) MUST_CHECK;
/* Writes out and seals everything, with fsync and a producer snapshot: what a clean stop leaves. */
int log_close(struct log *log) MUST_CHECK;
struct log *log_ref(struct log *log);
/* NULL-safe, returns NULL. Writes nothing. */
struct log *log_unref(struct log *log);
const char *log_path(const struct log *log);
int64_t log_recovery_point(struct log *log);
/* Something is unflushed, and the last flush was before then. */
bool log_needs_flush(struct log *log, int64_t before_ms);
/* Closes files of segments that nobody uses, and lets go of memory that only appends need. */
void log_rest(struct log *log, int64_t idle_since_ms);
bool log_is_compacted(struct log *log);
void log_expire_producers(struct log *log, int64_t expiration_ms, int64_t now_ms);
/* Renames its directory; what is open stays open. */
int log_move_dir(struct log *log, const char *path) MUST_CHECK;
/* Gives the future log what it cannot learn from records: log start, high watermark, an epoch that
 * has none yet; and makes it as durable as the log is. Both end at the same offset, and nobody
 * appends. */
int log_equip(struct log *future, struct log *log) MUST_CHECK;
/* Records, files and directory of the two change places: the log goes on in the other dir, and
 * whoever holds it notices nothing. The manager's lock is held. */
void log_exchange(struct log *log, struct log *future);

/* ---- between the files of the log; LOCK_LOG held unless noted ---- */

struct segment *log_active(const struct log *log);
/* What a reader is told for r: of a log that was deleted meanwhile it says nothing of the disk. */
int log_reader_result(const struct log *log, int r) MUST_CHECK;
/* -EIO where the log is broken; KAFKA_STORAGE_ERROR where it was deleted. */
int log_check_writable(const struct log *log) MUST_CHECK;
/* Makes the last segment ready for appends and truncation. */
int log_need_active(struct log *log) MUST_CHECK;
/* Marks the log broken, where an operation failed half-way, and passes r on. */
int log_break(struct log *log, int r, const char *what);
/* Has it flushed soon, once for many calls. */
void log_ask_flush(struct log *log);
int log_roll(struct log *log, int64_t base) MUST_CHECK;
/* Leader epochs are kept, or not, as the log's format asks for. */
int log_keep_epochs(struct log *log) MUST_CHECK;
/* Replaces all that is there by an empty segment. */
int log_restart_at(struct log *log, int64_t offset) MUST_CHECK;
/* Takes segments [from, to) out of the list and their files away; newest_first: so that a crash
 * leaves a prefix. */
int log_drop_segments(struct log *log, uint32_t from, uint32_t to, bool newest_first) MUST_CHECK;
/* Its files get out of the way, to be removed later, its producer snapshot too where that is asked
 * for; seg is freed. */
int log_retire(struct log *log, struct segment *seg, bool with_snapshot) MUST_CHECK;
void log_insert_segment(struct log *log, struct segment *seg);
/* The largest timestamp in the segment; where no record has one, when its file was last written. */
int log_segment_youngest(struct log *log, struct segment *seg, int64_t *ret) MUST_CHECK;
/* Publishes a new end; drops the tail cache. */
void log_set_end(struct log *log, int64_t end);
void log_refresh_unstable(struct log *log);
/* Index of the segment that holds offset: the last whose base is <= offset. LOCK_LOG or
 * LOCK_LOG_INDEX. */
uint32_t log_segment_at(const struct log *log, int64_t offset);
/* The next offset after the segment's last batch, and its largest timestamp, from the last index
 * entry on. -EBADMSG where what stands there is no batch. The segment has a body. */
int log_scan_tail(struct log *log, struct segment *seg, int64_t *ret_next) MUST_CHECK;
/* Makes sure that the segment has a body (readable). */
int log_need_body(struct log *log, struct segment *seg) MUST_CHECK;

/* ---- places, LOCK_LOG not needed and `shared` not held ---- */

/* Where in its segment the batch that holds offset begins. */
struct place {
    struct file *file; /* a reference */
    int64_t base;
    int64_t next_base; /* of the segment after it, INT64_MAX: it is the last */
    uint32_t pos;
    uint32_t size; /* bytes of the segment that counted when looked at */
    int64_t end;   /* the log's end then */
};
void place_deinit(struct place *p);
/* OFFSET_OUT_OF_RANGE outside of [first base, end]. */
int log_find(struct log *log, int64_t offset, struct place *ret) MUST_CHECK;
