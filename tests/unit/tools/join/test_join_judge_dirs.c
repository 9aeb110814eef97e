#include "tests/support/join_world.h"

#include <errno.h>

static struct join_world w;

START_TEST(a_good_dir_is_well)
{
    join_start(&w);
    join_topic(&w, "t", "1,2,3", "1,2,3");
    struct join_dir *d = join_dir(&w);
    EXPECT_WELL(&w);
    EXPECT_NOT(&w, "/d", NULL);
    d->is_in_use = true;
    d->is_clean = false; /* of course, as it runs */
    d->used_by = 77;
    EXPECT(&w, JOIN_NOTE, "/d", "process 77");
    EXPECT_WELL(&w);
    join_end(&w);
}
END_TEST

START_TEST(a_dir_that_cannot_be_used_blocks)
{
    join_start(&w);
    struct join_dir *d = join_dir(&w);
    d->write_error = EACCES;
    EXPECT(&w, JOIN_BLOCKS, "/d", "cannot be written: Permission denied");
    d->read_error = EIO;
    EXPECT(&w, JOIN_BLOCKS, "/d", "cannot be read");
    d->is_there = false;
    EXPECT(&w, JOIN_WARNING, "/d", "is not there");
    join_end(&w);
}
END_TEST

START_TEST(a_dir_of_somebody_else_blocks)
{
    join_start(&w);
    struct join_dir *d = join_dir(&w);
    d->cluster_id = STR("there");
    EXPECT(&w, JOIN_BLOCKS, "/d", "belongs to cluster there, ZooKeeper to here");
    d->broker_id = 7;
    EXPECT(&w, JOIN_BLOCKS, "/d", "belongs to broker 7, not to 1");
    d->meta_wrong = STR("/d/meta.properties: version=1 was written in KRaft mode");
    EXPECT(&w, JOIN_BLOCKS, "/d", "KRaft mode");
    join_end(&w);
}
END_TEST

START_TEST(dirs_that_do_not_belong_together_block)
{
    struct join_dir two[2];

    join_start(&w);
    two[0] = two[1] = *join_dir(&w);
    two[1].path = STR("/e");
    two[1].broker_id = 2;
    w.f.dirs = two;
    w.f.dirs_count = 2;
    EXPECT(&w, JOIN_BLOCKS, "/e", "belongs to broker 2, and /d to broker 1");
    join_end(&w);
}
END_TEST

START_TEST(a_dir_without_an_identity)
{
    join_start(&w);
    join_topic(&w, "t", "1,2,3", "1,2,3");
    struct join_dir *d = join_dir(&w);
    d->has_meta = false;
    d->broker_id = -1;
    EXPECT(&w, JOIN_BLOCKS, "/d", "has logs and no meta.properties");
    d->logs_count = 0;
    EXPECT(&w, JOIN_NOTE, "/d", "it is new");
    join_end(&w);
}
END_TEST

START_TEST(a_stop_that_was_not_clean_and_a_full_disk_warn)
{
    join_start(&w);
    join_topic(&w, "t", "1,2,3", "1,2,3");
    struct join_dir *d = join_dir(&w);
    d->is_clean = false;
    d->space.usable = d->space.total / 50;
    EXPECT(&w, JOIN_WARNING, "/d", "not stopped cleanly");
    EXPECT(&w, JOIN_WARNING, "/d", "2 % of the disk");
    join_end(&w);
}
END_TEST

START_TEST(what_lies_in_it)
{
    struct why_bad_node bad[] = {{STR("/d/recovery-point-offset-checkpoint"), STR("line 3")},
                                 {STR("/d/t-0/0.log"), STR("no batch")}};

    join_start(&w);
    struct join_dir *d = join_dir(&w);
    d->bad = bad;
    d->bad_count = 2;
    why_texts_add(&w.arena, &d->kraft, STR("/d/__cluster_metadata-0"));
    why_texts_add(&w.arena, &d->tiered, STR("/d/remote-log-index-cache"));
    why_texts_add(&w.arena, &d->strays, STR("/d/x-0.1-stray"));
    why_texts_add(&w.arena, &d->strangers, STR("/d/stuff"));
    why_texts_add(&w.arena, &d->old_format, STR("/d/old-0"));
    EXPECT(&w, JOIN_WARNING, "recovery-point", "cannot be used: line 3");
    EXPECT(&w, JOIN_BLOCKS, "/d/t-0/0.log", "cannot be used: no batch");
    EXPECT(&w, JOIN_BLOCKS, "__cluster_metadata-0", "KRaft");
    EXPECT(&w, JOIN_WARNING, "remote-log-index-cache", "tiered");
    EXPECT(&w, JOIN_WARNING, "-stray", "migration");
    EXPECT(&w, JOIN_NOTE, "/d/stuff", "no partition's directory");
    EXPECT(&w, JOIN_NOTE, "/d/old-0", "before 0.11");
    join_end(&w);
}
END_TEST

START_TEST(few_open_files)
{
    join_start(&w);
    struct join_dir *d = join_dir(&w);
    w.f.open_files = 20000;
    d->segments = 100;
    EXPECT(&w, JOIN_NOTE, "ulimit -n", "20000 files");
    w.f.open_files = 1024;
    EXPECT(&w, JOIN_WARNING, "ulimit -n", "1024 files");
    join_end(&w);
}
END_TEST

/* ---- beside what ZooKeeper gives the broker ---- */

START_TEST(a_replica_in_sync_without_a_log_blocks)
{
    join_start(&w);
    join_topic(&w, "t", "1,2,3", "1,2,3");
    join_topic(&w, "u", "1,2,3", "2,3");
    struct join_dir *d = join_dir(&w);
    d->logs_count = 0;
    EXPECT(&w, JOIN_BLOCKS, "t-0", "none of the log dirs has it");
    EXPECT(&w, JOIN_NOTE, "u-0", "none of the log dirs has it");
    why_find_topic(&w.f.zk, STR("t"))->v[0].changed_ms = w.f.zk.now_ms - 1000;
    EXPECT(&w, JOIN_NOTE, "t-0", "it has just been made, or moved");
    why_find_broker(&w.f.zk, 1)->registered = WHY_NO;
    EXPECT(&w, JOIN_BLOCKS, "t-0", "none of the log dirs has it");
    why_find_broker(&w.f.zk, 1)->registered = WHY_YES;
    why_find_topic(&w.f.zk, STR("t"))->v[0].changed_ms = w.f.zk.now_ms - 3600000;
    EXPECT(&w, JOIN_BLOCKS, "t-0", "none of the log dirs has it");
    d->cluster_id = STR("there"); /* says nothing about this cluster then */
    EXPECT_NOT(&w, "t-0", "none of the log dirs");
    join_end(&w);
}
END_TEST

START_TEST(a_log_of_another_topic_of_that_name_blocks)
{
    join_start(&w);
    struct why_topic *t = join_topic(&w, "t", "1,2,3", "1,2,3");
    join_dir(&w)->logs[0].id = (struct uuid){{1}};
    EXPECT(&w, JOIN_BLOCKS, "/d/t-0", "an earlier topic of that name");
    t->id = (struct uuid){{0}};
    EXPECT_NOT(&w, "/d/t-0", NULL);
    join_end(&w);
}
END_TEST

START_TEST(logs_that_are_spare_or_twice)
{
    join_start(&w);
    join_topic(&w, "t", "1,2,3", "1,2,3");
    join_topic(&w, "u", "2,3", "2,3");
    struct join_dir *d = join_dir(&w);
    struct join_log v[] = {d->logs[0], d->logs[0], d->logs[0], d->logs[0]};
    v[1].dir = STR("/e/t-0");
    v[2].topic = STR("u");
    v[2].dir = STR("/d/u-0");
    v[3].dir = STR("/e/t-0.1-future");
    v[3].is_future = true;
    d->logs = v;
    d->logs_count = 4;
    EXPECT(&w, JOIN_WARNING, "t-0", "the same partition lies in");
    EXPECT(&w, JOIN_NOTE, "/d/u-0", "no such replica");
    EXPECT_NOT(&w, "-future", NULL);
    join_end(&w);
}
END_TEST

TEST_MAIN("tools/join/join_judge_dirs", a_good_dir_is_well, a_dir_that_cannot_be_used_blocks,
          a_dir_of_somebody_else_blocks, dirs_that_do_not_belong_together_block,
          a_dir_without_an_identity, a_stop_that_was_not_clean_and_a_full_disk_warn,
          what_lies_in_it, few_open_files, a_replica_in_sync_without_a_log_blocks,
          a_log_of_another_topic_of_that_name_blocks, logs_that_are_spare_or_twice)
