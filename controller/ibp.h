/*
 * ibp.h - the versions in which the controller speaks to brokers: fixed by
 * inter.broker.protocol.version, never negotiated
 *
 * controller.md A7.2. Pure.
 */
#pragma once

#include "common/conf/ibp.h"

int16_t ibp_leader_and_isr_version(enum ibp v);
int16_t ibp_update_metadata_version(enum ibp v);
int16_t ibp_stop_replica_version(enum ibp v);
int16_t ibp_controlled_shutdown_version(enum ibp v);
