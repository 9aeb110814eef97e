/*
 * source.h - where `klamm produce` gets its records from: lines, JSON lines, or a generator
 *
 *   lines      [KEY SEPARATOR] VALUE
 *   JSON       {"key":..., "value":..., "headers":{...}, "partition":N, "timestamp":N}, everything
 *              optional; what `klamm consume --output json` prints. A text is taken as it is, null
 *              is null, {"base64":"..."} bytes, anything else is JSON text; headers may also
 *              be a list of [name, value].
 *   generated  "N xxx..." of a given size, N counting from 0
 *   formatted  lines as kafka-console-producer reads them (line_format.h); they end with a line
 *              feed, a carriage return or both
 *
 * Lines may be of any length up to SOURCE_LINE_MAX. Thread: the main one.
 */
#pragma once

#include "common/base/strbuf.h"

enum { SOURCE_LINE_MAX = 256 << 20 };

enum source_kind { SOURCE_LINES, SOURCE_JSON, SOURCE_GENERATED, SOURCE_FORMATTED };

struct line_format;

struct source_opts {
    enum source_kind kind;
    int fd;                     /* lines are read from here */
    const char *key_separator;  /* NULL: lines have no key */
    const char *null_marker;    /* a key or value that is just this is null; NULL: none */
    uint64_t count;             /* at most so many; UINT64_MAX: no limit */
    size_t size;                /* of generated values */
    struct line_format *format; /* of formatted lines; borrowed */
    const char *prompt;         /* printed before each line is read; NULL: none */
    /* Called now and then while there is nothing to read; NULL: reading just waits. */
    void (*on_idle)(void *ctx);
    void *idle_ctx;
};

struct source_header {
    struct str name;
    struct str value; /* null is possible */
};

enum { SOURCE_HEADERS_MAX = 256 };

/* Borrows from the source until the next one is taken. */
struct source_record {
    struct str key, value; /* null is possible */
    int32_t partition;     /* -1: not given */
    int64_t timestamp_ms;  /* 0: not given */
    struct source_header headers[SOURCE_HEADERS_MAX];
    int header_count;
};

struct source;

struct source *source_new(const struct source_opts *opts);
/* NULL-safe, returns NULL. */
struct source *source_free(struct source *s);
/* 1 and a record, 0 at the end; -EINVAL for a line that is none, -errno of read(2): why says it. */
int source_next(struct source *s, struct source_record *ret, struct strbuf *why) MUST_CHECK;
