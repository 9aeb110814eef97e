#include "broker/replica/orders.h"

#include "broker/replica/partition_isr.h"
#include "broker/replica/partition_move.h"
#include "broker/replica/partition_role.h"
#include "broker/replica/replica_dirs.h"
#include "broker/replica/replica_internal.h"
#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/base/say.h"

#include <stdatomic.h>

enum { EPOCH_OF_DELETED = -2, EPOCH_UNKNOWN = -1 };

/* ---- what all orders have in common ---- */

/* Why an order is not looked at: 0, STALE_BROKER_EPOCH, and UNKNOWN_SERVER_ERROR of one that is
 * said to be of KRaft, as in Kafka where no migration is under way. */
static int refusal(const struct replica_manager *m, int64_t broker_epoch, bool is_of_kraft)
{
    if (broker_epoch == -1)
        return 0;
    if (is_of_kraft)
        return UNKNOWN_SERVER_ERROR;
    return broker_epoch < atomic_load(m->opts.broker_epoch) ? STALE_BROKER_EPOCH : 0;
}

/* Remembers the controller's epoch; false where it is one of the past. */
static bool accept_controller(struct replica_manager *m, int32_t id, int32_t epoch,
                              const char *what) REQUIRES(m->state_lock)
{
    if (epoch < m->controller_epoch) {
        say_warn("%s refused: its controller has been replaced controller=%d epoch=%d newest=%d",
                 what, id, epoch, m->controller_epoch);
        return false;
    }
    m->controller_epoch = epoch;
    return true;
}

static bool is_internal(struct str topic)
{
    return str_eqz(topic, "__consumer_offsets") || str_eqz(topic, "__transaction_state");
}

/* ---- LeaderAndIsr ---- */

enum outcome { OUTCOME_NONE, OUTCOME_LEAD, OUTCOME_FOLLOW, OUTCOME_SET_ID };

struct order {
    struct str topic;
    struct uuid topic_id;
    const leader_and_isr_state *state;
    struct topic_conf *conf; /* where a log may have to be made */
    struct partition *part;  /* a reference */
    enum outcome outcome;
    bool is_new;
    bool is_to_fetch;
    int error;
};

struct order_list {
    struct order *v;
    int32_t count;
    uint64_t conf_changes; /* so far, when settings were read */
};

static struct order_list orders_of(const struct leader_and_isr_request *req, struct arena *a)
{
    struct order_list l = {.count = MAX(req->ungrouped_partition_states_count, 0)};
    int32_t n = 0;

    for (int32_t i = 0; i < req->topic_states_count; i++)
        l.count += MAX(req->topic_states[i].partition_states_count, 0);
    l.v = arena_new_array(a, struct order, (size_t)l.count);
    for (int32_t i = 0; i < req->ungrouped_partition_states_count; i++) {
        const leader_and_isr_state *st = &req->ungrouped_partition_states[i];
        l.v[n++] = (struct order){.topic = st->topic_name, .state = st};
    }
    for (int32_t i = 0; i < req->topic_states_count; i++)
        for (int32_t k = 0; k < req->topic_states[i].partition_states_count; k++)
            l.v[n++] = (struct order){.topic = req->topic_states[i].topic_name,
                                      .topic_id = req->topic_states[i].topic_id,
                                      .state = &req->topic_states[i].partition_states[k]};
    return l;
}

static void orders_deinit(struct order_list *l)
{
    for (int32_t i = 0; i < l->count; i++) {
        partition_unref(l->v[i].part);
        topic_conf_unref(l->v[i].conf);
    }
}

/*
 * Settings of topics whose log is not here yet, before any lock is taken: ZooKeeper is asked for
 * them. Once for each topic, as a request has its partitions together.
 */
static void read_confs(struct replica_manager *m, struct order_list *l)
{
    const struct replica_events *e = &m->opts.events;
    const struct order *last = NULL;

    l->conf_changes = e->conf_changes ? e->conf_changes(e->ctx) : 0;
    for (int32_t i = 0; i < l->count; i++) {
        struct order *o = &l->v[i];
        struct log *log = log_manager_get(m->opts.logs, o->topic, o->state->partition_index);
        if (log) {
            log_put(log);
            continue;
        }
        if (last && str_eq(last->topic, o->topic)) {
            o->conf = last->conf ? topic_conf_ref(last->conf) : NULL;
            continue;
        }
        char *CLEANUP(free_p) name = str_dup(o->topic);
        o->conf = m->opts.events.topic_conf(m->opts.events.ctx, name);
        last = o;
    }
}

static bool is_ours(const struct replica_manager *m, const leader_and_isr_state *st)
{
    for (int32_t i = 0; i < st->replicas_count; i++)
        if (st->replicas[i] == m->opts.broker_id)
            return true;
    return false;
}

/* The same leader epoch: only the topic id may have become known, or unknown. */
static int judge_equal(struct order *o, enum partition_role role, struct uuid known)
{
    bool has = !uuid_is_zero(known), wanted = !uuid_is_zero(o->topic_id);

    if (wanted == has || (has && role != ROLE_FOLLOWER))
        return STALE_CONTROLLER_EPOCH;
    o->outcome = OUTCOME_SET_ID;
    return 0;
}

static int judge(struct replica_manager *m, struct order *o)
{
    enum partition_role role;
    struct uuid known;
    int32_t epoch = partition_epoch_now(o->part, &role, &known);

    if (role == ROLE_OFFLINE)
        return KAFKA_STORAGE_ERROR;
    if (!uuid_is_zero(known) && !uuid_is_zero(o->topic_id) && !uuid_eq(known, o->topic_id)) {
        say_error("LeaderAndIsr refused: the log here belongs to another topic of that name "
                  "partition=%s-%d; remove its directory to let the new topic in",
                  o->part->topic.p, o->part->id);
        return INCONSISTENT_TOPIC_ID;
    }
    if (o->state->leader_epoch < epoch)
        return STALE_CONTROLLER_EPOCH;
    if (o->state->leader_epoch == epoch)
        return judge_equal(o, role, known);
    if (!is_ours(m, o->state))
        return UNKNOWN_TOPIC_OR_PARTITION;
    o->outcome = o->state->leader == m->opts.broker_id ? OUTCOME_LEAD : OUTCOME_FOLLOW;
    return 0;
}

static struct role_change change_of(const struct replica_manager *m, const struct order *o)
{
    struct role_change c = {
        .state = o->state, .controller_epoch = m->controller_epoch, .conf = o->conf};

    /* Below IBP 2.8-IV0 topic ids are not kept (B12.3). */
    if (m->opts.ibp >= IBP_2_8_IV0)
        c.topic_id = o->topic_id;
    return c;
}

static void lead(struct replica_manager *m, struct order *o)
{
    struct role_change c = change_of(m, o);

    o->error = partition_make_leader(o->part, &c, &o->is_new);
}

static void follow(struct replica_manager *m, const struct metadata_snapshot *s, struct order *o)
{
    struct role_change c = change_of(m, o);

    if (o->state->leader < 0 || !metadata_broker(s, o->state->leader)) {
        say_warn("not followed: the leader is not alive here partition=%s-%d leader=%d "
                 "leader_epoch=%d; the next LeaderAndIsr decides",
                 o->part->topic.p, o->part->id, o->state->leader, o->state->leader_epoch);
        o->error = partition_make_log(o->part, &c);
        return;
    }
    o->error = partition_make_follower(o->part, &c, &o->is_new);
    o->is_to_fetch = !o->error && o->is_new;
}

/* All leaders stop to fetch, and all followers begin, at once. */
static void change_fetchers(struct replica_manager *m, const struct order_list *l,
                            enum outcome outcome) REQUIRES(m->state_lock)
{
    struct partition **CLEANUP(free_p) parts = xnew_array(struct partition *, (size_t)l->count + 1);
    size_t n = 0;

    for (int32_t i = 0; i < l->count; i++)
        if (l->v[i].outcome == outcome && (outcome == OUTCOME_LEAD || l->v[i].is_to_fetch))
            parts[n++] = l->v[i].part;
    if (outcome == OUTCOME_LEAD || atomic_load(&m->is_shutting_down))
        fetcher_pool_remove(m->fetchers, parts, n);
    else
        fetcher_pool_add(m->fetchers, parts, n);
}

static void set_id(struct replica_manager *m, struct order *o)
{
    if (!uuid_is_zero(o->topic_id) && m->opts.ibp >= IBP_2_8_IV0)
        o->error = partition_set_topic_id(o->part, o->topic_id);
    fetcher_pool_renew(m->fetchers, o->part);
}

static void carry_out(struct replica_manager *m, struct order_list *l) REQUIRES(m->state_lock)
{
    const struct metadata_snapshot *CLEANUP(metadata_put_p) s = metadata_get(m->opts.metadata);

    for (int32_t i = 0; i < l->count; i++) {
        struct order *o = &l->v[i];
        o->part = replica_manager_obtain(m, o->topic, o->state->partition_index);
        o->error = judge(m, o);
    }
    change_fetchers(m, l, OUTCOME_LEAD);
    for (int32_t i = 0; i < l->count; i++)
        if (l->v[i].outcome == OUTCOME_LEAD)
            lead(m, &l->v[i]);
    for (int32_t i = 0; i < l->count; i++)
        if (l->v[i].outcome == OUTCOME_FOLLOW)
            follow(m, s, &l->v[i]);
    change_fetchers(m, l, OUTCOME_FOLLOW);
    for (int32_t i = 0; i < l->count; i++)
        if (l->v[i].outcome == OUTCOME_SET_ID)
            set_id(m, &l->v[i]);
    for (int32_t i = 0; i < l->count; i++)
        if (!l->v[i].error)
            replica_dirs_go_on(m, l->v[i].part);
    if (!m->had_leader_and_isr)
        log_manager_enable_hw_checkpoints(m->opts.logs);
    m->had_leader_and_isr = true;
    fetcher_pool_drop_idle(m->fetchers);
}

/* Settings that changed before the logs made of them could be found would be missed. */
static void check_confs(struct replica_manager *m, const struct order_list *l)
{
    const struct replica_events *e = &m->opts.events;
    const struct order *last = NULL;

    if (!e->conf_changes || e->conf_changes(e->ctx) == l->conf_changes)
        return;
    for (int32_t i = 0; i < l->count; i++) {
        const struct order *o = &l->v[i];

        if (!o->conf || (last && str_eq(last->topic, o->topic)))
            continue;
        char *CLEANUP(free_p) name = str_dup(o->topic);
        e->conf_again(e->ctx, name);
        last = o;
    }
}

static void tell_coordinators(struct replica_manager *m, const struct order_list *l)
{
    const struct replica_events *e = &m->opts.events;

    for (int32_t i = 0; i < l->count; i++) {
        const struct order *o = &l->v[i];
        if (o->error || !o->is_new || !is_internal(o->topic))
            continue;
        if (o->outcome == OUTCOME_LEAD && e->elected)
            e->elected(e->ctx, o->part->topic, o->part->id, o->state->leader_epoch);
        else if (o->outcome == OUTCOME_FOLLOW && e->resigned)
            e->resigned(e->ctx, o->part->topic, o->part->id, o->state->leader_epoch);
    }
}

/* ---- its answer ---- */

static void answer_flat(const struct order_list *l, struct arena *a,
                        struct leader_and_isr_response *ret)
{
    ret->partition_errors =
        arena_new_array(a, struct leader_and_isr_response_partition_error, (size_t)l->count);
    ret->partition_errors_count = l->count;
    for (int32_t i = 0; i < l->count; i++)
        ret->partition_errors[i] = (struct leader_and_isr_response_partition_error){
            l->v[i].topic, l->v[i].state->partition_index, err_to_wire(l->v[i].error)};
}

/* A refusal tells each topic of the request, also one without partitions. */
static void answer_by_topic(const struct order_list *l, const struct leader_and_isr_request *req,
                            struct arena *a, struct leader_and_isr_response *ret)
{
    struct leader_and_isr_response_partition_error *errors =
        arena_new_array(a, struct leader_and_isr_response_partition_error, (size_t)l->count);
    int32_t n = 0;

    for (int32_t i = 0; i < l->count; i++) {
        struct_init(&leader_and_isr_response_partition_error_desc, &errors[i]);
        errors[i].partition_index = l->v[i].state->partition_index;
        errors[i].error_code = err_to_wire(l->v[i].error);
    }
    ret->topics =
        arena_new_array(a, struct leader_and_isr_response_topic, (size_t)req->topic_states_count);
    for (int32_t i = 0; i < req->topic_states_count; i++) {
        const struct leader_and_isr_request_topic_state *t = &req->topic_states[i];

        if (t->partition_states_count == 0 && !ret->error_code)
            continue;
        ret->topics[ret->topics_count++] = (struct leader_and_isr_response_topic){
            t->topic_id, &errors[n], t->partition_states_count};
        n += t->partition_states_count;
    }
}

void orders_leader_and_isr(struct replica_manager *m, const struct leader_and_isr_request *req,
                           int16_t version, struct arena *a, struct leader_and_isr_response *ret)
{
    struct order_list l = orders_of(req, a);
    int error = refusal(m, req->broker_epoch, req->is_k_raft_controller);

    msg_init(&leader_and_isr_response_desc, ret);
    if (!error)
        read_confs(m, &l);
    WITH_LOCK(&m->state_lock)
    {
        if (!error &&
            !accept_controller(m, req->controller_id, req->controller_epoch, "LeaderAndIsr"))
            error = STALE_CONTROLLER_EPOCH;
        if (!error)
            carry_out(m, &l);
    }
    if (!error) {
        check_confs(m, &l);
        tell_coordinators(m, &l);
    }
    ret->error_code = (int16_t)error;
    for (int32_t i = 0; error && i < l.count; i++)
        l.v[i].error = error;
    if (version < 5)
        answer_flat(&l, a, ret);
    else
        answer_by_topic(&l, req, a, ret);
    orders_deinit(&l);
}

/* ---- StopReplica ---- */

struct stop {
    struct str topic;
    int32_t partition;
    int32_t leader_epoch;
    bool is_delete;
    int error;
};

struct stop_list {
    struct stop *v;
    int32_t count;
};

static void add_stop(struct stop_list *l, struct stop s)
{
    l->v[l->count++] = s;
}

static struct stop_list stops_of(const struct stop_replica_request *req, struct arena *a)
{
    struct stop_list l = {0};
    size_t total = (size_t)MAX(req->ungrouped_partitions_count, 0);
    bool del = req->delete_partitions;

    for (int32_t i = 0; i < req->topics_count; i++)
        total += (size_t)req->topics[i].partition_indexes_count;
    for (int32_t i = 0; i < req->topic_states_count; i++)
        total += (size_t)req->topic_states[i].partition_states_count;
    l.v = arena_new_array(a, struct stop, total);
    for (int32_t i = 0; i < req->ungrouped_partitions_count; i++)
        add_stop(&l, (struct stop){req->ungrouped_partitions[i].topic_name,
                                   req->ungrouped_partitions[i].partition_index, EPOCH_UNKNOWN, del,
                                   0});
    for (int32_t i = 0; i < req->topics_count; i++)
        for (int32_t k = 0; k < req->topics[i].partition_indexes_count; k++)
            add_stop(&l, (struct stop){req->topics[i].name, req->topics[i].partition_indexes[k],
                                       EPOCH_UNKNOWN, del, 0});
    for (int32_t i = 0; i < req->topic_states_count; i++)
        for (int32_t k = 0; k < req->topic_states[i].partition_states_count; k++) {
            const struct stop_replica_request_partition_state *st =
                &req->topic_states[i].partition_states[k];
            add_stop(&l, (struct stop){req->topic_states[i].topic_name, st->partition_index,
                                       st->leader_epoch, st->delete_partition, 0});
        }
    return l;
}

static int judge_stop(struct partition *part, const struct stop *s)
{
    enum partition_role role;
    struct uuid id;
    int32_t epoch = partition_epoch_now(part, &role, &id);

    if (role == ROLE_OFFLINE)
        return KAFKA_STORAGE_ERROR;
    if (s->leader_epoch == EPOCH_OF_DELETED || s->leader_epoch == EPOCH_UNKNOWN ||
        s->leader_epoch >= epoch)
        return 0;
    return FENCED_LEADER_EPOCH;
}

static int delete_log(struct replica_manager *m, const struct stop *s)
{
    int r = log_manager_delete_future(m->opts.logs, s->topic, s->partition);
    int e = log_manager_delete(m->opts.logs, s->topic, s->partition);

    r = r ? r : e;
    if (r)
        say_error("log could not be deleted partition=%.*s-%d error=%s", STR_ARG(s->topic),
                  s->partition, err_name(r));
    return r ? KAFKA_STORAGE_ERROR : 0;
}

static int stop_one(struct replica_manager *m, const struct stop *s) REQUIRES(m->state_lock)
{
    struct partition *CLEANUP(partition_unref_p) part =
        replica_manager_find(m, s->topic, s->partition);

    if (!part) {
        if (log_manager_is_offline(m->opts.logs, s->topic, s->partition))
            return KAFKA_STORAGE_ERROR;
        return s->is_delete ? delete_log(m, s) : 0;
    }
    int r = judge_stop(part, s);
    if (r)
        return r;
    fetcher_pool_remove(m->fetchers, &part, 1);
    if (s->is_delete) {
        partition_end_move(part);
        replica_manager_remove(m, part);
        r = delete_log(m, s);
        partition_delete(part, replica_manager_why_not_here(m, s->topic, s->partition));
    } else {
        partition_stop(part);
    }
    say_info("replica stopped partition=%s-%d deleted=%d", part->topic.p, part->id, s->is_delete);
    return r;
}

static void tell_resigned(struct replica_manager *m, const struct stop_list *l)
{
    const struct replica_events *e = &m->opts.events;

    for (int32_t i = 0; e->resigned && i < l->count; i++)
        if (!l->v[i].error && l->v[i].is_delete && is_internal(l->v[i].topic))
            e->resigned(e->ctx, l->v[i].topic, l->v[i].partition,
                        MAX(l->v[i].leader_epoch, EPOCH_UNKNOWN));
}

void orders_stop_replica(struct replica_manager *m, const struct stop_replica_request *req,
                         struct arena *a, struct stop_replica_response *ret)
{
    struct stop_list l = stops_of(req, a);
    int error = refusal(m, req->broker_epoch, req->is_k_raft_controller);

    msg_init(&stop_replica_response_desc, ret);
    WITH_LOCK(&m->state_lock)
    {
        if (!error &&
            !accept_controller(m, req->controller_id, req->controller_epoch, "StopReplica"))
            error = STALE_CONTROLLER_EPOCH;
        for (int32_t i = 0; !error && i < l.count; i++)
            l.v[i].error = stop_one(m, &l.v[i]);
    }
    ret->error_code = (int16_t)error;
    if (error > 0)
        return;
    if (error)
        for (int32_t i = 0; i < l.count; i++)
            l.v[i].error = error;
    else
        tell_resigned(m, &l);
    ret->partition_errors =
        arena_new_array(a, struct stop_replica_response_partition_error, (size_t)l.count);
    ret->partition_errors_count = l.count;
    for (int32_t i = 0; i < l.count; i++)
        ret->partition_errors[i] = (struct stop_replica_response_partition_error){
            l.v[i].topic, l.v[i].partition, err_to_wire(l.v[i].error)};
}

/* ---- UpdateMetadata ---- */

static bool has_lost_a_broker(const struct metadata_snapshot *before,
                              const struct metadata_snapshot *now)
{
    for (int32_t i = 0; i < metadata_broker_count(before); i++)
        if (!metadata_broker(now, metadata_broker_at(before, i)->id))
            return true;
    return false;
}

static bool recount(struct partition *part, void *ctx UNUSED)
{
    partition_broker_gone(part);
    return true;
}

void orders_update_metadata(struct replica_manager *m, const struct update_metadata_request *req,
                            struct update_metadata_response *ret)
{
    int error = refusal(m, req->broker_epoch, req->is_k_raft_controller);
    const struct metadata_snapshot *CLEANUP(metadata_put_p) before = metadata_get(m->opts.metadata);
    bool has_lost = false;

    msg_init(&update_metadata_response_desc, ret);
    WITH_LOCK(&m->state_lock)
    {
        if (!error &&
            !accept_controller(m, req->controller_id, req->controller_epoch, "UpdateMetadata"))
            error = STALE_CONTROLLER_EPOCH;
        if (!error) {
            metadata_update(m->opts.metadata, req);
            const struct metadata_snapshot *CLEANUP(metadata_put_p) now =
                metadata_get(m->opts.metadata);
            has_lost = has_lost_a_broker(before, now);
        }
    }
    if (has_lost)
        replica_manager_each(m, recount, NULL);
    ret->error_code = (int16_t)error;
    if (!error && m->opts.events.metadata_updated)
        m->opts.events.metadata_updated(m->opts.events.ctx, req);
}
