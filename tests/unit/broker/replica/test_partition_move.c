#include "broker/replica/partition_move.h"

#include "broker/replica/delayed_delete.h"
#include "broker/replica/dir_mover.h"
#include "broker/replica/partition_isr.h"
#include "broker/replica/replica_dirs.h"
#include "broker/replica/replica_internal.h"
#include "broker/replica/truncation.h"
#include "common/base/err.h"
#include "common/base/say.h"
#include "common/io/fs.h"
#include "tests/support/replica_node.h"
#include "tests/support/test_main.h"

#include <errno.h>
#include <unistd.h>

enum { LEADER = 1, OTHER = 2, RECORDS = 30 };

static struct node_world world;
static struct node node;
static const int32_t all[] = {1, 2};
static int produced;

static void ignore(struct node *n UNUSED, struct fake_call *fc)
{
    fake_call_reply(fc, NULL);
}

static int order(int32_t leader, int32_t epoch)
{
    struct node_state_of st = {.topic = "t",
                               .leader = leader,
                               .leader_epoch = epoch,
                               .partition_epoch = epoch,
                               .isr = leader == LEADER ? all : &all[1],
                               .isr_count = 1,
                               .replicas = all,
                               .replica_count = leader == LEADER ? 1 : 2};

    node_tell(&node, 1, all, 2, &st);
    return node_order(&node, 1, &st);
}

static void produce(int count)
{
    char value[16];

    for (int i = 0; i < count; i++) {
        snprintf(value, sizeof value, "v%d", produced++);
        struct node_produce *p = node_produce(&node, "t", 1, 1000, value);
        ck_assert_int_eq(p->error, 0);
        node_produce_free(p);
    }
}

static void open_node(void)
{
    node.serve_other = ignore;
    node_open(&node, &world, 1);
}

static void begin(void)
{
    node.dirs_failed = 0;
    produced = 0;
    world.log_dirs = NODE_DIRS_MAX;
    world.segment_bytes = 600;
    world_init(&world);
    ck_assert_int_eq(workq_new("test", 1, &world.workq), 0);
    open_node();
    ck_assert_int_eq(order(LEADER, 0), 0);
    produce(RECORDS);
}

static void end(void)
{
    node_close(&node);
    world.workq = workq_free(world.workq);
    world_deinit(&world);
}

static void settle(void)
{
    for (int i = 0; i < 20000 && workq_pending(world.workq); i++)
        usleep(100); /* another thread's work */
    world_run(&world, 0);
}

static struct partition *part(void)
{
    return node_partition(&node, "t", 0);
}

static int dir_of(struct log *log)
{
    for (int i = 0; i < NODE_DIRS_MAX; i++)
        if (strcmp(log_dir_path(log), node.dirs[i]) == 0)
            return i;
    return -1;
}

static int here(void)
{
    return dir_of(part()->log);
}

static int there(int n)
{
    return (here() + n) % NODE_DIRS_MAX;
}

static int ask(int dir)
{
    return replica_dirs_alter(node.m, STR("t"), 0, str_of(node.dirs[dir]));
}

/* How much a mover copies in one turn; no partition has been given to it. */
static void use_small_steps(uint32_t max_bytes)
{
    dir_mover_free(node.m->mover);
    node.m->mover = dir_mover_new(&(struct dir_mover_opts){
        .clock = &world.clock.clock, .max_bytes = max_bytes, .window = {11, 1000}});
}

static bool turn(void)
{
    return dir_mover_turn(node.m->mover, 0);
}

static void run(void)
{
    for (int i = 0; i < 1000 && turn(); i++)
        continue;
}

static int count_names(int dir, const char *what)
{
    CLEANUP(fs_names_deinit) struct fs_names names = {0};
    int n = 0;

    ck_assert_int_eq(fs_list_dir(node.dirs[dir], &names), 0);
    for (size_t i = 0; i < names.count; i++)
        n += strstr(names.v[i], what) != NULL;
    return n;
}

/* The log holds what was produced up to there, in order. */
static void check_values(int upto)
{
    CLEANUP(strbuf_deinit) struct strbuf found = {0}, wanted = {0};

    node_read_log(part()->log, log_end_offset(part()->log), &found);
    for (int i = (int)log_start_offset(part()->log); i < upto; i++)
        strbuf_addf(&wanted, "%d:v%d\n", i, i);
    ck_assert_str_eq(found.s ? found.s : "", wanted.s ? wanted.s : "");
}

START_TEST(a_leader_moves_while_it_is_written_to)
{
    begin();
    use_small_steps(200);
    int target = there(1);
    struct log *log = part()->log;
    ck_assert_int_eq(ask(target), 0);
    ck_assert_int_eq(ask(target), 0);
    ck_assert_int_eq(count_names(target, "-future"), 1);
    int steps = 0;
    for (; turn(); steps++)
        if (steps < 20)
            produce(1);
    ck_assert_int_gt(steps, 10);
    ck_assert_int_eq(here(), target);
    ck_assert_ptr_eq(part()->log, log);
    ck_assert_ptr_null(partition_move_dir(part()));
    check_values(produced);
    produce(5);
    check_values(produced);
    ck_assert_int_eq(log_latest_epoch(log), 0);
    node_crash(&node);
    open_node();
    ck_assert_int_eq(order(LEADER, 1), 0);
    ck_assert_int_eq(here(), target);
    check_values(produced);
    end();
}
END_TEST

/* After each number of steps, wherever they end. */
START_TEST(a_move_that_a_crash_cut_short_goes_on)
{
    say_set_level(SAY_ERROR + 1);
    for (int steps = 0; steps < 14; steps += 2) {
        test_begin();
        begin();
        use_small_steps(200);
        int target = there(1);
        ck_assert_int_eq(ask(target), 0);
        for (int i = 0; i < steps; i++) {
            turn();
            produce(i % 3);
        }
        bool was_moving = partition_move_dir(part()) != NULL;
        node_crash(&node);
        open_node();
        ck_assert_int_eq(order(LEADER, 1), 0);
        ck_assert_int_eq(partition_move_dir(part()) != NULL, was_moving);
        check_values(produced);
        produce(2);
        run();
        ck_assert_int_eq(here(), target);
        check_values(produced);
        for (int d = 0; d < NODE_DIRS_MAX; d++)
            ck_assert_int_eq(count_names(d, "-future"), 0);
        end();
    }
}
END_TEST

/* Records that the copy has and its log has lost, as a power failure leaves it. */
START_TEST(a_copy_that_has_more_than_its_log_is_cut_by_epochs)
{
    begin();
    use_small_steps(1200);
    int home = here(), target = there(1);
    ck_assert_int_eq(ask(target), 0);
    ck_assert(turn());
    ck_assert(turn());
    int64_t copied = log_end_offset(part()->move.future);
    ck_assert_int_gt(copied, 8);
    node_crash(&node);
    /* The last segments of the log are lost. */
    for (int64_t base = 4; base < RECORDS; base++) {
        CLEANUP(free_p)
        char *path = xasprintf("%s/t-0/%020" PRId64 ".log", node.dirs[home], base);
        ck_assert_int_eq(fs_remove_tree(path), 0);
    }
    open_node();
    ck_assert_int_eq(order(LEADER, 1), 0);
    int64_t left = log_end_offset(part()->log);
    ck_assert_int_lt(left, copied);
    produced = (int)left;
    produce(1);
    run();
    ck_assert_int_eq(here(), target);
    ck_assert_int_eq(log_end_offset(part()->log), left + 1);
    check_values(produced);
    ck_assert_int_eq(log_epoch_at(part()->log, left), 1);
    end();
}
END_TEST

START_TEST(a_follower_that_is_cut_takes_its_copy_along)
{
    begin();
    use_small_steps(1200);
    int target = there(2);
    ck_assert_int_eq(ask(target), 0);
    ck_assert(turn());
    ck_assert_int_ge(log_end_offset(part()->move.future), 8);
    ck_assert_int_eq(order(OTHER, 1), 0);
    ck_assert_int_eq(
        partition_truncate(part(), &(struct truncate_order){.leader_epoch = 1, .offset = 7}), 0);
    ck_assert_int_eq(log_end_offset(part()->log), 7);
    /* Until the mover looks the two differ, and do not change places. */
    ck_assert_int_ne(here(), target);
    run();
    ck_assert_int_eq(here(), target);
    ck_assert_int_eq(log_end_offset(part()->log), 7);
    check_values(7);
    end();
}
END_TEST

START_TEST(a_follower_that_starts_again_takes_its_copy_along)
{
    begin();
    int target = there(1);
    ck_assert_int_eq(ask(target), 0);
    ck_assert_int_eq(order(OTHER, 1), 0);
    ck_assert_int_eq(partition_truncate(part(), &(struct truncate_order){1, 100, true}), 0);
    run();
    ck_assert_int_eq(here(), target);
    ck_assert_int_eq(log_start_offset(part()->log), 100);
    ck_assert_int_eq(log_end_offset(part()->log), 100);
    end();
}
END_TEST

START_TEST(asking_for_its_own_dir_gives_the_move_up)
{
    begin();
    int home = here(), target = there(1);
    ck_assert_int_eq(ask(home), 0);
    ck_assert_ptr_null(partition_move_dir(part()));
    ck_assert_int_eq(ask(target), 0);
    ck_assert_int_eq(ask(home), 0);
    ck_assert_ptr_null(partition_move_dir(part()));
    ck_assert_int_eq(count_names(target, "-future"), 0);
    ck_assert_int_eq(count_names(target, "-delete"), 1);
    run();
    ck_assert_int_eq(here(), home);
    /* And it may move again. */
    ck_assert_int_eq(ask(target), 0);
    run();
    ck_assert_int_eq(here(), target);
    check_values(produced);
    end();
}
END_TEST

START_TEST(another_dir_takes_the_place_of_the_first)
{
    begin();
    int first = there(1), second = there(2);
    ck_assert_int_eq(ask(first), 0);
    ck_assert_int_eq(ask(second), 0);
    ck_assert_str_eq(partition_move_dir(part()), node.dirs[second]);
    ck_assert_int_eq(count_names(first, "-future"), 0);
    run();
    ck_assert_int_eq(here(), second);
    check_values(produced);
    end();
}
END_TEST

START_TEST(errors_come_in_order)
{
    char name[250];

    begin();
    memset(name, 'a', sizeof name);
    struct str longest = {name, 213}; /* with -0.<32 digits>-future it is 255 */
    struct str longer = {name, 214}, dir = str_of(node.dirs[0]);
    ck_assert_int_eq(replica_dirs_alter(node.m, longer, 0, STR("nowhere")),
                     INVALID_TOPIC_EXCEPTION);
    ck_assert_int_eq(replica_dirs_alter(node.m, longest, 0, STR("nowhere")), LOG_DIR_NOT_FOUND);
    ck_assert_int_eq(replica_dirs_alter(node.m, STR("t"), 0, STR("")), LOG_DIR_NOT_FOUND);
    ck_assert_int_eq(replica_dirs_alter(node.m, longest, 0, dir), UNKNOWN_TOPIC_OR_PARTITION);
    ck_assert_int_eq(replica_dirs_alter(node.m, STR("t"), 1, dir), UNKNOWN_TOPIC_OR_PARTITION);
    int bad = there(1);
    log_manager_dir_failed(node.logs, node.dirs[bad], -EIO, "a test");
    settle();
    ck_assert_int_eq(ask(bad), KAFKA_STORAGE_ERROR);
    ck_assert_int_eq(replica_dirs_alter(node.m, STR("t"), 1, str_of(node.dirs[bad])),
                     KAFKA_STORAGE_ERROR);
    ck_assert_int_eq(ask(here()), 0);
    ck_assert_int_eq(ask(there(2)), KAFKA_STORAGE_ERROR); /* one there may have been */
    end();
}
END_TEST

START_TEST(a_replica_to_come_is_made_in_the_dir_that_was_asked_for)
{
    struct node_state_of st = {.topic = "u",
                               .leader = 2,
                               .leader_epoch = 0,
                               .isr = &all[1],
                               .isr_count = 1,
                               .replicas = all,
                               .replica_count = 2,
                               .is_new = true};

    begin();
    struct str dir = str_of(node.dirs[there(2)]);
    node_tell(&node, 1, all, 2, &st);
    ck_assert_int_eq(replica_dirs_alter(node.m, STR("u"), 0, str_of(node.dirs[there(1)])),
                     REPLICA_NOT_AVAILABLE);
    ck_assert_int_eq(replica_dirs_alter(node.m, STR("u"), 0, dir), REPLICA_NOT_AVAILABLE);
    ck_assert_int_eq(node_order(&node, 1, &st), 0);
    ck_assert(str_eqz(dir, log_dir_path(node_partition(&node, "u", 0)->log)));
    end();
}
END_TEST

START_TEST(a_partition_that_is_deleted_takes_its_copy_along)
{
    begin();
    int home = here(), target = there(1);
    ck_assert_int_eq(ask(target), 0);
    ck_assert_int_eq(node_stop_replica(&node, "t", 0, 0, true), 0);
    ck_assert_int_eq(count_names(target, "-future"), 0);
    ck_assert_int_eq(count_names(target, "-delete"), 1);
    ck_assert_int_eq(count_names(home, "-delete"), 1);
    ck_assert(!turn());
    ck_assert_int_eq(count_names(target, "t-0") + count_names(home, "t-0"), 2);
    end();
}
END_TEST

START_TEST(a_target_that_fails_ends_the_move_and_no_more)
{
    begin();
    int home = here(), target = there(1);
    ck_assert_int_eq(ask(target), 0);
    log_manager_dir_failed(node.logs, node.dirs[target], -EIO, "a test");
    run();
    settle();
    ck_assert_ptr_null(partition_move_dir(part()));
    ck_assert_int_eq(here(), home);
    produce(3);
    check_values(produced);
    end();
}
END_TEST

START_TEST(a_target_that_cannot_be_written_ends_the_move_and_no_more)
{
    begin();
    int home = here(), target = there(1);
    ck_assert_int_eq(ask(target), 0);
    fault_arm("fs.pwrite", (struct fault){FAULT_ERRNO, ENOSPC}, 1, false);
    run();
    fault_disarm_all();
    settle();
    ck_assert_int_eq(node.dirs_failed, 1);
    ck_assert(log_manager_dir_is_offline(node.logs, target));
    ck_assert_int_eq(here(), home);
    produce(3);
    check_values(produced);
    end();
}
END_TEST

START_TEST(a_source_that_fails_takes_the_partition_offline)
{
    begin();
    int target = there(1);
    ck_assert_int_eq(ask(target), 0);
    log_manager_dir_failed(node.logs, node.dirs[here()], -EIO, "a test");
    run();
    settle();
    ck_assert_int_eq(part()->role, ROLE_OFFLINE);
    ck_assert_int_eq(count_names(target, "-future"), 1);
    ck_assert_int_eq(ask(target), KAFKA_STORAGE_ERROR);
    end();
}
END_TEST

START_TEST(the_quota_holds_it_back)
{
    begin();
    int target = there(1);
    use_small_steps(200);
    replica_manager_set_move_rate(node.m, 100);
    ck_assert_int_eq(ask(target), 0);
    int64_t begun = clock_mono_ms(&world.clock.clock);
    int64_t bytes = log_size(part()->log);
    while (partition_move_dir(part()) && clock_mono_ms(&world.clock.clock) < begun + 100000)
        if (!turn())
            world_run(&world, 100);
    int64_t took = clock_mono_ms(&world.clock.clock) - begun;
    ck_assert_int_eq(here(), target);
    ck_assert_int_ge(took, (bytes - 1000) * 1000 / 100);
    ck_assert_int_le(took, (bytes + 1000) * 1000 / 100);
    check_values(produced);
    end();
}
END_TEST

struct deletion {
    struct delete_records work;
    struct delete_records_part part;
    bool is_done;
};

static void on_deleted(struct delete_records *d)
{
    container_of(d, struct deletion, work)->is_done = true;
}

START_TEST(deleted_records_are_gone_from_the_copy_too_before_it_is_said)
{
    struct deletion d = {.part = {.topic = STR("t"), .offset = 10}};

    begin();
    use_small_steps(200);
    ck_assert_int_eq(ask(there(1)), 0);
    d.work = (struct delete_records){.parts = &d.part,
                                     .count = 1,
                                     .timeout_ms = 5000,
                                     .reactor = world.reactor,
                                     .done = on_deleted};
    delete_records_start(node.m, &d.work);
    ck_assert_int_eq(partition_low_watermark(part()), 0);
    world_run(&world, 0);
    ck_assert(!d.is_done);
    run();
    world_run(&world, 0);
    ck_assert(d.is_done);
    ck_assert_int_eq(d.part.error, 0);
    ck_assert_int_eq(d.part.low_watermark, 10);
    check_values(produced);
    end();
}
END_TEST

START_TEST(records_that_are_damaged_stop_the_move_and_no_more)
{
    begin();
    int home = here();
    CLEANUP(free_p) char *path = xasprintf("%s/t-0/00000000000000000000.log", node.dirs[home]);
    CLEANUP(file_unref_p) struct file *f = NULL;
    uint8_t good[3];
    ck_assert_int_eq(file_open(path, FILE_WRITE, &f), 0);
    ck_assert_int_eq(file_pread(f, good, sizeof good, 70), 0);
    ck_assert_int_eq(file_pwrite(f, slice_of("\xff\xff\xff", 3), 70), 0);
    ck_assert_int_eq(ask(there(1)), 0);
    run();
    ck_assert_int_eq(here(), home);
    ck_assert(!partition_wants_mover(part()));
    ck_assert_int_eq(node.dirs_failed, 0);
    produce(1);
    /* Asked for again after a repair, it goes on. */
    ck_assert_int_eq(file_pwrite(f, slice_of(good, sizeof good), 70), 0);
    ck_assert_int_eq(ask(there(1)), 0);
    run();
    ck_assert_int_eq(here(), (home + 1) % NODE_DIRS_MAX);
    check_values(produced);
    end();
}
END_TEST

START_TEST(a_replica_that_is_stopped_moves_on_when_it_is_told_its_role)
{
    begin();
    int home = here(), target = there(1);
    use_small_steps(200);
    ck_assert_int_eq(ask(target), 0);
    ck_assert(turn());
    ck_assert_int_eq(node_stop_replica(&node, "t", 0, 0, false), 0);
    run();
    ck_assert_int_eq(here(), home);
    ck_assert_str_eq(partition_move_dir(part()), node.dirs[target]);
    ck_assert_int_eq(order(LEADER, 1), 0);
    run();
    ck_assert_int_eq(here(), target);
    check_values(produced);
    end();
}
END_TEST

START_TEST(a_copy_beside_its_own_log_goes)
{
    begin();
    int home = here();
    CLEANUP(free_p)
    char *path = xasprintf("%s/t-0.0123456789abcdef0123456789abcdef-future", node.dirs[home]);
    node_close(&node);
    ck_assert_int_eq(fs_mkdir(path), 0);
    open_node();
    ck_assert_int_eq(order(LEADER, 1), 0);
    ck_assert_ptr_null(partition_move_dir(part()));
    ck_assert_int_eq(count_names(home, "-future"), 0);
    check_values(produced);
    end();
}
END_TEST

TEST_MAIN("broker/replica/partition_move", a_leader_moves_while_it_is_written_to,
          a_move_that_a_crash_cut_short_goes_on, a_copy_that_has_more_than_its_log_is_cut_by_epochs,
          a_follower_that_is_cut_takes_its_copy_along,
          a_follower_that_starts_again_takes_its_copy_along,
          asking_for_its_own_dir_gives_the_move_up, another_dir_takes_the_place_of_the_first,
          errors_come_in_order, a_replica_to_come_is_made_in_the_dir_that_was_asked_for,
          a_partition_that_is_deleted_takes_its_copy_along,
          a_target_that_fails_ends_the_move_and_no_more,
          a_target_that_cannot_be_written_ends_the_move_and_no_more,
          a_source_that_fails_takes_the_partition_offline, the_quota_holds_it_back,
          deleted_records_are_gone_from_the_copy_too_before_it_is_said,
          records_that_are_damaged_stop_the_move_and_no_more,
          a_replica_that_is_stopped_moves_on_when_it_is_told_its_role,
          a_copy_beside_its_own_log_goes)
