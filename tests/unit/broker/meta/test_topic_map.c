#include "broker/meta/topic_map.h"

#include "common/base/mem.h"
#include "tests/support/test_main.h"

static struct topic_entry *entry(int n)
{
    struct topic_entry *e = xcalloc(1, sizeof *e + 32);
    char *name = (char *)(e + 1);

    e->refs = 1;
    e->topic.name = (struct str){name, (size_t)snprintf(name, 32, "topic-%d", n)};
    memcpy(e->topic.id.b, &n, sizeof n);
    return e;
}

static void set(struct topic_map *m, int n)
{
    struct topic_entry *e = entry(n);

    topic_map_set(m, e);
    topic_entry_unref(e);
}

static bool has(const struct topic_map *m, int n)
{
    struct topic_entry *key = entry(n);
    bool found = topic_map_find(m, &key->topic) != NULL;

    topic_entry_unref(key);
    return found;
}

static void drop(struct topic_map *m, int n)
{
    struct topic_entry *key = entry(n);

    topic_map_remove(m, &key->topic);
    topic_entry_unref(key);
}

START_TEST(holds_many_and_forgets_them)
{
    struct topic_map m = {.key = TOPIC_BY_NAME};

    for (int i = 0; i < 20000; i++)
        set(&m, i);
    ck_assert_int_eq(m.count, 20000);
    for (int i = 0; i < 20000; i++)
        ck_assert(has(&m, i));
    ck_assert(!has(&m, 20001));
    for (int i = 0; i < 20000; i += 2)
        drop(&m, i);
    ck_assert_int_eq(m.count, 10000);
    ck_assert(!has(&m, 0) && has(&m, 1) && has(&m, 19999));
    topic_map_deinit(&m);
}
END_TEST

START_TEST(shared_map_keeps_its_content)
{
    struct topic_map a = {.key = TOPIC_BY_ID};

    for (int i = 1; i < 500; i++)
        set(&a, i);
    struct topic_map b = topic_map_share(&a);
    for (int i = 1; i < 250; i++)
        drop(&b, i);
    set(&b, 9000);
    set(&b, 300);
    ck_assert_int_eq(a.count, 499);
    ck_assert_int_eq(b.count, 251);
    ck_assert(has(&a, 1) && !has(&a, 9000));
    ck_assert(!has(&b, 1) && has(&b, 9000) && has(&b, 300));
    topic_map_deinit(&a);
    ck_assert(has(&b, 499));
    topic_map_deinit(&b);
}
END_TEST

static bool count_to_three(const struct meta_topic *t UNUSED, void *ctx)
{
    return ++*(int *)ctx < 3;
}

START_TEST(walk_stops_when_told)
{
    struct topic_map m = {.key = TOPIC_BY_NAME};
    int n = 0;

    ck_assert(topic_map_each(&m, count_to_three, &n));
    for (int i = 0; i < 10; i++)
        set(&m, i);
    ck_assert(!topic_map_each(&m, count_to_three, &n));
    ck_assert_int_eq(n, 3);
    topic_map_deinit(&m);
}
END_TEST

TEST_MAIN("broker/meta/topic_map", holds_many_and_forgets_them, shared_map_keeps_its_content,
          walk_stops_when_told)
