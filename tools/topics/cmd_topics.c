/*
 * cmd_topics.c - kafka-topics: its command line, its checks in their order, its exit codes
 */
#include "common/base/clock.h"
#include "common/base/err.h"
#include "tools/topics/topics.h"

#include <time.h>

#define TOPICS_ALTER_HINT                                                                          \
    " (the kafka-configs CLI supports altering topic configs with a --bootstrap-server option)"

static const struct opt_spec specs[] = {
    [TOPICS_BOOTSTRAP] = {"bootstrap-server", "host:port,...",
                          "the cluster to connect to (required)", 0, 'b'},
    [TOPICS_CONFIG_FILE] = {"command-config", "file",
                            "client properties: security.protocol, "
                            "ssl.*, timeouts",
                            0, 0},
    [TOPICS_LIST] = {"list", NULL, "print the names of the topics", 0, 0},
    [TOPICS_CREATE] = {"create", NULL, "create a topic", 0, 0},
    [TOPICS_DELETE] = {"delete", NULL, "delete every topic that --topic matches", 0, 0},
    [TOPICS_ALTER] = {"alter", NULL, "give topics more partitions", 0, 0},
    [TOPICS_DESCRIBE] = {"describe", NULL, "print topics and their partitions", 0, 0},
    [TOPICS_TOPIC] = {"topic", "topic",
                      "a name; but for --create also a regular expression that "
                      "matches the whole name",
                      0, 't'},
    [TOPICS_TOPIC_ID] = {"topic-id", "id", "describe the topic with this id", 0, 0},
    [TOPICS_CONFIG] = {"config", "name=value", "a setting of the topic to create (repeatable)", 0,
                       0},
    [TOPICS_DELETE_CONFIG] = {"delete-config", "name", "not possible any more", OPT_KAFKAS, 0},
    [TOPICS_PARTITIONS] = {"partitions", "N",
                           "how many partitions: of a new topic (else the "
                           "broker's default), or in all after --alter",
                           0, 'p'},
    [TOPICS_REPLICATION] = {"replication-factor", "N",
                            "how many replicas each partition of a new "
                            "topic has; else the broker's default",
                            0, 'r'},
    [TOPICS_ASSIGNMENT] = {"replica-assignment", "1:2,2:3,...",
                           "the brokers of each partition, the preferred leader first", 0, 0},
    [TOPICS_UNDER_REPLICATED] = {"under-replicated-partitions", NULL,
                                 "describe only partitions with a replica out of sync", 0, 0},
    [TOPICS_UNAVAILABLE] = {"unavailable-partitions", NULL,
                            "describe only partitions without a live leader", 0, 0},
    [TOPICS_UNDER_MIN_ISR] = {"under-min-isr-partitions", NULL,
                              "describe only partitions with fewer replicas in sync than "
                              "min.insync.replicas",
                              0, 0},
    [TOPICS_AT_MIN_ISR] = {"at-min-isr-partitions", NULL,
                           "describe only partitions with just as many", 0, 0},
    [TOPICS_OVERRIDES] = {"topics-with-overrides", NULL,
                          "describe only topics with a setting that is no default", 0, 0},
    [TOPICS_IF_EXISTS] = {"if-exists", NULL, "a missing topic is no error", 0, 0},
    [TOPICS_IF_NOT_EXISTS] = {"if-not-exists", NULL, "an existing topic is no error", 0, 0},
    [TOPICS_EXCLUDE_INTERNAL] = {"exclude-internal", NULL,
                                 "leave out __consumer_offsets and __transaction_state", 0, 0},
    [TOPICS_SIZE_LIMIT] = {"partition-size-limit-per-response", "N",
                           "partitions in one answer; no effect on brokers with ZooKeeper",
                           OPT_KAFKAS, 0},
    [TOPICS_OUTPUT] = {"output", "table|json", "how to print --list and --describe", OPT_OURS, 'o'},
    [TOPICS_DRY_RUN] = {"dry-run", NULL,
                        "of --create, --alter and --delete: let the brokers check it, change "
                        "nothing",
                        OPT_OURS, 0},
    [TOPICS_WAIT] = {"wait", NULL, "of --delete: until the topics are gone", OPT_OURS, 0},
    [TOPICS_HELP] = {"help", NULL, "show this", 0, 'h'},
    [TOPICS_VERSION] = {"version", NULL, "print the version of Kafka that this follows", 0, 0},
};

static const struct opts_def def = {"create, list, describe, alter and delete topics", specs,
                                    ARRAY_LEN(specs)};

static int check_actions(struct topics *t)
{
    int n = 0;

    for (int id = TOPICS_LIST; id <= TOPICS_DESCRIBE; id++)
        n += opts_has(t->o, id);
    if (n == 1)
        return 0;
    strbuf_addz(&t->why, "Command must include exactly one action: --list, --describe, --create, "
                         "--alter or --delete");
    return -EINVAL;
}

static int check_alter(struct topics *t)
{
    if (!opts_has(t->o, TOPICS_ALTER))
        return 0;
    if (opts_has(t->o, TOPICS_CONFIG)) {
        strbuf_addz(&t->why, "Option combination \"[[bootstrap-server], [config]]\" can't be used "
                             "with option \"[alter]\"" TOPICS_ALTER_HINT);
        return -EINVAL;
    }
    return opts_require(t->o, TOPICS_PARTITIONS, &t->why);
}

static int check_required(struct topics *t)
{
    bool named = opts_has(t->o, TOPICS_TOPIC), by_id = opts_has(t->o, TOPICS_TOPIC_ID);

    if (opts_has(t->o, TOPICS_DESCRIBE) && opts_has(t->o, TOPICS_IF_EXISTS)) {
        if (!named && !by_id) {
            strbuf_addz(&t->why, "--topic or --topic-id is required to describe a topic");
            return -EINVAL;
        }
        if (named && by_id)
            puts("Only topic id will be used when both --topic and --topic-id are specified and "
                 "topicId is not Uuid.ZERO_UUID");
    }
    if (!opts_has(t->o, TOPICS_LIST) && !opts_has(t->o, TOPICS_DESCRIBE)) {
        int r = opts_require(t->o, TOPICS_TOPIC, &t->why);
        if (r < 0)
            return r;
    }
    return check_alter(t);
}

/* What may not stand together, in Kafka's order: the first clash is the one that is told. */
static int check_clashes(struct topics *t)
{
    enum {
        LIST = TOPICS_LIST,
        CREATE = TOPICS_CREATE,
        DELETE = TOPICS_DELETE,
        ALTER = TOPICS_ALTER,
        DESCRIBE = TOPICS_DESCRIBE,
        OVERRIDES = TOPICS_OVERRIDES,
    };
    static const struct {
        int id, others[10];
    } clashes[] = {
        {TOPICS_CONFIG, {DESCRIBE, DELETE, LIST, -1}},
        {TOPICS_DELETE_CONFIG, {CREATE, DESCRIBE, LIST, DELETE, TOPICS_BOOTSTRAP, -1}},
        {TOPICS_PARTITIONS, {DESCRIBE, LIST, DELETE, -1}},
        {TOPICS_REPLICATION, {ALTER, DESCRIBE, LIST, DELETE, -1}},
        {TOPICS_ASSIGNMENT, {DESCRIBE, LIST, DELETE, -1}},
        {TOPICS_UNDER_REPLICATED, {ALTER, CREATE, LIST, DELETE, OVERRIDES, -1}},
        {TOPICS_UNDER_MIN_ISR, {ALTER, CREATE, LIST, DELETE, OVERRIDES, -1}},
        {TOPICS_AT_MIN_ISR, {ALTER, CREATE, LIST, DELETE, OVERRIDES, -1}},
        {TOPICS_UNAVAILABLE, {ALTER, CREATE, LIST, DELETE, OVERRIDES, -1}},
        {TOPICS_OVERRIDES,
         {ALTER, CREATE, LIST, DELETE, TOPICS_UNDER_REPLICATED, TOPICS_UNDER_MIN_ISR,
          TOPICS_AT_MIN_ISR, TOPICS_UNAVAILABLE, -1}},
        {TOPICS_IF_EXISTS, {CREATE, LIST, -1}},
        {TOPICS_IF_NOT_EXISTS, {ALTER, DESCRIBE, LIST, DELETE, -1}},
        {TOPICS_EXCLUDE_INTERNAL, {ALTER, CREATE, DELETE, -1}},
        {TOPICS_OUTPUT, {CREATE, ALTER, DELETE, -1}},
        {TOPICS_DRY_RUN, {DESCRIBE, LIST, -1}},
        {TOPICS_WAIT, {ALTER, CREATE, DESCRIBE, LIST, TOPICS_DRY_RUN, -1}},
    };
    static const int with_assignment[] = {TOPICS_PARTITIONS, TOPICS_REPLICATION, -1};
    int r = 0;

    for (size_t i = 0; i < ARRAY_LEN(clashes) && r == 0; i++) {
        r = opts_exclude(t->o, clashes[i].id, clashes[i].others, &t->why);
        if (r == 0 && clashes[i].id == TOPICS_ASSIGNMENT && opts_has(t->o, CREATE))
            r = opts_exclude(t->o, TOPICS_ASSIGNMENT, with_assignment, &t->why);
    }
    return r;
}

static int read_output(struct topics *t)
{
    const char *text;
    int r = opts_text(t->o, TOPICS_OUTPUT, &text, &t->why);

    if (r < 0 || !text)
        return r;
    if (strcmp(text, "table") == 0)
        t->output = OUTPUT_TABLE;
    else if (strcmp(text, "json") == 0)
        t->output = OUTPUT_JSON;
    else {
        strbuf_addf(&t->why, "--output %s: table or json is wanted", text);
        return -EINVAL;
    }
    return 0;
}

/* Log lines of Kafka's tools name the exception: some scripts look for it. */
static void log_exception(struct topics *t, int r)
{
    CLEANUP(strbuf_deinit) struct strbuf name = {0};
    char stamp[32];
    int64_t now = clock_wall_ms(&clock_system);
    const time_t seconds = (time_t)(now / 1000);
    struct tm tm;

    if (r > 0 || r == -ETIMEDOUT) {
        strbuf_addz(&name, "org.apache.kafka.common.errors.");
        cluster_exception(r > 0 ? (int16_t)r : (int16_t)REQUEST_TIMED_OUT, &name);
    } else {
        strbuf_addz(&name, "java.lang.IllegalArgumentException");
    }
    localtime_r(&seconds, &tm);
    strftime(stamp, sizeof stamp, "%Y-%m-%d %H:%M:%S", &tm);
    fflush(stdout);
    fprintf(stderr, "[%s,%03d] ERROR %s: %s (org.apache.kafka.tools.TopicCommand)\n", stamp,
            (int)(now % 1000), name.s, t->why.s);
}

static int fail(struct topics *t, int r)
{
    if (!t->o->inv->as_kafka)
        return tool_fail(t->o->inv, "%s", t->why.s);
    printf("Error while executing topic command : %s\n", t->why.len ? t->why.s : "");
    log_exception(t, r);
    return TOOL_FAILED;
}

/* Kafka's tool prints the list's fault as the cause of another failure. */
static int fail_to_open(struct topics *t, int r)
{
    if (t->o->inv->as_kafka && r == -EINVAL)
        fputs("Failed to create new KafkaAdminClient\nCaused by: ", stderr);
    return tool_fail(t->o->inv, "%s", t->why.s);
}

static int act(struct topics *t)
{
    static int (*const acts[])(struct topics *) = {
        [TOPICS_LIST] = topics_list,         [TOPICS_CREATE] = topics_create,
        [TOPICS_DELETE] = topics_delete,     [TOPICS_ALTER] = topics_alter,
        [TOPICS_DESCRIBE] = topics_describe,
    };
    int r = 0;

    for (int id = TOPICS_LIST; id <= TOPICS_DESCRIBE; id++) {
        if (opts_has(t->o, id))
            r = acts[id](t);
    }
    return r == 0 ? tool_done(t->o->inv) : fail(t, r);
}

static int run(struct topics *t)
{
    struct cluster_opts co = {.inv = t->o->inv};
    int r = opts_text(t->o, TOPICS_CONFIG_FILE, &co.config_file, &t->why);

    r = r < 0 ? r : opts_text(t->o, TOPICS_BOOTSTRAP, &co.bootstrap, &t->why);
    if (r < 0)
        return tool_misused(t->o->inv, "%s", t->why.s);
    r = cluster_open(&co, &t->why, &t->cluster);
    if (r < 0)
        return fail_to_open(t, r);
    r = opts_text(t->o, TOPICS_TOPIC, &t->topic, &t->why);
    return r < 0 ? fail(t, r) : act(t);
}

static int check_and_run(struct topics *t)
{
    int r = check_actions(t);

    if (r == 0 && !opts_has(t->o, TOPICS_BOOTSTRAP))
        return tool_misused(t->o->inv, "--bootstrap-server must be specified");
    r = r < 0 ? r : check_required(t);
    r = r < 0 ? r : check_clashes(t);
    r = r < 0 ? r : read_output(t);
    return r < 0 ? opts_usage(t->o, t->why.s) : run(t);
}

int cmd_topics(const struct invocation *inv)
{
    CLEANUP(opts_deinit) struct opts o = {0};
    struct topics t = {.o = &o};
    int code;

    if (opts_parse(&o, &def, inv, &t.why) < 0)
        code = tool_misused(inv, "%s", t.why.s);
    else if (!opts_answered(&o, TOPICS_HELP, TOPICS_VERSION, &code))
        code = check_and_run(&t);
    cluster_close(t.cluster);
    arena_deinit(&t.arena);
    strbuf_deinit(&t.why);
    return code;
}
