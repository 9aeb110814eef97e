#include "broker/server/coordinators.h"

#include "broker/config/broker_conf.h"
#include "broker/group/group_cleanup.h"
#include "broker/group/group_manager.h"
#include "common/wire/messages.h"

/* The leader of a partition in UpdateMetadata once its topic is deleted. */
enum { LEADER_DURING_DELETE = -2 };

struct group_manager *coordinators_make_groups(const struct broker *b)
{
    const struct broker_conf *c = b->conf;

    return group_manager_new(&(struct group_manager_opts){
        .clock = b->clock,
        .metadata = b->metadata,
        .replicas = b->replicas,
        .reactors = b->reactors,
        .workq = b->workq,
        .ibp = c->ibp,
        .partitions = c->offsets_topic_num_partitions,
        .load_buffer_size = c->offsets_load_buffer_size,
        .min_session_timeout_ms = c->group_min_session_timeout_ms,
        .max_session_timeout_ms = c->group_max_session_timeout_ms,
        .initial_rebalance_delay_ms = c->group_initial_rebalance_delay_ms,
        .max_size = c->group_max_size,
        .max_metadata_bytes = c->offset_metadata_max_bytes,
        .commit_timeout_ms = c->offsets_commit_timeout_ms,
        .commit_acks = (int16_t)c->offsets_commit_required_acks,
        .codec = (enum compression)c->offsets_topic_compression_codec,
        .retention_ms = (int64_t)c->offsets_retention_minutes * 60 * 1000,
        .check_interval_ms = c->offsets_retention_check_interval_ms,
    });
}

static bool is_offsets(struct str topic)
{
    return str_eqz(topic, "__consumer_offsets");
}

void coordinators_elected(struct broker *b, struct str topic, int32_t partition,
                          int32_t leader_epoch)
{
    if (is_offsets(topic))
        group_manager_elected(b->groups, partition, leader_epoch);
}

void coordinators_resigned(struct broker *b, struct str topic, int32_t partition,
                           int32_t leader_epoch)
{
    if (is_offsets(topic))
        group_manager_resigned(b->groups, partition, leader_epoch);
}

/* ---- topics that are gone ---- */

struct gone_job {
    struct job job;
    struct group_manager *groups;
    struct arena arena;
    struct gone_partition *v;
    size_t count, cap;
};

static void add(struct gone_job *g, struct str topic, int32_t partition, int32_t leader)
{
    if (leader != LEADER_DURING_DELETE)
        return;
    xgrow(g->v, g->cap, g->count + 1);
    g->v[g->count++] = (struct gone_partition){arena_str(&g->arena, topic), partition};
}

static void collect(struct gone_job *g, const struct update_metadata_request *req)
{
    for (int32_t i = 0; i < req->ungrouped_partition_states_count; i++)
        add(g, req->ungrouped_partition_states[i].topic_name,
            req->ungrouped_partition_states[i].partition_index,
            req->ungrouped_partition_states[i].leader);
    for (int32_t i = 0; i < req->topic_states_count; i++) {
        const struct update_metadata_request_topic_state *t = &req->topic_states[i];

        for (int32_t k = 0; k < t->partition_states_count; k++)
            add(g, t->topic_name, t->partition_states[k].partition_index,
                t->partition_states[k].leader);
    }
}

static void free_gone(struct gone_job *g)
{
    arena_deinit(&g->arena);
    free(g->v);
    free(g);
}

static void drop_offsets(struct job *j)
{
    struct gone_job *g = container_of(j, struct gone_job, job);

    group_cleanup_partitions(g->groups, g->v, g->count);
    free_gone(g);
}

void coordinators_metadata_updated(struct broker *b, const struct update_metadata_request *req)
{
    struct gone_job *g = xnew(struct gone_job);

    g->groups = b->groups;
    g->job.work = drop_offsets;
    collect(g, req);
    if (g->count > 0)
        workq_submit(b->workq, &g->job);
    else
        free_gone(g);
}
