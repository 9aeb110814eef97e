#include "tests/support/join_world.h"

static struct join_world w;

static void give(const char *topic, const char *key, const char *value)
{
    struct node_config *c = arena_new(&w.arena, struct node_config);

    *c = join_config(&w, key, value);
    why_find_topic(&w.f.zk, str_of(topic))->config = c;
}

START_TEST(tiered_storage_blocks)
{
    join_start(&w);
    join_topic(&w, "a", "1,2,3", "1,2,3");
    join_topic(&w, "b", "1,2,3", "1,2,3");
    give("a", "remote.storage.enable", "false");
    give("b", "local.retention.ms", "1000");
    EXPECT(&w, JOIN_NOTE, "/config/topics/b", "local.retention.ms is set, and has no effect");
    EXPECT_WELL(&w);
    give("a", "remote.storage.enable", "true");
    give("b", "remote.storage.enable", "true");
    EXPECT(&w, JOIN_BLOCKS, "/config/topics/a", "tiered storage is on");
    ck_assert_uint_eq(join_find(&w, "/config/topics/b", "tiered")->places, 2);
    join_end(&w);
}
END_TEST

START_TEST(settings_that_cannot_be_used_are_a_warning)
{
    join_start(&w);
    join_topic(&w, "a", "1,2,3", "1,2,3");
    give("a", "retention.ms", "x");
    EXPECT(&w, JOIN_WARNING, "/config/topics/a", "cannot be used: Invalid value x");
    give("a", "no.such.key", "x");
    EXPECT(&w, JOIN_WARNING, "/config/topics/a", "no.such.key");
    give("a", "retention.ms", "1000");
    EXPECT_WELL(&w);
    join_end(&w);
}
END_TEST

START_TEST(transactions_block_unless_nobody_is_known_to_use_them)
{
    struct join_live live[] = {{.id = 1, .transactional_ids = -1},
                               {.id = 2, .transactional_ids = 3}};

    join_start(&w);
    join_topic(&w, "__transaction_state", "1,2,3", "1,2,3");
    EXPECT(&w, JOIN_BLOCKS, "__transaction_state", "whether they still are is not known");
    w.f.live = live;
    w.f.live_count = 2;
    EXPECT(&w, JOIN_BLOCKS, "__transaction_state", "3 transactional id(s)");
    live[1].transactional_ids = 0;
    EXPECT(&w, JOIN_BLOCKS, "__transaction_state", "whether they still are is not known");
    live[0].transactional_ids = 0;
    EXPECT(&w, JOIN_WARNING, "__transaction_state", "no transactional id is known");
    join_end(&w);
}
END_TEST

START_TEST(topics_without_an_id_or_partitions)
{
    join_start(&w);
    struct why_topic *t = join_topic(&w, "a", "1,2,3", "1,2,3");
    t->id = (struct uuid){{0}};
    EXPECT(&w, JOIN_NOTE, "/brokers/topics/a", "no topic id yet");
    t->count = 0;
    EXPECT(&w, JOIN_WARNING, "/brokers/topics/a", "no partitions");
    join_end(&w);
}
END_TEST

TEST_MAIN("tools/join/join_judge_topics", tiered_storage_blocks,
          settings_that_cannot_be_used_are_a_warning,
          transactions_block_unless_nobody_is_known_to_use_them, topics_without_an_id_or_partitions)
