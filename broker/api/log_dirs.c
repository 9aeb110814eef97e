/*
 * log_dirs.c - DescribeLogDirs: what lies in which directory of log.dirs, how large it is, and what
 * room is left; AlterReplicaLogDirs: which of them a replica is to be in. On a worker, as file
 * systems are asked and logs are made.
 */
#include "broker/api/handlers.h"

#include "broker/replica/partition.h"
#include "broker/replica/replica_dirs.h"
#include "broker/replica/replica_manager.h"
#include "broker/storage/log_manager.h"
#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/io/fs.h"

/* One log, or one partition that is asked for. */
struct found {
    const char *dir; /* the manager's pointer */
    struct str topic;
    int32_t partition;
    int64_t size;
    int64_t lag;
    bool is_future;
};

/* One DescribeLogDirs request on its way; lives in its arena. */
struct listing {
    struct job job;
    struct broker *b;
    struct request *req;
    struct describe_log_dirs_response *resp;
    struct found *wanted; /* sorted; NULL: all */
    size_t wanted_count;
    struct found *logs;
    size_t count;
    size_t cap;
};

static int by_partition(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    int order = str_cmp(x->topic, y->topic);

    return order ? order : (x->partition > y->partition) - (x->partition < y->partition);
}

static void take_wanted(struct listing *l)
{
    const struct describe_log_dirs_request *body = l->req->body;
    size_t total = 0;

    for (int32_t i = 0; i < body->topics_count; i++)
        total += (size_t)body->topics[i].partitions_count;
    l->wanted = arena_new_array(&l->req->arena, struct found, total + 1);
    for (int32_t i = 0; i < body->topics_count; i++) {
        for (int32_t j = 0; j < body->topics[i].partitions_count; j++)
            l->wanted[l->wanted_count++] = (struct found){
                .topic = body->topics[i].topic, .partition = body->topics[i].partitions[j]};
    }
    if (l->wanted_count)
        qsort(l->wanted, l->wanted_count, sizeof *l->wanted, by_partition);
}

static bool is_wanted(const struct listing *l, const struct found *f)
{
    return !l->wanted || (l->wanted_count &&
                          bsearch(f, l->wanted, l->wanted_count, sizeof *l->wanted, by_partition));
}

/* Records that the replica has yet to fetch, as far as it knows, or that a future log has yet to
 * get; -1 where there is no replica of this log. */
static int64_t lag_of(struct replica_manager *m, struct log *log)
{
    struct partition *CLEANUP(partition_unref_p) part =
        replica_manager_find(m, str_of(log_topic(log)), log_partition(log));
    bool is_hosted = false;

    if (!part)
        return -1;
    WITH_LOCK(&part->lock)
    {
        is_hosted = part->log && part->role != ROLE_OFFLINE;
    }
    if (!is_hosted)
        return -1;
    if (log_is_future(log))
        return log_end_offset(part->log) - log_end_offset(log);
    return MAX(log_high_watermark(log) - log_end_offset(log), 0);
}

static bool take_log(struct log *log, void *ctx)
{
    struct listing *l = ctx;
    struct found f = {.dir = log_dir_path(log),
                      .topic = str_of(log_topic(log)),
                      .partition = log_partition(log),
                      .is_future = log_is_future(log)};

    if (!is_wanted(l, &f))
        return true;
    f.topic = arena_str(&l->req->arena, f.topic);
    f.size = log_size(log);
    f.lag = lag_of(l->b->replicas, log);
    xgrow(l->logs, l->cap, l->count + 1);
    l->logs[l->count++] = f;
    return true;
}

/* Logs are sorted by topic and partition. */
static void list_logs(const struct listing *l, const char *dir,
                      struct describe_log_dirs_response_result *ret)
{
    struct arena *a = &l->req->arena;
    struct describe_log_dirs_response_partition *room =
        arena_new_array(a, struct describe_log_dirs_response_partition, l->count + 1);
    struct describe_log_dirs_response_topic *t = NULL;

    ret->topics = arena_new_array(a, struct describe_log_dirs_response_topic, l->count + 1);
    for (size_t i = 0; i < l->count; i++) {
        const struct found *f = &l->logs[i];
        if (f->dir != dir)
            continue;
        if (!t || !str_eq(t->name, f->topic)) {
            t = &ret->topics[ret->topics_count++];
            *t = (struct describe_log_dirs_response_topic){.name = f->topic, .partitions = room};
        }
        t->partitions_count++;
        *room++ = (struct describe_log_dirs_response_partition){.partition_index = f->partition,
                                                                .partition_size = f->size,
                                                                .offset_lag = f->lag,
                                                                .is_future_key = f->is_future};
    }
}

static void describe_dir(const struct listing *l, int i,
                         struct describe_log_dirs_response_result *ret)
{
    const char *dir = log_manager_dir_path(l->b->logs, i);
    struct fs_space space;
    int r;

    struct_init(&describe_log_dirs_response_result_desc, ret);
    ret->log_dir = str_of(log_manager_dir_absolute(l->b->logs, i));
    if (log_manager_dir_is_offline(l->b->logs, i)) {
        ret->error_code = KAFKA_STORAGE_ERROR;
        return;
    }
    r = fs_space(dir, &space);
    if (r < 0) {
        ret->error_code = err_to_wire(r);
        return;
    }
    ret->total_bytes = space.total;
    ret->usable_bytes = space.usable;
    list_logs(l, dir, ret);
}

static void describe(struct job *j)
{
    struct listing *l = container_of(j, struct listing, job);
    const struct describe_log_dirs_request *body = l->req->body;
    int dirs = log_manager_dir_count(l->b->logs);

    if (body->topics_count >= 0)
        take_wanted(l);
    log_manager_each(l->b->logs, take_log, l);
    if (l->count)
        qsort(l->logs, l->count, sizeof *l->logs, by_partition);
    l->resp->results =
        arena_new_array(&l->req->arena, struct describe_log_dirs_response_result, (size_t)dirs + 1);
    l->resp->results_count = dirs;
    for (int i = 0; i < dirs; i++)
        describe_dir(l, i, &l->resp->results[i]);
    free(l->logs);
    request_reply(l->req, l->resp);
}

void handle_describe_log_dirs(struct broker *b, struct request *req)
{
    struct listing *l = arena_new(&req->arena, struct listing);

    l->b = b;
    l->req = req;
    l->resp = arena_new(&req->arena, struct describe_log_dirs_response);
    msg_init(&describe_log_dirs_response_desc, l->resp);
    l->job.work = describe;
    workq_submit(b->workq, &l->job);
}

/* ---- AlterReplicaLogDirs ---- */

/* One request on its way; lives in its arena. */
struct alteration {
    struct job job;
    struct broker *b;
    struct request *req;
    struct alter_replica_log_dirs_response *resp;
    struct wish *v;
    size_t count;
};

struct wish {
    struct str topic;
    int32_t partition;
    size_t at; /* in the request: the last one of a partition counts */
    struct str dir;
};

static int by_wish(const void *a, const void *b)
{
    const struct wish *x = a, *y = b;
    int order = str_cmp(x->topic, y->topic);

    if (order == 0)
        order = (x->partition > y->partition) - (x->partition < y->partition);
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

static bool is_same(const struct wish *a, const struct wish *b)
{
    return a->partition == b->partition && str_eq(a->topic, b->topic);
}

static void take_topic(struct alteration *al, const struct alter_replica_log_dirs_request_topic *t,
                       struct str dir)
{
    for (int32_t i = 0; i < t->partitions_count; i++) {
        al->v[al->count] = (struct wish){t->name, t->partitions[i], al->count, dir};
        al->count++;
    }
}

static size_t count_wishes(const struct alter_replica_log_dirs_request *body)
{
    size_t n = 0;

    for (int32_t i = 0; i < body->dirs_count; i++)
        for (int32_t j = 0; j < body->dirs[i].topics_count; j++)
            n += (size_t)body->dirs[i].topics[j].partitions_count;
    return n;
}

/* Sorted, each partition once. */
static void take_wishes(struct alteration *al)
{
    const struct alter_replica_log_dirs_request *body = al->req->body;
    size_t n = 0;

    al->v = arena_new_array(&al->req->arena, struct wish, count_wishes(body) + 1);
    for (int32_t i = 0; i < body->dirs_count; i++)
        for (int32_t j = 0; j < body->dirs[i].topics_count; j++)
            take_topic(al, &body->dirs[i].topics[j], body->dirs[i].path);
    if (al->count)
        qsort(al->v, al->count, sizeof *al->v, by_wish);
    for (size_t i = 0; i < al->count; i++)
        if (i + 1 == al->count || !is_same(&al->v[i], &al->v[i + 1]))
            al->v[n++] = al->v[i];
    al->count = n;
}

static void alter(struct job *j)
{
    struct alteration *al = container_of(j, struct alteration, job);
    struct arena *a = &al->req->arena;
    struct alter_replica_log_dirs_response_result *t = NULL;
    struct alter_replica_log_dirs_response_partition *room;

    take_wishes(al);
    room = arena_new_array(a, struct alter_replica_log_dirs_response_partition, al->count + 1);
    al->resp->results =
        arena_new_array(a, struct alter_replica_log_dirs_response_result, al->count + 1);
    for (size_t i = 0; i < al->count; i++) {
        const struct wish *w = &al->v[i];
        int r = replica_dirs_alter(al->b->replicas, w->topic, w->partition, w->dir);

        if (!t || !str_eq(t->topic_name, w->topic)) {
            t = &al->resp->results[al->resp->results_count++];
            *t = (struct alter_replica_log_dirs_response_result){.topic_name = w->topic,
                                                                 .partitions = room};
        }
        t->partitions_count++;
        *room++ = (struct alter_replica_log_dirs_response_partition){w->partition, err_to_wire(r)};
    }
    request_reply(al->req, al->resp);
}

void handle_alter_replica_log_dirs(struct broker *b, struct request *req)
{
    struct alteration *al = arena_new(&req->arena, struct alteration);

    al->b = b;
    al->req = req;
    al->resp = arena_new(&req->arena, struct alter_replica_log_dirs_response);
    msg_init(&alter_replica_log_dirs_response_desc, al->resp);
    al->job.work = alter;
    workq_submit(b->workq, &al->job);
}
