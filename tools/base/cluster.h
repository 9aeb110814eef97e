/*
 * cluster.h - administrative calls to the right broker, repeated as Java's AdminClient repeats them
 *
 *   r = cluster_open(&opts, &why, &cluster);
 *   cluster_start(cluster);                        the time that one call may take begins
 *   do {
 *       r = cluster_call(cluster, &call, &arena, &response, &why);
 *   } while (r == 0 && cluster_again(cluster, response->error_code));
 *
 * A lost connection is made anew and the call sent again, NOT_CONTROLLER and its like ask for the
 * controller again, until default.api.timeout.ms (60 s) is over. Thread: the main one.
 */
#pragma once

#include "common/client/seed.h"
#include "tools/base/tool.h"

struct cluster;

struct cluster_opts {
    const struct invocation *inv;
    const char *bootstrap;
    const char *config_file;    /* --command-config; NULL: none */
    int64_t api_timeout_ms;     /* default.api.timeout.ms where the file has none; 0: 60 s */
    int64_t request_timeout_ms; /* request.timeout.ms alike; 0: 30 s */
    int64_t timeout_ms;         /* of each call, whatever the file says; 0: that of the file */
    bool once;                  /* as Kafka's tool too: nobody there is told at once */
    bool tries_once;            /* no call is sent twice, none waits longer than timeout_ms */
    const char *config_flag;    /* its name where it is not command-config */
    const char *said_first;     /* as Kafka's tool: stands in front of every error */
};

/*
 * Reads the properties (security.protocol PLAINTEXT or SSL, ssl.*, request.timeout.ms,
 * default.api.timeout.ms, client.id). Connects with the first call. -EINVAL for a wrong address or
 * setting, -ENOENT and its like for a file that cannot be read; the reason in why.
 */
int cluster_open(const struct cluster_opts *opts, struct strbuf *why, struct cluster **ret)
    MUST_CHECK;
/*
 * Says that cluster_open() failed with r, and why: as Kafka's tool in its words, the reason behind
 * them. Returns the exit code.
 */
int cluster_refused(const struct cluster_opts *opts, int r, const char *why);
/* NULL-safe, returns NULL. */
struct cluster *cluster_close(struct cluster *c);
void cluster_close_p(struct cluster **c);

/* The part of the time that a broker is told to take at most, in ms. */
int32_t cluster_request_timeout_ms(const struct cluster *c);

struct cluster_call {
    const char *name; /* as the AdminClient's method, for messages */
    int32_t to;       /* a broker's id, SEED_ANY, SEED_CONTROLLER */
    int16_t api_key;
    int16_t version; /* the highest wanted */
    const void *request;
    bool is_once; /* a lost connection ends it: somebody else may be whom to ask */
};

/* Begins the time of a call. */
void cluster_start(struct cluster *c);
/* -EPROTONOSUPPORT where the broker has no such request; -ETIMEDOUT, -ECONNREFUSED, ... when the
 * time is over: the reason in why. The answer lives as long as a. */
int cluster_call(struct cluster *c, const struct cluster_call *call, struct arena *a,
                 const void **ret, struct strbuf *why) MUST_CHECK;
/* True where the answer's error means: somebody else, or later; has waited, and asked again who is
 * controller. False when the time is over. */
bool cluster_again(struct cluster *c, int16_t error);
/* Waits a little before the next attempt, and asks again who is there. False when the time is
 * over. */
bool cluster_wait(struct cluster *c);
/* For is_once: whether somebody else, or the same one later, may answer what failed so. */
bool cluster_is_lost(int r);
/* Metadata of one topic, of all where it is null, of none where it is empty (the brokers only). No
 * topic is made by asking. */
int cluster_metadata(struct cluster *c, struct str topic, struct arena *a,
                     const struct metadata_response **ret, struct strbuf *why) MUST_CHECK;

/* The broker's words, or Kafka's usual ones for the code where there are none. */
struct str cluster_error_text(int16_t error, struct str message);
/* The exception that Java's clients throw for a code: "TopicExistsException". */
void cluster_exception(int16_t error, struct strbuf *ret);
