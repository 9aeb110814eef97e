/*
 * groups_commit.c - committing and forgetting offsets on behalf of a group
 *
 * A coordinator writes what one request commits as one batch of records, and refuses what would not
 * fit into max.message.bytes. Long commits are cut into pieces, which are halved where they are
 * refused nevertheless.
 */
#include "common/base/err.h"
#include "common/base/mem.h"
#include "tools/groups/groups_job.h"

/* A record of __consumer_offsets beside its names; what the usual max.message.bytes lets pass. */
enum { RECORD_BYTES = 48, PIECE_BYTES = 1000000, NAMED_MAX = 5 };

/* One request of a commit, and its answer. */
struct piece {
    struct new_offset *rows;
    size_t count;
    const struct offset_commit_response *answer;
    bool is_sent; /* at least once without an answer that it was not taken */
};

static void name_commits(struct groups *g, const struct piece *p, struct offset_commit_request *req)
{
    struct offset_commit_request_partition *room =
        arena_array(&g->arena, p->count + 1, sizeof *room);

    req->topics = arena_array(&g->arena, p->count + 1, sizeof *req->topics);
    req->topics_count = 0;
    for (size_t i = 0; i < p->count; i++) {
        const struct new_offset *row = &p->rows[i];
        if (i == 0 || !str_eq(row->part.topic, p->rows[i - 1].part.topic))
            req->topics[req->topics_count++] = (struct offset_commit_request_topic){
                .name = row->part.topic, .partitions = room + i};
        struct_init(&offset_commit_request_partition_desc, &room[i]);
        room[i].partition_index = row->part.partition;
        room[i].committed_offset = row->offset;
        room[i].committed_metadata = STR("");
        req->topics[req->topics_count - 1].partitions_count++;
    }
}

/* What all of the partitions were told, where it is about the coordinator. */
static int16_t common_error(const struct offset_commit_response *resp)
{
    if (resp->topics_count == 0 || resp->topics[0].partitions_count == 0)
        return 0;
    int16_t code = resp->topics[0].partitions[0].error_code;
    switch (code) {
    case NOT_COORDINATOR:
    case COORDINATOR_NOT_AVAILABLE:
    case COORDINATOR_LOAD_IN_PROGRESS:
    case REBALANCE_IN_PROGRESS:
    case REQUEST_TIMED_OUT:
        return code;
    default:
        return 0;
    }
}

static int send_commit(struct groups *g, const struct batch *b, struct str *ret_trouble)
{
    struct piece *p = b->job->ctx;
    struct offset_commit_request req;
    const struct cluster_call call = {
        "offsetCommit(api=OFFSET_COMMIT)", b->to, API_OFFSET_COMMIT, 9, &req, true};
    const void *response;

    msg_init(&offset_commit_request_desc, &req);
    req.group_id = b->v[0]->id;
    req.member_id = STR("");
    name_commits(g, p, &req);
    int r = groups_ask(g, &call, &response, ret_trouble);
    if (r < 0) {
        p->is_sent = p->is_sent || (r != -ECONNREFUSED && r != -EHOSTUNREACH);
        return r;
    }
    p->answer = response;
    int16_t code = common_error(p->answer);
    /* What a coordinator says whose followers did not answer it in time: they may do so later. */
    p->is_sent = p->is_sent || code == COORDINATOR_NOT_AVAILABLE || code == REQUEST_TIMED_OUT;
    group_settle(g, b->v[0], code);
    return 0;
}

static struct new_offset *find_row(const struct piece *p, const struct part *part)
{
    return bsearch(part, p->rows, p->count, sizeof *p->rows, part_order);
}

/* Marks what was stored; the first refusal of a partition, and in list the partitions refused, all
 * of them where is_long. */
static int16_t take_answer(const struct piece *p, bool is_long, struct strbuf *list)
{
    const struct offset_commit_response *resp = p->answer;
    int16_t first = 0;
    size_t named = 0;

    for (int32_t i = 0; i < resp->topics_count; i++) {
        for (int32_t k = 0; k < resp->topics[i].partitions_count; k++) {
            const struct part part = {resp->topics[i].name,
                                      resp->topics[i].partitions[k].partition_index};
            int16_t code = resp->topics[i].partitions[k].error_code;
            struct new_offset *row = find_row(p, &part);
            if (row)
                row->is_applied = code == 0;
            if (code && (is_long || named < NAMED_MAX))
                strbuf_addf(list, "%s%.*s-%d", named ? ", " : "", STR_ARG(part.topic),
                            part.partition);
            named += code != 0;
            first = first ? first : code;
        }
    }
    if (!is_long && named > NAMED_MAX)
        strbuf_addf(list, " and %zu more", named - NAMED_MAX);
    return first;
}

static int refused(struct groups *g, const struct group *group, int16_t code,
                   const struct strbuf *list)
{
    struct str words;

    if (groups_as_kafka(g))
        words = arena_printf(&g->arena,
                             "Failed altering consumer group offsets for the following partitions: "
                             "[%s]",
                             list->s);
    else if (code == UNKNOWN_MEMBER_ID || code == NON_EMPTY_GROUP)
        words = arena_printf(&g->arena, "group '%.*s' has members again, so its offsets are theirs",
                             STR_ARG(group->id));
    else
        words = arena_printf(&g->arena, "group '%.*s': %.*s Refused: %s", STR_ARG(group->id),
                             STR_ARG(cluster_error_text(code, STR_NULL)), list->s);
    return groups_say(g, code, groups_trouble(g, code, words));
}

static size_t piece_size(const struct group *group, const struct commit_opts *opts, size_t from,
                         size_t max_bytes)
{
    size_t bytes = 0, n = 0;

    while (from + n < opts->count) {
        bytes += RECORD_BYTES + group->id.len + opts->rows[from + n].part.topic.len;
        if (n && bytes > max_bytes)
            break;
        n++;
    }
    return n;
}

/* INVALID_COMMIT_OFFSET_SIZE: it may fit in smaller pieces. */
static int commit_piece(struct groups *g, struct group *group, struct piece *p)
{
    CLEANUP(strbuf_deinit) struct strbuf list = {.max = 1 << 20};
    const struct job job = {"offsetCommit", send_commit, p};

    job_run(g, group, 1, &job);
    if (group->error) {
        for (size_t i = 0; p->is_sent && i < p->count; i++)
            p->rows[i].is_in_doubt = true;
        return groups_first_error(g, group, 1);
    }
    int16_t code = take_answer(p, groups_as_kafka(g), &list);
    if (code == INVALID_COMMIT_OFFSET_SIZE && p->count > 1)
        return code;
    return code ? refused(g, group, code, &list) : 0;
}

int groups_commit(struct groups *g, struct group *group, const struct commit_opts *opts)
{
    size_t max_bytes = PIECE_BYTES;

    for (size_t at = 0; at < opts->count;) {
        struct piece p = {.rows = opts->rows + at, .count = piece_size(group, opts, at, max_bytes)};
        int r = commit_piece(g, group, &p);
        if (r == INVALID_COMMIT_OFFSET_SIZE && p.count > 1) {
            max_bytes /= 2;
            continue;
        }
        if (r)
            return r;
        at += p.count;
        if (opts->step && !opts->step(opts->ctx, p.count))
            return -EINTR;
    }
    return 0;
}

/* ---- forgetting ---- */

struct forgetting {
    const struct parts *parts;
    const struct offset_delete_response *answer;
};

static int send_offset_delete(struct groups *g, const struct batch *b, struct str *ret_trouble)
{
    struct forgetting *f = b->job->ctx;
    const struct parts *parts = f->parts;
    struct offset_delete_request req;
    const struct cluster_call call = {
        "offsetDelete(api=OFFSET_DELETE)", b->to, API_OFFSET_DELETE, 0, &req, true};
    struct offset_delete_request_partition *room =
        arena_array(&g->arena, parts->count + 1, sizeof *room);
    const void *response;

    msg_init(&offset_delete_request_desc, &req);
    req.group_id = b->v[0]->id;
    req.topics = arena_array(&g->arena, parts->count + 1, sizeof *req.topics);
    req.topics_count = 0;
    for (size_t i = 0; i < parts->count; i++) {
        if (i == 0 || !str_eq(parts->v[i].topic, parts->v[i - 1].topic))
            req.topics[req.topics_count++] = (struct offset_delete_request_topic){
                .name = parts->v[i].topic, .partitions = room + i};
        room[i].partition_index = parts->v[i].partition;
        req.topics[req.topics_count - 1].partitions_count++;
    }
    int r = groups_ask(g, &call, &response, ret_trouble);
    if (r < 0)
        return r;
    f->answer = response;
    group_settle(g, b->v[0], f->answer->error_code);
    return 0;
}

int groups_delete_offsets(struct groups *g, struct group *group, const struct parts *parts,
                          int16_t *errors)
{
    struct forgetting f = {.parts = parts};
    const struct job job = {"offsetDelete", send_offset_delete, &f};

    job_run(g, group, 1, &job);
    if (group->error)
        return group->error;
    for (int32_t i = 0; i < f.answer->topics_count; i++) {
        for (int32_t k = 0; k < f.answer->topics[i].partitions_count; k++) {
            const struct part key = {f.answer->topics[i].name,
                                     f.answer->topics[i].partitions[k].partition_index};
            const struct part *found =
                parts->count ? bsearch(&key, parts->v, parts->count, sizeof key, part_order) : NULL;
            if (found)
                errors[found - parts->v] = f.answer->topics[i].partitions[k].error_code;
        }
    }
    return 0;
}
