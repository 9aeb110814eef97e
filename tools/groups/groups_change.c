/*
 * groups_change.c - deleting groups, and offsets of a group
 */
#include "common/base/err.h"
#include "common/base/mem.h"
#include "tools/base/table.h"
#include "tools/groups/groups_view.h"

/* ---- groups ---- */

static void join_ids(const struct group *v, size_t n, bool failed, const char *between,
                     struct strbuf *out)
{
    bool is_first = true;

    for (size_t i = 0; i < n; i++) {
        if ((v[i].error != 0) != failed)
            continue;
        strbuf_addf(out, "%s%.*s", is_first ? "" : between, STR_ARG(v[i].id));
        is_first = false;
    }
}

static size_t count_failed(const struct group *v, size_t n)
{
    size_t failed = 0;

    for (size_t i = 0; i < n; i++)
        failed += v[i].error != 0;
    return failed;
}

/* With Kafka's quotes as they come: one pair around all, and a strange end. */
static void say_deleted_kafka(const struct group *v, size_t n)
{
    CLEANUP(strbuf_deinit) struct strbuf ids = {0};
    size_t failed = count_failed(v, n);

    join_ids(v, n, false, failed ? "'" : ", ", &ids);
    if (failed == 0) {
        printf("Deletion of requested consumer groups ('%s') was successful.\n",
               ids.len ? ids.s : "");
        return;
    }
    puts("\nError: Deletion of some consumer groups failed:");
    for (size_t i = 0; i < n; i++) {
        if (v[i].error)
            printf("* Group '%.*s' could not be deleted due to: "
                   "java.util.concurrent.ExecutionException: %.*s\n",
                   STR_ARG(v[i].id), STR_ARG(v[i].trouble));
    }
    if (failed < n)
        printf("\nThese consumer groups were deleted successfully: '%s', '\n",
               ids.len ? ids.s : "");
}

static void say_deleted(struct groups *g, const struct group *v, size_t n, const char *done)
{
    struct table t = {0};

    table_add(&t, "GROUP", false);
    table_add(&t, "RESULT", false);
    for (size_t i = 0; i < n; i++) {
        table_cell(&t, "%.*s", STR_ARG(v[i].id));
        table_cell(&t, "%s", v[i].error ? "failed" : done);
    }
    if (g->output == GROUPS_JSON)
        table_print_json(&t, stdout);
    else if (n)
        table_print(&t, stdout);
    table_deinit(&t);
    for (size_t i = 0; i < n; i++) {
        if (v[i].error == 0)
            continue;
        (void)tool_fail(g->o->inv, "group '%.*s': %.*s", STR_ARG(v[i].id), STR_ARG(v[i].trouble));
        g->has_failures = true;
    }
}

/* What the coordinator would answer. */
static int try_delete(struct groups *g, struct group *v, size_t n)
{
    int r = groups_describe(g, v, n);

    for (size_t i = 0; r == 0 && i < n; i++) {
        int16_t code = str_eqz(v[i].state, "Dead")    ? GROUP_ID_NOT_FOUND
                       : str_eqz(v[i].state, "Empty") ? 0
                                                      : NON_EMPTY_GROUP;
        v[i].error = code;
        v[i].trouble = groups_trouble(g, code, STR_NULL);
    }
    return r;
}

int groups_remove(struct groups *g)
{
    bool is_dry = opts_has(g->o, GR_DRY_RUN) && !groups_as_kafka(g);
    struct group *v;
    size_t n;

    g->is_wrapped = true;
    int r = groups_named(g, &v, &n);
    if (r)
        return r;
    if (is_dry)
        r = try_delete(g, v, n);
    else
        groups_delete(g, v, n);
    if (r)
        return r;
    if (groups_as_kafka(g))
        say_deleted_kafka(v, n);
    else
        say_deleted(g, v, n, is_dry ? "would be deleted" : "deleted");
    return 0;
}

/* ---- offsets ---- */

/* One line of the answer: a partition, or a topic that could not be resolved. */
struct forgotten {
    struct part part;   /* -1: all of the topic */
    char *key;          /* the line's place */
    struct str trouble; /* null: done */
    const char *note;   /* in place of done */
};

struct forgettings {
    struct forgotten *v;
    size_t count, cap;
};

static struct forgotten *add_line(struct forgettings *f, struct part part, struct str trouble)
{
    xgrow(f->v, f->cap, f->count + 1);
    f->v[f->count] = (struct forgotten){
        part, xasprintf("%.*s%d", STR_ARG(part.topic), part.partition), trouble, NULL};
    return &f->v[f->count++];
}

static int by_key(const void *a, const void *b)
{
    return strcmp(((const struct forgotten *)a)->key, ((const struct forgotten *)b)->key);
}

static void drop_lines(struct forgettings *f)
{
    for (size_t i = 0; i < f->count; i++)
        free(f->v[i].key);
    free(f->v);
}

/* --topic T and T:0,1; a topic that is not known is a line of the answer. */
static int resolve_topics(struct groups *g, struct parts *ret, struct forgettings *f)
{
    for (int i = 0; i < opts_count(g->o, GR_TOPIC); i++) {
        const char *text = opts_nth(g->o, GR_TOPIC, i);
        if (topic_arg_has_parts(text) && topic_arg_parse(text, &g->arena, ret, &g->why) < 0)
            return GROUPS_MISUSED;
    }
    for (int i = 0; i < opts_count(g->o, GR_TOPIC); i++) {
        const char *text = opts_nth(g->o, GR_TOPIC, i);
        struct str trouble = STR_NULL;
        if (topic_arg_has_parts(text))
            continue;
        int r = groups_topic_parts(g, str_of(text), ret, &trouble);
        if (r)
            (void)add_line(f, (struct part){str_of(text), -1}, trouble);
    }
    parts_sort(ret);
    return 0;
}

static void add_answers(struct groups *g, const struct group *group, const struct parts *parts,
                        const int16_t *errors, struct forgettings *f)
{
    for (size_t i = 0; i < parts->count; i++) {
        struct str trouble = group->error ? group->trouble : STR_NULL;
        if (!group->error && errors[i])
            trouble = groups_trouble(g, errors[i], STR_NULL);
        (void)add_line(f, parts->v[i], trouble);
    }
    if (f->count)
        qsort(f->v, f->count, sizeof *f->v, by_key);
}

static const char *name_of(int code)
{
    return code > 0                ? err_name(code)
           : cluster_is_lost(code) ? "REQUEST_TIMED_OUT"
                                   : "UNKNOWN_SERVER_ERROR";
}

static void say_result(struct groups *g, const struct group *group, int code)
{
    struct str id = group->id;

    switch (code) {
    case 0:
        printf("Request succeed for deleting offsets with topic ");
        for (int i = 0; i < opts_count(g->o, GR_TOPIC); i++)
            printf("%s%s", i ? ", " : "", opts_nth(g->o, GR_TOPIC, i));
        printf(" group %.*s\n", STR_ARG(id));
        break;
    case INVALID_GROUP_ID:
        printf("\nError: '%.*s' is not valid.\n", STR_ARG(id));
        break;
    case GROUP_ID_NOT_FOUND:
        printf("\nError: '%.*s' does not exist.\n", STR_ARG(id));
        break;
    case GROUP_AUTHORIZATION_FAILED:
        printf("\nError: Access to '%.*s' is not authorized.\n", STR_ARG(id));
        break;
    case NON_EMPTY_GROUP:
        printf("\nError: Deleting offsets of a consumer group '%.*s' is forbidden if the group is "
               "not empty.\n",
               STR_ARG(id));
        break;
    case GROUP_SUBSCRIBED_TO_TOPIC:
    case TOPIC_AUTHORIZATION_FAILED:
    case UNKNOWN_TOPIC_OR_PARTITION:
        puts("\nError: Encounter some partition level error, see the follow-up details:");
        break;
    default:
        printf("\nError: Encounter some unknown error: %s\n", name_of(code));
    }
}

/* As with resets: a line for each row, which Kafka's tool of 3.9 forgot. */
static void print_lines_kafka(const struct forgettings *f)
{
    printf("\n%-30s %-15s %-15s", "TOPIC", "PARTITION", "STATUS");
    for (size_t i = 0; i < f->count; i++) {
        const struct forgotten *line = &f->v[i];
        char partition[16] = "Not Provided";
        if (line->part.partition >= 0)
            snprintf(partition, sizeof partition, "%d", line->part.partition);
        printf("\n%-30.*s %-15s ", STR_ARG(line->part.topic), partition);
        if (line->trouble.p)
            printf("Error: :%.*s", STR_ARG(line->trouble));
        else
            printf("%-15s", "Successful");
    }
    putchar('\n');
}

static void print_lines(struct groups *g, const struct forgettings *f, const char *done)
{
    struct table t = {0};

    table_add(&t, "TOPIC", false);
    table_add(&t, "PARTITION", true);
    table_add(&t, "RESULT", false);
    for (size_t i = 0; i < f->count; i++) {
        const struct forgotten *line = &f->v[i];
        table_cell(&t, "%.*s", STR_ARG(line->part.topic));
        if (line->part.partition < 0)
            table_cell(&t, "-");
        else
            table_cell(&t, "%d", line->part.partition);
        if (line->trouble.p)
            table_cell(&t, "%.*s", STR_ARG(line->trouble));
        else
            table_cell(&t, "%s", line->note ? line->note : done);
        g->has_failures = g->has_failures || line->trouble.p;
    }
    if (g->output == GROUPS_JSON)
        table_print_json(&t, stdout);
    else if (f->count)
        table_print(&t, stdout);
    table_deinit(&t);
}

static bool is_read(const struct group *group, struct str topic)
{
    for (size_t i = 0; i < group->member_count; i++) {
        for (size_t k = 0; k < group->members[i].count; k++) {
            if (str_eq(group->members[i].parts[k].topic, topic))
                return true;
        }
    }
    return false;
}

/* What the coordinator would answer, as far as it can be foreseen. */
static int try_forget(struct groups *g, struct group *group, const struct parts *parts,
                      struct forgettings *f)
{
    int r = groups_describe(g, group, 1);

    r = r ? r : groups_committed(g, group, 1);
    for (size_t i = 0; r == 0 && i < parts->count; i++) {
        int16_t code = str_eqz(group->state, "Dead")       ? GROUP_ID_NOT_FOUND
                       : is_read(group, parts->v[i].topic) ? GROUP_SUBSCRIBED_TO_TOPIC
                                                           : 0;
        struct forgotten *line =
            add_line(f, parts->v[i], code ? groups_trouble(g, code, STR_NULL) : STR_NULL);
        line->note = group_committed(group, &parts->v[i]) ? NULL : "nothing is committed";
    }
    if (f->count)
        qsort(f->v, f->count, sizeof *f->v, by_key);
    return r;
}

static int forget(struct groups *g, struct group *group, const struct parts *parts,
                  struct forgettings *f)
{
    int16_t *errors = arena_new_array(&g->arena, int16_t, parts->count + 1);
    int code = groups_delete_offsets(g, group, parts, errors);

    for (size_t i = 0; code == 0 && i < parts->count; i++)
        code = errors[i];
    add_answers(g, group, parts, errors, f);
    if (groups_as_kafka(g)) {
        say_result(g, group, code);
        print_lines_kafka(f);
        return 0;
    }
    if (group->error && parts->count == 0)
        return groups_say(g, group->error, group->trouble);
    print_lines(g, f, "forgotten");
    return 0;
}

int groups_remove_offsets(struct groups *g)
{
    bool is_dry = opts_has(g->o, GR_DRY_RUN) && !groups_as_kafka(g);
    struct group group = {.coordinator = -1};
    struct forgettings f = {0};
    struct parts parts = {0};
    const char *id;
    int r = opts_text(g->o, GR_GROUP, &id, &g->why);

    if (r)
        return r;
    group.id = str_of(id);
    g->is_wrapped = false;
    r = resolve_topics(g, &parts, &f);
    if (r == 0 && is_dry) {
        r = try_forget(g, &group, &parts, &f);
        if (r == 0)
            print_lines(g, &f, "would be forgotten");
    } else if (r == 0) {
        r = forget(g, &group, &parts, &f);
    }
    drop_lines(&f);
    return r;
}
