/*
 * containers.h - uthash and utlist, made to use our allocation
 *
 * Include this instead of <uthash.h>. HASH_FIND_STR_LEN looks a struct str up in a table keyed by
 * char * and length.
 */
#pragma once

#include "common/base/mem.h"

/* The hash of a table's key under a secret of this process: many keys come from clients, who would
 * else find such as all stand in one place, and make each search a walk over all of them. */
uint32_t table_hash(const void *key, size_t len);

#define HASH_FUNCTION(key, len, ret) ((ret) = table_hash(key, len))

#define uthash_malloc(n)  xmalloc(n)
#define uthash_free(p, n) free(p)
#define HASH_NONFATAL_OOM 0
#define uthash_fatal(msg) abort()

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wundef"
#include <uthash.h>
#include <utlist.h>
#pragma GCC diagnostic pop
