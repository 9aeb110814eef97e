/*
 * main.c - klamm: one program with subcommands, and Kafka's tools by their own names
 *
 *   klamm topics --list -b localhost:9092
 *   kafka-topics.sh --list --bootstrap-server localhost:9092     (a link to klamm)
 */
#include "tools/base/tool.h"

#include <signal.h>
#include <stdio.h>

const struct tool tools[] = {
    {"dump-log", "kafka-dump-log", cmd_dump_log, "print what is in the files of a partition"},
    {"topics", "kafka-topics", cmd_topics, "create, list, describe, alter and delete topics"},
    {"configs", "kafka-configs", cmd_configs,
     "settings of topics and brokers, quotas, SCRAM credentials"},
    {"reassign", "kafka-reassign-partitions", cmd_reassign,
     "move partitions to other brokers, change how many replicas they have"},
    {"elect", "kafka-leader-election", cmd_elect,
     "elect leaders: the preferred, or any that is up"},
    {"groups", "kafka-consumer-groups", cmd_groups,
     "consumer groups: lag, members, offsets, and resetting and deleting them"},
    {"log-dirs", "kafka-log-dirs", cmd_log_dirs, "what lies in the log dirs of each broker"},
    {"offsets", "kafka-get-offsets", cmd_offsets, "the first and the next offset of partitions"},
    {"delete-records", "kafka-delete-records", cmd_delete_records,
     "delete the oldest records of partitions"},
    {"produce", NULL, cmd_produce, "send records: lines of standard input, or generated ones"},
    {"consume", NULL, cmd_consume, "print the records of a topic"},
    {"perf-produce", "kafka-producer-perf-test", cmd_producer_perf,
     "how fast records are taken, and with what latency"},
    {"perf-consume", "kafka-consumer-perf-test", cmd_consumer_perf, "how fast a topic is read"},
    {"api-versions", "kafka-broker-api-versions", cmd_api_versions,
     "the requests that each broker serves"},
    {"why", NULL, cmd_why, "what is not well, why, and what unblocks it"},
    {"can-stop", NULL, cmd_can_stop, "whether a broker may be stopped now"},
    {"check-join", NULL, cmd_check_join, "what is in the way of replacing a Kafka broker"},
    {"cluster", "kafka-cluster", cmd_cluster, "the id of the cluster"},
    {"zk", "zookeeper-shell", cmd_zk, "look at ZooKeeper's nodes, and change them"},
    {"features", "kafka-features", cmd_features, "features of the cluster and their versions"},
    {"links", NULL, cmd_links, "make Kafka's names for these commands, in a directory"},
    {"completion", NULL, cmd_completion, "a script that makes a shell complete command lines"},
    {"complete", NULL, cmd_complete, NULL},
    {NULL, "kafka-console-producer", cmd_console_producer, NULL},
    {NULL, "kafka-console-consumer", cmd_console_consumer, NULL},
    {NULL, "kafka-verifiable-producer", cmd_verifiable_producer, NULL},
    {NULL, "kafka-verifiable-consumer", cmd_verifiable_consumer, NULL},
};

const size_t tools_count = ARRAY_LEN(tools);

static void print_help(FILE *out)
{
    fprintf(out, "klamm - the tools of a Klamm or Kafka cluster\n\n  klamm COMMAND [flags]\n\n");
    for (size_t i = 0; i < tools_count; i++) {
        if (tools[i].name && tools[i].about)
            fprintf(out, "  %-14s %s\n", tools[i].name, tools[i].about);
    }
    fprintf(out,
            "\nklamm COMMAND --help shows the flags of one. Called by the name of Kafka's tool "
            "(a link\nnamed kafka-topics or kafka-topics.sh), it takes that tool's flags and "
            "prints its output.\n");
}

/* `klamm kafka-topics ...` works too, for whoever cannot make links. */
static int run_command(int argc, char **argv)
{
    const struct tool *tool = tool_find(str_of(argv[1]), false);
    bool as_kafka = !tool;
    char program[64];

    if (as_kafka)
        tool = tool_find(tool_base_name(argv[1]), true);
    if (!tool) {
        fprintf(stderr, "klamm: there is no command %s; klamm --help lists them\n", argv[1]);
        return TOOL_MISUSED;
    }
    snprintf(program, sizeof program, "klamm %s", tool->name);
    const struct invocation inv = {.program = as_kafka ? tool->kafka_name : program,
                                   .as_kafka = as_kafka,
                                   .argc = argc - 2,
                                   .argv = argv + 2};
    return tool->run(&inv);
}

int main(int argc, char **argv)
{
    const struct tool *tool = argc > 0 ? tool_find(tool_base_name(argv[0]), true) : NULL;

    signal(SIGPIPE, SIG_IGN);
    if (tool) {
        const struct invocation inv = {tool->kafka_name, true, argc - 1, argv + 1, NULL};
        return tool->run(&inv);
    }
    if (argc < 2) {
        print_help(stderr);
        return TOOL_MISUSED;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_help(stdout);
        return 0;
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("klamm " KLAMM_VERSION " (follows Apache Kafka " KAFKA_VERSION ")");
        return 0;
    }
    return run_command(argc, argv);
}
