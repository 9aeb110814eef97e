#include "common/base/fault.h"

#ifdef KLAMM_FAULTS

#include "common/base/str.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_ARMED = 16 };

struct armed {
    char point[32];
    struct fault fault;
    int nth;
    bool sticky;
};

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static struct armed armed[MAX_ARMED];
static int armed_count;
static bool environment_read;

static void arm(struct str point, struct fault f, int nth, bool sticky)
{
    assert(armed_count < MAX_ARMED && point.len < sizeof armed[0].point);
    struct armed *a = &armed[armed_count++];

    snprintf(a->point, sizeof a->point, "%.*s", STR_ARG(point));
    a->fault = f;
    a->nth = nth;
    a->sticky = sticky;
}

/* point:kind:value:nth[,...]; kind is errno, short or crash. A malformed item stops the process: it
 * is a test's slip. */
static void arm_item(struct str item)
{
    struct str part[4];
    int64_t value, nth;
    enum fault_kind kind;

    for (int i = 0; i < 4; i++) {
        if (!str_split(&item, ':', &part[i]))
            abort();
    }
    kind = str_eqz(part[1], "errno")   ? FAULT_ERRNO
           : str_eqz(part[1], "short") ? FAULT_SHORT
                                       : FAULT_CRASH;
    if (str_to_i64(part[2], 0, INT64_MAX, &value) < 0 || str_to_i64(part[3], 1, INT_MAX, &nth) < 0)
        abort();
    arm(part[0], (struct fault){kind, value}, (int)nth, false);
}

static void read_environment(void)
{
    struct str rest = str_of(getenv("KLAMM_FAULTS"));
    struct str item;

    environment_read = true;
    while (str_split(&rest, ',', &item))
        arm_item(item);
}

struct fault fault_hit(const char *point)
{
    struct fault f = {FAULT_NONE, 0};

    pthread_mutex_lock(&guard);
    if (!environment_read)
        read_environment();
    for (int i = 0; i < armed_count; i++) {
        struct armed *a = &armed[i];

        if (strcmp(a->point, point) != 0 || (a->nth == 0 && !a->sticky))
            continue;
        if (a->nth > 0)
            a->nth--;
        if (a->nth == 0)
            f = a->fault;
    }
    pthread_mutex_unlock(&guard);
    return f;
}

void fault_arm(const char *point, struct fault f, int nth, bool sticky)
{
    pthread_mutex_lock(&guard);
    environment_read = true;
    arm(str_of(point), f, nth, sticky);
    pthread_mutex_unlock(&guard);
}

void fault_disarm_all(void)
{
    pthread_mutex_lock(&guard);
    armed_count = 0;
    pthread_mutex_unlock(&guard);
}

#endif
