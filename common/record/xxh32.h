/*
 * xxh32.h - the 32-bit xxHash, seed 0, of lz4 frames; liblz4 keeps its own to itself
 */
#pragma once

#include "common/base/str.h"

uint32_t xxh32(struct slice data);
