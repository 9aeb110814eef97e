#include "broker/replica/dir_mover.h"

#include "broker/replica/partition_move.h"
#include "common/base/thread.h"

/* How long a thread waits that was held by the quota, or can make no step. */
enum { PAUSE_US = 100 * 1000, THREADS_MAX = 64 };

/* One thread and its partitions. */
struct lane {
    struct dir_mover *mover;
    struct thread thread;
    struct mutex lock; /* LOCK_MOVER; guards the list and what follows */
    struct cond wake;
    struct partition **v; /* sorted; a reference each */
    size_t count;
    size_t cap;
    bool is_stopping;
    struct move_room room; /* the thread's own */
};

struct dir_mover {
    const struct clock *clock;
    struct repl_quota quota;
    struct lane lanes[THREADS_MAX];
    int threads;
    bool are_run; /* else turns are somebody else's */
};

/* ---- the list ---- */

static int compare(const struct partition *a, const struct partition *b)
{
    int order = str_cmp(a->topic, b->topic);

    return order ? order : (a->id > b->id) - (a->id < b->id);
}

/* Where it is, or would be. */
static size_t place_of(const struct lane *l, const struct partition *part)
{
    size_t low = 0, high = l->count;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (compare(l->v[mid], part) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

void dir_mover_add(struct dir_mover *mv, struct partition *part)
{
    struct lane *l = &mv->lanes[part->hash % (uint32_t)mv->threads];

    LOCK_SCOPE(&l->lock);
    if (!part->is_moving && !l->is_stopping) {
        size_t at = place_of(l, part);

        xgrow(l->v, l->cap, l->count + 1);
        memmove(&l->v[at + 1], &l->v[at], (l->count - at) * sizeof(struct partition *));
        l->v[at] = partition_ref(part);
        l->count++;
        part->is_moving = true;
    }
    cond_signal(&l->wake);
}

/* Another partition of that name may stand beside it: the one that it was before it was deleted. */
static void take_out(struct lane *l, struct partition *part)
{
    WITH_LOCK(&l->lock)
    {
        size_t at = place_of(l, part);

        while (l->v[at] != part)
            at++;
        l->count--;
        memmove(&l->v[at], &l->v[at + 1], (l->count - at) * sizeof(struct partition *));
        part->is_moving = false;
    }
    partition_unref(part);
}

/* With a reference; NULL: there is no more. */
static struct partition *at_place(struct lane *l, size_t i)
{
    LOCK_SCOPE(&l->lock);
    return i < l->count && !l->is_stopping ? partition_ref(l->v[i]) : NULL;
}

/* ---- one turn ---- */

static enum move_step step(struct lane *l, struct partition *part)
{
    int64_t bytes = 0;
    enum move_step r = partition_move_some(part, &l->room, &bytes);

    if (bytes > 0 && repl_quota_is_limited(&l->mover->quota))
        repl_quota_record(&l->mover->quota, bytes);
    return r;
}

/* What was asked for while the last step was made must not be lost. */
static void end(struct lane *l, struct partition *part)
{
    take_out(l, part);
    if (partition_wants_mover(part))
        dir_mover_add(l->mover, part);
}

bool dir_mover_turn(struct dir_mover *mv, int thread)
{
    struct lane *l = &mv->lanes[thread];
    struct partition *part;

    if (repl_quota_is_exceeded(&mv->quota))
        return false;
    for (size_t i = 0; (part = at_place(l, i));) {
        struct partition *CLEANUP(partition_unref_p) held = part;
        enum move_step r = step(l, part);

        if (r == MOVE_GOES_ON)
            return true;
        if (r == MOVE_WAITS)
            i++;
        else
            end(l, part);
    }
    return false;
}

/* ---- threads ---- */

static bool is_over(struct lane *l, bool did)
{
    LOCK_SCOPE(&l->lock);
    int64_t until = l->count ? clock_mono_us(l->mover->clock) + PAUSE_US : INT64_MAX;

    if (!did && !l->is_stopping)
        cond_wait_until(&l->wake, &l->lock, until);
    return l->is_stopping;
}

static void run(void *arg)
{
    struct lane *l = arg;
    int thread = (int)(l - l->mover->lanes);

    while (!is_over(l, dir_mover_turn(l->mover, thread)))
        continue;
}

struct dir_mover *dir_mover_new(const struct dir_mover_opts *opts)
{
    struct dir_mover *mv = xnew(struct dir_mover);

    mv->clock = opts->clock;
    mv->are_run = opts->threads > 0;
    mv->threads = CLAMP(opts->threads, 1, (int)THREADS_MAX);
    repl_quota_init(&mv->quota, opts->clock, opts->window);
    for (int i = 0; i < mv->threads; i++) {
        struct lane *l = &mv->lanes[i];

        l->mover = mv;
        l->room.max_bytes = MAX(opts->max_bytes, 1u);
        mutex_init(&l->lock, LOCK_MOVER);
        cond_init(&l->wake);
    }
    return mv;
}

int dir_mover_start(struct dir_mover *mv)
{
    int r = 0;

    for (int i = 0; mv->are_run && i < mv->threads && r == 0; i++) {
        CLEANUP(free_p) char *name = xasprintf("dir-mover-%d", i);

        r = thread_start(&mv->lanes[i].thread, name, run, &mv->lanes[i]);
    }
    return r;
}

void dir_mover_stop(struct dir_mover *mv)
{
    for (int i = 0; i < mv->threads; i++) {
        struct lane *l = &mv->lanes[i];

        WITH_LOCK(&l->lock)
        {
            l->is_stopping = true;
            cond_signal(&l->wake);
        }
    }
    for (int i = 0; i < mv->threads; i++)
        thread_join(&mv->lanes[i].thread);
}

struct dir_mover *dir_mover_free(struct dir_mover *mv)
{
    if (!mv)
        return NULL;
    for (int i = 0; i < mv->threads; i++) {
        struct lane *l = &mv->lanes[i];

        for (size_t k = 0; k < l->count; k++)
            partition_unref(l->v[k]);
        free(l->v);
        move_room_deinit(&l->room);
        cond_deinit(&l->wake);
        mutex_deinit(&l->lock);
    }
    repl_quota_deinit(&mv->quota);
    free(mv);
    return NULL;
}

void dir_mover_set_rate(struct dir_mover *mv, int64_t bytes_per_second)
{
    repl_quota_set_rate(&mv->quota, bytes_per_second);
}
