/*
 * groups_view.c - listing and describing groups: what is asked, in which order, and what of it is
 * shown
 */
#include "tools/groups/groups_view.h"
#include "common/base/err.h"
#include "common/base/mem.h"

struct printing groups_printing(const struct groups *g)
{
    return (struct printing){.output = g->output,
                             .out = stdout,
                             .err = stderr,
                             .with_type = opts_has(g->o, GR_TYPE),
                             .with_state = opts_has(g->o, GR_STATE),
                             .is_verbose = opts_has(g->o, GR_VERBOSE),
                             .is_one = opts_count(g->o, GR_GROUP) == 1};
}

/* ---- list ---- */

static int read_filter(struct groups *g, struct groups_filter *ret)
{
    const char *types, *states;
    int r = opts_text(g->o, GR_TYPE, &types, &g->why);

    r = r ? r : opts_text(g->o, GR_STATE, &states, &g->why);
    if (r)
        return r;
    if (types && types_parse(types, &g->arena, &ret->types, &ret->type_count, &g->why) < 0)
        return GROUPS_MISUSED;
    if (states && states_parse(states, &g->arena, &ret->states, &ret->state_count, &g->why) < 0)
        return GROUPS_MISUSED;
    return 0;
}

int groups_show_list(struct groups *g)
{
    const struct printing p = groups_printing(g);
    struct groups_filter filter = {0};
    struct group *v;
    size_t n;
    int r = read_filter(g, &filter);

    g->is_wrapped = !p.with_type && !p.with_state;
    r = r ? r : groups_list(g, &filter, &v, &n);
    if (r == 0)
        groups_print_list(&p, v, n);
    return r;
}

/* ---- rows ---- */

/* How many rows a group can have at most. */
static size_t rows_max(const struct group *group)
{
    size_t n = group->committed_count;

    for (size_t i = 0; i < group->member_count; i++)
        n += group->members[i].count;
    return n;
}

/* Most partitions first, else in the order of the coordinator. */
static void sort_members(const struct group *group, const struct group_member **ret)
{
    for (size_t i = 0; i < group->member_count; i++) {
        const struct group_member *m = &group->members[i];
        size_t at = i;
        for (; at > 0 && ret[at - 1]->count < m->count; at--)
            ret[at] = ret[at - 1];
        ret[at] = m;
    }
}

static int part_order_of(const void *a, const void *b)
{
    return part_order(*(const struct part *const *)a, *(const struct part *const *)b);
}

/* The partitions that have a member, sorted. */
static const struct part **assigned_parts(struct groups *g, const struct group *group,
                                          size_t *ret_n)
{
    const struct part **v = arena_new_array(&g->arena, const struct part *, rows_max(group) + 1);
    size_t n = 0;

    for (size_t i = 0; i < group->member_count; i++) {
        for (size_t k = 0; k < group->members[i].count; k++)
            v[n++] = &group->members[i].parts[k];
    }
    if (n)
        qsort(v, n, sizeof *v, part_order_of);
    *ret_n = n;
    return v;
}

static void add_row(struct group_rows *rows, const struct part *part, int64_t current,
                    const struct group_member *m)
{
    rows->v[rows->count++] = (struct offset_row){*part, current, -1, m};
}

/* Partitions with a member, then those that nobody reads. */
static void make_rows(struct groups *g, const struct group *group, struct group_rows *ret)
{
    const struct group_member **members =
        arena_new_array(&g->arena, const struct group_member *, group->member_count + 1);
    size_t assigned;
    const struct part **parts = assigned_parts(g, group, &assigned);

    *ret = (struct group_rows){
        .group = group, .v = arena_new_array(&g->arena, struct offset_row, rows_max(group) + 1)};
    sort_members(group, members);
    for (size_t i = 0; i < group->member_count; i++) {
        for (size_t k = 0; k < members[i]->count; k++) {
            const struct committed *c = group_committed(group, &members[i]->parts[k]);
            add_row(ret, &members[i]->parts[k], c ? c->offset : -1, members[i]);
        }
    }
    for (size_t i = 0; i < group->committed_count; i++) {
        const struct part *part = &group->committed[i].part;
        if (assigned == 0 || !bsearch(&part, parts, assigned, sizeof *parts, part_order_of))
            add_row(ret, part, group->committed[i].offset, NULL);
    }
}

/* Every partition of all rows once, with its end. */
static int ask_ends(struct groups *g, const struct group_rows *rows, size_t n, struct log_ask **ret,
                    size_t *ret_count)
{
    struct parts parts = {0};

    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < rows[i].count; k++)
            parts_add(&parts, &g->arena, rows[i].v[k].part);
    }
    parts_sort(&parts);
    *ret = arena_new_array(&g->arena, struct log_ask, parts.count + 1);
    *ret_count = parts.count;
    for (size_t i = 0; i < parts.count; i++)
        (*ret)[i].part = parts.v[i];
    return groups_log_offsets(g, *ret, parts.count, LOG_LATEST, !groups_as_kafka(g));
}

int groups_rows(struct groups *g, struct group *v, size_t n, struct group_rows **ret)
{
    struct log_ask *ends;
    size_t count;
    int r = groups_committed(g, v, n);

    if (r)
        return r;
    *ret = arena_new_array(&g->arena, struct group_rows, n + 1);
    for (size_t i = 0; i < n; i++)
        make_rows(g, &v[i], &(*ret)[i]);
    r = ask_ends(g, *ret, n, &ends, &count);
    for (size_t i = 0; r == 0 && i < n; i++) {
        for (size_t k = 0; k < (*ret)[i].count; k++) {
            const struct log_ask *ask = log_ask_find(ends, count, &(*ret)[i].v[k].part);
            if (ask && ask->error == 0)
                (*ret)[i].v[k].end = ask->offset;
        }
    }
    return r;
}

/* ---- describe ---- */

int groups_known(struct groups *g, struct group *v, size_t *n)
{
    size_t kept = 0;

    if (groups_as_kafka(g))
        return 0;
    for (size_t i = 0; i < *n; i++) {
        if (!str_eqz(v[i].state, "Dead")) {
            v[kept++] = v[i];
            continue;
        }
        (void)tool_fail(g->o->inv, "group '%.*s' does not exist", STR_ARG(v[i].id));
        g->has_failures = true;
    }
    *n = kept;
    return 0;
}

static int show_offsets(struct groups *g, const struct printing *p, struct group *v, size_t n)
{
    struct group_rows *rows;

    g->is_wrapped = true;
    int r = groups_rows(g, v, n, &rows);
    if (r == 0)
        groups_print_offsets(p, rows, n);
    return r;
}

int groups_show(struct groups *g)
{
    const struct printing p = groups_printing(g);
    struct group *v;
    size_t n;

    g->is_wrapped = true;
    int r = groups_named(g, &v, &n);
    g->is_wrapped = false;
    r = r ? r : groups_describe(g, v, n);
    r = r ? r : groups_known(g, v, &n);
    if (r)
        return r;
    if (opts_has(g->o, GR_MEMBERS))
        groups_print_members(&p, v, n);
    else if (p.with_state)
        groups_print_states(&p, v, n);
    else
        r = show_offsets(g, &p, v, n);
    return r;
}
