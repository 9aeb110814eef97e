/*
 * ibp.h - inter.broker.protocol.version: which dialect a broker speaks to its peers and writes to
 * ZooKeeper
 *
 * The values are in order, so that "at least" is a comparison: ibp >= IBP_2_7_IV2. What hangs on
 * each is listed in controller.md A7.2, A15.1 and B5.1.
 */
#pragma once

#include "common/base/str.h"

enum ibp {
#define IBP(name, text) IBP_##name,
#include "common/conf/ibp.def"
#undef IBP
    IBP_COUNT
};

/* A full name ("3.9-IV0"), a line or a release of it ("3.9", "3.9.1": the newest of that line).
 * -EINVAL otherwise. */
int ibp_parse(struct str text, enum ibp *ret) MUST_CHECK;
const char *ibp_name(enum ibp ibp);
/* "0.11.0": without what stands behind its line. */
struct str ibp_line(enum ibp ibp);

/* The format of record batches that came with a version: 0 before 0.10.0, 1 before 0.11.0, 2. */
enum { RECORD_VERSION_NEWEST = 2 };
int8_t ibp_record_version(enum ibp ibp);
/* The first version with that format. */
enum ibp ibp_of_record_version(int8_t version);
/* message.format.version and log.message.format.version count for nothing from here on. */
bool ibp_ignores_message_format(enum ibp ibp);
