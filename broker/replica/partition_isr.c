#include "broker/replica/partition_isr.h"

#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/base/say.h"
#include "common/base/strbuf.h"

#include <stdatomic.h>

static bool is_alive(const struct partition *part, int32_t broker)
{
    const struct metadata_snapshot *CLEANUP(metadata_put_p) s = metadata_get(part->env->metadata);

    return metadata_broker(s, broker) != NULL;
}

static void add_ids(struct strbuf *sb, const struct id_list *l)
{
    for (int32_t i = 0; i < l->count; i++)
        strbuf_addf(sb, "%s%d", i ? "," : "", l->v[i]);
}

static void say_change(const struct partition *part, const char *what)
{
    struct strbuf CLEANUP(strbuf_deinit) sb = {0};

    strbuf_addz(&sb, "isr=");
    add_ids(&sb, &part->isr.committed);
    if (part->isr.change != ISR_STABLE) {
        strbuf_addz(&sb, " proposed=");
        add_ids(&sb, &part->isr.proposed);
    }
    say_info("%s partition=%s-%d %s leader_epoch=%d partition_epoch=%d", what, part->topic.p,
             part->id, sb.s, part->leader_epoch, part->partition_epoch);
}

/* Sends the change under way to the controller; false: taken back, as it cannot be queued. */
static bool propose(struct partition *part) REQUIRES(part->lock)
{
    struct isr_proposal p = {part, part->leader_epoch, part->partition_epoch,
                             part->controller_epoch, &part->isr.proposed};

    if (part->env->propose(part->env->ctx, &p))
        return true;
    isr_revert(&part->isr);
    return false;
}

/* One that cannot be queued is tried again with the next fetch, which may be soon: nothing is said
 * of it. */
static void propose_newly(struct partition *part, const char *what) REQUIRES(part->lock)
{
    if (propose(part))
        say_change(part, what);
}

/* ---- expand ---- */

static bool may_join(const struct partition *part, const struct remote_replica *r)
{
    return part->isr.change == ISR_STABLE && !id_list_has(&part->isr.committed, r->id) &&
           r->end_offset >= log_high_watermark(part->log) && r->end_offset >= part->epoch_start &&
           is_alive(part, r->id);
}

void partition_replica_fetched(struct partition *part, struct remote_replica *r,
                               const struct remote_fetch *f)
{
    int64_t old_start = r->log_start, old_end = r->end_offset;

    assert(part->role == ROLE_LEADER);
    remote_fetched(r, f);
    if (r->log_start != old_start)
        partition_tell(part, NEWS_LOW);
    if (may_join(part, r)) {
        isr_propose_add(&part->isr, r->id);
        propose_newly(part, "replica has caught up, in-sync set is to grow");
    }
    if (r->end_offset != old_end && partition_advance_hw(part))
        partition_tell(part, NEWS_HW);
}

void partition_replica_was_idle(struct partition *part, int32_t replica, int64_t fetch_ms)
{
    struct remote_replica *r = remote_list_find(&part->remotes, replica);

    if (part->role != ROLE_LEADER || !r || fetch_ms < r->fetch_ms)
        return;
    r->fetch_ms = fetch_ms;
    r->caught_up_ms = MAX(r->caught_up_ms, fetch_ms);
}

void partition_broker_gone(struct partition *part)
{
    LOCK_SCOPE(&part->lock);
    if (part->role == ROLE_LEADER && partition_advance_hw(part))
        partition_tell(part, NEWS_HW);
}

/* ---- shrink ---- */

static bool is_behind(const struct partition *part, int32_t id, int64_t now_ms)
{
    const struct remote_replica *r = remote_list_find(&part->remotes, id);

    return id != part->env->broker_id &&
           (!r || !remote_is_caught_up(r, log_end_offset(part->log), now_ms, part->env->lag_ms));
}

static void say_behind(const struct partition *part, int32_t id, int64_t now_ms)
{
    const struct remote_replica *r = remote_list_find(&part->remotes, id);

    say_info("replica is behind partition=%s-%d broker=%d its_end=%" PRId64 " our_end=%" PRId64
             " behind_ms=%" PRId64 "; it is back in the set when it has fetched up to the end",
             part->topic.p, part->id, id, r ? r->end_offset : -1, log_end_offset(part->log),
             r && r->caught_up_ms != REMOTE_NEVER ? now_ms - r->caught_up_ms : -1);
}

void partition_maybe_shrink(struct partition *part)
{
    LOCK_SCOPE(&part->lock);
    if (part->role != ROLE_LEADER || part->isr.change != ISR_STABLE)
        return;
    int64_t now_ms = clock_mono_ms(part->env->clock);
    struct id_list behind = {xnew_array(int32_t, (size_t)part->isr.committed.count + 1), 0};

    for (int32_t i = 0; i < part->isr.committed.count; i++) {
        int32_t id = part->isr.committed.v[i];
        if (!is_behind(part, id, now_ms))
            continue;
        say_behind(part, id, now_ms);
        behind.v[behind.count++] = id;
    }
    if (behind.count && behind.count < part->isr.committed.count) {
        isr_propose_remove(&part->isr, &behind);
        propose_newly(part, "in-sync set is to shrink");
    }
    id_list_deinit(&behind);
}

int64_t partition_low_watermark(struct partition *part)
{
    LOCK_SCOPE(&part->lock);
    if (!part->log)
        return -1;
    int64_t low = log_start_offset(part->log);

    for (int32_t i = 0; i < part->remotes.count; i++)
        if (part->remotes.v[i].log_start < low && is_alive(part, part->remotes.v[i].id))
            low = part->remotes.v[i].log_start;
    if (part->move.future)
        low = MIN(low, log_start_offset(part->move.future));
    return low;
}

/* ---- answers ---- */

static void commit(struct partition *part, const struct isr_answer *answer) REQUIRES(part->lock)
{
    int32_t before = part->isr.committed.count;

    isr_set(&part->isr, answer->isr, answer->isr_count);
    part->partition_epoch = answer->partition_epoch;
    if (part->isr.committed.count > before)
        atomic_fetch_add(&part->env->isr_expands, 1);
    else if (part->isr.committed.count < before)
        atomic_fetch_add(&part->env->isr_shrinks, 1);
    say_change(part, "in-sync set is agreed");
    partition_tell(part, partition_advance_hw(part) ? NEWS_HW | NEWS_STATE : NEWS_STATE);
}

static void refused(struct partition *part, int error) REQUIRES(part->lock)
{
    atomic_fetch_add(&part->env->isr_update_failures, 1);
    say_limited(SAY_WARN, 20, "in-sync set not changed partition=%s-%d answer=%s", part->topic.p,
                part->id, err_name(error));
    switch (error) {
    case OPERATION_NOT_ATTEMPTED:
    case INELIGIBLE_REPLICA:
        isr_revert(&part->isr);
        break;
    case UNKNOWN_TOPIC_OR_PARTITION:
    case UNKNOWN_TOPIC_ID:
    case FENCED_LEADER_EPOCH:
    case INVALID_UPDATE_VERSION:
    case INVALID_REQUEST:
    case NEW_LEADER_ELECTED:
        break; /* what we know is outdated: a LeaderAndIsr is on its way */
    default:
        propose(part);
    }
}

void partition_isr_answered(struct partition *part, const struct isr_answer *answer)
{
    LOCK_SCOPE(&part->lock);
    if (part->role != ROLE_LEADER || part->leader_epoch != answer->proposed_leader_epoch ||
        part->partition_epoch != answer->proposed_partition_epoch || part->isr.change == ISR_STABLE)
        return;
    if (answer->error)
        refused(part, answer->error);
    else if (answer->leader_epoch == part->leader_epoch &&
             answer->partition_epoch >= part->partition_epoch)
        commit(part, answer);
}
