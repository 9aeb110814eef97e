/*
 * group_live.c - klamm-group-load live: members of the classic protocol
 *
 *   find the coordinator -> JoinGroup -> (told an id, again) -> SyncGroup -> live
 *
 * Each has a connection of its own, as a consumer has. A member that is told to, or whose call
 * fails, starts from the beginning after a moment; at steady state that is counted. Not more than
 * JOINING_MAX are on their way at a time.
 */
#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/client/peer.h"
#include "common/wire/codec.h"
#include "common/wire/messages.h"
#include "tests/load/groups.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    JOINING_MAX = 200,
    TIMEOUT_US = 60000000,
    RETRY_US = 200000,
    MEMBER_ID_MAX = 128,
    FIND_VERSION = 3,
    JOIN_VERSION = 7,
    SYNC_VERSION = 5,
    HEARTBEAT_VERSION = 4,
    COMMIT_VERSION = 8,
    SESSION_MS = 45000,
    REBALANCE_MS = 300000,
};

struct swarm;

struct member {
    struct swarm *swarm;
    struct peer *peer;
    struct peer_call call;        /* joining, then heartbeats */
    struct peer_call commit_call; /* while it lives */
    struct timer next, commit;    /* the next call; the next commit */
    int64_t commit_due_us;
    int32_t number;
    int32_t generation;
    bool is_committing, is_live;
    uint8_t id_len;
    char id[MEMBER_ID_MAX];
};

struct swarm {
    struct reactor *reactor;
    const struct group_opts *opts;
    struct group_sums *sums;
    struct offset_commit_request_topic *topic;
    struct slice subscription, assignment;
    struct arena arena; /* of those */
    struct message start;
    struct member *members;
    int32_t started, live;
    int64_t start_us;
    int64_t steady_us; /* since when all of them live; 0: not yet */
    bool is_ending;    /* what was under way is given up */
};

static int64_t now_us(void)
{
    return clock_mono_us(&clock_system);
}

static struct str id_of(const struct member *m)
{
    return (struct str){m->id, m->id_len};
}

static void send_call(struct member *m, int16_t key, int16_t version, const void *request,
                      void (*done)(struct peer_call *call, int r, const void *response))
{
    m->call =
        (struct peer_call){.api_key = key, .version = version, .request = request, .done = done};
    peer_send(m->peer, &m->call);
}

/* ---- joining ---- */

static void find(struct member *m);

static void start_more(struct swarm *s)
{
    while (s->started < s->opts->groups && s->started - s->live < JOINING_MAX)
        find(&s->members[s->started++]);
}

static void on_retry(struct timer *t)
{
    find(container_of(t, struct member, next));
}

/* From the beginning. Only what goes wrong at steady state is a failure. */
static void start_over(struct member *m)
{
    struct swarm *s = m->swarm;

    if (s->is_ending)
        return;
    if (m->is_live) {
        s->live--;
        s->sums->rejoins++;
    }
    m->is_live = false;
    m->id_len = 0;
    timer_cancel(s->reactor, &m->commit);
    m->next.fire = on_retry;
    timer_arm(s->reactor, &m->next, reactor_now_us(s->reactor) + RETRY_US);
}

static void begin_life(struct member *m);

static void on_synced(struct peer_call *call, int r, const void *response)
{
    struct member *m = container_of(call, struct member, call);
    const struct sync_group_response *resp = response;

    if (r < 0 || resp->error_code)
        start_over(m);
    else
        begin_life(m);
}

/* It is alone in its group, and so its leader. */
static void sync(struct member *m)
{
    struct sync_group_request_assignment mine = {id_of(m), m->swarm->assignment};
    char name[32];
    struct sync_group_request q = {
        .group_id = groups_name("live", m->number, name, sizeof name),
        .generation_id = m->generation,
        .member_id = id_of(m),
        .group_instance_id = STR_NULL,
        .protocol_type = STR("consumer"),
        .protocol_name = STR("range"),
        .assignments = &mine,
        .assignments_count = 1,
    };

    send_call(m, API_SYNC_GROUP, SYNC_VERSION, &q, on_synced);
}

static void join(struct member *m);

static void on_joined(struct peer_call *call, int r, const void *response)
{
    struct member *m = container_of(call, struct member, call);
    const struct join_group_response *resp = response;
    bool is_told_id = r == 0 && resp->error_code == MEMBER_ID_REQUIRED;

    if (r < 0 || (resp->error_code && !is_told_id) || resp->member_id.len >= MEMBER_ID_MAX) {
        start_over(m);
        return;
    }
    m->id_len = (uint8_t)resp->member_id.len;
    memcpy(m->id, resp->member_id.p, resp->member_id.len);
    m->generation = resp->generation_id;
    if (is_told_id)
        join(m);
    else
        sync(m);
}

static void join(struct member *m)
{
    struct join_group_request_protocol range = {STR("range"), m->swarm->subscription};
    char name[32];
    struct join_group_request q = {
        .group_id = groups_name("live", m->number, name, sizeof name),
        .session_timeout_ms = SESSION_MS,
        .rebalance_timeout_ms = REBALANCE_MS,
        .member_id = id_of(m),
        .group_instance_id = STR_NULL,
        .protocol_type = STR("consumer"),
        .protocols = &range,
        .protocols_count = 1,
        .reason = STR_NULL,
    };

    send_call(m, API_JOIN_GROUP, JOIN_VERSION, &q, on_joined);
}

static void on_found(struct peer_call *call, int r, const void *response)
{
    struct member *m = container_of(call, struct member, call);
    const struct find_coordinator_response *resp = response;

    if (r < 0 || resp->error_code)
        start_over(m);
    else
        join(m);
}

static void find(struct member *m)
{
    char name[32];
    struct find_coordinator_request q = {.key = groups_name("live", m->number, name, sizeof name)};

    send_call(m, API_FIND_COORDINATOR, FIND_VERSION, &q, on_found);
}

/* ---- living ---- */

static bool is_steady(const struct swarm *s)
{
    return s->steady_us != 0;
}

static void beat(struct timer *t);

static void beat_later(struct member *m, int64_t wait_us)
{
    m->next.fire = beat;
    timer_arm(m->swarm->reactor, &m->next, reactor_now_us(m->swarm->reactor) + wait_us);
}

static void on_beat(struct peer_call *call, int r, const void *response)
{
    struct member *m = container_of(call, struct member, call);
    const struct heartbeat_response *resp = response;

    if (r < 0 || resp->error_code) {
        m->swarm->sums->failed += is_steady(m->swarm) && !m->swarm->is_ending;
        start_over(m);
        return;
    }
    beat_later(m, (int64_t)m->swarm->opts->heartbeat_ms * 1000);
}

static void beat(struct timer *t)
{
    struct member *m = container_of(t, struct member, next);
    char name[32];
    struct heartbeat_request q = {
        .group_id = groups_name("live", m->number, name, sizeof name),
        .generation_id = m->generation,
        .member_id = id_of(m),
        .group_instance_id = STR_NULL,
    };

    send_call(m, API_HEARTBEAT, HEARTBEAT_VERSION, &q, on_beat);
}

static void commit(struct timer *t);

/* Those that are overdue follow at once; each counts from when it was due. */
static void commit_later(struct member *m)
{
    m->commit.fire = commit;
    timer_arm(m->swarm->reactor, &m->commit, m->commit_due_us);
}

static void on_committed(struct peer_call *call, int r, const void *response)
{
    struct member *m = container_of(call, struct member, commit_call);
    struct swarm *s = m->swarm;

    m->is_committing = false;
    if (s->is_ending)
        return;
    if (is_steady(s) && m->commit_due_us >= s->steady_us) {
        s->sums->commits++;
        s->sums->failed += r < 0 || !groups_all_committed(response);
        latency_add(&s->sums->latency, now_us() - m->commit_due_us);
    }
    m->commit_due_us += (int64_t)s->opts->interval_ms * 1000;
    if (m->is_live)
        commit_later(m);
}

static void commit(struct timer *t)
{
    struct member *m = container_of(t, struct member, commit);
    char name[32];
    struct offset_commit_request q = {
        .group_id = groups_name("live", m->number, name, sizeof name),
        .generation_id_or_member_epoch = m->generation,
        .member_id = id_of(m),
        .group_instance_id = STR_NULL,
        .retention_time_ms = -1,
        .topics = m->swarm->topic,
        .topics_count = 1,
    };

    m->is_committing = true;
    m->commit_call = (struct peer_call){.api_key = API_OFFSET_COMMIT,
                                        .version = COMMIT_VERSION,
                                        .request = &q,
                                        .done = on_committed};
    peer_send(m->peer, &m->commit_call);
}

/* Members are spread over the interval. */
static int64_t share_us(const struct member *m, int32_t interval_ms)
{
    return (int64_t)interval_ms * 1000 * m->number / m->swarm->opts->groups;
}

static void begin_life(struct member *m)
{
    struct swarm *s = m->swarm;

    m->is_live = true;
    s->live++;
    if (s->live == s->opts->groups && !is_steady(s)) {
        s->steady_us = now_us();
        s->sums->join_us = s->steady_us - s->start_us;
    }
    beat_later(m, share_us(m, s->opts->heartbeat_ms));
    m->commit_due_us = now_us() + share_us(m, s->opts->interval_ms);
    if (!m->is_committing)
        commit_later(m);
    start_more(s);
}

/* ---- all of them ---- */

static void on_start(struct message *msg)
{
    struct swarm *s = container_of(msg, struct swarm, start);

    s->start_us = now_us();
    start_more(s);
}

static void make_members(struct swarm *s)
{
    const struct peer_opts peer = {.host = s->opts->host,
                                   .port = s->opts->port,
                                   .client_id = "group-load",
                                   .connect_timeout_us = TIMEOUT_US,
                                   .request_timeout_us = TIMEOUT_US};

    s->members = xcalloc((size_t)s->opts->groups, sizeof *s->members);
    for (int32_t i = 0; i < s->opts->groups; i++) {
        s->members[i].swarm = s;
        s->members[i].number = i;
        s->members[i].peer = peer_new(s->reactor, &peer);
    }
}

/* What a consumer of that topic says and is given. */
static int make_texts(struct swarm *s)
{
    struct str topic = str_of(s->opts->topic);
    struct consumer_protocol_subscription says = {
        .topics = &topic, .topics_count = 1, .generation_id = -1, .rack_id = STR_NULL};
    int32_t *partitions = arena_new_array(&s->arena, int32_t, (size_t)s->opts->partitions);
    struct consumer_protocol_assignment_assigned_partition all = {topic, partitions,
                                                                  s->opts->partitions};
    struct consumer_protocol_assignment given = {.assigned_partitions = &all,
                                                 .assigned_partitions_count = 1};
    struct writer w;

    for (int32_t i = 0; i < s->opts->partitions; i++)
        partitions[i] = i;
    writer_init(&w, &s->arena);
    int r = codec_encode_versioned(&consumer_protocol_subscription_desc, 3, &says, &w);
    s->subscription = writer_flat(&w);
    writer_init(&w, &s->arena);
    if (r == 0)
        r = codec_encode_versioned(&consumer_protocol_assignment_desc, 3, &given, &w);
    s->assignment = writer_flat(&w);
    return r;
}

static void end(struct swarm *s)
{
    s->is_ending = true;
    for (int32_t i = 0; i < s->opts->groups; i++) {
        timer_cancel(s->reactor, &s->members[i].next);
        timer_cancel(s->reactor, &s->members[i].commit);
        peer_free(s->members[i].peer);
    }
    free(s->members);
    groups_topic_free(s->topic);
    arena_deinit(&s->arena);
}

static bool is_over(const struct swarm *s)
{
    if (is_steady(s))
        return now_us() - s->steady_us >= (int64_t)(s->opts->seconds * 1e6);
    return now_us() - s->start_us > TIMEOUT_US && s->start_us != 0;
}

int groups_live(struct reactor *r, const struct group_opts *opts, struct group_sums *sums)
{
    struct swarm s = {.reactor = r, .opts = opts, .sums = sums, .start = {.run = on_start}};
    int rc = make_texts(&s);

    if (rc < 0)
        return rc;
    s.topic = groups_topic(opts);
    make_members(&s);
    reactor_post(r, &s.start);
    while (!is_over(&s))
        reactor_turn(r, 10000);
    if (!is_steady(&s))
        fprintf(stderr, "klamm-group-load: %d of %d members have joined in time\n", s.live,
                opts->groups);
    end(&s);
    return is_steady(&s) ? 0 : -ETIMEDOUT;
}
