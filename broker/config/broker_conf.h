/*
 * broker_conf.h - server.properties, parsed and checked as Kafka 3.9 in ZooKeeper mode does
 *
 * Fields are named after their keys and made from broker_conf.def. Immutable once loaded. Thread:
 * any.
 */
#pragma once

#include "broker/config/listeners.h"
#include "broker/config/topic_conf.h"
#include "common/base/props.h"
#include "common/conf/conf.h"
#include "common/conf/ibp.h"

#define CONF_C_BOOLEAN  bool
#define CONF_C_SHORT    int32_t
#define CONF_C_INT      int32_t
#define CONF_C_LONG     int64_t
#define CONF_C_DOUBLE   double
#define CONF_C_STRING   char *
#define CONF_C_LIST     char *
#define CONF_C_PASSWORD char *
#define CONF_C_CLASS    char *

struct broker_conf {
#define OPTION(key, type, dflt, check, importance, mode, field) CONF_C_##type field;
#define UNUSED_OPTION(key, type, dflt, check, importance, mode)
#include "broker/config/broker_conf.def"
#undef OPTION
#undef UNUSED_OPTION
    /* What follows from them: */
    enum ibp ibp;
    struct listeners listener;
    char **dirs; /* log.dirs, or log.dir */
    int dir_count;
    int64_t connect_timeout_ms; /* of ZooKeeper */
    struct topic_conf *topic_defaults;
    char **topic_default_texts; /* in the order of topic_conf.def */
    struct props props;         /* as given, overrides applied */
};

extern const struct conf_option broker_options[];
extern const size_t broker_option_count;

/*
 * Reads the file, then the overrides ("key=value", in order), and checks everything. -EINVAL or
 * -errno of the file, with the whole reason (what, where, what to do) in why.
 */
int broker_conf_load(const char *path, char *const *overrides, int override_count,
                     struct broker_conf **ret, struct strbuf *why) MUST_CHECK;
/* From properties that were read already; takes them over also on failure. */
int broker_conf_from_props(struct props *props, struct broker_conf **ret, struct strbuf *why)
    MUST_CHECK;
struct broker_conf *broker_conf_free(struct broker_conf *c);
/*
 * For whoever looks at a file before a start: every reason why broker_conf_load() would refuse it
 * is told, and not only the first. What this broker cannot honour is told and left aside, so that
 * the rest can be looked at; NULL where nothing can be made of it.
 */
typedef void (*broker_conf_refused_fn)(void *ctx, const char *why);
struct broker_conf *broker_conf_probe(const char *path, broker_conf_refused_fn fn, void *ctx);

/* The value of a declared key as text: listener.name.<listener>.<key> where listener is not NULL
 * and that is set, else the key's own, else its default. NULL = null. */
const char *broker_conf_text(const struct broker_conf *c, const char *key, const char *listener);
/* Whether something reads a key's value here; UNKNOWN: no 3.9 broker in ZooKeeper mode knows it. */
enum broker_key_use { KEY_USED, KEY_UNUSED, KEY_UNKNOWN };
enum broker_key_use broker_key_use(const char *key);
/* Says once which keys that are set have no effect (yet), and which are unknown. */
void broker_conf_say_unused(const struct broker_conf *c);
