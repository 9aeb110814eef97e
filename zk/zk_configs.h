/*
 * zk_configs.h - overrides below /config, and the notifications that tell every broker of a change
 *
 * type is one of topics, brokers, clients, users, ips; name stands as it does in the path
 * (node_sanitize for the last three; "<default>"; "u/clients/c" for a pair).
 */
#pragma once

#include "zk/node_config.h"
#include "zk/zk_store.h"

struct zk_config {
    struct str name;       /* in */
    enum zk_result result; /* ZK_OK (an absent node has no overrides), ZK_MALFORMED (said) */
    bool is_present;
    int32_t version; /* for zk_config_update(), _delete(); ZK_CONFIG_ABSENT: it is not there */
    struct node_config node;
};

enum { ZK_CONFIG_ABSENT = -2 };

enum zk_result zk_config_read(struct zk_store *s, const char *type, struct str name,
                              struct arena *a, struct node_config *ret);
/* With its version; the name is in it. */
enum zk_result zk_config_look(struct zk_store *s, const char *type, struct arena *a,
                              struct zk_config *ret);
/* Many of one type, pipelined. */
enum zk_result zk_configs_read(struct zk_store *s, const char *type, struct arena *a,
                               struct zk_config *list, size_t count);
/* Names below /config/TYPE, sorted. */
enum zk_result zk_configs_list(struct zk_store *s, const char *type, struct arena *a,
                               struct zk_names *ret);

/*
 * Sets or creates, the last writer wins; checked against a change of controller. No notification:
 * zk_config_notify() afterwards. ZK_CONTROLLER_MOVED: no controller now, or it changed meanwhile;
 * ZK_REFUSED: a KRaft one.
 */
enum zk_result zk_config_set(struct zk_store *s, const char *type, struct str name,
                             const struct node_config *config);
/* The same, if it is as it was read. ZK_BAD_VERSION: another has written it meanwhile; read it
 * again, or what he was told is done is lost. */
enum zk_result zk_config_update(struct zk_store *s, const char *type, struct str name,
                                const struct node_config *config, int32_t version);
/* The version of /controller, which writes of settings and of new topics are checked against:
 * ZK_CONTROLLER_MOVED where there is no controller, ZK_REFUSED where a KRaft one owns it. */
enum zk_result zk_config_fence(struct zk_store *s, int32_t *ret_version);
/* Absent is ZK_OK; ZK_BAD_VERSION as above. Empty parents of a pair ("u/clients/c") go too. */
enum zk_result zk_config_delete(struct zk_store *s, const char *type, struct str name,
                                int32_t version);

/*
 * For a cluster that is not running yet: sets or creates the node whatever the controller, and
 * notifies, both or neither. Without settings the node of a user goes, unless it has clients below.
 * ZK_NO_NODE: there is no chroot.
 */
enum zk_result zk_config_bootstrap(struct zk_store *s, const char *type, struct str name,
                                   const struct node_config *config);

enum zk_result zk_config_notify(struct zk_store *s, const char *type, struct str name);

/*
 * The reader of /config/changes: each trigger (start, child event, new session) calls
 * zk_config_changes_run(), which lists the directory (arming the child handler), calls fn for every
 * notification not handled yet, in order, and deletes those older than 15 minutes. An error ends
 * the pass; the next one goes on from there. Owned by one thread.
 */
struct zk_config_changes {
    int64_t next; /* number of the first one not handled yet; 0 at the start: all there are */
};

typedef void (*zk_config_change_fn)(const struct node_config_change *change, void *ctx);

enum zk_result zk_config_changes_run(struct zk_store *s, struct zk_config_changes *c,
                                     zk_config_change_fn fn, void *ctx);
