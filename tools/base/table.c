#include "tools/base/table.h"

#include "common/base/mem.h"

#include <ctype.h>
#include <jansson.h>
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

static char *key_of(const char *heading)
{
    char *key = xstrdup(heading);

    for (char *p = key; *p; p++)
        *p = isalnum((unsigned char)*p) ? (char)tolower((unsigned char)*p) : '_';
    return key;
}

static json_t *value_of(const char *cell, bool is_number)
{
    int64_t n;

    if (strcmp(cell, "-") == 0)
        return json_null();
    if (is_number && str_to_i64(str_of(cell), INT64_MIN, INT64_MAX, &n) == 0)
        return json_integer(n);
    return json_string(cell);
}

void table_print_json(const struct table *t, FILE *out)
{
    json_t *rows = json_array();

    assert(t->columns > 0 && t->count % (size_t)t->columns == 0);
    for (size_t i = 0; i < t->count; i++) {
        size_t column = i % (size_t)t->columns;
        char *CLEANUP(free_p) key = key_of(t->headings[column]);

        if (column == 0)
            json_array_append_new(rows, json_object());
        json_object_set_new(json_array_get(rows, json_array_size(rows) - 1), key,
                            value_of(t->cells[i], t->right[column]));
    }
    json_dumpf(rows, out, JSON_INDENT(2));
    fputc('\n', out);
    json_decref(rows);
}

void table_deinit(struct table *t)
{
    for (size_t i = 0; i < t->count; i++)
        free(t->cells[i]);
    free(t->cells);
    *t = (struct table){0};
}
