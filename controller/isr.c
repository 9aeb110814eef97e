#include "controller/isr.h"

#include "controller/reassign.h"
#include "controller/topics.h"
#include "zk/zk_admin.h"
#include "zk/zk_paths.h"
#include "zk/zk_states.h"

/* One partition of an AlterPartition request. */
struct alteration {
    struct ctl_partition *p;
    struct node_state wanted;
    int32_t partition_epoch;
    struct alter_partition_response_partition *ret;
};

struct alterations {
    struct controller *c;
    struct controller_call *call;
    struct alteration *v;
    size_t count;
    struct partition_list told;
    struct partition_list accepted; /* those of which there is no error */
};

static void answer_state(const struct ctl_partition *p, struct arena *a,
                         struct alter_partition_response_partition *ret)
{
    ret->leader_id = p->leader;
    ret->leader_epoch = p->leader_epoch;
    ret->isr = arena_new_array(a, int32_t, (size_t)p->isr_count + 1);
    ret->isr_count = p->isr_count;
    if (p->isr_count)
        memcpy(ret->isr, p->isr, (size_t)p->isr_count * sizeof *ret->isr);
    ret->leader_recovery_state = p->recovery_state;
    ret->partition_epoch = p->partition_epoch;
}

static bool all_live(const struct controller *c, const struct node_ids *ids)
{
    for (int32_t i = 0; i < ids->count; i++) {
        if (!context_is_live(&c->x, ids->list[i]))
            return false;
    }
    return true;
}

static bool is_so_already(const struct ctl_partition *p, const struct alteration *al)
{
    struct node_ids isr = partition_isr(p);

    return al->wanted.leader == p->leader && al->wanted.leader_epoch == p->leader_epoch &&
           al->wanted.leader_recovery_state == p->recovery_state &&
           node_ids_eq(&al->wanted.isr, &isr) && al->partition_epoch <= p->partition_epoch;
}

enum { ACCEPTED = 0, IS_SO_ALREADY = -1, ISR_MAX = 1024 };

/* The first rule that applies; ACCEPTED leaves it to ZooKeeper. */
static int judge(const struct controller *c, const struct alteration *al, int16_t version)
{
    const struct ctl_partition *p = al->p;

    if (!p || !p->has_leadership)
        return UNKNOWN_TOPIC_OR_PARTITION;
    if (al->partition_epoch > p->partition_epoch || al->wanted.leader_epoch > p->leader_epoch)
        return NOT_CONTROLLER; /* the sender knows more than we: we are the old controller */
    if (al->wanted.leader_epoch < p->leader_epoch)
        return FENCED_LEADER_EPOCH;
    if (is_so_already(p, al))
        return IS_SO_ALREADY;
    if (al->partition_epoch < p->partition_epoch)
        return INVALID_UPDATE_VERSION;
    if (al->wanted.isr.count <= 0 || al->wanted.isr.count > ISR_MAX)
        return INVALID_REQUEST;
    if (al->wanted.leader_recovery_state == NODE_RECOVERING &&
        (al->wanted.isr.count > 1 || p->recovery_state == NODE_RECOVERED))
        return INVALID_REQUEST;
    if (!all_live(c, &al->wanted.isr))
        return version >= 2 ? INELIGIBLE_REPLICA : OPERATION_NOT_ATTEMPTED;
    return ACCEPTED;
}

static struct node_ids wanted_isr(const struct alter_partition_request_partition *rp,
                                  int16_t version, struct arena *a)
{
    struct node_ids isr = {rp->new_isr, rp->new_isr_count};

    if (version < 3)
        return isr;
    isr.count = rp->new_isr_with_epochs_count;
    isr.list = arena_new_array(a, int32_t, (size_t)isr.count + 1);
    for (int32_t i = 0; i < isr.count; i++)
        isr.list[i] = rp->new_isr_with_epochs[i].broker_id;
    return isr;
}

static void take_as_it_is(struct alterations *all, struct ctl_partition *p,
                          struct alter_partition_response_partition *ret)
{
    answer_state(p, all->call->arena, ret);
    partition_list_add(&all->accepted, p);
}

/* One partition of the request: refused, answered as it is, or put on the list to be written. */
static void consider(struct alterations *all, struct ctl_topic *t,
                     const struct alter_partition_request_partition *rp,
                     struct alter_partition_response_partition *ret)
{
    const struct alter_partition_request *req = all->call->request;
    struct alteration al = {
        .p = t ? topic_partition(t, rp->partition_index) : NULL,
        .wanted = {.leader = req->broker_id,
                   .leader_epoch = rp->leader_epoch,
                   .controller_epoch = all->c->epoch,
                   .isr = wanted_isr(rp, all->call->version, all->call->arena),
                   .leader_recovery_state = rp->leader_recovery_state},
        .partition_epoch = rp->partition_epoch,
        .ret = ret,
    };
    int verdict = judge(all->c, &al, all->call->version);

    ret->partition_index = rp->partition_index;
    if (al.p)
        partition_list_add(&all->told, al.p);
    if (verdict == ACCEPTED)
        all->v[all->count++] = al;
    else if (verdict == IS_SO_ALREADY)
        take_as_it_is(all, al.p, ret);
    else
        ret->error_code = (int16_t)verdict;
}

static size_t partitions_in(const struct alter_partition_request *req)
{
    size_t n = 0;

    for (int32_t i = 0; i < req->topics_count; i++)
        n += (size_t)req->topics[i].partitions_count;
    return n;
}

static struct ctl_topic *topic_of(const struct controller *c,
                                  const struct alter_partition_request_topic *rt, int16_t version)
{
    return version >= 2 ? context_topic_by_id(&c->x, rt->topic_id)
                        : context_topic(&c->x, rt->topic_name);
}

static void consider_all(struct alterations *all)
{
    const struct alter_partition_request *req = all->call->request;
    struct alter_partition_response *resp = all->call->response;
    struct arena *a = all->call->arena;

    all->v = arena_array(a, partitions_in(req) + 1, sizeof *all->v);
    resp->topics = arena_array(a, (size_t)req->topics_count + 1, sizeof *resp->topics);
    resp->topics_count = req->topics_count;
    for (int32_t i = 0; i < req->topics_count; i++) {
        const struct alter_partition_request_topic *rt = &req->topics[i];
        struct alter_partition_response_topic *to = &resp->topics[i];
        bool by_id = all->call->version >= 2;
        struct ctl_topic *t = topic_of(all->c, rt, all->call->version);
        to->topic_name = rt->topic_name;
        to->topic_id = rt->topic_id;
        to->partitions_count = rt->partitions_count;
        to->partitions = arena_array(a, (size_t)rt->partitions_count + 1, sizeof *to->partitions);
        for (int32_t j = 0; j < rt->partitions_count; j++) {
            consider(all, t, &rt->partitions[j], &to->partitions[j]);
            if (by_id && !t)
                to->partitions[j].error_code = UNKNOWN_TOPIC_ID;
        }
    }
}

static void written(struct alterations *all, struct alteration *al,
                    const struct zk_partition_state *st)
{
    if (st->result == ZK_BAD_VERSION) {
        al->ret->error_code = INVALID_UPDATE_VERSION;
    } else if (st->result != ZK_OK) {
        say_error("controller: ISR of %s-%d could not be written: %s", al->p->topic->name,
                  al->p->id, zk_result_name(st->result));
        al->ret->error_code = err_to_wire(zk_result_err(st->result));
    } else {
        context_set_leadership(&all->c->x, al->p, &st->state, st->version, all->c->epoch);
        take_as_it_is(all, al->p, al->ret);
        say_debug("controller: ISR of %s-%d size=%d partition_epoch=%d", al->p->topic->name,
                  al->p->id, al->p->isr_count, al->p->partition_epoch);
    }
}

/* A partition that stands twice in a request is written twice; the second write then fails. */
static enum zk_result write_all(struct alterations *all)
{
    struct controller *c = all->c;
    struct zk_partition_state *states =
        arena_array(all->call->arena, all->count + 1, sizeof *states);

    for (size_t i = 0; i < all->count; i++)
        states[i] = (struct zk_partition_state){.topic = topic_name(all->v[i].p->topic),
                                                .partition = all->v[i].p->id,
                                                .version = all->v[i].partition_epoch,
                                                .state = all->v[i].wanted};
    enum zk_result r = zk_states_update(c->store, states, all->count, c->epoch_version);
    for (size_t i = 0; r == ZK_OK && i < all->count; i++)
        written(all, &all->v[i], &states[i]);
    return r;
}

/* 0, or the error that stands above all partitions. */
static int check_sender(const struct controller *c, const struct alter_partition_request *req)
{
    const struct ctl_broker *b = context_broker(&c->x, req->broker_id);

    if (!c->is_active)
        return NOT_CONTROLLER;
    if (b && b->epoch == req->broker_epoch)
        return 0;
    say_info("controller: ISR changes from broker %d are refused: its epoch %" PRId64
             " is not the one registered (%" PRId64 ")",
             req->broker_id, req->broker_epoch, b ? b->epoch : NO_EPOCH);
    return STALE_BROKER_EPOCH;
}

/* Nobody could read a node with another state. Kafka fails on it as a whole, too. */
static bool has_unknown_state(const struct controller *c, const struct controller_call *call)
{
    const struct alter_partition_request *req = call->request;

    for (int32_t i = 0; i < req->topics_count; i++) {
        if (!topic_of(c, &req->topics[i], call->version))
            continue;
        for (int32_t j = 0; j < req->topics[i].partitions_count; j++) {
            int8_t state = req->topics[i].partitions[j].leader_recovery_state;

            if (state != NODE_RECOVERED && state != NODE_RECOVERING)
                return true;
        }
    }
    return false;
}

enum zk_result isr_alter(struct controller *c, struct controller_call *call)
{
    struct alterations all = {.c = c, .call = call};
    struct alter_partition_response *resp = arena_zalloc(call->arena, sizeof *resp);

    call->response = resp;
    resp->error_code = (int16_t)check_sender(c, call->request);
    if (!resp->error_code && has_unknown_state(c, call))
        resp->error_code = UNKNOWN_SERVER_ERROR;
    if (resp->error_code)
        return ZK_OK;
    consider_all(&all);
    enum zk_result r = write_all(&all);
    if (r == ZK_OK) {
        controller_tell_all(c, &all.told);
        r = reassign_check(c, &all.accepted);
    } else {
        *resp = (struct alter_partition_response){
            .error_code = controller_is_over(r) ? NOT_CONTROLLER : err_to_wire(zk_result_err(r))};
    }
    partition_list_deinit(&all.told);
    partition_list_deinit(&all.accepted);
    return r;
}

enum zk_result isr_changes(struct controller *c)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    CLEANUP(partition_list_deinit) struct partition_list list = {0};
    struct zk_names names;
    struct node_partition_names changed;
    enum zk_result r = zk_notifications_list(c->store, ZK_PATH_ISR_CHANGES, true, &a, &names);

    if (r != ZK_OK || names.count == 0)
        return r;
    r = zk_isr_changes_read(c->store, &names, &a, &changed);
    if (r != ZK_OK)
        return r;
    for (int32_t i = 0; i < changed.count; i++) {
        struct ctl_partition *p =
            context_partition(&c->x, changed.list[i].topic, changed.list[i].partition);
        if (p)
            partition_list_add(&list, p);
    }
    r = topics_refresh(c, &list);
    if (r != ZK_OK)
        return r;
    if (list.count)
        controller_tell_all(c, &list);
    r = reassign_check(c, &list);
    if (r != ZK_OK)
        return r;
    return zk_notifications_delete(c->store, ZK_PATH_ISR_CHANGES, &names, c->epoch_version);
}
