/*
 * test_commits.c - each rule by itself, and long random histories against a model that is a plain
 * array
 */
#include "broker/group/commits.h"

#include "tests/support/random_msg.h"
#include "tests/support/test_main.h"

#include <malloc.h>

#define T STR("t")

static struct committed commit(int64_t offset, int64_t log_offset)
{
    return (struct committed){
        .offset = offset,
        .leader_epoch = 7,
        .metadata = STR(""),
        .commit_ms = 1000 + offset,
        .expire_ms = -1,
        .log_offset = log_offset,
    };
}

static int64_t offset_of(const struct commits *o, int32_t partition)
{
    const struct committed *c = commits_find(o, T, partition);

    return c ? c->offset : -1;
}

static void settle(struct commits *o, int32_t partition, int64_t offset, int64_t log_offset)
{
    struct committed c = commit(offset, log_offset);

    commits_settle(o, T, partition, &c);
}

START_TEST(commit_shows_once_it_is_acknowledged)
{
    struct commits o;

    commits_init(&o);
    ck_assert(commits_is_empty(&o));
    commits_begin(&o, T, 3);
    ck_assert_ptr_null(commits_find(&o, T, 3));
    ck_assert(!commits_is_empty(&o));
    ck_assert_int_eq(o.pending, 1);
    settle(&o, 3, 42, 5);
    const struct committed *c = commits_find(&o, T, 3);
    ck_assert_int_eq(c->offset, 42);
    ck_assert_int_eq(c->leader_epoch, 7);
    ck_assert_int_eq(c->commit_ms, 1042);
    ck_assert_int_eq(c->expire_ms, -1);
    ck_assert_int_eq(c->log_offset, 5);
    ck_assert(c->metadata.p && c->metadata.len == 0);
    ck_assert_int_eq(o.pending, 0);
    ck_assert_int_eq(o.committed, 1);
    ck_assert_ptr_null(commits_find(&o, T, 2));
    ck_assert_ptr_null(commits_find(&o, STR("u"), 3));
    commits_deinit(&o);
    ck_assert(commits_is_empty(&o));
}
END_TEST

START_TEST(failed_append_leaves_what_was_there)
{
    struct commits o;

    commits_init(&o);
    commits_begin(&o, T, 0);
    commits_settle(&o, T, 0, NULL);
    ck_assert(commits_is_empty(&o));
    commits_begin(&o, T, 0);
    settle(&o, 0, 10, 1);
    commits_begin(&o, T, 0);
    commits_settle(&o, T, 0, NULL);
    ck_assert_int_eq(offset_of(&o, 0), 10);
    commits_deinit(&o);
}
END_TEST

START_TEST(later_record_wins_whichever_is_acknowledged_first)
{
    struct commits o;

    commits_init(&o);
    commits_begin(&o, T, 0);
    commits_begin(&o, T, 0);
    settle(&o, 0, 20, 2);
    ck_assert_int_eq(o.pending, 1);
    settle(&o, 0, 10, 1);
    ck_assert_int_eq(offset_of(&o, 0), 20);
    ck_assert_int_eq(o.committed, 1);
    /* A lower offset is a commit like any other. */
    commits_begin(&o, T, 0);
    settle(&o, 0, 5, 3);
    ck_assert_int_eq(offset_of(&o, 0), 5);
    commits_deinit(&o);
}
END_TEST

START_TEST(removal_overtakes_appends_under_way)
{
    struct commits o;

    commits_init(&o);
    commits_begin(&o, T, 0);
    settle(&o, 0, 10, 1);
    commits_begin(&o, T, 0);
    commits_begin(&o, T, 0);
    ck_assert(commits_remove(&o, T, 0));
    ck_assert_ptr_null(commits_find(&o, T, 0));
    ck_assert_int_eq(o.committed, 0);
    settle(&o, 0, 20, 2);
    ck_assert_ptr_null(commits_find(&o, T, 0));
    ck_assert(!commits_is_empty(&o));
    settle(&o, 0, 30, 3);
    ck_assert_ptr_null(commits_find(&o, T, 0));
    ck_assert(commits_is_empty(&o));
    ck_assert(!commits_remove(&o, T, 0));
    commits_deinit(&o);
}
END_TEST

START_TEST(commit_after_a_removal_is_never_lost)
{
    struct commits o;

    for (int late_first = 0; late_first < 2; late_first++) {
        commits_init(&o);
        commits_begin(&o, T, 0);
        ck_assert(commits_remove(&o, T, 0));  /* its record needs a tombstone above it, */
        ck_assert(!commits_remove(&o, T, 0)); /* but one is enough */
        commits_begin(&o, T, 0);
        settle(&o, 0, late_first ? 20 : 10, late_first ? 2 : 1);
        settle(&o, 0, late_first ? 10 : 20, late_first ? 1 : 2);
        ck_assert_int_eq(offset_of(&o, 0), 20);
        commits_deinit(&o);
    }
}
END_TEST

START_TEST(drop_leaves_what_is_pending)
{
    struct commits o;
    struct committed c = commit(30, 3);

    commits_init(&o);
    ck_assert(!commits_drop(&o, T, 0));
    commits_begin(&o, T, 0);
    ck_assert(!commits_drop(&o, T, 0));
    settle(&o, 0, 10, 1);
    commits_txn_put(&o, 4000, T, 0, &c);
    ck_assert(commits_drop(&o, T, 0));
    ck_assert_ptr_null(commits_find(&o, T, 0));
    ck_assert(commits_is_unstable(&o, T, 0));
    commits_txn_end(&o, 4000, true);
    ck_assert_int_eq(offset_of(&o, 0), 30);
    commits_deinit(&o);
}
END_TEST

START_TEST(transaction_waits_for_its_marker)
{
    struct commits o;
    struct committed first = commit(10, 1), second = commit(20, 2), other = commit(99, 3);

    commits_init(&o);
    commits_txn_put(&o, 4000, T, 0, &first);
    commits_txn_put(&o, 4000, T, 0, &second);
    commits_txn_put(&o, 4001, T, 1, &other);
    ck_assert(!commits_is_empty(&o));
    ck_assert_ptr_null(commits_find(&o, T, 0));
    ck_assert(commits_is_unstable(&o, T, 0) && commits_is_unstable(&o, T, 1));
    ck_assert(!commits_is_unstable(&o, T, 2) && !commits_is_unstable(&o, STR("u"), 0));
    commits_txn_end(&o, 4000, true);
    ck_assert_int_eq(offset_of(&o, 0), 20);
    ck_assert(!commits_is_unstable(&o, T, 0));
    commits_txn_end(&o, 4001, false);
    ck_assert_ptr_null(commits_find(&o, T, 1));
    commits_txn_end(&o, 4001, true);
    commits_txn_end(&o, 5, true);
    ck_assert_int_eq(o.committed, 1);
    commits_deinit(&o);
}
END_TEST

START_TEST(marker_does_not_bring_back_what_a_later_record_replaced)
{
    struct commits o;
    struct committed c = commit(10, 5), later = commit(77, 6), earlier = commit(66, 4);

    commits_init(&o);
    commits_txn_put(&o, 4000, T, 0, &c);
    commits_txn_put(&o, 4000, T, 1, &c);
    commits_put(&o, T, 0, &later);
    commits_put(&o, T, 1, &earlier);
    commits_txn_end(&o, 4000, true);
    ck_assert_int_eq(offset_of(&o, 0), 77);
    ck_assert_int_eq(offset_of(&o, 1), 10);
    commits_deinit(&o);
}
END_TEST

START_TEST(removal_takes_transactional_offsets_too)
{
    struct commits o;
    struct committed c = commit(10, 5);

    commits_init(&o);
    commits_txn_put(&o, 4000, T, 0, &c);
    commits_txn_put(&o, 4001, T, 0, &c);
    commits_txn_put(&o, 4001, T, 1, &c);
    ck_assert(!commits_remove(&o, T, 0));
    ck_assert(!commits_is_unstable(&o, T, 0));
    commits_txn_end(&o, 4000, true);
    commits_txn_end(&o, 4001, true);
    ck_assert_ptr_null(commits_find(&o, T, 0));
    ck_assert_int_eq(offset_of(&o, 1), 10);
    commits_deinit(&o);
}
END_TEST

START_TEST(log_replaces_whatever_came_before)
{
    struct commits o;
    struct committed high = commit(10, 9), low = commit(20, 3);

    commits_init(&o);
    commits_put(&o, T, 0, &high);
    commits_put(&o, T, 0, &low);
    ck_assert_int_eq(offset_of(&o, 0), 20);
    ck_assert_int_eq(o.committed, 1);
    commits_deinit(&o);
}
END_TEST

START_TEST(metadata_is_the_tables_own)
{
    struct commits o;
    char text[] = "a\0b";
    struct committed c = commit(1, 1);

    commits_init(&o);
    c.metadata = (struct str){text, 3};
    commits_put(&o, T, 0, &c);
    text[0] = 'z';
    ck_assert(str_eq(commits_find(&o, T, 0)->metadata, (struct str){"a\0b", 3}));
    commits_put(&o, T, 0, &c);
    ck_assert(str_eq(commits_find(&o, T, 0)->metadata, (struct str){"z\0b", 3}));
    struct committed again = *commits_find(&o, T, 0);
    commits_put(&o, T, 0, &again);
    ck_assert(str_eq(commits_find(&o, T, 0)->metadata, (struct str){"z\0b", 3}));
    c.metadata = STR("");
    commits_put(&o, T, 0, &c);
    ck_assert(str_eq(commits_find(&o, T, 0)->metadata, STR("")));
    commits_deinit(&o);
}
END_TEST

struct walk {
    int32_t partitions[8];
    int count, stop_after;
    bool saw_pending;
};

static bool on_each(void *ctx, struct str topic, int32_t partition, const struct committed *c,
                    bool is_pending)
{
    struct walk *w = ctx;

    ck_assert(str_eq(topic, T));
    ck_assert(c ? c->offset == partition : is_pending);
    w->partitions[w->count++] = partition;
    w->saw_pending |= is_pending;
    return w->count != w->stop_after;
}

START_TEST(walk_is_in_order_and_can_be_stopped)
{
    struct commits o;
    struct walk w = {0}, stopped = {.stop_after = 2};

    commits_init(&o);
    for (int32_t p = 4; p >= 0; p--) {
        struct committed c = commit(p, 1);
        commits_put(&o, T, p, &c);
    }
    commits_remove(&o, T, 2);
    commits_each(&o, on_each, &w);
    ck_assert_int_eq(w.count, 4);
    ck_assert_int_eq(w.partitions[0], 0);
    ck_assert_int_eq(w.partitions[1], 1);
    ck_assert_int_eq(w.partitions[2], 3);
    ck_assert_int_eq(w.partitions[3], 4);
    ck_assert(!w.saw_pending);
    commits_begin(&o, T, 1);
    commits_each(&o, on_each, &stopped);
    ck_assert_int_eq(stopped.count, 2);
    ck_assert(stopped.saw_pending);
    commits_begin(&o, T, 2); /* has no commit yet */
    w = (struct walk){0};
    commits_each(&o, on_each, &w);
    ck_assert_int_eq(w.count, 5);
    ck_assert_int_eq(w.partitions[2], 2);
    commits_deinit(&o);
}
END_TEST

/* Sanitizers have their own malloc, which tells nothing here; the plain build does. */
START_TEST(a_commit_costs_less_than_a_hundred_bytes)
{
    enum { GROUPS = 100, TOPICS = 10, PARTITIONS = 100 };
    static struct commits groups[GROUPS];
    size_t before = mallinfo2().uordblks;

    for (int g = 0; g < GROUPS; g++) {
        commits_init(&groups[g]);
        for (int t = 0; t < TOPICS; t++) {
            char name[32];
            int n = snprintf(name, sizeof name, "a-topic-with-a-name-%d", t);
            for (int32_t p = 0; p < PARTITIONS; p++) {
                struct committed c = commit(p, p);
                commits_put(&groups[g], (struct str){name, (size_t)n}, p, &c);
            }
        }
    }
    size_t cost = (mallinfo2().uordblks - before) / (GROUPS * TOPICS * PARTITIONS);
    ck_assert_uint_lt(cost, 90);
    for (int g = 0; g < GROUPS; g++)
        commits_deinit(&groups[g]);
}
END_TEST

/* ---- the model ---- */

enum { TOPICS = 3, PARTITIONS = 6, TXNS = 3, APPENDS = 12, STEPS = 40000 };

static const char *const texts[] = {"", "", "x", "some text that is longer"};

struct cell {
    bool has;
    struct committed c;
    int pending;
    bool is_removed;
};

struct append {
    int t, p;
    struct committed c;
};

struct model {
    struct commits o;
    struct random_source random;
    struct cell cells[TOPICS][PARTITIONS];
    struct cell txns[TXNS][TOPICS][PARTITIONS];
    struct append appends[APPENDS];
    int append_count;
    int64_t log_end;
};

static struct str topic(int t)
{
    static const char *const names[TOPICS] = {"a", "", "long-name.of_a-topic"};

    return str_of(names[t]);
}

static struct committed random_commit(struct model *m)
{
    return (struct committed){
        .offset = (int64_t)random_to(&m->random, 1000),
        .leader_epoch = (int32_t)random_to(&m->random, 5) - 1,
        .metadata = str_of(texts[random_to(&m->random, ARRAY_LEN(texts))]),
        .commit_ms = m->log_end * 10,
        .expire_ms = random_to(&m->random, 2) ? -1 : m->log_end,
        .log_offset = m->log_end++,
    };
}

static void set_cell(struct cell *cell, const struct committed *c)
{
    cell->has = true;
    cell->c = *c;
}

static void step_begin(struct model *m, int t, int p)
{
    struct append *a = &m->appends[m->append_count];

    if (m->append_count == APPENDS)
        return;
    m->append_count++;
    *a = (struct append){t, p, random_commit(m)};
    m->cells[t][p].pending++;
    m->cells[t][p].is_removed = false;
    commits_begin(&m->o, topic(t), p);
}

static void step_settle(struct model *m)
{
    if (m->append_count == 0)
        return;
    struct append *at = &m->appends[random_to(&m->random, (uint32_t)m->append_count)], a = *at;
    struct cell *cell = &m->cells[a.t][a.p];
    bool failed = random_to(&m->random, 4) == 0;

    *at = m->appends[--m->append_count];
    commits_settle(&m->o, topic(a.t), a.p, failed ? NULL : &a.c);
    cell->pending--;
    if (!failed && !cell->is_removed && (!cell->has || cell->c.log_offset < a.c.log_offset))
        set_cell(cell, &a.c);
}

static void step_txn_end(struct model *m)
{
    uint32_t x = random_to(&m->random, TXNS);
    bool is_commit = random_to(&m->random, 2);

    commits_txn_end(&m->o, x, is_commit);
    for (int t = 0; t < TOPICS; t++)
        for (int p = 0; p < PARTITIONS; p++) {
            struct cell *from = &m->txns[x][t][p], *to = &m->cells[t][p];
            if (is_commit && from->has && (!to->has || to->c.log_offset < from->c.log_offset))
                set_cell(to, &from->c);
            from->has = false;
        }
}

static void step_remove(struct model *m, int t, int p, bool all)
{
    struct cell *cell = &m->cells[t][p];
    bool had = all ? commits_remove(&m->o, topic(t), p) : commits_drop(&m->o, topic(t), p);

    ck_assert_int_eq(had, cell->has || (all && cell->pending > 0 && !cell->is_removed));
    cell->has = false;
    if (!all)
        return;
    cell->is_removed = true;
    for (int x = 0; x < TXNS; x++)
        m->txns[x][t][p].has = false;
}

static void step(struct model *m)
{
    int t = (int)random_to(&m->random, TOPICS), p = (int)random_to(&m->random, PARTITIONS);
    uint32_t x = random_to(&m->random, TXNS);
    struct committed c = random_commit(m);

    switch (random_to(&m->random, 10)) {
    case 0 ... 2:
        step_begin(m, t, p);
        break;
    case 3 ... 5:
        step_settle(m);
        break;
    case 6:
        commits_put(&m->o, topic(t), p, &c);
        set_cell(&m->cells[t][p], &c);
        break;
    case 7:
        commits_txn_put(&m->o, x, topic(t), p, &c);
        set_cell(&m->txns[x][t][p], &c);
        break;
    case 8:
        step_txn_end(m);
        break;
    default:
        step_remove(m, t, p, random_to(&m->random, 2));
    }
}

static bool same(const struct committed *a, const struct committed *b)
{
    return a->offset == b->offset && a->leader_epoch == b->leader_epoch &&
           str_eq(a->metadata, b->metadata) && a->commit_ms == b->commit_ms &&
           a->expire_ms == b->expire_ms && a->log_offset == b->log_offset;
}

static bool compare_each(void *ctx, struct str name, int32_t partition, const struct committed *c,
                         bool is_pending)
{
    struct model *m = ctx;
    int t = 0;

    while (!str_eq(topic(t), name))
        t++;
    ck_assert_int_eq(m->cells[t][partition].has, c != NULL);
    ck_assert(c ? same(&m->cells[t][partition].c, c) : is_pending);
    ck_assert_int_eq(is_pending, m->cells[t][partition].pending > 0);
    m->log_end += c != NULL; /* counts: taken back by the caller */
    return true;
}

static void compare(struct model *m)
{
    int64_t committed = 0, log_end = m->log_end;
    bool in_txn = false;

    for (int t = 0; t < TOPICS; t++)
        for (int p = 0; p < PARTITIONS; p++) {
            const struct committed *c = commits_find(&m->o, topic(t), p);
            bool unstable = false;

            ck_assert_int_eq(c != NULL, m->cells[t][p].has);
            ck_assert(!c || same(c, &m->cells[t][p].c));
            committed += c != NULL;
            for (int x = 0; x < TXNS; x++)
                unstable |= m->txns[x][t][p].has;
            ck_assert_int_eq(commits_is_unstable(&m->o, topic(t), p), unstable);
            in_txn |= unstable;
        }
    ck_assert_int_eq(m->o.committed, committed);
    ck_assert_int_eq(m->o.pending, m->append_count);
    ck_assert_int_eq(commits_is_empty(&m->o), !committed && !m->append_count && !in_txn);
    commits_each(&m->o, compare_each, m);
    ck_assert_int_eq(m->log_end - log_end, committed);
    m->log_end = log_end;
}

START_TEST(random_histories_agree_with_the_model)
{
    static struct model m;

    for (uint64_t seed = 1; seed <= 5; seed++) {
        m = (struct model){.random = {seed * 20261130}};
        commits_init(&m.o);
        for (int i = 0; i < STEPS; i++) {
            step(&m);
            if (i % 7 == 0)
                compare(&m);
        }
        while (m.append_count)
            step_settle(&m);
        for (int i = 0; i < TOPICS * PARTITIONS; i++)
            step_remove(&m, i / PARTITIONS, i % PARTITIONS, true);
        compare(&m);
        ck_assert(commits_is_empty(&m.o));
        commits_deinit(&m.o);
    }
}
END_TEST

TEST_MAIN("broker/group/offsets", commit_shows_once_it_is_acknowledged,
          failed_append_leaves_what_was_there, later_record_wins_whichever_is_acknowledged_first,
          removal_overtakes_appends_under_way, commit_after_a_removal_is_never_lost,
          drop_leaves_what_is_pending, transaction_waits_for_its_marker,
          marker_does_not_bring_back_what_a_later_record_replaced,
          removal_takes_transactional_offsets_too, log_replaces_whatever_came_before,
          metadata_is_the_tables_own, walk_is_in_order_and_can_be_stopped,
          a_commit_costs_less_than_a_hundred_bytes, random_histories_agree_with_the_model)
