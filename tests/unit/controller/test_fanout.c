#include "controller/fanout.h"

#include "common/wire/codec.h"
#include "common/wire/header.h"
#include "tests/support/fake_cluster.h"
#include "tests/support/test_main.h"

/* Encodes a message as the wire would have it, and reads it back. */
static void check_encodes(const struct fake_sent *s, enum ibp ibp)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    const struct api_msgs *api = api_messages_find(s->m->api_key);
    struct writer w;
    void *copy = arena_zalloc(&a, control_message_body_size(s->m->api_key));
    void *back = arena_zalloc(&a, control_message_body_size(s->m->api_key));

    writer_init(&w, &a);
    memcpy(copy, s->m->body, control_message_body_size(s->m->api_key));
    control_message_set_broker_epoch(s->m->api_key, copy, s->broker_epoch);
    int r = codec_encode(api->request, s->m->version, copy, &w);
    ck_assert_msg(r == 0, "%s v%d at %s: field %s", api->name, s->m->version, ibp_name(ibp),
                  w.err_field ? w.err_field : "-");
    struct slice flat = writer_flat(&w);
    ck_assert_int_eq(codec_decode(api->request, s->m->version, flat, &a, back), 0);
}

static void check_version(const struct fake_sent *s, enum ibp ibp)
{
    int16_t wanted = s->m->api_key == API_LEADER_AND_ISR    ? ibp_leader_and_isr_version(ibp)
                     : s->m->api_key == API_UPDATE_METADATA ? ibp_update_metadata_version(ibp)
                                                            : ibp_stop_replica_version(ibp);

    ck_assert_int_eq(s->m->version, wanted);
}

START_TEST(every_protocol_version_can_say_everything)
{
    say_set_level(SAY_ERROR);
    for (int ibp = 0; ibp <= IBP_3_9_IV0; ibp++) {
        struct fake_cluster f;
        int left;

        fake_cluster_prepare(&f, 3);
        f.opts.ibp = (enum ibp)ibp;
        fake_cluster_start_all(&f);
        fake_cluster_create(&f, "t", "2,1,3;1,2");
        fake_cluster_shutdown(&f, 2, &left);
        fake_cluster_kill(&f, 2);
        fake_cluster_delete(&f, "t");
        const struct fake_channels *ch = &f.brokers[1].channels;
        ck_assert_int_gt((int)ch->count, 10);
        for (size_t i = 0; i < ch->count; i++) {
            check_version(&ch->sent[i], (enum ibp)ibp);
            check_encodes(&ch->sent[i], (enum ibp)ibp);
        }
        fake_cluster_deinit(&f);
    }
}
END_TEST

START_TEST(requests_name_the_controller_and_the_targets_epoch)
{
    struct fake_cluster f;

    fake_cluster_init(&f, 2);
    fake_cluster_create(&f, "t", "2,1");
    const struct fake_channels *ch = &f.brokers[1].channels;
    int leads = 0, tells = 0;
    for (size_t i = 0; i < ch->count; i++) {
        const struct fake_sent *s = &ch->sent[i];
        ck_assert_int_eq(s->broker_epoch, f.brokers[s->broker_id].reg.epoch);
        if (s->m->api_key == API_LEADER_AND_ISR) {
            const struct leader_and_isr_request *r = s->m->body;
            ck_assert_int_eq(r->controller_id, 1);
            ck_assert_int_eq(r->controller_epoch, 1);
            ck_assert_int_eq(r->topic_states_count, 1);
            ck_assert(!uuid_is_zero(r->topic_states[0].topic_id));
            ck_assert_int_eq(r->live_leaders_count, 1);
            ck_assert_int_eq(r->live_leaders[0].broker_id, 2);
            ck_assert_int_eq(r->live_leaders[0].port, 9092);
            leads++;
        } else if (s->m->api_key == API_UPDATE_METADATA) {
            const struct update_metadata_request *r = s->m->body;
            ck_assert_int_eq(r->controller_epoch, 1);
            ck_assert_int_ge(r->live_brokers_count, 1);
            ck_assert(str_eqz(r->live_brokers[0].endpoints[0].listener, "PLAINTEXT"));
            ck_assert(str_is_null(r->live_brokers[0].rack));
            tells++;
        }
    }
    ck_assert_int_eq(leads, 2);
    ck_assert_int_ge(tells, 4);
    fake_cluster_deinit(&f);
}
END_TEST

/* A context and channels without a controller. */
struct bare {
    struct context x;
    struct fake_channels ch;
    struct fanout f;
};

static struct ctl_partition *bare_init(struct bare *b)
{
    struct node_endpoint ep = {STR("PLAINTEXT"), STR("h"), 1, NODE_PLAINTEXT};
    struct node_broker node = {.endpoints = &ep, .endpoint_count = 1, .rack = STR_NULL};
    int32_t ids[] = {1, 2, 3};
    struct node_partition a = {.replicas = {ids, 3}, .adding = {ids + 2, 1}, .removing = {ids, 1}};
    struct node_state st = {.leader = 1, .leader_epoch = 5, .isr = {ids, 2}};

    *b = (struct bare){0};
    fake_channels_init(&b->ch);
    b->f = (struct fanout){.x = &b->x,
                           .channels = &b->ch.channels,
                           .inter_broker_listener = "PLAINTEXT",
                           .ibp = IBP_3_9_IV0,
                           .controller_id = 1,
                           .controller_epoch = 9};
    for (int32_t id = 1; id <= 3; id++) {
        context_broker_put(&b->x, id, 100 + id, &node);
        b->ch.channels.ops->add(&b->ch.channels, id, &ep);
    }
    struct ctl_topic *t = context_topic_add(&b->x, STR("t"));
    struct ctl_partition *p = context_partition_add(&b->x, t, 0, &a);
    context_set_leadership(&b->x, p, &st, 7, 3);
    return p;
}

static void bare_deinit(struct bare *b)
{
    fanout_deinit(&b->f);
    fake_channels_deinit(&b->ch);
    context_clear(&b->x);
}

START_TEST(kinds_go_out_in_their_fixed_order_with_reassignments)
{
    struct bare b;
    struct ctl_partition *p = bare_init(&b);

    fanout_begin(&b.f);
    fanout_stop(&b.f, 3, p, true);
    fanout_stop(&b.f, 3, p, false);
    fanout_lead_one(&b.f, 2, p, true);
    fanout_lead_one(&b.f, 2, p, false);
    fanout_lead_one(&b.f, -1, p, false);
    fanout_lead_one(&b.f, 8, p, false);
    fanout_flush(&b.f);
    ck_assert_str_eq(fake_channels_trace(&b.ch), "LISR 2: t-0 L1 e5 isr 1,2 rs 1,2,3 + 3 - 1 new\n"
                                                 "UMR 1,2,3: t-0 L1 e5 isr 1,2 rs 1,2,3\n"
                                                 "SR 3: t-0 e5 delete\n");
    bare_deinit(&b);
}
END_TEST

START_TEST(what_is_added_is_frozen)
{
    struct bare b;
    struct ctl_partition *p = bare_init(&b);
    int32_t ids[] = {2};
    struct node_state later = {.leader = 2, .leader_epoch = 6, .isr = {ids, 1}};

    fanout_begin(&b.f);
    fanout_stop(&b.f, 1, p, false);
    fanout_lead_one(&b.f, 3, p, false);
    context_set_leadership(&b.x, p, &later, 8, 3);
    fanout_lead_one(&b.f, 2, p, false);
    fanout_flush(&b.f);
    ck_assert_str_eq(fake_channels_trace(&b.ch), "LISR 2: t-0 L2 e6 isr 2 rs 1,2,3 + 3 - 1\n"
                                                 "LISR 3: t-0 L1 e5 isr 1,2 rs 1,2,3 + 3 - 1\n"
                                                 "UMR 1,2,3: t-0 L2 e6 isr 2 rs 1,2,3\n"
                                                 "SR 1: t-0 e5\n");
    bare_deinit(&b);
}
END_TEST

START_TEST(dropped_batch_leaves_nothing_behind)
{
    struct bare b;
    struct ctl_partition *p = bare_init(&b);

    fanout_begin(&b.f);
    fanout_lead_one(&b.f, 2, p, true);
    fanout_drop(&b.f);
    fanout_begin(&b.f);
    fanout_tell_broker(&b.f, 2);
    fanout_tell_broker(&b.f, 8);
    fanout_flush(&b.f);
    ck_assert_str_eq(fake_channels_trace(&b.ch), "UMR 2\n");
    bare_deinit(&b);
}
END_TEST

TEST_MAIN("controller/fanout", every_protocol_version_can_say_everything,
          requests_name_the_controller_and_the_targets_epoch,
          kinds_go_out_in_their_fixed_order_with_reassignments, what_is_added_is_frozen,
          dropped_batch_leaves_nothing_behind)
