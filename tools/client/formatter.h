/*
 * formatter.h - how kafka-console-consumer prints a record: Kafka's message formatters, by the
 * names of their classes
 *
 * Default (and Logging, which is the same here), NoOp, and those of the coordinators' topics:
 * offsets, groups, transactions. The names of before 3.9 work with a warning; of the coordinators'
 * they print as before. Another class is refused: it would be somebody's own, in Java.
 *
 * Deserializers of the default formatter are those of org.apache.kafka.common.serialization. What
 * cannot be deserialized is an error of that record; what was printed of it before stays, as with
 * Kafka. Thread: any; a formatter has one user at a time.
 */
#pragma once

#include "common/base/props.h"
#include "tools/client/record_text.h"

struct formatter;

/* NULL: the default. -EINVAL and the reason. warning: what there is to say about the name. */
int formatter_new(const char *class_name, const struct props *p, struct formatter **ret,
                  struct strbuf *warning, struct strbuf *why) MUST_CHECK;
/* NULL-safe, returns NULL. */
struct formatter *formatter_free(struct formatter *f);
/* -EINVAL where the record is not what the formatter prints: why as Java names the exception. */
int formatter_print(struct formatter *f, const struct record_text *rec, struct strbuf *out,
                    struct strbuf *why) MUST_CHECK;

/* ---- formatter_records.c ---- */

enum record_kind { RECORD_OFFSETS, RECORD_GROUPS, RECORD_TRANSACTIONS };

/* One JSON object where the record is of that kind, without a line feed; nothing for others. */
int formatter_print_stored(enum record_kind kind, const struct record_text *rec, struct strbuf *out,
                           struct strbuf *why) MUST_CHECK;

/* formatter_old.c: as before 3.9, a line each. */
int formatter_print_old(enum record_kind kind, const struct record_text *rec, struct strbuf *out,
                        struct strbuf *why) MUST_CHECK;

/* ---- deserializer.c ---- */

struct deserializer;

/* By the name of its class; NULL where there is none. */
const struct deserializer *deserializer_find(const char *class_name);
/* What toString() of the value says. */
int deserializer_print(const struct deserializer *d, struct str bytes, struct strbuf *out,
                       struct strbuf *why) MUST_CHECK;
