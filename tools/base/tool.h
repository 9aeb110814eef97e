/*
 * tool.h - what a subcommand gets and how it says that it failed
 *
 * The program is called as `klamm topics ...` or by the name of a Kafka tool. As Kafka's tool it
 * says what that tool says, word for word; as our own a failure is one line on stderr, `klamm
 * topics: CAUSE`.
 *
 * Exit codes: as Kafka's tool 0 and 1; as our own 0, 1 where the work failed, 2 where the command
 * line is wrong. Thread: the main one.
 */
#pragma once

#include "common/base/strbuf.h"

enum { TOOL_FAILED = 1, TOOL_MISUSED = 2 };

/* What Kafka's tools answer to --version, and which of its versions we follow. */
#define KAFKA_VERSION "3.9.0"

struct opt_spec;
struct args_def;

/* The flags that a command knows: specs, or args. */
struct tool_flags {
    const struct opt_spec *specs;
    int count;
    const struct args_def *args;
};

struct invocation {
    const char *program; /* "klamm topics", "kafka-topics" */
    bool as_kafka;
    int argc; /* the words behind the subcommand */
    char **argv;
    /* Not NULL: only this is wanted, nothing is to be done or said. Commands need not know:
     * opts_parse() and args_answered() put it there and fail, what is said then is not printed. */
    struct tool_flags *wanted;
};

typedef int (*tool_fn)(const struct invocation *inv);

struct tool {
    const char *name;
    const char *kafka_name; /* without .sh; NULL where Kafka has no such tool */
    tool_fn run;
    const char *about; /* NULL: for programs, not for people */
};

/* main.c: all commands. */
extern const struct tool tools[];
extern const size_t tools_count;

/* "/opt/kafka/bin/kafka-topics.sh" -> "kafka-topics" */
struct str tool_base_name(const char *path);
/* NULL where there is none of that name. */
const struct tool *tool_find(struct str name, bool as_kafka);
/* The flags of one. */
struct tool_flags tool_flags_of(const struct tool *tool, bool as_kafka);

/* One line on stderr; returns TOOL_FAILED. */
int tool_fail(const struct invocation *inv, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* The same for a wrong command line; returns its exit code. */
int tool_misused(const struct invocation *inv, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Flushes stdout; TOOL_FAILED, said on stderr, where what was printed could not be written. */
int tool_done(const struct invocation *inv);
/* Writes the buffer to stdout, at once, and empties it; -EPIPE where whoever read has gone, another
 * -errno with the reason. */
int tool_write(struct strbuf *out, struct strbuf *why) MUST_CHECK;

int cmd_api_versions(const struct invocation *inv);
int cmd_can_stop(const struct invocation *inv);
int cmd_check_join(const struct invocation *inv);
int cmd_cluster(const struct invocation *inv);
int cmd_complete(const struct invocation *inv);
int cmd_completion(const struct invocation *inv);
int cmd_configs(const struct invocation *inv);
int cmd_console_consumer(const struct invocation *inv);
int cmd_console_producer(const struct invocation *inv);
int cmd_consume(const struct invocation *inv);
int cmd_consumer_perf(const struct invocation *inv);
int cmd_dump_log(const struct invocation *inv);
int cmd_elect(const struct invocation *inv);
int cmd_delete_records(const struct invocation *inv);
int cmd_dump_log(const struct invocation *inv);
int cmd_features(const struct invocation *inv);
int cmd_groups(const struct invocation *inv);
int cmd_links(const struct invocation *inv);
int cmd_log_dirs(const struct invocation *inv);
int cmd_offsets(const struct invocation *inv);
int cmd_produce(const struct invocation *inv);
int cmd_producer_perf(const struct invocation *inv);
int cmd_reassign(const struct invocation *inv);
int cmd_topics(const struct invocation *inv);
int cmd_why(const struct invocation *inv);
int cmd_verifiable_consumer(const struct invocation *inv);
int cmd_verifiable_producer(const struct invocation *inv);
int cmd_zk(const struct invocation *inv);
