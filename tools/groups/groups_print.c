#include "tools/groups/groups_print.h"

#include "common/base/mem.h"
#include "tools/base/table.h"

#include <inttypes.h>

#define NOTHING "-"

enum { NUMBER_TEXT = 24 };

/* ---- parts ---- */

int64_t offset_row_lag(const struct offset_row *row)
{
    return row->current < 0 || row->end < 0 ? -1 : row->end - row->current;
}

/* A number, "-" for -1; Kafka's lag may be below zero, so the caller says whether there is one. */
static const char *number(char *room, bool is_there, int64_t n)
{
    if (!is_there)
        return NOTHING;
    snprintf(room, NUMBER_TEXT, "%" PRId64, n);
    return room;
}

static struct str or_nothing(struct str s)
{
    return s.p ? s : STR(NOTHING);
}

/* Brokers give a client's address as Java prints it: "/127.0.0.1". */
static struct str plain_host(struct str host)
{
    return host.len && host.p[0] == '/' ? (struct str){host.p + 1, host.len - 1} : host;
}

static void pad(FILE *out, struct str s, size_t width)
{
    fprintf(out, "%.*s%*s", STR_ARG(s), s.len < width ? (int)(width - s.len) : 0, "");
}

static void widen(size_t *width, struct str s)
{
    *width = MAX(*width, s.len);
}

static bool is_rebalancing(struct str state)
{
    static const char *const states[] = {"PreparingRebalance", "CompletingRebalance", "Assigning",
                                         "Reconciling"};

    for (size_t i = 0; i < ARRAY_LEN(states); i++) {
        if (str_eqz(state, states[i]))
            return true;
    }
    return false;
}

/* What stands above a group; false where nothing stands below. */
static bool notice(const struct printing *p, const struct group *group, size_t rows)
{
    struct str id = group->id;

    if (p->output != GROUPS_KAFKA && p->is_one) {
        if (str_eqz(group->state, "Empty"))
            fprintf(p->err, "group '%.*s' has no active members\n", STR_ARG(id));
        else if (is_rebalancing(group->state))
            fprintf(p->err, "group '%.*s' is rebalancing\n", STR_ARG(id));
    }
    if (p->output != GROUPS_KAFKA)
        return rows > 0;
    if (str_eqz(group->state, "Dead")) {
        fprintf(p->out, "\nError: Consumer group '%.*s' does not exist.\n", STR_ARG(id));
        return false;
    }
    fflush(p->out);
    if (str_eqz(group->state, "Empty"))
        fprintf(p->err, "\nConsumer group '%.*s' has no active members.\n", STR_ARG(id));
    else if (is_rebalancing(group->state))
        fprintf(p->err, "\nWarning: Consumer group '%.*s' is rebalancing.\n", STR_ARG(id));
    return rows > 0;
}

static void finish(const struct printing *p, struct table *t)
{
    if (p->output == GROUPS_JSON)
        table_print_json(t, p->out);
    else if (t->count)
        table_print(t, p->out);
    table_deinit(t);
}

/* ---- the list ---- */

/* "classic" -> "Classic"; brokers before 3.8 say nothing. */
static struct str type_name(struct str type)
{
    if (str_eqz(type, "classic"))
        return STR("Classic");
    return str_eqz(type, "consumer") ? STR("Consumer") : STR("Unknown");
}

static struct str state_name(struct str state)
{
    return state.len ? state : STR("Unknown");
}

static void print_list_line(const struct printing *p, struct str id, size_t width,
                            const struct group *group)
{
    pad(p->out, id, width);
    if (p->with_type)
        fprintf(p->out, " %-20.*s", STR_ARG(group ? type_name(group->type) : STR("TYPE")));
    if (p->with_state)
        fprintf(p->out, " %-20.*s", STR_ARG(group ? state_name(group->state) : STR("STATE")));
    fputc('\n', p->out);
}

static void print_list_kafka(const struct printing *p, const struct group *v, size_t n)
{
    size_t width = 15;

    for (size_t i = 0; i < n; i++)
        widen(&width, v[i].id);
    if (p->with_type || p->with_state)
        print_list_line(p, STR("GROUP"), width + 10, NULL);
    else
        width = 0;
    for (size_t i = 0; i < n; i++)
        print_list_line(p, v[i].id, width ? width + 10 : 0, &v[i]);
}

void groups_print_list(const struct printing *p, const struct group *v, size_t n)
{
    struct table t = {0};

    if (p->output == GROUPS_KAFKA) {
        print_list_kafka(p, v, n);
        return;
    }
    table_add(&t, "GROUP", false);
    table_add(&t, "TYPE", false);
    table_add(&t, "STATE", false);
    table_add(&t, "COORDINATOR", true);
    for (size_t i = 0; i < n; i++) {
        table_cell(&t, "%.*s", STR_ARG(v[i].id));
        table_cell(&t, "%.*s", STR_ARG(type_name(v[i].type)));
        table_cell(&t, "%.*s", STR_ARG(state_name(v[i].state)));
        table_cell(&t, "%d", v[i].coordinator);
    }
    finish(p, &t);
}

/* ---- offsets ---- */

struct offset_widths {
    size_t group, topic, consumer, host;
};

struct offset_texts {
    char partition[NUMBER_TEXT], current[NUMBER_TEXT], end[NUMBER_TEXT], lag[NUMBER_TEXT];
    struct str consumer, host, client;
};

static void offset_texts(const struct offset_row *row, struct offset_texts *ret)
{
    const struct group_member *m = row->member;
    bool has_lag = row->current >= 0 && row->end >= 0;
    char room[NUMBER_TEXT];

    snprintf(ret->partition, NUMBER_TEXT, "%d", row->part.partition);
    snprintf(ret->current, NUMBER_TEXT, "%s", number(room, row->current >= 0, row->current));
    snprintf(ret->end, NUMBER_TEXT, "%s", number(room, row->end >= 0, row->end));
    snprintf(ret->lag, NUMBER_TEXT, "%s", number(room, has_lag, row->end - row->current));
    ret->consumer = m ? or_nothing(m->id) : STR(NOTHING);
    ret->host = m ? or_nothing(m->host) : STR(NOTHING);
    ret->client = m ? or_nothing(m->client) : STR(NOTHING);
}

static void print_offset_line(const struct printing *p, const struct offset_widths *w,
                              const struct group_rows *rows, const struct offset_row *row)
{
    struct offset_texts t = {"PARTITION",        "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG",
                             STR("CONSUMER-ID"), STR("HOST"),      STR("CLIENT-ID")};

    if (row)
        offset_texts(row, &t);
    fputc('\n', p->out);
    pad(p->out, row ? rows->group->id : STR("GROUP"), w->group);
    fputc(' ', p->out);
    pad(p->out, row ? row->part.topic : STR("TOPIC"), w->topic);
    fprintf(p->out, " %-10s %-15s %-15s %-15s ", t.partition, t.current, t.end, t.lag);
    pad(p->out, t.consumer, w->consumer);
    fputc(' ', p->out);
    pad(p->out, t.host, w->host);
    fprintf(p->out, " %.*s", STR_ARG(t.client));
}

/* Each line begins, and none ends, with a line feed. */
static void print_offsets_kafka(const struct printing *p, const struct group_rows *rows)
{
    struct offset_widths w = {15, 15, 15, 15};

    if (!notice(p, rows->group, rows->count))
        return;
    widen(&w.group, rows->group->id);
    for (size_t i = 0; i < rows->count; i++) {
        struct offset_texts t;
        offset_texts(&rows->v[i], &t);
        widen(&w.topic, rows->v[i].part.topic);
        widen(&w.consumer, t.consumer);
        widen(&w.host, t.host);
    }
    print_offset_line(p, &w, rows, NULL);
    for (size_t i = 0; i < rows->count; i++)
        print_offset_line(p, &w, rows, &rows->v[i]);
}

static void offset_headings(struct table *t)
{
    table_add(t, "GROUP", false);
    table_add(t, "TOPIC", false);
    table_add(t, "PARTITION", true);
    table_add(t, "CURRENT-OFFSET", true);
    table_add(t, "LOG-END-OFFSET", true);
    table_add(t, "LAG", true);
    table_add(t, "CONSUMER-ID", false);
    table_add(t, "HOST", false);
    table_add(t, "CLIENT-ID", false);
}

void groups_print_offsets(const struct printing *p, const struct group_rows *v, size_t n)
{
    struct table t = {0};

    offset_headings(&t);
    for (size_t i = 0; i < n; i++) {
        if (p->output == GROUPS_KAFKA) {
            print_offsets_kafka(p, &v[i]);
            continue;
        }
        (void)notice(p, v[i].group, v[i].count);
        for (size_t k = 0; k < v[i].count; k++) {
            struct offset_texts row;
            offset_texts(&v[i].v[k], &row);
            table_cell(&t, "%.*s", STR_ARG(v[i].group->id));
            table_cell(&t, "%.*s", STR_ARG(v[i].v[k].part.topic));
            table_cell(&t, "%s", row.partition);
            table_cell(&t, "%s", row.current);
            table_cell(&t, "%s", row.end);
            table_cell(&t, "%s", row.lag);
            table_cell(&t, "%.*s", STR_ARG(row.consumer));
            table_cell(&t, "%.*s", STR_ARG(plain_host(row.host)));
            table_cell(&t, "%.*s", STR_ARG(row.client));
        }
    }
    if (p->output != GROUPS_KAFKA)
        finish(p, &t);
}

/* ---- members ---- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Partition numbers as text, in the order of text: "(0,1,10,2)". */
static char *topic_numbers(const struct part *parts, size_t n)
{
    CLEANUP(strbuf_deinit) struct strbuf sb = {0};
    char **texts = xnew_array(char *, n + 1);

    for (size_t i = 0; i < n; i++)
        texts[i] = xasprintf("%d", parts[i].partition);
    qsort(texts, n, sizeof *texts, by_text);
    strbuf_add_char(&sb, '(');
    for (size_t i = 0; i < n; i++) {
        strbuf_addf(&sb, "%s%s", i ? "," : "", texts[i]);
        free(texts[i]);
    }
    strbuf_add_char(&sb, ')');
    free(texts);
    return strbuf_detach(&sb);
}

static size_t same_topic(const struct group_member *m, size_t from)
{
    size_t n = 1;

    while (from + n < m->count && str_eq(m->parts[from].topic, m->parts[from + n].topic))
        n++;
    return n;
}

/* Kafka's tool tells numbers only, "(0,1), (0)", in the order of text. */
static void assignment_kafka(const struct group_member *m, struct strbuf *out)
{
    char **topics = xnew_array(char *, m->count + 1);
    size_t count = 0;

    for (size_t i = 0; i < m->count;) {
        size_t n = same_topic(m, i);
        topics[count++] = topic_numbers(m->parts + i, n);
        i += n;
    }
    if (count)
        qsort(topics, count, sizeof *topics, by_text);
    for (size_t i = 0; i < count; i++) {
        strbuf_addf(out, "%s%s", i ? ", " : "", topics[i]);
        free(topics[i]);
    }
    free(topics);
    if (count == 0)
        strbuf_addz(out, NOTHING);
}

/* "t1(0,1), t2(0)" */
static void assignment(const struct group_member *m, struct strbuf *out)
{
    for (size_t i = 0; i < m->count;) {
        size_t n = same_topic(m, i);
        strbuf_addf(out, "%s%.*s(", i ? ", " : "", STR_ARG(m->parts[i].topic));
        for (size_t k = 0; k < n; k++)
            strbuf_addf(out, "%s%d", k ? "," : "", m->parts[i + k].partition);
        strbuf_add_char(out, ')');
        i += n;
    }
    if (m->count == 0)
        strbuf_addz(out, NOTHING);
}

struct member_widths {
    size_t group, consumer, instance, host, client;
    bool has_instances;
};

static void print_member_line(const struct printing *p, const struct member_widths *w,
                              const struct group *group, const struct group_member *m)
{
    CLEANUP(strbuf_deinit) struct strbuf where = {0};
    char count[NUMBER_TEXT] = "#PARTITIONS";

    pad(p->out, m ? group->id : STR("GROUP"), w->group);
    fputc(' ', p->out);
    pad(p->out, m ? m->id : STR("CONSUMER-ID"), w->consumer);
    fputc(' ', p->out);
    if (w->has_instances) {
        pad(p->out, m ? m->instance : STR("GROUP-INSTANCE-ID"), w->instance);
        fputc(' ', p->out);
    }
    pad(p->out, m ? m->host : STR("HOST"), w->host);
    fputc(' ', p->out);
    pad(p->out, m ? m->client : STR("CLIENT-ID"), w->client);
    if (m) {
        snprintf(count, sizeof count, "%zu", m->count);
        assignment_kafka(m, &where);
    } else {
        strbuf_addz(&where, "ASSIGNMENT");
    }
    fprintf(p->out, " %-15s %s\n", count, p->is_verbose ? where.s : "");
}

/* The headings come even where no member does. */
static void print_members_kafka(const struct printing *p, const struct group *group)
{
    struct member_widths w = {15, 15, 17, 15, 15, false};
    bool has_rows = notice(p, group, group->member_count);

    for (size_t i = 0; has_rows && i < group->member_count; i++) {
        const struct group_member *m = &group->members[i];
        widen(&w.group, group->id);
        widen(&w.consumer, m->id);
        widen(&w.instance, m->instance);
        widen(&w.host, m->host);
        widen(&w.client, m->client);
        w.has_instances = w.has_instances || m->instance.len;
    }
    fputc('\n', p->out);
    print_member_line(p, &w, group, NULL);
    for (size_t i = 0; i < group->member_count; i++)
        print_member_line(p, &w, group, &group->members[i]);
}

static void member_cells(const struct printing *p, struct table *t, const struct group *group,
                         const struct group_member *m)
{
    CLEANUP(strbuf_deinit) struct strbuf where = {0};

    table_cell(t, "%.*s", STR_ARG(group->id));
    table_cell(t, "%.*s", STR_ARG(m->id));
    table_cell(t, "%.*s", STR_ARG(or_nothing(m->instance)));
    table_cell(t, "%.*s", STR_ARG(plain_host(m->host)));
    table_cell(t, "%.*s", STR_ARG(m->client));
    table_cell(t, "%zu", m->count);
    if (!p->is_verbose)
        return;
    assignment(m, &where);
    table_cell(t, "%s", where.s);
}

void groups_print_members(const struct printing *p, const struct group *v, size_t n)
{
    struct table t = {0};

    table_add(&t, "GROUP", false);
    table_add(&t, "CONSUMER-ID", false);
    table_add(&t, "GROUP-INSTANCE-ID", false);
    table_add(&t, "HOST", false);
    table_add(&t, "CLIENT-ID", false);
    table_add(&t, "PARTITIONS", true);
    if (p->is_verbose)
        table_add(&t, "ASSIGNMENT", false);
    for (size_t i = 0; i < n; i++) {
        if (p->output == GROUPS_KAFKA) {
            print_members_kafka(p, &v[i]);
            continue;
        }
        (void)notice(p, &v[i], v[i].member_count);
        for (size_t k = 0; k < v[i].member_count; k++)
            member_cells(p, &t, &v[i], &v[i].members[k]);
    }
    if (p->output != GROUPS_KAFKA)
        finish(p, &t);
}

/* ---- states ---- */

/* The first column is as wide as the second one's text, by a slip of Kafka's tool. */
static void print_state_kafka(const struct printing *p, const struct group *group)
{
    CLEANUP(strbuf_deinit) struct strbuf where = {0};
    size_t width = 25;

    if (!notice(p, group, 1))
        return;
    strbuf_addf(&where, "%.*s:%d  (%d)", STR_ARG(group->host), group->port, group->coordinator);
    widen(&width, strbuf_str(&where));
    fputc('\n', p->out);
    pad(p->out, STR("GROUP"), width);
    fprintf(p->out, " %-25s %-20s %-15s %s\n", "COORDINATOR (ID)", "ASSIGNMENT-STRATEGY", "STATE",
            "#MEMBERS");
    pad(p->out, group->id, width);
    fprintf(p->out, " %-25s %-20.*s %-15.*s %zu\n", where.s, STR_ARG(group->strategy),
            STR_ARG(group->state), group->member_count);
}

void groups_print_states(const struct printing *p, const struct group *v, size_t n)
{
    struct table t = {0};

    table_add(&t, "GROUP", false);
    table_add(&t, "COORDINATOR", false);
    table_add(&t, "COORDINATOR-ID", true);
    table_add(&t, "STRATEGY", false);
    table_add(&t, "STATE", false);
    table_add(&t, "MEMBERS", true);
    for (size_t i = 0; i < n; i++) {
        if (p->output == GROUPS_KAFKA) {
            print_state_kafka(p, &v[i]);
            continue;
        }
        table_cell(&t, "%.*s", STR_ARG(v[i].id));
        table_cell(&t, "%.*s:%d", STR_ARG(v[i].host), v[i].port);
        table_cell(&t, "%d", v[i].coordinator);
        table_cell(&t, "%.*s", STR_ARG(v[i].strategy.len ? v[i].strategy : STR(NOTHING)));
        table_cell(&t, "%.*s", STR_ARG(v[i].state));
        table_cell(&t, "%zu", v[i].member_count);
    }
    if (p->output != GROUPS_KAFKA)
        finish(p, &t);
}

/* ---- resets ---- */

static void print_reset_line(const struct printing *p, struct str group, const struct new_offset *o)
{
    char partition[NUMBER_TEXT] = "PARTITION", offset[NUMBER_TEXT] = "NEW-OFFSET";

    if (o) {
        snprintf(partition, sizeof partition, "%d", o->part.partition);
        snprintf(offset, sizeof offset, "%" PRId64, o->offset);
    }
    fputc('\n', p->out);
    pad(p->out, group, 30);
    fputc(' ', p->out);
    pad(p->out, o ? o->part.topic : STR("TOPIC"), 30);
    fprintf(p->out, " %-10s %-15s", partition, offset);
}

/*
 * Kafka's tool of 3.9 forgot the line feeds between the rows, which made one line of them all; the
 * releases before and after have them.
 */
static void print_resets_kafka(const struct printing *p, const struct group_reset *v, size_t n)
{
    if (n == 0)
        return;
    print_reset_line(p, STR("GROUP"), NULL);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < v[i].count; k++)
            print_reset_line(p, v[i].group->id, &v[i].v[k]);
    }
    fputc('\n', p->out);
}

void groups_print_resets(const struct printing *p, const struct group_reset *v, size_t n)
{
    struct table t = {0};

    if (p->output == GROUPS_KAFKA) {
        print_resets_kafka(p, v, n);
        return;
    }
    table_add(&t, "GROUP", false);
    table_add(&t, "TOPIC", false);
    table_add(&t, "PARTITION", true);
    table_add(&t, "CURRENT-OFFSET", true);
    table_add(&t, "NEW-OFFSET", true);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < v[i].count; k++) {
            const struct new_offset *o = &v[i].v[k];
            char room[NUMBER_TEXT];
            table_cell(&t, "%.*s", STR_ARG(v[i].group->id));
            table_cell(&t, "%.*s", STR_ARG(o->part.topic));
            table_cell(&t, "%d", o->part.partition);
            table_cell(&t, "%s", number(room, o->current >= 0, o->current));
            table_cell(&t, "%" PRId64, o->offset);
        }
    }
    finish(p, &t);
}

void groups_print_plan(const struct printing *p, const struct group_reset *v, size_t n,
                       bool is_single)
{
    CLEANUP(strbuf_deinit) struct strbuf line = {0};

    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < v[i].count; k++) {
            strbuf_reset(&line);
            if (!is_single) {
                csv_add(&line, v[i].group->id);
                strbuf_add_char(&line, ',');
            }
            csv_add(&line, v[i].v[k].part.topic);
            fprintf(p->out, "%.*s,%d,%" PRId64 "\n", STR_ARG(strbuf_str(&line)),
                    v[i].v[k].part.partition, v[i].v[k].offset);
        }
    }
    if (p->output == GROUPS_KAFKA)
        fputc('\n', p->out);
}
