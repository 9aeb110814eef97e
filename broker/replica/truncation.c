#include "broker/replica/truncation.h"

#include "common/base/err.h"
#include "common/base/say.h"

struct truncation truncation_point(struct epoch_end leader, struct epoch_end own, int64_t log_end,
                                   int64_t fetch_offset)
{
    if (leader.offset < 0)
        return (struct truncation){fetch_offset, true};
    if (leader.epoch < 0 || own.epoch < 0)
        return (struct truncation){MIN(leader.offset, log_end), true};
    if (own.epoch != leader.epoch)
        return (struct truncation){MIN(own.offset, log_end), false};
    return (struct truncation){MIN(MIN(own.offset, leader.offset), log_end), true};
}

static int truncate_locked(struct partition *part, const struct truncate_order *order)
    REQUIRES(part->lock)
{
    if (part->role == ROLE_OFFLINE)
        return -EIO;
    if (part->role != ROLE_FOLLOWER || part->leader_epoch != order->leader_epoch)
        return FENCED_LEADER_EPOCH;
    int64_t end = log_end_offset(part->log), hw = log_high_watermark(part->log);

    if (order->offset < hw && !order->whole_log)
        say_warn("truncating below the high watermark partition=%s-%d to=%" PRId64 " end=%" PRId64
                 " high_watermark=%" PRId64,
                 part->topic.p, part->id, order->offset, end, hw);
    else if (order->offset < end || order->whole_log)
        say_info("truncating partition=%s-%d to=%" PRId64 " end=%" PRId64 " whole=%d",
                 part->topic.p, part->id, order->offset, end, order->whole_log);
    part->move.cut = order->whole_log ? 0 : MIN(part->move.cut, order->offset);
    /* Also where it cuts nothing: the epoch cache may end in an epoch without a record. */
    int r = order->whole_log ? log_truncate_fully(part->log, order->offset)
                             : log_truncate_to(part->log, order->offset);
    partition_tell(part, NEWS_HW | NEWS_START | NEWS_STATE);
    return r;
}

int partition_truncate(struct partition *part, const struct truncate_order *order)
{
    int r;

    WITH_LOCK(&part->lock)
    {
        r = truncate_locked(part, order);
    }
    if (r < 0)
        partition_io_error(part, r, "truncate");
    return r;
}

int partition_truncate_to_epoch(struct partition *part, int32_t leader_epoch,
                                struct epoch_end leader, int64_t fetch_offset,
                                struct truncation *ret)
{
    struct epoch_end own = {-1, -1};
    int r;

    WITH_LOCK(&part->lock)
    {
        if (leader.epoch >= 0)
            log_end_offset_for_epoch(part->log, leader.epoch, &own.epoch, &own.offset);
        *ret = truncation_point(leader, own, log_end_offset(part->log), fetch_offset);
        struct truncate_order order = {.leader_epoch = leader_epoch, .offset = ret->offset};
        r = truncate_locked(part, &order);
    }
    if (r < 0)
        partition_io_error(part, r, "truncate");
    return r;
}
