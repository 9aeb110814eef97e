#include "common/io/inbox.h"

#include "common/base/clock.h"
#include "common/base/thread.h"
#include "tests/support/test_main.h"

enum { SENDERS = 4, EACH = 5000 };

struct numbered {
    struct message message;
    int sender;
    int n;
};

static struct inbox box;
static struct numbered sent[SENDERS][EACH];

static void send_all(void *arg)
{
    int sender = (int)(intptr_t)arg;

    for (int i = 0; i < EACH; i++) {
        sent[sender][i].sender = sender;
        sent[sender][i].n = i;
        inbox_post(&box, &sent[sender][i].message);
    }
}

START_TEST(messages_of_one_sender_keep_their_order)
{
    struct thread threads[SENDERS];
    int next[SENDERS] = {0};

    inbox_init(&box);
    for (int i = 0; i < SENDERS; i++)
        ck_assert_int_eq(thread_start(&threads[i], "sender", send_all, (void *)(intptr_t)i), 0);
    for (int i = 0; i < SENDERS * EACH; i++) {
        const struct message *m = inbox_take(&box, INT64_MAX);
        const struct numbered *n = container_of(m, struct numbered, message);

        ck_assert_int_eq(n->n, next[n->sender]++);
    }
    for (int i = 0; i < SENDERS; i++)
        thread_join(&threads[i]);
    inbox_deinit(&box);
}
END_TEST

START_TEST(take_gives_up_at_its_deadline)
{
    inbox_init(&box);
    int64_t deadline = clock_mono_us(&clock_system) + 2000;
    ck_assert_ptr_null(inbox_take(&box, deadline));
    ck_assert_int_ge(clock_mono_us(&clock_system), deadline);
    inbox_deinit(&box);
}
END_TEST

START_TEST(take_all_leaves_an_empty_inbox)
{
    struct message a, b, c;

    inbox_init(&box);
    ck_assert(inbox_post_was_empty(&box, &a));
    ck_assert(!inbox_post_was_empty(&box, &b));
    ck_assert_ptr_eq(inbox_take_all(&box), &a);
    ck_assert_ptr_eq(a.next, &b);
    ck_assert_ptr_null(b.next);
    ck_assert_ptr_null(inbox_take_all(&box));
    ck_assert(inbox_post_was_empty(&box, &c));
    ck_assert_ptr_eq(inbox_take(&box, 0), &c);
    inbox_deinit(&box);
}
END_TEST

TEST_MAIN("common/io/inbox", messages_of_one_sender_keep_their_order, take_gives_up_at_its_deadline,
          take_all_leaves_an_empty_inbox)
