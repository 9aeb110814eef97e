/*
 * groups_print.h - how groups are shown: as kafka-consumer-groups prints them, as tables, as JSON
 *
 * Pure: what is printed goes to out, Kafka's notices partly to err. Thread: any.
 */
#pragma once

#include "tools/groups/groups.h"

/* One partition of a group. */
struct offset_row {
    struct part part;
    int64_t current, end;              /* -1: none, or not known */
    const struct group_member *member; /* NULL: nobody reads it */
};

struct group_rows {
    const struct group *group;
    struct offset_row *v;
    size_t count;
};

struct printing {
    enum groups_output output;
    FILE *out, *err;
    bool with_type, with_state; /* of a list */
    bool is_verbose;
    bool is_one; /* of one group: as our own tool, say what state it is in */
};

/* The lag of a row; -1 where it cannot be known. */
int64_t offset_row_lag(const struct offset_row *row);

void groups_print_list(const struct printing *p, const struct group *v, size_t n);
void groups_print_offsets(const struct printing *p, const struct group_rows *v, size_t n);
void groups_print_members(const struct printing *p, const struct group *v, size_t n);
void groups_print_states(const struct printing *p, const struct group *v, size_t n);

/* What a group is reset to. */
struct group_reset {
    struct group *group;
    struct new_offset *v;
    size_t count, cap;
};

void groups_print_resets(const struct printing *p, const struct group_reset *v, size_t n);
/* The same as a reset plan; without the group in each line where is_single. */
void groups_print_plan(const struct printing *p, const struct group_reset *v, size_t n,
                       bool is_single);
