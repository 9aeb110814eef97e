#include "broker/server/server.h"

#include "broker/api/handlers.h"
#include "broker/config/tls_options.h"
#include "broker/config/zk_options.h"
#include "broker/group/group_manager.h"
#include "broker/meta/config_admin.h"
#include "broker/meta/metadata_waits.h"
#include "broker/meta/topic_admin.h"
#include "broker/replica/replica_manager.h"
#include "broker/server/coordinators.h"
#include "broker/server/features.h"
#include "broker/server/gate.h"
#include "broker/server/identity.h"
#include "broker/server/reconfigure.h"
#include "broker/server/registration.h"
#include "broker/server/shutdown.h"
#include "broker/server/topic_configs.h"
#include "broker/txn/id_block.h"
#include "common/base/mem.h"
#include "common/base/say.h"
#include "controller/channel.h"
#include "zk/zk.h"
#include "zk/zk_admin.h"
#include "zk/zk_cluster.h"

#include <errno.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

enum { TELL_US = 2 * 1000 * 1000 };

struct server {
    const struct broker_conf *conf;
    struct broker broker;
    struct reactor_pool reactors;
    struct zk *zk;
    struct registration *registration;
    struct identity identity;
    struct tls_client *tls;         /* to the inter-broker listeners of others */
    struct tls_client *control_tls; /* to their control planes */
    struct controller_link *link;
    struct channels *channels;
    struct topic_configs *topic_configs;
    struct broker_configs *broker_configs;
    struct features features;
    struct gate *gate;
    _Atomic int64_t broker_epoch;
    _Atomic bool has_failed;
    int64_t started_us;
    bool is_registered;
    bool has_all_listeners; /* that are configured now; who changes settings, one at a time */
    bool is_logs_loaded;
    bool is_controller_started;
    bool is_replicas_started;
};

bool server_has_failed(const struct server *s)
{
    return s->has_failed;
}

/* ---- calls from below ---- */

static void on_dir_failed(void *ctx, const char *dir)
{
    struct server *s = ctx;

    if (s->broker.replicas)
        replica_manager_dir_failed(s->broker.replicas, dir);
}

static void on_all_dirs_failed(void *ctx)
{
    struct server *s = ctx;

    if (!atomic_exchange(&s->has_failed, true))
        kill(getpid(), SIGTERM);
}

static void on_dir_offline(void *ctx, const char *dir)
{
    struct server *s = ctx;
    enum zk_result r = zk_log_dir_event_notify(s->broker.zk, s->identity.broker_id);

    if (r != ZK_OK)
        say_error("the controller cannot be told through ZooKeeper that log dir %s is offline: %s; "
                  "it learns of it from the next "
                  "LeaderAndIsr",
                  dir, zk_result_name(r));
}

static struct topic_conf *on_topic_conf(void *ctx, const char *topic)
{
    return topic_configs_get(((struct server *)ctx)->topic_configs, topic);
}

static uint64_t on_conf_changes(void *ctx)
{
    return live_conf_changes(((struct server *)ctx)->broker.live);
}

static void on_conf_again(void *ctx, const char *topic)
{
    topic_configs_again(((struct server *)ctx)->topic_configs, topic);
}

static void on_elected(void *ctx, struct str topic, int32_t partition, int32_t leader_epoch)
{
    coordinators_elected(&((struct server *)ctx)->broker, topic, partition, leader_epoch);
}

static void on_resigned(void *ctx, struct str topic, int32_t partition, int32_t leader_epoch)
{
    coordinators_resigned(&((struct server *)ctx)->broker, topic, partition, leader_epoch);
}

static void on_metadata_updated(void *ctx, const struct update_metadata_request *req)
{
    struct server *s = ctx;

    metadata_waits_look(s->broker.waits);
    coordinators_metadata_updated(&s->broker, req);
}

/* On the controller's thread, in a new session. */
static enum zk_result on_register_again(void *ctx)
{
    struct server *s = ctx;
    enum zk_result r = registration_again(s->registration);

    if (r == ZK_OK)
        s->broker_epoch = registration_epoch(s->registration);
    return r;
}

static bool on_unclean_default(void *ctx)
{
    const struct conf_snapshot *CLEANUP(conf_snapshot_put_p) now =
        live_conf_get(((struct server *)ctx)->broker.live);

    return now->conf->topic_defaults->unclean_leader_election_enable;
}

static struct reconfigure_parts parts_of(const struct server *s)
{
    return (struct reconfigure_parts){&s->broker, s->gate, s->tls, s->control_tls};
}

/* On the worker that reads changes of settings, and once before the listeners are open. */
static void on_conf_changed(void *ctx, const struct conf_snapshot *old,
                            const struct conf_snapshot *now)
{
    struct server *s = ctx;
    const struct reconfigure_parts parts = parts_of(s);

    s->has_all_listeners = reconfigure(&parts, old, now);
}

static void on_announce(void *ctx, const struct conf_snapshot *now)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    struct server *s = ctx;
    enum zk_result r = ZK_OK;

    if (s->registration && s->has_all_listeners)
        r = registration_update(s->registration, now->conf, &why);
    if (r != ZK_OK && r != ZK_CLOSING)
        say_error("the endpoints of this broker stay in ZooKeeper as they were: %s",
                  why.s ? why.s : zk_result_name(r));
}

/* ---- the parts, in the order in which they are made ---- */

static int start_reactors(struct server *s, struct strbuf *why)
{
    bool is_set = props_get(&s->conf->props, "num.network.threads") != NULL;
    int count =
        is_set ? s->conf->num_network_threads : (int)CLAMP(sysconf(_SC_NPROCESSORS_ONLN), 1, 64);
    int r = 0;

    s->reactors.v = xnew_array(struct reactor *, (size_t)count);
    for (; s->reactors.count < count && r == 0; s->reactors.count += r == 0) {
        CLEANUP(free_p) char *name = xasprintf("reactor-%d", s->reactors.count);
        struct reactor **at = &s->reactors.v[s->reactors.count];

        r = reactor_new(name, s->broker.clock, at);
        if (r == 0)
            r = reactor_start(*at);
    }
    s->broker.reactors = &s->reactors;
    if (r == 0)
        r = workq_new("worker", s->conf->num_io_threads, &s->broker.workq);
    if (r < 0)
        strbuf_addf(why, "threads cannot be started: %s", strerror(-r));
    return r;
}

static int start_zk(struct server *s, struct strbuf *why)
{
    const struct zk_conf conf = zk_conf_of_broker(s->conf);
    int r = zk_conf_check(&conf, why);

    if (r < 0)
        return r;
    s->zk = zk_new(&conf);
    s->broker.zk = zk_as_store(s->zk);
    s->topic_configs = topic_configs_new(&(struct topic_configs_opts){
        .zk = s->broker.zk,
        .live = s->broker.live,
        .metadata = s->broker.metadata,
        .workq = s->broker.workq,
    });
    return 0;
}

static int start_tls(struct server *s, struct strbuf *why)
{
    const struct listener_conf *inter = listeners_inter_broker(&s->conf->listener);
    const struct listener_conf *control = listeners_control_plane(&s->conf->listener);
    struct tls_conf conf;
    int r = 0;

    if (inter->protocol == PROTO_SSL) {
        conf = tls_conf_of_listener(s->conf, inter->name);
        r = tls_client_new(&conf, why, &s->tls);
    }
    if (r == 0 && control && control->protocol == PROTO_SSL) {
        conf = tls_conf_of_listener(s->conf, control->name);
        r = tls_client_new(&conf, why, &s->control_tls);
    }
    return r;
}

static int open_logs(struct server *s, struct strbuf *why)
{
    const struct broker_conf *c = s->conf;
    CLEANUP(free_p) char *reason = NULL;
    int r = log_manager_new(
        &(struct log_manager_opts){
            .clock = s->broker.clock,
            .dirs = (const char *const *)c->dirs,
            .dir_count = c->dir_count,
            .recovery_threads_per_dir = c->num_recovery_threads_per_data_dir,
            .flush_scheduler_interval_ms = c->log_flush_scheduler_interval_ms,
            .retention_check_interval_ms = c->log_retention_check_interval_ms,
            .recovery_checkpoint_interval_ms = c->log_flush_offset_checkpoint_interval_ms,
            .start_offset_checkpoint_interval_ms = c->log_flush_start_offset_checkpoint_interval_ms,
            .high_watermark_checkpoint_interval_ms =
                c->replica_high_watermark_checkpoint_interval_ms,
            .producer_id_expiration_ms = c->producer_id_expiration_ms,
            .producer_id_expiration_check_interval_ms = c->producer_id_expiration_check_interval_ms,
            .cleaner = cleaner_conf_of(c),
            .events = {.ctx = s,
                       .dir_failed = on_dir_failed,
                       .all_dirs_failed = on_all_dirs_failed,
                       .topic_conf = on_topic_conf},
        },
        &s->broker.logs, &reason);

    if (r < 0)
        strbuf_addz(why, reason ? reason : strerror(-r));
    return r;
}

static int load_logs(struct server *s, struct strbuf *why)
{
    enum zk_result zr = topic_configs_preload(s->topic_configs);
    int r;

    if (zr != ZK_OK) {
        strbuf_addf(why, "the settings of the topics cannot be read from ZooKeeper: %s",
                    zk_result_name(zr));
        return -EIO;
    }
    r = log_manager_load(s->broker.logs);
    topic_configs_end_preload(s->topic_configs);
    s->is_logs_loaded = r == 0;
    if (r == 0)
        r = log_manager_start(s->broker.logs);
    if (r < 0)
        strbuf_addf(why, "the logs cannot be loaded: %s; the lines above say which", strerror(-r));
    return r;
}

static int start_features(struct server *s, struct strbuf *why)
{
    s->broker.features_epoch = &s->features.epoch;
    features_init(&s->features, s->broker.zk, s->broker.workq);
    return s->conf->ibp < IBP_2_7_IV0 ? 0 : features_start(&s->features, why);
}

static int open_gate(struct server *s, struct strbuf *why)
{
    const struct conf_snapshot *CLEANUP(conf_snapshot_put_p) now = live_conf_get(s->broker.live);

    return gate_open(&(struct gate_opts){.conf = now->conf,
                                         .broker = &s->broker,
                                         .apis = &api_table,
                                         .reactors = &s->reactors,
                                         .workq = s->broker.workq},
                     &s->gate, why);
}

static void make_registration(struct server *s)
{
    const struct conf_snapshot *CLEANUP(conf_snapshot_put_p) now = live_conf_get(s->broker.live);

    s->registration = registration_new(&(struct registration_opts){
        .zk = s->broker.zk,
        .gate = s->gate,
        .conf = now->conf,
        .broker_id = s->identity.broker_id,
    });
}

static void make_configs(struct server *s)
{
    s->broker.configs = config_admin_new(&(struct config_admin_opts){
        .zk = s->broker.zk,
        .metadata = s->broker.metadata,
        .live = s->broker.live,
        .broker_id = s->identity.broker_id,
    });
}

static void make_replicas(struct server *s)
{
    const struct broker_conf *c = s->conf;
    const struct listener_conf *control = listeners_control_plane(&c->listener);

    s->broker.replicas = replica_manager_new(&(struct replica_manager_opts){
        .clock = s->broker.clock,
        .metadata = s->broker.metadata,
        .logs = s->broker.logs,
        .reactors = &s->reactors,
        .workq = s->broker.workq,
        .zk = s->broker.zk,
        .broker_id = s->identity.broker_id,
        .broker_epoch = &s->broker_epoch,
        .ibp = c->ibp,
        .inter_broker_listener = listeners_inter_broker(&c->listener)->name,
        .control_plane_listener = control ? control->name : NULL,
        .tls = s->tls,
        .control_tls = s->control_tls,
        .replica_lag_time_max_ms = c->replica_lag_time_max_ms,
        .replica_fetch_wait_max_ms = c->replica_fetch_wait_max_ms,
        .replica_fetch_min_bytes = c->replica_fetch_min_bytes,
        .replica_fetch_max_bytes = c->replica_fetch_max_bytes,
        .replica_fetch_response_max_bytes = c->replica_fetch_response_max_bytes,
        .replica_fetch_backoff_ms = c->replica_fetch_backoff_ms,
        .replica_socket_timeout_ms = c->replica_socket_timeout_ms,
        .request_timeout_ms = c->request_timeout_ms,
        .controller_socket_timeout_ms = c->controller_socket_timeout_ms,
        .num_replica_fetchers = c->num_replica_fetchers,
        .fetch_max_bytes = c->fetch_max_bytes,
        .fetch_session_slots = c->max_incremental_fetch_session_cache_slots,
        .throttle_window = {c->replication_quota_window_num,
                            (int64_t)c->replication_quota_window_size_seconds * 1000},
        .move_window = {c->alter_log_dirs_replication_quota_window_num,
                        (int64_t)c->alter_log_dirs_replication_quota_window_size_seconds * 1000},
        .alter_log_dirs_threads = c->num_replica_alter_log_dirs_threads == CONF_UNSET_INT
                                      ? c->dir_count
                                      : MAX(c->num_replica_alter_log_dirs_threads, 1),
        .is_rack_aware = c->replica_selector_class &&
                         strstr(c->replica_selector_class, "RackAwareReplicaSelector"),
        .events = {.ctx = s,
                   .topic_conf = on_topic_conf,
                   .conf_changes = on_conf_changes,
                   .conf_again = on_conf_again,
                   .elected = on_elected,
                   .resigned = on_resigned,
                   .metadata_updated = on_metadata_updated,
                   .dir_offline = on_dir_offline},
    });
}

static void make_link(struct server *s)
{
    const struct listener_conf *control = listeners_control_plane(&s->conf->listener);
    CLEANUP(free_p) char *client_id = xasprintf("%d", s->identity.broker_id);

    s->link = controller_link_new(&(struct controller_link_opts){
        .reactor = s->reactors.v[0],
        .metadata = s->broker.metadata,
        .client_id = client_id,
        .control_plane_listener = control ? control->name : NULL,
        .inter_broker_listener = listeners_inter_broker(&s->conf->listener)->name,
        .control_tls = s->control_tls,
        .tls = s->tls,
        .connect_timeout_us = s->conf->socket_connection_setup_timeout_ms * 1000,
        .request_timeout_us = (int64_t)s->conf->controller_socket_timeout_ms * 1000,
    });
    s->broker.producer_ids = id_block_new(&(struct id_block_opts){
        .broker_id = s->identity.broker_id,
        .broker_epoch = &s->broker_epoch,
        .ibp = s->conf->ibp,
        .link = s->link,
        .zk = s->broker.zk,
        .workq = s->broker.workq,
    });
}

static void make_controller(struct server *s)
{
    const struct broker_conf *c = s->conf;
    const struct listener_conf *control = listeners_control_plane(&c->listener);
    CLEANUP(free_p) char *client_id = xasprintf("%d", s->identity.broker_id);

    s->channels = channel_new(&(struct channel_opts){
        .client_id = client_id,
        .tls = control ? s->control_tls : s->tls,
        .connect_timeout_us = c->socket_connection_setup_timeout_ms * 1000,
        .request_timeout_us = (int64_t)c->controller_socket_timeout_ms * 1000,
    });
    s->broker.controller = controller_new(&(struct controller_opts){
        .broker_id = s->identity.broker_id,
        .ibp = c->ibp,
        .inter_broker_listener = listeners_inter_broker(&c->listener)->name,
        .control_listener = control ? control->name : NULL,
        .delete_topic_enable = c->delete_topic_enable,
        .auto_leader_rebalance_enable = c->auto_leader_rebalance_enable,
        .leader_imbalance_check_interval_seconds =
            (int32_t)c->leader_imbalance_check_interval_seconds,
        .leader_imbalance_per_broker_percentage = c->leader_imbalance_per_broker_percentage,
        .store = s->broker.zk,
        .clock = s->broker.clock,
        .channels = s->channels,
        .host = {.register_again = on_register_again,
                 .unclean_default = on_unclean_default,
                 .ctx = s},
    });
}

static int join_cluster(struct server *s, struct strbuf *why)
{
    enum zk_result r;

    r = registration_start(s->registration, why);
    if (r != ZK_OK) {
        if (!why->len)
            strbuf_addf(why, "this broker cannot be registered in ZooKeeper: %s",
                        zk_result_name(r));
        return -EEXIST;
    }
    s->is_registered = true;
    s->broker_epoch = registration_epoch(s->registration);
    group_manager_start(s->broker.groups);
    int e = replica_manager_start(s->broker.replicas);
    s->is_replicas_started = e == 0;
    if (e == 0)
        e = controller_start(s->broker.controller);
    s->is_controller_started = e == 0;
    if (e < 0) {
        strbuf_addf(why, "threads cannot be started: %s", strerror(-e));
        return e;
    }
    live_conf_run(s->broker.live, gate_check_tls, s->gate);
    gate_start(s->gate);
    topic_configs_follow(s->topic_configs, s->broker.logs, s->broker.controller, s->broker_configs);
    return 0;
}

/* The session calls these from its own thread, long after everything is in place: an expiry before
 * that ends the start. */
static void session_lost(void *ctx)
{
    struct server *s = ctx;

    if (s->is_controller_started)
        controller_session_lost(s->broker.controller);
}

static void session_new(void *ctx, int64_t session_id)
{
    struct server *s = ctx;

    if (s->is_controller_started) {
        controller_session_new(s->broker.controller, session_id);
        topic_configs_session_new(s->topic_configs, session_id);
        if (s->conf->ibp >= IBP_2_7_IV0)
            features_read_again(&s->features);
    }
}

static int connect_zk(struct server *s, struct strbuf *why)
{
    zk_add_listener(s->zk, &(struct zk_listener){.before_new_session = session_lost,
                                                 .after_new_session = session_new,
                                                 .ctx = s});
    int r = zk_start(s->zk, why);
    if (r < 0)
        return r;
    enum zk_result zr = zk_cluster_prepare(s->broker.zk);
    if (zr == ZK_OK)
        return 0;
    strbuf_addf(why, "the paths of a cluster cannot be made in ZooKeeper: %s", zk_result_name(zr));
    return -EIO;
}

/* What was set at run time counts from the beginning. */
static int read_broker_configs(struct server *s, struct strbuf *why)
{
    s->broker_configs = broker_configs_new(&(struct broker_configs_opts){
        .zk = s->broker.zk,
        .live = s->broker.live,
        .broker_id = s->identity.broker_id,
        .logs = s->broker.logs,
        .changed = on_conf_changed,
        .announce = on_announce,
        .ctx = s,
    });
    enum zk_result r = broker_configs_renew(s->broker_configs);
    if (r != ZK_OK)
        say_warn("passwords in ZooKeeper cannot be sealed with the new secret now: %s; tried again "
                 "at the next start",
                 zk_result_name(r));
    r = broker_configs_read(s->broker_configs);
    if (r == ZK_OK)
        return 0;
    strbuf_addf(why, "the settings of this broker cannot be read from ZooKeeper: %s",
                zk_result_name(r));
    return -EIO;
}

/* Parts were made of what the file says; now all of them are there. */
static void settle(struct server *s)
{
    const struct conf_snapshot *CLEANUP(conf_snapshot_put_p) now = live_conf_get(s->broker.live);
    const struct reconfigure_parts parts = parts_of(s);

    s->has_all_listeners = reconfigure(&parts, now, now);
}

static int start_parts(struct server *s, struct strbuf *why)
{
    int r = start_reactors(s, why);

    if (r == 0)
        r = start_tls(s, why);
    if (r == 0)
        r = start_zk(s, why);
    if (r == 0)
        r = connect_zk(s, why);
    if (r == 0)
        r = open_logs(s, why);
    if (r == 0)
        r = identity_settle(s->conf, s->broker.zk, s->broker.logs, &s->identity, why);
    if (r == 0)
        r = start_features(s, why);
    if (r == 0)
        r = read_broker_configs(s, why);
    if (r == 0)
        r = load_logs(s, why);
    if (r == 0)
        r = open_gate(s, why);
    if (r < 0)
        return r;
    s->broker.cluster_id = s->identity.cluster_id;
    s->broker.broker_id = s->identity.broker_id;
    s->broker.start_ms = clock_mono_ms(s->broker.clock);
    make_registration(s);
    s->broker.waits = metadata_waits_new(s->broker.metadata);
    s->broker.topics = topic_admin_new(&(struct topic_admin_opts){
        .zk = s->broker.zk, .metadata = s->broker.metadata, .live = s->broker.live});
    make_configs(s);
    make_replicas(s);
    s->broker.groups = coordinators_make_groups(&s->broker);
    make_link(s);
    make_controller(s);
    settle(s);
    return join_cluster(s, why);
}

int server_start(const struct broker_conf *conf, struct server **ret, struct strbuf *why)
{
    struct server *s = xnew(struct server);

    s->conf = conf;
    s->started_us = clock_mono_us(&clock_system);
    s->broker_epoch = -1;
    s->broker.clock = &clock_system;
    s->broker.conf = (struct broker_conf *)(uintptr_t)conf;
    s->broker.live = live_conf_new(conf);
    s->broker.metadata = metadata_new();
    s->broker.broker_epoch = &s->broker_epoch;
    broker_conf_say_unused(conf);
    int r = start_parts(s, why);
    if (r < 0) {
        server_stop(s);
        return r;
    }
    say_info("serving broker=%d cluster=%s epoch=%" PRId64 " start_ms=%" PRId64,
             s->identity.broker_id, s->identity.cluster_id, (int64_t)s->broker_epoch,
             (clock_mono_us(&clock_system) - s->started_us) / 1000);
    *ret = s;
    return 0;
}

/* ---- the end ---- */

/* Where this broker is the controller, it has just told the others who leads now, and they should
 * have heard it before it goes: else they wait for the next controller. Bounded, since one of them
 * may be dead without anybody knowing yet. */
static void wait_until_told(const struct server *s)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    int64_t deadline = clock_mono_us(s->broker.clock) + TELL_US;

    while (channel_queued(s->channels) > 0 && clock_mono_us(s->broker.clock) < deadline)
        nanosleep(&moment, NULL);
}

static void hand_over(struct server *s)
{
    const struct broker_conf *c = s->conf;
    int64_t begun = clock_mono_us(s->broker.clock);

    if (!s->is_registered || !c->controlled_shutdown_enable || s->has_failed)
        return;
    replica_manager_begin_shutdown(s->broker.replicas);
    bool is_done = shutdown_controlled(&(struct shutdown_opts){
        .link = s->link,
        .broker_id = s->identity.broker_id,
        .broker_epoch = s->broker_epoch,
        .ibp = c->ibp,
        .max_tries = c->controlled_shutdown_max_retries,
        .backoff_ms = c->controlled_shutdown_retry_backoff_ms,
        .timeout_ms = c->controller_socket_timeout_ms,
    });
    wait_until_told(s);
    say_info("controlled shutdown %s after %" PRId64 " ms",
             is_done ? "done" : "given up, the rest is taken over when this broker is gone",
             (clock_mono_us(s->broker.clock) - begun) / 1000);
}

/* Whatever was not made is NULL, so that this also ends a start that failed half-way. */
static void stop_parts(struct server *s)
{
    broker_configs_stop(s->broker_configs);
    hand_over(s);
    if (s->gate && s->is_registered) {
        gate_shut(s->gate);
        gate_close_all(s->gate);
    }
    if (s->broker.groups)
        group_manager_stop(s->broker.groups);
    if (s->is_replicas_started)
        replica_manager_stop(s->broker.replicas);
    if (s->broker.waits)
        metadata_waits_cancel(s->broker.waits);
    if (s->is_logs_loaded)
        log_manager_stop(s->broker.logs);
    if (s->zk)
        zk_stop(s->zk); /* first, so that the controller waits for no answer of ZooKeeper */
    if (s->is_controller_started)
        controller_stop(s->broker.controller);
    if (s->link)
        controller_link_stop(s->link);
    s->broker.workq = workq_free(s->broker.workq);
    for (int i = 0; i < s->reactors.count; i++)
        reactor_stop(s->reactors.v[i]);
}

static void free_parts(struct server *s)
{
    s->gate = gate_free(s->gate);
    registration_free(s->registration);
    channel_free(s->channels);
    controller_free(s->broker.controller);
    id_block_free(s->broker.producer_ids);
    controller_link_free(s->link);
    group_manager_free(s->broker.groups);
    replica_manager_free(s->broker.replicas);
    topic_admin_free(s->broker.topics);
    metadata_waits_free(s->broker.waits);
    log_manager_free(s->broker.logs);
    topic_configs_free(s->topic_configs);
    broker_configs_free(s->broker_configs);
    config_admin_free(s->broker.configs);
    zk_free(s->zk);
    metadata_free(s->broker.metadata);
    live_conf_free(s->broker.live);
    tls_client_free(s->tls);
    tls_client_free(s->control_tls);
    for (int i = 0; i < s->reactors.count; i++)
        reactor_free(s->reactors.v[i]);
    free(s->reactors.v);
    free(s->identity.cluster_id);
    free(s);
}

void server_stop(struct server *s)
{
    stop_parts(s);
    say_info("stopped broker=%d", s->identity.broker_id);
    free_parts(s);
}
