/*
 * zk_brokers.h - the registrations below /brokers/ids, as others read them
 *
 * Registering oneself is zk_register.h.
 */
#pragma once

#include "zk/node_broker.h"
#include "zk/zk_store.h"

struct zk_broker {
    int32_t id;
    int64_t epoch;         /* czxid */
    enum zk_result result; /* ZK_MALFORMED: registered, but undecodable (said); node is empty */
    int32_t version;
    struct node_broker node;
};

struct zk_brokers {
    struct zk_broker *list; /* sorted by id */
    size_t count;
};

/* All of them; watch arms the child handler. Each read arms that broker's data handler. Children
 * that are no numbers and brokers that vanish meanwhile are left out. */
enum zk_result zk_brokers_read(struct zk_store *s, bool watch, struct arena *a,
                               struct zk_brokers *ret);
/* Arms the data handlers of these brokers (exists). */
enum zk_result zk_brokers_arm(struct zk_store *s, const int32_t *ids, size_t count);
enum zk_result zk_broker_read(struct zk_store *s, int32_t id, struct arena *a,
                              struct zk_broker *ret);
/* A new broker id: /brokers/seqid's version plus reserved_max (reserved.broker.max.id). */
enum zk_result zk_broker_id_generate(struct zk_store *s, int32_t reserved_max, int32_t *ret_id);
