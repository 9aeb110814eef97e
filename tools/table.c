#include "tools/table.h"

#include "common/base/mem.h"

#include <stdarg.h>

void table_add(struct table *t, const char *heading, bool right)
{
    assert(t->columns < TABLE_COLUMNS_MAX && t->count == 0);
    t->headings[t->columns] = heading;
    t->right[t->columns++] = right;
}

void table_cell(struct table *t, const char *fmt, ...)
{
    char *text = NULL;
    va_list ap;

    va_start(ap, fmt);
    if (vasprintf(&text, fmt, ap) < 0)
        abort();
    va_end(ap);
    xgrow(t->cells, t->cap, t->count + 1);
    t->cells[t->count++] = text;
}

static void print_row(const struct table *t, const char *const *cells, const int *widths, FILE *out)
{
    CLEANUP(strbuf_deinit) struct strbuf line = {0};

    for (int i = 0; i < t->columns; i++)
        strbuf_addf(&line, t->right[i] ? "%s%*s" : "%s%-*s", i ? "  " : "", widths[i], cells[i]);
    while (line.len > 0 && line.s[line.len - 1] == ' ')
        line.len--;
    fprintf(out, "%.*s\n", STR_ARG(strbuf_str(&line)));
}

void table_print(const struct table *t, FILE *out)
{
    int widths[TABLE_COLUMNS_MAX] = {0};

    assert(t->columns > 0 && t->count % (size_t)t->columns == 0);
    for (int i = 0; i < t->columns; i++)
        widths[i] = (int)strlen(t->headings[i]);
    for (size_t i = 0; i < t->count; i++) {
        int *width = &widths[i % (size_t)t->columns];
        *width = MAX(*width, (int)strlen(t->cells[i]));
    }
    print_row(t, t->headings, widths, out);
    for (size_t i = 0; i < t->count; i += (size_t)t->columns)
        print_row(t, (const char *const *)t->cells + i, widths, out);
}

void table_deinit(struct table *t)
{
    for (size_t i = 0; i < t->count; i++)
        free(t->cells[i]);
    free(t->cells);
    *t = (struct table){0};
}
