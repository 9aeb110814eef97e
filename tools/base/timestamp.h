/*
 * timestamp.h - moments on a command line: @MILLISECONDS, 2026-11-30, 2026-11-30T12:00:00[.123][Z]
 *
 * Without a zone they are UTC. Thread: any.
 */
#pragma once

#include "common/base/base.h"

/* Milliseconds since 1970; -EINVAL for anything else. */
int timestamp_parse(const char *text, int64_t *ret_ms) MUST_CHECK;
