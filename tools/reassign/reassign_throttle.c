/*
 * reassign_throttle.c - limits replication for the time of a move, and frees it again (KIP-73): the
 * replicas are topics' settings, the rates are brokers'
 */
#include "common/base/err.h"
#include "common/base/mem.h"
#include "tools/reassign/reassign.h"

#include <inttypes.h>

enum { RESOURCE_TOPIC = 2, RESOURCE_BROKER = 4, OP_SET = 0, OP_DELETE = 1 };

#define LEADER_RATE       "leader.replication.throttled.rate"
#define FOLLOWER_RATE     "follower.replication.throttled.rate"
#define DIR_RATE          "replica.alter.log.dirs.io.max.bytes.per.second"
#define LEADER_REPLICAS   "leader.replication.throttled.replicas"
#define FOLLOWER_REPLICAS "follower.replication.throttled.replicas"

/* ---- changing settings ---- */

typedef struct incremental_alter_configs_request_config config_op;

struct change {
    int8_t type;
    struct str name;
    config_op *ops;
    int32_t count;
};

static int refused(struct reassign *ra, int16_t error, struct str message)
{
    strbuf_addz(&ra->why, "org.apache.kafka.common.errors.");
    cluster_exception(error, &ra->why);
    strbuf_addf(&ra->why, ": %.*s", STR_ARG(cluster_error_text(error, message)));
    return error;
}

static int send_changes(struct reassign *ra, int32_t to, const struct change *changes, size_t count)
{
    struct incremental_alter_configs_request req;
    const struct cluster_call call = {"incrementalAlterConfigs", to, API_INCREMENTAL_ALTER_CONFIGS,
                                      1, &req};
    const struct incremental_alter_configs_response *resp;
    const void *response;

    msg_init(&incremental_alter_configs_request_desc, &req);
    req.resources = arena_array(&ra->arena, count + 1, sizeof *req.resources);
    req.resources_count = (int32_t)count;
    for (size_t i = 0; i < count; i++) {
        req.resources[i].resource_type = changes[i].type;
        req.resources[i].resource_name = changes[i].name;
        req.resources[i].configs = changes[i].ops;
        req.resources[i].configs_count = changes[i].count;
    }
    cluster_start(ra->cluster);
    int r = cluster_call(ra->cluster, &call, &ra->arena, &response, &ra->why);
    if (r)
        return r;
    resp = response;
    for (int32_t i = 0; i < resp->responses_count; i++) {
        if (resp->responses[i].error_code)
            return refused(ra, resp->responses[i].error_code, resp->responses[i].error_message);
    }
    return 0;
}

static config_op op_set(const char *name, struct str value)
{
    return (config_op){.name = str_of(name), .config_operation = OP_SET, .value = value};
}

static config_op op_delete(const char *name)
{
    return (config_op){.name = str_of(name), .config_operation = OP_DELETE, .value = STR_NULL};
}

/* Each broker takes its own settings. */
static int change_brokers(struct reassign *ra, const struct replica_ids *brokers, config_op *ops,
                          int32_t count)
{
    int r = 0;

    for (int32_t i = 0; r == 0 && i < brokers->count; i++) {
        struct change c = {RESOURCE_BROKER, arena_printf(&ra->arena, "%d", brokers->v[i]), ops,
                           count};
        r = send_changes(ra, brokers->v[i], &c, 1);
    }
    return r;
}

/* ---- who sends, who fetches ---- */

static void add_id(struct replica_ids *ids, int32_t id)
{
    if (!replica_ids_has(ids, id))
        ids->v[ids->count++] = id;
}

/* What is moved of a partition: replicas that are there, and those that come. */
struct part_move {
    struct str topic;
    int32_t partition;
    struct replica_ids sources;
    struct replica_ids targets;
};

struct part_moves {
    struct part_move *v;
    size_t count;
};

static struct part_move *add_move(struct reassign *ra, struct part_moves *m, struct str topic,
                                  int32_t partition, int32_t room)
{
    struct part_move *pm = &m->v[m->count++];

    *pm = (struct part_move){.topic = topic, .partition = partition};
    pm->sources.v = arena_new_array(&ra->arena, int32_t, (size_t)room + 1);
    pm->targets.v = arena_new_array(&ra->arena, int32_t, (size_t)room + 1);
    return pm;
}

static struct replica_ids
without_adding(struct reassign *ra, const struct list_partition_reassignments_response_partition *p)
{
    const struct replica_ids adding = {p->adding_replicas, p->adding_replicas_count};
    struct replica_ids out = {arena_new_array(&ra->arena, int32_t, (size_t)p->replicas_count + 1),
                              0};

    for (int32_t i = 0; i < p->replicas_count; i++) {
        if (!replica_ids_has(&adding, p->replicas[i]))
            add_id(&out, p->replicas[i]);
    }
    return out;
}

/* Of a partition that moves already its first replicas send; otherwise those of now. */
static int add_planned(struct reassign *ra, const struct throttling *th, const struct plan_entry *e,
                       struct part_moves *m)
{
    const struct running *run = running_find(th->running, e->topic, e->partition);
    const struct plan_entry *now = plan_find(th->current, e->topic, e->partition);
    struct replica_ids from = {0};

    if (run)
        from = without_adding(ra, run->p);
    else if (now)
        from = now->replicas;
    if (from.count == 0) {
        strbuf_addf(&ra->why, "Trying to reassign a topic partition %.*s-%d with 0 replicas",
                    STR_ARG(e->topic), e->partition);
        return -EINVAL;
    }
    struct part_move *pm = add_move(ra, m, e->topic, e->partition, from.count + e->replicas.count);
    for (int32_t i = 0; i < from.count; i++)
        add_id(&pm->sources, from.v[i]);
    for (int32_t i = 0; i < e->replicas.count; i++) {
        if (!replica_ids_has(&pm->sources, e->replicas.v[i]))
            add_id(&pm->targets, e->replicas.v[i]);
    }
    return 0;
}

static void add_running(struct reassign *ra, const struct running *run, struct part_moves *m)
{
    struct part_move *pm =
        add_move(ra, m, run->topic, run->p->partition_index, run->p->replicas_count);

    pm->sources = without_adding(ra, run->p);
    for (int32_t i = 0; i < run->p->adding_replicas_count; i++)
        add_id(&pm->targets, run->p->adding_replicas[i]);
}

static int by_topic(const void *a, const void *b)
{
    const struct part_move *x = a, *y = b;

    return plan_order(x->topic, x->partition, y->topic, y->partition);
}

/* The plan, and whatever else is under way in the cluster. */
static int find_moves(struct reassign *ra, const struct throttling *th, struct part_moves *m)
{
    int r = 0;

    m->v = arena_new_array(&ra->arena, struct part_move, th->plan->count + th->running->count + 1);
    for (size_t i = 0; r == 0 && i < th->plan->count; i++)
        r = add_planned(ra, th, &th->plan->v[i], m);
    for (size_t i = 0; r == 0 && i < th->running->count; i++) {
        const struct running *run = &th->running->v[i];
        if (!plan_find(th->plan, run->topic, run->p->partition_index))
            add_running(ra, run, m);
    }
    if (m->count)
        qsort(m->v, m->count, sizeof *m->v, by_topic);
    return r;
}

/* ---- topics ---- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* "0:1,0:2,10:1": sorted as texts. moves are those of one topic. */
static struct str replica_list(struct reassign *ra, const struct part_move *moves, size_t count,
                               bool of_targets)
{
    CLEANUP(strbuf_deinit) struct strbuf sb = {0};
    size_t room = 0, n = 0;

    for (size_t i = 0; i < count; i++)
        room += (size_t)(of_targets ? moves[i].targets : moves[i].sources).count;
    char **texts = arena_new_array(&ra->arena, char *, room + 1);
    for (size_t i = 0; i < count; i++) {
        const struct replica_ids *ids = of_targets ? &moves[i].targets : &moves[i].sources;
        for (int32_t k = 0; k < ids->count; k++)
            texts[n++] = arena_strz(
                &ra->arena, arena_printf(&ra->arena, "%d:%d", moves[i].partition, ids->v[k]));
    }
    if (n)
        qsort(texts, n, sizeof *texts, by_text);
    for (size_t i = 0; i < n; i++)
        strbuf_addf(&sb, "%s%s", i ? "," : "", texts[i]);
    return arena_str(&ra->arena, strbuf_str(&sb));
}

static int throttle_topics(struct reassign *ra, const struct part_moves *m)
{
    struct change *changes = arena_array(&ra->arena, m->count + 1, sizeof *changes);
    size_t n = 0;

    for (size_t i = 0, next; i < m->count; i = next) {
        next = i + 1;
        while (next < m->count && str_eq(m->v[next].topic, m->v[i].topic))
            next++;
        struct str send = replica_list(ra, m->v + i, next - i, false);
        struct str fetch = replica_list(ra, m->v + i, next - i, true);
        struct change *c = &changes[n++];
        *c = (struct change){RESOURCE_TOPIC, m->v[i].topic,
                             arena_array(&ra->arena, 2, sizeof(config_op)), 0};
        if (send.len)
            c->ops[c->count++] = op_set(LEADER_REPLICAS, send);
        if (fetch.len)
            c->ops[c->count++] = op_set(FOLLOWER_REPLICAS, fetch);
    }
    return n ? send_changes(ra, SEED_ANY, changes, n) : 0;
}

int reassign_throttle(struct reassign *ra, const struct throttling *th)
{
    struct part_moves m = {0};
    struct str rate = arena_printf(&ra->arena, "%" PRId64, ra->throttle);
    config_op ops[] = {op_set(LEADER_RATE, rate), op_set(FOLLOWER_RATE, rate)};
    size_t room = 0;
    int r = find_moves(ra, th, &m);

    r = r ? r : throttle_topics(ra, &m);
    if (r)
        return r;
    for (size_t i = 0; i < m.count; i++)
        room += (size_t)(m.v[i].sources.count + m.v[i].targets.count);
    struct replica_ids brokers = {arena_new_array(&ra->arena, int32_t, room + 1), 0};
    for (size_t i = 0; i < m.count; i++) {
        for (int32_t k = 0; k < m.v[i].sources.count; k++)
            add_id(&brokers, m.v[i].sources.v[k]);
        for (int32_t k = 0; k < m.v[i].targets.count; k++)
            add_id(&brokers, m.v[i].targets.v[k]);
    }
    r = change_brokers(ra, &brokers, ops, ARRAY_LEN(ops));
    if (r == 0)
        printf("The inter-broker throttle limit was set to %" PRId64 " B/s\n", ra->throttle);
    return r;
}

int reassign_throttle_dirs(struct reassign *ra, const struct dir_moves *moves)
{
    struct replica_ids brokers = {arena_new_array(&ra->arena, int32_t, moves->count + 1), 0};
    config_op op = op_set(DIR_RATE, arena_printf(&ra->arena, "%" PRId64, ra->dir_throttle));

    for (size_t i = 0; i < moves->count; i++)
        add_id(&brokers, moves->v[i].broker);
    int r = change_brokers(ra, &brokers, &op, 1);
    if (r == 0)
        printf("The replica-alter-dir throttle limit was set to %" PRId64 " B/s\n",
               ra->dir_throttle);
    return r;
}

/* ---- freeing ---- */

static int by_number(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

    return (x > y) - (x < y);
}

static int unthrottle_brokers(struct reassign *ra)
{
    config_op ops[] = {op_delete(LEADER_RATE), op_delete(FOLLOWER_RATE), op_delete(DIR_RATE)};
    CLEANUP(strbuf_deinit) struct strbuf list = {0};
    const struct metadata_response *m;
    int r = reassign_brokers(ra, &m);

    if (r)
        return r;
    struct replica_ids ids = {arena_new_array(&ra->arena, int32_t, (size_t)m->brokers_count + 1),
                              m->brokers_count};
    for (int32_t i = 0; i < ids.count; i++)
        ids.v[i] = m->brokers[i].node_id;
    qsort(ids.v, (size_t)ids.count, sizeof *ids.v, by_number);
    replica_ids_print(&ids, ",", &list);
    if (!ra->is_table)
        printf("Clearing broker-level throttles on broker%s %s\n", ids.count == 1 ? "" : "s",
               list.len ? list.s : "");
    return change_brokers(ra, &ids, ops, ARRAY_LEN(ops));
}

static void print_topics(const struct str *topics, size_t count)
{
    printf("Clearing topic-level throttles on topic%s ", count == 1 ? "" : "s");
    for (size_t i = 0; i < count; i++)
        printf("%s%.*s", i ? "," : "", STR_ARG(topics[i]));
    putchar('\n');
}

static int unthrottle_topics(struct reassign *ra, const struct plan *plan)
{
    size_t count;
    struct str *topics = reassign_topics(ra, plan, &count);
    struct change *changes = arena_array(&ra->arena, count + 1, sizeof *changes);
    config_op ops[] = {op_delete(LEADER_REPLICAS), op_delete(FOLLOWER_REPLICAS)};

    for (size_t i = 0; i < count; i++)
        changes[i] = (struct change){RESOURCE_TOPIC, topics[i], ops, ARRAY_LEN(ops)};
    if (!ra->is_table)
        print_topics(topics, count);
    return count ? send_changes(ra, SEED_ANY, changes, count) : 0;
}

int reassign_unthrottle(struct reassign *ra, const struct plan *plan)
{
    int r = unthrottle_brokers(ra);

    return r ? r : unthrottle_topics(ra, plan);
}
