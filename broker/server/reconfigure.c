#include "broker/server/reconfigure.h"

#include "broker/config/tls_options.h"
#include "broker/replica/replica_manager.h"
#include "broker/server/gate.h"
#include "common/base/err.h"
#include "common/base/say.h"
#include "controller/controller.h"

static void renew_client(struct tls_client *client, const struct broker_conf *c,
                         const struct listener_conf *l)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    const struct tls_conf conf = tls_conf_of_listener(c, l->name);
    struct tls_client *next = NULL;

    if (tls_client_new(&conf, &why, &next) == 0)
        tls_client_renew(client, next);
    else
        say_error("the certificates for connections to other brokers (listener %s) stay as they "
                  "were: %s",
                  l->name, why.s);
}

static void change_logs(struct log_manager *logs, const struct broker_conf *c)
{
    const struct log_manager_settings s = {
        .recovery_threads_per_dir = c->num_recovery_threads_per_data_dir,
        .producer_id_expiration_ms = c->producer_id_expiration_ms,
        .cleaner = cleaner_conf_of(c),
    };
    int r = log_manager_reconfigure(logs, &s);

    if (r < 0)
        say_error("threads that compact logs cannot be started with the new log.cleaner settings: "
                  "%s; tried again with the next change",
                  err_name(r));
}

static void change_replicas(struct replica_manager *m, const struct conf_snapshot *now)
{
    const struct throttle_rates rates = conf_throttle_rates(now);

    replica_manager_set_throttle(m, &(struct replica_throttle){.leader_rate = rates.leader,
                                                               .follower_rate = rates.follower});
    replica_manager_set_move_rate(m, rates.alter_log_dirs);
    replica_manager_set_fetchers(m, now->conf->num_replica_fetchers);
}

static void change_workers(struct workq *q, const struct broker_conf *c)
{
    int r = workq_resize(q, c->num_io_threads);

    if (r < 0)
        say_error("num.io.threads=%d: not all of them can be started: %s", c->num_io_threads,
                  err_name(r));
}

static bool change_gate(struct gate *g, const struct broker_conf *c)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};

    if (gate_reconfigure(g, c, &why) == 0)
        return true;
    say_error("a listener cannot be opened, and is not told to others: %s", why.s);
    return false;
}

struct cleaner_conf cleaner_conf_of(const struct broker_conf *c)
{
    return (struct cleaner_conf){
        .threads = c->log_cleaner_enable ? c->log_cleaner_threads : 0,
        .dedupe_buffer_bytes = c->log_cleaner_dedupe_buffer_size,
        .load_factor = c->log_cleaner_io_buffer_load_factor,
        .io_buffer_bytes = c->log_cleaner_io_buffer_size,
        .max_bytes_per_second = c->log_cleaner_io_max_bytes_per_second,
        .backoff_ms = c->log_cleaner_backoff_ms,
    };
}

bool reconfigure(const struct reconfigure_parts *p, const struct conf_snapshot *old,
                 const struct conf_snapshot *now)
{
    const struct broker *b = p->broker;
    const struct broker_conf *c = now->conf;

    change_workers(b->workq, c);
    change_logs(b->logs, c);
    if (b->replicas)
        change_replicas(b->replicas, now);
    if (p->tls)
        renew_client(p->tls, c, listeners_inter_broker(&c->listener));
    if (p->control_tls)
        renew_client(p->control_tls, c, listeners_control_plane(&c->listener));
    if (b->controller && !old->conf->topic_defaults->unclean_leader_election_enable &&
        c->topic_defaults->unclean_leader_election_enable)
        controller_unclean_enabled(b->controller, STR_NULL);
    return !p->gate || change_gate(p->gate, c);
}
