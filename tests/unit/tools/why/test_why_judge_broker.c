#include "common/base/err.h"
#include "tests/support/test_main.h"
#include "tests/support/why_world.h"

static struct why_world w;

static void start(void)
{
    world_start(&w, 3);
    world_topic(&w, "t", 2, 1);
    world_partition(&w, "t", 0, "1,2,3", "1,2,3");
    world_partition(&w, "t", 1, "2,3", "2,3");
}

static void judge_broker(int id, bool is_asked)
{
    world_judge_anew(&w);
    why_judge_broker(&w.f, id, is_asked, &w.all);
}

static void judge_controller(bool is_asked)
{
    world_judge_anew(&w);
    why_judge_controller(&w.f, is_asked, &w.all);
}

static void judge_zk(void)
{
    world_judge_anew(&w);
    why_judge_reach(&w.f, &w.all);
    why_judge_zk(&w.f, &w.all);
}

/* ---- ZooKeeper, and nobody ---- */

START_TEST(a_zookeeper_that_answers_is_not_mentioned)
{
    start();
    judge_zk();
    ck_assert_uint_eq(w.all.count, 0);
    world_without_zk(&w);
    judge_zk();
    ck_assert_uint_eq(w.all.count, 0);
    world_end(&w);
}
END_TEST

START_TEST(an_unreachable_zookeeper_needs_a_majority)
{
    start();
    w.f.zk = (struct why_zk_facts){.answers = WHY_NO, .silence = STR("refused"), .controller = -1};
    judge_zk();
    EXPECT_SAYS(&w, "ZooKeeper", "z:2181", "not to be reached");
    EXPECT_BECAUSE(&w, "ZooKeeper", "z:2181", "refused");
    EXPECT_UNBLOCKS(&w, "ZooKeeper", "z:2181", "a majority has to run");
    world_end(&w);
}
END_TEST

START_TEST(a_read_only_zookeeper_has_no_quorum)
{
    start();
    w.f.zk.is_read_only = true;
    judge_zk();
    EXPECT_SAYS(&w, "ZooKeeper", "z:2181", "read only");
    world_end(&w);
}
END_TEST

START_TEST(a_missing_chroot_is_a_wrong_connect_string)
{
    start();
    w.f.zk.has_no_chroot = true;
    w.f.zk.answers = WHY_NO;
    judge_zk();
    ck_assert_uint_eq(w.all.count, 1);
    EXPECT_SAYS(&w, "ZooKeeper", "z:2181", "the chroot is not there");
    EXPECT_UNBLOCKS(&w, "ZooKeeper", "z:2181", "zookeeper.connect");
    world_end(&w);
}
END_TEST

START_TEST(two_cluster_ids_do_not_go_together)
{
    start();
    w.f.zk.cluster_id = STR("elsewhere");
    why_settle(&w.f);
    judge_zk();
    ck_assert_uint_eq(w.all.count, 1);
    EXPECT_BECAUSE(&w, "ZooKeeper", "z:2181", "/cluster/id is elsewhere");
    EXPECT_BECAUSE(&w, "ZooKeeper", "z:2181", "the brokers' is here");
    EXPECT_UNBLOCKS(&w, "ZooKeeper", "z:2181", "meta.properties");
    world_end(&w);
}
END_TEST

START_TEST(no_broker_answers)
{
    start();
    w.f.brokers_answer = WHY_NO;
    w.f.silence = STR("no broker of b:9092 answers: refused");
    judge_zk();
    EXPECT_SAYS(&w, "address", "b:9092", "no broker answers there");
    ck_assert(why_is_wrong(&w.all));
    world_end(&w);
}
END_TEST

/* ---- the controller ---- */

START_TEST(a_controller_that_answers_is_a_note)
{
    start();
    judge_controller(false);
    ck_assert_uint_eq(w.all.count, 0);
    judge_controller(true);
    ck_assert(!why_is_wrong(&w.all));
    EXPECT_BECAUSE(&w, "controller", "1", "session 0x65, controller epoch 7");
    world_without_zk(&w);
    judge_controller(true);
    EXPECT_BECAUSE(&w, "controller", "1", "the brokers name broker 1");
    world_end(&w);
}
END_TEST

START_TEST(a_missing_controller_with_brokers_and_without)
{
    start();
    w.f.zk.controller = -1;
    judge_controller(false);
    EXPECT_BECAUSE(&w, "controller", "none", "/controller is missing");
    EXPECT_BECAUSE(&w, "controller", "none", "3 broker(s) are registered");
    w.f.zk.is_controller_garbled = true;
    judge_controller(false);
    EXPECT_BECAUSE(&w, "controller", "none", "names no broker");
    EXPECT_UNBLOCKS(&w, "controller", "none", "delete /controller");
    w.f.zk.is_controller_garbled = false;
    for (int id = 1; id <= 3; id++)
        world_down(&w, id);
    judge_controller(false);
    EXPECT_BECAUSE(&w, "controller", "none", "nobody can be elected");
    EXPECT_UNBLOCKS(&w, "controller", "none", "start a broker");
    world_without_zk(&w);
    w.f.controller = -1;
    judge_controller(false);
    EXPECT_UNBLOCKS(&w, "controller", "none", "--zookeeper");
    world_end(&w);
}
END_TEST

START_TEST(a_controller_node_of_a_dead_session)
{
    start();
    w.f.zk.controller = 2;
    w.f.zk.controller_session = 55;
    judge_controller(false);
    EXPECT_SAYS(&w, "controller", "2", "held by a dead session");
    EXPECT_BECAUSE(&w, "controller", "2", "registered by another session, 0x66");
    world_down(&w, 2);
    judge_controller(false);
    EXPECT_BECAUSE(&w, "controller", "2", "broker 2 is not registered");
    EXPECT_UNBLOCKS(&w, "controller", "2", "delete /controller");
    w.f.zk.is_kraft = true;
    judge_controller(false);
    ck_assert_uint_eq(w.all.count, 0);
    world_end(&w);
}
END_TEST

START_TEST(a_silent_controller_is_to_go_on_or_to_go)
{
    start();
    world_silent(&w, 1);
    judge_controller(false);
    EXPECT_SAYS(&w, "controller", "1", "does not answer");
    EXPECT_UNBLOCKS(&w, "controller", "1", "go on, or kill it");
    world_without_zk(&w);
    judge_controller(false);
    EXPECT_SAYS(&w, "controller", "1", "does not answer");
    w.f.brokers_answer = WHY_NO;
    judge_controller(false);
    ck_assert_uint_eq(w.all.count, 0);
    world_end(&w);
}
END_TEST

START_TEST(notifications_that_stay)
{
    start();
    why_judge_notices(&w.f, &w.all);
    ck_assert_uint_eq(w.all.count, 0);
    w.f.zk.dir_events = (struct why_notices){3, w.f.now_ms - 5000};
    why_judge_notices(&w.f, &w.all);
    ck_assert_uint_eq(w.all.count, 0);
    w.f.zk.dir_events.since_ms = w.f.now_ms - 60000;
    why_judge_notices(&w.f, &w.all);
    EXPECT_SAYS(&w, "controller", "1", "through /log_dir_event_notification");
    EXPECT_BECAUSE(&w, "controller", "1", "3 notification(s) wait there");
    world_judge_anew(&w);
    w.f.zk.answers = WHY_NO;
    why_judge_notices(&w.f, &w.all);
    ck_assert_uint_eq(w.all.count, 0);
    world_end(&w);
}
END_TEST

/* ---- brokers ---- */

START_TEST(a_broker_that_is_well_is_a_note)
{
    start();
    judge_broker(2, false);
    ck_assert_uint_eq(w.all.count, 0);
    judge_broker(2, true);
    ck_assert(!why_is_wrong(&w.all));
    EXPECT_BECAUSE(&w, "broker", "2", "its id is held by host2:9092, session 0x66");
    EXPECT_BECAUSE(&w, "broker", "2", "another broker with id 2 is refused");
    EXPECT_BECAUSE(&w, "broker", "2", "2 partition(s)");
    world_end(&w);
}
END_TEST

START_TEST(a_broker_that_is_not_registered)
{
    start();
    world_down(&w, 3);
    judge_broker(3, false);
    EXPECT_SAYS(&w, "broker", "3", "not registered");
    EXPECT_BECAUSE(&w, "broker", "3", "there is no znode of it");
    EXPECT_UNBLOCKS(&w, "broker", "3", "start broker 3");
    EXPECT_UNBLOCKS(&w, "broker", "3", "cluster.id");
    world_without_zk(&w);
    judge_broker(3, false);
    EXPECT_BECAUSE(&w, "broker", "3", "the brokers do not list it");
    judge_broker(77, true);
    EXPECT_BECAUSE(&w, "broker", "77", "is the id right?");
    world_end(&w);
}
END_TEST

START_TEST(a_broker_that_has_lost_its_session_lives)
{
    start();
    why_find_broker(&w.f, 3)->registered = WHY_NO;
    judge_broker(3, false);
    EXPECT_BECAUSE(&w, "broker", "3", "its process lives and answers at host3:9092");
    EXPECT_UNBLOCKS(&w, "broker", "3", "check the way from its host to zookeeper.connect");
    world_end(&w);
}
END_TEST

START_TEST(a_silent_broker_holds_its_id)
{
    start();
    world_silent(&w, 2);
    judge_broker(2, false);
    EXPECT_SAYS(&w, "broker", "2", "registered, but does not answer");
    EXPECT_BECAUSE(&w, "broker", "2", "no answer within 3000 ms");
    EXPECT_UNBLOCKS(&w, "broker", "2", "kill -CONT");
    world_without_zk(&w);
    judge_broker(2, false);
    EXPECT_BECAUSE(&w, "broker", "2", "the brokers list it at host2:9092");
    world_end(&w);
}
END_TEST

START_TEST(a_broker_that_the_others_do_not_know)
{
    start();
    why_find_broker(&w.f, 2)->is_listed = false;
    judge_broker(2, false);
    EXPECT_SAYS(&w, "broker", "2", "the controller has not taken it in");
    EXPECT_UNBLOCKS(&w, "broker", "2", "wait a moment");
    why_find_broker(&w.f, 2)->is_garbled = true;
    judge_broker(2, false);
    EXPECT_UNBLOCKS(&w, "broker", "2", "restart broker 2");
    w.f.brokers_answer = WHY_NO;
    judge_broker(2, false);
    ck_assert_uint_eq(w.all.count, 0);
    world_end(&w);
}
END_TEST

START_TEST(an_offline_dir)
{
    struct why_dir dirs[] = {{STR("/good"), 0}, {STR("/bad"), KAFKA_STORAGE_ERROR}};

    start();
    why_find_broker(&w.f, 2)->dirs = dirs;
    why_find_broker(&w.f, 2)->dirs_count = 2;
    judge_broker(2, false);
    ck_assert_uint_eq(w.all.count, 1);
    EXPECT_SAYS(&w, "broker", "2", "its log dir /bad is offline");
    EXPECT_BECAUSE(&w, "broker", "2", "KAFKA_STORAGE_ERROR");
    world_end(&w);
}
END_TEST

START_TEST(a_broker_with_an_old_view)
{
    start();
    why_find_broker(&w.f, 2)->sees_controller = 3;
    judge_broker(2, false);
    EXPECT_BECAUSE(&w, "broker", "2", "it takes broker 3 for the controller");
    why_find_broker(&w.f, 2)->sees_controller = -1;
    judge_broker(2, false);
    EXPECT_BECAUSE(&w, "broker", "2", "it knows no controller");
    why_find_broker(&w.f, 2)->sees_controller = -2;
    judge_broker(2, false);
    ck_assert_uint_eq(w.all.count, 0);
    world_end(&w);
}
END_TEST

START_TEST(of_nobody_nothing_is_said)
{
    start();
    world_without_zk(&w);
    w.f.brokers_answer = WHY_NO;
    judge_broker(2, true);
    ck_assert_uint_eq(w.all.count, 0);
    world_end(&w);
}
END_TEST

TEST_MAIN("tools/why/why_judge_broker", a_zookeeper_that_answers_is_not_mentioned,
          an_unreachable_zookeeper_needs_a_majority, a_read_only_zookeeper_has_no_quorum,
          a_missing_chroot_is_a_wrong_connect_string, two_cluster_ids_do_not_go_together,
          no_broker_answers, a_controller_that_answers_is_a_note,
          a_missing_controller_with_brokers_and_without, a_controller_node_of_a_dead_session,
          a_silent_controller_is_to_go_on_or_to_go, notifications_that_stay,
          a_broker_that_is_well_is_a_note, a_broker_that_is_not_registered,
          a_broker_that_has_lost_its_session_lives, a_silent_broker_holds_its_id,
          a_broker_that_the_others_do_not_know, an_offline_dir, a_broker_with_an_old_view,
          of_nobody_nothing_is_said)
