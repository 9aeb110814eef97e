/*
 * main.c - klamm-broker: reads server.properties, runs the broker in the foreground until SIGTERM
 * or SIGINT
 *
 * Exit codes: 0 after a clean stop, 1 where it could not start or had to give up, 2 for wrong
 * arguments.
 */
#include "broker/server/server.h"
#include "common/base/clock.h"
#include "common/base/mem.h"
#include "common/base/say.h"
#include "common/io/fs.h"

#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>

static const char usage[] =
    "usage: klamm-broker CONFIG [--override KEY=VALUE]... [--log-level debug|info|warn|error]\n"
    "\n"
    "Runs a broker with the server.properties CONFIG in the foreground. SIGTERM or SIGINT stops "
    "it:\n"
    "leaders move away first (controlled shutdown), then the logs are closed cleanly.\n";

enum { MAX_CACHED_FILES = 100000 };

struct args {
    const char *config;
    char **overrides;
    int override_count;
};

static int set_level(const char *name)
{
    static const char *const names[] = {"debug", "info", "warn", "error"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (strcmp(name, names[i]) == 0) {
            say_set_level((enum say_level)(SAY_DEBUG + i));
            return 0;
        }
    }
    fprintf(stderr, "klamm-broker: --log-level %s: expected debug, info, warn or error\n", name);
    return -1;
}

static int parse_args(int argc, char **argv, struct args *args)
{
    static const struct option options[] = {
        {"override", required_argument, NULL, 'o'},
        {"log-level", required_argument, NULL, 'l'},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'v'},
        {0},
    };
    int c;

    args->overrides = xnew_array(char *, (size_t)argc);
    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (c) {
        case 'o':
            args->overrides[args->override_count++] = optarg;
            break;
        case 'l':
            if (set_level(optarg) < 0)
                return 2;
            break;
        case 'h':
            fputs(usage, stdout);
            return 0;
        case 'v':
            puts("klamm-broker " KLAMM_VERSION);
            return 0;
        default:
            fputs(usage, stderr);
            return 2;
        }
    }
    if (optind != argc - 1) {
        fprintf(stderr, "klamm-broker: expected one CONFIG file\n%s", usage);
        return 2;
    }
    args->config = argv[optind];
    return -1;
}

/* As many files as we may have: each connection and each segment in use is one. */
static void raise_file_limit(void)
{
    struct rlimit lim;

    if (getrlimit(RLIMIT_NOFILE, &lim) < 0)
        return;
    lim.rlim_cur = lim.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &lim) < 0)
        say_warn("the limit of open files stays as it is");
    /* A quarter for files that nobody uses just now; the others are for those in use, and for
     * connections. */
    file_cache_set_limit((int)MIN(lim.rlim_cur / 4, (rlim_t)MAX_CACHED_FILES));
    if (lim.rlim_max < 100000)
        say_info(
            "open files are limited to %llu; a busy broker wants 100000 (ulimit -n, LimitNOFILE=)",
            (unsigned long long)lim.rlim_max);
}

static int run(const struct broker_conf *conf, const sigset_t *stop_signals)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    struct server *server;
    int sig;

    if (server_start(conf, &server, &why) < 0) {
        say_error("cannot start: %s", why.s ? why.s : "unknown reason");
        return 1;
    }
    sigwait(stop_signals, &sig);
    bool has_failed = server_has_failed(server);
    if (has_failed)
        say_error("stopping: no log dir is left that can be written; mend or replace the disks "
                  "named above, then start again");
    else
        say_info("stopping on signal %d", sig);
    server_stop(server);
    return has_failed ? 1 : 0;
}

int main(int argc, char **argv)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    struct broker_conf *conf = NULL;
    struct args args = {0};
    sigset_t stop_signals;
    int r = parse_args(argc, argv, &args);

    if (r < 0) {
        signal(SIGPIPE, SIG_IGN);
        sigemptyset(&stop_signals);
        sigaddset(&stop_signals, SIGTERM);
        sigaddset(&stop_signals, SIGINT);
        sigprocmask(SIG_BLOCK, &stop_signals, NULL);
        if (broker_conf_load(args.config, args.overrides, args.override_count, &conf, &why) < 0) {
            fprintf(stderr, "klamm-broker: %s\n", why.s);
            r = 1;
        } else {
            raise_file_limit();
            r = run(conf, &stop_signals);
        }
    }
    broker_conf_free(conf);
    free(args.overrides);
    return r;
}
