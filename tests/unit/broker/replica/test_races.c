/*
 * Producers, a follower and consumers of one partition on reactors of their own, with real threads
 * and real time: every wait ends once, and nothing is lost between who appends, who acknowledges
 * and who waits. Meant for the tsan build.
 */
#include "broker/replica/delayed.h"

#include "broker/replica/partition.h"
#include "common/base/err.h"
#include "common/io/fs.h"
#include "tests/support/replica_node.h"
#include "tests/support/test_main.h"

#include <stdatomic.h>

enum { PRODUCERS = 3, RECORDS = 600, IN_FLIGHT = 5 };

static struct node_world world; /* its own reactor is not used */
static struct node node;
static struct reactor *reactors[PRODUCERS + 2];
static const int32_t both[] = {1, 2};
static _Atomic int running;
static _Atomic bool all_produced;

/* ---- producers ---- */

struct producer {
    struct reactor *reactor;
    struct message next;
    struct node_produce *sent[RECORDS];
    int sent_count;
    int done_count;
    bool is_queued;
};

static void on_produced(struct produce *p)
{
    struct node_produce *np = container_of(p, struct node_produce, produce);
    struct producer *pr = p->ctx;

    ck_assert(!np->is_done);
    np->is_done = true;
    np->error = np->part.error;
    if (++pr->done_count == RECORDS)
        atomic_fetch_sub(&running, 1);
    if (!pr->is_queued)
        reactor_defer(pr->reactor, &pr->next);
    pr->is_queued = true;
}

static void send_more(struct message *m)
{
    struct producer *pr = container_of(m, struct producer, next);

    pr->is_queued = false;
    while (pr->sent_count < RECORDS && pr->sent_count - pr->done_count < IN_FLIGHT) {
        struct node_produce *np = node_produce_make(&node, "t", -1, 60000, "value");
        pr->sent[pr->sent_count++] = np;
        np->produce.reactor = pr->reactor;
        np->produce.done = on_produced;
        np->produce.ctx = pr;
        produce_start(node.m, &np->produce);
    }
}

/* ---- who fetches ---- */

struct fetcher_of_test {
    struct reactor *reactor;
    struct message next;
    struct node_fetch *f;
    int32_t replica;
    int32_t session_id;
    int32_t session_epoch;
    int64_t offset;
    int64_t seen;
    _Atomic bool has_ended;
};

/* The offset after the last whole batch. */
static int64_t end_of(struct records r)
{
    char *CLEANUP(free_p) bytes = xmalloc(r.len);
    struct slice rest = slice_of(bytes, r.len);
    struct batch b;
    int64_t next = -1;

    ck_assert_int_eq(file_pread(r.file, bytes, r.len, r.pos), 0);
    while (batch_next(&rest, &b) == 1)
        next = batch_next_offset(&b);
    return next;
}

static void take_records(struct fetcher_of_test *t)
{
    const struct fetch_response_partition *p = node_fetch_part(t->f, "t", 0);

    if (!p)
        return;
    ck_assert_int_eq(p->error_code, 0);
    if (!records_len(p->records))
        return;
    int64_t next = end_of(p->records);
    ck_assert_int_gt(next, t->offset);
    t->seen += next - t->offset;
    t->offset = next;
}

static void on_fetched(struct fetch *fetch)
{
    struct node_fetch *f = container_of(fetch, struct node_fetch, fetch);
    struct fetcher_of_test *t = fetch->ctx;

    ck_assert(!f->is_done);
    f->is_done = true;
    ck_assert_int_eq(fetch->response.error_code, 0);
    t->session_id = fetch->response.session_id;
    t->session_epoch++;
    take_records(t);
    reactor_defer(t->reactor, &t->next);
}

static void fetch_more(struct message *m)
{
    struct fetcher_of_test *t = container_of(m, struct fetcher_of_test, next);

    if (t->f)
        node_fetch_free(t->f);
    t->f = NULL;
    if (atomic_load(&all_produced) && t->offset >= PRODUCERS * RECORDS) {
        atomic_store(&t->has_ended, true);
        return;
    }
    t->f = node_fetch_new(17, t->replica);
    t->f->req.session_id = t->session_id;
    t->f->req.session_epoch = t->session_epoch;
    t->f->req.max_wait_ms = 50;
    node_fetch_add(t->f, "t", 0, t->offset);
    t->f->fetch.req = &t->f->req;
    t->f->fetch.reactor = t->reactor;
    t->f->fetch.arena = &t->f->arena;
    t->f->fetch.broker_max_bytes = 57671680;
    t->f->fetch.done = on_fetched;
    t->f->fetch.ctx = t;
    fetch_start(node.m, &t->f->fetch);
}

/* ---- the run ---- */

static void on_other(struct node *n UNUSED, struct fake_call *fc UNUSED)
{
}

static void begin(void)
{
    struct node_state_of st = {.topic = "t",
                               .leader = 1,
                               .isr = both,
                               .isr_count = 2,
                               .replicas = both,
                               .replica_count = 2,
                               .is_new = true};

    world_init(&world);
    node.serve_other = on_other;
    node_open(&node, &world, 1);
    node_tell(&node, 1, both, 2, &st);
    ck_assert_int_eq(node_order(&node, 1, &st), 0);
    for (size_t i = 0; i < ARRAY_LEN(reactors); i++) {
        ck_assert_int_eq(reactor_new("race", &clock_system, &reactors[i]), 0);
        ck_assert_int_eq(reactor_start(reactors[i]), 0);
    }
}

START_TEST(every_wait_ends_once_and_nothing_is_lost)
{
    static struct producer producers[PRODUCERS];
    static struct fetcher_of_test fetchers[2];

    begin();
    running = PRODUCERS;
    for (int i = 0; i < 2; i++) {
        fetchers[i] = (struct fetcher_of_test){.reactor = reactors[PRODUCERS + i],
                                               .next = {.run = fetch_more},
                                               .replica = i == 0 ? 2 : -1};
        reactor_post(fetchers[i].reactor, &fetchers[i].next);
    }
    for (int i = 0; i < PRODUCERS; i++) {
        producers[i].reactor = reactors[i];
        producers[i].next.run = send_more;
        reactor_post(reactors[i], &producers[i].next);
    }
    while (atomic_load(&running) > 0)
        sched_yield();
    atomic_store(&all_produced, true);
    for (int i = 0; i < 2; i++)
        while (!atomic_load(&fetchers[i].has_ended))
            sched_yield();
    for (size_t i = 0; i < ARRAY_LEN(reactors); i++) {
        reactor_stop(reactors[i]);
        reactor_free(reactors[i]);
    }
    for (int i = 0; i < PRODUCERS; i++)
        for (int k = 0; k < RECORDS; k++) {
            ck_assert_int_eq(producers[i].sent[k]->error, 0);
            node_produce_free(producers[i].sent[k]);
        }
    ck_assert_int_eq(fetchers[0].seen, PRODUCERS * RECORDS);
    ck_assert_int_eq(fetchers[1].seen, PRODUCERS * RECORDS);
    ck_assert_int_eq(log_high_watermark(node_partition(&node, "t", 0)->log), PRODUCERS * RECORDS);
    node_close(&node);
    world_deinit(&world);
}
END_TEST

TEST_MAIN("broker/replica/races", every_wait_ends_once_and_nothing_is_lost)
