/*
 * group_world.c - see group_world.h
 */
#include "tests/support/group_world.h"

#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/wire/messages.h"

#include <stdarg.h>

#define TEXT(s) ((s) ? str_of(s) : STR_NULL)

/* ---- the world ---- */

static void put(char *to, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void put(char *to, size_t size, const char *format, ...)
{
    size_t len = strlen(to);
    va_list ap;

    va_start(ap, format);
    ck_assert_int_lt(vsnprintf(to + len, size - len, format, ap), (int)(size - len));
    va_end(ap);
}

static void store(void *ctx, struct group_store *s)
{
    struct group_world *w = ctx;
    const struct group_metadata_value *v = s->value;

    ck_assert_int_lt(w->store_count, WORLD_STORES);
    struct fake_store *f = &w->stores[w->store_count++];
    f->store = s;
    f->text[0] = '\0';
    put(f->text, sizeof f->text, "%d %.*s %.*s", v->generation, STR_ARG(v->protocol),
        STR_ARG(v->leader));
    for (int32_t i = 0; i < v->members_count; i++) {
        const struct group_metadata_value_member *m = &v->members[i];

        put(f->text, sizeof f->text, "%s%.*s/%.*s=%.*s", i ? "," : " ", STR_ARG(m->member_id),
            STR_ARG(m->group_instance_id), STR_ARG(str_of_slice(m->assignment)));
    }
}

void group_world_init(struct group_world *w)
{
    *w = (struct group_world){
        .env = {.initial_rebalance_delay_ms = 3000, .max_size = INT32_MAX, .store = store}};
    clock_fake_init(&w->clock, 1700000000000);
    w->clock.mono_us = 1000000000;
    w->env.clock = &w->clock.clock;
    w->env.ctx = w;
    if (reactor_new("test", &w->clock.clock, &w->reactor))
        abort();
    reactor_turn(w->reactor, 0);
    w->group = group_new(&w->env, STR("g"), 3, w->reactor);
}

static void settle(struct group_world *w)
{
    for (int i = 0; i < 4; i++)
        reactor_turn(w->reactor, 0);
}

void group_world_run(struct group_world *w, int64_t ms)
{
    settle(w);
    while (ms > 0) {
        int64_t step = MIN(ms, 50);

        clock_fake_advance(&w->clock, step);
        ms -= step;
        settle(w);
    }
}

enum group_state group_world_state(struct group_world *w)
{
    LOCK_SCOPE(&w->group->lock);
    return w->group->state;
}

int32_t group_world_size(struct group_world *w)
{
    LOCK_SCOPE(&w->group->lock);
    return group_size(w->group);
}

void group_world_kill(struct group_world *w, int error)
{
    LOCK_SCOPE(&w->group->lock);
    rebalance_kill(w->group, error);
}

void group_world_deinit(struct group_world *w)
{
    if (group_world_state(w) != GROUP_DEAD)
        group_world_kill(w, NOT_COORDINATOR);
    while (group_world_storing(w))
        group_world_stored(w, NOT_COORDINATOR);
    settle(w);
    w->group = group_unref(w->group);
    w->reactor = reactor_free(w->reactor);
}

int group_world_storing(const struct group_world *w)
{
    int n = 0;

    for (int i = 0; i < w->store_count; i++)
        n += w->stores[i].store != NULL;
    return n;
}

void group_world_stored(struct group_world *w, int error)
{
    for (int i = 0; i < w->store_count; i++) {
        struct group_store *s = TAKE(w->stores[i].store);

        if (s) {
            s->done(s, error);
            return;
        }
    }
    ck_abort_msg("nothing is being stored");
}

/* ---- lists as text ---- */

/* "name=bytes,name=bytes"; returns how many. Names and bytes point into text. */
static int32_t split(const char *text, struct str *names, struct slice *bytes, int32_t max)
{
    int32_t n = 0;

    while (text && *text) {
        const char *end = strchrnul(text, ','), *eq = memchr(text, '=', (size_t)(end - text));

        ck_assert_ptr_nonnull(eq);
        ck_assert_int_lt(n, max);
        names[n] = (struct str){text, (size_t)(eq - text)};
        bytes[n++] = slice_of(eq + 1, (size_t)(end - eq - 1));
        text = *end ? end + 1 : end;
    }
    return n;
}

static void copy_str(char *to, size_t size, struct str s)
{
    to[0] = '\0';
    put(to, size, "%.*s", STR_ARG(s));
}

#define COPY(field, s) copy_str(field, sizeof(field), s)

/* ---- JoinGroup ---- */

static void on_joined(struct join_call *c, const struct join_answer *a)
{
    struct fake_join *j = container_of(c, struct fake_join, call);

    j->ended++;
    j->error = a->error;
    j->generation = a->generation;
    j->skip_assignment = a->skip_assignment;
    j->has_members = a->members_of != NULL;
    j->is_protocol_null = str_is_null(a->protocol);
    COPY(j->protocol, a->protocol);
    COPY(j->leader, a->leader);
    COPY(j->member_id, a->member_id);
    j->members[0] = '\0';
    for (const struct member *m = a->members_of ? a->members_of->members : NULL; m;
         m = m->hh.next) {
        const struct member_protocol *p = member_protocol(m, a->members_of->protocol);

        put(j->members, sizeof j->members, "%s%.*s/%.*s=%.*s", j->members[0] ? "," : "",
            STR_ARG(m->id), STR_ARG(m->instance), STR_ARG(str_of_slice(p->metadata)));
    }
}

static void on_join_superseded(struct join_call *c)
{
    container_of(c, struct fake_join, call)->superseded++;
}

struct join_request fake_join_request(struct joining_args *args, struct fake_join *j,
                                      struct joining who)
{
    struct str names[FAKE_LIST_MAX];
    struct slice metadata[FAKE_LIST_MAX];
    int32_t n = split(who.protocols ? who.protocols : "range=m", names, metadata, FAKE_LIST_MAX);

    for (int32_t i = 0; i < n; i++)
        args->protocols[i] = (struct member_protocol){names[i], metadata[i]};
    *j = (struct fake_join){.call = {on_joined, on_join_superseded}};
    return (struct join_request){
        .member_id = str_of(who.id ? who.id : ""),
        .instance = TEXT(who.instance),
        .client = {str_of(who.client ? who.client : "c"), STR("/127.0.0.1")},
        .session_timeout_ms = who.session_ms ? who.session_ms : 10000,
        .rebalance_timeout_ms = who.rebalance_ms ? who.rebalance_ms : 60000,
        .protocol_type = str_of(who.type ? who.type : "consumer"),
        .protocols = {args->protocols, n},
        .must_know_id = who.must_know_id,
        .can_skip = who.can_skip,
    };
}

void fake_join(struct group_world *w, struct fake_join *j, struct joining who)
{
    struct joining_args args;
    struct join_request req = fake_join_request(&args, j, who);

    rebalance_join(w->group, &req, &j->call);
}

/* ---- SyncGroup ---- */

static void on_synced(struct sync_call *c, const struct sync_answer *a)
{
    struct fake_sync *s = container_of(c, struct fake_sync, call);

    s->ended++;
    s->error = a->error;
    COPY(s->protocol, a->protocol);
    COPY(s->assignment, str_of_slice(a->assignment));
}

static void on_sync_superseded(struct sync_call *c)
{
    container_of(c, struct fake_sync, call)->superseded++;
}

struct sync_request fake_sync_request(struct syncing_args *args, struct fake_sync *s,
                                      struct syncing who)
{
    struct str names[FAKE_LIST_MAX];
    struct slice bytes[FAKE_LIST_MAX];
    int32_t n = split(who.assignments, names, bytes, FAKE_LIST_MAX);

    for (int32_t i = 0; i < n; i++)
        args->assignments[i] = (struct assignment){names[i], bytes[i]};
    *s = (struct fake_sync){.call = {on_synced, on_sync_superseded}};
    return (struct sync_request){
        .member_id = str_of(who.id),
        .instance = TEXT(who.instance),
        .generation = who.generation,
        .protocol_type = TEXT(who.type),
        .protocol = TEXT(who.protocol),
        .assignments = args->assignments,
        .assignment_count = n,
    };
}

void fake_sync(struct group_world *w, struct fake_sync *s, struct syncing who)
{
    struct syncing_args args;
    struct sync_request req = fake_sync_request(&args, s, who);

    rebalance_sync(w->group, &req, &s->call);
}

int fake_heartbeat(struct group_world *w, const char *id, const char *instance, int32_t generation)
{
    return rebalance_heartbeat(w->group, str_of(id), TEXT(instance), generation);
}

int fake_leave(struct group_world *w, const char *id, const char *instance)
{
    return rebalance_leave(w->group, str_of(id), TEXT(instance));
}

/* ---- whole stories ---- */

void group_world_assign(struct group_world *w, const struct fake_join *j, const char *assignments)
{
    char text[WORLD_TEXT] = "";
    struct fake_sync s;
    const char *at = strstr(assignments, "%s");

    if (at)
        put(text, sizeof text, "%.*s%s%s", (int)(at - assignments), assignments, j->member_id,
            at + 2);
    else
        put(text, sizeof text, "%s", assignments);
    fake_sync(
        w, &s,
        (struct syncing){.id = j->member_id, .generation = j->generation, .assignments = text});
    ASSERT_WAITS(&s);
    group_world_stored(w, 0);
    ASSERT_ENDED(&s, 0);
    ASSERT_STATE(w, GROUP_STABLE);
}

void group_world_first(struct group_world *w, struct fake_join *j, struct joining who)
{
    fake_join(w, j, who);
    ASSERT_WAITS(j);
    group_world_run(w, w->env.initial_rebalance_delay_ms);
    ASSERT_ENDED(j, 0);
    group_world_assign(w, j, "%s=a");
}
