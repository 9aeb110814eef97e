/*
 * configs.h - what the parts of `klamm configs` share
 *
 * cmd_configs.c reads the command line and checks it; configs_parse.c takes settings and entities
 * apart; configs_alter.c and configs_view.c change and show settings of topics, brokers and
 * loggers; configs_quota.c and configs_scram.c what users, clients and addresses have;
 * configs_zk.c does without brokers; configs_print.c writes what was found.
 *
 * Functions return 0, a negative errno or a Kafka code, with the words that the user is told in
 * c->why. Where Kafka's tool lets an exception out, c->exception has its lines: see
 * configs_refused(). Everything that was learned lives in c->arena until the end. Thread: the main
 * one.
 */
#pragma once

#include "common/base/props.h"
#include "tools/base/cluster.h"
#include "tools/base/opts.h"
#include "tools/base/table.h"

/* From CONFIGS_TOPIC to CONFIGS_IP_DEFAULTS in the order in which Kafka's tool looks at them. */
enum configs_opt {
    CONFIGS_BOOTSTRAP,
    CONFIGS_CONTROLLERS,
    CONFIGS_ZOOKEEPER,
    CONFIGS_CONFIG_FILE,
    CONFIGS_ZK_TLS_FILE,
    CONFIGS_ALTER,
    CONFIGS_DESCRIBE,
    CONFIGS_ALL,
    CONFIGS_TYPE,
    CONFIGS_NAME,
    CONFIGS_DEFAULT,
    CONFIGS_TOPIC,
    CONFIGS_CLIENT,
    CONFIGS_USER,
    CONFIGS_BROKER,
    CONFIGS_LOGGER,
    CONFIGS_IP,
    CONFIGS_CLIENT_DEFAULTS,
    CONFIGS_USER_DEFAULTS,
    CONFIGS_BROKER_DEFAULTS,
    CONFIGS_IP_DEFAULTS,
    CONFIGS_ADD,
    CONFIGS_ADD_FILE,
    CONFIGS_DELETE,
    CONFIGS_FORCE,
    CONFIGS_DRY_RUN,
    CONFIGS_OUTPUT,
    CONFIGS_HELP,
    CONFIGS_VERSION,
};

#define TYPE_TOPICS  "topics"
#define TYPE_CLIENTS "clients"
#define TYPE_USERS   "users"
#define TYPE_BROKERS "brokers"
#define TYPE_LOGGERS "broker-loggers"
#define TYPE_IPS     "ips"
#define TYPE_METRICS "client-metrics"

/* Texts in their order on the command line; borrowed from it. */
struct texts {
    const char **v;
    size_t count;
};

struct configs {
    const struct opts *o;
    struct cluster *cluster;
    bool as_kafka;
    bool as_json;
    bool is_dry;
    struct texts types; /* "users", "clients" */
    struct texts names; /* "" is the default entity */
    struct props add;   /* in the order of java.util.Properties */
    struct texts drop;
    struct arena arena;
    struct strbuf why;
    struct strbuf exception; /* empty: why stands alone */
};

/* ---- configs_parse.c; pure ---- */

/* "k1=v1,k2=[a,b]". -EINVAL with Kafka's words. */
int configs_parse_add(const char *text, struct props *ret, struct strbuf *why) MUST_CHECK;
/* What letters a key may have. */
int configs_check_keys(const struct props *p, struct strbuf *why) MUST_CHECK;
/* "a, b" */
void configs_parse_drop(const struct opts *o, struct arena *a, struct texts *ret);
/* The types that the command line names: --entity-type, then the shortcuts. */
void configs_entity_types(const struct opts *o, struct arena *a, struct texts *ret);
/* The names, in the same order; "" for a default. -EINVAL where a shortcut stands twice. */
int configs_entity_names(const struct opts *o, struct arena *a, struct texts *ret,
                         struct strbuf *why) MUST_CHECK;
bool texts_has(const struct texts *t, const char *text);
/* Those of list that are in known, or are not. */
struct texts texts_filter(struct arena *a, const struct texts *list, const struct texts *known,
                          bool is_in);
/* "a,b" with that separator. */
void texts_join(const struct texts *t, const char *separator, struct strbuf *out);
struct texts props_keys(struct arena *a, const struct props *p);

/* ---- failures (cmd_configs.c) ---- */

/* As an answer that refuses: error, and the broker's message, null for none. Returns error. */
int configs_refused(struct configs *c, int16_t error, struct str message);
/* As cluster_call() failed with r; api is the request's name for Kafka. Returns r. */
int configs_lost(struct configs *c, int r, const char *api);
/* As Java's exception of that class. Returns -EIO. */
int configs_throw(struct configs *c, const char *exception, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* Of what is to be deleted, what is not set: -EINVAL where there is any. */
int configs_check_drop(struct configs *c, const struct texts *set);

/* ---- the actions ---- */

int configs_alter_resource(struct configs *c) MUST_CHECK;
int configs_describe_resource(struct configs *c) MUST_CHECK;
int configs_alter_quotas(struct configs *c) MUST_CHECK;
/* What is found goes to the table, or, as Kafka's tool, is printed. */
int configs_describe_quotas(struct configs *c, struct table *t) MUST_CHECK;
int configs_alter_scram(struct configs *c) MUST_CHECK;
int configs_describe_scram(struct configs *c, struct table *t) MUST_CHECK;
/* Users and clients: quotas or credentials, whichever it is. */
int configs_alter_users(struct configs *c) MUST_CHECK;
int configs_alter_ips(struct configs *c) MUST_CHECK;
int configs_zookeeper(struct configs *c, const char *connect) MUST_CHECK;

/* ---- settings of resources (configs_view.c) ---- */

typedef struct describe_configs_response_config config_entry;

struct config_entries {
    const config_entry **v; /* sorted by name */
    size_t count;
};

/* Of the wire. */
int8_t configs_resource_type(const char *type);
/* The settings of one entity; without all only those of its own. */
int configs_read(struct configs *c, const char *type, const char *name, bool all,
                 struct config_entries *ret) MUST_CHECK;
/* The broker that answers for it. -EINVAL with Kafka's words where the name is no number. */
int configs_broker_of(struct configs *c, const char *type, const char *name, int32_t *ret)
    MUST_CHECK;

/* ---- quotas found ---- */

typedef struct describe_client_quotas_response_entry quota_entry;

/* Puts them in the order in which Kafka's tool prints them. */
void configs_sort_quotas(quota_entry *entries, int32_t count);

/* ---- configs_print.c ---- */

/* "topic", of "topics"; for texts. */
struct str configs_singular(const char *type);
/* The line above the settings of an entity, and the settings, as Kafka's tool. */
void configs_print_head(const char *type, const char *name, bool all, FILE *out);
void configs_print_entry(const config_entry *e, FILE *out);
void configs_print_quota(const quota_entry *e, FILE *out);
void configs_print_scram(struct str user,
                         const struct describe_user_scram_credentials_response_credential_info *v,
                         int32_t count, FILE *out);

/* As our own tool: rows of a table; name is what the first column says. */
void configs_table_entries(struct table *t, const char *name, const struct config_entries *e);
void configs_table_quota(struct table *t, const quota_entry *e);

/* What a change does, as our own tool says it. */
struct config_change {
    const char *key;
    struct str before, after; /* null: not set */
};

void configs_print_changes(const struct configs *c, const char *entity,
                           const struct config_change *changes, size_t count);
void configs_print_table(const struct configs *c, struct table *t);
