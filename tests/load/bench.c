/*
 * bench.c - klamm-load bench: throughput, or latency at a fixed rate
 *
 * A record's latency counts from the moment at which it was due, not from when it could be sent
 * (no coordinated omission).
 */
#include "tests/load/latency.h"
#include "tests/load/load.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum {
    STEP_US = 100, /* reports are looked for this often, so latencies are that exact */
    WARM_US =
        1000000, /* at a fixed rate, records due before that are not measured: connections open */
};

struct bench {
    struct latency latency;
    uint64_t acked, failed;
    int64_t last_ack_us, measured_from_us;
};

static struct bench bench;

static void on_report(rd_kafka_t *rk UNUSED, const rd_kafka_message_t *msg, void *opaque UNUSED)
{
    int64_t due = (int64_t)(intptr_t)msg->_private, now = load_now_us();

    if (msg->err) {
        bench.failed++;
        return;
    }
    bench.acked++;
    bench.last_ack_us = now;
    if (due >= bench.measured_from_us)
        latency_add(&bench.latency, now - due);
}

static bool send_one(rd_kafka_t *rk, const struct load_opts *opts, uint64_t n, int64_t due)
{
    static char value[LOAD_MAX_VALUE];
    int partition = (int)(n % (uint64_t)opts->partitions);

    load_fill(value, opts->size, partition, n);
    return rd_kafka_producev(rk, RD_KAFKA_V_TOPIC(opts->topic), RD_KAFKA_V_PARTITION(partition),
                             RD_KAFKA_V_VALUE(value, opts->size),
                             RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
                             RD_KAFKA_V_OPAQUE((void *)(intptr_t)due), RD_KAFKA_V_END) == 0;
}

static void sleep_until(int64_t us)
{
    const struct timespec ts = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};

    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

static uint64_t run(rd_kafka_t *rk, const struct load_opts *opts, int64_t start)
{
    uint64_t sent = 0;

    while (!load_stopped && (!opts->records || sent < opts->records)) {
        int64_t now = load_now_us();
        double elapsed = (double)(now - start) / 1e6;
        if (opts->seconds > 0 && elapsed >= opts->seconds)
            break;
        uint64_t due = opts->rate > 0 ? (uint64_t)(elapsed * opts->rate) : sent + 500;
        bool full = false;
        while (sent < due && !full) {
            int64_t at = opts->rate > 0 ? start + (int64_t)((double)sent * 1e6 / opts->rate) : now;
            full = !send_one(rk, opts, sent, at);
            sent += !full;
        }
        rd_kafka_poll(rk, full ? 1 : 0);
        if (opts->rate > 0 && !full)
            sleep_until(
                MIN(start + (int64_t)((double)(sent + 1) * 1e6 / opts->rate), now + STEP_US));
    }
    return sent;
}

static double cpu_seconds(void)
{
    struct rusage used;

    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

int load_bench(struct load_opts *opts)
{
    rd_kafka_conf_set_dr_msg_cb(opts->conf, on_report);
    rd_kafka_t *rk = load_client(opts, RD_KAFKA_PRODUCER);
    if (!rk)
        return 1;
    int64_t start = load_now_us();
    bench.measured_from_us = opts->rate > 0 ? start + WARM_US : start;
    uint64_t sent = run(rk, opts, start);
    rd_kafka_flush(rk, opts->flush_ms);
    double seconds = (double)(bench.last_ack_us - start) / 1e6;
    printf("{\"sent\": %" PRIu64 ", \"acked\": %" PRIu64 ", \"failed\": %" PRIu64
           ", \"seconds\": %.3f, \"cpu\": %.3f, ",
           sent, bench.acked, bench.failed, seconds, cpu_seconds());
    latency_print(&bench.latency);
    printf("}\n");
    rd_kafka_destroy(rk);
    return bench.failed ? 3 : 0;
}
