/*
 * topic_filter.h - the regular expression that --topic of kafka-topics is
 *
 * Java's expressions, through PCRE2, which has the same syntax for all that can be said about a
 * topic name. The whole name must match. Blanks are dropped, a comma means "or", quotes around it
 * are taken off. Thread: any; a filter has one user at a time.
 */
#pragma once

#include "common/base/strbuf.h"

struct topic_filter;

/* -EINVAL and "X is an invalid regex." */
int topic_filter_new(const char *text, struct topic_filter **ret, struct strbuf *why) MUST_CHECK;
/* The expression as it is, without dropping anything: that of --include. */
int topic_filter_new_exact(const char *text, struct topic_filter **ret, struct strbuf *why)
    MUST_CHECK;
/* NULL-safe, returns NULL. */
struct topic_filter *topic_filter_free(struct topic_filter *f);
void topic_filter_free_p(struct topic_filter **f);
bool topic_filter_match(struct topic_filter *f, struct str name);
/* The one name that can match; null where there may be several. */
struct str topic_filter_literal(const struct topic_filter *f);
