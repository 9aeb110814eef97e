/*
 * elect_print.c - what came of an election
 */
#include "common/base/err.h"
#include "common/base/mem.h"
#include "tools/base/cluster.h"
#include "tools/base/table.h"
#include "tools/elect/elect.h"

const char *election_name(enum election type)
{
    return type == ELECT_UNCLEAN ? "UNCLEAN" : "PREFERRED";
}

/* The partitions with that outcome, in one line; nothing where there are none. */
static void print_group(const struct elect_parts *p, int16_t error, const char *words, FILE *out)
{
    CLEANUP(free_p) struct elect_part *room = xnew_array(struct elect_part, p->count + 1);
    struct elect_parts group = {room, 0};

    for (size_t i = 0; i < p->count; i++) {
        if (p->v[i].error == error)
            room[group.count++] = p->v[i];
    }
    if (group.count == 0)
        return;
    elect_sort(&group); /* a set of its own in Java */
    fputs(words, out);
    for (size_t i = 0; i < group.count; i++)
        fprintf(out, "%s%.*s-%d", i ? ", " : " ", STR_ARG(room[i].topic), room[i].partition);
    fputc('\n', out);
}

static void print_failure(const struct elect_part *p, enum election type, FILE *out)
{
    CLEANUP(strbuf_deinit) struct strbuf exception = {0};

    cluster_exception(p->error, &exception);
    fprintf(out,
            "Error completing leader election (%s) for partition: %.*s-%d: "
            "org.apache.kafka.common.errors.%s: %.*s\n",
            election_name(type), STR_ARG(p->topic), p->partition, exception.s,
            STR_ARG(cluster_error_text(p->error, p->message)));
}

static bool has_failed(const struct elect_part *p)
{
    return p->error && p->error != ELECTION_NOT_NEEDED;
}

size_t elect_print(const struct elect_parts *p, enum election type, FILE *out)
{
    CLEANUP(free_p) struct elect_part *room = xnew_array(struct elect_part, p->count + 1);
    struct elect_parts failed = {room, 0};
    char done[80];

    snprintf(done, sizeof done, "Successfully completed leader election (%s) for partitions",
             election_name(type));
    print_group(p, 0, done, out);
    print_group(p, ELECTION_NOT_NEEDED, "Valid replica already elected for partitions", out);
    for (size_t i = 0; i < p->count; i++) {
        if (has_failed(&p->v[i]))
            room[failed.count++] = p->v[i];
    }
    elect_sort(&failed);
    for (size_t i = 0; i < failed.count; i++)
        print_failure(&room[i], type, out);
    return failed.count;
}

size_t elect_print_table(const struct elect_parts *p, bool as_json, FILE *out)
{
    CLEANUP(table_deinit) struct table t = {0};
    size_t failed = 0;

    table_add(&t, "TOPIC", false);
    table_add(&t, "PARTITION", true);
    table_add(&t, "RESULT", false);
    for (size_t i = 0; i < p->count; i++) {
        const struct elect_part *one = &p->v[i];
        struct str text = one->error ? cluster_error_text(one->error, one->message) : one->message;

        if (one->error == ELECTION_NOT_NEEDED)
            text = STR("not needed");
        else if (!one->error && text.len == 0)
            text = STR("elected");
        table_cell(&t, "%.*s", STR_ARG(one->topic));
        table_cell(&t, "%d", one->partition);
        table_cell(&t, "%.*s", STR_ARG(text));
        failed += has_failed(one);
    }
    if (as_json)
        table_print_json(&t, out);
    else
        table_print(&t, out);
    return failed;
}
