/*
 * fuzz_line_format.c - lines that kafka-console-producer reads, under formats of any kind
 *
 * The first line of the input are the properties, the second, if any, the line. Whatever they are,
 * what is understood lies inside the line, and what is not has a reason.
 */
#include "tools/client/line_format.h"

#include <errno.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_inside(struct str part, struct str line)
{
    assert(str_is_null(part) || (part.p >= line.p && part.p + part.len <= line.p + line.len));
}

static void check(struct line_format *f, struct str line)
{
    struct source_record rec = {0};
    struct strbuf why = {0};
    int r = line_format_split(f, line, 1, &rec, &why);

    assert(r == 0 || (r == -EINVAL && why.len > 0));
    for (int i = 0; r == 0 && i < rec.header_count; i++) {
        assert(!str_is_null(rec.headers[i].name));
        check_inside(rec.headers[i].name, line);
        check_inside(rec.headers[i].value, line);
    }
    if (r == 0) {
        check_inside(rec.key, line);
        check_inside(rec.value, line);
    }
    strbuf_deinit(&why);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str rest = {(const char *)data, size}, settings = STR_NULL, line = STR(""), pair;
    struct line_format *f = NULL;
    struct strbuf why = {0};
    struct props p = {0};

    if (size == 0 || size > 4096)
        return 0;
    str_split(&rest, '\n', &settings);
    if (!str_is_null(rest))
        line = rest;
    while (str_split(&settings, ';', &pair)) {
        char *text = str_dup(pair), *eq = text ? strchr(text, '=') : NULL;
        if (eq) {
            *eq = '\0';
            props_set(&p, text, eq + 1);
        }
        free(text);
    }
    int r = line_format_new(&p, &f, &why);
    assert(r == 0 || (r == -EINVAL && why.len > 0));
    if (f)
        check(f, line);
    line_format_free(f);
    props_deinit(&p);
    strbuf_deinit(&why);
    return 0;
}
