/*
 * checkpoint_text.h - the frame that all checkpoint files share: version 0, a count, that many
 * lines
 *
 * Pure text, no file. Used by checkpoint.c and epochs.c.
 */
#pragma once

#include "common/base/str.h"

/* Takes one line without its end; false where it is malformed. */
typedef bool (*checkpoint_line_fn)(void *ctx, struct str line);

/* Empty text is an empty file. -EBADMSG: *ret_why (malloc'ed) says path, line number and what was
 * expected. */
int checkpoint_text_parse(struct str text, const char *path, checkpoint_line_fn line_fn, void *ctx,
                          char **ret_why) MUST_CHECK;
/* Cuts the next word (up to a blank) off *rest; false where there is none. */
bool checkpoint_word(struct str *rest, struct str *ret);
