#include "tests/support/test_main.h"
#include "tests/support/why_world.h"

static struct why_world w;

static void start(void)
{
    world_start(&w, 3);
    world_topic(&w, "t", 2, 1);
    world_partition(&w, "t", 0, "1,2,3", "1,2,3");
    world_partition(&w, "t", 1, "2,3,1", "2,3,1");
}

static void judge(void)
{
    world_judge_anew(&w);
    why_judge_all(&w.f, &w.all);
    why_finish(&w.all);
}

START_TEST(a_cluster_that_is_well_is_quiet)
{
    start();
    judge();
    ck_assert_uint_eq(w.all.count, 0);
    world_without_zk(&w);
    judge();
    ck_assert_uint_eq(w.all.count, 0);
    world_end(&w);
}
END_TEST

START_TEST(the_broker_stands_in_front_of_its_partitions)
{
    start();
    world_down(&w, 3);
    for (int i = 0; i < 2; i++)
        world_partition(&w, "t", i, "1,2,3", "1,2");
    judge();
    ck_assert_uint_eq(w.all.count, 2);
    ck_assert_str_eq(w.all.v[0].kind, "broker");
    ck_assert_str_eq(w.all.v[1].kind, "partition");
    ck_assert_uint_eq(w.all.v[1].items_count, 2);
    world_end(&w);
}
END_TEST

START_TEST(a_broker_that_only_partitions_name_is_told_once)
{
    start();
    world_without_zk(&w);
    for (int i = 0; i < 2; i++)
        world_partition(&w, "t", i, "1,2,9", "1,2");
    judge();
    const struct why_finding *f = world_find(&w, "broker", "9");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(f->items_count, 1);
    ck_assert_int_eq(w.f.brokers_count, 3); /* facts stay what they were */
    world_end(&w);
}
END_TEST

START_TEST(everything_is_looked_at)
{
    start();
    struct why_partition *p = world_partition(&w, "t", 0, "1,3", "1");
    struct why_group *g = world_group(&w, "g", "PreparingRebalance");
    struct why_deletion d = {.topic = STR("d"), .since_ms = 1};

    p->adding = world_ids(&w, "3");
    world_silent(&w, 3);
    w.f.groups = g;
    w.f.groups_count = 1;
    w.f.zk.deletions = &d;
    w.f.zk.deletions_count = 1;
    w.f.zk.has_legacy = w.f.zk.is_read_only = true;
    w.f.zk.controller_session = 1;
    judge();
    ck_assert_ptr_nonnull(world_find(&w, "ZooKeeper", NULL));
    ck_assert_ptr_nonnull(world_find(&w, "controller", "1"));
    ck_assert_ptr_nonnull(world_find(&w, "broker", "3"));
    ck_assert_ptr_nonnull(world_find(&w, "reassignment", "t-0"));
    ck_assert_ptr_nonnull(world_find(&w, "reassignment", "/admin/reassign_partitions"));
    ck_assert_ptr_nonnull(world_find(&w, "deletion", "d"));
    ck_assert_ptr_nonnull(world_find(&w, "group", "g"));
    ck_assert_int_eq(w.all.v[0].severity, WHY_DOWN);
    world_end(&w);
}
END_TEST

START_TEST(what_is_under_way_is_not_wrong)
{
    start();
    struct why_partition *p = world_partition(&w, "t", 0, "1,3", "1");
    struct why_deletion d = {.topic = STR("d"), .since_ms = w.f.now_ms};

    p->adding = world_ids(&w, "3");
    w.f.zk.deletions = &d;
    w.f.zk.deletions_count = 1;
    judge();
    ck_assert_uint_eq(w.all.count, 0);
    world_end(&w);
}
END_TEST

START_TEST(nobody_answers)
{
    world_start(&w, 0);
    world_without_zk(&w);
    w.f.brokers_answer = WHY_NO;
    w.f.silence = STR("refused");
    judge();
    ck_assert_uint_eq(w.all.count, 1);
    ck_assert(why_is_wrong(&w.all));
    world_end(&w);
}
END_TEST

TEST_MAIN("tools/why/why_judge_all", a_cluster_that_is_well_is_quiet,
          the_broker_stands_in_front_of_its_partitions,
          a_broker_that_only_partitions_name_is_told_once, everything_is_looked_at,
          what_is_under_way_is_not_wrong, nobody_answers)
