/*
 * group_fill.c - klamm-group-load fill: a window of commits on one connection
 */
#include "common/client/peer.h"
#include "common/wire/messages.h"
#include "tests/load/groups.h"

#include <stdio.h>

enum {
    WINDOW = 16,
    TIMEOUT_US = 30000000,
    RETRY_US = 100000,
    FIND_VERSION = 3,
    COMMIT_VERSION = 8
};

struct fill;

struct lane {
    struct fill *fill;
    struct peer_call call;
    struct timer again;
    int32_t number; /* of the group */
    int64_t sent_us;
};

struct fill {
    struct reactor *reactor;
    const struct group_opts *opts;
    struct group_sums *sums;
    struct peer *peer;
    struct offset_commit_request_topic *topic;
    struct message start;
    struct lane lanes[WINDOW];
    int32_t next, active;
};

static void on_done(struct peer_call *call, int r, const void *response);

static void send_one(struct lane *l)
{
    struct fill *f = l->fill;
    char name[32];
    struct offset_commit_request q = {
        .group_id = groups_name("fill", l->number, name, sizeof name),
        .generation_id_or_member_epoch = -1,
        .member_id = STR(""),
        .group_instance_id = STR_NULL,
        .retention_time_ms = -1,
        .topics = f->topic,
        .topics_count = 1,
    };

    l->sent_us = clock_mono_us(&clock_system);
    l->call = (struct peer_call){
        .api_key = API_OFFSET_COMMIT, .version = COMMIT_VERSION, .request = &q, .done = on_done};
    peer_send(f->peer, &l->call);
}

static void go_on(struct lane *l)
{
    struct fill *f = l->fill;

    if (f->next == f->opts->groups) {
        f->active--;
        return;
    }
    l->number = f->next++;
    send_one(l);
}

static void on_found(struct peer_call *call, int r UNUSED, const void *response UNUSED)
{
    send_one(container_of(call, struct lane, call));
}

/* Until the coordinator is there, a commit is refused; that is no failure. Who asks for it makes it
 * come. */
static void find(struct timer *t)
{
    struct lane *l = container_of(t, struct lane, again);
    char name[32];
    struct find_coordinator_request q = {.key = groups_name("fill", l->number, name, sizeof name)};

    l->call = (struct peer_call){
        .api_key = API_FIND_COORDINATOR, .version = FIND_VERSION, .request = &q, .done = on_found};
    peer_send(l->fill->peer, &l->call);
}

static void on_done(struct peer_call *call, int r, const void *response)
{
    struct lane *l = container_of(call, struct lane, call);
    struct fill *f = l->fill;

    if (r == 0 && !groups_all_committed(response)) {
        timer_arm(f->reactor, &l->again, reactor_now_us(f->reactor) + RETRY_US);
        return;
    }
    f->sums->failed += r < 0;
    f->sums->commits++;
    latency_add(&f->sums->latency, clock_mono_us(&clock_system) - l->sent_us);
    go_on(l);
}

static void on_start(struct message *m)
{
    struct fill *f = container_of(m, struct fill, start);

    f->active = WINDOW;
    for (int i = 0; i < WINDOW; i++) {
        f->lanes[i] = (struct lane){
            .fill = f,
            .again = {.fire = find},
        };
        go_on(&f->lanes[i]);
    }
}

int groups_fill(struct reactor *r, const struct group_opts *opts, struct group_sums *sums)
{
    static struct fill f;

    f.reactor = r;
    f.opts = opts;
    f.sums = sums;
    f.topic = groups_topic(opts);
    f.peer = peer_new(r, &(struct peer_opts){.host = opts->host,
                                             .port = opts->port,
                                             .client_id = "group-load",
                                             .connect_timeout_us = TIMEOUT_US,
                                             .request_timeout_us = TIMEOUT_US});
    f.start.run = on_start;
    f.active = 1;
    reactor_post(r, &f.start);
    while (f.active > 0)
        reactor_turn(r, 100000);
    peer_free(f.peer);
    groups_topic_free(f.topic);
    return 0;
}
