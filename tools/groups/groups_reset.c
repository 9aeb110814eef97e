/*
 * groups_reset.c - resetting the offsets of groups: which partitions, and to which offsets
 *
 * All groups are planned before the first is changed.
 */
#include "tools/groups/groups_reset.h"
#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/io/fs.h"
#include "tools/base/timestamp.h"
#include "tools/groups/groups_view.h"

#include <inttypes.h>
#include <time.h>

enum { PLAN_MAX_BYTES = 256 << 20 };

#define KAFKA_LOGGER "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"

/* ---- reading the command line ---- */

static int read_file(struct reset *r, const char *path)
{
    CLEANUP(strbuf_deinit) struct strbuf text = {0}, reason = {0};
    struct groups *g = r->g;
    const struct reset_plan_opts opts = {.as_kafka = groups_as_kafka(g),
                                         .is_single = opts_count(g->o, GR_GROUP) == 1};
    int e = fs_read_file(path, PLAN_MAX_BYTES, &text);

    if (e < 0) {
        if (opts.as_kafka)
            strbuf_addf(&g->why, "java.io.IOException: Unable to read file %s", path);
        else
            strbuf_addf(&g->why, "%s: %s (--from-file)", path, strerror(-e));
        return e;
    }
    struct str copy = arena_str(&g->arena, strbuf_str(&text));
    e = reset_plan_parse(copy, &opts, &g->arena, &r->plan, &reason);
    if (e < 0)
        strbuf_addf(&g->why, "%s%s%s", opts.as_kafka ? "" : path, opts.as_kafka ? "" : ": ",
                    reason.s);
    return e;
}

/* Our own tool takes what others of ours take for a moment too. */
static int read_datetime(struct reset *r, const char *text)
{
    CLEANUP(strbuf_deinit) struct strbuf reason = {0};
    struct groups *g = r->g;

    if (!groups_as_kafka(g) && timestamp_parse(text, &r->time) == 0)
        return 0;
    int e = datetime_parse(text, &r->time, &reason);
    if (e == 0)
        return 0;
    if (groups_as_kafka(g))
        strbuf_addf(&g->why, "java.text.ParseException: %s", reason.s);
    else
        strbuf_addf(&g->why,
                    "--to-datetime %s: 2026-11-30T12:00:00.000, with Z, +01:00 or nothing "
                    "(UTC) behind it, is wanted",
                    text);
    return e;
}

/* The one scenario's value. */
static int read_scenario(struct reset *r)
{
    struct groups *g = r->g;
    const char *text = NULL;
    int e = 0;

    if (opts_has(g->o, GR_TO_OFFSET))
        return opts_i64(g->o, GR_TO_OFFSET, &r->number, &g->why);
    if (opts_has(g->o, GR_SHIFT_BY))
        return opts_i64(g->o, GR_SHIFT_BY, &r->number, &g->why);
    if (opts_has(g->o, GR_TO_DATETIME)) {
        e = opts_text(g->o, GR_TO_DATETIME, &text, &g->why);
        return e ? e : read_datetime(r, text);
    }
    if (opts_has(g->o, GR_BY_DURATION)) {
        e = opts_text(g->o, GR_BY_DURATION, &text, &g->why);
        return e ? e : duration_before(text, clock_wall_ms(&clock_system), &r->time, &g->why);
    }
    if (opts_has(g->o, GR_FROM_FILE)) {
        e = opts_text(g->o, GR_FROM_FILE, &text, &g->why);
        return e ? e : read_file(r, text);
    }
    if (opts_has(g->o, GR_TO_EARLIEST) || opts_has(g->o, GR_TO_LATEST) ||
        opts_has(g->o, GR_TO_CURRENT))
        return 0;
    if (!groups_as_kafka(g))
        strbuf_addz(&g->why, "to which offsets? --to-earliest, --to-latest, --to-current, "
                             "--to-offset, --shift-by, --to-datetime, --by-duration, --from-file");
    else
        strbuf_addz(&g->why,
                    "Option '[reset-offsets]' requires one of the following scenarios: "
                    "[[to-offset], [to-current], [to-datetime], [from-file], [by-duration], "
                    "[to-earliest], [to-latest], [shift-by]]");
    return GROUPS_MISUSED;
}

static bool has_scope(const struct groups *g)
{
    return opts_has(g->o, GR_ALL_TOPICS) || opts_has(g->o, GR_TOPIC) ||
           opts_has(g->o, GR_FROM_FILE);
}

static int no_scope(struct groups *g)
{
    strbuf_addz(&g->why, "One of the reset scopes should be defined: --all-topics, --topic.");
    return GROUPS_MISUSED;
}

/* ---- which groups ---- */

static void say_active(struct groups *g, const struct group *group)
{
    static const char fmt[] = "Assignments can only be reset if the group '%.*s' is inactive, but "
                              "the current state is %.*s.";

    if (groups_as_kafka(g)) {
        printf("\nError: ");
        printf(fmt, STR_ARG(group->id), STR_ARG(group->state));
        putchar('\n');
    } else {
        (void)tool_fail(g->o->inv, fmt, STR_ARG(group->id), STR_ARG(group->state));
        g->has_failures = true;
    }
}

static int find_groups(struct reset *r)
{
    struct groups *g = r->g;
    struct group *all;
    int e = groups_named(g, &all, &r->count);

    e = e ? e : groups_describe(g, all, r->count);
    if (e)
        return e;
    r->v = arena_new_array(&g->arena, struct group_reset, r->count + 1);
    r->groups = arena_new_array(&g->arena, struct group, r->count + 1);
    for (size_t i = 0; i < r->count; i++) {
        bool is_free = str_eqz(all[i].state, "Empty") || str_eqz(all[i].state, "Dead");
        r->v[i].group = &all[i];
        if (!is_free) {
            say_active(g, &all[i]);
            continue;
        }
        r->groups[r->group_count] = all[i];
        r->v[i].group = &r->groups[r->group_count++];
    }
    return 0;
}

static bool is_free(const struct reset *r, const struct group_reset *gr)
{
    return gr->group >= r->groups && gr->group < r->groups + r->group_count;
}

/* ---- which partitions ---- */

static void add_part(struct reset *r, struct group_reset *gr, struct part part)
{
    const struct committed *c = group_committed(gr->group, &part);

    if (gr->count == gr->cap) {
        size_t cap = gr->cap * 2 + 16;
        struct new_offset *v = arena_new_array(&r->g->arena, struct new_offset, cap);
        if (gr->count)
            memcpy(v, gr->v, gr->count * sizeof *v);
        gr->v = v;
        gr->cap = cap;
    }
    gr->v[gr->count++] = (struct new_offset){part, c ? c->offset : -1, 0, false};
}

/* --topic T, T:0,1 */
static int resolve_topics(struct reset *r, struct parts *ret)
{
    struct groups *g = r->g;

    for (int i = 0; i < opts_count(g->o, GR_TOPIC); i++) {
        const char *text = opts_nth(g->o, GR_TOPIC, i);
        if (topic_arg_has_parts(text) && topic_arg_parse(text, &g->arena, ret, &g->why) < 0)
            return GROUPS_MISUSED;
    }
    for (int i = 0; i < opts_count(g->o, GR_TOPIC); i++) {
        const char *text = opts_nth(g->o, GR_TOPIC, i);
        struct str trouble = STR_NULL;
        bool is_again = false;
        for (int k = 0; k < i; k++)
            is_again = is_again || strcmp(opts_nth(g->o, GR_TOPIC, k), text) == 0;
        if (is_again || topic_arg_has_parts(text))
            continue;
        int e = groups_topic_parts(g, str_of(text), ret, &trouble);
        if (e)
            return groups_say(g, e, trouble);
    }
    const struct part *twice = parts_sort(ret);
    if (!twice || !groups_as_kafka(g) || opts_has(g->o, GR_FROM_FILE))
        return 0;
    strbuf_addf(&g->why, "Duplicate key %.*s-%d", STR_ARG(twice->topic), twice->partition);
    return -EINVAL;
}

static int take_scope(struct reset *r)
{
    struct groups *g = r->g;
    bool all_topics = opts_has(g->o, GR_ALL_TOPICS);
    struct parts parts = {0};

    if (!has_scope(g))
        return no_scope(g);
    int e = all_topics ? 0 : resolve_topics(r, &parts);
    if (e || opts_has(g->o, GR_FROM_FILE))
        return e;
    for (size_t i = 0; i < r->count; i++) {
        struct group_reset *gr = &r->v[i];
        size_t n = all_topics ? gr->group->committed_count : parts.count;
        for (size_t k = 0; is_free(r, gr) && k < n; k++)
            add_part(r, gr, all_topics ? gr->group->committed[k].part : parts.v[k]);
    }
    return 0;
}

static void no_plan(struct groups *g, const struct group *group)
{
    if (groups_as_kafka(g)) {
        printf("\nError: No reset plan for group %.*s found\n", STR_ARG(group->id));
        return;
    }
    (void)tool_fail(g->o->inv, "the file has no line for group '%.*s'", STR_ARG(group->id));
    g->has_failures = true;
}

/* What --from-file says, with its offsets. */
static int take_plan(struct reset *r)
{
    struct groups *g = r->g;
    bool is_single = r->plan.count && str_is_null(r->plan.v[0].group);

    for (size_t i = 0; i < r->count; i++) {
        struct group_reset *gr = &r->v[i];
        size_t n;
        const struct plan_line *lines =
            reset_plan_of(&r->plan, is_single ? STR_NULL : gr->group->id, &n);
        if (!is_free(r, gr))
            continue;
        if (n == 0)
            no_plan(g, gr->group);
        for (size_t k = 0; k < n; k++) {
            if (lines[k].offset < 0) {
                strbuf_addz(&g->why, "Invalid negative offset");
                return GROUPS_MISUSED;
            }
            add_part(r, gr, lines[k].part);
            gr->v[gr->count - 1].offset = lines[k].offset;
        }
    }
    return 0;
}

/* ---- to which offsets ---- */

static void list_asks(struct reset *r, bool (*is_wanted)(const struct new_offset *o))
{
    struct parts parts = {0};

    for (size_t i = 0; i < r->count; i++) {
        for (size_t k = 0; k < r->v[i].count; k++) {
            if (!is_wanted || is_wanted(&r->v[i].v[k]))
                parts_add(&parts, &r->g->arena, r->v[i].v[k].part);
        }
    }
    parts_sort(&parts);
    r->asks = arena_new_array(&r->g->arena, struct log_ask, parts.count + 1);
    r->ask_count = parts.count;
    for (size_t i = 0; i < parts.count; i++)
        r->asks[i].part = parts.v[i];
}

static int ask(struct reset *r, int64_t time)
{
    return groups_log_offsets(r->g, r->asks, r->ask_count, time, false);
}

static int64_t answer_for(const struct reset *r, const struct new_offset *o)
{
    const struct log_ask *a = log_ask_find(r->asks, r->ask_count, &o->part);

    return a ? a->offset : -1;
}

static void for_each(struct reset *r, void (*fn)(struct reset *r, struct new_offset *o))
{
    for (size_t i = 0; i < r->count; i++) {
        for (size_t k = 0; k < r->v[i].count; k++)
            fn(r, &r->v[i].v[k]);
    }
}

static void to_answer(struct reset *r, struct new_offset *o)
{
    o->offset = answer_for(r, o);
}

/* As a line of Kafka's log. */
static void say_moved(struct reset *r, const struct new_offset *o, const char *how, int64_t to)
{
    struct timespec now;
    struct tm tm;
    char text[32];

    r->moved++;
    if (!groups_as_kafka(r->g))
        return;
    clock_gettime(CLOCK_REALTIME, &now);
    strftime(text, sizeof text, "%F %T", localtime_r(&now.tv_sec, &tm));
    fprintf(stderr,
            "[%s,%03ld] WARN New offset (%" PRId64 ") is %s offset for topic partition %.*s-%d. "
            "Value will be set to %" PRId64 " (" KAFKA_LOGGER ")\n",
            text, now.tv_nsec / 1000000, o->offset, how, STR_ARG(o->part.topic), o->part.partition,
            to);
}

static void cut_at_end(struct reset *r, struct new_offset *o)
{
    int64_t end = answer_for(r, o);

    if (o->offset <= end)
        return;
    say_moved(r, o, "higher than latest", end);
    o->offset = end;
}

static void cut_at_start(struct reset *r, struct new_offset *o)
{
    int64_t start = answer_for(r, o);

    if (o->offset >= start)
        return;
    say_moved(r, o, "lower than earliest", start);
    o->offset = start;
}

/* Into the log, where the offset lies outside. */
static int cut(struct reset *r)
{
    list_asks(r, NULL);
    int e = ask(r, LOG_LATEST);
    if (e)
        return e;
    for_each(r, cut_at_end);
    e = ask(r, LOG_EARLIEST);
    if (e == 0)
        for_each(r, cut_at_start);
    return e;
}

static void to_number(struct reset *r, struct new_offset *o)
{
    o->offset = r->number;
}

static void shift(struct reset *r, struct new_offset *o)
{
    if (add_overflows(o->current, r->number, &o->offset))
        o->offset = r->number < 0 ? INT64_MIN : INT64_MAX;
}

static int shift_all(struct reset *r)
{
    for (size_t i = 0; i < r->count; i++) {
        for (size_t k = 0; k < r->v[i].count; k++) {
            const struct new_offset *o = &r->v[i].v[k];
            if (o->current >= 0)
                continue;
            strbuf_addf(&r->g->why,
                        "Cannot shift offset for partition %.*s-%d since there is no current "
                        "committed offset",
                        STR_ARG(o->part.topic), o->part.partition);
            return GROUPS_MISUSED;
        }
    }
    for_each(r, shift);
    return cut(r);
}

static bool is_late(const struct new_offset *o)
{
    return o->offset < 0;
}

static void to_end_if_late(struct reset *r, struct new_offset *o)
{
    if (o->offset >= 0)
        return;
    r->late++;
    if (groups_as_kafka(r->g))
        printf("\nWarn: Partition %d from topic %.*s is empty. Falling back to latest known "
               "offset.\n",
               o->part.partition, STR_ARG(o->part.topic));
    o->offset = answer_for(r, o);
}

/* The first record of that time or later, else the end. */
static int to_time(struct reset *r)
{
    list_asks(r, NULL);
    int e = ask(r, r->time);
    if (e)
        return e;
    for_each(r, to_answer);
    list_asks(r, is_late);
    e = ask(r, LOG_LATEST);
    if (e == 0)
        for_each(r, to_end_if_late);
    return e;
}

static bool has_no_current(const struct new_offset *o)
{
    return o->current < 0;
}

static void to_current_or_answer(struct reset *r, struct new_offset *o)
{
    o->offset = o->current < 0 ? answer_for(r, o) : o->current;
}

static int to_current(struct reset *r)
{
    list_asks(r, has_no_current);
    int e = ask(r, LOG_LATEST);
    if (e == 0)
        for_each(r, to_current_or_answer);
    return e;
}

static int to_edge(struct reset *r, int64_t time)
{
    list_asks(r, NULL);
    int e = ask(r, time);
    if (e == 0)
        for_each(r, to_answer);
    return e;
}

static int take_offsets(struct reset *r)
{
    const struct opts *o = r->g->o;

    if (opts_has(o, GR_TO_OFFSET)) {
        for_each(r, to_number);
        return cut(r);
    }
    if (opts_has(o, GR_SHIFT_BY))
        return shift_all(r);
    if (opts_has(o, GR_TO_DATETIME) || opts_has(o, GR_BY_DURATION))
        return to_time(r);
    if (opts_has(o, GR_FROM_FILE)) {
        int e = take_plan(r);
        return e ? e : cut(r);
    }
    if (opts_has(o, GR_TO_CURRENT))
        return to_current(r);
    return to_edge(r, opts_has(o, GR_TO_EARLIEST) ? LOG_EARLIEST : LOG_LATEST);
}

/* ---- all of it ---- */

static void say_notes(const struct reset *r, bool is_dry)
{
    if (groups_as_kafka(r->g))
        return;
    fflush(stdout);
    if (r->moved)
        fprintf(stderr, "%zu offset%s outside of the log: the log's start or end is taken\n",
                r->moved, r->moved == 1 ? " lies" : "s lie");
    if (r->late)
        fprintf(stderr, "%zu partition%s no record that late: the log's end is taken\n", r->late,
                r->late == 1 ? " has" : "s have");
    if (is_dry)
        fprintf(stderr, "nothing was changed%s\n",
                opts_has(r->g->o, GR_DRY_RUN) ? "" : "; --execute does it");
}

static int prepare(struct reset *r)
{
    struct groups *g = r->g;
    bool is_early = !groups_as_kafka(g); /* Kafka's tool looks at groups first */
    int e = 0;

    if (is_early)
        e = has_scope(g) ? read_scenario(r) : no_scope(g);
    if (e) /* a file that is wrong is no wrong command line */
        return opts_has(g->o, GR_FROM_FILE) ? e : GROUPS_MISUSED;
    e = find_groups(r);
    if (e || r->group_count == 0)
        return e;
    e = groups_committed(g, r->groups, r->group_count);
    e = e ? e : take_scope(r);
    if (e == 0 && !is_early)
        e = read_scenario(r);
    return e ? e : take_offsets(r);
}

int groups_reset(struct groups *g)
{
    const struct printing p = groups_printing(g);
    struct reset r = {.g = g};
    bool is_dry = !opts_has(g->o, GR_EXECUTE);

    g->is_wrapped = true;
    int e = prepare(&r);
    if (e == 0 && !is_dry)
        e = reset_execute(&r);
    if (e)
        return e;
    if (opts_has(g->o, GR_EXPORT))
        groups_print_plan(&p, r.v, r.count, opts_count(g->o, GR_GROUP) == 1);
    else
        groups_print_resets(&p, r.v, r.count);
    say_notes(&r, is_dry);
    return 0;
}
