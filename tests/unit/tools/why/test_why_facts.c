#include "tools/why/why_facts.h"

#include "tests/support/test_main.h"
#include "tests/support/why_world.h"

static struct why_world w;

START_TEST(brokers_are_found_and_stay_sorted)
{
    world_start(&w, 0);
    static const int32_t ids[] = {5, 1, 9, 3, 1};
    for (size_t i = 0; i < ARRAY_LEN(ids); i++)
        why_add_broker(&w.f, ids[i])->session = ids[i] * 10;
    ck_assert_int_eq(w.f.brokers_count, 4);
    for (int32_t id = 0; id < 11; id++) {
        const struct why_broker *b = why_find_broker(&w.f, id);
        bool is_known = id == 1 || id == 3 || id == 5 || id == 9;
        ck_assert_int_eq(b != NULL, is_known);
        ck_assert(!b || b->session == id * 10);
    }
    world_end(&w);
}
END_TEST

START_TEST(topics_and_partitions_are_found)
{
    world_start(&w, 1);
    world_topic(&w, "b", 3, 1);
    world_topic(&w, "a", 1, 1);
    world_topic(&w, "c", 0, 1);
    for (int i = 0; i < 3; i++)
        world_partition(&w, "b", i, "1", "1");
    world_partition(&w, "a", 0, "1", "1");
    ck_assert_int_eq(why_partition_count(&w.f), 4);
    ck_assert_int_eq(why_find_partition(&w.f, STR("b"), 2)->partition, 2);
    ck_assert_ptr_null(why_find_partition(&w.f, STR("b"), 3));
    ck_assert_ptr_null(why_find_partition(&w.f, STR("b"), -1));
    ck_assert_ptr_null(why_find_partition(&w.f, STR("c"), 0));
    ck_assert_ptr_null(why_find_partition(&w.f, STR("d"), 0));
    world_end(&w);
}
END_TEST

START_TEST(throttled_replicas_are_read)
{
    world_start(&w, 0);
    struct why_throttle t = why_throttle_parse(&w.arena, STR("3:2, 0:1,x:1,1:,7,:,0:10"));
    ck_assert_uint_eq(t.count, 3);
    ck_assert(why_throttles(&t, 3, 2) && why_throttles(&t, 0, 1) && why_throttles(&t, 0, 10));
    ck_assert(!why_throttles(&t, 2, 3) && !why_throttles(&t, 1, 0) && !why_throttles(&t, 7, 0));
    t = why_throttle_parse(&w.arena, STR("*"));
    ck_assert(why_throttles(&t, 5, 5));
    t = why_throttle_parse(&w.arena, STR_NULL);
    ck_assert(!why_throttles(&t, 0, 0));
    t = why_throttle_parse(&w.arena, STR(""));
    ck_assert(!why_throttles(&t, 0, 0));
    world_end(&w);
}
END_TEST

START_TEST(a_listed_broker_without_a_znode_is_not_registered)
{
    world_start(&w, 2);
    why_find_broker(&w.f, 2)->registered = WHY_UNKNOWN;
    why_settle(&w.f);
    ck_assert_int_eq(why_find_broker(&w.f, 1)->registered, WHY_YES);
    ck_assert_int_eq(why_find_broker(&w.f, 2)->registered, WHY_NO);
    world_without_zk(&w);
    why_settle(&w.f);
    ck_assert_int_eq(why_find_broker(&w.f, 2)->registered, WHY_UNKNOWN);
    world_end(&w);
}
END_TEST

START_TEST(another_clusters_zookeeper_is_forgotten)
{
    world_start(&w, 2);
    w.f.zk.cluster_id = STR("elsewhere");
    why_settle(&w.f);
    ck_assert(w.f.zk.is_other_cluster && w.f.zk.answers == WHY_NO);
    ck_assert_int_eq(why_find_broker(&w.f, 1)->registered, WHY_UNKNOWN);
    world_end(&w);
}
END_TEST

START_TEST(what_is_unwell_is_told)
{
    world_start(&w, 3);
    world_topic(&w, "t", 1, 1);
    ck_assert(!why_is_unwell(world_partition(&w, "t", 0, "1,2,3", "3,2,1")));
    ck_assert(why_is_unwell(world_partition(&w, "t", 0, "1,2,3", "3,2")));
    ck_assert(why_is_unwell(world_partition(&w, "t", 0, "1,2,3", "")));
    struct why_partition *p = world_partition(&w, "t", 0, "1,2", "1,2");
    p->removing = world_ids(&w, "2");
    ck_assert(why_is_unwell(p));
    p = world_partition(&w, "t", 0, "1,2", "1,2");
    p->offline = world_ids(&w, "2");
    ck_assert(why_is_unwell(p));
    world_end(&w);
}
END_TEST

TEST_MAIN("tools/why/why_facts", brokers_are_found_and_stay_sorted, topics_and_partitions_are_found,
          throttled_replicas_are_read, a_listed_broker_without_a_znode_is_not_registered,
          another_clusters_zookeeper_is_forgotten, what_is_unwell_is_told)
