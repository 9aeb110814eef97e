/*
 * join_read_zk.c - nodes that klamm why has no use for: what was done to the cluster, and what its
 * users rely on
 */
#include "common/base/mem.h"
#include "tools/join/join.h"
#include "zk/node_admin.h"
#include "zk/zk_configs.h"
#include "zk/zk_paths.h"

enum { CHUNK = 1024, LISTED_MAX = 100000 };

static const char *const acl_types[] = {"Topic",           "Group",           "Cluster",
                                        "TransactionalId", "DelegationToken", "User"};
static const char *const quota_keys[] = {"producer_byte_rate", "consumer_byte_rate",
                                         "request_percentage", "controller_mutation_rate",
                                         "connection_creation_rate"};

/* What could not be read is put down, and does not count as absent. */
static bool is_read(struct join_facts *f, enum zk_result r, const char *path)
{
    if (r == ZK_OK || r == ZK_NO_NODE)
        return true;
    if (r == ZK_NO_AUTH)
        why_texts_add(f->arena, &f->nodes.forbidden, arena_str(f->arena, str_of(path)));
    else
        why_unasked(&f->zk, "%s: %s", path, zk_result_name(r));
    return false;
}

static struct zk_names children(struct join_facts *f, struct zk_store *s, const char *path)
{
    struct zk_names names = {0};

    (void)is_read(f, zk_store_children(s, path, false, f->arena, &names), path);
    names.count = MIN(names.count, (size_t)LISTED_MAX);
    return names;
}

/* ---- single nodes ---- */

static void add_bad(struct join_facts *f, const char *path, const struct node_why *why)
{
    why_add_bad(&f->zk, str_of(path), why->text);
}

static void take_migration(struct join_facts *f, const struct zk_op *op)
{
    struct node_why why;

    if (op->result != ZK_OK)
        return;
    int r = node_migration_decode(op->ret_data, &why, &f->nodes.migration);
    f->nodes.has_migration = r == 0;
    if (r == -EBADMSG)
        add_bad(f, op->path, &why);
}

static void take_features(struct join_facts *f, const struct zk_op *op)
{
    struct node_why why;

    if (op->result != ZK_OK)
        return;
    f->nodes.has_features =
        node_features_decode(op->ret_data, f->arena, &why, &f->nodes.features) == 0;
    if (!f->nodes.has_features)
        add_bad(f, op->path, &why);
}

static void take_producer_block(struct join_facts *f, const struct zk_op *op)
{
    struct node_why why;

    if (op->result != ZK_OK)
        return;
    int r = node_producer_block_decode(op->ret_data, &why, &f->nodes.producer_block);
    f->nodes.has_producer_block = r == 0;
    if (r == -EBADMSG)
        add_bad(f, op->path, &why);
}

static void take_preferred(struct join_facts *f, const struct zk_op *op)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct node_partition_names names;
    struct node_why why;

    f->nodes.has_preferred = op->result == ZK_OK;
    if (op->result == ZK_OK && node_partition_names_decode(op->ret_data, &a, &why, &names) < 0)
        add_bad(f, op->path, &why);
}

static void read_singles(struct join_facts *f, struct zk_store *s)
{
    static const struct {
        const char *path;
        void (*take)(struct join_facts *f, const struct zk_op *op);
    } singles[] = {
        {ZK_PATH_MIGRATION, take_migration},
        {ZK_PATH_FEATURE, take_features},
        {ZK_PATH_PRODUCER_IDS, take_producer_block},
        {ZK_PATH_PREFERRED_ELECTION, take_preferred},
    };
    CLEANUP(zk_batch_deinit) struct zk_batch b = {0};

    for (size_t i = 0; i < ARRAY_LEN(singles); i++)
        zk_batch_get(&b, singles[i].path);
    zk_store_run(s, &b);
    for (size_t i = 0; i < ARRAY_LEN(singles); i++) {
        if (is_read(f, b.ops[i].result, singles[i].path))
            singles[i].take(f, &b.ops[i]);
    }
}

/* ---- what users rely on ---- */

static void read_acls(struct join_facts *f, struct zk_store *s)
{
    static const char *const roots[] = {"/kafka-acl", "/kafka-acl-extended/prefixed"};

    for (size_t i = 0; i < ARRAY_LEN(roots) * ARRAY_LEN(acl_types); i++) {
        const char *path = arena_printf(f->arena, "%s/%s", roots[i / ARRAY_LEN(acl_types)],
                                        acl_types[i % ARRAY_LEN(acl_types)])
                               .p;
        struct zk_names names = children(f, s, path);
        for (size_t k = 0; k < names.count; k++)
            why_texts_add(f->arena, &f->nodes.acls,
                          str_of(zk_path_child(f->arena, path, names.list[k])));
    }
}

static void read_tokens(struct join_facts *f, struct zk_store *s)
{
    struct zk_names names = children(f, s, "/delegation_token/tokens");

    for (size_t i = 0; i < names.count; i++)
        why_texts_add(f->arena, &f->nodes.tokens, names.list[i]);
}

static void take_entity(struct join_facts *f, const char *type, const struct zk_config *c)
{
    struct str path = arena_printf(f->arena, "/config/%s/%.*s", type, STR_ARG(c->name));
    bool has_quota = false;

    if (c->result == ZK_MALFORMED || c->node.is_unreadable)
        why_add_bad(&f->zk, path, "it is no JSON object with \"config\" and texts in it");
    if (!str_is_null(node_config_get(&c->node, "SCRAM-SHA-256")) ||
        !str_is_null(node_config_get(&c->node, "SCRAM-SHA-512")))
        why_texts_add(f->arena, &f->nodes.scram, path);
    for (size_t i = 0; i < ARRAY_LEN(quota_keys); i++)
        has_quota |= !str_is_null(node_config_get(&c->node, quota_keys[i]));
    if (has_quota)
        why_texts_add(f->arena, &f->nodes.quotas, path);
}

static void read_entities(struct join_facts *f, struct zk_store *s, const char *type,
                          const struct zk_names *names)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct zk_config *v = arena_new_array(&a, struct zk_config, names->count + 1);

    for (size_t i = 0; i < names->count; i++)
        v[i].name = names->list[i];
    if (!is_read(f, zk_configs_read(s, type, &a, v, names->count),
                 arena_printf(&a, "/config/%s", type).p))
        return;
    for (size_t i = 0; i < names->count; i++)
        take_entity(f, type, &v[i]);
}

/* "u/clients/c" of each user. */
static struct zk_names pairs_of(struct join_facts *f, struct zk_store *s,
                                const struct zk_names *users)
{
    struct why_texts out = {0};

    for (size_t at = 0; at < users->count; at += CHUNK) {
        CLEANUP(zk_batch_deinit) struct zk_batch b = {0};
        size_t n = MIN(users->count - at, (size_t)CHUNK);
        for (size_t i = 0; i < n; i++)
            zk_batch_children(
                &b,
                arena_printf(&b.arena, "/config/users/%.*s/clients", STR_ARG(users->list[at + i]))
                    .p,
                false);
        zk_store_run(s, &b);
        for (size_t i = 0; i < n; i++) {
            if (!is_read(f, b.ops[i].result, b.ops[i].path))
                continue;
            for (size_t k = 0; k < b.ops[i].ret_names_count && out.count < LISTED_MAX; k++)
                why_texts_add(f->arena, &out,
                              arena_printf(f->arena, "%.*s/clients/%.*s",
                                           STR_ARG(users->list[at + i]),
                                           STR_ARG(b.ops[i].ret_names[k])));
        }
    }
    return (struct zk_names){out.v, out.count};
}

static void read_users(struct join_facts *f, struct zk_store *s)
{
    static const char *const types[] = {"users", "clients", "ips"};

    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        struct zk_names names = children(f, s, arena_printf(f->arena, "/config/%s", types[i]).p);
        read_entities(f, s, types[i], &names);
        if (i > 0)
            continue;
        struct zk_names pairs = pairs_of(f, s, &names);
        read_entities(f, s, types[i], &pairs);
    }
}

/* ---- settings of brokers; changes that brokers have yet to read ---- */

static void read_broker_settings(struct join_facts *f, struct zk_store *s)
{
    struct zk_config v[] = {{.name = STR("<default>")},
                            {.name = arena_printf(f->arena, "%d", f->broker)}};

    if (!is_read(f, zk_configs_read(s, "brokers", f->arena, v, f->broker >= 0 ? 2 : 1),
                 "/config/brokers"))
        return;
    for (size_t i = 0; i < ARRAY_LEN(v); i++) {
        if (v[i].result == ZK_MALFORMED || v[i].node.is_unreadable)
            why_add_bad(&f->zk, arena_printf(f->arena, "/config/brokers/%.*s", STR_ARG(v[i].name)),
                        "it is no JSON object with \"config\" and texts in it");
    }
    f->nodes.of_all = v[0].node;
    f->nodes.of_one = v[1].node;
}

static void read_changes(struct join_facts *f, struct zk_store *s)
{
    struct zk_names names = children(f, s, ZK_PATH_CONFIG_CHANGES);

    for (size_t at = 0; at < names.count; at += CHUNK) {
        CLEANUP(zk_batch_deinit) struct zk_batch b = {0};
        struct node_config_change change;
        size_t n = MIN(names.count - at, (size_t)CHUNK);
        for (size_t i = 0; i < n; i++)
            zk_batch_get(&b, zk_path_child(&b.arena, ZK_PATH_CONFIG_CHANGES, names.list[at + i]));
        zk_store_run(s, &b);
        for (size_t i = 0; i < n; i++) {
            struct node_why why = {"no data"};
            if (b.ops[i].result == ZK_OK &&
                node_config_change_decode(b.ops[i].ret_data, &b.arena, &why, &change) < 0)
                add_bad(f, b.ops[i].path, &why);
        }
    }
}

void join_read_nodes(struct join_facts *f, struct zk_store *s)
{
    read_singles(f, s);
    read_broker_settings(f, s);
    read_changes(f, s);
    read_acls(f, s);
    read_tokens(f, s);
    read_users(f, s);
}
