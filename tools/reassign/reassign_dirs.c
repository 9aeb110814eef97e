/*
 * reassign_dirs.c - replicas and the directories they lie in: where they are, and moving them
 */
#include "common/base/clock.h"
#include "common/base/err.h"
#include "tools/reassign/reassign.h"

#include <time.h>

enum { PAUSE_MS = 100 };

static int log_dirs_of(struct reassign *ra, int32_t broker,
                       const struct describe_log_dirs_response **ret)
{
    struct describe_log_dirs_request req;
    const struct cluster_call call = {"describeReplicaLogDirs", broker, API_DESCRIBE_LOG_DIRS, 4,
                                      &req};
    const void *response;

    msg_init(&describe_log_dirs_request_desc, &req);
    req.topics_count = -1;
    cluster_start(ra->cluster);
    int r = cluster_call(ra->cluster, &call, &ra->arena, &response, &ra->why);
    if (r == 0)
        *ret = response;
    return r;
}

static void find_replica(const struct describe_log_dirs_response *resp, struct dir_status *st)
{
    for (int32_t i = 0; i < resp->results_count; i++) {
        const struct describe_log_dirs_response_result *dir = &resp->results[i];
        for (int32_t t = 0; t < dir->topics_count; t++) {
            if (!str_eq(dir->topics[t].name, st->move->topic))
                continue;
            for (int32_t p = 0; p < dir->topics[t].partitions_count; p++) {
                if (dir->topics[t].partitions[p].partition_index != st->move->partition)
                    continue;
                if (dir->topics[t].partitions[p].is_future_key)
                    st->future = dir->log_dir;
                else
                    st->now = dir->log_dir;
            }
        }
    }
}

static enum dir_state judge(const struct dir_status *st)
{
    if (str_is_null(st->now) && str_is_null(st->future))
        return DIR_NO_REPLICA;
    if (!str_is_null(st->future))
        return str_eq(st->future, st->move->dir) ? DIR_ACTIVE : DIR_ELSEWHERE;
    return str_eq(st->now, st->move->dir) ? DIR_DONE : DIR_CANCELLED;
}

int reassign_dir_states(struct reassign *ra, const struct dir_moves *moves, struct dir_status *ret)
{
    const struct metadata_response *m = NULL;
    int r = moves->count ? reassign_brokers(ra, &m) : 0;

    for (size_t i = 0; i < moves->count; i++)
        ret[i] = (struct dir_status){&moves->v[i], DIR_MISSING, STR_NULL, STR_NULL};
    for (int32_t b = 0; r == 0 && m && b < m->brokers_count; b++) {
        const struct describe_log_dirs_response *resp = NULL;
        for (size_t i = 0; r == 0 && i < moves->count; i++) {
            if (moves->v[i].broker != m->brokers[b].node_id)
                continue;
            if (!resp)
                r = log_dirs_of(ra, moves->v[i].broker, &resp);
            if (r == 0) {
                find_replica(resp, &ret[i]);
                ret[i].state = judge(&ret[i]);
            }
        }
    }
    return r;
}

/* ---- moving ---- */

static int send_move(struct reassign *ra, const struct dir_move *mv, int16_t *ret_error)
{
    struct alter_replica_log_dirs_request req;
    int32_t partition = mv->partition;
    struct alter_replica_log_dirs_request_topic topic = {
        .name = mv->topic, .partitions = &partition, .partitions_count = 1};
    struct alter_replica_log_dirs_request_dir dir = {
        .path = mv->dir, .topics = &topic, .topics_count = 1};
    const struct cluster_call call = {"alterReplicaLogDirs", mv->broker, API_ALTER_REPLICA_LOG_DIRS,
                                      2, &req};
    const void *response;

    msg_init(&alter_replica_log_dirs_request_desc, &req);
    req.dirs = &dir;
    req.dirs_count = 1;
    cluster_start(ra->cluster);
    int r = cluster_call(ra->cluster, &call, &ra->arena, &response, &ra->why);
    if (r)
        return r;
    const struct alter_replica_log_dirs_response *resp = response;
    bool is_answered = resp->results_count == 1 && resp->results[0].partitions_count == 1;
    *ret_error = is_answered ? resp->results[0].partitions[0].error_code : UNKNOWN_SERVER_ERROR;
    return 0;
}

static int fail_move(struct reassign *ra, const struct dir_move *mv)
{
    strbuf_addf(&ra->why, "Failed to alter dir for %.*s-%d-%d", STR_ARG(mv->topic), mv->partition,
                mv->broker);
    return -EINVAL;
}

/* Those that have begun leave the list; a replica that has not come yet is tried again. */
static int start_moves(struct reassign *ra, struct dir_moves *moves)
{
    size_t n = 0;

    for (size_t i = 0; i < moves->count; i++) {
        const struct dir_move mv = moves->v[i];
        int16_t error = 0;
        int r = send_move(ra, &mv, &error);
        if (r)
            return r;
        if (error == REPLICA_NOT_AVAILABLE) {
            moves->v[n++] = mv;
            continue;
        }
        if (error)
            return fail_move(ra, &mv);
        printf("Successfully started moving log directory to %.*s for replica %.*s-%d with broker "
               "%d \n",
               STR_ARG(mv.dir), STR_ARG(mv.topic), mv.partition, mv.broker);
    }
    moves->count = n;
    return 0;
}

int reassign_move_dirs(struct reassign *ra, struct dir_moves *moves)
{
    const struct timespec pause = {0, PAUSE_MS * 1000000L};
    int64_t deadline_ms = clock_mono_ms(&clock_system) + ra->timeout_ms;

    for (;;) {
        int r = start_moves(ra, moves);
        if (r || moves->count == 0)
            return r;
        if (clock_mono_ms(&clock_system) >= deadline_ms)
            break;
        nanosleep(&pause, NULL);
    }
    ra->is_terse = true;
    strbuf_addz(&ra->why, "Timed out before log directory moves could be started for: ");
    for (size_t i = 0; i < moves->count; i++)
        strbuf_addf(&ra->why, "%s%.*s-%d-%d", i ? "," : "", STR_ARG(moves->v[i].topic),
                    moves->v[i].partition, moves->v[i].broker);
    return -EINVAL;
}
