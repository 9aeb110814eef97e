/*
 * reconfigure.h - settings that change at run time, taken to the parts of a broker
 *
 * Each part has its own way to change: threads come and go, limits count for the next connection,
 * listeners are opened and closed. Parts that are not there yet are passed over, as at start, when
 * this is called before and after they have been made. Thread: one at a time, none of the reactors.
 */
#pragma once

#include "broker/config/live_conf.h"
#include "broker/request/broker.h"
#include "broker/storage/log_manager.h"

struct gate;
struct tls_client;

struct reconfigure_parts {
    const struct broker *broker;
    struct gate *gate;              /* may be NULL, as what follows */
    struct tls_client *tls;         /* to the inter-broker listeners of others */
    struct tls_client *control_tls; /* to their control planes */
};

/* log.cleaner.* as the log manager takes them. */
struct cleaner_conf cleaner_conf_of(const struct broker_conf *c);
/* Takes them all to what `now` says. False where a listener cannot be opened, which has been
 * said. */
bool reconfigure(const struct reconfigure_parts *p, const struct conf_snapshot *old,
                 const struct conf_snapshot *now);
