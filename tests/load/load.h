/*
 * load.h - a client that drives brokers in the tests and benchmarks, on Debian's librdkafka
 *
 * Every record's value starts with "partition:seq:", seq counting from 0 in each partition, so that
 * what was acknowledged and what is read can be compared record by record. One thread each: all of
 * it runs in main(), callbacks come from rd_kafka_poll().
 */
#pragma once

#include "common/base/base.h"

#include <inttypes.h>
#include <librdkafka/rdkafka.h>
#include <signal.h>
#include <stdio.h>

enum { LOAD_MAX_PARTITIONS = 1024, LOAD_MAX_VALUE = 1 << 20 };

struct load_opts {
    const char *topic;
    int partitions;
    double rate;           /* records a second over all partitions; 0 = as fast as it goes */
    double seconds;        /* 0 = until SIGTERM */
    uint64_t records;      /* 0 = no limit */
    size_t size;           /* bytes of a value */
    const char *log;       /* file for a line per acknowledged or failed record */
    int flush_ms;          /* how long to wait for acknowledgements at the end */
    bool quiet;            /* print no error events */
    rd_kafka_conf_t *conf; /* owned until a client takes it */
};

/* Set by SIGTERM and SIGINT: stop sending, wait for what is under way, say the sums. */
extern volatile sig_atomic_t load_stopped;

/* Exit codes: 0 done, 1 could not begin, 3 the client met a fatal error. Output: one JSON line. */
int load_produce(struct load_opts *opts);
int load_read(struct load_opts *opts);
int load_bench(struct load_opts *opts);

/* Monotonic microseconds. */
int64_t load_now_us(void);
/* Writes "partition:seq:" and filler; value has size bytes, at least 32. */
void load_fill(char *value, size_t size, int partition, uint64_t seq);
/* Takes opts->conf; NULL after saying why. */
rd_kafka_t *load_client(struct load_opts *opts, rd_kafka_type_t type);
