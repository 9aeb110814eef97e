#include "controller/topic_delete.h"

#include "tests/support/fake_cluster.h"
#include "tests/support/test_main.h"
#include "zk/zk_paths.h"
#include "zk/zk_topics.h"

static bool is_wished(struct fake_cluster *f, const char *topic)
{
    bool is = false;

    ck_assert_int_eq(zk_delete_topics_is_requested(f->admin, str_of(topic), &is), ZK_OK);
    return is;
}

START_TEST(deletion_waits_for_a_dead_broker_and_goes_on_when_it_returns)
{
    struct fake_cluster f;
    struct controller_stats stats;

    fake_cluster_init(&f, 3);
    fake_cluster_create(&f, "t", "1,2,3");
    fake_cluster_kill(&f, 3);
    fake_cluster_trace(&f);
    fake_cluster_delete(&f, "t");
    ck_assert(fake_cluster_topic_exists(&f, "t"));
    ck_assert_str_eq(fake_cluster_trace(&f), "UMR 1,2: t-0 L-2 e0 isr 1,2 rs 1,2,3 off 3\n"
                                             "SR 1,2: t-0 e-2\n"
                                             "SR 1,2: t-0 e-2 delete\n");
    controller_stats(f.brokers[1].c, &stats);
    ck_assert_int_eq(stats.topics_to_delete, 1);
    ck_assert_int_eq(stats.topics_ineligible_to_delete, 1);
    ck_assert_int_eq(stats.replicas_to_delete, 1);
    fake_cluster_start(&f, 3);
    ck_assert(!fake_cluster_topic_exists(&f, "t"));
    ck_assert(!is_wished(&f, "t"));
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(refused_deletion_is_tried_again_when_a_broker_of_the_topic_starts)
{
    struct fake_cluster f;

    fake_cluster_init(&f, 3);
    fake_cluster_create(&f, "t", "1,2");
    fake_channels_refuse(&f.brokers[1].channels,
                         (struct fake_refusal){2, API_STOP_REPLICA, "t", 0, KAFKA_STORAGE_ERROR});
    fake_cluster_delete(&f, "t");
    ck_assert(fake_cluster_topic_exists(&f, "t"));
    f.brokers[1].channels.refusal_count = 0;
    fake_cluster_kill(&f, 3);
    fake_cluster_start(&f, 3);
    ck_assert(fake_cluster_topic_exists(&f, "t"));
    fake_cluster_kill(&f, 2);
    fake_cluster_start(&f, 2);
    ck_assert(!fake_cluster_topic_exists(&f, "t"));
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(next_controller_goes_on_wherever_the_first_one_died)
{
    for (int nth = 1; nth <= 25; nth++) {
        struct fake_cluster f;

        say_set_level(SAY_ERROR);
        fake_cluster_init(&f, 3);
        fake_cluster_create(&f, "t", "2,3;3,2");
        fake_zk_fail(f.brokers[1].zk, nth, ZK_SESSION_EXPIRED);
        fake_cluster_delete(&f, "t");
        fake_zk_fail(f.brokers[1].zk, 1, ZK_OK);
        fake_cluster_kill(&f, 1);
        ck_assert_ptr_eq(fake_cluster_active(&f), &f.brokers[2]);
        ck_assert(!fake_cluster_topic_exists(&f, "t"));
        ck_assert(!is_wished(&f, "t"));
        ck_assert_int_eq(f.brokers[2].c->x.topic_count, 0);
        fake_cluster_deinit(&f);
    }
}
END_TEST

START_TEST(wish_for_an_unknown_topic_is_dropped)
{
    struct fake_cluster f;

    fake_cluster_init(&f, 1);
    fake_cluster_delete(&f, "nothing");
    ck_assert(!is_wished(&f, "nothing"));
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(topic_deleted_in_the_breath_of_its_creation_goes)
{
    struct fake_cluster f;
    struct node_ids rs = {(int32_t[]){1, 2}, 2};
    struct node_partition p = {.id = 0, .replicas = rs};
    struct node_topic t = {.id = uuid_random(), .partitions = &p, .count = 1};
    struct node_config config = {0};

    fake_cluster_init(&f, 2);
    fake_zk_hold_events(f.server, true);
    ck_assert_int_eq(zk_topic_create(f.admin, STR("t"), &t, &config), ZK_OK);
    fake_cluster_delete(&f, "t");
    fake_zk_hold_events(f.server, false);
    fake_cluster_run(&f);
    ck_assert(!fake_cluster_topic_exists(&f, "t"));
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(disabled_deletion_takes_wishes_back)
{
    struct fake_cluster f;

    fake_cluster_prepare(&f, 1);
    f.opts.delete_topic_enable = false;
    fake_cluster_start_all(&f);
    fake_cluster_create(&f, "t", "1");
    fake_cluster_delete(&f, "t");
    ck_assert(!is_wished(&f, "t"));
    ck_assert(fake_cluster_topic_exists(&f, "t"));
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(partitions_added_to_a_dying_topic_are_taken_back)
{
    struct fake_cluster f;
    struct zk_topic t = {.name = STR("t")};

    fake_cluster_init(&f, 3);
    fake_cluster_create(&f, "t", "1,3");
    fake_cluster_kill(&f, 3);
    fake_cluster_delete(&f, "t");
    ck_assert_int_eq(zk_topics_read(f.admin, &f.arena, &t, 1), ZK_OK);
    struct node_partition two[] = {t.node.partitions[0], t.node.partitions[0]};
    two[1].id = 1;
    struct node_topic more = {t.node.id, two, 2};
    ck_assert_int_eq(zk_topic_set(f.admin, STR("t"), &more, ZK_NO_FENCE), ZK_OK);
    fake_cluster_run(&f);
    ck_assert_int_eq(zk_topics_read(f.admin, &f.arena, &t, 1), ZK_OK);
    ck_assert_int_eq(t.node.count, 1);
    ck_assert(!uuid_is_zero(t.node.id));
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(late_answer_of_a_stop_without_delete_deletes_nothing)
{
    struct fake_cluster f;

    fake_cluster_init(&f, 2);
    fake_cluster_create(&f, "t", "1,2");
    f.brokers[1].is_silent = true;
    fake_cluster_delete(&f, "t");
    struct fake_channels *ch = &f.brokers[1].channels;
    ck_assert(fake_cluster_topic_exists(&f, "t"));
    /* Only what came before the deletes is answered. */
    for (size_t i = 0; i < ch->count; i++)
        ch->sent[i].is_answered = ch->sent[i].is_answered || ch->sent[i].m->deletes;
    f.brokers[1].is_silent = false;
    fake_cluster_run(&f);
    ck_assert(fake_cluster_topic_exists(&f, "t"));
    fake_cluster_deinit(&f);
}
END_TEST

TEST_MAIN("controller/topic_delete", deletion_waits_for_a_dead_broker_and_goes_on_when_it_returns,
          refused_deletion_is_tried_again_when_a_broker_of_the_topic_starts,
          next_controller_goes_on_wherever_the_first_one_died, wish_for_an_unknown_topic_is_dropped,
          topic_deleted_in_the_breath_of_its_creation_goes, disabled_deletion_takes_wishes_back,
          partitions_added_to_a_dying_topic_are_taken_back,
          late_answer_of_a_stop_without_delete_deletes_nothing)
