/*
 * conf.h - typed options: one table says name, type, default and check of each, and where its value
 * goes
 *
 * The types and the texts of refusal are those of Kafka's ConfigDef, so that a file it takes is
 * taken here and one that it refuses is refused with the same words. A value that is not set and
 * has no default is null: a NULL pointer, or CONF_UNSET_INT / CONF_UNSET_LONG. Thread: any; no
 * state of its own.
 */
#pragma once

#include "common/base/strbuf.h"

enum conf_type {
    CONF_BOOLEAN, /* bool */
    CONF_SHORT,   /* int32_t */
    CONF_INT,     /* int32_t */
    CONF_LONG,    /* int64_t */
    CONF_DOUBLE,  /* double */
    CONF_STRING,  /* char *, trimmed */
    CONF_LIST,    /* char *, comma separated as it was given */
    CONF_PASSWORD,
    CONF_CLASS,
};

#define CONF_UNSET_INT  INT32_MIN
#define CONF_UNSET_LONG INT64_MIN

enum conf_importance { CONF_HIGH, CONF_MEDIUM, CONF_LOW };

/* Whether, and for whom, a broker's option can be changed at run time. */
enum conf_mode { CONF_READ_ONLY, CONF_PER_BROKER, CONF_CLUSTER_WIDE };

struct conf_check {
    enum { CONF_ANY, CONF_AT_LEAST, CONF_BETWEEN, CONF_ONE_OF, CONF_LIST_OF } kind;
    double min, max;
    const char *names; /* comma separated */
};

struct conf_option {
    const char *key;
    enum conf_type type;
    const char *default_text; /* NULL = null */
    struct conf_check check;
    enum conf_importance importance;
    enum conf_mode mode;
    int at; /* offset in the struct that holds the values, -1: the value goes nowhere */
};

/* Parses, checks and stores; the value that was there before is released. -EINVAL and Kafka's words
 * in why. */
int conf_set(const struct conf_option *o, void *values, struct str text, struct strbuf *why)
    MUST_CHECK;
/* The same without storing. */
int conf_validate(const struct conf_option *o, struct str text, struct strbuf *why) MUST_CHECK;
/* Sets every option to its default; values is zeroed memory or was set before. */
void conf_set_defaults(const struct conf_option *options, size_t count, void *values);
void conf_release(const struct conf_option *options, size_t count, void *values);
const struct conf_option *conf_find(const struct conf_option *options, size_t count,
                                    struct str key);
/* "BOOLEAN", as the wire's type number (DescribeConfigs v3+) is in the order of protocol.md
 * 11.26. */
int8_t conf_type_to_wire(enum conf_type type);
/* Whether the comma list holds item, blanks aside. */
bool conf_list_has(const char *list, const char *item);
