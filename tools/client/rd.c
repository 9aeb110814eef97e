#include "tools/client/rd.h"

#include "common/base/clock.h"
#include "common/base/mem.h"

#include <errno.h>

volatile sig_atomic_t rd_stopped;

static void on_signal(int sig)
{
    rd_stopped = sig;
    signal(sig, SIG_DFL);
}

static void on_error(rd_kafka_t *rk, int err, const char *reason, void *opaque)
{
    struct rd *rd = opaque;
    char text[512];

    if (err == RD_KAFKA_RESP_ERR__FATAL) {
        rd_kafka_fatal_error(rk, text, sizeof text);
        reason = text;
        rd->fatal = true;
    } else if (err == RD_KAFKA_RESP_ERR__AUTHENTICATION) {
        rd->denied = true;
    } else if (err == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN && rd->trouble) {
        return; /* the cause was told just before */
    }
    free(rd->trouble);
    rd->trouble = xstrdup(reason);
}

static void on_log(const rd_kafka_t *rk, int level, const char *fac, const char *text)
{
    const struct rd *rd = rd_kafka_opaque(rk);

    if (rd && rd->debug)
        fprintf(stderr, "librdkafka %d %s: %s\n", level, fac, text);
}

void rd_init(struct rd *rd)
{
    /* no SA_RESTART: whoever reads standard input is to notice */
    const struct sigaction action = {.sa_handler = on_signal};

    *rd = (struct rd){.conf = rd_kafka_conf_new()};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

void rd_listen(struct rd *rd)
{
    rd_kafka_conf_set_opaque(rd->conf, rd);
    rd_kafka_conf_set_error_cb(rd->conf, on_error);
    rd_kafka_conf_set_log_cb(rd->conf, on_log);
}

void rd_deinit(struct rd *rd)
{
    if (rd->rk)
        rd_kafka_destroy(rd->rk);
    if (rd->conf)
        rd_kafka_conf_destroy(rd->conf);
    free(rd->trouble);
    *rd = (struct rd){0};
}

int rd_set(struct rd *rd, const char *key, const char *value, struct strbuf *why)
{
    char text[512];

    if (rd_kafka_conf_set(rd->conf, key, value, text, sizeof text) == RD_KAFKA_CONF_OK) {
        rd->debug |= strcmp(key, "debug") == 0;
        return 0;
    }
    strbuf_addz(why, text);
    return -EINVAL;
}

static int set_property(struct rd *rd, const char *pair, struct strbuf *why)
{
    const char *eq = strchr(pair, '=');

    if (!eq) {
        strbuf_addf(why, "--property %s: key=value is wanted", pair);
        return -EINVAL;
    }
    CLEANUP(free_p) char *key = xstrndup(pair, (size_t)(eq - pair));
    return rd_set(rd, key, eq + 1, why);
}

int rd_configure(struct rd *rd, const struct opts *o, const struct rd_ids *ids,
                 rd_kafka_type_t type, struct strbuf *why)
{
    const char *bootstrap, *file;
    int r = opts_text(o, ids->bootstrap, &bootstrap, why);

    if (r == 0)
        r = opts_text(o, ids->config_file, &file, why);
    if (r < 0)
        return r;
    if (!bootstrap || !*bootstrap) {
        strbuf_addz(why, "--bootstrap-server must be specified");
        return -EINVAL;
    }
    rd_listen(rd);
    r = rd_set(rd, "bootstrap.servers", bootstrap, why);
    if (r == 0 && file)
        r = rd_configure_java(rd, file, type, why);
    for (int i = 0; r == 0 && i < opts_count(o, ids->property); i++)
        r = set_property(rd, opts_nth(o, ids->property, i), why);
    return r;
}

int rd_start(struct rd *rd, rd_kafka_type_t type, struct strbuf *why)
{
    char text[512];

    rd->rk = rd_kafka_new(type, rd->conf, text, sizeof text);
    if (!rd->rk) {
        strbuf_addz(why, text);
        return -EINVAL;
    }
    rd->conf = NULL; /* librdkafka's now */
    return 0;
}

/* One answer to the question; *ret is the topic's error where there is an answer. */
static rd_kafka_resp_err_t ask(struct rd *rd, rd_kafka_topic_t *topic, int timeout_ms,
                               rd_kafka_resp_err_t *ret, int *ret_count)
{
    const struct rd_kafka_metadata *md;
    rd_kafka_resp_err_t err = rd_kafka_metadata(rd->rk, 0, topic, &md, timeout_ms);

    if (err)
        return err;
    *ret = md->topic_cnt ? md->topics[0].err : RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
    *ret_count = md->topic_cnt ? md->topics[0].partition_cnt : 0;
    rd_kafka_metadata_destroy(md);
    return 0;
}

/* So long a question may wait for an answer until it is asked again: a signal is to be noticed. */
enum { SLICE_MS = 500 };

static bool is_silence(rd_kafka_resp_err_t err)
{
    return err == RD_KAFKA_RESP_ERR__TIMED_OUT || err == RD_KAFKA_RESP_ERR__TRANSPORT;
}

static int unreachable(struct rd *rd, rd_kafka_resp_err_t err, struct strbuf *why)
{
    rd_kafka_poll(rd->rk, 0); /* for what on_error() is told */
    strbuf_addf(why, "no broker answers: %s (--bootstrap-server)",
                rd->trouble ? rd->trouble : rd_kafka_err2str(err));
    return -EHOSTUNREACH;
}

int rd_partition_count(struct rd *rd, const char *topic, int timeout_ms, struct strbuf *why,
                       int *ret)
{
    int64_t now = clock_mono_ms(&clock_system), end = now + timeout_ms;
    rd_kafka_topic_t *rkt = rd_kafka_topic_new(rd->rk, topic, NULL);
    rd_kafka_resp_err_t err = 0, topic_err = RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE;
    int count = -1, refusals = 0; /* -1: nobody answered */

    while (!err && topic_err && now < end && !rd_stopped && !rd->denied) {
        err = ask(rd, rkt, (int)MIN(end - now, (int64_t)SLICE_MS), &topic_err, &count);
        if (is_silence(err) && clock_mono_ms(&clock_system) < end) {
            rd_kafka_poll(rd->rk, 20); /* for what on_error() is told */
            now = clock_mono_ms(&clock_system);
            err = 0;
            continue;
        }
        /* a topic that the question created is unknown for a moment */
        refusals += topic_err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
        if (refusals > 3 || (topic_err && topic_err != RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE &&
                             topic_err != RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART))
            break;
        if (!err && topic_err)
            rd_kafka_poll(rd->rk, 100);
        now = clock_mono_ms(&clock_system);
    }
    rd_kafka_topic_destroy(rkt);
    if (err || rd->denied || count < 0)
        return unreachable(rd, err ? err : RD_KAFKA_RESP_ERR__TIMED_OUT, why);
    if (topic_err) {
        strbuf_addf(why, "topic %s: %s", topic, rd_kafka_err2str(topic_err));
        return -ENOENT;
    }
    *ret = count;
    return 0;
}

void rd_explain(struct rd *rd, const char *topic, struct strbuf *out)
{
    rd_kafka_topic_t *rkt = rd_kafka_topic_new(rd->rk, topic, NULL);
    const struct rd_kafka_metadata *md = NULL;

    rd_kafka_resp_err_t err = rd_kafka_metadata(rd->rk, 0, rkt, &md, 1000);
    rd_kafka_topic_destroy(rkt);
    if (err) {
        strbuf_addf(out, "; no broker answers: %s",
                    rd->trouble ? rd->trouble : rd_kafka_err2str(err));
        return;
    }
    for (int i = 0; md->topic_cnt == 1 && i < md->topics[0].partition_cnt; i++) {
        const struct rd_kafka_metadata_partition *p = &md->topics[0].partitions[i];
        if (p->leader < 0)
            strbuf_addf(out, "; partition %d has no leader", p->id);
        else if (p->isr_cnt < p->replica_cnt)
            strbuf_addf(out, "; partition %d has %d of %d replicas in sync (min.insync.replicas)",
                        p->id, p->isr_cnt, p->replica_cnt);
        else
            continue;
        break;
    }
    rd_kafka_metadata_destroy(md);
}

static bool is_address(struct str s)
{
    size_t digits = 0;

    while (digits < s.len && s.p[s.len - 1 - digits] >= '0' && s.p[s.len - 1 - digits] <= '9')
        digits++;
    return digits > 0 && digits + 1 < s.len && s.p[s.len - 1 - digits] == ':';
}

struct str rd_bad_address(const char *bootstrap)
{
    struct str rest = str_of(bootstrap), part;

    while (str_split(&rest, ',', &part)) {
        if (!is_address(str_trim(part)))
            return part;
    }
    return STR_NULL;
}
