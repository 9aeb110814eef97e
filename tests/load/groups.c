/*
 * groups.c - klamm-group-load: options, and what the commands share
 *
 *   klamm-group-load live --broker HOST:PORT --topic T ...    members that heartbeat and commit
 *   klamm-group-load fill --broker HOST:PORT --topic T ...    one commit for each group
 *
 * Prints one JSON line. Exits 0, 1 where something failed, 2 on a bad option.
 */
#include "tests/load/groups.h"

#include "common/base/mem.h"
#include "common/wire/messages.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static const struct option long_options[] = {
    {"broker", required_argument, NULL, 'b'},       {"topic", required_argument, NULL, 't'},
    {"partitions", required_argument, NULL, 'p'},   {"groups", required_argument, NULL, 'g'},
    {"seconds", required_argument, NULL, 's'},      {"interval-ms", required_argument, NULL, 'i'},
    {"heartbeat-ms", required_argument, NULL, 'h'}, {NULL, 0, NULL, 0},
};

struct str groups_name(const char *kind, int32_t number, char *room, size_t size)
{
    int n = snprintf(room, size, "%s-%" PRId32, kind, number);

    return (struct str){room, (size_t)n};
}

struct offset_commit_request_topic *groups_topic(const struct group_opts *opts)
{
    struct offset_commit_request_topic *t = xnew(struct offset_commit_request_topic);

    t->name = str_of(opts->topic);
    t->partitions_count = opts->partitions;
    t->partitions = xcalloc((size_t)opts->partitions, sizeof *t->partitions);
    for (int32_t i = 0; i < opts->partitions; i++)
        t->partitions[i] = (struct offset_commit_request_partition){.partition_index = i,
                                                                    .committed_offset = 1000 + i,
                                                                    .committed_leader_epoch = 1,
                                                                    .commit_timestamp = -1,
                                                                    .committed_metadata = STR("")};
    return t;
}

void groups_topic_free(struct offset_commit_request_topic *t)
{
    free(t->partitions);
    free(t);
}

bool groups_all_committed(const struct offset_commit_response *resp)
{
    for (int32_t i = 0; i < resp->topics_count; i++) {
        for (int32_t k = 0; k < resp->topics[i].partitions_count; k++) {
            if (resp->topics[i].partitions[k].error_code != 0)
                return false;
        }
    }
    return resp->topics_count > 0;
}

/* "host:port" */
static int set_broker(struct group_opts *opts, const char *text)
{
    const char *colon = strrchr(text, ':');

    if (!colon)
        return -EINVAL;
    free(opts->host);
    opts->host = strndup(text, (size_t)(colon - text));
    opts->port = (int)strtol(colon + 1, NULL, 10);
    return opts->port > 0 && opts->port < 65536 ? 0 : -EINVAL;
}

static int parse_option(struct group_opts *opts, int c)
{
    switch (c) {
    case 'b':
        return set_broker(opts, optarg);
    case 't':
        opts->topic = optarg;
        return 0;
    case 'p':
        opts->partitions = (int32_t)strtol(optarg, NULL, 10);
        return 0;
    case 'g':
        opts->groups = (int32_t)strtol(optarg, NULL, 10);
        return 0;
    case 's':
        opts->seconds = strtod(optarg, NULL);
        return 0;
    case 'i':
        opts->interval_ms = (int32_t)strtol(optarg, NULL, 10);
        return 0;
    case 'h':
        opts->heartbeat_ms = (int32_t)strtol(optarg, NULL, 10);
        return 0;
    default:
        return -EINVAL;
    }
}

static int parse(struct group_opts *opts, int argc, char **argv)
{
    int c;

    while ((c = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
        int r = parse_option(opts, c);
        if (r < 0)
            return r;
    }
    bool sane = opts->host && opts->topic && opts->partitions > 0 && opts->groups > 0 &&
                opts->seconds > 0 && opts->interval_ms > 0 && opts->heartbeat_ms > 0;
    return sane ? 0 : -EINVAL;
}

/* A connection for each member. */
static int raise_file_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return -errno;
    limit.rlim_cur = limit.rlim_max;
    return setrlimit(RLIMIT_NOFILE, &limit) < 0 ? -errno : 0;
}

static double cpu_seconds(void)
{
    struct rusage used;

    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

static int run(int (*command)(struct reactor *r, const struct group_opts *opts,
                              struct group_sums *sums),
               const struct group_opts *opts)
{
    static struct group_sums sums;
    struct reactor *reactor;
    int r = raise_file_limit();

    if (r == 0)
        r = reactor_new("groups", &clock_system, &reactor);
    if (r < 0) {
        fprintf(stderr, "klamm-group-load: %s\n", strerror(-r));
        return 1;
    }
    int64_t start = clock_mono_us(&clock_system);
    r = command(reactor, opts, &sums);
    reactor_free(reactor);
    printf("{\"groups\": %" PRId32 ", \"commits\": %" PRIu64 ", \"failed\": %" PRIu64
           ", \"rejoins\": %" PRIu64 ", \"join_ms\": %" PRId64
           ", \"seconds\": %.3f, \"cpu\": %.3f, ",
           opts->groups, sums.commits, sums.failed, sums.rejoins, sums.join_us / 1000,
           (double)(clock_mono_us(&clock_system) - start) / 1e6, cpu_seconds());
    latency_print(&sums.latency);
    printf("}\n");
    return r < 0 || sums.failed ? 1 : 0;
}

int main(int argc, char **argv)
{
    struct group_opts opts = {
        .partitions = 1, .groups = 10000, .seconds = 10, .interval_ms = 5000, .heartbeat_ms = 3000};
    int parsed = parse(&opts, argc, argv), r = 2;
    const char *name = optind < argc ? argv[optind] : "";

    if (parsed == 0 && strcmp(name, "live") == 0)
        r = run(groups_live, &opts);
    else if (parsed == 0 && strcmp(name, "fill") == 0)
        r = run(groups_fill, &opts);
    else
        fprintf(stderr, "usage: klamm-group-load live|fill --broker HOST:PORT --topic T "
                        "[--partitions N] [--groups N] [--seconds N] [--interval-ms N] "
                        "[--heartbeat-ms N]\n");
    free(opts.host);
    return r;
}
