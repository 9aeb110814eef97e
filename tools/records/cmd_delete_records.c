/*
 * cmd_delete_records.c - kafka-delete-records: deletes the oldest records of partitions
 *
 * Each leader is asked once about all of its partitions. As our own tool --dry-run shows what would
 * go; what was refused, and what was not reached before a Ctrl-C, is told partition by partition,
 * and the exit code is 1.
 */
#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/io/fs.h"
#include "tools/base/leaders.h"
#include "tools/base/opts.h"
#include "tools/base/progress.h"
#include "tools/base/stop.h"
#include "tools/base/table.h"
#include "tools/records/delete_plan.h"

#include <inttypes.h>

enum id { BOOTSTRAP, FILE_, CONFIG, OUTPUT, DRY_RUN, HELP, VERSION };
enum { FILE_MAX_BYTES = 256 << 20 };
enum { LATEST = -1, EARLIEST = -2 };

static const struct opt_spec specs[] = {
    [BOOTSTRAP] = {"bootstrap-server", "host:port,...", "the cluster to connect to (required)", 0,
                   'b'},
    [FILE_] = {"offset-json-file", "file",
               "which records (required): all in front of the offset, -1: all that are committed; "
               "{\"partitions\":[{\"topic\":\"t\",\"partition\":0,\"offset\":10}],\"version\":1}",
               0, 'f'},
    [CONFIG] = {"command-config", "file", "client properties: security.protocol, ssl.*, timeouts",
                0, 0},
    [OUTPUT] = {"output", "table|json", "how it is printed (table)", OPT_OURS, 'o'},
    [DRY_RUN] = {"dry-run", NULL, "show how many records would go, delete none", OPT_OURS, 0},
    [HELP] = {"help", NULL, "show this", 0, 'h'},
    [VERSION] = {"version", NULL, "print the version of Kafka that this follows", 0, 0},
};

static const struct opts_def def = {
    "This tool helps to delete records of the given partitions down to the specified offset.",
    specs, ARRAY_LEN(specs)};

struct run {
    const struct opts *o;
    struct cluster *cluster;
    struct arena arena;
    struct strbuf why;
    struct delete_plan plan;
    struct leaders_work work;
    struct progress progress;
    bool json;
};

static int read_plan(struct run *run)
{
    CLEANUP(strbuf_deinit) struct strbuf text = {0};
    const char *path = opts_nth(run->o, FILE_, 0);
    int r = fs_read_file(path, FILE_MAX_BYTES, &text);

    if (r < 0) {
        if (run->o->inv->as_kafka)
            strbuf_addf(&run->why, "Unable to read file %s\n", path);
        strbuf_addf(&run->why, "%s: %s (--offset-json-file)", path, strerror(-r));
        return r;
    }
    r = delete_plan_parse(strbuf_str(&text), &run->arena, &run->plan, &run->why);
    return opts_blame(run->o, FILE_, r, &run->why);
}

/* ---- asking ---- */

static void take_answer(const struct delete_records_response *m, struct led *const *parts,
                        size_t count)
{
    size_t at = 0;

    for (size_t i = 0; i < count; i++) {
        parts[i]->error = UNKNOWN_SERVER_ERROR;
        parts[i]->answer = -1;
    }
    for (int32_t t = 0; t < m->topics_count; t++) {
        for (int32_t i = 0; i < m->topics[t].partitions_count; i++) {
            const struct delete_records_response_partition *from = &m->topics[t].partitions[i];
            struct led *to =
                leaders_find(parts, count, &at, m->topics[t].name, from->partition_index);
            if (to) {
                to->error = from->error_code;
                to->answer = from->low_watermark;
            }
        }
    }
}

static int ask(void *ctx, int32_t leader, struct led *const *parts, size_t count,
               struct strbuf *why)
{
    struct run *run = ctx;
    CLEANUP(arena_deinit) struct arena a = {0};
    struct delete_records_request m;
    const struct cluster_call call = {"deleteRecords", leader, API_DELETE_RECORDS, 2, &m, true};
    struct delete_records_request_topic *topic = NULL;
    const void *got;

    msg_init(&delete_records_request_desc, &m);
    m.timeout_ms = cluster_request_timeout_ms(run->cluster);
    m.topics = arena_new_array(&a, struct delete_records_request_topic, count);
    for (size_t i = 0; i < count; i++) {
        if (!topic || !str_eq(topic->name, parts[i]->topic)) {
            topic = &m.topics[m.topics_count++];
            *topic = (struct delete_records_request_topic){
                .name = parts[i]->topic,
                .partitions =
                    arena_new_array(&a, struct delete_records_request_partition, count - i)};
        }
        topic->partitions[topic->partitions_count++] =
            (struct delete_records_request_partition){parts[i]->partition, parts[i]->asked};
    }
    int r = cluster_call(run->cluster, &call, &a, &got, why);
    if (r == 0)
        take_answer(got, parts, count);
    return r;
}

static void show_progress(void *ctx, size_t done)
{
    struct run *run = ctx;

    progress_things(&run->progress, "partitions", done);
}

static void fill_work(struct run *run)
{
    run->work = (struct leaders_work){
        .v = arena_new_array(&run->arena, struct led, run->plan.count + 1),
        .count = run->plan.count,
        .ask = ask,
        .progress = show_progress,
        .ctx = run,
        .metadata_call = "deleteRecords(api=METADATA)",
        .patient = run->o->inv->as_kafka,
    };
    for (size_t i = 0; i < run->plan.count; i++) {
        const struct delete_entry *e = &run->plan.v[i];
        run->work.v[i] = (struct led){
            .topic = e->topic, .partition = e->partition, .asked = e->offset, .answer = -1};
    }
}

/* ---- what became of it ---- */

static void add_trouble(const struct led *p, bool as_kafka, struct strbuf *ret)
{
    if (!p->done && as_kafka) {
        strbuf_addz(ret, "org.apache.kafka.common.errors.TimeoutException: Timed out waiting for a "
                         "node assignment. Call: deleteRecords(api=METADATA)");
        return;
    }
    if (!p->done) {
        strbuf_addf(ret, "not reached%s%s", p->error ? ": " : "",
                    p->error ? err_name(p->error) : "");
        return;
    }
    if (as_kafka) {
        strbuf_addz(ret, "org.apache.kafka.common.errors.");
        cluster_exception(p->error, ret);
        strbuf_addz(ret, ": ");
    }
    if (as_kafka && p->error == INVALID_TOPIC_EXCEPTION)
        strbuf_addf(ret,
                    "Failed to fetch metadata for partition %.*s-%d due to invalid topic `%.*s`",
                    STR_ARG(p->topic), p->partition, STR_ARG(p->topic));
    else
        strbuf_add_str(ret, cluster_error_text(p->error, STR_NULL));
}

static void print_kafka(const struct run *run)
{
    puts("Records delete operation completed:");
    for (size_t i = 0; i < run->work.count; i++) {
        const struct led *p = &run->work.v[i];
        CLEANUP(strbuf_deinit) struct strbuf trouble = {0};
        printf("partition: %.*s-%d\t", STR_ARG(p->topic), p->partition);
        if (p->done && p->error == 0) {
            printf("low_watermark: %" PRId64 "\n", p->answer);
            continue;
        }
        add_trouble(p, true, &trouble);
        printf("error: %s\n", trouble.s);
    }
}

static void print_table(const struct run *run, struct table *t)
{
    if (run->json)
        table_print_json(t, stdout);
    else
        table_print(t, stdout);
}

static size_t print_ours(const struct run *run)
{
    CLEANUP(table_deinit) struct table t = {0};
    size_t failed = 0;

    table_add(&t, "TOPIC", false);
    table_add(&t, "PARTITION", true);
    table_add(&t, "LOW-WATERMARK", true);
    table_add(&t, "TROUBLE", false);
    for (size_t i = 0; i < run->work.count; i++) {
        const struct led *p = &run->work.v[i];
        CLEANUP(strbuf_deinit) struct strbuf trouble = {0};
        bool good = p->done && p->error == 0;
        table_cell(&t, "%.*s", STR_ARG(p->topic));
        table_cell(&t, "%d", p->partition);
        if (good)
            table_cell(&t, "%" PRId64, p->answer);
        else
            table_cell(&t, "-");
        if (!good)
            add_trouble(p, false, &trouble);
        table_cell(&t, "%s", good ? "" : trouble.s);
        failed += !good;
    }
    print_table(run, &t);
    return failed;
}

static bool is_any_done(const struct run *run)
{
    bool any = false;

    for (size_t i = 0; i < run->work.count; i++)
        any |= run->work.v[i].done;
    return any;
}

static int delete_records(struct run *run)
{
    const struct invocation *inv = run->o->inv;

    fill_work(run);
    if (inv->as_kafka)
        puts("Executing records delete operation");
    stop_catch(inv);
    progress_start(&run->progress, "deleted records of", run->work.count, inv->as_kafka);
    int r = run->work.count ? leaders_run(run->cluster, &run->work, &run->arena, &run->why) : 0;
    progress_wipe(&run->progress);
    if (inv->as_kafka) {
        print_kafka(run);
        return tool_done(inv); /* whatever became of each: as Kafka's tool */
    }
    if (r < 0 && r != -EINTR && r != -ETIMEDOUT && !is_any_done(run))
        return tool_fail(inv, "%s; nothing was deleted", run->why.s);
    size_t failed = print_ours(run);
    if (r == -EINTR)
        return tool_fail(inv,
                         "stopped: of %zu partitions %zu were not reached, the others are done",
                         run->work.count, failed);
    if (failed == 0)
        return tool_done(inv);
    return tool_fail(inv, "records of %zu of %zu partitions were not deleted%s%s", failed,
                     run->work.count, run->why.len ? ": " : "", run->why.len ? run->why.s : "");
}

/* ---- --dry-run ---- */

static int ask_offsets(void *ctx, int32_t leader, struct led *const *parts, size_t count,
                       struct strbuf *why)
{
    struct run *run = ctx;

    return leaders_ask_offsets(run->cluster, leader, parts, count, why);
}

/* The first or the next offset of each partition. */
static int find_offsets(struct run *run, int64_t which, struct leaders_work *ret)
{
    fill_work(run);
    *ret = run->work;
    ret->ask = ask_offsets;
    ret->progress = NULL;
    for (size_t i = 0; i < ret->count; i++)
        ret->v[i].asked = which;
    return ret->count ? leaders_run(run->cluster, ret, &run->arena, &run->why) : 0;
}

static const char *plan_trouble(const struct led *first, const struct led *last, int64_t wanted)
{
    if (first->error || last->error)
        return cluster_error_text(first->error ? first->error : last->error, STR_NULL).p;
    if (wanted > last->answer || wanted < LATEST)
        return "no such offset";
    return "";
}

static int plan_deletion(struct run *run)
{
    CLEANUP(table_deinit) struct table t = {0};
    struct leaders_work first, last;
    size_t failed = 0;
    int r = find_offsets(run, EARLIEST, &first);

    r = r < 0 ? r : find_offsets(run, LATEST, &last);
    if (r < 0)
        return tool_fail(run->o->inv, "%s", run->why.s);
    table_add(&t, "TOPIC", false);
    table_add(&t, "PARTITION", true);
    table_add(&t, "FIRST-OFFSET", true);
    table_add(&t, "NEXT-OFFSET", true);
    table_add(&t, "DELETE-UP-TO", true);
    table_add(&t, "OFFSETS-DELETED", true);
    table_add(&t, "TROUBLE", false);
    for (size_t i = 0; i < run->plan.count; i++) {
        int64_t wanted = run->plan.v[i].offset, from = first.v[i].answer;
        const char *trouble = plan_trouble(&first.v[i], &last.v[i], wanted);
        wanted = wanted == LATEST ? last.v[i].answer : wanted;
        table_cell(&t, "%.*s", STR_ARG(run->plan.v[i].topic));
        table_cell(&t, "%d", run->plan.v[i].partition);
        table_cell(&t, "%" PRId64, from);
        table_cell(&t, "%" PRId64, last.v[i].answer);
        table_cell(&t, "%" PRId64, wanted);
        table_cell(&t, "%" PRId64, *trouble ? 0 : MAX(wanted - from, 0));
        table_cell(&t, "%s", trouble);
        failed += *trouble != '\0';
    }
    print_table(run, &t);
    if (failed)
        return tool_fail(run->o->inv, "%zu of %zu partitions would be refused", failed,
                         run->plan.count);
    return tool_done(run->o->inv);
}

/* ---- command line ---- */

static int run_all(struct run *run)
{
    const struct invocation *inv = run->o->inv;
    struct cluster_opts co = {.inv = inv};
    const char *path;
    int r = opts_text(run->o, CONFIG, &co.config_file, &run->why);

    r = r < 0 ? r : opts_text(run->o, BOOTSTRAP, &co.bootstrap, &run->why);
    r = r < 0 ? r : opts_text(run->o, FILE_, &path, &run->why);
    r = r < 0 ? r : opts_json(run->o, OUTPUT, &run->json, &run->why);
    if (r < 0)
        return tool_misused(inv, "%s", run->why.s);
    r = cluster_open(&co, &run->why, &run->cluster);
    if (r < 0)
        return cluster_refused(&co, r, run->why.s);
    if (read_plan(run) < 0)
        return tool_fail(inv, "%s", run->why.s);
    return opts_has(run->o, DRY_RUN) ? plan_deletion(run) : delete_records(run);
}

static int check(struct run *run)
{
    int r = opts_require(run->o, BOOTSTRAP, &run->why);

    return r < 0 ? r : opts_require(run->o, FILE_, &run->why);
}

int cmd_delete_records(const struct invocation *inv)
{
    CLEANUP(opts_deinit) struct opts o = {0};
    struct run run = {.o = &o};
    int code;

    if (opts_parse(&o, &def, inv, &run.why) < 0)
        code = tool_misused(inv, "%s", run.why.s);
    else if (!opts_answered(&o, HELP, VERSION, &code))
        code = check(&run) < 0 ? opts_usage(&o, run.why.s) : run_all(&run);
    cluster_close(run.cluster);
    arena_deinit(&run.arena);
    strbuf_deinit(&run.why);
    return code;
}
