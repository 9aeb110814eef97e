/*
 * fetcher_answer.c - what a leader answered to a fetch: records are appended, diverged tails cut,
 * errors delay or fail the one partition they are about (controller.md B5.4)
 */
#include "broker/replica/fetcher_state.h"
#include "broker/replica/truncation.h"
#include "common/base/err.h"
#include "common/base/say.h"

#include <stdatomic.h>

static void on_appended(struct followed *fo, const struct fetch_response_partition *p, int64_t next)
{
    fo->lag = MAX(p->high_watermark - next, 0);
    if (next == fo->offset)
        return; /* nothing has changed, so nothing is to be said */
    fo->offset = next;
    followed_next(fo, STEP_FETCH);
    if (fo->lag > atomic_load(&fo->fetcher->lag))
        atomic_store(&fo->fetcher->lag, fo->lag);
}

static void on_append_error(struct followed *fo, int r)
{
    if (r == FENCED_LEADER_EPOCH)
        return; /* our role has changed: an order is on its way */
    if (r > 0) {
        say_limited(SAY_ERROR, 10,
                    "fetched records were refused partition=%s-%d leader=%d offset=%" PRId64
                    " error=%s; fetched again",
                    fo->part->topic.p, fo->part->id, fo->fetcher->opts.leader, fo->offset,
                    err_name(r));
        followed_back_off(fo);
        return;
    }
    followed_fail(fo, err_name(r));
}

/* In sync or not: the quota is for all traffic of throttled replicas. */
static void count_throttled(const struct followed *fo, size_t bytes)
{
    struct repl_quota *q = fo->fetcher->opts.conf->quota;

    if (bytes && repl_quota_is_limited(q) && partition_follows_throttled(fo->part))
        repl_quota_record(q, (int64_t)bytes);
}

static void on_records(struct followed *fo, const struct fetch_response_partition *p)
{
    int64_t start = log_start_offset(fo->part->log), next = fo->offset;
    struct follower_append append = {
        .leader_epoch = fo->leader_epoch,
        .fetch_offset = fo->offset,
        .records = p->records.bytes,
        .high_watermark = p->high_watermark,
        .log_start = p->log_start_offset,
    };

    int r = partition_append_follower(fo->part, &append, &next);
    count_throttled(fo, append.records.len);
    if (r) {
        on_append_error(fo, r);
        return;
    }
    /* The leader learns of our log start from the next request. */
    if (log_start_offset(fo->part->log) != start && next == fo->offset)
        followed_next(fo, STEP_FETCH);
    on_appended(fo, p, next);
}

static void on_diverged(struct followed *fo, const struct fetch_response_partition *p)
{
    struct epoch_end leader = {p->diverging_epoch.epoch, p->diverging_epoch.end_offset};
    struct truncation cut;
    int r = partition_truncate_to_epoch(fo->part, fo->leader_epoch, leader, fo->offset, &cut);

    if (r) {
        on_append_error(fo, r);
        return;
    }
    fo->offset = log_end_offset(fo->part->log);
    followed_next(fo, STEP_FETCH);
}

static void on_partition(struct followed *fo, const struct fetch_response_partition *p)
{
    if (fo->step != STEP_FETCH || fo->is_delayed || fo->sent_offset != fo->offset ||
        fo->sent_epoch != fo->leader_epoch)
        return;
    if (p->error_code == OFFSET_OUT_OF_RANGE) {
        followed_next(fo, STEP_LATEST);
        return;
    }
    if (p->error_code) {
        fetcher_partition_error(fo, p->error_code);
        return;
    }
    fo->back_off_ms = 0;
    if (p->diverging_epoch.epoch >= 0 || p->diverging_epoch.end_offset >= 0)
        on_diverged(fo, p);
    else
        on_records(fo, p);
}

/* ---- the session ---- */

static struct followed *find(struct fetcher *f, const struct fetch_response_response *t,
                             int32_t partition)
{
    struct uuid id = f->uses_ids ? t->topic_id : (struct uuid){{0}};

    return fetcher_find(f, t->topic, id, partition);
}

/*
 * A full answer names exactly what was asked for, an incremental one only partitions of the
 * session; but those that were taken from us meanwhile are unknown and no fault.
 */
static bool is_complete(struct fetcher *f, const struct fetch_response *resp)
{
    int32_t named = 0;

    if (!f->is_full)
        return true;
    for (int32_t i = 0; i < resp->responses_count; i++)
        named += resp->responses[i].partitions_count;
    return named == f->asked_count;
}

static void restart_session(struct fetcher *f, const char *why)
{
    say_info("fetch session starts over leader=%d session=%d why=%s", f->opts.leader, f->session_id,
             why);
    fetcher_new_session(f);
}

static void advance_session(struct fetcher *f, const struct fetch_response *resp)
{
    if (f->is_full)
        f->session_id = resp->session_id;
    if (resp->session_id == 0)
        f->session_epoch = 0;
    else
        f->session_epoch = f->session_epoch == INT32_MAX ? 1 : f->session_epoch + 1;
}

static void on_top_error(struct fetcher *f, int error)
{
    int32_t id = f->session_id;

    if (error != FETCH_SESSION_ID_NOT_FOUND && error != INVALID_FETCH_SESSION_EPOCH &&
        error != FETCH_SESSION_TOPIC_ID_ERROR) {
        fetcher_back_off(f, "fetch", error);
        return;
    }
    restart_session(f, err_name(error));
    if (error != FETCH_SESSION_ID_NOT_FOUND)
        f->session_id = id; /* with epoch 0 this closes it */
}

void fetcher_on_fetch(struct fetcher *f, const struct fetch_response *resp)
{
    if (resp->error_code) {
        on_top_error(f, resp->error_code);
        return;
    }
    if (!is_complete(f, resp)) {
        fetcher_back_off(f, "fetch, which was not answered for what it asked,", -EBADMSG);
        return;
    }
    advance_session(f, resp);
    atomic_store(&f->lag, 0);
    for (int32_t i = 0; i < resp->responses_count; i++) {
        const struct fetch_response_response *t = &resp->responses[i];
        for (int32_t k = 0; k < t->partitions_count; k++) {
            struct followed *fo = find(f, t, t->partitions[k].partition_index);
            if (fo)
                on_partition(fo, &t->partitions[k]);
        }
    }
}
