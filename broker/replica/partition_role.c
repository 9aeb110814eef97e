#include "broker/replica/partition_role.h"

#include "common/base/err.h"
#include "common/base/say.h"

/* ---- what both roles need ---- */

int32_t partition_epoch_now(struct partition *part, enum partition_role *ret_role,
                            struct uuid *ret_topic_id)
{
    LOCK_SCOPE(&part->lock);
    *ret_role = part->role;
    *ret_topic_id = part->log ? log_topic_id(part->log) : (struct uuid){{0}};
    return part->leader_epoch;
}

static int create_log(struct partition *part, const struct role_change *c) REQUIRES(part->lock)
{
    struct log_create_opts opts = {
        .topic = part->topic,
        .partition = part->id,
        .topic_id = c->topic_id,
        .is_new = c->state->is_new,
        .conf = c->conf,
    };

    if (part->log) {
        if (uuid_is_zero(c->topic_id))
            return 0;
        return log_set_topic_id(part->log, c->topic_id);
    }
    int r = log_manager_create(part->env->logs, &opts, &part->log);
    if (r)
        return r;
    log_set_high_watermark(part->log,
                           log_manager_checkpointed_hw(part->env->logs, part->topic, part->id));
    return 0;
}

static int go_offline(struct partition *part, int r) REQUIRES(part->lock)
{
    if (r < 0 && err_to_wire(r) != KAFKA_STORAGE_ERROR)
        return r;
    if (r > 0 && r != KAFKA_STORAGE_ERROR)
        return r;
    part->role = ROLE_OFFLINE;
    partition_fail_waits(part, KAFKA_STORAGE_ERROR);
    partition_tell(part, NEWS_STATE);
    return r;
}

static void set_assignment(struct partition *part, const struct role_change *c)
{
    const leader_and_isr_state *st = c->state;

    part->controller_epoch = c->controller_epoch;
    id_list_set(&part->replicas, st->replicas, st->replicas_count);
    id_list_set(&part->adding, st->adding_replicas, st->adding_replicas_count);
    id_list_set(&part->removing, st->removing_replicas, st->removing_replicas_count);
}

static bool must_wait_for_conf(const struct partition *part, const struct role_change *c)
{
    if (part->log || c->conf)
        return false;
    say_error("topic settings could not be read, so no log is made partition=%s-%d; the next "
              "LeaderAndIsr repairs it",
              part->topic.p, part->id);
    return true;
}

/* ---- leader ---- */

/* The new epoch begins at the log end, in the cache too: also where it never gets a record. */
static int begin_epoch(struct partition *part, const struct role_change *c, bool was_leader)
    REQUIRES(part->lock)
{
    int r = log_start_epoch(part->log, c->state->leader_epoch);
    if (r)
        return r;
    part->epoch_start = log_end_offset(part->log);
    struct remote_reset how = {.was_leader = was_leader,
                               .epoch_start = part->epoch_start,
                               .now_ms = clock_mono_ms(part->env->clock)};
    for (int32_t i = 0; i < part->remotes.count; i++) {
        how.in_isr = id_list_has(&part->isr.committed, part->remotes.v[i].id);
        remote_reset(&part->remotes.v[i], &how);
    }
    return 0;
}

static int lead_locked(struct partition *part, const struct role_change *c, bool *ret_is_new)
    REQUIRES(part->lock)
{
    const leader_and_isr_state *st = c->state;
    bool was_leader = part->role == ROLE_LEADER;

    if (part->role == ROLE_OFFLINE)
        return KAFKA_STORAGE_ERROR;
    if (st->partition_epoch < part->partition_epoch || must_wait_for_conf(part, c))
        return 0;
    set_assignment(part, c);
    isr_set(&part->isr, st->isr, st->isr_count);
    remote_list_set(&part->remotes, &part->replicas, part->env->broker_id);
    int r = create_log(part, c);
    if (r == 0 && st->leader_epoch > part->leader_epoch)
        r = begin_epoch(part, c, was_leader);
    if (r)
        return go_offline(part, r);
    part->role = ROLE_LEADER;
    part->leader = part->env->broker_id;
    part->leader_epoch = st->leader_epoch;
    part->partition_epoch = st->partition_epoch;
    *ret_is_new = !was_leader;
    partition_tell(part, partition_advance_hw(part) ? NEWS_HW | NEWS_STATE : NEWS_STATE);
    return 0;
}

int partition_make_leader(struct partition *part, const struct role_change *c, bool *ret_is_new)
{
    int r;

    *ret_is_new = false;
    WITH_LOCK(&part->lock)
    {
        r = lead_locked(part, c, ret_is_new);
    }
    if (r == 0 && *ret_is_new)
        say_info("leader now partition=%s-%d leader_epoch=%d start=%" PRId64 " isr_size=%d",
                 part->topic.p, part->id, c->state->leader_epoch, log_end_offset(part->log),
                 c->state->isr_count);
    return part->log ? partition_io_error(part, r, "become leader") : r;
}

/* ---- follower ---- */

static int follow_locked(struct partition *part, const struct role_change *c, bool *ret_is_new)
    REQUIRES(part->lock)
{
    const leader_and_isr_state *st = c->state;

    if (part->role == ROLE_OFFLINE)
        return KAFKA_STORAGE_ERROR;
    if (st->partition_epoch < part->partition_epoch || must_wait_for_conf(part, c))
        return 0;
    int r = create_log(part, c);
    if (r)
        return go_offline(part, r);
    set_assignment(part, c);
    isr_set(&part->isr, NULL, 0);
    remote_list_deinit(&part->remotes);
    *ret_is_new = st->leader_epoch > part->leader_epoch;
    part->role = ROLE_FOLLOWER;
    part->leader = st->leader;
    part->leader_epoch = st->leader_epoch;
    part->partition_epoch = st->partition_epoch;
    part->epoch_start = -1;
    partition_fail_waits(part, NOT_LEADER_OR_FOLLOWER);
    partition_tell(part, NEWS_STATE);
    return 0;
}

int partition_make_follower(struct partition *part, const struct role_change *c, bool *ret_is_new)
{
    int r;

    *ret_is_new = false;
    WITH_LOCK(&part->lock)
    {
        r = follow_locked(part, c, ret_is_new);
    }
    if (r == 0 && *ret_is_new)
        say_info("follower now partition=%s-%d leader=%d leader_epoch=%d end=%" PRId64
                 " high_watermark=%" PRId64,
                 part->topic.p, part->id, c->state->leader, c->state->leader_epoch,
                 log_end_offset(part->log), log_high_watermark(part->log));
    return part->log ? partition_io_error(part, r, "become follower") : r;
}

int partition_make_log(struct partition *part, const struct role_change *c)
{
    LOCK_SCOPE(&part->lock);
    if (part->role == ROLE_OFFLINE)
        return KAFKA_STORAGE_ERROR;
    if (must_wait_for_conf(part, c))
        return 0;
    int r = create_log(part, c);
    return r ? go_offline(part, r) : 0;
}

int partition_set_topic_id(struct partition *part, struct uuid topic_id)
{
    int r;

    WITH_LOCK(&part->lock)
    {
        r = part->log ? log_set_topic_id(part->log, topic_id) : 0;
        partition_tell(part, NEWS_STATE);
    }
    return part->log ? partition_io_error(part, r, "write the topic id") : r;
}

/* ---- the end ---- */

void partition_stop(struct partition *part)
{
    LOCK_SCOPE(&part->lock);
    part->move.is_held = true;
    partition_tell(part, NEWS_STATE);
}

void partition_delete(struct partition *part, int error)
{
    LOCK_SCOPE(&part->lock);
    part->is_gone = true;
    part->role = ROLE_NONE;
    partition_fail_waits(part, error);
    partition_tell(part, NEWS_STATE);
}

void partition_make_offline(struct partition *part)
{
    LOCK_SCOPE(&part->lock);
    part->role = ROLE_OFFLINE;
    partition_fail_waits(part, KAFKA_STORAGE_ERROR);
    partition_tell(part, NEWS_STATE);
}
