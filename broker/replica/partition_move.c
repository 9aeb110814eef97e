#include "broker/replica/partition_move.h"

#include "broker/replica/truncation.h"
#include "common/base/err.h"
#include "common/base/say.h"
#include "common/io/fs.h"

/* What is left to copy while nobody may append, at most. */
enum { LAST_BYTES = 256 << 10 };

/* ---- begin and end ---- */

static void let_go(struct partition *part) REQUIRES(part->lock)
{
    if (part->move.future)
        log_put(part->move.future);
    part->move = (struct partition_move){.cut = INT64_MAX};
    partition_tell(part, NEWS_LOW);
}

void partition_begin_move(struct partition *part, struct log *future)
{
    LOCK_SCOPE(&part->lock);
    assert(log_is_future(future));
    if (part->move.future)
        log_put(part->move.future);
    part->move = (struct partition_move){.future = future, .cut = INT64_MAX};
}

void partition_end_move(struct partition *part)
{
    LOCK_SCOPE(&part->lock);
    let_go(part);
}

const char *partition_move_dir(struct partition *part)
{
    LOCK_SCOPE(&part->lock);
    return part->move.future ? log_dir_path(part->move.future) : NULL;
}

bool partition_resume_move(struct partition *part)
{
    LOCK_SCOPE(&part->lock);
    if (!part->move.future)
        return false;
    part->move.is_held = false;
    part->move.is_aligned = false;
    return true;
}

bool partition_wants_mover(struct partition *part)
{
    LOCK_SCOPE(&part->lock);
    return part->move.future && !part->move.is_held && !part->is_gone && part->role != ROLE_OFFLINE;
}

void move_room_deinit(struct move_room *room)
{
    free(room->bytes);
    room->bytes = NULL;
    room->cap = 0;
}

/* ---- copying ---- */

static uint8_t *room_for(struct move_room *room, size_t len)
{
    if (room->cap < len) {
        free(room->bytes);
        room->bytes = xmalloc(len);
        room->cap = len;
    }
    return room->bytes;
}

/* The next records of the log to the end of the future log, at most max_bytes or one batch. Errors
 * of the log are *ret_is_source. */
static int copy(struct log *log, struct log *future, struct move_room *room, uint32_t max_bytes,
                bool *ret_is_source)
{
    CLEANUP(file_unref_p) struct file *file = NULL;
    struct log_read got = {0};
    struct log_append done;
    const struct log_read_opts opts = {.offset = log_end_offset(future),
                                       .max_bytes = max_bytes,
                                       .upper_offset = log_end_offset(log),
                                       .min_one_batch = true};
    int r;

    *ret_is_source = true;
    if (opts.offset >= opts.upper_offset)
        return 0;
    r = log_read(log, &opts, &got);
    file = got.records.file;
    if (r != 0 || !file)
        return r;
    struct slice records = {room_for(room, got.records.len), got.records.len};
    r = file_pread(file, room->bytes, records.len, got.records.pos);
    if (r < 0)
        return r;
    *ret_is_source = false;
    return log_append_follower(future, records, &done);
}

/* ---- one step ---- */

struct step {
    struct log *log;    /* a reference each */
    struct log *future; /* NULL: there is nothing to do */
    int64_t cut;
    bool is_aligned;
    bool is_source; /* what an error says is wrong with the log, not with the future log */
};

static void step_deinit(struct step *s)
{
    if (s->log)
        log_put(s->log);
    if (s->future)
        log_put(s->future);
}

static struct log *with_reference(struct partition *part, struct log *log)
{
    return log_is_future(log) ? log_manager_get_future(part->env->logs, part->topic, part->id)
                              : log_manager_get(part->env->logs, part->topic, part->id);
}

/* What there is to do, and what was cut since. */
static void look(struct partition *part, struct step *s)
{
    LOCK_SCOPE(&part->lock);
    if (!part->move.future || part->move.is_held || part->is_gone || part->role == ROLE_OFFLINE)
        return;
    s->log = with_reference(part, part->log);
    s->future = with_reference(part, part->move.future);
    if (s->log != part->log || s->future != part->move.future) {
        /* One of the dirs has failed, and the partition is about to hear of it. */
        step_deinit(s);
        *s = (struct step){.cut = INT64_MAX};
        return;
    }
    s->cut = part->move.cut;
    s->is_aligned = part->move.is_aligned;
    part->move.cut = INT64_MAX;
}

/*
 * A future log that was found, or that belongs to a log which others have changed: cut to where the
 * two agree, by their leader epochs, as a follower does (controller.md B5.3). Without epochs only
 * what is below its high watermark counts.
 */
static int align(const struct step *s)
{
    struct truncation t = {.is_final = false};
    int r = 0;

    for (int32_t last = INT32_MAX; r == 0 && !t.is_final;) {
        int32_t asked = log_latest_epoch(s->future);
        struct epoch_end theirs = {-1, -1}, own = {-1, -1};

        if (asked >= 0 && asked < last)
            log_end_offset_for_epoch(s->log, asked, &theirs.epoch, &theirs.offset);
        last = asked;
        if (theirs.epoch >= 0)
            log_end_offset_for_epoch(s->future, theirs.epoch, &own.epoch, &own.offset);
        t = truncation_point(theirs, own, log_end_offset(s->future), log_high_watermark(s->future));
        r = log_truncate_to(s->future, t.offset);
    }
    return r;
}

static void note_aligned(struct partition *part, const struct step *s)
{
    LOCK_SCOPE(&part->lock);
    if (part->move.future == s->future)
        part->move.is_aligned = true;
}

/* Makes the future log a prefix of the log that begins in it. */
static int trim(struct partition *part, const struct step *s)
{
    int64_t start = log_start_offset(s->log);
    int64_t limit = MIN(s->cut, log_end_offset(s->log));
    int r = s->is_aligned ? 0 : align(s);

    if (r == 0 && log_end_offset(s->future) > limit)
        r = log_truncate_to(s->future, limit);
    if (r == 0 && log_end_offset(s->future) < start)
        r = log_truncate_fully(s->future, start);
    if (r == 0 && !s->is_aligned)
        note_aligned(part, s);
    return r;
}

/* The log's settings, high watermark and log start are the copy's. */
static int follow(struct partition *part, const struct step *s)
{
    struct topic_conf *conf = log_conf(s->log), *old = log_conf(s->future);
    int64_t start = log_start_offset(s->log), was = log_start_offset(s->future);
    int64_t hw = log_set_high_watermark(s->future, log_high_watermark(s->log));
    int r = 0;

    if (conf != old)
        log_set_conf(s->future, conf);
    topic_conf_unref(conf);
    topic_conf_unref(old);
    if (start > was && start <= hw)
        r = log_raise_start(s->future, start);
    if (r == 0 && log_start_offset(s->future) > was) {
        LOCK_SCOPE(&part->lock);
        partition_tell(part, NEWS_LOW);
    }
    return r;
}

/* ---- the end ---- */

/* Nobody appends now: the last records follow, if they are few. */
static int catch_up(struct step *s, struct move_room *room, bool *ret_is_there)
{
    int64_t end = log_end_offset(s->log), left = LAST_BYTES;
    int r = 0;

    while (r == 0 && left > 0 && log_end_offset(s->future) < end) {
        int64_t before = log_size(s->future);

        r = copy(s->log, s->future, room, LAST_BYTES, &s->is_source);
        left -= MAX(log_size(s->future) - before, (int64_t)1);
    }
    *ret_is_there = r == 0 && log_end_offset(s->future) == end;
    return r;
}

static int swap_locked(struct partition *part, struct step *s, struct move_room *room,
                       struct swap_result *ret) REQUIRES(part->lock)
{
    bool is_there = false;
    int r;

    if (part->move.future != s->future || part->move.cut != INT64_MAX || part->move.is_held ||
        part->is_gone || part->role == ROLE_OFFLINE)
        return 0;
    r = catch_up(s, room, &is_there);
    if (r != 0 || !is_there)
        return r;
    log_manager_swap(part->env->logs, s->log, s->future, ret);
    if (!ret->is_done)
        return 0;
    let_go(part);
    partition_tell(part, NEWS_START);
    return 0;
}

static int end_move(struct partition *part, struct step *s, struct move_room *room, bool *ret_over)
{
    struct swap_result result = {.is_done = false};
    int r = log_manager_prepare_swap(part->env->logs, s->future);

    if (r < 0)
        return 0; /* its dir is offline, the next step sees that */
    WITH_LOCK(&part->lock)
    {
        r = swap_locked(part, s, room, &result);
    }
    log_manager_swapped(part->env->logs, s->log, s->future, &result);
    *ret_over = result.is_done;
    return r;
}

/* ---- all of it ---- */

/* False where it was given up meanwhile. */
static bool note_failure(struct partition *part, const struct step *s)
{
    LOCK_SCOPE(&part->lock);
    bool is_current = part->move.future == s->future;

    if (is_current)
        part->move.is_held = true;
    return is_current;
}

/* OFFSET_OUT_OF_RANGE: the log was truncated or trimmed meanwhile. */
static enum move_step judge(struct partition *part, const struct step *s, int r)
{
    const char *dir = log_dir_path(s->is_source ? s->log : s->future);

    if (r == 0 || r == OFFSET_OUT_OF_RANGE)
        return MOVE_WAITS;
    if (r < 0 && err_to_wire(r) == KAFKA_STORAGE_ERROR) {
        log_manager_dir_failed(part->env->logs, dir, r, "a log cannot be moved between dirs");
        return MOVE_WAITS; /* until the partition has heard of it */
    }
    if (!note_failure(part, s))
        return MOVE_OVER;
    say_error("a replica cannot be moved to another log dir partition=%s-%d from=%s to=%s "
              "offset=%" PRId64 ": %s; it stays where it is. Ask again when that is repaired, or "
              "ask for the dir it is in to give the move up",
              part->topic.p, part->id, log_dir_path(s->log), log_dir_path(s->future),
              log_end_offset(s->future), err_name(r));
    return MOVE_FAILED;
}

enum move_step partition_move_some(struct partition *part, struct move_room *room,
                                   int64_t *ret_bytes)
{
    CLEANUP(step_deinit) struct step s = {.cut = INT64_MAX};
    bool is_over = false;

    *ret_bytes = 0;
    look(part, &s);
    if (!s.future)
        return partition_wants_mover(part) ? MOVE_WAITS : MOVE_OVER;
    int64_t end = log_end_offset(s.log);
    int r = trim(part, &s);
    int64_t before = log_size(s.future);
    if (r == 0)
        r = copy(s.log, s.future, room, room->max_bytes, &s.is_source);
    *ret_bytes = MAX(log_size(s.future) - before, (int64_t)0);
    if (r == 0) {
        s.is_source = false;
        r = follow(part, &s);
    }
    if (r == 0 && log_end_offset(s.future) >= end)
        r = end_move(part, &s, room, &is_over);
    if (is_over)
        return MOVE_OVER;
    return r == 0 && *ret_bytes > 0 ? MOVE_GOES_ON : judge(part, &s, r);
}
