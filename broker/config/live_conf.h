/*
 * live_conf.h - the configuration as it is now: the file, and what was set at run time
 *
 * What ZooKeeper holds for all brokers stands above the file, and what it holds for this one above
 * both. Each change makes a new snapshot, which is swapped in; a snapshot never changes. Readers
 * hold the lock (LOCK_CONFIG) only to take a reference. Thread: any.
 */
#pragma once

#include "broker/config/broker_conf.h"

struct live_conf;

/* Far more than there are. */
enum { BROKER_SETTINGS_MAX = 10000 };

struct conf_snapshot {
    _Atomic unsigned refs;
    const struct broker_conf *file; /* as started with */
    struct broker_conf *conf;       /* all together */
    struct props own;               /* set for this broker; passwords in clear */
    struct props common;            /* set for all brokers */
};

/* file outlives it. */
struct live_conf *live_conf_new(const struct broker_conf *file);
/*
 * The broker runs: from now on a change is a step from one running configuration to the next, and
 * has to be one that Kafka takes (broker/config/dynamic_check.h). What stands in ZooKeeper was
 * asked about when it was written. `can` is asked whether what hangs on files goes along.
 * Called once, before other threads change anything.
 */
struct conf_step {
    const struct broker_conf *now;
    const struct broker_conf *next;
    /* About listeners whose stores have the same settings as before: their files are read again. Or
     * about the others. */
    bool is_reload;
};
typedef int (*conf_can_fn)(void *ctx, const struct conf_step *step, struct strbuf *why);
void live_conf_run(struct live_conf *l, conf_can_fn can, void *ctx);
/* NULL-safe, returns NULL. */
struct live_conf *live_conf_free(struct live_conf *l);

/* As started with: for what cannot change. */
const struct broker_conf *live_conf_file(const struct live_conf *l);
/* With a reference. */
const struct conf_snapshot *live_conf_get(struct live_conf *l);
void conf_snapshot_put(const struct conf_snapshot *s);
void conf_snapshot_put_p(const struct conf_snapshot **s);

/* Whether the settings for this broker, or for all, can be replaced by these: -EINVAL with Kafka's
 * words. */
int live_conf_check(struct live_conf *l, const struct props *p, bool is_per_broker,
                    struct strbuf *why) MUST_CHECK;
/* And whether the files can be read again that these settings for this broker name as those before
 * did: -EINVAL with Kafka's words. */
int live_conf_check_files(struct live_conf *l, const struct props *p, struct strbuf *why)
    MUST_CHECK;
/* Replaces both and takes them over. Single settings that cannot be used are said and left out;
 * where all together do not do, -EINVAL, and everything stays as it was. Before the broker runs,
 * what cannot be used together is left out, too: first what is set for this broker. One caller at a
 * time. */
int live_conf_set(struct live_conf *l, struct props *own, struct props *common, struct strbuf *why)
    MUST_CHECK;

/*
 * Counts changes of settings, of the broker or of a topic. Whoever has made something of settings
 * that were read, and put it where changes reach it, compares the count with that before the
 * reading: another count means that it may have missed one. Thread: any.
 */
uint64_t live_conf_changes(const struct live_conf *l);
/* Other settings can be read from now on; before they are taken to what there is. */
void live_conf_changed(struct live_conf *l);

/* ---- what only ZooKeeper holds ---- */

/* KIP-73's rates in bytes per second, INT64_MAX where there is no limit:
 * leader.replication.throttled.rate, follower.replication.throttled.rate,
 * replica.alter.log.dirs.io.max.bytes.per.second. */
struct throttle_rates {
    int64_t leader;
    int64_t follower;
    int64_t alter_log_dirs;
};
struct throttle_rates conf_throttle_rates(const struct conf_snapshot *s);
/* As they are now. Thread: any. */
struct throttle_rates live_conf_throttle_rates(struct live_conf *l);

/* ---- where a setting comes from ---- */

enum { ORIGINS_MAX = 1 + 4 * 3 };

struct origin {
    const char *name; /* the name that it was found under */
    struct str value; /* borrowed from the snapshot or the option; defaults as the table has them */
    enum conf_source source;
};

/* All places where the broker's key has a value, the one in force first. */
size_t broker_origins(const struct conf_snapshot *s, const char *key,
                      struct origin ret[ORIGINS_MAX]);
/* The same for a topic's setting, whose override may be null. */
size_t topic_origins(const struct conf_snapshot *s, const struct conf_option *o, struct str value,
                     struct origin ret[ORIGINS_MAX]);
