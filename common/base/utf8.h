/*
 * utf8.h - the characters of a text, and its length as Java counts it
 */
#pragma once

#include "common/base/str.h"

/* The code point at *at (below s.len), which moves past it. Bytes that are no UTF-8 count as
 * U+FFFD, one by one. */
uint32_t utf8_next(struct str s, size_t *at);
/* Units of UTF-16: String.length() of Java. */
size_t utf8_java_length(struct str s);
