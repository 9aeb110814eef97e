/*
 * ibp.h - inter.broker.protocol.version: which versions and znode formats brokers of a cluster
 * agree on
 *
 * The sender's value alone decides what is sent; there is no negotiation on control and fetch
 * connections. Ordered, so that "at least" is a comparison: ibp >= IBP_2_7_IV2. Pure: any thread.
 */
#pragma once

#include "common/base/str.h"

enum ibp {
    IBP_0_8_0,
    IBP_0_8_1,
    IBP_0_8_2,
    IBP_0_9_0,
    IBP_0_10_0_IV0,
    IBP_0_10_0_IV1,
    IBP_0_10_1_IV0,
    IBP_0_10_1_IV1,
    IBP_0_10_1_IV2,
    IBP_0_10_2_IV0,
    IBP_0_11_0_IV0,
    IBP_0_11_0_IV1,
    IBP_0_11_0_IV2,
    IBP_1_0_IV0,
    IBP_1_1_IV0,
    IBP_2_0_IV0,
    IBP_2_0_IV1,
    IBP_2_1_IV0,
    IBP_2_1_IV1,
    IBP_2_1_IV2,
    IBP_2_2_IV0,
    IBP_2_2_IV1,
    IBP_2_3_IV0,
    IBP_2_3_IV1,
    IBP_2_4_IV0,
    IBP_2_4_IV1,
    IBP_2_5_IV0,
    IBP_2_6_IV0,
    IBP_2_7_IV0,
    IBP_2_7_IV1,
    IBP_2_7_IV2,
    IBP_2_8_IV0,
    IBP_2_8_IV1,
    IBP_3_0_IV0,
    IBP_3_0_IV1,
    IBP_3_1_IV0,
    IBP_3_2_IV0,
    IBP_3_3_IV0,
    IBP_3_3_IV1,
    IBP_3_3_IV2,
    IBP_3_3_IV3,
    IBP_3_4_IV0,
    IBP_3_5_IV0,
    IBP_3_5_IV1,
    IBP_3_5_IV2,
    IBP_3_6_IV0,
    IBP_3_6_IV1,
    IBP_3_6_IV2,
    IBP_3_7_IV0,
    IBP_3_7_IV1,
    IBP_3_7_IV2,
    IBP_3_7_IV3,
    IBP_3_7_IV4,
    IBP_3_8_IV0,
    IBP_3_9_IV0,
    IBP_COUNT,
    IBP_LATEST = IBP_3_9_IV0,
};

/* "2.7-IV2", "2.7" (its last), "2.7.1" (as "2.7"), "0.10.2" ...; -EINVAL for what names none. */
int ibp_parse(struct str text, enum ibp *ret) MUST_CHECK;
const char *ibp_name(enum ibp v);

/* Versions of the requests that a controller sends, and that a broker sends it unnegotiated. */
int16_t ibp_leader_and_isr_version(enum ibp v);
int16_t ibp_update_metadata_version(enum ibp v);
int16_t ibp_stop_replica_version(enum ibp v);
int16_t ibp_controlled_shutdown_version(enum ibp v);
