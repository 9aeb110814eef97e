/*
 * containers.h - uthash and utlist, made to use our allocation
 *
 * Include this instead of <uthash.h>. HASH_FIND_STR_LEN looks a struct str up in a table keyed by
 * char * and length.
 */
#pragma once

#include "common/base/mem.h"

#define uthash_malloc(n)  xmalloc(n)
#define uthash_free(p, n) free(p)
#define HASH_NONFATAL_OOM 0
#define uthash_fatal(msg) abort()

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wundef"
#include <uthash.h>
#include <utlist.h>
#pragma GCC diagnostic pop
