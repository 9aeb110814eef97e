#include "controller/reassign_calls.h"

#include "common/base/strbuf.h"
#include "controller/assignment.h"
#include "zk/zk_admin.h"

enum { MAX_REPLICAS = 1024 };

/* ---- what is asked for one partition ---- */

struct wish {
    struct str topic;
    int32_t partition;
    struct node_ids target;
    bool is_cancel;
    size_t seq; /* the last one counts where a partition is named twice */
    size_t at;  /* its place in the moves, plus one; 0: none */
    int16_t error;
    const char *why; /* NULL: the error's usual text */
};

struct wishes {
    struct controller *c;
    struct arena *arena; /* of the answer */
    struct wish *v;
    size_t count;
};

static int by_partition(const void *a, const void *b)
{
    const struct wish *x = a, *y = b;
    int order = str_cmp(x->topic, y->topic);

    if (!order)
        order = (x->partition > y->partition) - (x->partition < y->partition);
    return order ? order : (x->seq > y->seq) - (x->seq < y->seq);
}

static bool is_same_partition(const struct wish *x, const struct wish *y)
{
    return x->partition == y->partition && str_eq(x->topic, y->topic);
}

/* Sorted; of several for one partition the last one stays. */
static void wishes_sort(struct wishes *w)
{
    size_t n = 0;

    if (w->count)
        qsort(w->v, w->count, sizeof *w->v, by_partition);
    for (size_t i = 0; i < w->count; i++) {
        if (i + 1 == w->count || !is_same_partition(&w->v[i], &w->v[i + 1]))
            w->v[n++] = w->v[i];
    }
    w->count = n;
}

static void refuse(struct wish *w, int16_t error, const char *why)
{
    w->error = error;
    w->why = why;
}

static void add_ids(struct strbuf *sb, const char *what, const struct node_ids *ids)
{
    strbuf_addf(sb, "%s(", what);
    for (int32_t i = 0; i < ids->count; i++)
        strbuf_addf(sb, "%s%d", i ? ", " : "", ids->list[i]);
    strbuf_addf(sb, ")");
}

static const char *text_with(struct arena *a, const char *text, const struct node_ids *ids)
{
    struct strbuf sb = {0};

    strbuf_addf(&sb, "%s", text);
    add_ids(&sb, "ArrayBuffer", ids);
    const char *out = arena_strz(a, strbuf_str(&sb));
    strbuf_deinit(&sb);
    return out;
}

static const char *text_not_alive(const struct wishes *ws, const struct node_ids *adding)
{
    const struct context *x = &ws->c->x;
    struct node_ids live = {arena_new_array(ws->arena, int32_t, (size_t)x->broker_count + 1), 0};
    struct strbuf sb = {0};

    for (int32_t i = 0; i < x->broker_count; i++) {
        if (context_is_live(x, x->brokers[i]->id))
            live.list[live.count++] = x->brokers[i]->id;
    }
    strbuf_addf(&sb, "Replica assignment has brokers that are not alive. Replica list: ");
    add_ids(&sb, "ArrayBuffer", adding);
    strbuf_addf(&sb, ", live broker list: ");
    add_ids(&sb, "Set", &live);
    const char *out = arena_strz(ws->arena, strbuf_str(&sb));
    strbuf_deinit(&sb);
    return out;
}

static bool all_live(const struct controller *c, const struct node_ids *ids)
{
    for (int32_t i = 0; i < ids->count; i++) {
        if (!context_is_live(&c->x, ids->list[i]))
            return false;
    }
    return true;
}

static bool any_negative(const struct node_ids *ids)
{
    for (int32_t i = 0; i < ids->count; i++) {
        if (ids->list[i] < 0)
            return true;
    }
    return false;
}

/* The assignment of a partition that is not known is empty. */
static struct node_partition assignment_of(const struct ctl_partition *p)
{
    return p ? partition_assignment(p) : (struct node_partition){0};
}

static void validate(struct wishes *ws, struct wish *w, const struct ctl_partition *p)
{
    const struct node_ids *target = &w->target;
    struct node_partition now = assignment_of(p);

    if (target->count == 0) {
        refuse(w, INVALID_REPLICA_ASSIGNMENT,
               "Empty replica list specified in partition reassignment.");
    } else if (ids_repeat(target)) {
        refuse(w, INVALID_REPLICA_ASSIGNMENT,
               text_with(ws->arena,
                         "Duplicate replica ids in partition reassignment replica list: ", target));
    } else if (any_negative(target)) {
        refuse(w, INVALID_REPLICA_ASSIGNMENT,
               text_with(ws->arena, "Invalid broker id in replica list: ", target));
    } else {
        struct node_partition to = assignment_toward(ws->arena, &now, *target);
        if (!all_live(ws->c, &to.adding))
            refuse(w, INVALID_REPLICA_ASSIGNMENT, text_not_alive(ws, &to.adding));
        else if (to.replicas.count > MAX_REPLICAS)
            refuse(w, INVALID_REPLICA_ASSIGNMENT, "A partition can have 1024 replicas.");
    }
}

/* The rules of the old node: liveness is not asked; what nobody could hold is refused. */
static void validate_legacy(struct wishes *ws UNUSED, struct wish *w,
                            const struct ctl_partition *p UNUSED)
{
    if (w->target.count == 0 || w->target.count > MAX_REPLICAS || any_negative(&w->target) ||
        ids_repeat(&w->target))
        refuse(w, INVALID_REPLICA_ASSIGNMENT, "its list of replicas is not one");
}

typedef void (*validate_fn)(struct wishes *ws, struct wish *w, const struct ctl_partition *p);

/* Adds the move to m, or says why there is none. */
static void consider(struct wishes *ws, struct wish *w, validate_fn check, struct moves *m)
{
    struct ctl_partition *p = context_partition(&ws->c->x, w->topic, w->partition);
    struct node_partition now = assignment_of(p);

    if (!w->is_cancel)
        check(ws, w, p);
    else if (!p || !partition_is_reassigning(p))
        refuse(w, NO_REASSIGNMENT_IN_PROGRESS, "No partition reassignment is in progress.");
    if (w->error)
        return;
    if (!p || p->topic->is_queued) {
        refuse(w, UNKNOWN_TOPIC_OR_PARTITION, "The partition does not exist.");
        return;
    }
    struct node_ids target = w->is_cancel ? assignment_origin(&m->arena, &now) : w->target;
    struct node_partition to = assignment_toward(&m->arena, &now, target);
    if (to.replicas.count > MAX_REPLICAS) {
        refuse(w, INVALID_REPLICA_ASSIGNMENT, "A partition can have 1024 replicas.");
        return;
    }
    moves_add(m, p, &to);
    w->at = m->count;
}

/* How the moves went. */
static void conclude(struct wishes *ws, const struct moves *m)
{
    for (size_t i = 0; i < ws->count; i++) {
        struct wish *w = &ws->v[i];
        if (!w->at || !m->v[w->at - 1].error)
            continue;
        int16_t error = m->v[w->at - 1].error;
        refuse(w, error,
               error == INVALID_REPLICA_ASSIGNMENT
                   ? "Unable to change the partition assignment: none of the replicas that would "
                     "stay is online and in sync, so that records would be lost."
                   : "The server experienced an unexpected error when processing the request.");
    }
}

/* ---- the old node ---- */

static int by_entry(const void *a, const void *b)
{
    const struct node_reassign_entry *x = a, *y = b;
    int order = str_cmp(x->topic, y->topic);

    return order ? order : (x->partition > y->partition) - (x->partition < y->partition);
}

/* Entries to take out, by partition; where replicas are given only with just those. */
struct removal {
    struct node_reassign_entry *v;
    size_t count;
};

static bool is_removed(const struct removal *rm, const struct node_reassign_entry *e)
{
    const struct node_reassign_entry *found =
        rm->count ? bsearch(e, rm->v, rm->count, sizeof *rm->v, by_entry) : NULL;

    return found && (!found->replicas.list || node_ids_eq(&found->replicas, &e->replicas));
}

/* Takes them out; a node in which nothing is left is deleted, and looked for again, which arms the
 * watch for the next one. */
static enum zk_result legacy_remove(struct controller *c, struct removal *rm)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct node_reassign now = {0};
    int32_t n = 0;

    if (rm->count == 0)
        return ZK_OK;
    qsort(rm->v, rm->count, sizeof *rm->v, by_entry);
    enum zk_result r = zk_reassign_read(c->store, &a, &now);
    if (r == ZK_NO_NODE)
        return ZK_OK;
    if (r != ZK_OK && r != ZK_MALFORMED)
        return r;
    for (int32_t i = 0; i < now.count; i++) {
        if (!is_removed(rm, &now.list[i]))
            now.list[n++] = now.list[i];
    }
    if (n == now.count && n > 0)
        return ZK_OK;
    now.count = n;
    r = zk_reassign_write(c->store, &now, c->epoch_version);
    if (r == ZK_OK && n == 0)
        controller_post_named(c, EVENT_REASSIGN_LEGACY, 0, STR_NULL);
    return r;
}

enum zk_result reassign_legacy_done(struct controller *c, const struct moves *m)
{
    CLEANUP(free_p) struct node_reassign_entry *v = xcalloc(m->count + 1, sizeof *v);
    struct removal rm = {.v = v};

    for (size_t i = 0; i < m->count; i++) {
        const struct move *mv = &m->v[i];
        if (mv->is_picked)
            rm.v[rm.count++] =
                (struct node_reassign_entry){topic_name(mv->p->topic), mv->p->id, mv->to.replicas};
    }
    return legacy_remove(c, &rm);
}

/* Entries of wishes that were taken up, or that failed. */
static enum zk_result legacy_drop(struct wishes *ws, bool failed)
{
    struct removal rm = {.v = arena_array(ws->arena, ws->count + 1, sizeof *rm.v)};

    for (size_t i = 0; i < ws->count; i++) {
        const struct wish *w = &ws->v[i];
        if (failed ? w->error != 0 : w->at != 0)
            rm.v[rm.count++] =
                (struct node_reassign_entry){.topic = w->topic, .partition = w->partition};
    }
    return legacy_remove(ws->c, &rm);
}

static void take_legacy(struct wishes *ws, const struct node_reassign *node)
{
    ws->v = arena_array(ws->arena, (size_t)node->count + 1, sizeof *ws->v);
    for (int32_t i = 0; i < node->count; i++)
        ws->v[ws->count++] = (struct wish){.topic = node->list[i].topic,
                                           .partition = node->list[i].partition,
                                           .target = node->list[i].replicas,
                                           .seq = (size_t)i};
    wishes_sort(ws);
}

static enum zk_result run_legacy(struct wishes *ws, struct moves *m)
{
    for (size_t i = 0; i < ws->count; i++)
        consider(ws, &ws->v[i], validate_legacy, m);
    enum zk_result r = reassign_run(ws->c, m);
    if (r != ZK_OK)
        return r;
    conclude(ws, m);
    for (size_t i = 0; i < ws->count; i++) {
        if (ws->v[i].error)
            say_warn("controller: reassignment of %.*s-%d in /admin/reassign_partitions is taken "
                     "out: %s",
                     STR_ARG(ws->v[i].topic), ws->v[i].partition, ws->v[i].why);
    }
    return legacy_drop(ws, true);
}

static enum zk_result legacy(struct controller *c, struct moves *m)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct wishes ws = {.c = c, .arena = &a};
    struct node_reassign node = {0};
    enum zk_result r = zk_reassign_read(c->store, &a, &node);

    if (r == ZK_NO_NODE || r == ZK_MALFORMED)
        return ZK_OK;
    if (r != ZK_OK)
        return r;
    say_info("controller: /admin/reassign_partitions asks for reassignments count=%d", node.count);
    take_legacy(&ws, &node);
    return run_legacy(&ws, m);
}

enum zk_result reassign_legacy(struct controller *c)
{
    CLEANUP(moves_deinit) struct moves m = {0};

    return legacy(c, &m);
}

static void mark(const struct moves *m, uint32_t value)
{
    for (size_t i = 0; i < m->count; i++)
        m->v[i].p->mark = value;
}

enum zk_result reassign_start(struct controller *c)
{
    CLEANUP(moves_deinit) struct moves m = {0};
    enum zk_result r = legacy(c, &m);

    if (r != ZK_OK)
        return r;
    mark(&m, 1); /* not of topics to be deleted: they stay in the context */
    r = reassign_resume(c, NULL);
    mark(&m, 0);
    return r;
}

/* ---- the requests ---- */

static size_t partitions_in(const struct alter_partition_reassignments_request *req)
{
    size_t n = 0;

    for (int32_t i = 0; i < req->topics_count; i++)
        n += (size_t)req->topics[i].partitions_count;
    return n;
}

static void take_request(struct wishes *ws, const struct alter_partition_reassignments_request *req)
{
    ws->v = arena_array(ws->arena, partitions_in(req) + 1, sizeof *ws->v);
    for (int32_t i = 0; i < req->topics_count; i++) {
        for (int32_t j = 0; j < req->topics[i].partitions_count; j++) {
            const struct alter_partition_reassignments_request_partition *rp =
                &req->topics[i].partitions[j];
            ws->v[ws->count] = (struct wish){.topic = req->topics[i].name,
                                             .partition = rp->partition_index,
                                             .target = {rp->replicas, rp->replicas_count},
                                             .is_cancel = rp->replicas_count < 0,
                                             .seq = ws->count};
            ws->count++;
        }
    }
    wishes_sort(ws);
}

/* Wishes are sorted, so that those of one topic follow each other. */
static void answer(const struct wishes *ws, struct alter_partition_reassignments_response *resp)
{
    struct alter_partition_reassignments_response_partition *room =
        arena_array(ws->arena, ws->count + 1, sizeof *room);

    resp->responses = arena_array(ws->arena, ws->count + 1, sizeof *resp->responses);
    for (size_t i = 0; i < ws->count; i++) {
        const struct wish *w = &ws->v[i];
        struct alter_partition_reassignments_response_response *t =
            &resp->responses[resp->responses_count - (i > 0)];
        if (i == 0 || !str_eq(t->name, w->topic)) {
            t = &resp->responses[resp->responses_count++];
            t->name = w->topic;
            t->partitions = room + i;
        }
        t->partitions_count++;
        room[i].partition_index = w->partition;
        room[i].error_code = w->error;
        room[i].error_message = w->error ? str_of(w->why) : STR_NULL;
    }
}

enum zk_result reassign_alter(struct controller *c, struct controller_call *call)
{
    CLEANUP(moves_deinit) struct moves m = {0};
    struct wishes ws = {.c = c, .arena = call->arena};
    struct alter_partition_reassignments_response *resp = arena_zalloc(call->arena, sizeof *resp);

    call->response = resp;
    take_request(&ws, call->request);
    for (size_t i = 0; i < ws.count; i++)
        consider(&ws, &ws.v[i], validate, &m);
    enum zk_result r = legacy_drop(&ws, false);
    if (r == ZK_OK)
        r = reassign_run(c, &m);
    if (r == ZK_OK) {
        conclude(&ws, &m);
        answer(&ws, resp);
        resp->error_message = STR(""); /* as Kafka has it, not null */
    } else {
        bool is_over = controller_is_over(r);
        resp->error_code = is_over ? NOT_CONTROLLER : err_to_wire(zk_result_err(r));
        resp->error_message = str_of(
            is_over ? "This is not the correct controller for this cluster." : zk_result_name(r));
    }
    return r;
}

struct listing {
    struct arena *arena;
    struct list_partition_reassignments_response *resp;
};

static int32_t *copied(struct arena *a, struct node_ids ids)
{
    return ids_minus(a, &ids, &(struct node_ids){0}).list;
}

static void list_one(struct listing *l, struct list_partition_reassignments_response_topic *t,
                     const struct ctl_partition *p)
{
    struct list_partition_reassignments_response_partition *to =
        &t->partitions[t->partitions_count++];

    to->partition_index = p->id;
    to->replicas = copied(l->arena, partition_replicas(p));
    to->replicas_count = p->replica_count;
    to->adding_replicas = copied(l->arena, partition_adding(p));
    to->adding_replicas_count = p->adding_count;
    to->removing_replicas = copied(l->arena, partition_removing(p));
    to->removing_replicas_count = p->removing_count;
}

static struct list_partition_reassignments_response_topic *list_topic(struct listing *l,
                                                                      const struct ctl_topic *t)
{
    struct list_partition_reassignments_response_topic *to =
        &l->resp->topics[l->resp->topics_count++];

    to->name = arena_str(l->arena, topic_name(t));
    to->partitions = arena_array(l->arena, (size_t)t->reassigning + 1, sizeof *to->partitions);
    return to;
}

static void list_all(struct controller *c, struct listing *l)
{
    size_t n = 0;

    CONTEXT_EACH_TOPIC(&c->x, t)
    n += t->reassigning > 0;
    l->resp->topics = arena_array(l->arena, n + 1, sizeof *l->resp->topics);
    CONTEXT_EACH_TOPIC(&c->x, t)
    {
        if (t->reassigning == 0)
            continue;
        struct list_partition_reassignments_response_topic *to = list_topic(l, t);
        TOPIC_EACH_PARTITION(t, p)
        {
            if (partition_is_reassigning(p))
                list_one(l, to, p);
        }
    }
}

/* Each topic and partition once, however often it is named. */
static void list_asked(struct controller *c, const struct list_partition_reassignments_request *req,
                       struct listing *l)
{
    CLEANUP(partition_list_deinit) struct partition_list marked = {0};

    l->resp->topics = arena_array(l->arena, (size_t)req->topics_count + 1, sizeof *l->resp->topics);
    for (int32_t i = 0; i < req->topics_count; i++) {
        const struct ctl_topic *t = context_topic(&c->x, req->topics[i].name);
        struct list_partition_reassignments_response_topic *to = NULL;
        for (int32_t j = 0; t && j < req->topics[i].partition_indexes_count; j++) {
            struct ctl_partition *p = topic_partition(t, req->topics[i].partition_indexes[j]);
            if (!p || p->mark || !partition_is_reassigning(p))
                continue;
            p->mark = 1;
            partition_list_add(&marked, p);
            to = to ? to : list_topic(l, t);
            list_one(l, to, p);
        }
    }
    for (size_t i = 0; i < marked.count; i++)
        marked.v[i]->mark = 0;
}

enum zk_result reassign_list(struct controller *c, struct controller_call *call)
{
    const struct list_partition_reassignments_request *req = call->request;
    struct listing l = {call->arena, arena_zalloc(call->arena, sizeof *l.resp)};

    if (req->topics_count >= 0)
        list_asked(c, req, &l);
    else
        list_all(c, &l);
    l.resp->error_message = STR("");
    call->response = l.resp;
    return ZK_OK;
}
