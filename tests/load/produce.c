/*
 * produce.c - klamm-load produce: send at a steady rate through whatever happens, and log each fate
 *
 * The log has a line per record, in the order of the reports: "A partition seq offset" when it was
 * acknowledged, "F partition seq error" when it failed. Lines reach the file within 100 ms.
 */
#include "tests/load/load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct lane {
    uint64_t sent, acked, failed;
    int64_t waits_since_us; /* since when at least one record is under way; 0 = none */
    int64_t longest_wait_us;
};

struct producer {
    FILE *log;
    struct lane lanes[LOAD_MAX_PARTITIONS];
};

static struct producer producer;

static void on_report(rd_kafka_t *rk UNUSED, const rd_kafka_message_t *msg, void *opaque UNUSED)
{
    uint64_t seq = (uint64_t)(uintptr_t)msg->_private;
    struct lane *lane = &producer.lanes[msg->partition];
    int64_t now = load_now_us();

    if (msg->err) {
        lane->failed++;
        fprintf(producer.log, "F %d %" PRIu64 " %s\n", msg->partition, seq,
                rd_kafka_err2name(msg->err));
    } else {
        lane->acked++;
        fprintf(producer.log, "A %d %" PRIu64 " %" PRId64 "\n", msg->partition, seq, msg->offset);
    }
    lane->longest_wait_us = MAX(lane->longest_wait_us, now - lane->waits_since_us);
    lane->waits_since_us = lane->sent > lane->acked + lane->failed ? now : 0;
}

/* Anything but a full queue is worth a word, but not one for each record. */
static void say_refused(rd_kafka_resp_err_t err)
{
    static int64_t said_us;
    int64_t now = load_now_us();

    if (err == RD_KAFKA_RESP_ERR__QUEUE_FULL || now - said_us < 1000000)
        return;
    said_us = now;
    fprintf(stderr, "klamm-load: the client takes no record: %s\n", rd_kafka_err2name(err));
}

/* False when the client takes none now, as when its queue is full. */
static bool send_one(rd_kafka_t *rk, const struct load_opts *opts, int partition)
{
    static char value[LOAD_MAX_VALUE];
    struct lane *lane = &producer.lanes[partition];

    load_fill(value, opts->size, partition, lane->sent);
    rd_kafka_resp_err_t err = rd_kafka_producev(
        rk, RD_KAFKA_V_TOPIC(opts->topic), RD_KAFKA_V_PARTITION(partition),
        RD_KAFKA_V_VALUE(value, opts->size), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
        RD_KAFKA_V_OPAQUE((void *)(uintptr_t)lane->sent), RD_KAFKA_V_END);
    if (err) {
        say_refused(err);
        return false;
    }
    if (!lane->waits_since_us)
        lane->waits_since_us = load_now_us();
    lane->sent++;
    return true;
}

static void run(rd_kafka_t *rk, const struct load_opts *opts)
{
    int64_t start = load_now_us(), flushed = start;
    uint64_t sent = 0;

    while (!load_stopped && (!opts->records || sent < opts->records)) {
        int64_t now = load_now_us();
        double elapsed = (double)(now - start) / 1e6;
        if (opts->seconds > 0 && elapsed >= opts->seconds)
            break;
        uint64_t due = opts->rate > 0 ? (uint64_t)(elapsed * opts->rate) : sent + 1000;
        if (opts->records)
            due = MIN(due, opts->records);
        while (sent < due && send_one(rk, opts, (int)(sent % (uint64_t)opts->partitions)))
            sent++;
        rd_kafka_poll(rk, sent < due ? 10 : 1);
        if (now - flushed > 100000) {
            fflush(producer.log);
            flushed = now;
        }
    }
}

/* The log goes on being written while the last records are awaited. */
static void finish(rd_kafka_t *rk, const struct load_opts *opts)
{
    int64_t deadline = load_now_us() + (int64_t)opts->flush_ms * 1000;

    while (rd_kafka_outq_len(rk) > 0 && load_now_us() < deadline) {
        rd_kafka_flush(rk, 100);
        fflush(producer.log);
        if (rd_kafka_fatal_error(rk, NULL, 0))
            rd_kafka_purge(rk, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    }
}

static void say_sums(const struct load_opts *opts, bool fatal)
{
    uint64_t sent = 0, acked = 0, failed = 0;
    int64_t longest = 0;

    for (int i = 0; i < opts->partitions; i++) {
        const struct lane *lane = &producer.lanes[i];
        sent += lane->sent;
        acked += lane->acked;
        failed += lane->failed;
        longest = MAX(longest, lane->longest_wait_us);
    }
    printf("{\"sent\": %" PRIu64 ", \"acked\": %" PRIu64 ", \"failed\": %" PRIu64
           ", \"longest_wait_ms\": %" PRId64 ", \"fatal\": %s}\n",
           sent, acked, failed, longest / 1000, fatal ? "true" : "false");
}

int load_produce(struct load_opts *opts)
{
    producer.log = opts->log ? fopen(opts->log, "a") : fopen("/dev/null", "w");
    if (!producer.log) {
        fprintf(stderr, "klamm-load: %s: %s\n", opts->log, strerror(errno));
        rd_kafka_conf_destroy(TAKE(opts->conf));
        return 1;
    }
    rd_kafka_conf_set_dr_msg_cb(opts->conf, on_report);
    rd_kafka_t *rk = load_client(opts, RD_KAFKA_PRODUCER);
    if (!rk)
        return 1;
    run(rk, opts);
    finish(rk, opts);
    bool fatal = rd_kafka_fatal_error(rk, NULL, 0) != RD_KAFKA_RESP_ERR_NO_ERROR;
    fclose(producer.log);
    say_sums(opts, fatal);
    fflush(stdout);
    /* Records that nobody answered would hold the destructor up. */
    rd_kafka_purge(rk, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    producer.log = fopen("/dev/null", "w");
    rd_kafka_flush(rk, 1000);
    rd_kafka_destroy(rk);
    return fatal ? 3 : 0;
}
