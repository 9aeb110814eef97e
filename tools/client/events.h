/*
 * events.h - the lines of kafka-verifiable-producer and -consumer: a JSON object each
 *
 *   event_begin(out, "records_consumed"); strbuf_addf(out, ",\"count\":%d", n); ... event_end(out)
 *
 * Thread: the main one.
 */
#pragma once

#include "common/base/strbuf.h"

/* {"timestamp":MS,"name":"NAME" */
void event_begin(struct strbuf *out, const char *name);
/* ,"KEY":"TEXT", null where the text is. */
void event_text(struct strbuf *out, const char *key, struct str text);
/* The closing brace and a line feed. */
void event_end(struct strbuf *out);
