/*
 * main.c - klamm-load: options, signals, and what the commands share
 *
 *   klamm-load produce --topic T [options]    send, log the fate of each record
 *   klamm-load read --topic T [options]       print each record: partition, offset, value
 *   klamm-load bench --topic T [options]      send, print rates and latencies
 *
 * Exits 2 on a bad option.
 */
#include "tests/load/load.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

volatile sig_atomic_t load_stopped;

static const struct option long_options[] = {
    {"topic", required_argument, NULL, 't'},   {"partitions", required_argument, NULL, 'p'},
    {"rate", required_argument, NULL, 'r'},    {"seconds", required_argument, NULL, 's'},
    {"records", required_argument, NULL, 'n'}, {"size", required_argument, NULL, 'z'},
    {"log", required_argument, NULL, 'l'},     {"flush-ms", required_argument, NULL, 'f'},
    {"quiet", no_argument, NULL, 'q'},         {NULL, 0, NULL, 0},
};

static void on_signal(int sig UNUSED)
{
    load_stopped = 1;
}

int64_t load_now_us(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

void load_fill(char *value, size_t size, int partition, uint64_t seq)
{
    int n = snprintf(value, size, "%d:%" PRIu64 ":", partition, seq);

    memset(value + n, 'x', size - (size_t)n);
}

static void on_error(rd_kafka_t *rk, int err, const char *reason, void *opaque)
{
    const struct load_opts *opts = opaque;
    char text[256];

    if (err == RD_KAFKA_RESP_ERR__FATAL) {
        rd_kafka_resp_err_t cause = rd_kafka_fatal_error(rk, text, sizeof text);
        fprintf(stderr, "klamm-load: fatal: %s: %s\n", rd_kafka_err2name(cause), text);
        load_stopped = 1;
    } else if (!opts->quiet) {
        fprintf(stderr, "klamm-load: %s: %s\n", rd_kafka_err2name(err), reason);
    }
}

rd_kafka_t *load_client(struct load_opts *opts, rd_kafka_type_t type)
{
    char why[512];

    rd_kafka_conf_set_opaque(opts->conf, opts);
    rd_kafka_conf_set_error_cb(opts->conf, on_error);
    rd_kafka_t *rk = rd_kafka_new(type, opts->conf, why, sizeof why);
    if (!rk) {
        rd_kafka_conf_destroy(opts->conf);
        fprintf(stderr, "klamm-load: %s\n", why);
    }
    opts->conf = NULL;
    return rk;
}

/* One -X key=value. */
static int set_property(rd_kafka_conf_t *conf, char *arg)
{
    char why[512], *eq = strchr(arg, '=');

    if (!eq)
        return -EINVAL;
    *eq = '\0';
    if (rd_kafka_conf_set(conf, arg, eq + 1, why, sizeof why) != RD_KAFKA_CONF_OK) {
        fprintf(stderr, "klamm-load: %s\n", why);
        return -EINVAL;
    }
    return 0;
}

static int parse_option(struct load_opts *opts, int c)
{
    switch (c) {
    case 't':
        opts->topic = optarg;
        return 0;
    case 'p':
        opts->partitions = (int)strtol(optarg, NULL, 10);
        return 0;
    case 'r':
        opts->rate = strtod(optarg, NULL);
        return 0;
    case 's':
        opts->seconds = strtod(optarg, NULL);
        return 0;
    case 'n':
        opts->records = strtoull(optarg, NULL, 10);
        return 0;
    case 'z':
        opts->size = strtoul(optarg, NULL, 10);
        return 0;
    case 'l':
        opts->log = optarg;
        return 0;
    case 'f':
        opts->flush_ms = (int)strtol(optarg, NULL, 10);
        return 0;
    case 'q':
        opts->quiet = true;
        return 0;
    case 'X':
        return set_property(opts->conf, optarg);
    default:
        return -EINVAL;
    }
}

static int parse(struct load_opts *opts, int argc, char **argv)
{
    int c;

    while ((c = getopt_long(argc, argv, "X:", long_options, NULL)) != -1) {
        int r = parse_option(opts, c);
        if (r < 0)
            return r;
    }
    bool sane = opts->topic && opts->partitions >= 1 && opts->partitions <= LOAD_MAX_PARTITIONS &&
                opts->size >= 32 && opts->size <= LOAD_MAX_VALUE;
    return sane ? 0 : -EINVAL;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(struct load_opts *opts);
    } commands[] = {{"produce", load_produce}, {"read", load_read}, {"bench", load_bench}};
    struct load_opts opts = {.partitions = 1, .size = 100, .flush_ms = 60000};
    const struct sigaction stop = {.sa_handler = on_signal};

    sigaction(SIGTERM, &stop, NULL);
    sigaction(SIGINT, &stop, NULL);
    opts.conf = rd_kafka_conf_new();
    int parsed = parse(&opts, argc, argv);
    const char *name = optind < argc ? argv[optind] : "";
    for (size_t i = 0; parsed == 0 && i < ARRAY_LEN(commands); i++) {
        if (strcmp(commands[i].name, name) == 0)
            return commands[i].run(&opts);
    }
    rd_kafka_conf_destroy(opts.conf);
    fprintf(stderr, "usage: klamm-load produce|read|bench --topic T [--partitions N] [--rate N] "
                    "[--seconds N] [--records N] [--size N] [--log FILE] [-X key=value]...\n");
    return 2;
}
