/*
 * offsets.c - what groups have read: OffsetCommit, OffsetFetch, OffsetDelete (protocol.md 11.12 to
 * 11.14)
 *
 * Version 0 of the first two keeps offsets in ZooKeeper, below /consumers, where the oldest
 * consumers look for them.
 */
#include "broker/api/handlers.h"

#include "broker/config/broker_conf.h"
#include "broker/group/group_cleanup.h"
#include "broker/group/group_commit.h"
#include "broker/meta/metadata.h"
#include "broker/request/part_list.h"
#include "common/base/err.h"
#include "common/base/utf8.h"
#include "zk/zk_consumers.h"
#include "zk/zk_paths.h"

/* ---- OffsetCommit ---- */

struct commit_call {
    struct group_commit commit;
    struct job job;
    struct broker *b;
    struct request *req;
};

static const struct offset_commit_request *commit_body(const struct commit_call *c)
{
    return c->req->body;
}

static int32_t count_partitions(const struct offset_commit_request *body)
{
    int32_t n = 0;

    for (int32_t i = 0; i < body->topics_count; i++)
        n += body->topics[i].partitions_count;
    return n;
}

/* Of an old client that says itself how long; wraps, as in Kafka, where it must not overflow. */
static int64_t expire_ms(int64_t now_ms, int64_t retention_ms)
{
    return retention_ms == -1 ? -1 : (int64_t)((uint64_t)now_ms + (uint64_t)retention_ms);
}

static void fill_entry(const struct commit_call *c, const struct metadata_snapshot *s,
                       struct str topic, const struct offset_commit_request_partition *p,
                       struct commit_entry *e)
{
    const struct offset_commit_request *body = commit_body(c);
    int64_t now = clock_wall_ms(c->b->clock);

    *e = (struct commit_entry){
        .topic = topic,
        .partition = p->partition_index,
        .c =
            {
                .offset = p->committed_offset,
                .leader_epoch = p->committed_leader_epoch,
                .metadata = str_is_null(p->committed_metadata) ? STR("") : p->committed_metadata,
                .commit_ms = p->commit_timestamp == -1 ? now : p->commit_timestamp,
                .expire_ms = expire_ms(now, body->retention_time_ms),
            },
    };
    if (!metadata_partition(s, topic, p->partition_index))
        e->error = UNKNOWN_TOPIC_OR_PARTITION;
}

/* Returns how many can be committed at all. */
static int32_t fill_entries(struct commit_call *c)
{
    const struct offset_commit_request *body = commit_body(c);
    const struct metadata_snapshot *CLEANUP(metadata_put_p) s = metadata_get(c->b->metadata);
    int32_t n = 0, known = 0;

    c->commit.count = count_partitions(body);
    c->commit.entries =
        arena_new_array(&c->req->arena, struct commit_entry, (size_t)c->commit.count);
    for (int32_t i = 0; i < body->topics_count; i++) {
        const struct offset_commit_request_topic *t = &body->topics[i];

        for (int32_t k = 0; k < t->partitions_count; k++) {
            fill_entry(c, s, t->name, &t->partitions[k], &c->commit.entries[n]);
            known += c->commit.entries[n++].error == 0;
        }
    }
    return known;
}

static bool is_known(struct broker *b, struct str topic)
{
    const struct metadata_snapshot *CLEANUP(metadata_put_p) s = metadata_get(b->metadata);

    return metadata_topic(s, topic);
}

static void answer_commit(struct group_commit *commit)
{
    struct commit_call *c = container_of(commit, struct commit_call, commit);
    const struct offset_commit_request *body = commit_body(c);
    struct arena *a = &c->req->arena;
    struct offset_commit_response *resp = arena_new(a, struct offset_commit_response);
    const struct commit_entry *e = commit->entries;

    msg_init(&offset_commit_response_desc, resp);
    resp->topics =
        arena_new_array(a, struct offset_commit_response_topic, (size_t)body->topics_count);
    for (int32_t i = 0; i < body->topics_count; i++) {
        struct offset_commit_response_topic *t = &resp->topics[resp->topics_count];

        if (body->topics[i].partitions_count == 0 && is_known(c->b, body->topics[i].name))
            continue; /* as in Kafka, where only what is unknown is told without partitions */
        resp->topics_count++;
        t->name = body->topics[i].name;
        t->partitions_count = body->topics[i].partitions_count;
        t->partitions = arena_new_array(a, struct offset_commit_response_partition,
                                        (size_t)t->partitions_count);
        for (int32_t k = 0; k < t->partitions_count; k++, e++)
            t->partitions[k] =
                (struct offset_commit_response_partition){e->partition, err_to_wire(e->error)};
    }
    request_reply(c->req, resp);
}

/* Whatever ZooKeeper's trouble, and for a node that holds no number: UNKNOWN_SERVER_ERROR. */
enum { ZOOKEEPER_FAILED = -EPROTO };

/* Version 0, on a worker. */
static void commit_to_zookeeper(struct job *j)
{
    struct commit_call *c = container_of(j, struct commit_call, job);
    size_t max = (size_t)c->b->conf->offset_metadata_max_bytes;
    struct zk_consumer_offset *v =
        arena_new_array(&c->req->arena, struct zk_consumer_offset, (size_t)c->commit.count);
    size_t n = 0;

    for (int32_t i = 0; i < c->commit.count; i++) {
        struct commit_entry *e = &c->commit.entries[i];

        if (!e->error && utf8_java_length(e->c.metadata) > max)
            e->error = OFFSET_METADATA_TOO_LARGE;
        if (!e->error)
            v[n++] = (struct zk_consumer_offset){
                .topic = e->topic, .partition = e->partition, .offset = e->c.offset};
    }
    zk_consumer_offsets_write(c->b->zk, c->commit.group_id, v, n);
    n = 0;
    for (int32_t i = 0; i < c->commit.count; i++) {
        struct commit_entry *e = &c->commit.entries[i];

        if (!e->error && v[n++].result != ZK_OK)
            e->error = ZOOKEEPER_FAILED;
    }
    answer_commit(&c->commit);
}

void handle_offset_commit(struct broker *b, struct request *req)
{
    const struct offset_commit_request *body = req->body;
    struct commit_call *c = arena_new(&req->arena, struct commit_call);

    c->b = b;
    c->req = req;
    c->job.work = commit_to_zookeeper;
    c->commit.group_id = body->group_id;
    c->commit.member_id = body->member_id;
    c->commit.instance = body->group_instance_id;
    c->commit.generation = body->generation_id_or_member_epoch;
    c->commit.done = answer_commit;
    int32_t known = fill_entries(c);
    if (!str_is_null(body->group_instance_id) && b->conf->ibp < IBP_2_3_IV0) {
        for (int32_t i = 0; i < c->commit.count; i++)
            c->commit.entries[i].error = UNSUPPORTED_VERSION;
        known = 0;
    }
    if (known == 0)
        answer_commit(&c->commit);
    else if (req->version == 0)
        workq_submit(b->workq, &c->job);
    else
        group_commit_start(b->groups, &c->commit);
}

/* ---- OffsetFetch ---- */

struct fetch_call {
    struct job job;
    struct broker *b;
    struct request *req;
    struct offset_fetch_response *resp;
};

/* Partitions that are asked for, topic by topic. One that is named again is answered once, as in
 * Kafka: else a few bytes of a request ask for kilobytes of metadata. */
static struct offset_reads reads_of(const struct offset_fetch_request_group *g, struct arena *a)
{
    struct part_list CLEANUP(part_list_deinit) l = {0};
    struct offset_reads reads = {0};
    int32_t n = 0, *numbers;

    for (int32_t i = 0; i < g->topics_count; i++)
        n += g->topics[i].partition_indexes_count;
    l = part_list_new(a, (size_t)MAX(g->topics_count, 0), (size_t)n);
    numbers = arena_new_array(a, int32_t, (size_t)n);
    for (int32_t i = 0; i < g->topics_count; i++) {
        for (int32_t k = 0; k < g->topics[i].partition_indexes_count; k++) {
            int32_t partition = g->topics[i].partition_indexes[k];

            numbers[part_list_add(&l, g->topics[i].name, partition)] = partition;
        }
    }
    part_list_sort(&l);
    reads.v = arena_new_array(a, struct offset_read, (size_t)l.part_count);
    for (int32_t i = 0; i < l.topic_count; i++) {
        for (int32_t k = 0; k < l.topics[i].count; k++) {
            struct offset_read *r = &reads.v[reads.count++];

            r->topic = l.topics[i].name;
            r->partition = numbers[l.topics[i].at[k]];
        }
    }
    return reads;
}

/* Entries of one topic follow each other. */
static int32_t same_topic(const struct offset_reads *reads, int32_t from)
{
    int32_t n = 1;

    while (from + n < reads->count && str_eq(reads->v[from + n].topic, reads->v[from].topic))
        n++;
    return n;
}

static void fill_group(struct offset_fetch_response_group *to, const struct offset_reads *reads,
                       struct arena *a)
{
    struct offset_fetch_response_group_topic *t;
    int32_t topics = 0;

    for (int32_t i = 0; i < reads->count; i += same_topic(reads, i))
        topics++;
    to->topics = t = arena_new_array(a, struct offset_fetch_response_group_topic, (size_t)topics);
    to->topics_count = topics;
    for (int32_t i = 0; i < reads->count; t++) {
        t->name = reads->v[i].topic;
        t->partitions_count = same_topic(reads, i);
        t->partitions = arena_new_array(a, struct offset_fetch_response_group_topic_partition,
                                        (size_t)t->partitions_count);
        for (int32_t k = 0; k < t->partitions_count; k++, i++) {
            const struct offset_read *r = &reads->v[i];
            t->partitions[k] = (struct offset_fetch_response_group_topic_partition){
                .partition_index = r->partition,
                .committed_offset = r->c.offset,
                .committed_leader_epoch = r->c.leader_epoch,
                .metadata = r->c.metadata,
                .error_code = err_to_wire(r->error),
            };
        }
    }
}

static void fetch_group(struct fetch_call *c, const struct offset_fetch_request_group *g,
                        struct offset_fetch_response_group *to)
{
    const struct offset_fetch_request *body = c->req->body;
    struct arena *a = &c->req->arena;
    bool is_all = g->topics_count < 0;
    struct offset_reads reads = {0};
    int r;

    if (!is_all)
        reads = reads_of(g, a);
    if (is_all)
        r = group_offsets_read_all(c->b->groups, g->group_id, body->require_stable, a, &reads);
    else
        r = group_offsets_read(c->b->groups, g->group_id, body->require_stable, a, &reads);
    to->group_id = g->group_id;
    to->error_code = err_to_wire(r);
    if (r == 0)
        fill_group(to, &reads, a);
}

/* Each once, however often it is named. */
static void fetch_groups(struct fetch_call *c)
{
    const struct offset_fetch_request *body = c->req->body;
    struct arena *a = &c->req->arena;
    struct seen *names = NULL;

    c->resp->groups =
        arena_new_array(a, struct offset_fetch_response_group, (size_t)body->groups_count);
    for (int32_t i = 0; i < body->groups_count; i++) {
        if (seen_add(&names, a, body->groups[i].group_id, i) < 0)
            fetch_group(c, &body->groups[i], &c->resp->groups[c->resp->groups_count++]);
    }
    seen_clear(&names);
}

/* Below version 8 the request is of one group, whose answer is the answer itself. */
static struct offset_fetch_request_group only_group(const struct request *req, struct arena *a)
{
    const struct offset_fetch_request *body = req->body;
    struct offset_fetch_request_group g = {.group_id = body->group_id,
                                           .topics_count = body->topics_count};

    if (body->topics_count < 0)
        return g;
    g.topics =
        arena_new_array(a, struct offset_fetch_request_group_topic, (size_t)body->topics_count);
    for (int32_t i = 0; i < body->topics_count; i++)
        g.topics[i] = (struct offset_fetch_request_group_topic){
            body->topics[i].name, body->topics[i].partition_indexes,
            body->topics[i].partition_indexes_count};
    return g;
}

static void give_only(struct offset_fetch_response *resp,
                      const struct offset_fetch_response_group *g, struct arena *a)
{
    resp->error_code = g->error_code;
    resp->topics_count = g->topics_count;
    resp->topics = arena_new_array(a, struct offset_fetch_response_topic, (size_t)g->topics_count);
    for (int32_t i = 0; i < g->topics_count; i++) {
        const struct offset_fetch_response_group_topic *from = &g->topics[i];
        struct offset_fetch_response_topic *t = &resp->topics[i];

        t->name = from->name;
        t->partitions_count = from->partitions_count;
        t->partitions = arena_new_array(a, struct offset_fetch_response_topic_partition,
                                        (size_t)from->partitions_count);
        for (int32_t k = 0; k < from->partitions_count; k++)
            t->partitions[k] = (struct offset_fetch_response_topic_partition){
                .partition_index = from->partitions[k].partition_index,
                .committed_offset = from->partitions[k].committed_offset,
                .committed_leader_epoch = from->partitions[k].committed_leader_epoch,
                .metadata = from->partitions[k].metadata,
                .error_code = from->partitions[k].error_code,
            };
    }
}

/* Version 0, on a worker. A partition that the cluster does not have is told so, as is a group of
 * which ZooKeeper knows nothing; one that it cannot know is an error. */
static void fetch_from_zookeeper(struct job *j)
{
    struct fetch_call *c = container_of(j, struct fetch_call, job);
    struct arena *a = &c->req->arena;
    const struct metadata_snapshot *CLEANUP(metadata_put_p) s = metadata_get(c->b->metadata);
    struct offset_fetch_request_group g = only_group(c->req, a);
    struct offset_fetch_response_group to = {.topics_count = 0};
    struct offset_reads reads = reads_of(&g, a);
    struct zk_consumer_offset *v =
        arena_new_array(a, struct zk_consumer_offset, (size_t)reads.count);

    for (int32_t i = 0; i < reads.count; i++)
        v[i] = (struct zk_consumer_offset){.topic = reads.v[i].topic,
                                           .partition = reads.v[i].partition};
    bool is_node = str_is_null(zk_path_fault(a, ZK_PATH_CONSUMERS "/", g.group_id));
    if (is_node)
        zk_consumer_offsets_read(c->b->zk, g.group_id, v, (size_t)reads.count);
    for (int32_t i = 0; i < reads.count; i++) {
        struct offset_read *r = &reads.v[i];

        r->c = (struct committed){.offset = -1, .leader_epoch = -1, .metadata = STR("")};
        if (!metadata_partition(s, r->topic, r->partition) ||
            (is_node && v[i].result == ZK_NO_NODE))
            r->error = UNKNOWN_TOPIC_OR_PARTITION;
        else if (!is_node || v[i].result != ZK_OK)
            r->error = ZOOKEEPER_FAILED;
        else
            r->c.offset = v[i].offset;
    }
    fill_group(&to, &reads, a);
    give_only(c->resp, &to, a);
    request_reply(c->req, c->resp);
}

void handle_offset_fetch(struct broker *b, struct request *req)
{
    struct fetch_call *c = arena_new(&req->arena, struct fetch_call);
    struct arena *a = &req->arena;

    *c = (struct fetch_call){.job = {.work = fetch_from_zookeeper},
                             .b = b,
                             .req = req,
                             .resp = arena_new(a, struct offset_fetch_response)};
    msg_init(&offset_fetch_response_desc, c->resp);
    if (req->version == 0) {
        workq_submit(b->workq, &c->job);
        return;
    }
    if (req->version < 8) {
        struct offset_fetch_request_group g = only_group(req, a);
        struct offset_fetch_response_group to = {.topics_count = 0};

        fetch_group(c, &g, &to);
        give_only(c->resp, &to, a);
    } else {
        fetch_groups(c);
    }
    request_reply(req, c->resp);
}

/* ---- OffsetDelete ---- */

/* The list for the coordinator; what the cluster does not have is answered here, and a topic that
 * it does not have even where no partition of it is named. */
static struct part_list deletes_of(struct broker *b, const struct offset_delete_request *body,
                                   struct arena *a, struct offset_deletion **ret)
{
    const struct metadata_snapshot *CLEANUP(metadata_put_p) s = metadata_get(b->metadata);
    struct part_list l;
    size_t n = 0;

    for (int32_t i = 0; i < body->topics_count; i++)
        n += (size_t)body->topics[i].partitions_count;
    l = part_list_new(a, (size_t)body->topics_count, n);
    *ret = arena_new_array(a, struct offset_deletion, n);
    for (int32_t i = 0; i < body->topics_count; i++) {
        const struct offset_delete_request_topic *t = &body->topics[i];

        if (!metadata_topic(s, t->name))
            part_list_add_topic(&l, t->name);
        for (int32_t k = 0; k < t->partitions_count; k++) {
            int32_t partition = t->partitions[k].partition_index;
            struct offset_deletion *d = &(*ret)[part_list_add(&l, t->name, partition)];

            d->topic = t->name;
            d->partition = partition;
            if (!metadata_partition(s, d->topic, d->partition))
                d->error = UNKNOWN_TOPIC_OR_PARTITION;
        }
    }
    part_list_sort(&l);
    part_list_deinit(&l);
    return l;
}

void handle_offset_delete(struct broker *b, struct request *req)
{
    const struct offset_delete_request *body = req->body;
    struct arena *a = &req->arena;
    struct offset_delete_response *resp = arena_new(a, struct offset_delete_response);
    struct offset_deletion *d;
    struct part_list l = deletes_of(b, body, a, &d);

    msg_init(&offset_delete_response_desc, resp);
    resp->error_code =
        err_to_wire(group_cleanup_delete_offsets(b->groups, body->group_id, d, l.part_count));
    if (resp->error_code == 0) {
        resp->topics_count = l.topic_count;
        resp->topics =
            arena_new_array(a, struct offset_delete_response_topic, (size_t)l.topic_count);
    }
    for (int32_t i = 0; i < resp->topics_count; i++) {
        struct offset_delete_response_topic *t = &resp->topics[i];

        t->name = l.topics[i].name;
        t->partitions_count = l.topics[i].count;
        t->partitions = arena_new_array(a, struct offset_delete_response_partition,
                                        (size_t)t->partitions_count);
        for (int32_t k = 0; k < t->partitions_count; k++) {
            const struct offset_deletion *from = &d[l.topics[i].at[k]];

            t->partitions[k] = (struct offset_delete_response_partition){from->partition,
                                                                         err_to_wire(from->error)};
        }
    }
    request_reply(req, resp);
}
