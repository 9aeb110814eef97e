/*
 * line_format.h - what a line that kafka-console-producer reads holds
 *
 *   [HEADERS headers.delimiter] [KEY key.separator] VALUE
 *   HEADERS:  NAME headers.key.separator VALUE, more of them behind headers.separator
 *
 * The properties are those of Kafka's line reader; headers.separator is a regular expression, as it
 * is there. With ignore.error a part whose separator is missing is not there. Bytes that are no
 * UTF-8 are kept as they are. Thread: any; a format has one user at a time.
 */
#pragma once

#include "common/base/props.h"
#include "tools/client/source.h"

struct line_format;

/* -EINVAL and the reason in Kafka's words, as below. */
int line_format_new(const struct props *p, struct line_format **ret, struct strbuf *why) MUST_CHECK;
/* NULL-safe, returns NULL. */
struct line_format *line_format_free(struct line_format *f);
/* Fills key, value and headers, which borrow from line. number: for the reason, counts from 1. */
int line_format_split(struct line_format *f, struct str line, uint64_t number,
                      struct source_record *ret, struct strbuf *why) MUST_CHECK;
