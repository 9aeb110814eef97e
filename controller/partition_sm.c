#include "controller/partition_sm.h"

#include "zk/zk_configs.h"
#include "zk/zk_states.h"

#include <strings.h>

enum {
    CHUNK = 4096,      /* partitions whose state is in memory at one time */
    SAY_EACH_MAX = 20, /* from here on a batch is one line, not one per partition */
};

static const uint8_t allowed_from[] = {
    [PARTITION_NEW] = BIT(PARTITION_NONE),
    [PARTITION_ONLINE] = BIT(PARTITION_NEW) | BIT(PARTITION_ONLINE) | BIT(PARTITION_OFFLINE),
    [PARTITION_OFFLINE] = BIT(PARTITION_NEW) | BIT(PARTITION_ONLINE) | BIT(PARTITION_OFFLINE),
    [PARTITION_NONE] = BIT(PARTITION_OFFLINE),
};

static const char *const state_names[] = {"new", "online", "offline", "none"};

static bool may_go(const struct ctl_partition *p, enum partition_state to)
{
    if (allowed_from[to] & BIT(p->state))
        return true;
    say_warn("controller: partition %s-%d stays %s: it cannot become %s from there", p->topic->name,
             p->id, state_names[p->state], state_names[to]);
    return false;
}

void partition_sm_set(struct controller *c, const struct partition_list *list,
                      enum partition_state to)
{
    assert(to != PARTITION_ONLINE);
    for (size_t i = 0; i < list->count; i++) {
        if (may_go(list->v[i], to))
            context_set_partition_state(&c->x, list->v[i], to);
    }
}

/* A part of a list on its way to online. Everything by index, and in the arena. */
struct pass {
    struct controller *c;
    struct arena arena;
    enum elect_strategy strategy;
    bool unclean;
    struct ctl_partition **v;
    size_t *at; /* where v[i] stands in the caller's list */
    size_t count;
    struct zk_partition_state *states;
    bool is_known; /* states are what the context has; else they were read in this round */
    struct ctl_partition **unsure;
    size_t *unsure_at;
    size_t unsure_count;
    bool *ret_done;
    size_t changed;
    size_t failed;
    bool says_each;
};

static void pass_fail(struct pass *ps, const struct ctl_partition *p, const char *why)
{
    ps->failed++;
    if (ps->says_each)
        say_warn("controller: partition %s-%d stays %s: %s", p->topic->name, p->id,
                 state_names[p->state], why);
}

static void pass_done(struct pass *ps, size_t i)
{
    struct ctl_partition *p = ps->v[i];

    ps->changed++;
    context_set_partition_state(&ps->c->x, p, PARTITION_ONLINE);
    if (ps->ret_done)
        ps->ret_done[ps->at[i]] = true;
    if (ps->says_each)
        say_info("controller: partition %s-%d leader=%d leader_epoch=%d isr_size=%d "
                 "partition_epoch=%d",
                 p->topic->name, p->id, p->leader, p->leader_epoch, p->isr_count,
                 p->partition_epoch);
}

/* Keeps v[i] for the next round. */
static void pass_keep(struct pass *ps, size_t *kept, size_t i)
{
    ps->v[*kept] = ps->v[i];
    ps->at[*kept] = ps->at[i];
    (*kept)++;
}

/* Nothing is to be written by what is known of it: it is read, in the next round. */
static void pass_unsure(struct pass *ps, size_t i)
{
    ps->unsure[ps->unsure_count] = ps->v[i];
    ps->unsure_at[ps->unsure_count++] = ps->at[i];
}

/* New partitions: the first leader is the first replica that is online, the ISR all of those. */
static size_t first_states(struct pass *ps)
{
    size_t n = 0;

    for (size_t i = 0; i < ps->count; i++) {
        struct ctl_partition *p = ps->v[i];
        struct node_ids isr = {arena_new_array(&ps->arena, int32_t, (size_t)p->replica_count + 1),
                               0};
        for (int r = 0; r < p->replica_count; r++) {
            if (replica_is_online(&ps->c->x, p, p->ids[r]))
                isr.list[isr.count++] = p->ids[r];
        }
        if (isr.count == 0) {
            pass_fail(ps, p, "none of its replicas is online; one of their brokers must start");
            continue;
        }
        ps->states[n] = (struct zk_partition_state){
            .topic = topic_name(p->topic),
            .partition = p->id,
            .state = {.leader = isr.list[0],
                      .leader_epoch = 0,
                      .controller_epoch = ps->c->epoch,
                      .isr = isr},
        };
        pass_keep(ps, &n, i);
    }
    return n;
}

/* The node was there already, made by another controller: it counts, as at a failover. */
static void take_over(struct pass *ps, size_t i, struct partition_list *to_elect)
{
    struct ctl_partition *p = ps->v[i];
    const struct zk_partition_state *st = &ps->states[i];
    struct context *x = &ps->c->x;

    struct zk_partition_state found = *st;

    found.result = ZK_OK;
    const char *why = partition_state_unfit(ps->c, &found);
    if (why) {
        pass_fail(ps, p, why);
        return;
    }
    context_set_leadership(x, p, &st->state, st->version, st->state.controller_epoch);
    if (!replica_is_online(x, p, p->leader)) {
        context_set_partition_state(x, p, PARTITION_OFFLINE);
        partition_list_add(to_elect, p);
        return;
    }
    for (int r = 0; r < p->replica_count; r++) {
        if (replica_is_online(x, p, p->ids[r]))
            fanout_lead_one(&ps->c->fanout, p->ids[r], p, false);
    }
    pass_done(ps, i);
}

static enum zk_result create_pass(struct pass *ps, struct partition_list *to_elect)
{
    struct controller *c = ps->c;

    ps->count = first_states(ps);
    enum zk_result r =
        zk_states_create(c->store, &ps->arena, ps->states, ps->count, c->epoch_version);
    if (r != ZK_OK)
        return r;
    for (size_t i = 0; i < ps->count; i++) {
        const struct zk_partition_state *st = &ps->states[i];
        struct ctl_partition *p = ps->v[i];
        if (st->result == ZK_OK) {
            context_set_leadership(&c->x, p, &st->state, st->version, c->epoch);
            fanout_lead(&c->fanout, partition_isr(p), p, true);
            pass_done(ps, i);
        } else if (st->result == ZK_NODE_EXISTS) {
            take_over(ps, i, to_elect);
        } else {
            pass_fail(ps, p, zk_result_name(st->result));
        }
    }
    return ZK_OK;
}

static bool is_true(struct str value)
{
    struct str v = str_trim(value);

    return v.len == 4 && strncasecmp(v.p, "true", 4) == 0;
}

/* May this partition's leader come from outside of the ISR? As the topic's configuration in
 * ZooKeeper says at this moment, over the broker's own. */
static bool config_allows(const struct pass *ps, const struct zk_config *config)
{
    const struct controller_host *host = &ps->c->opts.host;

    if (config->result != ZK_OK)
        return false;
    struct str value = node_config_get(&config->node, "unclean.leader.election.enable");
    return str_is_null(value) ? host->unclean_default(host->ctx) : is_true(value);
}

/* Fills allowed[i] for the partitions that only an unclean election could help. Each topic's
 * configuration is read once per run of its partitions. */
static enum zk_result read_unclean(struct pass *ps, bool *allowed)
{
    struct zk_config *configs = arena_array(&ps->arena, ps->count + 1, sizeof *configs);
    size_t *config_of = arena_array(&ps->arena, ps->count + 1, sizeof *config_of);
    const struct ctl_topic *last = NULL;
    size_t n = 0;

    for (size_t i = 0; i < ps->count; i++) {
        const struct zk_partition_state *st = &ps->states[i];
        struct ctl_partition *p = ps->v[i];
        if (st->result != ZK_OK || !elect_needs_unclean(&ps->c->x, p, &st->state))
            continue;
        if (ps->unclean) {
            allowed[i] = true;
            continue;
        }
        if (p->topic != last)
            configs[n++].name = topic_name(p->topic);
        last = p->topic;
        config_of[i] = n;
    }
    enum zk_result r = n ? zk_configs_read(ps->c->store, "topics", &ps->arena, configs, n) : ZK_OK;
    if (r != ZK_OK)
        return r;
    for (size_t i = 0; i < ps->count; i++) {
        if (config_of[i])
            allowed[i] = config_allows(ps, &configs[config_of[i] - 1]);
    }
    return ZK_OK;
}

const char *partition_state_unfit(const struct controller *c, const struct zk_partition_state *st)
{
    if (st->result != ZK_OK)
        return st->result == ZK_NO_NODE ? "its state node is gone" : zk_result_name(st->result);
    if (st->state.controller_epoch > c->epoch)
        return "its state was written by a newer controller";
    if (st->state.isr.count > UINT16_MAX)
        return "its state node lists too many replicas";
    if (st->state.leader_epoch < 0 || st->state.leader_epoch == INT32_MAX)
        return "its state node has a leader epoch that cannot be counted on";
    return NULL;
}

void partition_known_state(const struct ctl_partition *p, struct arena *a,
                           struct zk_partition_state *ret)
{
    struct node_ids known = partition_isr(p);
    struct node_ids isr = {arena_new_array(a, int32_t, (size_t)known.count + 1), known.count};

    if (known.count)
        memcpy(isr.list, known.list, (size_t)known.count * sizeof *isr.list);
    *ret = (struct zk_partition_state){
        .topic = topic_name(p->topic),
        .partition = p->id,
        .result = p->has_leadership ? ZK_OK : ZK_NO_NODE,
        .version = p->partition_epoch,
        .state = {.leader = p->leader,
                  .leader_epoch = p->leader_epoch,
                  .controller_epoch = p->controller_epoch,
                  .isr = isr,
                  .leader_recovery_state = p->recovery_state},
    };
}

static const char *why_nobody(const struct pass *ps)
{
    switch (ps->strategy) {
    case ELECT_OFFLINE:
        return "no replica in sync is online, and unclean election is not allowed or cannot help; "
               "a broker of its ISR must start";
    case ELECT_REASSIGN:
        return "none of the replicas it moves to is online and in sync";
    case ELECT_PREFERRED:
        return "its preferred leader is not online or not in sync";
    case ELECT_SHUTDOWN:
        break;
    }
    return "no other replica in sync could take over from the broker that shuts down";
}

/* Decides for what was read; those with a leader are moved together at the front. */
static size_t decide(struct pass *ps, const bool *allowed, struct elect_outcome *out)
{
    size_t n = 0;

    for (size_t i = 0; i < ps->count; i++) {
        struct zk_partition_state *st = &ps->states[i];
        const char *why = partition_state_unfit(ps->c, st);
        struct elect_input in = {&ps->arena, &st->state, allowed[i]};
        if (!why && !elect(&ps->c->x, ps->v[i], ps->strategy, &in, &out[n]))
            why = why_nobody(ps);
        if (why && ps->is_known) {
            pass_unsure(ps, i);
            continue;
        }
        if (why) {
            pass_fail(ps, ps->v[i], why);
            continue;
        }
        st->state.leader = out[n].leader;
        st->state.isr = out[n].isr;
        st->state.leader_epoch++;
        st->state.controller_epoch = ps->c->epoch;
        if (out[n].is_unclean && ps->c->opts.ibp >= IBP_3_2_IV0)
            st->state.leader_recovery_state = NODE_RECOVERING;
        ps->states[n] = *st;
        pass_keep(ps, &n, i);
    }
    return n;
}

static void elected(struct pass *ps, size_t i, const struct elect_outcome *out)
{
    struct controller *c = ps->c;
    const struct zk_partition_state *st = &ps->states[i];
    struct ctl_partition *p = ps->v[i];

    context_set_leadership(&c->x, p, &st->state, st->version, c->epoch);
    fanout_lead(&c->fanout, out->recipients, p, false);
    pass_done(ps, i);
    if (!out->is_unclean)
        return;
    c->unclean_elections++;
    say_warn("controller: unclean election of partition %s-%d leader=%d: it was not in sync, "
             "records that only others had are lost",
             p->topic->name, p->id, out->leader);
}

/* The states to decide by: first as they are known, then as they are. */
static enum zk_result look(struct pass *ps)
{
    for (size_t i = 0; i < ps->count; i++)
        partition_known_state(ps->v[i], &ps->arena, &ps->states[i]);
    return ps->is_known ? ZK_OK : zk_states_read(ps->c->store, &ps->arena, ps->states, ps->count);
}

static void pass_add_unsure(struct pass *ps)
{
    for (size_t i = 0; i < ps->unsure_count; i++) {
        ps->v[ps->count] = ps->unsure[i];
        ps->at[ps->count++] = ps->unsure_at[i];
    }
    ps->unsure_count = 0;
}

/* One look, one decision, one write; what another writer got in between stays for the next
 * round. */
static enum zk_result elect_round(struct pass *ps)
{
    struct controller *c = ps->c;
    bool *allowed = arena_array(&ps->arena, ps->count + 1, sizeof *allowed);
    struct elect_outcome *out = arena_array(&ps->arena, ps->count + 1, sizeof *out);
    size_t kept = 0;
    enum zk_result r = look(ps);

    if (r == ZK_OK && ps->strategy == ELECT_OFFLINE)
        r = read_unclean(ps, allowed);
    if (r != ZK_OK)
        return r;
    ps->count = decide(ps, allowed, out);
    r = zk_states_update(c->store, ps->states, ps->count, c->epoch_version);
    if (r != ZK_OK)
        return r;
    for (size_t i = 0; i < ps->count; i++) {
        if (ps->states[i].result == ZK_OK)
            elected(ps, i, &out[i]);
        else if (ps->states[i].result == ZK_BAD_VERSION)
            pass_keep(ps, &kept, i);
        else
            pass_fail(ps, ps->v[i], zk_result_name(ps->states[i].result));
    }
    ps->count = kept;
    pass_add_unsure(ps);
    ps->is_known = false;
    return ZK_OK;
}

static void pass_begin(struct pass *ps, struct ctl_partition *const *v, size_t from, size_t to)
{
    arena_reset(&ps->arena);
    ps->v = arena_array(&ps->arena, to - from + 1, sizeof(struct ctl_partition *));
    ps->at = arena_array(&ps->arena, to - from + 1, sizeof *ps->at);
    ps->states = arena_array(&ps->arena, to - from + 1, sizeof *ps->states);
    ps->unsure = arena_array(&ps->arena, to - from + 1, sizeof(struct ctl_partition *));
    ps->unsure_at = arena_array(&ps->arena, to - from + 1, sizeof *ps->unsure_at);
    ps->unsure_count = 0;
    ps->is_known = true;
    ps->count = 0;
    for (size_t i = from; i < to; i++) {
        ps->v[ps->count] = v[i];
        ps->at[ps->count++] = i;
    }
}

/* Leaves in ps those whose state is new, or those whose state is not. */
static void pass_pick(struct pass *ps, bool is_new)
{
    size_t n = 0;

    for (size_t i = 0; i < ps->count; i++) {
        if ((ps->v[i]->state == PARTITION_NEW) == is_new &&
            (is_new || may_go(ps->v[i], PARTITION_ONLINE)))
            pass_keep(ps, &n, i);
    }
    ps->count = n;
}

static enum zk_result elect_all(struct pass *ps, const struct partition_list *list)
{
    for (size_t from = 0; from < list->count; from += CHUNK) {
        pass_begin(ps, list->v, from, MIN(from + CHUNK, list->count));
        pass_pick(ps, false);
        while (ps->count) {
            enum zk_result r = elect_round(ps);
            if (r != ZK_OK)
                return r;
        }
    }
    return ZK_OK;
}

static enum zk_result go_online(struct pass *ps, const struct partition_list *list)
{
    CLEANUP(partition_list_deinit) struct partition_list taken_over = {0};
    enum zk_result r = elect_all(ps, list);

    for (size_t from = 0; r == ZK_OK && from < list->count; from += CHUNK) {
        pass_begin(ps, list->v, from, MIN(from + CHUNK, list->count));
        pass_pick(ps, true);
        if (ps->count)
            r = create_pass(ps, &taken_over);
    }
    if (r == ZK_OK && taken_over.count) {
        bool *ret_done = ps->ret_done;
        ps->ret_done = NULL; /* its indices are those of list */
        r = elect_all(ps, &taken_over);
        ps->ret_done = ret_done;
    }
    return r;
}

enum zk_result partition_sm_elect(struct controller *c, const struct partition_list *list,
                                  enum elect_strategy strategy, bool unclean, bool *ret_done)
{
    struct pass ps = {.c = c,
                      .strategy = strategy,
                      .unclean = unclean,
                      .ret_done = ret_done,
                      .says_each = list->count <= SAY_EACH_MAX};

    if (ret_done)
        memset(ret_done, 0, list->count * sizeof *ret_done);
    if (list->count == 0)
        return ZK_OK;
    fanout_begin(&c->fanout);
    enum zk_result r = go_online(&ps, list);
    arena_deinit(&ps.arena);
    if (!ps.says_each)
        say_info("controller: partitions to become online count=%zu done=%zu failed=%zu",
                 list->count, ps.changed, ps.failed);
    return controller_close_batch(c, r);
}

enum zk_result partition_sm_trigger(struct controller *c, struct ctl_topic *only,
                                    size_t *ret_elected)
{
    CLEANUP(partition_list_deinit) struct partition_list list = {0};
    size_t elected_count = 0;

    if (c->x.offline_partitions + c->x.new_partitions > 0) {
        CONTEXT_EACH_TOPIC(&c->x, t)
        {
            if (t->is_queued || (only && t != only))
                continue;
            TOPIC_EACH_PARTITION(t, p)
            {
                if (p->state == PARTITION_NEW || p->state == PARTITION_OFFLINE)
                    partition_list_add(&list, p);
            }
        }
    }
    bool *done = xcalloc(list.count + 1, sizeof *done);
    enum zk_result r = partition_sm_elect(c, &list, ELECT_OFFLINE, false, done);
    for (size_t i = 0; i < list.count; i++)
        elected_count += done[i];
    free(done);
    if (ret_elected)
        *ret_elected = elected_count;
    return r;
}

static bool is_electable(const struct context *x, const struct ctl_partition *p)
{
    struct node_ids isr = partition_isr(p);

    for (int i = 0; p->has_leadership && i < p->replica_count; i++) {
        if (node_ids_has(&isr, p->ids[i]) && replica_is_online(x, p, p->ids[i]))
            return true;
    }
    return false;
}

enum zk_result partition_sm_trigger_again(struct controller *c)
{
    CLEANUP(partition_list_deinit) struct partition_list list = {0};

    if (c->x.offline_partitions == 0)
        return ZK_OK;
    CONTEXT_EACH_TOPIC(&c->x, t)
    {
        if (t->is_queued)
            continue;
        TOPIC_EACH_PARTITION(t, p)
        {
            if (p->state == PARTITION_OFFLINE && is_electable(&c->x, p))
                partition_list_add(&list, p);
        }
    }
    return partition_sm_elect(c, &list, ELECT_OFFLINE, false, NULL);
}

/* A leader that is not a replica any more was left by a controller that died while it cancelled a
 * reassignment. One that restarted leads on where nobody stayed, but as elected now: the state is
 * written, so that its next restart is seen (restarts.h). */
static bool is_led(const struct controller *c, const struct ctl_partition *p)
{
    struct node_ids rs = partition_replicas(p);

    if (!node_ids_has(&rs, p->leader) || !replica_is_online(&c->x, p, p->leader))
        return false;
    return p->isr_count < 2 || !replica_is_restarted(&c->x, p, p->leader);
}

enum zk_result partition_sm_start(struct controller *c)
{
    CONTEXT_EACH_TOPIC(&c->x, t)
    {
        TOPIC_EACH_PARTITION(t, p)
        {
            enum partition_state s = PARTITION_NEW;
            if (p->has_leadership)
                s = is_led(c, p) ? PARTITION_ONLINE : PARTITION_OFFLINE;
            context_set_partition_state(&c->x, p, s);
        }
    }
    return partition_sm_trigger(c, NULL, NULL);
}
