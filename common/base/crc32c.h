/*
 * crc32c.h - the checksum of record batches v2 (Castagnoli), and the CRC-32 of older message
 * formats
 */
#pragma once

#include "common/base/str.h"

uint32_t crc32c(struct slice data);
/* Goes on from the checksum of what stood before: crc32c_more(crc32c(a), b) == crc32c(ab). */
uint32_t crc32c_more(uint32_t crc, struct slice data);
/* Message sets v0 and v1. */
uint32_t crc32_legacy(struct slice data);
