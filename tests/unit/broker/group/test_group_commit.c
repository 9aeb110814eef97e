/*
 * Commits beside what takes them away again, on threads of their own: what memory says and what a
 * broker finds that reads the log are the same. (What one thread sees is in test_group_manager.c.)
 */
#include "broker/group/group_commit.h"

#include "common/base/thread.h"
#include "tests/support/group_node.h"

#include <sched.h>
#include <stdatomic.h>

enum { COMMITS = 1500 };

static struct group_node node;
static _Atomic int32_t current;
static _Atomic bool is_running, is_over;

/* Deletes what is being committed just now, over and over. */
static void delete_offsets(void *arg UNUSED)
{
    while (!atomic_load(&is_over)) {
        struct offset_deletion d = {.topic = STR("t"), .partition = atomic_load(&current)};

        (void)!group_cleanup_delete_offsets(node.m, STR("g"), &d, 1);
        atomic_store(&is_running, true);
        sched_yield();
    }
}

START_TEST(deleted_offsets_stay_deleted_for_whoever_loads_them)
{
    static int64_t before[COMMITS];
    struct thread deleter = {0};

    group_node_open(&node);
    group_node_elect(&node);
    ck_assert_int_eq(group_node_commit(&node, "g", COMMITS, 1), 0);
    ck_assert_int_eq(thread_start(&deleter, "deleter", delete_offsets, NULL), 0);
    while (!atomic_load(&is_running))
        sched_yield();
    for (int32_t i = 0; i < COMMITS; i++) {
        atomic_store(&current, i);
        ck_assert_int_eq(group_node_commit(&node, "g", i, 42), 0);
    }
    atomic_store(&is_over, true);
    thread_join(&deleter);
    for (int32_t i = 0; i < COMMITS; i++)
        before[i] = group_node_offset(&node, "g", i);
    group_node_move(&node);
    for (int32_t i = 0; i < COMMITS; i++)
        ck_assert_int_eq(group_node_offset(&node, "g", i), before[i]);
    group_node_close(&node);
}
END_TEST

TEST_MAIN("broker/group/group_commit", deleted_offsets_stay_deleted_for_whoever_loads_them)
