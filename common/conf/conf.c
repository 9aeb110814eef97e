#include "common/conf/conf.h"

#include "common/base/mem.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <strings.h>

union value {
    bool b;
    int64_t i;
    double d;
};

static int refuse(const struct conf_option *o, struct str text, struct strbuf *why,
                  const char *what)
{
    /* A password is never shown. */
    if (o->type == CONF_PASSWORD)
        text = STR("[hidden]");
    strbuf_addf(why, "Invalid value %.*s for configuration %s: %s", STR_ARG(text), o->key, what);
    return -EINVAL;
}

static int parse_bool(struct str text, bool *ret)
{
    if (text.len == 4 && strncasecmp(text.p, "true", 4) == 0)
        *ret = true;
    else if (text.len == 5 && strncasecmp(text.p, "false", 5) == 0)
        *ret = false;
    else
        return -EINVAL;
    return 0;
}

/* What is refused is told with the spaces around it, as it was given. */
static int parse_value(const struct conf_option *o, struct str given, union value *v,
                       struct strbuf *why)
{
    struct str text = str_trim(given);

    switch (o->type) {
    case CONF_BOOLEAN:
        if (parse_bool(text, &v->b) < 0)
            return refuse(o, given, why, "Expected value to be either true or false");
        return 0;
    case CONF_SHORT:
        if (str_to_i64(text, INT16_MIN, INT16_MAX, &v->i) < 0)
            return refuse(o, given, why, "Not a number of type SHORT");
        return 0;
    case CONF_INT:
        if (str_to_i64(text, INT32_MIN, INT32_MAX, &v->i) < 0)
            return refuse(o, given, why, "Not a number of type INT");
        return 0;
    case CONF_LONG:
        if (str_to_i64(text, INT64_MIN, INT64_MAX, &v->i) < 0)
            return refuse(o, given, why, "Not a number of type LONG");
        return 0;
    case CONF_DOUBLE:
        if (str_to_double(text, &v->d) < 0)
            return refuse(o, given, why, "Not a number of type DOUBLE");
        return 0;
    default:
        return 0;
    }
}

bool conf_list_has(const char *list, const char *item)
{
    struct str rest = str_of(list), part;

    while (str_split(&rest, ',', &part)) {
        if (str_eqz(str_trim(part), item))
            return true;
    }
    return false;
}

static bool is_listed(const char *list, struct str item)
{
    struct str rest = str_of(list), part;

    while (str_split(&rest, ',', &part)) {
        if (str_eq(part, item))
            return true;
    }
    return false;
}

static int refuse_choice(const struct conf_option *o, struct str text, struct strbuf *why)
{
    CLEANUP(strbuf_deinit) struct strbuf what = {0};
    struct str rest = str_of(o->check.names), part;
    const char *between = "String must be one of: ";

    while (str_split(&rest, ',', &part)) {
        strbuf_addf(&what, "%s%.*s", between, STR_ARG(part));
        between = ", ";
    }
    return refuse(o, text, why, what.s);
}

static int check_list(const struct conf_option *o, struct str text, struct strbuf *why)
{
    struct str rest = text, part;

    if (text.len == 0)
        return 0;
    while (str_split(&rest, ',', &part)) {
        part = str_trim(part);
        if (!is_listed(o->check.names, part))
            return refuse_choice(o, part, why);
    }
    return 0;
}

/* Java prints the number that it read: 007 as 7, and 2 as 2.0 where it is a double. */
static int check_number(const struct conf_option *o, const union value *v, struct str text,
                        struct strbuf *why)
{
    bool is_double = o->type == CONF_DOUBLE;
    double n = is_double ? v->d : (double)v->i;
    char what[96], number[32];

    if (n < o->check.min)
        snprintf(what, sizeof what, "Value must be at least %.15g", o->check.min);
    else if (o->check.kind == CONF_BETWEEN && n > o->check.max)
        snprintf(what, sizeof what, "Value must be no more than %.15g", o->check.max);
    else
        return 0;
    if (!is_double)
        snprintf(number, sizeof number, "%" PRId64, v->i);
    else if (n == (double)(int64_t)n)
        snprintf(number, sizeof number, "%.1f", n);
    else
        return refuse(o, text, why, what);
    return refuse(o, str_of(number), why, what);
}

static int parse_and_check(const struct conf_option *o, struct str given, union value *v,
                           struct strbuf *why)
{
    struct str text = str_trim(given);
    int r = parse_value(o, given, v, why);

    if (r < 0)
        return r;
    switch (o->check.kind) {
    case CONF_AT_LEAST:
    case CONF_BETWEEN:
        return check_number(o, v, text, why);
    case CONF_ONE_OF:
        return is_listed(o->check.names, text) ? 0 : refuse_choice(o, text, why);
    case CONF_LIST_OF:
        return check_list(o, text, why);
    default:
        return 0;
    }
}

static void store(const struct conf_option *o, void *values, struct str text, union value v)
{
    char *at = (char *)values + o->at;

    switch (o->type) {
    case CONF_BOOLEAN:
        *(bool *)at = v.b;
        break;
    case CONF_SHORT:
    case CONF_INT:
        *(int32_t *)(void *)at = (int32_t)v.i;
        break;
    case CONF_LONG:
        *(int64_t *)(void *)at = v.i;
        break;
    case CONF_DOUBLE:
        *(double *)(void *)at = v.d;
        break;
    default:
        free(*(char **)(void *)at);
        *(char **)(void *)at = str_dup(text);
        break;
    }
}

int conf_set(const struct conf_option *o, void *values, struct str text, struct strbuf *why)
{
    union value v = {0};

    int r = parse_and_check(o, text, &v, why);

    if (r == 0 && o->at >= 0)
        store(o, values, str_trim(text), v);
    return r;
}

int conf_validate(const struct conf_option *o, struct str text, struct strbuf *why)
{
    union value v = {0};

    return parse_and_check(o, text, &v, why);
}

static void set_default(const struct conf_option *o, void *values)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};

    if (!o->default_text) {
        union value unset = {.i = o->type == CONF_LONG ? CONF_UNSET_LONG : CONF_UNSET_INT};

        store(o, values, STR_NULL, unset);
        return;
    }
    int r = conf_set(o, values, str_of(o->default_text), &why);
    assert(r == 0);
}

void conf_set_defaults(const struct conf_option *options, size_t count, void *values)
{
    for (size_t i = 0; i < count; i++) {
        if (options[i].at >= 0)
            set_default(&options[i], values);
    }
}

void conf_release(const struct conf_option *options, size_t count, void *values)
{
    for (size_t i = 0; i < count; i++) {
        if (options[i].at >= 0 && options[i].type >= CONF_STRING) {
            char **at = (char **)(void *)((char *)values + options[i].at);

            free(*at);
            *at = NULL;
        }
    }
}

const struct conf_option *conf_find(const struct conf_option *options, size_t count, struct str key)
{
    for (size_t i = 0; i < count; i++) {
        if (str_eqz(key, options[i].key))
            return &options[i];
    }
    return NULL;
}

int8_t conf_type_to_wire(enum conf_type type)
{
    static const int8_t wire[] = {
        [CONF_BOOLEAN] = 1, [CONF_STRING] = 2, [CONF_INT] = 3,
        [CONF_SHORT] = 4,   [CONF_LONG] = 5,   [CONF_DOUBLE] = 6,
        [CONF_LIST] = 7,    [CONF_CLASS] = 8,  [CONF_PASSWORD] = 9,
    };

    return wire[type];
}
