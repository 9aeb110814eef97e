/*
 * identity.h - which broker of which cluster this is: broker.id, meta.properties, /cluster/id
 */
#pragma once

#include "broker/config/broker_conf.h"
#include "broker/storage/log_manager.h"
#include "zk/zk_store.h"

struct identity {
    int32_t broker_id;
    char *cluster_id; /* malloc'ed */
};

/* Finds both out, makes what is not there yet, and writes meta.properties. < 0 on a conflict, with
 * both values and where each comes from in why. Blocks on ZooKeeper. */
int identity_settle(const struct broker_conf *conf, struct zk_store *zk, struct log_manager *logs,
                    struct identity *ret, struct strbuf *why) MUST_CHECK;
