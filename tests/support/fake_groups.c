#include "tests/support/fake_groups.h"

#include "common/base/err.h"
#include "common/base/mem.h"
#include "tests/support/test_main.h"

enum { NODES = 3, TIMEOUT_MS = 5000 };

static void *answer_metadata(struct fake_groups *f, const struct fake_request *q)
{
    const struct metadata_request *in = q->body;
    struct metadata_response *out = arena_new(q->arena, struct metadata_response);

    msg_init(&metadata_response_desc, out);
    f->metadatas += in->topics_count > 0;
    out->controller_id = 1;
    out->brokers_count = NODES;
    out->brokers = arena_new_array(q->arena, struct metadata_response_broker, NODES);
    for (int i = 0; i < NODES; i++) {
        struct_init(&metadata_response_broker_desc, &out->brokers[i]);
        out->brokers[i].node_id = i + 1;
        out->brokers[i].host = STR("127.0.0.1");
        out->brokers[i].port = fake_broker_port(f->broker);
    }
    out->topics_count = MAX(in->topics_count, 0);
    out->topics =
        arena_new_array(q->arena, struct metadata_response_topic, (size_t)out->topics_count + 1);
    for (int32_t i = 0; i < out->topics_count; i++) {
        struct metadata_response_topic *t = &out->topics[i];
        struct_init(&metadata_response_topic_desc, t);
        t->name = in->topics[i].name;
        if (!str_eqz(t->name, "t")) {
            t->error_code = UNKNOWN_TOPIC_OR_PARTITION;
            continue;
        }
        t->partitions_count = FAKE_TOPIC_PARTITIONS;
        t->partitions =
            arena_new_array(q->arena, struct metadata_response_partition, FAKE_TOPIC_PARTITIONS);
        for (int p = 0; p < FAKE_TOPIC_PARTITIONS; p++) {
            struct_init(&metadata_response_partition_desc, &t->partitions[p]);
            t->partitions[p].partition_index = p;
            t->partitions[p].leader_id = p == f->no_leader ? -1 : p % NODES + 1;
        }
    }
    return out;
}

static void *answer_find(struct fake_groups *f, const struct fake_request *q)
{
    const struct find_coordinator_request *in = q->body;
    struct find_coordinator_response *out = arena_new(q->arena, struct find_coordinator_response);

    msg_init(&find_coordinator_response_desc, out);
    f->finds++;
    out->coordinators_count = in->coordinator_keys_count;
    out->coordinators = arena_new_array(q->arena, struct find_coordinator_response_coordinator,
                                        (size_t)out->coordinators_count + 1);
    for (int32_t i = 0; i < out->coordinators_count; i++) {
        struct_init(&find_coordinator_response_coordinator_desc, &out->coordinators[i]);
        out->coordinators[i].key = in->coordinator_keys[i];
        out->coordinators[i].node_id = 2;
        out->coordinators[i].host = STR("127.0.0.1");
        out->coordinators[i].port = fake_broker_port(f->broker);
    }
    return out;
}

static int16_t commit_code(struct fake_groups *f, int32_t partition, int count)
{
    if (f->commits == f->refuse_at)
        return f->refuse_code;
    if (f->too_many && count > f->too_many)
        return INVALID_COMMIT_OFFSET_SIZE;
    return partition == 1 ? f->partition_code : 0;
}

static void *answer_commit(struct fake_groups *f, const struct fake_request *q)
{
    const struct offset_commit_request *in = q->body;
    const struct offset_commit_request_topic *t = in->topics;
    struct offset_commit_response *out = arena_new(q->arena, struct offset_commit_response);

    msg_init(&offset_commit_response_desc, out);
    ck_assert_int_eq(in->topics_count, 1);
    ck_assert_int_eq(in->generation_id_or_member_epoch, -1);
    f->commit_of[f->commits++ % 64] = t->partitions_count;
    if (f->commits == f->hang_up_at)
        return NULL;
    out->topics_count = 1;
    out->topics = arena_new_array(q->arena, struct offset_commit_response_topic, 1);
    struct_init(&offset_commit_response_topic_desc, out->topics);
    out->topics->name = t->name;
    out->topics->partitions_count = t->partitions_count;
    out->topics->partitions = arena_new_array(q->arena, struct offset_commit_response_partition,
                                              (size_t)t->partitions_count + 1);
    for (int32_t i = 0; i < t->partitions_count; i++) {
        int16_t code = commit_code(f, t->partitions[i].partition_index, t->partitions_count);
        out->topics->partitions[i].partition_index = t->partitions[i].partition_index;
        out->topics->partitions[i].error_code = code;
        if (code == 0)
            f->committed[t->partitions[i].partition_index] = t->partitions[i].committed_offset;
    }
    return out;
}

/* Every log ends at 1000 + its partition, and begins at its partition. */
static void *answer_list_offsets(struct fake_groups *f, const struct fake_request *q)
{
    const struct list_offsets_request *in = q->body;
    struct list_offsets_response *out = arena_new(q->arena, struct list_offsets_response);
    bool is_stale = ++f->list_offsets <= f->stale_leaders;

    msg_init(&list_offsets_response_desc, out);
    out->topics_count = in->topics_count;
    out->topics =
        arena_new_array(q->arena, struct list_offsets_response_topic, (size_t)in->topics_count + 1);
    for (int32_t i = 0; i < in->topics_count; i++) {
        const struct list_offsets_request_topic *t = &in->topics[i];
        struct_init(&list_offsets_response_topic_desc, &out->topics[i]);
        out->topics[i].name = t->name;
        out->topics[i].partitions_count = t->partitions_count;
        out->topics[i].partitions = arena_new_array(
            q->arena, struct list_offsets_response_partition, (size_t)t->partitions_count + 1);
        for (int32_t k = 0; k < t->partitions_count; k++) {
            struct list_offsets_response_partition *p = &out->topics[i].partitions[k];
            struct_init(&list_offsets_response_partition_desc, p);
            p->partition_index = t->partitions[k].partition_index;
            p->error_code = is_stale ? NOT_LEADER_OR_FOLLOWER : 0;
            p->offset = p->partition_index + (t->partitions[k].timestamp == LOG_LATEST ? 1000 : 0);
        }
    }
    return out;
}

static enum fake_action answer(void *ctx, const struct fake_request *q, void **ret_response)
{
    struct fake_groups *f = ctx;

    switch (q->header.request_api_key) {
    case API_METADATA:
        *ret_response = answer_metadata(f, q);
        break;
    case API_FIND_COORDINATOR:
        *ret_response = answer_find(f, q);
        break;
    case API_OFFSET_COMMIT:
        *ret_response = answer_commit(f, q);
        break;
    case API_LIST_OFFSETS:
        *ret_response = answer_list_offsets(f, q);
        break;
    default:
        ck_abort_msg("no request of this kind was expected");
    }
    return *ret_response ? FAKE_ANSWER : FAKE_CLOSE;
}

void fake_groups_start(struct fake_groups *f)
{
    char bootstrap[32];
    const struct cluster_opts opts = {
        .inv = &f->inv, .bootstrap = bootstrap, .timeout_ms = TIMEOUT_MS};

    *f = (struct fake_groups){.inv = {.program = "klamm groups"}, .no_leader = -1};
    memset(f->committed, -1, sizeof f->committed);
    f->broker = fake_broker_start(answer, f);
    f->opts = (struct opts){.inv = &f->inv};
    f->g = (struct groups){.o = &f->opts, .output = GROUPS_TABLE};
    snprintf(bootstrap, sizeof bootstrap, "127.0.0.1:%d", fake_broker_port(f->broker));
    ck_assert_int_eq(cluster_open(&opts, &f->g.why, &f->g.cluster), 0);
}

void fake_groups_stop(struct fake_groups *f)
{
    cluster_close(f->g.cluster);
    fake_broker_stop(f->broker);
    arena_deinit(&f->g.arena);
    strbuf_deinit(&f->g.why);
}
