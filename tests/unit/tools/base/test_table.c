#include "tools/base/table.h"

#include "tests/support/test_main.h"

static char *print_by(void (*how)(const struct table *, FILE *), const struct table *t)
{
    char *out = NULL;
    size_t len;
    FILE *f = open_memstream(&out, &len);

    how(t, f);
    fclose(f);
    return out;
}

static char *print(const struct table *t)
{
    return print_by(table_print, t);
}

START_TEST(columns_are_as_wide_as_their_widest_cell)
{
    CLEANUP(table_deinit) struct table t = {0};

    table_add(&t, "TOPIC", false);
    table_add(&t, "N", true);
    table_add(&t, "NOTE", false);
    table_cell(&t, "%s", "a-long-name");
    table_cell(&t, "%d", 5);
    table_cell(&t, "%s", "x");
    table_cell(&t, "%s", "b");
    table_cell(&t, "%d", 1234);
    table_cell(&t, "%s", "");
    char *out = print(&t);
    ck_assert_str_eq(out, "TOPIC           N  NOTE\n"
                          "a-long-name     5  x\n"
                          "b            1234\n");
    free(out);
}
END_TEST

START_TEST(empty_table_is_its_headings)
{
    CLEANUP(table_deinit) struct table t = {0};

    table_add(&t, "A", false);
    table_add(&t, "B", true);
    char *out = print(&t);
    ck_assert_str_eq(out, "A  B\n");
    free(out);
}
END_TEST

START_TEST(json_has_an_object_a_row)
{
    CLEANUP(table_deinit) struct table t = {0};

    table_add(&t, "GROUP", false);
    table_add(&t, "CURRENT-OFFSET", true);
    char *none = print_by(table_print_json, &t);
    ck_assert_str_eq(none, "[]\n");
    free(none);
    table_cell(&t, "%s", "7\"");
    table_cell(&t, "%d", 7);
    table_cell(&t, "%s", "7");
    table_cell(&t, "-");
    char *out = print_by(table_print_json, &t);
    ck_assert_str_eq(out, "[\n  {\n    \"group\": \"7\\\"\",\n    \"current_offset\": 7\n  },\n"
                          "  {\n    \"group\": \"7\",\n    \"current_offset\": null\n  }\n]\n");
    free(out);
}
END_TEST

TEST_MAIN("tools/base/table", columns_are_as_wide_as_their_widest_cell, empty_table_is_its_headings,
          json_has_an_object_a_row)
