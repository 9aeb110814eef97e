#include "common/base/err.h"
#include "tests/support/test_main.h"
#include "tests/support/why_world.h"

static struct why_world w;

/* From broker 1 to broker 3. */
static struct why_partition *moving(const char *isr)
{
    world_start(&w, 3);
    world_topic(&w, "t", 1, 1);
    struct why_partition *p = world_partition(&w, "t", 0, "3,1", isr);
    p->adding = world_ids(&w, "3");
    p->removing = world_ids(&w, "1");
    return p;
}

static void judge(const struct why_partition *p)
{
    world_judge_anew(&w);
    why_judge_move(&w.f, p, &w.all);
    why_finish(&w.all);
}

START_TEST(a_partition_that_does_not_move_is_not_mentioned)
{
    struct why_partition *p = moving("1");

    p->adding = p->removing = (struct why_ids){0};
    judge(p);
    ck_assert_uint_eq(w.all.count, 0);
    world_end(&w);
}
END_TEST

START_TEST(a_move_under_way_is_a_note)
{
    struct why_partition *p = moving("1");

    world_copy(&w, p, 1, 1000, 100);
    world_copy(&w, p, 3, 400, 40);
    judge(p);
    ck_assert(!why_is_wrong(&w.all));
    EXPECT_SAYS(&w, "reassignment", "t-0", "under way");
    EXPECT_SAYS(&w, "reassignment", "t-0", "adding [3], removing [1]");
    EXPECT_SAYS(&w, "reassignment", "t-0", "broker 3 is 60 records behind");
    EXPECT_BECAUSE(&w, "reassignment", "t-0", "lags behind the leader");
    world_end(&w);
}
END_TEST

START_TEST(a_throttled_move_has_an_end)
{
    struct why_partition *p = moving("1");

    world_copy(&w, p, 1, 1000000, 100);
    world_copy(&w, p, 3, 400000, 40);
    p->topic->follower_throttle = why_throttle_parse(&w.arena, STR("0:3"));
    why_find_broker(&w.f, 3)->follower_rate = 5000;
    why_sum_up(&w.f);
    judge(p);
    ck_assert(!why_is_wrong(&w.all));
    EXPECT_BECAUSE(&w, "reassignment", "t-0", "throttled to 5000 bytes/s");
    EXPECT_BECAUSE(&w, "reassignment", "t-0",
                   "about 600000 bytes to fetch at 5000 bytes/s: about 2 min 0 s");
    world_end(&w);
}
END_TEST

START_TEST(moves_to_the_same_broker_share_its_rate)
{
    struct why_partition *p;

    world_start(&w, 3);
    world_topic(&w, "t", 2, 1)->follower_throttle = why_throttle_parse(&w.arena, STR("*"));
    for (int i = 0; i < 2; i++) {
        p = world_partition(&w, "t", i, "1,3", "1");
        p->adding = world_ids(&w, "3");
        world_copy(&w, p, 1, 1000, 100);
        world_copy(&w, p, 3, 0, 0);
    }
    why_find_broker(&w.f, 3)->follower_rate = 100;
    why_sum_up(&w.f);
    judge(p);
    EXPECT_BECAUSE(&w, "reassignment", "t-1", "2000 bytes to fetch at 100 bytes/s: about 20 s");
    world_end(&w);
}
END_TEST

START_TEST(a_rate_of_nothing_is_stuck)
{
    struct why_partition *p = moving("1");

    p->topic->leader_throttle = why_throttle_parse(&w.arena, STR("0:1"));
    why_find_broker(&w.f, 1)->leader_rate = 0;
    judge(p);
    EXPECT_SAYS(&w, "reassignment", "t-0", "stuck");
    EXPECT_BECAUSE(&w, "reassignment", "t-0", "0 bytes/s: it never arrives");
    world_end(&w);
}
END_TEST

START_TEST(a_move_to_a_dead_broker_is_stuck)
{
    struct why_partition *p = moving("1");

    world_down(&w, 3);
    judge(p);
    ck_assert_int_eq(w.all.v[0].severity, WHY_BLOCKED);
    EXPECT_SAYS(&w, "reassignment", "t-0", "stuck");
    EXPECT_BECAUSE(&w, "reassignment", "t-0", "broker 3 is not registered");
    EXPECT_UNBLOCKS(&w, "reassignment", "t-0", "start broker 3 again");
    EXPECT_UNBLOCKS(&w, "reassignment", "t-0",
                    "--cancel --reassignment-json-file <(echo '{\"version\":1,\"partitions\":["
                    "{\"topic\":\"t\",\"partition\":0,\"replicas\":[3,1]}]}')");
    world_end(&w);
}
END_TEST

START_TEST(a_move_to_an_offline_dir_is_stuck)
{
    struct why_partition *p = moving("1");

    p->offline = world_ids(&w, "3");
    judge(p);
    EXPECT_SAYS(&w, "reassignment", "t-0", "stuck");
    EXPECT_BECAUSE(&w, "reassignment", "t-0", "a log dir of broker 3 is offline");
    world_end(&w);
}
END_TEST

START_TEST(a_move_without_a_leader_is_stuck)
{
    struct why_partition *p = moving("1");

    p->leader = -1;
    world_down(&w, 1);
    w.f.zk.controller = w.f.controller = 2;
    judge(p);
    EXPECT_SAYS(&w, "reassignment", "t-0", "stuck");
    EXPECT_BECAUSE(&w, "reassignment", "t-0", "[1] had every acknowledged record");
    world_end(&w);
}
END_TEST

START_TEST(a_move_without_a_controller_is_stuck)
{
    struct why_partition *p = moving("3,1");

    judge(p);
    ck_assert(!why_is_wrong(&w.all));
    EXPECT_BECAUSE(&w, "reassignment", "t-0", "the controller finishes it");
    w.f.zk.controller = -1;
    judge(p);
    EXPECT_SAYS(&w, "reassignment", "t-0", "stuck");
    EXPECT_UNBLOCKS(&w, "reassignment", "t-0", "klamm why controller");
    w.f.zk.controller = 2;
    world_silent(&w, 2);
    judge(p);
    EXPECT_SAYS(&w, "reassignment", "t-0", "stuck");
    world_end(&w);
}
END_TEST

START_TEST(a_request_through_zookeeper_that_stays)
{
    world_start(&w, 1);
    why_judge_legacy_moves(&w.f, &w.all);
    ck_assert_uint_eq(w.all.count, 0);
    w.f.zk.has_legacy = true;
    w.f.zk.legacy_count = 3;
    why_judge_legacy_moves(&w.f, &w.all);
    EXPECT_BECAUSE(&w, "reassignment", "/admin/reassign_partitions",
                   "the znode is there, with 3 partition(s)");
    EXPECT_UNBLOCKS(&w, "reassignment", "/admin/reassign_partitions",
                    "delete /admin/reassign_partitions");
    world_end(&w);
}
END_TEST

/* ---- deletions ---- */

static struct why_deletion deletion(const char *replicas)
{
    struct why_deletion d = {.topic = STR("d"), .is_there = true};

    world_start(&w, 3);
    d.since_ms = w.f.now_ms - 1000;
    world_topic(&w, "d", 1, 1);
    world_partition(&w, "d", 0, replicas, replicas);
    d.nodes = *why_find_topic(&w.f, STR("d"));
    w.f.topics_count = 0; /* the metadata do not show it any more */
    return d;
}

static void judge_deletion(const struct why_deletion *d)
{
    world_judge_anew(&w);
    why_judge_deletion(&w.f, d, &w.all);
}

START_TEST(a_young_deletion_is_under_way)
{
    struct why_deletion d = deletion("1,2");

    d.holders = world_ids(&w, "2");
    judge_deletion(&d);
    ck_assert(!why_is_wrong(&w.all));
    EXPECT_SAYS(&w, "deletion", "d", "under way");
    EXPECT_BECAUSE(&w, "deletion", "d", "[2] still have logs of it");
    EXPECT_BECAUSE(&w, "deletion", "d", "nothing that can be seen stands in its way");
    d.since_ms = w.f.now_ms - 3600000;
    judge_deletion(&d);
    ck_assert(why_is_wrong(&w.all));
    EXPECT_SAYS(&w, "deletion", "d", "stuck");
    EXPECT_UNBLOCKS(&w, "deletion", "d", "the log of the controller");
    world_end(&w);
}
END_TEST

START_TEST(a_deletion_waits_for_a_dead_broker)
{
    struct why_deletion d = deletion("1,2");

    world_down(&w, 2);
    world_down(&w, 3); /* has no replica */
    judge_deletion(&d);
    EXPECT_SAYS(&w, "deletion", "d", "stuck");
    EXPECT_BECAUSE(&w, "deletion", "d", "broker 2 is not registered");
    EXPECT_UNBLOCKS(&w, "deletion", "d", "start broker 2 again");
    ck_assert(!world_because(&w, "deletion", "d", "broker 3"));
    world_end(&w);
}
END_TEST

START_TEST(a_deletion_waits_for_a_silent_broker_and_for_a_disk)
{
    struct why_dir dirs[] = {{STR("/bad"), KAFKA_STORAGE_ERROR}};
    struct why_deletion d = deletion("1,2,3");

    world_silent(&w, 2);
    why_find_broker(&w.f, 3)->dirs = dirs;
    why_find_broker(&w.f, 3)->dirs_count = 1;
    judge_deletion(&d);
    EXPECT_BECAUSE(&w, "deletion", "d", "broker 2 (host2:9092) is registered, but does not answer");
    EXPECT_BECAUSE(&w, "deletion", "d", "the log dir /bad of broker 3 is offline");
    world_end(&w);
}
END_TEST

START_TEST(a_deletion_waits_for_a_move)
{
    struct why_deletion d = deletion("1,2");

    d.nodes.v[0].adding = world_ids(&w, "2");
    judge_deletion(&d);
    EXPECT_SAYS(&w, "deletion", "d", "stuck");
    EXPECT_UNBLOCKS(&w, "deletion", "d", "klamm why reassignment");
    world_end(&w);
}
END_TEST

START_TEST(a_deletion_that_is_switched_off)
{
    struct why_deletion d = deletion("1,2");

    w.f.deletes_topics = WHY_NO;
    judge_deletion(&d);
    EXPECT_BECAUSE(&w, "deletion", "d", "delete.topic.enable=false");
    EXPECT_UNBLOCKS(&w, "deletion", "d", "set delete.topic.enable=true");
    world_end(&w);
}
END_TEST

START_TEST(a_deletion_without_a_controller)
{
    struct why_deletion d = deletion("1,2");

    w.f.zk.controller = -1;
    judge_deletion(&d);
    EXPECT_SAYS(&w, "deletion", "d", "stuck");
    EXPECT_UNBLOCKS(&w, "deletion", "d", "klamm why controller");
    world_end(&w);
}
END_TEST

START_TEST(a_deletion_that_nobody_asked_for)
{
    world_start(&w, 1);
    world_topic(&w, "t", 0, 1);
    why_judge_no_deletion(&w.f, STR("t"), &w.all);
    EXPECT_SAYS(&w, "deletion", "t", "has not been asked for");
    EXPECT_UNBLOCKS(&w, "deletion", "t", "--delete --topic");
    world_judge_anew(&w);
    w.f.deletes_topics = WHY_NO;
    why_judge_no_deletion(&w.f, STR("t"), &w.all);
    EXPECT_BECAUSE(&w, "deletion", "t", "requests to delete are refused");
    world_judge_anew(&w);
    why_judge_no_deletion(&w.f, STR("gone"), &w.all);
    EXPECT_SAYS(&w, "deletion", "gone", "is over");
    ck_assert(!why_is_wrong(&w.all));
    world_end(&w);
}
END_TEST

START_TEST(without_zookeeper_a_deletion_is_not_known)
{
    world_start(&w, 1);
    world_without_zk(&w);
    world_topic(&w, "t", 0, 1);
    why_judge_no_deletion(&w.f, STR("t"), &w.all);
    EXPECT_SAYS(&w, "deletion", "t", "may have been asked for");
    EXPECT_UNBLOCKS(&w, "deletion", "t", "--zookeeper");
    why_judge_no_deletion(&w.f, STR("gone"), &w.all);
    EXPECT_SAYS(&w, "deletion", "gone", "as far as the brokers know");
    world_end(&w);
}
END_TEST

TEST_MAIN("tools/why/why_judge_move", a_partition_that_does_not_move_is_not_mentioned,
          a_move_under_way_is_a_note, a_throttled_move_has_an_end,
          moves_to_the_same_broker_share_its_rate, a_rate_of_nothing_is_stuck,
          a_move_to_a_dead_broker_is_stuck, a_move_to_an_offline_dir_is_stuck,
          a_move_without_a_leader_is_stuck, a_move_without_a_controller_is_stuck,
          a_request_through_zookeeper_that_stays, a_young_deletion_is_under_way,
          a_deletion_waits_for_a_dead_broker, a_deletion_waits_for_a_silent_broker_and_for_a_disk,
          a_deletion_waits_for_a_move, a_deletion_that_is_switched_off,
          a_deletion_without_a_controller, a_deletion_that_nobody_asked_for,
          without_zookeeper_a_deletion_is_not_known)
