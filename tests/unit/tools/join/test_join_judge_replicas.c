#include "tests/support/join_world.h"

static struct join_world w;

START_TEST(others_have_to_be_in_sync)
{
    join_start(&w);
    struct why_topic *t = join_topic(&w, "t", "1,2,3", "1");
    EXPECT(&w, JOIN_BLOCKS, "t-0", "without this broker 0 of 1 needed are in sync");
    t->v[0].isr = join_ids(&w, "1,2");
    EXPECT_WELL(&w);
    t->min_isr = 2;
    EXPECT(&w, JOIN_BLOCKS, "t-0", "1 of 2 needed");
    w.f.broker = 9; /* another one, that has no replica */
    EXPECT_NOT(&w, "t-0", NULL);
    join_end(&w);
}
END_TEST

START_TEST(who_is_gone_does_not_carry_on)
{
    join_start(&w);
    join_topic(&w, "t", "1,2", "1,2");
    EXPECT_WELL(&w);
    why_find_broker(&w.f.zk, 2)->registered = WHY_NO;
    EXPECT(&w, JOIN_BLOCKS, "t-0", "0 of 1 needed");
    join_end(&w);
}
END_TEST

START_TEST(without_a_spare_replica_it_is_a_pause)
{
    join_start(&w);
    join_topic(&w, "single", "1", "1");
    join_topic(&w, "strict", "1,2", "1,2")->min_isr = 2;
    EXPECT(&w, JOIN_WARNING, "single-0", "lies on this broker only");
    EXPECT(&w, JOIN_WARNING, "strict-0", "1 of 2 needed are left");
    join_end(&w);
}
END_TEST

START_TEST(min_isr_is_the_topics_or_the_brokers)
{
    join_start(&w);
    join_topic(&w, "t", "1,2", "1,2");
    w.f.nodes.of_all = join_config(&w, "min.insync.replicas", "2");
    EXPECT(&w, JOIN_WARNING, "t-0", "1 of 2 needed are left");
    join_file(&w, "broker.id=1\nzookeeper.connect=z:2181/k\nmin.insync.replicas=2\n"
                  "listeners=PLAINTEXT://h1:9092\n");
    w.f.nodes.of_all = (struct node_config){0};
    EXPECT(&w, JOIN_WARNING, "t-0", "1 of 2 needed are left");
    w.f.nodes.of_one = join_config(&w, "min.insync.replicas", "1");
    EXPECT_WELL(&w);
    join_end(&w);
}
END_TEST

START_TEST(without_a_broker_all_are_looked_at)
{
    join_start(&w);
    w.f.broker = -1;
    struct why_topic *t = join_topic(&w, "t", "2,3", "");
    EXPECT(&w, JOIN_BLOCKS, "t-0", "no leader");
    t->v[0].leader = 9; /* which is not registered */
    EXPECT(&w, JOIN_BLOCKS, "t-0", "no leader");
    t->v[0].leader = 2;
    t->v[0].isr = join_ids(&w, "2");
    EXPECT(&w, JOIN_WARNING, "t-0", "1 of 2 replicas are in sync");
    t->min_isr = 2;
    EXPECT(&w, JOIN_BLOCKS, "t-0", "below min ISR now (1 of 2)");
    w.f.zk.brokers_count = 0; /* all are down, which is said once */
    EXPECT_NOT(&w, "t-0", NULL);
    join_end(&w);
}
END_TEST

START_TEST(a_broker_that_is_down_already_loses_nothing_more)
{
    join_start(&w);
    struct why_topic *t = join_topic(&w, "t", "1,2,3", "2");
    why_find_broker(&w.f.zk, 1)->registered = WHY_NO;
    EXPECT_WELL(&w);
    t->v[0].leader = -1;
    EXPECT(&w, JOIN_BLOCKS, "t-0", "has no leader");
    t->v[0].isr = join_ids(&w, "1");
    EXPECT(&w, JOIN_NOTE, "t-0", "waits for this broker");
    t->v[0].leader = 1; /* the controller has not noticed yet */
    EXPECT(&w, JOIN_NOTE, "t-0", "waits for this broker");
    EXPECT_WELL(&w);
    join_end(&w);
}
END_TEST

START_TEST(moves_are_let_end)
{
    join_start(&w);
    join_topic(&w, "t", "1,2,3", "1,2")->v[0].adding = join_ids(&w, "3");
    join_topic(&w, "u", "2,3", "2,3")->v[0].removing = join_ids(&w, "3");
    EXPECT(&w, JOIN_WARNING, "t-0", "being reassigned");
    EXPECT(&w, JOIN_NOTE, "u-0", "being reassigned");
    join_end(&w);
}
END_TEST

/* ---- what can-stop says ---- */

/* Both looks at brokers: as ZooKeeper has it, and everybody answers. */
static struct stop_facts looks(struct why_facts *first, struct why_facts *second)
{
    *first = w.f.zk;
    first->brokers_answer = WHY_YES;
    first->controller = 2;
    first->source = STR("Metadata");
    first->bootstrap = STR("b:9092");
    first->cluster_id = STR("here");
    first->knows_moves = true;
    for (int32_t i = 0; i < first->brokers_count; i++) {
        first->brokers[i].is_listed = true;
        first->brokers[i].answers = WHY_YES;
    }
    for (int32_t i = 0; i < first->topics_count; i++)
        first->topics[i].min_isr = MAX(first->topics[i].min_isr, 1);
    *second = *first;
    return (struct stop_facts){.first = first, .second = second, .broker = 1};
}

START_TEST(where_brokers_were_asked_can_stop_decides)
{
    struct why_facts first, second;

    join_start(&w);
    join_topic(&w, "behind", "1,2", "1");
    join_topic(&w, "single", "1", "1");
    join_topic(&w, "strict", "1,2", "1,2")->min_isr = 2;
    join_topic(&w, "well", "1,2,3", "1,2,3");
    struct stop_facts s = looks(&first, &second);
    w.f.stop = &s;
    EXPECT(&w, JOIN_BLOCKS, "behind-0", "would have no leader");
    EXPECT(&w, JOIN_WARNING, "single-0", "would have no leader");
    EXPECT(&w, JOIN_WARNING, "strict-0", "would be below min ISR");
    EXPECT_NOT(&w, "well-0", NULL);
    join_end(&w);
}
END_TEST

START_TEST(a_doubt_blocks)
{
    struct why_facts first, second;

    join_start(&w);
    join_topic(&w, "well", "1,2,3", "1,2,3");
    struct stop_facts s = looks(&first, &second);
    second.controller = 3;
    w.f.stop = &s;
    EXPECT(&w, JOIN_BLOCKS, "broker 1", "cannot be known: the controller has changed");
    first.brokers_answer = WHY_NO;
    first.silence = STR("nobody there");
    EXPECT(&w, JOIN_BLOCKS, "broker 1", "nobody there");
    EXPECT(&w, JOIN_WARNING, "b:9092", "no broker answers there: nobody there");
    join_end(&w);
}
END_TEST

START_TEST(brokers_of_another_cluster_block)
{
    struct why_facts first, second;

    join_start(&w);
    struct stop_facts s = looks(&first, &second);
    first.cluster_id = STR("there");
    w.f.broker = -1;
    w.f.stop = &s;
    EXPECT(&w, JOIN_BLOCKS, "b:9092", "belong to cluster there, ZooKeeper to here");
    join_end(&w);
}
END_TEST

START_TEST(of_a_broker_that_is_down_zookeeper_decides)
{
    struct why_facts first, second;

    join_start(&w);
    join_topic(&w, "single", "1", "1")->v[0].leader = -1;
    why_find_broker(&w.f.zk, 1)->registered = WHY_NO;
    struct stop_facts s = looks(&first, &second);
    why_find_broker(&first, 1)->is_listed = false;
    w.f.stop = &s;
    EXPECT(&w, JOIN_NOTE, "single-0", "waits for this broker");
    EXPECT_WELL(&w);
    join_end(&w);
}
END_TEST

START_TEST(a_broker_that_nobody_knows_is_a_warning)
{
    join_start(&w);
    join_topic(&w, "well", "1,2,3", "1,2,3");
    w.f.broker = 9;
    EXPECT(&w, JOIN_WARNING, "broker 9", "is not registered, and no partition lies on it");
    join_end(&w);
}
END_TEST

TEST_MAIN("tools/join/join_judge_replicas", others_have_to_be_in_sync,
          who_is_gone_does_not_carry_on, without_a_spare_replica_it_is_a_pause,
          min_isr_is_the_topics_or_the_brokers, without_a_broker_all_are_looked_at,
          a_broker_that_is_down_already_loses_nothing_more, moves_are_let_end,
          where_brokers_were_asked_can_stop_decides, a_doubt_blocks,
          brokers_of_another_cluster_block, of_a_broker_that_is_down_zookeeper_decides,
          a_broker_that_nobody_knows_is_a_warning)
