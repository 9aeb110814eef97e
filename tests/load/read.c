/*
 * read.c - klamm-load read: every record of a topic, up to its end as it stood at the start
 *
 * Prints "partition offset value-up-to-the-filler" a record, then nothing else; a partition that
 * cannot be read within --seconds (60) is an error.
 */
#include "tests/load/load.h"

#include <string.h>

struct ends {
    int64_t next[LOAD_MAX_PARTITIONS]; /* offset to be read next */
    int64_t end[LOAD_MAX_PARTITIONS];  /* first offset that is not wanted */
};

static int find_ends(rd_kafka_t *rk, const struct load_opts *opts, struct ends *ends)
{
    for (int i = 0; i < opts->partitions; i++) {
        rd_kafka_resp_err_t err = rd_kafka_query_watermark_offsets(
            rk, opts->topic, i, &ends->next[i], &ends->end[i], 30000);
        if (err) {
            fprintf(stderr, "klamm-load: offsets of %s-%d: %s\n", opts->topic, i,
                    rd_kafka_err2name(err));
            return 1;
        }
    }
    return 0;
}

static rd_kafka_resp_err_t assign(rd_kafka_t *rk, const struct load_opts *opts,
                                  const struct ends *ends)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(opts->partitions);

    for (int i = 0; i < opts->partitions; i++) {
        if (ends->next[i] < ends->end[i])
            rd_kafka_topic_partition_list_add(list, opts->topic, i)->offset = ends->next[i];
    }
    rd_kafka_resp_err_t err = rd_kafka_assign(rk, list);
    rd_kafka_topic_partition_list_destroy(list);
    return err;
}

static bool all_read(const struct load_opts *opts, const struct ends *ends)
{
    for (int i = 0; i < opts->partitions; i++) {
        if (ends->next[i] < ends->end[i])
            return false;
    }
    return true;
}

static void print(const rd_kafka_message_t *msg)
{
    const char *value = msg->payload ? msg->payload : "";
    const char *filler = memchr(value, 'x', msg->len);
    size_t len = filler ? (size_t)(filler - value) : msg->len;

    printf("%d %" PRId64 " %.*s\n", msg->partition, msg->offset, (int)len, value);
}

/* The end of a partition may consist of offsets without records (markers, compaction): the client's
 * EOF event tells its position there. */
static int read_all(rd_kafka_t *rk, const struct load_opts *opts, struct ends *ends)
{
    double seconds = opts->seconds > 0 ? opts->seconds : 60;
    int64_t deadline = load_now_us() + (int64_t)(seconds * 1e6);

    while (!all_read(opts, ends)) {
        rd_kafka_message_t *msg = rd_kafka_consumer_poll(rk, 100);
        if (msg) {
            if (msg->err == RD_KAFKA_RESP_ERR__PARTITION_EOF)
                ends->next[msg->partition] = msg->offset;
            else if (msg->err)
                fprintf(stderr, "klamm-load: %s\n", rd_kafka_message_errstr(msg));
            else if (msg->offset < ends->end[msg->partition])
                print(msg);
            if (!msg->err)
                ends->next[msg->partition] = msg->offset + 1;
            rd_kafka_message_destroy(msg);
        }
        if (load_now_us() > deadline) {
            fprintf(stderr, "klamm-load: not everything of %s could be read in %g s\n", opts->topic,
                    seconds);
            return 1;
        }
    }
    return 0;
}

int load_read(struct load_opts *opts)
{
    static struct ends ends;

    rd_kafka_conf_set(opts->conf, "group.id", "klamm-load", NULL, 0);
    rd_kafka_conf_set(opts->conf, "enable.auto.commit", "false", NULL, 0);
    rd_kafka_conf_set(opts->conf, "enable.partition.eof", "true", NULL, 0);
    rd_kafka_conf_set(opts->conf, "check.crcs", "true", NULL, 0);
    rd_kafka_t *rk = load_client(opts, RD_KAFKA_CONSUMER);
    if (!rk)
        return 1;
    int r = find_ends(rk, opts, &ends);
    if (r == 0 && assign(rk, opts, &ends) == RD_KAFKA_RESP_ERR_NO_ERROR)
        r = read_all(rk, opts, &ends);
    rd_kafka_assign(rk, NULL);
    rd_kafka_destroy(rk);
    return fflush(stdout) == 0 ? r : 1;
}
