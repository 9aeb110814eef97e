/*
 * zk_options.h - the zookeeper.* keys of a broker, as zk/ wants them
 *
 * Borrows from the configuration. Thread: any.
 */
#pragma once

#include "broker/config/broker_conf.h"
#include "zk/zk.h"

struct zk_conf zk_conf_of_broker(const struct broker_conf *c);
