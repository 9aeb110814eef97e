#include "common/io/timer.h"

enum { TICK_US = 1000, SLOT_MASK = TIMER_SLOTS - 1 };

/* Later than this is as good as never: 139 years of uptime. */
static const int64_t last_tick = ((int64_t)1 << (TIMER_LEVELS * TIMER_SLOT_BITS)) - 1;

static void list_init(struct timer *head)
{
    head->next = head->prev = head;
}

static void list_add(struct timer *head, struct timer *t)
{
    t->next = head;
    t->prev = head->prev;
    head->prev->next = t;
    head->prev = t;
}

static struct timer *list_pop(struct timer *head)
{
    struct timer *t = head->next;

    t->next->prev = head;
    head->next = t->next;
    return t;
}

static bool list_is_empty(const struct timer *head)
{
    return head->next == head;
}

/* Appends all of from to to. */
static void list_splice(struct timer *to, struct timer *from)
{
    if (list_is_empty(from))
        return;
    from->next->prev = to->prev;
    from->prev->next = to;
    to->prev->next = from->next;
    to->prev = from->prev;
    list_init(from);
}

void timer_wheel_init(struct timer_wheel *w, int64_t now_us)
{
    memset(w, 0, sizeof *w);
    w->now_tick = now_us / TICK_US;
    list_init(&w->due);
    for (int l = 0; l < TIMER_LEVELS; l++)
        for (int s = 0; s < TIMER_SLOTS; s++)
            list_init(&w->slots[l][s]);
}

/* The tick is the first one not before the deadline, so that nothing fires early. */
static int64_t tick_of(int64_t deadline_us)
{
    return MIN(deadline_us / TICK_US + (deadline_us % TICK_US != 0), last_tick);
}

static void place(struct timer_wheel *w, struct timer *t)
{
    int64_t tick = tick_of(t->deadline_us);

    if (tick <= w->now_tick) {
        list_add(&w->due, t);
        return;
    }
    /* The highest group of bits in which now and then differ says how far away it is. */
    int level = (63 - __builtin_clzll((uint64_t)(tick ^ w->now_tick))) / TIMER_SLOT_BITS;
    int slot = (int)(tick >> (level * TIMER_SLOT_BITS)) & SLOT_MASK;

    list_add(&w->slots[level][slot], t);
    w->used[level] |= (uint64_t)1 << slot;
}

void timer_wheel_arm(struct timer_wheel *w, struct timer *t, int64_t deadline_us)
{
    timer_wheel_cancel(w, t);
    t->deadline_us = MAX(deadline_us, 1);
    place(w, t);
}

void timer_wheel_cancel(struct timer_wheel *w, struct timer *t)
{
    if (t->deadline_us == 0)
        return;
    t->deadline_us = 0;
    t->next->prev = t->prev;
    t->prev->next = t->next;
    if (t->next == t->prev) {
        /* Perhaps the last of its list; then both neighbours are the list's head. */
        const struct timer *head = t->next, *first = &w->slots[0][0];

        if (list_is_empty(head) && head >= first && head < first + TIMER_LEVELS * TIMER_SLOTS) {
            ptrdiff_t i = head - first;
            w->used[i / TIMER_SLOTS] &= ~((uint64_t)1 << (i % TIMER_SLOTS));
        }
    }
    t->next = t->prev = NULL;
}

/* The bits of the slots that the hand of this level passed on its way from one place to another. */
static uint64_t passed(int64_t from, int64_t to)
{
    uint64_t bits = 0;

    if (to - from >= TIMER_SLOTS)
        return ~(uint64_t)0;
    for (int64_t i = from + 1; i <= to; i++)
        bits |= (uint64_t)1 << (i & SLOT_MASK);
    return bits;
}

/* Empties the slots whose time has begun into ret_list. */
static void collect(struct timer_wheel *w, int64_t now_tick, struct timer *ret_list)
{
    for (int l = 0; l < TIMER_LEVELS; l++) {
        int64_t from = w->now_tick >> (l * TIMER_SLOT_BITS);
        int64_t to = now_tick >> (l * TIMER_SLOT_BITS);
        uint64_t bits = passed(from, to) & w->used[l];

        if (from == to)
            break;
        w->used[l] &= ~bits;
        for (; bits; bits &= bits - 1)
            list_splice(ret_list, &w->slots[l][__builtin_ctzll(bits)]);
    }
    w->now_tick = now_tick;
}

void timer_wheel_advance(struct timer_wheel *w, int64_t now_us)
{
    int64_t now_tick = now_us / TICK_US;
    struct timer moved, due;

    list_init(&moved);
    list_init(&due);
    if (now_tick > w->now_tick)
        collect(w, now_tick, &moved);
    while (!list_is_empty(&moved))
        place(w, list_pop(&moved));
    list_splice(&due, &w->due);
    while (!list_is_empty(&due)) {
        struct timer *t = list_pop(&due);

        t->deadline_us = 0;
        t->next = t->prev = NULL;
        t->fire(t);
    }
}

int64_t timer_wheel_next_us(const struct timer_wheel *w)
{
    if (!list_is_empty(&w->due))
        return w->now_tick * TICK_US;
    for (int l = 0; l < TIMER_LEVELS; l++) {
        if (!w->used[l])
            continue;
        /* All used slots of a level lie ahead of its hand, within the turn that the hand is in. */
        int shift = l * TIMER_SLOT_BITS;
        int64_t turn = w->now_tick >> shift & ~(int64_t)SLOT_MASK;

        return ((turn | __builtin_ctzll(w->used[l])) << shift) * TICK_US;
    }
    return INT64_MAX;
}
