#include "broker/group/group_append.h"

#include "common/base/err.h"
#include "common/base/say.h"

void group_batch_init(const struct group_manager *m, struct batch_builder *bb, bool is_commit)
{
    struct batch_opts opts = BATCH_OPTS_PLAIN;

    opts.codec = group_manager_opts(m)->codec;
    opts.base_sequence = is_commit ? 0 : NO_SEQUENCE;
    batch_builder_init(bb, &opts);
}

/* ---- an append that somebody waits for ---- */

static void on_end(struct message *msg)
{
    struct group_append *a = container_of(msg, struct group_append, message);

    arena_deinit(&a->arena);
    strbuf_deinit(&a->batch);
    a->done(a, a->error, a->part.append.log.first_offset);
}

/* In a later turn, as the lock that the append was begun under may still be held. */
static void end_later(struct group_append *a, int error)
{
    a->error = error;
    a->message.run = on_end;
    reactor_defer(a->reactor, &a->message);
}

static void on_produced(struct produce *p)
{
    struct group_append *a = container_of(p, struct group_append, produce);

    end_later(a, a->part.error < 0 ? UNKNOWN_SERVER_ERROR : a->part.error);
}

static struct slice batch_of(const struct strbuf *sb)
{
    return slice_of(sb->s, sb->len);
}

void group_append_start(struct group_append *a, struct batch_builder *bb)
{
    const struct group_manager_opts *opts = group_manager_opts(a->manager);

    a->reactor = reactor_current();
    if (batch_builder_finish(bb, &a->batch) < 0) {
        end_later(a, UNKNOWN_SERVER_ERROR);
        return;
    }
    a->part = (struct produce_part){
        .topic = STR("__consumer_offsets"),
        .partition = a->partition,
        .records = batch_of(&a->batch),
    };
    a->produce = (struct produce){
        .parts = &a->part,
        .count = 1,
        .acks = opts->commit_acks,
        .timeout_ms = opts->commit_timeout_ms,
        .origin = APPEND_COORDINATOR,
        .reactor = a->reactor,
        .arena = &a->arena,
        .done = on_produced,
    };
    produce_start(opts->replicas, &a->produce);
}

/* ---- tombstones ---- */

static int append_now(struct group_manager *m, int32_t partition, struct slice batch)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct partition *part;
    struct partition_append ret = {0};
    struct partition_append_opts opts = {
        .records = batch, .acks = 0, .origin = APPEND_COORDINATOR, .arena = &a};
    int r = replica_manager_get(group_manager_opts(m)->replicas, STR("__consumer_offsets"),
                                partition, &part);

    if (r)
        return r;
    r = partition_append(part, &opts, &ret);
    partition_unref(part);
    return r;
}

void group_append_forget(struct group_manager *m, int32_t partition, struct batch_builder *bb)
{
    CLEANUP(strbuf_deinit) struct strbuf batch = {0};
    int r = batch_builder_finish(bb, &batch);

    if (r == 0)
        r = append_now(m, partition, batch_of(&batch));
    if (r)
        say_warn("tombstones for __consumer_offsets-%d were not written: %s; whoever loads the "
                 "partition next finds what they were for, and ends it again",
                 partition, err_name(r));
}

/* ---- the record of a group ---- */

struct store_append {
    struct group_append append;
    struct group_store *store;
};

int group_error_of_store(int error)
{
    switch (error) {
    case UNKNOWN_TOPIC_OR_PARTITION:
    case NOT_ENOUGH_REPLICAS:
    case NOT_ENOUGH_REPLICAS_AFTER_APPEND:
        return COORDINATOR_NOT_AVAILABLE;
    case NOT_LEADER_OR_FOLLOWER:
    case KAFKA_STORAGE_ERROR:
        return NOT_COORDINATOR;
    case REQUEST_TIMED_OUT:
        return REBALANCE_IN_PROGRESS;
    case MESSAGE_TOO_LARGE:
    case RECORD_LIST_TOO_LARGE:
    case INVALID_FETCH_SIZE:
        return UNKNOWN_SERVER_ERROR;
    default:
        return error;
    }
}

int group_error_of_commit(int error)
{
    switch (error) {
    case REQUEST_TIMED_OUT:
        return error;
    case NETWORK_EXCEPTION:
        return COORDINATOR_LOAD_IN_PROGRESS;
    case MESSAGE_TOO_LARGE:
    case RECORD_LIST_TOO_LARGE:
    case INVALID_FETCH_SIZE:
        return INVALID_COMMIT_OFFSET_SIZE;
    default:
        return group_error_of_store(error);
    }
}

static void on_stored(struct group_append *a, int error, int64_t first_offset UNUSED)
{
    struct store_append *sa = container_of(a, struct store_append, append);
    struct group_store *s = sa->store;

    free(sa);
    s->done(s, group_error_of_store(error));
}

void group_append_store(void *manager, struct group_store *s)
{
    CLEANUP(batch_builder_deinit) struct batch_builder bb;
    struct group_manager *m = manager;
    const struct group_manager_opts *opts = group_manager_opts(m);
    struct store_append *sa = xnew(struct store_append);

    sa->store = s;
    sa->append.manager = m;
    sa->append.partition = s->group->partition;
    sa->append.done = on_stored;
    sa->append.reactor = reactor_current();
    group_batch_init(m, &bb, false);
    int r = group_record_add(&bb, opts->ibp, s->group->id, s->value, clock_wall_ms(opts->clock));
    if (r == 0)
        group_append_start(&sa->append, &bb);
    else
        end_later(&sa->append, MESSAGE_TOO_LARGE); /* a text that its field cannot hold */
}
