#include "controller/event.h"

#include "controller/answers.h"
#include "controller/balance.h"
#include "controller/brokers.h"
#include "controller/core.h"
#include "controller/features.h"
#include "controller/isr.h"
#include "controller/partition_sm.h"
#include "controller/producer_ids.h"
#include "controller/reassign_calls.h"
#include "controller/shutdown.h"
#include "controller/term.h"
#include "controller/topic_delete.h"
#include "controller/topics.h"

/* Each kind of event is one row: its state for the gauge, who runs it, whether only an active
 * controller does, and who answers it where it is not run. */

typedef enum zk_result (*event_run_fn)(struct controller *c, struct event *e);
typedef void (*event_end_fn)(struct event *e);

static struct event_named *named(struct event *e)
{
    return container_of(e, struct event_named, event);
}

static struct controller_call *call_of(struct event *e)
{
    return container_of(e, struct controller_call, event);
}

static void free_named(struct event *e)
{
    free(named(e));
}

static void call_done(struct event *e)
{
    struct controller_call *call = call_of(e);

    call->done(call);
}

/* An event that carries an answer from a broker. */
struct event_answer {
    struct event event;
    struct control_answer *answer;
};

static void free_answer(struct event *e)
{
    struct event_answer *ea = container_of(e, struct event_answer, event);

    control_answer_free(ea->answer);
    free(ea);
}

void controller_post_answer(void *controller, struct control_answer *answer)
{
    struct event_answer *ea = xnew(struct event_answer);

    ea->answer = answer;
    controller_post(controller, &ea->event, EVENT_ANSWER);
}

void controller_post_named(struct controller *c, enum event_kind kind, int32_t id, struct str name)
{
    struct event_named *e = xcalloc(1, sizeof *e + name.len + 1);

    e->id = id;
    if (name.len)
        memcpy(e->text, name.p, name.len);
    e->name = str_is_null(name) ? STR_NULL : (struct str){e->text, name.len};
    controller_post(c, &e->event, kind);
}

static enum zk_result run_elect(struct controller *c, struct event *e UNUSED)
{
    term_elect(c);
    return ZK_OK;
}

static enum zk_result run_controller_change(struct controller *c, struct event *e UNUSED)
{
    term_maybe_resign(c);
    return ZK_OK;
}

static enum zk_result run_reelect(struct controller *c, struct event *e UNUSED)
{
    term_maybe_resign(c);
    term_elect(c);
    return ZK_OK;
}

static enum zk_result run_expire(struct controller *c, struct event *e)
{
    atomic_store(&c->pub_active_id, -1);
    c->elect_due_us = NEVER_US; /* not before this broker is registered again */
    term_resign(c);
    mutex_lock(&c->lock);
    c->expired_generation = e->generation;
    cond_broadcast(&c->expired);
    mutex_unlock(&c->lock);
    return ZK_OK;
}

static enum zk_result run_register(struct controller *c, struct event *e)
{
    enum zk_result r = c->opts.host.register_again(c->opts.host.ctx);

    if (r == ZK_OK)
        return run_reelect(c, e);
    if (!controller_is_over(r))
        say_error("controller: broker %d is not registered: %s; it takes no part in the cluster "
                  "until its next session",
                  c->opts.broker_id, zk_result_name(r));
    return ZK_OK;
}

static enum zk_result run_shutdown(struct controller *c, struct event *e UNUSED)
{
    term_resign(c);
    c->stops = true;
    return ZK_OK;
}

static enum zk_result run_broker_change(struct controller *c, struct event *e UNUSED)
{
    return brokers_changed(c);
}

static enum zk_result run_broker_modification(struct controller *c, struct event *e)
{
    return brokers_modified(c, named(e)->id);
}

static enum zk_result run_topic_change(struct controller *c, struct event *e UNUSED)
{
    return topics_changed(c);
}

static enum zk_result run_partition_modification(struct controller *c, struct event *e)
{
    return topic_modified(c, named(e)->name);
}

static enum zk_result run_topic_deletion(struct controller *c, struct event *e UNUSED)
{
    return topic_delete_requested(c);
}

static enum zk_result run_preferred_election(struct controller *c, struct event *e UNUSED)
{
    return balance_legacy(c);
}

static enum zk_result run_reassign_legacy(struct controller *c, struct event *e UNUSED)
{
    return reassign_legacy(c);
}

static enum zk_result run_reassign_isr_change(struct controller *c, struct event *e)
{
    return reassign_isr_changed(c, named(e)->name, named(e)->id);
}

static enum zk_result run_isr_change(struct controller *c, struct event *e UNUSED)
{
    return isr_changes(c);
}

static enum zk_result run_log_dir_change(struct controller *c, struct event *e UNUSED)
{
    return answers_ask_log_dirs(c);
}

static enum zk_result run_unclean_enable(struct controller *c, struct event *e)
{
    struct ctl_topic *t = NULL;

    if (!str_is_null(named(e)->name) && !(t = context_topic(&c->x, named(e)->name)))
        return ZK_OK;
    return partition_sm_trigger(c, t, NULL);
}

static enum zk_result run_answer(struct controller *c, struct event *e)
{
    return answers_handle(c, container_of(e, struct event_answer, event)->answer);
}

static enum zk_result run_alter_partition(struct controller *c, struct event *e)
{
    return isr_alter(c, call_of(e));
}

static enum zk_result run_controlled_shutdown(struct controller *c, struct event *e)
{
    return shutdown_relieve(c, call_of(e));
}

static enum zk_result run_allocate_producer_ids(struct controller *c, struct event *e)
{
    return producer_ids_allocate(c, call_of(e));
}

static enum zk_result run_elect_leaders(struct controller *c, struct event *e)
{
    return balance_elect(c, container_of(call_of(e), struct controller_elections, call));
}

static enum zk_result run_set_partitions(struct controller *c, struct event *e)
{
    return topics_set_partitions(c,
                                 container_of(call_of(e), struct controller_set_partitions, call));
}

static enum zk_result run_alter_reassignments(struct controller *c, struct event *e)
{
    return reassign_alter(c, call_of(e));
}

static enum zk_result run_list_reassignments(struct controller *c, struct event *e)
{
    return reassign_list(c, call_of(e));
}

static enum zk_result run_update_features(struct controller *c, struct event *e)
{
    return features_update(c, call_of(e));
}

/* Answers of calls that are not run. */

static const char not_controller[] = "This is not the correct controller for this cluster.";

static void refuse_alter_reassignments(struct event *e)
{
    struct controller_call *call = call_of(e);
    struct alter_partition_reassignments_response *resp = arena_zalloc(call->arena, sizeof *resp);

    resp->error_code = NOT_CONTROLLER;
    resp->error_message = str_of(not_controller);
    call->response = resp;
}

static void refuse_list_reassignments(struct event *e)
{
    struct controller_call *call = call_of(e);
    struct list_partition_reassignments_response *resp = arena_zalloc(call->arena, sizeof *resp);

    resp->error_code = NOT_CONTROLLER;
    resp->error_message = str_of(not_controller);
    call->response = resp;
}

static void refuse_update_features(struct event *e)
{
    struct controller_call *call = call_of(e);
    struct update_features_response *resp = arena_zalloc(call->arena, sizeof *resp);

    resp->error_code = NOT_CONTROLLER;
    resp->error_message = str_of(not_controller);
    call->response = resp;
}

static void refuse_alter_partition(struct event *e)
{
    struct controller_call *call = call_of(e);
    struct alter_partition_response *resp = arena_zalloc(call->arena, sizeof *resp);

    resp->error_code = NOT_CONTROLLER;
    call->response = resp;
}

static void refuse_controlled_shutdown(struct event *e)
{
    struct controller_call *call = call_of(e);
    struct controlled_shutdown_response *resp = arena_zalloc(call->arena, sizeof *resp);

    resp->error_code = STALE_CONTROLLER_EPOCH;
    call->response = resp;
}

static void refuse_allocate_producer_ids(struct event *e)
{
    struct controller_call *call = call_of(e);
    struct allocate_producer_ids_response *resp = arena_zalloc(call->arena, sizeof *resp);

    resp->error_code = NOT_CONTROLLER;
    call->response = resp;
}

static void refuse_elect_leaders(struct event *e)
{
    struct controller_elections *call = container_of(call_of(e), struct controller_elections, call);

    for (size_t i = 0; i < call->count; i++) {
        call->list[i].error = NOT_CONTROLLER;
        call->list[i].message = NULL;
    }
}

static void refuse_set_partitions(struct event *e)
{
    container_of(call_of(e), struct controller_set_partitions, call)->error = NOT_CONTROLLER;
}

static const struct event_row {
    event_run_fn run;
    event_end_fn refuse; /* before end, where it is not run; NULL: nobody waits for it */
    event_end_fn end;    /* gives it back */
    enum controller_state state;
    bool needs_active;
} rows[EVENT_KIND_COUNT] = {
    [EVENT_STARTUP] = {run_elect, NULL, free_named, CONTROLLER_CHANGE, false},
    [EVENT_CONTROLLER_CHANGE] = {run_controller_change, NULL, free_named, CONTROLLER_CHANGE, false},
    [EVENT_REELECT] = {run_reelect, NULL, free_named, CONTROLLER_CHANGE, false},
    [EVENT_EXPIRE] = {run_expire, NULL, free_named, CONTROLLER_CHANGE, false},
    [EVENT_REGISTER_AND_REELECT] = {run_register, NULL, free_named, CONTROLLER_CHANGE, false},
    [EVENT_SHUTDOWN] = {run_shutdown, NULL, free_named, CONTROLLER_SHUTDOWN, false},
    [EVENT_BROKER_CHANGE] = {run_broker_change, NULL, free_named, CONTROLLER_BROKER_CHANGE, true},
    [EVENT_BROKER_MODIFICATION] = {run_broker_modification, NULL, free_named,
                                   CONTROLLER_BROKER_CHANGE, true},
    [EVENT_TOPIC_CHANGE] = {run_topic_change, NULL, free_named, CONTROLLER_TOPIC_CHANGE, true},
    [EVENT_PARTITION_MODIFICATION] = {run_partition_modification, NULL, free_named,
                                      CONTROLLER_TOPIC_CHANGE, true},
    [EVENT_TOPIC_DELETION] = {run_topic_deletion, NULL, free_named, CONTROLLER_TOPIC_DELETION,
                              true},
    [EVENT_PREFERRED_ELECTION] = {run_preferred_election, NULL, free_named,
                                  CONTROLLER_MANUAL_BALANCE, true},
    [EVENT_REASSIGN_LEGACY] = {run_reassign_legacy, NULL, free_named, CONTROLLER_REASSIGNMENT,
                               true},
    [EVENT_REASSIGN_ISR_CHANGE] = {run_reassign_isr_change, NULL, free_named,
                                   CONTROLLER_REASSIGNMENT, true},
    [EVENT_ISR_CHANGE] = {run_isr_change, NULL, free_named, CONTROLLER_ISR_CHANGE, true},
    [EVENT_LOG_DIR_CHANGE] = {run_log_dir_change, NULL, free_named, CONTROLLER_LOG_DIR_CHANGE,
                              true},
    [EVENT_UNCLEAN_ENABLE] = {run_unclean_enable, NULL, free_named, CONTROLLER_UNCLEAN_ENABLE,
                              true},
    [EVENT_ANSWER] = {run_answer, NULL, free_answer, CONTROLLER_LEADER_AND_ISR_ANSWER, true},
    [EVENT_ALTER_PARTITION] = {run_alter_partition, refuse_alter_partition, call_done,
                               CONTROLLER_ISR_CHANGE, true},
    [EVENT_CONTROLLED_SHUTDOWN] = {run_controlled_shutdown, refuse_controlled_shutdown, call_done,
                                   CONTROLLER_CONTROLLED_SHUTDOWN, true},
    [EVENT_ALLOCATE_PRODUCER_IDS] = {run_allocate_producer_ids, refuse_allocate_producer_ids,
                                     call_done, CONTROLLER_IDLE, true},
    [EVENT_ELECT_LEADERS] = {run_elect_leaders, refuse_elect_leaders, call_done,
                             CONTROLLER_MANUAL_BALANCE, true},
    [EVENT_SET_PARTITIONS] = {run_set_partitions, refuse_set_partitions, call_done,
                              CONTROLLER_TOPIC_CHANGE, true},
    [EVENT_ALTER_REASSIGNMENTS] = {run_alter_reassignments, refuse_alter_reassignments, call_done,
                                   CONTROLLER_REASSIGNMENT, true},
    [EVENT_LIST_REASSIGNMENTS] = {run_list_reassignments, refuse_list_reassignments, call_done,
                                  CONTROLLER_LIST_REASSIGNMENTS, true},
    [EVENT_UPDATE_FEATURES] = {run_update_features, refuse_update_features, call_done,
                               CONTROLLER_UPDATE_FEATURES, true},
};

enum controller_state event_state(const struct event *e)
{
    if (e->kind == EVENT_UNCLEAN_ENABLE &&
        !str_is_null(container_of(e, const struct event_named, event)->name))
        return CONTROLLER_TOPIC_UNCLEAN_ENABLE;
    if (e->kind != EVENT_ANSWER)
        return rows[e->kind].state;
    switch (container_of(e, struct event_answer, event)->answer->message->api_key) {
    case API_UPDATE_METADATA:
        return CONTROLLER_UPDATE_METADATA_ANSWER;
    case API_STOP_REPLICA:
        return CONTROLLER_TOPIC_DELETION;
    default:
        return CONTROLLER_LEADER_AND_ISR_ANSWER;
    }
}

void event_refuse(struct event *e)
{
    const struct event_row *row = &rows[e->kind];

    if (row->refuse)
        row->refuse(e);
    row->end(e);
}

enum zk_result event_run(struct controller *c, struct event *e)
{
    const struct event_row *row = &rows[e->kind];

    if (row->needs_active && !c->is_active) {
        event_refuse(e);
        return ZK_OK;
    }
    enum zk_result r = row->run(c, e);
    row->end(e);
    return r;
}

const char *event_name(enum event_kind kind)
{
    static const char *const names[EVENT_KIND_COUNT] = {
        [EVENT_STARTUP] = "startup",
        [EVENT_CONTROLLER_CHANGE] = "change of controller",
        [EVENT_REELECT] = "election",
        [EVENT_EXPIRE] = "session expiry",
        [EVENT_REGISTER_AND_REELECT] = "new session",
        [EVENT_SHUTDOWN] = "shutdown",
        [EVENT_BROKER_CHANGE] = "change of brokers",
        [EVENT_BROKER_MODIFICATION] = "change of a broker's data",
        [EVENT_TOPIC_CHANGE] = "change of topics",
        [EVENT_PARTITION_MODIFICATION] = "change of a topic's partitions",
        [EVENT_TOPIC_DELETION] = "topic deletion",
        [EVENT_PREFERRED_ELECTION] = "preferred election",
        [EVENT_REASSIGN_LEGACY] = "/admin/reassign_partitions",
        [EVENT_REASSIGN_ISR_CHANGE] = "ISR change of a reassignment",
        [EVENT_ISR_CHANGE] = "ISR notification",
        [EVENT_LOG_DIR_CHANGE] = "log directory notification",
        [EVENT_UNCLEAN_ENABLE] = "unclean election enabled",
        [EVENT_ANSWER] = "answer of a broker",
        [EVENT_ALTER_PARTITION] = "AlterPartition",
        [EVENT_CONTROLLED_SHUTDOWN] = "ControlledShutdown",
        [EVENT_ALLOCATE_PRODUCER_IDS] = "AllocateProducerIds",
        [EVENT_ELECT_LEADERS] = "ElectLeaders",
        [EVENT_SET_PARTITIONS] = "CreatePartitions",
        [EVENT_ALTER_REASSIGNMENTS] = "AlterPartitionReassignments",
        [EVENT_LIST_REASSIGNMENTS] = "ListPartitionReassignments",
        [EVENT_UPDATE_FEATURES] = "UpdateFeatures",
    };

    return names[kind];
}
