/*
 * reassign_print.c - moves as tables: what --output and --dry-run of `klamm reassign` print
 */
#include "common/base/mem.h"
#include "tools/base/table.h"
#include "tools/reassign/reassign.h"

static void cell_ids(struct table *t, const struct replica_ids *ids)
{
    CLEANUP(strbuf_deinit) struct strbuf text = {0};

    replica_ids_print(ids, ",", &text);
    table_cell(t, "%s", text.len ? text.s : "-");
}

static void cell_list(struct table *t, const int32_t *ids, int32_t count)
{
    cell_ids(t, &(struct replica_ids){(int32_t *)(uintptr_t)ids, count});
}

static void cell_partition(struct table *t, struct str topic, int32_t partition)
{
    table_cell(t, "%.*s", STR_ARG(topic));
    table_cell(t, "%d", partition);
}

static void start_table(struct table *t, const char *const *more, size_t count)
{
    table_add(t, "TOPIC", false);
    table_add(t, "PARTITION", true);
    for (size_t i = 0; i < count; i++)
        table_add(t, more[i], strcmp(more[i], "BROKER") == 0);
}

static void print(const struct reassign *ra, const struct table *t)
{
    if (ra->as_json)
        table_print_json(t, stdout);
    else
        table_print(t, stdout);
}

void reassign_print_list(const struct reassign *ra, const struct runnings *running)
{
    static const char *const more[] = {"REPLICAS", "ADDING", "REMOVING"};
    CLEANUP(table_deinit) struct table t = {0};

    start_table(&t, more, ARRAY_LEN(more));
    for (size_t i = 0; i < running->count; i++) {
        const struct list_partition_reassignments_response_partition *p = running->v[i].p;
        cell_partition(&t, running->v[i].topic, p->partition_index);
        cell_list(&t, p->replicas, p->replicas_count);
        cell_list(&t, p->adding_replicas, p->adding_replicas_count);
        cell_list(&t, p->removing_replicas, p->removing_replicas_count);
    }
    print(ra, &t);
}

/* ---- how a plan is ---- */

static const char *dir_state_name(enum dir_state state)
{
    static const char *const names[] = {
        [DIR_DONE] = "completed",       [DIR_ACTIVE] = "in progress",
        [DIR_ELSEWHERE] = "other move", [DIR_CANCELLED] = "not moving",
        [DIR_MISSING] = "not found",    [DIR_NO_REPLICA] = "not found",
    };

    return names[state];
}

static void cell_dir(struct table *t, struct str dir)
{
    table_cell(t, "%.*s", dir.len ? (int)dir.len : 1, dir.len ? dir.p : "-");
}

static void add_partition(struct table *t, const struct reassign_states *s,
                          const struct plan_entry *e)
{
    const struct plan_entry *now = plan_find(s->current, e->topic, e->partition);
    const struct replica_ids none = {0};
    const struct replica_ids *is = now ? &now->replicas : &none;
    const char *state = "not moving";

    if (running_find(s->running, e->topic, e->partition))
        state = "in progress";
    else if (replica_ids_eq(is, &e->replicas))
        state = "completed";
    cell_partition(t, e->topic, e->partition);
    table_cell(t, "-");
    table_cell(t, "%s", state);
    cell_ids(t, is);
    cell_ids(t, &e->replicas);
}

void reassign_print_states(const struct reassign *ra, const struct reassign_states *s)
{
    static const char *const more[] = {"BROKER", "STATE", "NOW", "WANTED"};
    CLEANUP(table_deinit) struct table t = {0};

    start_table(&t, more, ARRAY_LEN(more));
    for (size_t i = 0; i < s->plan->count; i++)
        add_partition(&t, s, &s->plan->v[i]);
    for (size_t i = 0; i < s->dir_count; i++) {
        const struct dir_status *st = &s->dirs[i];
        cell_partition(&t, st->move->topic, st->move->partition);
        table_cell(&t, "%d", st->move->broker);
        table_cell(&t, "%s", dir_state_name(st->state));
        cell_dir(&t, st->now);
        cell_dir(&t, st->move->dir);
    }
    print(ra, &t);
}

/* ---- --dry-run ---- */

/* Those of a that are not in b. */
static void cell_difference(struct table *t, const struct replica_ids *a,
                            const struct replica_ids *b)
{
    CLEANUP(strbuf_deinit) struct strbuf text = {0};

    for (int32_t i = 0; i < a->count; i++) {
        if (!replica_ids_has(b, a->v[i]))
            strbuf_addf(&text, "%s%d", text.len ? "," : "", a->v[i]);
    }
    table_cell(t, "%s", text.len ? text.s : "-");
}

void reassign_print_plan(const struct reassign *ra, const struct plan *plan,
                         const struct plan *current)
{
    static const char *const more[] = {"NOW", "WANTED", "ADDING", "REMOVING"};
    CLEANUP(table_deinit) struct table t = {0};
    const struct replica_ids none = {0};

    start_table(&t, more, ARRAY_LEN(more));
    for (size_t i = 0; i < plan->count; i++) {
        const struct plan_entry *e = &plan->v[i];
        const struct plan_entry *now = plan_find(current, e->topic, e->partition);
        const struct replica_ids *is = now ? &now->replicas : &none;
        cell_partition(&t, e->topic, e->partition);
        cell_ids(&t, is);
        cell_ids(&t, &e->replicas);
        cell_difference(&t, &e->replicas, is);
        cell_difference(&t, is, &e->replicas);
    }
    print(ra, &t);
}
