/*
 * dynamic_keys.h - which settings of a broker can be changed while it runs, and by which names
 *
 * A change stands in ZooKeeper for one broker or for all of them, and is checked with Kafka's rules
 * and words. Keys of one listener ("listener.name.external.ssl.keystore.location") follow the key
 * that they qualify. Thread: any; no state.
 */
#pragma once

#include "common/base/props.h"
#include "common/conf/conf.h"

enum { KEY_NAMES_MAX = 3 };

/* The option behind a key, a listener's key included; NULL for keys that no broker knows. */
const struct conf_option *broker_key_option(const char *key);
/* The key that a listener's key qualifies; NULL for any other. Borrowed from key. */
const char *broker_key_base(const char *key);
/* The names under which a setting can be given, the one that counts first; how many. A listener's
 * key has the general one behind it, if that is wanted. */
size_t broker_key_names(const char *key, bool with_base, const char *ret[KEY_NAMES_MAX]);
/* Whether a key of a listener, without what says which, can be changed while the listener is
 * open. */
bool listener_key_is_dynamic(const char *base);
/* Can be changed at run time; without regard to listeners' keys. */
bool broker_key_is_dynamic(const char *key);
/* Stands encrypted in ZooKeeper. */
bool broker_key_is_password(const char *key);

/* Whether these may be set at run time, for one broker or for all. -EINVAL with Kafka's words. */
int dynamic_props_check(const struct props *p, bool is_per_broker, struct strbuf *why) MUST_CHECK;
/* Takes out what dynamic_props_check() would refuse, and says so. */
void dynamic_props_clean(struct props *p, bool is_per_broker);
