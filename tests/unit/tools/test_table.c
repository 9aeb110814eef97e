#include "tools/table.h"

#include "tests/support/test_main.h"

static char *print(const struct table *t)
{
    char *out = NULL;
    size_t len;
    FILE *f = open_memstream(&out, &len);

    table_print(t, f);
    fclose(f);
    return out;
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

TEST_MAIN("tools/table", columns_are_as_wide_as_their_widest_cell, empty_table_is_its_headings)
