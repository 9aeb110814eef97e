/*
 * base64.h - base64 in its two alphabets: the standard one (padded) and the one for URLs (not
 * padded)
 */
#pragma once

#include "common/base/str.h"

/* Room for the text of n bytes, padding and NUL included. */
#define BASE64_TEXT_SIZE(n) (((n) + 2) / 3 * 4 + 1)

void base64_encode(struct slice data, char *ret_text);
void base64url_encode(struct slice data, char *ret_text);
/* At most max bytes; padding may be there or not. -EINVAL for a foreign character or a length that
 * cannot be, -ENOSPC where it does not fit. */
int base64_decode(struct str text, uint8_t *ret, size_t max, size_t *ret_len) MUST_CHECK;
int base64url_decode(struct str text, uint8_t *ret, size_t max, size_t *ret_len) MUST_CHECK;
