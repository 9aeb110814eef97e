/*
 * hash.h - the hashes that Kafka's behaviour depends on
 */
#pragma once

#include "common/base/str.h"

/* String.hashCode of Java, over the UTF-16 of s; used for fetcher and coordinator placement. */
int32_t hash_java(struct str s);
/* murmur2 of Kafka's default partitioner, as a signed number; a partition is (hash & 0x7fffffff) %
 * count. */
int32_t hash_murmur2(struct slice data);
