/*
 * java_text.h - how Java writes things, for the tools that are called by Kafka's names
 *
 * Numbers as Float.toString() and String.format() print them, which differs from printf() in the
 * exponents, in what is no number and in how halves are rounded; dates as SimpleDateFormat has
 * them; lines of its log; the class names of Kafka's exceptions. Thread: any.
 */
#pragma once

#include "common/base/strbuf.h"

/* "true" in any case, with blanks around it. */
bool java_bool(const char *text);

/* Float.toString(): the shortest digits that read back as the same number. For doubles: java.h. */
void java_add_float(struct strbuf *out, float v);
/* %.<digits>f: halves away from zero; NaN, Infinity. */
void java_add_fixed(struct strbuf *out, double v, int digits);

/* -EINVAL and "Illegal pattern character 'q'". */
int java_date_check(const char *pattern, struct strbuf *why) MUST_CHECK;
/* In local time; the pattern has passed the check. */
void java_add_date(struct strbuf *out, const char *pattern, int64_t ms);

/* "[2026-11-30 12:00:00,123] ERROR text (class)" on stderr. */
void java_log_error(const char *class_name, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* "org.apache.kafka.common.errors.TimeoutException" for an error code of the protocol. */
const char *java_exception(int code);
