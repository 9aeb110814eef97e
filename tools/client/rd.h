/*
 * rd.h - librdkafka as the tools that produce and consume use it: settings, errors, signals
 *
 *   struct rd rd; rd_init(&rd);
 *   rd_configure(&rd, &opts, &ids, type, why) ... rd_set(&rd, "acks", "all", why) ...
 *   rd_start(&rd, RD_KAFKA_PRODUCER, why) ... rd_deinit(&rd)
 *
 * librdkafka's own log is not shown, unless one of its debug settings is asked for; what it last
 * complained about is kept, for the one line that says why the tool failed. Thread: the main one;
 * librdkafka calls back on it, inside rd_kafka_poll() and its like.
 */
#pragma once

#include "common/base/props.h"
#include "tools/base/opts.h"

#include <librdkafka/rdkafka.h>
#include <signal.h>

/* The number of the signal, once SIGINT or SIGTERM came; a second one ends the program at once. */
extern volatile sig_atomic_t rd_stopped;

struct rd {
    rd_kafka_conf_t *conf; /* until rd_start() */
    rd_kafka_t *rk;
    char *trouble; /* the last complaint; NULL: none */
    bool fatal;
    bool denied; /* a broker does not accept who we say that we are */
    bool debug;
};

/* Where in a tool's flags those are that every tool on librdkafka has. */
struct rd_ids {
    int bootstrap, config_file, property;
};

void rd_init(struct rd *rd);
void rd_deinit(struct rd *rd);

/* -EINVAL, the reason in why, as all below. */
int rd_configure(struct rd *rd, const struct opts *o, const struct rd_ids *ids,
                 rd_kafka_type_t type, struct strbuf *why) MUST_CHECK;
int rd_set(struct rd *rd, const char *key, const char *value, struct strbuf *why) MUST_CHECK;
/* For tools that have properties only: errors and the log go to rd. */
void rd_listen(struct rd *rd);

/*
 * Client properties of Kafka's, in librdkafka's words. What has no counterpart and changes only how
 * the work is done is told once on stderr; what would change its outcome is refused.
 */
int rd_set_java(struct rd *rd, const struct props *p, rd_kafka_type_t type, struct strbuf *why)
    MUST_CHECK;
/* The same from a file. */
int rd_configure_java(struct rd *rd, const char *path, rd_kafka_type_t type, struct strbuf *why)
    MUST_CHECK;
/* The first of host:port,... that is no address; null where all are. */
struct str rd_bad_address(const char *bootstrap);
/* "key=value" words into p: a value may hold '=', a word without one has an empty value. */
void rd_add_pair(struct props *p, const char *pair);
/* A properties file; why is the path only, as Java's exception has it. */
int rd_load_props(struct props *p, const char *path, struct strbuf *why) MUST_CHECK;
/* Sets key where it is not set. */
void rd_default(struct props *p, const char *key, const char *value);
int rd_start(struct rd *rd, rd_kafka_type_t type, struct strbuf *why) MUST_CHECK;

/*
 * How many partitions the topic has; waits for a topic that is just being created. -EHOSTUNREACH
 * where no broker answers within timeout_ms, -ENOENT where there is no such topic.
 */
int rd_partition_count(struct rd *rd, const char *topic, int timeout_ms, struct strbuf *why,
                       int *ret) MUST_CHECK;

/* What may be the matter with a topic that takes no records: adds "; partition 0 has no leader" or
 * nothing. Waits a second at most. */
void rd_explain(struct rd *rd, const char *topic, struct strbuf *out);

#define RD_SPEC_BOOTSTRAP                                                                          \
    {                                                                                              \
        "bootstrap-server", "host:port,...", "the cluster to connect to (required)", 0, 'b'        \
    }
#define RD_SPEC_TOPIC                                                                              \
    {                                                                                              \
        "topic", "name", "the topic (required)", 0, 't'                                            \
    }
#define RD_SPEC_CONFIG                                                                             \
    {                                                                                              \
        "command-config", "file", "client properties, as Kafka's tools read them", 0, 0            \
    }
#define RD_SPEC_PROPERTY                                                                           \
    {                                                                                              \
        "property", "key=value", "a setting of librdkafka (repeatable)", 0, 'X'                    \
    }
#define RD_SPEC_QUIET                                                                              \
    {                                                                                              \
        "quiet", NULL, "no progress and no summary on stderr", 0, 'q'                              \
    }
#define RD_SPEC_HELP                                                                               \
    {                                                                                              \
        "help", NULL, "show this", 0, 'h'                                                          \
    }
