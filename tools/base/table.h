/*
 * table.h - quiet tables: a line of headings, columns aligned, two blanks between, no lines drawn
 *
 *   struct table t = {0};
 *   table_add(&t, "TOPIC", false); table_add(&t, "PARTITIONS", true);
 *   table_cell(&t, "%s", name); table_cell(&t, "%d", count); ... table_print(&t, stdout);
 *
 * Cells are filled row by row. Thread: any; a value of its owner.
 */
#pragma once

#include "common/base/strbuf.h"

#include <stdio.h>

enum { TABLE_COLUMNS_MAX = 16 };

struct table {
    const char *headings[TABLE_COLUMNS_MAX];
    bool right[TABLE_COLUMNS_MAX];
    int columns;
    char **cells; /* row by row */
    size_t count, cap;
};

/* A column; right: numbers. */
void table_add(struct table *t, const char *heading, bool right);
void table_cell(struct table *t, const char *fmt, ...) PRINTF_LIKE(2, 3);
void table_print(const struct table *t, FILE *out);
/*
 * The same as a JSON list with an object a row, for --output json. "CURRENT-OFFSET" becomes
 * current_offset; a cell of a right column that is a whole number becomes one, "-" becomes null.
 */
void table_print_json(const struct table *t, FILE *out);
void table_deinit(struct table *t);
