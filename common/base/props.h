/*
 * props.h - Java's .properties files: server.properties, meta.properties, client configs
 *
 * Comments (# and !), the separators '=', ':' and blanks, line continuation, and the escapes \t \n
 * \r \f \\ \uXXXX are read as java.util.Properties reads them. Of a key that stands twice the last
 * value counts.
 */
#pragma once

#include "common/base/str.h"
#include "common/base/strbuf.h"

struct prop {
    char *key;
    char *value;
    int line;
};

struct props {
    struct prop *v;
    size_t count;
    size_t cap;
};

void props_deinit(struct props *p);
/* -EINVAL for a malformed \u escape or a NUL byte: *ret_line says where. */
int props_parse(struct props *p, struct str text, int *ret_line) MUST_CHECK;
/* The file's text is at most 1 MiB (-EFBIG). Other errors as of open(2) and props_parse(). */
int props_load(struct props *p, const char *path, int *ret_line) MUST_CHECK;
/* NULL where the key is not there. Borrowed from p. */
const char *props_get(const struct props *p, const char *key);
void props_set(struct props *p, const char *key, const char *value);
void props_remove(struct props *p, const char *key);
/* Adds all of from, whose line numbers are forgotten. */
void props_add(struct props *p, const struct props *from);
bool props_equal(const struct props *a, const struct props *b);
/* "key=value\n" with what Java needs escaped. */
void props_print_one(struct strbuf *out, const char *key, const char *value);
