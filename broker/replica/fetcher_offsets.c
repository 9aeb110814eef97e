/*
 * fetcher_offsets.c - what a fetcher asks before it can fetch: the leader's end of an epoch
 * (truncation), and its first and last offsets where ours is out of their range (controller.md
 * B5.2, B5.3, B5.5)
 */
#include "broker/replica/fetcher_state.h"
#include "broker/replica/offsets.h"
#include "broker/replica/truncation.h"
#include "common/base/err.h"

static int16_t epochs_version(enum ibp ibp)
{
    return ibp >= IBP_2_8_IV0   ? 4
           : ibp >= IBP_2_3_IV1 ? 3
           : ibp >= IBP_2_1_IV1 ? 2
           : ibp >= IBP_2_0_IV0 ? 1
                                : 0;
}

static int16_t list_offsets_version(enum ibp ibp)
{
    static const struct {
        enum ibp since;
        int16_t version;
    } table[] = {
        {IBP_3_9_IV0, 9}, {IBP_3_5_IV0, 8},    {IBP_3_0_IV1, 7},
        {IBP_2_8_IV0, 6}, {IBP_2_2_IV1, 5},    {IBP_2_1_IV1, 4},
        {IBP_2_0_IV1, 3}, {IBP_0_11_0_IV0, 2}, {IBP_0_10_1_IV2, 1},
    };

    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (ibp >= table[i].since)
            return table[i].version;
    return 0;
}

static void on_cut(struct followed *fo, int r)
{
    if (r == FENCED_LEADER_EPOCH)
        return; /* our role has changed: an order is on its way */
    if (r) {
        followed_fail(fo, err_name(r));
        return;
    }
    fo->offset = log_end_offset(fo->part->log);
    followed_next(fo, STEP_FETCH);
}

static bool can_ask(const struct followed *fo)
{
    return fo->fetcher->opts.conf->ibp >= IBP_0_11_0_IV2 && log_latest_epoch(fo->part->log) >= 0;
}

/* ---- truncation ---- */

/* Without an epoch to compare, all above the watermark may differ. */
static void cut_to_initial(struct fetcher *f)
{
    struct followed *fo, *tmp;

    DL_FOREACH_SAFE (f->lists[STEP_TRUNCATE], fo, tmp) {
        if (can_ask(fo))
            continue;
        struct truncate_order order = {.leader_epoch = fo->leader_epoch,
                                       .offset = fo->initial_offset};
        followed_unlist(fo);
        on_cut(fo, partition_truncate(fo->part, &order));
    }
}

bool fetcher_send_epochs(struct fetcher *f)
{
    struct offset_for_leader_epoch_request req;
    struct arena CLEANUP(arena_deinit) a = {0};
    struct followed *fo, *tmp;
    int count;

    cut_to_initial(f);
    DL_COUNT(f->lists[STEP_TRUNCATE], fo, count);
    if (count == 0)
        return false;
    msg_init(&offset_for_leader_epoch_request_desc, &req);
    req.replica_id = f->opts.conf->broker_id;
    req.topics = arena_new_array(&a, struct offset_for_leader_epoch_request_topic, (size_t)count);
    DL_FOREACH_SAFE (f->lists[STEP_TRUNCATE], fo, tmp) {
        struct offset_for_leader_epoch_request_topic *t = &req.topics[req.topics_count++];
        struct offset_for_leader_epoch_request_partition *p =
            arena_new(&a, struct offset_for_leader_epoch_request_partition);
        followed_unlist(fo);
        fo->in_request = true;
        fo->sent_epoch = fo->leader_epoch;
        fo->asked_epoch = log_latest_epoch(fo->part->log);
        *p = (struct offset_for_leader_epoch_request_partition){fo->part->id, fo->leader_epoch,
                                                                fo->asked_epoch};
        *t = (struct offset_for_leader_epoch_request_topic){fo->part->topic, p, 1};
    }
    f->call.api_key = API_OFFSET_FOR_LEADER_EPOCH;
    f->call.version = epochs_version(f->opts.conf->ibp);
    fetcher_send(f, STEP_TRUNCATE, &req);
    return true;
}

static void on_epoch(struct followed *fo,
                     const struct offset_for_leader_epoch_response_partition *p)
{
    struct epoch_end leader = {p->leader_epoch, p->end_offset};
    struct truncation cut;

    if (fo->step != STEP_TRUNCATE || !fo->in_request || fo->sent_epoch != fo->leader_epoch)
        return;
    if (p->error_code) {
        fetcher_partition_error(fo, p->error_code);
        return;
    }
    int r =
        partition_truncate_to_epoch(fo->part, fo->leader_epoch, leader, fo->initial_offset, &cut);
    if (r == 0 && !cut.is_final)
        followed_next(fo, STEP_TRUNCATE);
    else
        on_cut(fo, r);
}

void fetcher_on_epochs(struct fetcher *f, const struct offset_for_leader_epoch_response *resp)
{
    for (int32_t i = 0; i < resp->topics_count; i++)
        for (int32_t k = 0; k < resp->topics[i].partitions_count; k++) {
            const struct offset_for_leader_epoch_response_partition *p =
                &resp->topics[i].partitions[k];
            struct followed *fo =
                fetcher_find(f, resp->topics[i].topic, (struct uuid){{0}}, p->partition);
            if (fo)
                on_epoch(fo, p);
        }
}

/* ---- out of range ---- */

bool fetcher_send_offsets(struct fetcher *f, enum follow_step step)
{
    struct list_offsets_request req;
    struct arena CLEANUP(arena_deinit) a = {0};
    struct followed *fo, *tmp;
    int count;

    DL_COUNT(f->lists[step], fo, count);
    msg_init(&list_offsets_request_desc, &req);
    req.replica_id = f->opts.conf->broker_id;
    req.topics = arena_new_array(&a, struct list_offsets_request_topic, (size_t)count);
    DL_FOREACH_SAFE (f->lists[step], fo, tmp) {
        struct list_offsets_request_topic *t = &req.topics[req.topics_count++];
        struct list_offsets_request_partition *p =
            arena_new(&a, struct list_offsets_request_partition);
        struct_init(&list_offsets_request_topic_desc, t);
        struct_init(&list_offsets_request_partition_desc, p);
        followed_unlist(fo);
        fo->in_request = true;
        fo->sent_epoch = fo->leader_epoch;
        p->partition_index = fo->part->id;
        p->current_leader_epoch = fo->leader_epoch;
        p->timestamp = step == STEP_LATEST ? OFFSETS_LATEST : OFFSETS_EARLIEST;
        t->name = fo->part->topic;
        t->partitions = p;
        t->partitions_count = 1;
    }
    f->call.api_key = API_LIST_OFFSETS;
    f->call.version = list_offsets_version(f->opts.conf->ibp);
    fetcher_send(f, step, &req);
    return true;
}

static int64_t offset_of(const struct fetcher *f, const struct list_offsets_response_partition *p)
{
    if (f->call.version > 0)
        return p->offset;
    return p->old_style_offsets_count > 0 ? p->old_style_offsets[0] : -1;
}

/* The leader ends before us: an unclean election; its end is where we go on. */
static void on_latest(struct followed *fo, int64_t leader_end)
{
    struct truncate_order order = {.leader_epoch = fo->leader_epoch, .offset = leader_end};

    if (leader_end < log_end_offset(fo->part->log))
        on_cut(fo, partition_truncate(fo->part, &order));
    else
        followed_next(fo, STEP_EARLIEST);
}

/* The leader begins after us: nothing that we have is of use any more. */
static void on_earliest(struct followed *fo, int64_t leader_start)
{
    struct truncate_order order = {
        .leader_epoch = fo->leader_epoch, .offset = leader_start, .whole_log = true};

    if (leader_start > log_end_offset(fo->part->log))
        on_cut(fo, partition_truncate(fo->part, &order));
    else
        on_cut(fo, 0);
}

static void on_offset(struct fetcher *f, struct followed *fo, enum follow_step step,
                      const struct list_offsets_response_partition *p)
{
    if (fo->step != step || !fo->in_request || fo->sent_epoch != fo->leader_epoch)
        return;
    int64_t offset = offset_of(f, p);
    if (p->error_code || offset < 0)
        fetcher_partition_error(fo, p->error_code ? p->error_code : OFFSET_NOT_AVAILABLE);
    else if (step == STEP_LATEST)
        on_latest(fo, offset);
    else
        on_earliest(fo, offset);
}

void fetcher_on_offsets(struct fetcher *f, enum follow_step step,
                        const struct list_offsets_response *resp)
{
    for (int32_t i = 0; i < resp->topics_count; i++)
        for (int32_t k = 0; k < resp->topics[i].partitions_count; k++) {
            const struct list_offsets_response_partition *p = &resp->topics[i].partitions[k];
            struct followed *fo =
                fetcher_find(f, resp->topics[i].name, (struct uuid){{0}}, p->partition_index);
            if (fo)
                on_offset(f, fo, step, p);
        }
}
