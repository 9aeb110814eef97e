/*
 * record_text.h - how `klamm consume` prints a record: by a format, or as a JSON line
 *
 * In a format: %s value, %S its length (-1: null), %k key, %K its length, %t topic, %p partition,
 * %o offset, %T timestamp in ms, %h headers as name=value,..., %% a percent sign; \n \t \r \0 \\ as
 * in C. A null key or value prints as nothing.
 *
 * JSON has topic, partition, offset, timestamp (ms, or null), key, value and, where there are any,
 * headers: a list of [name, value]. Bytes that are no UTF-8 print as {"base64":"..."}.
 * `klamm produce --input json` reads the same. Thread: any; no state but the arguments.
 */
#pragma once

#include "common/base/strbuf.h"

struct record_header {
    const char *name;
    struct str value; /* null is possible */
};

struct record_text {
    const char *topic;
    int32_t partition;
    int64_t offset;
    int64_t timestamp_ms;  /* -1: none */
    bool append_time;      /* the broker's clock, not the producer's */
    struct str key, value; /* null is possible */
    const struct record_header *headers;
    int header_count;
};

/* The format with its backslashes resolved, malloc'ed; NULL and the reason where it is none. */
char *record_format(const char *text, size_t *ret_len, struct strbuf *why);
void record_print(struct strbuf *out, struct str format, const struct record_text *rec);
void record_print_json(struct strbuf *out, const struct record_text *rec);
