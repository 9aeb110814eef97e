/*
 * show.h - a value as Kafka prints it: parsed, and turned into text again
 *
 * " TRUE" becomes true, "a , b" becomes a,b and 5e-1 becomes 0.5. What does not parse stays as it
 * is. Thread: any.
 */
#pragma once

#include "common/conf/conf.h"

void conf_show(const struct conf_option *o, struct str text, struct strbuf *out);
/* Java's Double.toString(): 0.5, 5.0, 1.7976931348623157E308. */
void conf_show_double(double v, struct strbuf *out);
