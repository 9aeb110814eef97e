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
