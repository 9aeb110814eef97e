/*
 * split.h - Java's String.split(): a text in pieces, at what a regular expression matches
 *
 * Empty pieces at the end are dropped, one at the front where the expression matched nothing there,
 * too; an empty text is one empty piece. Thread: any; a splitter has one user at a time.
 */
#pragma once

#include "common/base/strbuf.h"

struct splitter;

/* -EINVAL and "PATTERN is no regular expression (at character N)". */
int splitter_new(const char *pattern, struct splitter **ret, struct strbuf *why) MUST_CHECK;
/* NULL-safe, returns NULL. */
struct splitter *splitter_free(struct splitter *s);
/* Calls on_piece in order, until it returns something below 0, which is returned. */
int splitter_each(struct splitter *s, struct str text, int (*on_piece)(struct str piece, void *ctx),
                  void *ctx) MUST_CHECK;
