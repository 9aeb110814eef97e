/*
 * groups.h - klamm-group-load: thousands of consumer groups on one broker, without a client library
 * each
 *
 * Raw protocol through common/client, on one reactor that the main thread drives; all of it runs
 * there.
 */
#pragma once

#include "common/base/str.h"
#include "common/io/reactor.h"
#include "tests/load/latency.h"

struct group_opts {
    char *host; /* owned */
    int port;
    const char *topic;
    int32_t partitions; /* each of them is committed */
    int32_t groups;
    double seconds; /* of steady state */
    int32_t interval_ms;
    int32_t heartbeat_ms;
};

/* What came of it. */
struct group_sums {
    uint64_t commits;       /* requests */
    uint64_t failed;        /* of those, and heartbeats */
    uint64_t rejoins;       /* members that had to join again */
    int64_t join_us;        /* until every member had its assignment */
    struct latency latency; /* of a commit, from when it was due */
};

/* One member in each group, on a connection of its own: joins, sends heartbeats and commits. */
int groups_live(struct reactor *r, const struct group_opts *opts, struct group_sums *sums);
/* Commits of no member, a request for each group with all partitions, on one connection. */
int groups_fill(struct reactor *r, const struct group_opts *opts, struct group_sums *sums);

/* "live-7": those of members that live and those that are filled are not the same. */
struct str groups_name(const char *kind, int32_t number, char *room, size_t size);

/* What a commit looks like; the arrays are shared by all. */
struct offset_commit_request_topic;
struct offset_commit_request_topic *groups_topic(const struct group_opts *opts);
void groups_topic_free(struct offset_commit_request_topic *t);
/* Whether each partition was committed. */
struct offset_commit_response;
bool groups_all_committed(const struct offset_commit_response *resp);
