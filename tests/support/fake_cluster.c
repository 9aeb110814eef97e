#include "tests/support/fake_cluster.h"

#include "zk/zk_cluster.h"
#include "zk/zk_configs.h"
#include "zk/zk_paths.h"
#include "zk/zk_states.h"

#include <stdio.h>

static enum zk_result register_again(void *ctx)
{
    struct fake_broker *b = ctx;

    return zk_register_again(&b->reg, &b->node);
}

static bool unclean_default(void *ctx)
{
    return ((struct fake_broker *)ctx)->unclean;
}

void fake_cluster_prepare(struct fake_cluster *f, int count)
{
    assert(count <= FAKE_BROKERS_MAX);
    *f = (struct fake_cluster){.count = count};
    clock_fake_init(&f->clock, 1700000000000);
    f->server = fake_zk_server_new(&f->clock.clock);
    f->admin_zk = fake_zk_new(f->server);
    f->admin = fake_zk_store(f->admin_zk);
    zk_cluster_prepare(f->admin);
    f->opts = (struct controller_opts){
        .ibp = IBP_3_9_IV0,
        .inter_broker_listener = "PLAINTEXT",
        .delete_topic_enable = true,
        .auto_leader_rebalance_enable = true,
        .leader_imbalance_check_interval_seconds = 300,
        .leader_imbalance_per_broker_percentage = 10,
        .clock = &f->clock.clock,
    };
}

static void broker_init(struct fake_cluster *f, int id)
{
    struct fake_broker *b = &f->brokers[id];

    b->id = id;
    b->cluster = f;
    b->zk = fake_zk_new(f->server);
    b->endpoint =
        (struct node_endpoint){STR("PLAINTEXT"), STR("127.0.0.1"), 9090 + id, NODE_PLAINTEXT};
    b->node = (struct node_broker){
        .endpoints = &b->endpoint, .endpoint_count = 1, .rack = STR_NULL, .jmx_port = -1};
    fake_channels_init(&b->channels);
}

static void controller_make(struct fake_cluster *f, struct fake_broker *b)
{
    struct controller_opts opts = f->opts;

    opts.broker_id = b->id;
    opts.store = fake_zk_store(b->zk);
    opts.channels = &b->channels.channels;
    opts.host = (struct controller_host){register_again, unclean_default, b};
    b->c = controller_new(&opts);
    b->is_up = true;
}

void fake_cluster_start(struct fake_cluster *f, int id)
{
    struct fake_broker *b = &f->brokers[id];
    struct strbuf why = {0};

    if (!b->zk)
        broker_init(f, id);
    else if (zk_store_session_id(fake_zk_store(b->zk)) == 0)
        fake_zk_renew(b->zk);
    zk_register_init(&b->reg, fake_zk_store(b->zk), id, 6000);
    enum zk_result r = zk_register_start(&b->reg, &b->node, &why);
    assert(r == ZK_OK);
    (void)r;
    strbuf_deinit(&why);
    controller_make(f, b);
    controller_post_named(b->c, EVENT_STARTUP, 0, STR_NULL);
    fake_cluster_run(f);
}

void fake_cluster_start_all(struct fake_cluster *f)
{
    for (int id = 1; id <= f->count; id++)
        fake_cluster_start(f, id);
}

void fake_cluster_init(struct fake_cluster *f, int count)
{
    fake_cluster_prepare(f, count);
    fake_cluster_start_all(f);
    fake_cluster_trace(f);
}

static void drain(struct controller *c)
{
    controller_stop(c);
    controller_free(c);
}

void fake_cluster_kill(struct fake_cluster *f, int id)
{
    struct fake_broker *b = &f->brokers[id];

    assert(b->is_up);
    b->is_up = false;
    /* Dead before the others can notice: what it would do now must not happen. */
    fake_zk_expire(b->zk);
    drain(TAKE(b->c));
    fake_cluster_run(f);
}

void fake_cluster_expire(struct fake_cluster *f, int id)
{
    struct fake_broker *b = &f->brokers[id];

    fake_zk_expire(b->zk);
    controller_session_lost(b->c);
    fake_cluster_run(f);
    fake_zk_renew(b->zk);
    controller_session_new(b->c, 0);
    fake_cluster_run(f);
}

void fake_cluster_blink(struct fake_cluster *f, const struct node_ids *ids)
{
    fake_zk_hold_events(f->server, true);
    for (int i = 0; i < ids->count; i++) {
        struct fake_broker *b = &f->brokers[ids->list[i]];
        fake_zk_expire(b->zk);
        controller_session_lost(b->c);
    }
    for (int i = 0; i < ids->count; i++) {
        struct fake_broker *b = &f->brokers[ids->list[i]];
        fake_zk_renew(b->zk);
        zk_register_again(&b->reg, &b->node);
    }
    fake_zk_hold_events(f->server, false);
    for (int i = 0; i < ids->count; i++)
        controller_session_new(f->brokers[ids->list[i]].c, 0);
    fake_cluster_run(f);
}

void fake_cluster_deinit(struct fake_cluster *f)
{
    for (int id = 1; id <= FAKE_BROKERS_MAX; id++) {
        struct fake_broker *b = &f->brokers[id];
        if (b->c)
            drain(TAKE(b->c));
        if (b->zk) {
            fake_zk_free(b->zk);
            fake_channels_deinit(&b->channels);
        }
    }
    fake_zk_free(f->admin_zk);
    fake_zk_server_free(f->server);
    arena_deinit(&f->arena);
}

static bool turn_all(struct fake_cluster *f, bool answers)
{
    bool any = fake_zk_deliver(f->server);

    for (int id = 1; id <= FAKE_BROKERS_MAX; id++) {
        struct fake_broker *b = &f->brokers[id];
        if (!b->is_up)
            continue;
        while (b->is_up && controller_turn(b->c))
            any = true;
        if (answers && !b->is_silent)
            any |= fake_channels_answer(&b->channels);
    }
    return any;
}

void fake_cluster_run(struct fake_cluster *f)
{
    while (turn_all(f, true))
        ;
}

void fake_cluster_run_unanswered(struct fake_cluster *f)
{
    while (turn_all(f, false))
        ;
}

/* "1,2,3" to ids; stops at ';' or the end. */
static struct node_ids parse_ids(struct arena *a, const char **at)
{
    struct node_ids ids = {arena_new_array(a, int32_t, 64), 0};
    char *end;

    while (**at && **at != ';') {
        ids.list[ids.count++] = (int32_t)strtol(*at, &end, 10);
        *at = *end == ',' ? end + 1 : end;
    }
    return ids;
}

void fake_cluster_create(struct fake_cluster *f, const char *topic, const char *partitions)
{
    struct node_topic t = {.id = uuid_random(),
                           .partitions = arena_array(&f->arena, 64, sizeof(struct node_partition))};
    struct node_config config = {0};
    const char *at = partitions;

    while (*at) {
        struct node_partition *p = &t.partitions[t.count];
        p->id = t.count++;
        p->replicas = parse_ids(&f->arena, &at);
        at += *at == ';';
    }
    enum zk_result r = zk_topic_create(f->admin, str_of(topic), &t, &config);
    assert(r == ZK_OK);
    (void)r;
    fake_cluster_run(f);
}

void fake_cluster_set_config(struct fake_cluster *f, const char *topic, const char *key,
                             const char *value)
{
    struct node_config_entry e = {str_of(key), str_of(value)};
    struct node_config config = {&e, 1};
    enum zk_result r = zk_config_set(f->admin, "topics", str_of(topic), &config);

    assert(r == ZK_OK);
    (void)r;
}

void fake_cluster_delete(struct fake_cluster *f, const char *topic)
{
    enum zk_result r = zk_delete_topic_request(f->admin, str_of(topic));

    assert(r == ZK_OK);
    (void)r;
    fake_cluster_run(f);
}

struct fake_broker *fake_cluster_active(struct fake_cluster *f)
{
    struct fake_broker *active = NULL;

    for (int id = 1; id <= FAKE_BROKERS_MAX; id++) {
        struct fake_broker *b = &f->brokers[id];
        if (!b->is_up || !controller_is_active(b->c))
            continue;
        assert(!active);
        active = b;
    }
    return active;
}

const char *fake_cluster_trace(struct fake_cluster *f)
{
    struct fake_broker *b = fake_cluster_active(f);

    return b ? fake_channels_trace(&b->channels) : "";
}

const char *fake_cluster_state(struct fake_cluster *f, const char *topic, int partition)
{
    struct zk_partition_state st = {.topic = str_of(topic), .partition = partition};
    struct strbuf sb = {0};

    enum zk_result r = zk_states_read(f->admin, &f->arena, &st, 1);
    if (r != ZK_OK || st.result != ZK_OK)
        return "none";
    strbuf_addf(&sb, "L%d e%d isr ", st.state.leader, st.state.leader_epoch);
    for (int32_t i = 0; i < st.state.isr.count; i++)
        strbuf_addf(&sb, "%s%d", i ? "," : "", st.state.isr.list[i]);
    strbuf_addf(&sb, " v%d%s", st.version, st.state.leader_recovery_state ? " recovering" : "");
    const char *text = arena_strz(&f->arena, strbuf_str(&sb));
    strbuf_deinit(&sb);
    return text;
}

bool fake_cluster_topic_exists(struct fake_cluster *f, const char *topic)
{
    bool is_there = false;
    enum zk_result r = zk_topic_exists(f->admin, str_of(topic), &is_there);

    assert(r == ZK_OK);
    (void)r;
    return is_there;
}

static void nothing(struct controller_call *call)
{
    *(bool *)call->ctx = true;
}

int fake_cluster_alter(struct fake_cluster *f, const char *topic, int partition, const char *isr)
{
    struct fake_broker *b = fake_cluster_active(f);
    struct ctl_topic *t = context_topic(&b->c->x, str_of(topic));
    struct ctl_partition *p = topic_partition(t, partition);
    struct node_ids ids = parse_ids(&f->arena, &isr);
    struct alter_partition_request_new_isr_with_epoch *members =
        arena_array(&f->arena, (size_t)ids.count, sizeof *members);
    bool is_done = false;

    for (int32_t i = 0; i < ids.count; i++)
        members[i].broker_id = ids.list[i];
    struct alter_partition_request_partition rp = {.partition_index = partition,
                                                   .leader_epoch = p->leader_epoch,
                                                   .new_isr_with_epochs = members,
                                                   .new_isr_with_epochs_count = ids.count,
                                                   .partition_epoch = p->partition_epoch};
    struct alter_partition_request_topic rt = {
        .topic_id = t->id, .partitions = &rp, .partitions_count = 1};
    struct alter_partition_request req = {.broker_id = p->leader,
                                          .broker_epoch = f->brokers[p->leader].reg.epoch,
                                          .topics = &rt,
                                          .topics_count = 1};
    struct controller_call call = {
        .arena = &f->arena, .request = &req, .version = 3, .done = nothing, .ctx = &is_done};
    controller_alter_partition(b->c, &call);
    fake_cluster_run(f);
    assert(is_done);
    const struct alter_partition_response *resp = call.response;
    return resp->error_code ? resp->error_code : resp->topics[0].partitions[0].error_code;
}

int fake_cluster_reassign(struct fake_cluster *f, const char *topic, int partition,
                          const char *replicas)
{
    struct fake_broker *b = fake_cluster_active(f);
    struct alter_partition_reassignments_request_partition rp = {.partition_index = partition,
                                                                 .replicas_count = -1};
    struct alter_partition_reassignments_request_topic rt = {
        .name = str_of(topic), .partitions = &rp, .partitions_count = 1};
    struct alter_partition_reassignments_request req = {.topics = &rt, .topics_count = 1};
    bool is_done = false;
    struct controller_call call = {
        .arena = &f->arena, .request = &req, .done = nothing, .ctx = &is_done};

    if (replicas) {
        struct node_ids ids = parse_ids(&f->arena, &replicas);
        rp.replicas = ids.list;
        rp.replicas_count = ids.count;
    }
    controller_alter_reassignments(b->c, &call);
    fake_cluster_run(f);
    assert(is_done);
    const struct alter_partition_reassignments_response *resp = call.response;
    return resp->error_code ? resp->error_code : resp->responses[0].partitions[0].error_code;
}

static void add_ids(struct strbuf *sb, const char *what, const struct node_ids *ids)
{
    for (int32_t i = 0; i < ids->count; i++)
        strbuf_addf(sb, "%s%d", i ? "," : what, ids->list[i]);
}

const char *fake_cluster_assignment(struct fake_cluster *f, const char *topic, int partition)
{
    struct zk_topic t = {.name = str_of(topic)};
    struct strbuf sb = {0};
    enum zk_result r = zk_topics_read(f->admin, &f->arena, &t, 1);

    if (r != ZK_OK || t.result != ZK_OK)
        return "none";
    const struct node_partition *p = node_topic_partition(&t.node, partition);
    add_ids(&sb, "", &p->replicas);
    add_ids(&sb, " add ", &p->adding);
    add_ids(&sb, " remove ", &p->removing);
    const char *text = arena_strz(&f->arena, strbuf_str(&sb));
    strbuf_deinit(&sb);
    return text;
}

int fake_cluster_shutdown(struct fake_cluster *f, int id, int *ret_left)
{
    struct fake_broker *b = fake_cluster_active(f);
    struct controlled_shutdown_request req = {.broker_id = id,
                                              .broker_epoch = f->brokers[id].reg.epoch};
    bool is_done = false;
    struct controller_call call = {
        .arena = &f->arena, .request = &req, .version = 3, .done = nothing, .ctx = &is_done};

    controller_controlled_shutdown(b->c, &call);
    fake_cluster_run(f);
    assert(is_done);
    const struct controlled_shutdown_response *resp = call.response;
    *ret_left = resp->remaining_partitions_count;
    return resp->error_code;
}
