/*
 * random.h - random bytes from OpenSSL, for ids, salts and jitter
 */
#pragma once

#include "common/base/base.h"

void random_bytes(void *p, size_t n);
/* Uniform in [0, bound); bound > 0. */
uint32_t random_below(uint32_t bound);
