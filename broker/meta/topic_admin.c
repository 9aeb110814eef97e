#include "broker/meta/topic_admin.h"

#include "broker/meta/placement.h"
#include "broker/meta/topic_names.h"
#include "common/base/containers.h"
#include "common/base/lock.h"
#include "common/base/random.h"
#include "common/base/say.h"
#include "zk/zk_configs.h"
#include "zk/zk_topics.h"

#include <errno.h>

/* What fits into a topic's znode by far, and into memory. */
enum { MAX_PARTITIONS = 200000, MAX_REPLICAS = 1024 };

/* A topic that a Metadata request is making on this broker at the moment. */
struct in_flight {
    struct in_flight *next;
    struct str name;
};

struct topic_admin {
    struct topic_admin_opts opts;
    struct mutex lock; /* LOCK_CONFIG */
    struct in_flight *in_flight;
};

struct topic_admin *topic_admin_new(const struct topic_admin_opts *opts)
{
    struct topic_admin *ta = xnew(struct topic_admin);

    ta->opts = *opts;
    mutex_init(&ta->lock, LOCK_CONFIG);
    return ta;
}

struct topic_admin *topic_admin_free(struct topic_admin *ta)
{
    if (!ta)
        return NULL;
    mutex_deinit(&ta->lock);
    free(ta);
    return NULL;
}

/* ---- what there is ---- */

/* A name that is taken, by its folded form. */
struct taken {
    UT_hash_handle hh;
    struct str folded;
    struct str name;
    bool is_deleted; /* marked for deletion */
};

/* One run of topic_admin_create(). */
struct run {
    struct topic_admin *ta;
    struct arena *a;
    struct taken *taken;
    struct placement_broker *brokers;
    int32_t broker_count;
};

static void run_deinit(struct run *run)
{
    HASH_CLEAR(hh, run->taken);
}

static struct taken *find_taken(struct run *run, struct str folded)
{
    struct taken *t;

    HASH_FIND(hh, run->taken, folded.p, folded.len, t);
    return t;
}

static void take_name(struct run *run, struct str name, bool is_deleted)
{
    struct str folded = topic_name_folded(run->a, name);
    struct taken *t = find_taken(run, folded);

    if (t) {
        t->is_deleted |= is_deleted && str_eq(t->name, name);
        return;
    }
    t = arena_new(run->a, struct taken);
    *t = (struct taken){.folded = folded, .name = name, .is_deleted = is_deleted};
    HASH_ADD_KEYPTR(hh, run->taken, folded.p, folded.len, t);
}

static enum zk_result read_names(struct run *run)
{
    struct zk_store *zk = run->ta->opts.zk;
    struct zk_names names;
    enum zk_result r = zk_topics_list(zk, false, run->a, &names);

    if (r != ZK_OK)
        return r;
    for (size_t i = 0; i < names.count; i++)
        take_name(run, names.list[i], false);
    r = zk_delete_topics_list(zk, false, run->a, &names);
    for (size_t i = 0; r == ZK_OK && i < names.count; i++)
        take_name(run, names.list[i], true);
    return r;
}

static void read_brokers(struct run *run, const struct metadata_snapshot *s)
{
    run->broker_count = metadata_broker_count(s);
    run->brokers = arena_new_array(run->a, struct placement_broker, (size_t)run->broker_count);
    for (int32_t i = 0; i < run->broker_count; i++) {
        const struct meta_broker *b = metadata_broker_at(s, i);

        run->brokers[i] =
            (struct placement_broker){.id = b->id, .rack = arena_str(run->a, b->rack)};
    }
}

/* ---- the checks of one topic ---- */

static int refuse(struct topic_creation *c, int error, struct str message)
{
    c->error = (int16_t)error;
    c->message = message;
    return error;
}

static int check_counts(struct run *run, struct topic_creation *c)
{
    const struct broker_conf *conf = live_conf_file(run->ta->opts.live);

    if (c->assignment_count > 0) {
        if (c->num_partitions != -1 || c->replication_factor != -1)
            return refuse(
                c, INVALID_REQUEST,
                STR("Both numPartitions or replicationFactor and replicasAssignments were set. "
                    "Both cannot be used at the same time."));
        return 0;
    }
    if (c->num_partitions == -1)
        c->num_partitions = conf->num_partitions;
    if (c->replication_factor == -1)
        c->replication_factor = conf->default_replication_factor;
    if (c->num_partitions <= 0)
        return refuse(c, INVALID_PARTITIONS, STR("Number of partitions must be larger than 0."));
    if (c->num_partitions > MAX_PARTITIONS)
        return refuse(c, INVALID_PARTITIONS,
                      arena_printf(run->a, "Number of partitions must not be larger than %d.",
                                   MAX_PARTITIONS));
    if (c->replication_factor <= 0)
        return refuse(c, INVALID_REPLICATION_FACTOR,
                      STR("Replication factor must be larger than 0."));
    if (c->replication_factor > run->broker_count)
        return refuse(c, INVALID_REPLICATION_FACTOR,
                      arena_printf(run->a,
                                   "Replication factor: %d larger than available brokers: %d.",
                                   c->replication_factor, run->broker_count));
    return 0;
}

static int check_name(struct run *run, struct topic_creation *c)
{
    struct str why;
    int r = topic_name_check(run->a, c->name, &why);

    if (r)
        return refuse(c, r, why);
    struct taken *t = find_taken(run, topic_name_folded(run->a, c->name));
    if (!t)
        return 0;
    if (!str_eq(t->name, c->name))
        return refuse(c, INVALID_TOPIC_EXCEPTION,
                      arena_printf(run->a, "Topic '%.*s' collides with existing topics: %.*s",
                                   STR_ARG(c->name), STR_ARG(t->name)));
    return refuse(c, TOPIC_ALREADY_EXISTS,
                  arena_printf(run->a,
                               t->is_deleted ? "Topic '%.*s' is marked for deletion."
                                             : "Topic '%.*s' already exists.",
                               STR_ARG(c->name)));
}

static bool has_duplicate(const int32_t *ids, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        for (int32_t k = 0; k < i; k++) {
            if (ids[i] == ids[k])
                return true;
        }
    }
    return false;
}

static int check_lists(struct topic_creation *c)
{
    for (int32_t i = 0; i < c->assignment_count; i++) {
        if (c->assignments[i].broker_count != c->assignments[0].broker_count)
            return refuse(c, INVALID_REPLICA_ASSIGNMENT,
                          STR("All partitions should have the same number of replicas"));
    }
    if (c->assignments[0].broker_count > MAX_REPLICAS)
        return refuse(c, INVALID_REPLICA_ASSIGNMENT,
                      STR("A partition cannot have more than 1024 replicas"));
    for (int32_t i = 0; i < c->assignment_count; i++) {
        if (has_duplicate(c->assignments[i].brokers, c->assignments[i].broker_count))
            return refuse(c, INVALID_REPLICA_ASSIGNMENT, STR("Duplicate replica assignment found"));
    }
    return 0;
}

/* A manual assignment into node, by partition. */
static int take_assignment(struct topic_creation *c, struct node_topic *node)
{
    int r = check_lists(c);

    for (int32_t i = 0; r == 0 && i < c->assignment_count; i++) {
        const struct topic_assignment *as = &c->assignments[i];

        if (as->partition < 0 || as->partition >= c->assignment_count ||
            node->partitions[as->partition].replicas.list)
            return refuse(c, INVALID_REPLICA_ASSIGNMENT,
                          STR("partitions should be a consecutive 0-based integer sequence"));
        node->partitions[as->partition] = (struct node_partition){
            .id = as->partition,
            .replicas = {(int32_t *)(uintptr_t)as->brokers, as->broker_count},
        };
    }
    c->num_partitions = c->assignment_count;
    c->replication_factor = c->assignments[0].broker_count;
    return r;
}

static int place(struct run *run, struct topic_creation *c, struct node_topic *node)
{
    const struct placement p = {
        .brokers = run->brokers,
        .broker_count = run->broker_count,
        .partitions = c->num_partitions,
        .replication_factor = c->replication_factor,
        .start = random_below((uint32_t)run->broker_count),
        .shift = random_below((uint32_t)run->broker_count),
    };
    int32_t *ids;

    if (placement_assign(&p, run->a, &ids) < 0)
        return refuse(
            c, UNKNOWN_SERVER_ERROR,
            STR("Not all brokers have rack information for replica rack aware assignment."));
    for (int32_t i = 0; i < c->num_partitions; i++) {
        node->partitions[i] = (struct node_partition){
            .id = i,
            .replicas = {ids + (size_t)i * (size_t)c->replication_factor, c->replication_factor},
        };
    }
    return 0;
}

static int check_config(struct run *run, struct topic_creation *c)
{
    const struct conf_snapshot *CLEANUP(conf_snapshot_put_p) now =
        live_conf_get(run->ta->opts.live);
    CLEANUP(strbuf_deinit) struct strbuf why = {0};

    if (topic_conf_check(now->conf, c->overrides, c->override_count, &why) < 0)
        return refuse(c, INVALID_CONFIG, arena_str(run->a, strbuf_str(&why)));
    return 0;
}

static int check_nulls(struct run *run, struct topic_creation *c)
{
    CLEANUP(strbuf_deinit) struct strbuf message = {0};

    for (size_t i = 0; i < c->override_count; i++) {
        if (str_is_null(c->overrides[i].value))
            strbuf_addf(&message, "%s%.*s",
                        message.len ? "," : "Null value not supported for topic configs: ",
                        STR_ARG(c->overrides[i].name));
    }
    if (message.len == 0)
        return 0;
    return refuse(c, INVALID_CONFIG, arena_str(run->a, strbuf_str(&message)));
}

/* In Kafka's order (protocol.md 11.21, 5 to 15). */
static int check(struct run *run, const struct metadata_snapshot *s, struct topic_creation *c,
                 struct node_topic *node)
{
    int r;

    if (metadata_topic(s, c->name))
        return refuse(c, TOPIC_ALREADY_EXISTS,
                      arena_printf(run->a, "Topic '%.*s' already exists.", STR_ARG(c->name)));
    r = check_nulls(run, c);
    if (r == 0)
        r = check_counts(run, c);
    if (r == 0)
        r = check_name(run, c);
    if (r)
        return r;
    node->count = c->assignment_count > 0 ? c->assignment_count : c->num_partitions;
    node->partitions = arena_new_array(run->a, struct node_partition, (size_t)node->count);
    r = c->assignment_count > 0 ? take_assignment(c, node) : place(run, c, node);
    if (r == 0)
        r = check_config(run, c);
    if (r == 0 && c->replication_factor == 0) /* Kafka makes such a topic, which nobody can use */
        r = refuse(c, INVALID_REPLICA_ASSIGNMENT, STR("A partition needs at least one replica"));
    return r;
}

/* ---- the writes ---- */

static struct node_config config_of(struct arena *a, const struct topic_creation *c)
{
    struct node_config config = {
        .entries = arena_new_array(a, struct node_config_entry, c->override_count),
        .count = (int32_t)c->override_count,
    };

    for (size_t i = 0; i < c->override_count; i++)
        config.entries[i] = (struct node_config_entry){c->overrides[i].name, c->overrides[i].value};
    return config;
}

static void take_result(struct run *run, struct topic_creation *c, enum zk_result r, struct uuid id)
{
    if (r == ZK_OK)
        c->id = id;
    else if (r == ZK_NODE_EXISTS)
        refuse(c, TOPIC_ALREADY_EXISTS,
               arena_printf(run->a, "Topic '%.*s' already exists.", STR_ARG(c->name)));
    else
        refuse(c, UNKNOWN_SERVER_ERROR,
               arena_printf(run->a, "ZooKeeper did not take topic '%.*s': %s", STR_ARG(c->name),
                            zk_result_name(r)));
}

/* All that passed the checks, in a few round trips. nodes[i] belongs to list[i]. */
static void write_topics(struct run *run, struct topic_creation *list, struct node_topic *nodes,
                         size_t count)
{
    struct zk_topic *topics = arena_new_array(run->a, struct zk_topic, count);
    struct node_config *configs = arena_new_array(run->a, struct node_config, count);
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        if (list[i].error)
            continue;
        if (live_conf_file(run->ta->opts.live)->ibp >= IBP_2_8_IV0)
            nodes[i].id = uuid_random();
        topics[n] = (struct zk_topic){.name = list[i].name, .node = nodes[i]};
        configs[n++] = config_of(run->a, &list[i]);
    }
    enum zk_result r = n ? zk_topics_create(run->ta->opts.zk, topics, configs, n) : ZK_OK;
    for (size_t i = 0, at = 0; i < count; i++) {
        if (list[i].error)
            continue;
        take_result(run, &list[i], r == ZK_OK ? topics[at].result : r, nodes[i].id);
        at++;
    }
}

static void refuse_all(struct arena *a, struct topic_creation *list, size_t count, enum zk_result r)
{
    for (size_t i = 0; i < count; i++) {
        if (!list[i].error)
            refuse(&list[i], UNKNOWN_SERVER_ERROR,
                   arena_printf(a, "The existing topics cannot be read from ZooKeeper: %s",
                                zk_result_name(r)));
    }
}

void topic_admin_create(struct topic_admin *ta, struct arena *a, struct topic_creation *list,
                        size_t count, bool is_dry_run)
{
    const struct metadata_snapshot *CLEANUP(metadata_put_p) s = metadata_get(ta->opts.metadata);
    CLEANUP(run_deinit) struct run run = {.ta = ta, .a = a};
    enum zk_result r = read_names(&run);

    if (r != ZK_OK) {
        refuse_all(a, list, count, r);
        return;
    }
    read_brokers(&run, s);
    struct node_topic *nodes = arena_new_array(a, struct node_topic, count);
    for (size_t i = 0; i < count; i++) {
        /* Names of this request collide with each other, too. */
        if (!list[i].error && check(&run, s, &list[i], &nodes[i]) == 0)
            take_name(&run, list[i].name, false);
    }
    if (!is_dry_run)
        write_topics(&run, list, nodes, count);
}

/* ---- topics that clients bring into being ---- */

static bool begin_auto(struct topic_admin *ta, struct in_flight *mine)
{
    struct in_flight *f;

    LOCK_SCOPE(&ta->lock);
    LL_FOREACH (ta->in_flight, f) {
        if (str_eq(f->name, mine->name))
            return false;
    }
    LL_PREPEND(ta->in_flight, mine);
    return true;
}

static void end_auto(struct topic_admin *ta, struct in_flight *mine)
{
    WITH_LOCK(&ta->lock)
    LL_DELETE(ta->in_flight, mine);
}

/* The internal topics have settings of their own. */
static void set_defaults(const struct topic_admin *ta, struct arena *a, struct topic_creation *c)
{
    const struct broker_conf *conf = live_conf_file(ta->opts.live);
    bool is_offsets = str_eqz(c->name, "__consumer_offsets");

    c->num_partitions = c->replication_factor = -1;
    if (!topic_name_is_internal(c->name))
        return;
    c->num_partitions = is_offsets ? conf->offsets_topic_num_partitions
                                   : conf->transaction_state_log_num_partitions;
    c->replication_factor = is_offsets ? conf->offsets_topic_replication_factor
                                       : conf->transaction_state_log_replication_factor;
    struct topic_override *o = arena_new_array(a, struct topic_override, 5);
    size_t n = 0;
    o[n++] = (struct topic_override){STR("cleanup.policy"), STR("compact")};
    if (is_offsets) {
        o[n++] = (struct topic_override){STR("compression.type"), STR("producer")};
        o[n++] = (struct topic_override){STR("segment.bytes"),
                                         arena_printf(a, "%d", conf->offsets_topic_segment_bytes)};
    } else {
        o[n++] = (struct topic_override){STR("compression.type"), STR("uncompressed")};
        o[n++] = (struct topic_override){
            STR("segment.bytes"), arena_printf(a, "%d", conf->transaction_state_log_segment_bytes)};
        o[n++] = (struct topic_override){
            STR("min.insync.replicas"), arena_printf(a, "%d", conf->transaction_state_log_min_isr)};
        o[n++] = (struct topic_override){STR("unclean.leader.election.enable"), STR("false")};
    }
    c->overrides = o;
    c->override_count = n;
}

int16_t topic_admin_auto_create(struct topic_admin *ta, struct arena *a, struct str name)
{
    struct topic_creation c = {.name = name};
    struct in_flight mine = {.name = name};
    struct str why;
    int r = topic_name_check(a, name, &why);

    if (r)
        return (int16_t)r;
    if (!begin_auto(ta, &mine))
        return UNKNOWN_TOPIC_OR_PARTITION;
    set_defaults(ta, a, &c);
    topic_admin_create(ta, a, &c, 1, false);
    end_auto(ta, &mine);
    if (c.error && c.error != TOPIC_ALREADY_EXISTS) {
        say_limited(SAY_WARN, 10, "topic %.*s was asked for and cannot be made: %s (%.*s)",
                    STR_ARG(name), err_name(c.error), STR_ARG(c.message));
        return c.error;
    }
    if (!c.error)
        say_info("topic made on demand name=%.*s partitions=%d replication_factor=%d",
                 STR_ARG(name), c.num_partitions, c.replication_factor);
    return LEADER_NOT_AVAILABLE;
}

/* ---- the rest ---- */

int topic_admin_delete(struct topic_admin *ta, struct str name)
{
    enum zk_result r = zk_delete_topic_request(ta->opts.zk, name);

    if (r == ZK_OK || r == ZK_NODE_EXISTS)
        return 0;
    say_warn("topic %.*s cannot be marked for deletion in ZooKeeper: %s", STR_ARG(name),
             zk_result_name(r));
    return -EIO;
}

int topic_admin_overrides(struct topic_admin *ta, struct arena *a, struct str name,
                          struct topic_override **ret, size_t *ret_count)
{
    struct node_config node = {0};
    enum zk_result r = zk_config_read(ta->opts.zk, "topics", name, a, &node);

    if (r != ZK_OK && r != ZK_MALFORMED)
        return -EIO;
    *ret = arena_new_array(a, struct topic_override, (size_t)node.count);
    *ret_count = (size_t)node.count;
    for (int32_t i = 0; i < node.count; i++)
        (*ret)[i] = (struct topic_override){node.entries[i].key, node.entries[i].value};
    return 0;
}
