#include "broker/meta/topic_names.h"

#include "common/base/err.h"

enum { MAX_NAME = 249 };

static bool is_allowed(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
}

static bool has_foreign_character(struct str name)
{
    for (size_t i = 0; i < name.len; i++) {
        if (!is_allowed(name.p[i]))
            return true;
    }
    return false;
}

int topic_name_check(struct arena *a, struct str name, struct str *ret_why)
{
    if (name.len == 0)
        *ret_why = STR("Topic name is invalid: the empty string is not allowed");
    else if (str_eqz(name, ".") || str_eqz(name, ".."))
        *ret_why = name.len == 1 ? STR("Topic name is invalid: '.' is not allowed")
                                 : STR("Topic name is invalid: '..' is not allowed");
    else if (name.len > MAX_NAME)
        *ret_why = arena_printf(
            a,
            "Topic name is invalid: the length of '%.*s' is longer than the max allowed length %d",
            STR_ARG(name), MAX_NAME);
    else if (has_foreign_character(name))
        *ret_why = arena_printf(
            a,
            "Topic name is invalid: '%.*s' contains one or more characters other than ASCII "
            "alphanumerics, '.', '_' and '-'",
            STR_ARG(name));
    else
        return 0;
    return INVALID_TOPIC_EXCEPTION;
}

bool topic_name_is_internal(struct str name)
{
    return str_eqz(name, "__consumer_offsets") || str_eqz(name, "__transaction_state");
}

struct str topic_name_folded(struct arena *a, struct str name)
{
    char *folded = arena_strz(a, name);

    for (size_t i = 0; i < name.len; i++) {
        if (folded[i] == '.')
            folded[i] = '_';
    }
    return (struct str){folded, name.len};
}
