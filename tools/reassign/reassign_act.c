/*
 * reassign_act.c - execute, verify, cancel and list: what kafka-reassign-partitions does and says,
 * in its order
 */
#include "common/base/err.h"
#include "tools/base/progress.h"
#include "tools/base/stop.h"
#include "tools/reassign/reassign.h"

enum { WAIT_MS = 500 };

static const char existing[] =
    "Cannot execute because there is an existing partition assignment.  Use --additional to "
    "override this and create a new partition assignment in addition to the existing one. The "
    "--additional flag can also be used to change the throttle by resubmitting the current "
    "reassignment.";

static void print_partitions(const struct plan *p)
{
    for (size_t i = 0; i < p->count; i++)
        printf("%s%.*s-%d", i ? "," : "", STR_ARG(p->v[i].topic), p->v[i].partition);
}

static int read_plan(struct reassign *ra, struct str json, struct plan *ret)
{
    return opts_blame(ra->o, ra->file_id, plan_parse(json, &ra->arena, ret, &ra->why), &ra->why);
}

/* ---- execute ---- */

static int check_brokers(struct reassign *ra, const struct plan *plan)
{
    const struct metadata_response *m;
    int r = reassign_brokers(ra, &m);

    for (size_t i = 0; r == 0 && i < plan->count; i++) {
        for (int32_t k = 0; k < plan->v[i].replicas.count; k++) {
            bool is_known = false;
            for (int32_t b = 0; b < m->brokers_count; b++)
                is_known |= m->brokers[b].node_id == plan->v[i].replicas.v[k];
            if (is_known)
                continue;
            strbuf_addf(&ra->why, "Unknown broker id %d", plan->v[i].replicas.v[k]);
            return -EINVAL;
        }
    }
    return r;
}

/* Only the partitions of the plan, and all of them. */
static int narrow(struct reassign *ra, struct plan *current, const struct plan *plan)
{
    size_t n = 0;

    for (size_t i = 0; i < plan->count; i++) {
        if (plan_find(current, plan->v[i].topic, plan->v[i].partition))
            continue;
        strbuf_addf(&ra->why,
                    "org.apache.kafka.common.errors.UnknownTopicOrPartitionException: Unable to "
                    "find partition: %.*s-%d",
                    STR_ARG(plan->v[i].topic), plan->v[i].partition);
        return UNKNOWN_TOPIC_OR_PARTITION;
    }

    for (size_t i = 0; i < current->count; i++) {
        if (plan_find(plan, current->v[i].topic, current->v[i].partition))
            current->v[n++] = current->v[i];
    }
    current->count = n;
    return 0;
}

static int find_current(struct reassign *ra, const struct plan *plan, struct plan *ret)
{
    size_t count;
    struct str *topics = reassign_topics(ra, plan, &count);
    int r = reassign_current(ra, topics, count, true, ret);

    return r ? r : narrow(ra, ret, plan);
}

static int throttle(struct reassign *ra, const struct throttling *th, const struct dir_moves *moves)
{
    int r = 0;

    if (ra->throttle < 0 && ra->dir_throttle < 0)
        return 0;
    puts("Warning: You must run --verify periodically, until the reassignment completes, to ensure "
         "the throttle is removed.");
    if (ra->throttle >= 0)
        r = reassign_throttle(ra, th);
    if (r == 0 && ra->dir_throttle >= 0)
        r = reassign_throttle_dirs(ra, moves);
    return r;
}

static void print_current(const struct plan *current)
{
    CLEANUP(strbuf_deinit) struct strbuf json = {0};

    plan_print(current, &json);
    printf("Current partition replica assignment\n\n%s\n\nSave this to use as the "
           "--reassignment-json-file option during rollback\n",
           json.s);
}

static int start(struct reassign *ra, const struct plan *plan, struct dir_moves *moves)
{
    int r = reassign_alter(ra, plan, false);

    if (r)
        return r;
    printf("Successfully started partition reassignment%s for ", plan->count == 1 ? "" : "s");
    print_partitions(plan);
    putchar('\n');
    return moves->count ? reassign_move_dirs(ra, moves) : 0;
}

int reassign_execute(struct reassign *ra, struct str json)
{
    struct plan plan, current;
    struct runnings running;
    struct dir_moves moves;
    int r = read_plan(ra, json, &plan);

    r = r ? r : opts_blame(ra->o, ra->file_id, plan_check(&plan, &ra->why), &ra->why);
    r = r ? r : reassign_running(ra, NULL, &running);
    if (r)
        return r;
    plan_sort(&plan);
    plan_moves(&plan, &ra->arena, &moves);
    if (!ra->is_additional && running.count) {
        ra->is_terse = true;
        strbuf_addz(&ra->why, existing);
        return -EINVAL;
    }
    r = check_brokers(ra, &plan);
    r = r ? r : find_current(ra, &plan, &current);
    if (r)
        return r;
    if (ra->dry_run) {
        reassign_print_plan(ra, &plan, &current);
        return 0;
    }
    print_current(&current);
    r = throttle(ra, &(struct throttling){&plan, &current, &running}, &moves);
    return r ? r : start(ra, &plan, &moves);
}

/* ---- verify ---- */

static void print_state(const struct plan_entry *e, const struct running *run,
                        const struct plan_entry *now)
{
    CLEANUP(strbuf_deinit) struct strbuf is = {0};
    CLEANUP(strbuf_deinit) struct strbuf wanted = {0};
    const struct replica_ids none = {0};
    const struct replica_ids *replicas = now ? &now->replicas : &none;

    if (run) {
        printf("Reassignment of partition %.*s-%d is still in progress.\n", STR_ARG(e->topic),
               e->partition);
        return;
    }
    if (replica_ids_eq(replicas, &e->replicas)) {
        printf("Reassignment of partition %.*s-%d is completed.\n", STR_ARG(e->topic),
               e->partition);
        return;
    }
    replica_ids_print(replicas, ",", &is);
    replica_ids_print(&e->replicas, ",", &wanted);
    printf("There is no active reassignment of partition %.*s-%d, but replica set is %s rather "
           "than %s.\n",
           STR_ARG(e->topic), e->partition, is.len ? is.s : "", wanted.len ? wanted.s : "");
}

static void print_dir_state(const struct dir_status *st)
{
    const struct dir_move *m = st->move;
    int b = m->broker;

    switch (st->state) {
    case DIR_DONE:
        printf("Reassignment of replica %.*s-%d-%d completed successfully.\n", STR_ARG(m->topic),
               m->partition, b);
        break;
    case DIR_ACTIVE:
        printf("Reassignment of replica %.*s-%d-%d is still in progress.\n", STR_ARG(m->topic),
               m->partition, b);
        break;
    case DIR_ELSEWHERE:
        printf("Partition %.*s-%d on broker %d is being moved to log dir %.*s instead of %.*s.\n",
               STR_ARG(m->topic), m->partition, b, STR_ARG(st->future), STR_ARG(m->dir));
        break;
    case DIR_CANCELLED:
        printf("Partition %.*s-%d on broker %d is not being moved from log dir %.*s to %.*s.\n",
               STR_ARG(m->topic), m->partition, b, STR_ARG(st->now), STR_ARG(m->dir));
        break;
    case DIR_MISSING:
        printf("Partition %.*s-%d cannot be found in any live log directory on broker %d.\n",
               STR_ARG(m->topic), m->partition, b);
        break;
    case DIR_NO_REPLICA:
        printf("Partition %.*s-%d is not found in any live log dir on broker %d. There is likely "
               "an offline log directory on the broker.\n",
               STR_ARG(m->topic), m->partition, b);
        break;
    }
}

/* A plan, and how it is. */
struct verified {
    struct plan plan, current;
    struct runnings running;
    struct dir_moves moves;
    struct dir_status *dirs;
};

static int look(struct reassign *ra, struct verified *v)
{
    size_t count;
    struct str *topics = reassign_topics(ra, &v->plan, &count);
    int r = reassign_running(ra, NULL, &v->running);

    v->dirs = arena_array(&ra->arena, v->moves.count + 1, sizeof *v->dirs);
    r = r ? r : reassign_current(ra, topics, count, false, &v->current);
    return r ? r : reassign_dir_states(ra, &v->moves, v->dirs);
}

static void print_verified(const struct verified *v)
{
    puts("Status of partition reassignment:");
    for (size_t i = 0; i < v->plan.count; i++) {
        const struct plan_entry *e = &v->plan.v[i];
        print_state(e, running_find(&v->running, e->topic, e->partition),
                    plan_find(&v->current, e->topic, e->partition));
    }
    for (size_t i = 0; i < v->moves.count; i++)
        print_dir_state(&v->dirs[i]);
    if (v->moves.count == 0)
        putchar('\n');
}

static bool is_dir_moving(const struct dir_status *st)
{
    return st->state == DIR_ACTIVE || st->state == DIR_ELSEWHERE;
}

/* How many moves of the plan are under way. */
static size_t count_moving(const struct verified *v)
{
    size_t n = 0;

    for (size_t i = 0; i < v->plan.count; i++)
        n += running_find(&v->running, v->plan.v[i].topic, v->plan.v[i].partition) != NULL;
    for (size_t i = 0; i < v->moves.count; i++)
        n += is_dir_moving(&v->dirs[i]);
    return n;
}

/* Throttles stay while anything at all moves in the cluster. */
static bool is_busy(const struct verified *v)
{
    bool busy = v->running.count > 0;

    for (size_t i = 0; i < v->moves.count; i++)
        busy |= is_dir_moving(&v->dirs[i]);
    return busy;
}

static int finish_verify(struct reassign *ra, const struct verified *v)
{
    if (ra->is_table)
        reassign_print_states(ra, &(struct reassign_states){&v->plan, &v->current, &v->running,
                                                            v->dirs, v->moves.count});
    else
        print_verified(v);
    if (is_busy(v) || ra->keeps_throttles)
        return 0;
    return reassign_unthrottle(ra, &v->plan);
}

static int read_verified(struct reassign *ra, struct str json, struct verified *v)
{
    int r = read_plan(ra, json, &v->plan);

    if (r)
        return r;
    plan_sort(&v->plan);
    plan_moves(&v->plan, &ra->arena, &v->moves);
    return look(ra, v);
}

int reassign_verify(struct reassign *ra, struct str json)
{
    struct verified v = {0};
    int r = read_verified(ra, json, &v);

    return r ? r : finish_verify(ra, &v);
}

/* Each look is in an arena of its own: a move may take hours. */
static int look_again(struct reassign *ra, struct str json, size_t *ret_moving)
{
    struct arena kept = ra->arena;
    struct verified v = {0};

    ra->arena = (struct arena){0};
    int r = read_verified(ra, json, &v);
    if (r == 0)
        *ret_moving = count_moving(&v);
    arena_deinit(&ra->arena);
    ra->arena = kept;
    return r;
}

int reassign_wait(struct reassign *ra, struct str json)
{
    struct progress progress;
    size_t first = 0, moving = 0;
    int r = look_again(ra, json, &first);

    stop_catch(ra->o->inv);
    progress_start(&progress, "moved", first, false);
    for (moving = first; r == 0 && moving > 0 && !stop_wanted();) {
        progress_things(&progress, "replica sets", first - MIN(moving, first));
        stop_sleep(WAIT_MS);
        r = look_again(ra, json, &moving);
    }
    progress_wipe(&progress);
    if (r == 0 && moving > 0) {
        strbuf_addf(&ra->why,
                    "stopped waiting: %zu of the plan still move, and go on moving; "
                    "--verify lifts throttles once they are done",
                    moving);
        return -EINTR;
    }
    return r ? r : reassign_verify(ra, json);
}

/* ---- cancel ---- */

/* Kafka's tool since 3.8 passes over moves that only add replicas, by a slip; here they end too. */
static int cancel_partitions(struct reassign *ra, const struct plan *plan)
{
    struct plan active = {arena_array(&ra->arena, plan->count + 1, sizeof *plan->v), 0};
    struct runnings running = {0};
    int r = plan->count ? reassign_running(ra, plan, &running) : 0;

    for (size_t i = 0; r == 0 && i < plan->count; i++) {
        if (running_find(&running, plan->v[i].topic, plan->v[i].partition))
            active.v[active.count++] = plan->v[i];
    }
    if (r == 0 && ra->dry_run) {
        printf("would cancel %zu moves%s", active.count, active.count ? ": " : "");
        print_partitions(&active);
        putchar('\n');
        return 0;
    }
    if (r == 0 && active.count == 0)
        puts("None of the specified partition reassignments are active.");
    if (r || active.count == 0)
        return r;
    r = reassign_alter(ra, &active, true);
    if (r)
        return r;
    printf("Successfully cancelled partition reassignment%s for: ", active.count == 1 ? "" : "s");
    print_partitions(&active);
    putchar('\n');
    return 0;
}

/* A move back to where the replica lies ends a move. */
static int cancel_dirs(struct reassign *ra, const struct dir_moves *moves)
{
    struct dir_status *states = arena_array(&ra->arena, moves->count + 1, sizeof *states);
    struct dir_moves back = {arena_array(&ra->arena, moves->count + 1, sizeof *moves->v), 0};
    int r = reassign_dir_states(ra, moves, states);

    for (size_t i = 0; r == 0 && i < moves->count; i++) {
        if (states[i].state != DIR_ACTIVE)
            continue;
        back.v[back.count] = moves->v[i];
        back.v[back.count++].dir = states[i].now;
    }
    if (r)
        return r;
    if (back.count)
        return reassign_move_dirs(ra, &back);
    fputs("None of the specified partition moves are active.", stdout);
    return 0;
}

int reassign_cancel(struct reassign *ra, struct str json)
{
    struct plan plan;
    struct dir_moves moves;
    int r = read_plan(ra, json, &plan);

    if (r)
        return r;
    plan_sort(&plan);
    plan_moves(&plan, &ra->arena, &moves);
    r = cancel_partitions(ra, &plan);
    if (ra->dry_run)
        return r;
    r = r ? r : cancel_dirs(ra, &moves);
    return r || ra->keeps_throttles ? r : reassign_unthrottle(ra, &plan);
}

/* ---- list ---- */

static void print_part(const char *what, const int32_t *ids, int32_t count)
{
    CLEANUP(strbuf_deinit) struct strbuf sb = {0};

    if (count == 0)
        return;
    replica_ids_print(&(struct replica_ids){(int32_t *)(uintptr_t)ids, count}, ",", &sb);
    printf(" %s: %s.", what, sb.s);
}

int reassign_list(struct reassign *ra)
{
    struct runnings running;
    int r = reassign_running(ra, NULL, &running);

    if (r)
        return r;
    if (ra->is_table) {
        reassign_print_list(ra, &running);
        return 0;
    }
    puts(running.count ? "Current partition reassignments:" : "No partition reassignments found.");
    for (size_t i = 0; i < running.count; i++) {
        const struct running *run = &running.v[i];
        printf("%.*s-%d:", STR_ARG(run->topic), run->p->partition_index);
        print_part("replicas", run->p->replicas, run->p->replicas_count);
        print_part("adding", run->p->adding_replicas, run->p->adding_replicas_count);
        print_part("removing", run->p->removing_replicas, run->p->removing_replicas_count);
        putchar('\n');
    }
    return 0;
}
