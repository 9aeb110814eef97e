#include "broker/replica/offsets.h"

#include "broker/replica/partition.h"
#include "broker/replica/replica_manager.h"
#include "common/base/err.h"

/* What a query may see of a partition. */
struct view {
    struct partition *part; /* a reference */
    int32_t leader_epoch;
    int64_t upper; /* the last fetchable offset + 1 */
    bool is_fresh; /* a client's view of a leader whose watermark is not in its epoch yet */
};

static bool is_client(const struct offsets_query *q)
{
    return q->replica_id == -1;
}

static int check_locked(const struct partition *part, const struct offsets_query *q)
{
    if (part->role == ROLE_OFFLINE)
        return KAFKA_STORAGE_ERROR;
    if (q->current_leader_epoch != -1 && q->current_leader_epoch < part->leader_epoch)
        return FENCED_LEADER_EPOCH;
    if (q->current_leader_epoch > part->leader_epoch)
        return UNKNOWN_LEADER_EPOCH;
    bool any_role = q->replica_id == -2 && part->log;
    return part->role == ROLE_LEADER || any_role ? 0 : NOT_LEADER_OR_FOLLOWER;
}

static int64_t upper_of(const struct partition *part, const struct offsets_query *q)
{
    if (!is_client(q))
        return log_end_offset(part->log);
    return q->is_read_committed ? log_stable_offset(part->log) : log_high_watermark(part->log);
}

static int look_at(struct replica_manager *m, const struct offsets_query *q, struct view *ret)
{
    struct partition *CLEANUP(partition_unref_p) part = NULL;
    int r = replica_manager_get(m, q->topic, q->partition, &part);

    if (r)
        return r;
    WITH_LOCK(&part->lock)
    {
        r = check_locked(part, q);
        if (r == 0) {
            ret->leader_epoch = part->leader_epoch;
            ret->upper = upper_of(part, q);
            ret->is_fresh = is_client(q) && part->role == ROLE_LEADER &&
                            log_high_watermark(part->log) < part->epoch_start;
        }
    }
    ret->part = r ? NULL : TAKE(part);
    return r;
}

bool offsets_knows(int64_t timestamp, int16_t version)
{
    static const int16_t since[] = {0, 0, 7, 8, 9};

    if (timestamp >= 0)
        return true;
    return timestamp >= -(int64_t)ARRAY_LEN(since) && version >= since[-timestamp - 1];
}

bool offsets_is_slow(int64_t timestamp)
{
    return timestamp >= 0 || timestamp == OFFSETS_MAX_TIMESTAMP;
}

static int by_timestamp(const struct view *v, const struct offsets_query *q,
                        struct timestamp_offset *ret)
{
    struct log *log = v->part->log;
    int r = 0;

    if (q->timestamp == OFFSETS_MAX_TIMESTAMP)
        r = log_offset_of_max_time(log, ret);
    else if (q->timestamp >= 0)
        r = log_offset_for_time(log, q->timestamp, ret);
    if (r == 0 && ret->offset >= v->upper)
        *ret = (struct timestamp_offset){-1, -1, -1};
    return r;
}

static int find(const struct view *v, const struct offsets_query *q, struct timestamp_offset *ret)
{
    struct log *log = v->part->log;
    bool from_start = q->timestamp == OFFSETS_EARLIEST || q->timestamp == OFFSETS_EARLIEST_LOCAL;

    if (from_start) {
        ret->offset = log_start_offset(log);
        ret->leader_epoch = log_epoch_at(log, ret->offset);
        return 0;
    }
    if (q->timestamp != OFFSETS_LATEST) {
        if (log_record_version(log) == 0)
            return UNSUPPORTED_FOR_MESSAGE_FORMAT; /* it has no timestamps */
        int r = by_timestamp(v, q, ret);
        if (r || ret->offset >= 0)
            return r;
    }
    if (v->is_fresh)
        return q->version >= 5 ? OFFSET_NOT_AVAILABLE : LEADER_NOT_AVAILABLE;
    if (q->timestamp == OFFSETS_LATEST) {
        ret->offset = v->upper;
        ret->leader_epoch = v->leader_epoch;
    }
    return 0;
}

int offsets_find(struct replica_manager *m, const struct offsets_query *q,
                 struct timestamp_offset *ret)
{
    struct view v = {0};

    *ret = (struct timestamp_offset){-1, -1, -1};
    int r = look_at(m, q, &v);
    if (r)
        return r;
    r = partition_io_error(v.part, find(&v, q, ret), "look up an offset");
    partition_unref(v.part);
    return r;
}

static void bound_old(struct offset_list *l, int64_t hw)
{
    int32_t above = 0;

    while (above < l->count && l->v[above] > hw)
        above++;
    if (above == 0)
        return;
    l->v[--above] = hw;
    l->v += above;
    l->count -= above;
}

int offsets_find_old(struct replica_manager *m, const struct offsets_query *q, int32_t max,
                     struct arena *a, struct offset_list *ret)
{
    struct view v = {0};

    *ret = (struct offset_list){0};
    int r = look_at(m, q, &v);
    if (r)
        return r;
    r = log_offsets_before(v.part->log, q->timestamp, max, a, &ret->v, &ret->count);
    if (r == 0 && is_client(q))
        bound_old(ret, log_high_watermark(v.part->log));
    r = partition_io_error(v.part, r, "look up offsets");
    partition_unref(v.part);
    return r;
}

int offsets_end_of_epoch(struct replica_manager *m, const struct offsets_query *q, int32_t epoch,
                         int32_t *ret_epoch, int64_t *ret_offset)
{
    struct view v = {0};

    *ret_epoch = -1;
    *ret_offset = -1;
    int r = look_at(m, q, &v);
    if (r)
        return r;
    log_end_offset_for_epoch(v.part->log, epoch, ret_epoch, ret_offset);
    partition_unref(v.part);
    return 0;
}
