#include "common/conf/show.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

enum { DIGITS = 17 };

/* The fewest digits that give the number back, as "d.ddde+xx": its digits and its exponent. */
static int shortest(double v, char digits[DIGITS + 1], int *ret_exponent)
{
    char text[40];
    int n = 0;

    for (int precision = 0; precision < DIGITS; precision++) {
        snprintf(text, sizeof text, "%.*e", precision, v);
        if (strtod(text, NULL) == v)
            break;
    }
    for (const char *c = text; *c && *c != 'e'; c++) {
        if (*c != '.')
            digits[n++] = *c;
    }
    digits[n] = '\0';
    int r = str_to_i32(str_of(strchr(text, 'e') + 1), -400, 400, ret_exponent);
    assert(r == 0);
    (void)r;
    return n;
}

static void add_plain(const char *digits, int n, int exponent, struct strbuf *out)
{
    if (exponent < 0) {
        strbuf_addz(out, "0.");
        for (int i = -1; i > exponent; i--)
            strbuf_add_char(out, '0');
        strbuf_addz(out, digits);
        return;
    }
    for (int i = 0; i <= exponent; i++)
        strbuf_add_char(out, i < n ? digits[i] : '0');
    strbuf_addf(out, ".%s", n > exponent + 1 ? digits + exponent + 1 : "0");
}

void conf_show_double(double v, struct strbuf *out)
{
    char digits[DIGITS + 1];
    int exponent;

    if (isnan(v) || isinf(v)) {
        strbuf_addz(out, isnan(v) ? "NaN" : v > 0 ? "Infinity" : "-Infinity");
        return;
    }
    if (signbit(v))
        strbuf_add_char(out, '-');
    if (v == 0) {
        strbuf_addz(out, "0.0");
        return;
    }
    int n = shortest(fabs(v), digits, &exponent);
    if (exponent >= -3 && exponent < 7)
        add_plain(digits, n, exponent, out);
    else
        strbuf_addf(out, "%c.%sE%d", digits[0], n > 1 ? digits + 1 : "0", exponent);
}

static void show_list(struct str text, struct strbuf *out)
{
    struct str rest = text, item;
    const char *between = "";

    if (text.len == 0)
        return;
    while (str_split(&rest, ',', &item)) {
        item = str_trim(item);
        strbuf_addf(out, "%s%.*s", between, STR_ARG(item));
        between = ",";
    }
}

void conf_show(const struct conf_option *o, struct str text, struct strbuf *out)
{
    int64_t i;
    double d;

    text = str_trim(text);
    if (o->type == CONF_BOOLEAN && text.len == 4 && strncasecmp(text.p, "true", 4) == 0)
        strbuf_addz(out, "true");
    else if (o->type == CONF_BOOLEAN && text.len == 5 && strncasecmp(text.p, "false", 5) == 0)
        strbuf_addz(out, "false");
    else if (o->type >= CONF_SHORT && o->type <= CONF_LONG &&
             str_to_i64(text, INT64_MIN, INT64_MAX, &i) == 0)
        strbuf_addf(out, "%" PRId64, i);
    else if (o->type == CONF_DOUBLE && str_to_double(text, &d) == 0)
        conf_show_double(d, out);
    else if (o->type == CONF_LIST)
        show_list(text, out);
    else
        strbuf_add_str(out, text);
}
