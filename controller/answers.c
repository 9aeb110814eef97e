#include "controller/answers.h"

#include "controller/brokers.h"
#include "controller/replica_sm.h"
#include "controller/topic_delete.h"
#include "zk/zk_admin.h"
#include "zk/zk_paths.h"

/* One partition of a LeaderAndIsr answer: on a failed directory, or not (any more). */
static void note_dir(struct ctl_partition *p, int32_t broker, int16_t error,
                     struct replica_list *newly_offline)
{
    if (!p || (error != KAFKA_STORAGE_ERROR && error != 0))
        return;
    if (error == KAFKA_STORAGE_ERROR && !replica_on_offline_dir(p, broker))
        replica_list_add(newly_offline, p, broker);
    replica_set_offline_dir(p, broker, error == KAFKA_STORAGE_ERROR);
}

static enum zk_result leader_and_isr_answer(struct controller *c, const struct control_answer *a)
{
    CLEANUP(replica_list_deinit) struct replica_list offline = {0};
    const struct leader_and_isr_response *resp = a->response;

    if (resp->error_code) {
        say_error("controller: broker %d refused LeaderAndIsr: %s", a->broker_id,
                  err_name(resp->error_code));
        return ZK_OK;
    }
    for (int32_t i = 0; i < resp->partition_errors_count; i++) {
        const struct leader_and_isr_response_partition_error *e = &resp->partition_errors[i];
        note_dir(context_partition(&c->x, e->topic_name, e->partition_index), a->broker_id,
                 e->error_code, &offline);
    }
    for (int32_t i = 0; i < resp->topics_count; i++) {
        const struct leader_and_isr_response_topic *rt = &resp->topics[i];
        const struct ctl_topic *t = context_topic_by_id(&c->x, rt->topic_id);
        for (int32_t j = 0; t && j < rt->partition_errors_count; j++)
            note_dir(topic_partition(t, rt->partition_errors[j].partition_index), a->broker_id,
                     rt->partition_errors[j].error_code, &offline);
    }
    if (offline.count == 0)
        return ZK_OK;
    say_warn("controller: broker %d has replicas on a failed log directory count=%zu first=%s-%d; "
             "they come back when it restarts with that directory mended",
             a->broker_id, offline.count, offline.v[0].p->topic->name, offline.v[0].p->id);
    return brokers_replicas_offline(c, &offline);
}

/* Only deletions of topics are waited for; all else has been decided when it was sent. */
static enum zk_result stop_replica_answer(struct controller *c, const struct control_answer *a)
{
    CLEANUP(replica_list_deinit) struct replica_list failed = {0};
    CLEANUP(replica_list_deinit) struct replica_list done = {0};
    const struct stop_replica_response *resp = a->response;
    enum zk_result r = ZK_OK;

    for (int32_t i = 0; a->message->deletes && i < resp->partition_errors_count; i++) {
        const struct stop_replica_response_partition_error *e = &resp->partition_errors[i];
        struct ctl_partition *p = context_partition(&c->x, e->topic_name, e->partition_index);
        if (!p || !p->topic->is_queued || !p->topic->is_started ||
            replica_state(p, a->broker_id) != REPLICA_DELETION_STARTED)
            continue;
        bool is_failed = resp->error_code || e->error_code;
        replica_list_add(is_failed ? &failed : &done, p, a->broker_id);
    }
    if (resp->error_code)
        say_error("controller: broker %d refused StopReplica: %s", a->broker_id,
                  err_name(resp->error_code));
    if (failed.count)
        r = topic_delete_failed(c, &failed);
    if (r == ZK_OK && done.count)
        r = topic_delete_done(c, &done);
    return r;
}

enum zk_result answers_handle(struct controller *c, const struct control_answer *a)
{
    if (a->message->epoch != c->epoch)
        return ZK_OK; /* to a request of an earlier term */
    switch (a->message->api_key) {
    case API_LEADER_AND_ISR:
        return leader_and_isr_answer(c, a);
    case API_STOP_REPLICA:
        return stop_replica_answer(c, a);
    default: {
        const struct update_metadata_response *resp = a->response;
        if (resp->error_code)
            say_error("controller: broker %d refused UpdateMetadata: %s", a->broker_id,
                      err_name(resp->error_code));
        return ZK_OK;
    }
    }
}

enum zk_result answers_ask_log_dirs(struct controller *c)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    CLEANUP(replica_list_deinit) struct replica_list list = {0};
    struct zk_names names;
    struct node_ids brokers;
    enum zk_result r = zk_notifications_list(c->store, ZK_PATH_LOG_DIR_EVENTS, true, &a, &names);

    if (r != ZK_OK || names.count == 0)
        return r;
    r = zk_log_dir_events_read(c->store, &names, &a, &brokers);
    if (r != ZK_OK)
        return r;
    for (int32_t i = 0; i < brokers.count; i++)
        say_warn("controller: broker %d has lost a log directory; it is asked what it still has",
                 brokers.list[i]);
    brokers_replicas(c, &brokers, &list);
    r = replica_sm_change(c, &list, REPLICA_ONLINE);
    return r == ZK_OK
               ? zk_notifications_delete(c->store, ZK_PATH_LOG_DIR_EVENTS, &names, c->epoch_version)
               : r;
}
