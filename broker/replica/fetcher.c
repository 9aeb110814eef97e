#include "broker/replica/fetcher.h"

#include "broker/replica/fetcher_state.h"
#include "common/base/be.h"
#include "common/base/err.h"
#include "common/base/say.h"

#include <stdatomic.h>

enum { FIRST_BACK_OFF_MS = 10 };

/* ---- one partition ---- */

static uint32_t make_name_key(uint8_t *to, struct str topic, int32_t partition)
{
    memcpy(to, topic.p, topic.len);
    be32_write(to + topic.len, (uint32_t)partition);
    return (uint32_t)topic.len + 4;
}

static void make_id_key(uint8_t *to, struct uuid id, int32_t partition)
{
    memcpy(to, id.b, sizeof id.b);
    be32_write(to + sizeof id.b, (uint32_t)partition);
}

struct followed *fetcher_find(struct fetcher *f, struct str topic, struct uuid id,
                              int32_t partition)
{
    struct followed *fo;

    if (!uuid_is_zero(id)) {
        uint8_t key[sizeof(struct uuid) + 4];
        make_id_key(key, id, partition);
        HASH_FIND(by_id, f->by_id, key, sizeof key, fo);
        return fo;
    }
    uint8_t *CLEANUP(free_p) key = xmalloc(topic.len + 4);
    uint32_t len = make_name_key(key, topic, partition);
    HASH_FIND(by_name, f->by_name, key, len, fo);
    return fo;
}

static void set_id(struct followed *fo, struct uuid id)
{
    struct fetcher *f = fo->fetcher;

    if (uuid_is_zero(fo->topic_id))
        f->without_id--;
    else
        HASH_DELETE(by_id, f->by_id, fo);
    fo->topic_id = id;
    if (uuid_is_zero(id)) {
        f->without_id++;
        return;
    }
    make_id_key(fo->id_key, id, fo->part->id);
    HASH_ADD(by_id, f->by_id, id_key, sizeof fo->id_key, fo);
}

static void post_step(struct fetcher *f)
{
    if (f->is_step_posted || f->is_stopped)
        return;
    f->is_step_posted = true;
    reactor_defer(f->opts.reactor, &f->step);
}

void followed_unlist(struct followed *fo)
{
    if (fo->is_listed)
        DL_DELETE(fo->fetcher->lists[fo->step], fo);
    fo->is_listed = false;
}

void followed_next(struct followed *fo, enum follow_step step)
{
    followed_unlist(fo);
    fo->step = step;
    if (fo->is_delayed)
        return;
    DL_APPEND(fo->fetcher->lists[step], fo);
    fo->is_listed = true;
    post_step(fo->fetcher);
}

static void end_delay(struct followed *fo)
{
    if (!fo->is_delayed)
        return;
    timer_cancel(fo->fetcher->opts.reactor, &fo->delay);
    DL_DELETE(fo->fetcher->delayed, fo);
    fo->is_delayed = false;
}

static void on_delay_over(struct timer *t)
{
    struct followed *fo = container_of(t, struct followed, delay);

    end_delay(fo);
    followed_next(fo, fo->step);
}

void followed_forget(struct followed *fo)
{
    struct fetcher *f = fo->fetcher;

    if (!fo->in_session)
        return;
    fo->in_session = false;
    struct forgotten *gone = xnew(struct forgotten);
    *gone = (struct forgotten){
        {str_dup(fo->part->topic), fo->part->topic.len}, fo->topic_id, fo->part->id, f->forgotten};
    f->forgotten = gone;
}

void followed_delay(struct followed *fo, int64_t ms)
{
    struct fetcher *f = fo->fetcher;

    followed_unlist(fo);
    followed_forget(fo);
    end_delay(fo);
    DL_APPEND(f->delayed, fo);
    fo->is_delayed = true;
    timer_arm(f->opts.reactor, &fo->delay, reactor_now_us(f->opts.reactor) + ms * 1000);
    post_step(f);
}

int64_t fetcher_until_due_ms(const struct fetcher *f, int64_t most)
{
    int64_t now_us = reactor_now_us(f->opts.reactor), due_us = now_us + most * 1000;
    struct followed *fo;

    DL_FOREACH (f->delayed, fo) {
        due_us = MIN(due_us, fo->delay.deadline_us);
    }
    return MAX((due_us - now_us + 999) / 1000, 0);
}

void followed_back_off(struct followed *fo)
{
    followed_delay(fo, fo->fetcher->opts.conf->backoff_ms);
}

static struct followed *followed_new(struct fetcher *f, struct partition *part)
{
    struct followed *fo = xcalloc(1, sizeof *fo + part->topic.len + 4);

    fo->fetcher = f;
    fo->part = partition_ref(part);
    fo->delay.fire = on_delay_over;
    fo->name_len = make_name_key(fo->name_key, part->topic, part->id);
    f->without_id++;
    HASH_ADD(hh, f->by_part, part, sizeof fo->part, fo);
    HASH_ADD_KEYPTR(by_name, f->by_name, fo->name_key, fo->name_len, fo);
    return fo;
}

static void followed_free(struct followed *fo)
{
    struct fetcher *f = fo->fetcher;

    followed_unlist(fo);
    followed_forget(fo);
    end_delay(fo);
    set_id(fo, (struct uuid){{0}});
    f->without_id--;
    HASH_DELETE(by_name, f->by_name, fo);
    HASH_DELETE(hh, f->by_part, fo);
    partition_unref(fo->part);
    free(fo);
}

/* A change of leaders is an everyday thing; all other reasons are not. */
static void say_stopped(const struct followed *fo, enum say_level level, const char *why)
{
    say(level,
        "replication has stopped partition=%s-%d leader=%d leader_epoch=%d offset=%" PRId64
        " why=\"%s\"; it goes on with the next LeaderAndIsr",
        fo->part->topic.p, fo->part->id, fo->fetcher->opts.leader, fo->leader_epoch, fo->offset,
        why);
}

static void give_up(struct followed *fo)
{
    struct fetcher *f = fo->fetcher;
    struct partition *part = partition_ref(fo->part);
    uint64_t order = fo->order;

    followed_free(fo);
    f->opts.failed(f->opts.ctx, part, order);
    partition_unref(part);
}

void followed_fail(struct followed *fo, const char *why)
{
    say_stopped(fo, SAY_ERROR, why);
    give_up(fo);
}

/* Most errors are those of a leader that has not heard yet what we have heard, and goes on to hear
 * it at once: a topic that was just made, a leader that was just elected. Acknowledgements wait for
 * us meanwhile, so the first back-offs are short. */
static int64_t next_back_off_ms(struct followed *fo)
{
    int64_t most = fo->fetcher->opts.conf->backoff_ms;
    int64_t ms = MIN(MAX(fo->back_off_ms, FIRST_BACK_OFF_MS), most);

    fo->back_off_ms = MIN(2 * ms, most);
    return ms;
}

/* Many that are refused for long are asked for together, whenever each of them began: fetches that
 * are not answered at once end when the first one that is delayed is due. */
static int64_t aligned_ms(const struct followed *fo, int64_t ms)
{
    int64_t now_ms = reactor_now_us(fo->fetcher->opts.reactor) / 1000, step = MAX(ms / 8, 1);

    return (now_ms + ms) / step * step - now_ms;
}

void fetcher_partition_error(struct followed *fo, int error)
{
    /* An answer to a question of an older epoch says nothing about this one. */
    if (error == FENCED_LEADER_EPOCH && fo->sent_epoch == fo->leader_epoch) {
        say_stopped(fo, SAY_INFO, "the leader is in a newer epoch");
        give_up(fo);
        return;
    }
    int64_t ms = next_back_off_ms(fo);
    say_limited(SAY_INFO, 10,
                "fetch answered with an error partition=%s-%d leader=%d error=%s; "
                "again in %" PRId64 " ms",
                fo->part->topic.p, fo->part->id, fo->fetcher->opts.leader, err_name(error), ms);
    followed_delay(fo, aligned_ms(fo, ms));
}

/* ---- requests ---- */

void fetcher_back_off(struct fetcher *f, const char *what, int r)
{
    say_limited(SAY_WARN, 5, "%s failed leader=%d address=%s:%d error=%s; again in %" PRId64 " ms",
                what, f->opts.leader, f->host, f->opts.port, err_name(r), f->opts.conf->backoff_ms);
    fetcher_new_session(f);
    timer_arm(f->opts.reactor, &f->backoff,
              reactor_now_us(f->opts.reactor) + f->opts.conf->backoff_ms * 1000);
}

/* Whatever was asked and not answered is asked again. */
static void ask_again(struct fetcher *f, enum follow_step step)
{
    struct followed *fo, *tmp;

    if (step == STEP_FETCH)
        return; /* the new session asks for all */
    HASH_ITER (hh, f->by_part, fo, tmp) {
        if (fo->in_request && fo->step == step && !fo->is_listed)
            followed_next(fo, step);
        fo->in_request = false;
    }
}

static void on_done(struct peer_call *call, int r, const void *response)
{
    struct fetcher *f = container_of(call, struct fetcher, call);

    f->in_flight = false;
    if (f->is_stopped)
        return;
    if (r) {
        ask_again(f, f->call_step);
        fetcher_back_off(f, "request to a leader", r);
        return;
    }
    if (f->call_step == STEP_FETCH)
        fetcher_on_fetch(f, response);
    else if (f->call_step == STEP_TRUNCATE)
        fetcher_on_epochs(f, response);
    else
        fetcher_on_offsets(f, f->call_step, response);
    ask_again(f, f->call_step);
    post_step(f);
}

void fetcher_send(struct fetcher *f, enum follow_step step, const void *request)
{
    f->in_flight = true;
    f->call_step = step;
    f->call.request = request;
    f->call.done = on_done;
    peer_send(f->peer, &f->call);
}

static void on_step(struct message *m)
{
    struct fetcher *f = container_of(m, struct fetcher, step);

    f->is_step_posted = false;
    if (f->in_flight || f->is_stopped || timer_is_armed(&f->backoff))
        return;
    if (fetcher_send_epochs(f))
        return;
    if (f->lists[STEP_LATEST] && fetcher_send_offsets(f, STEP_LATEST))
        return;
    if (f->lists[STEP_EARLIEST] && fetcher_send_offsets(f, STEP_EARLIEST))
        return;
    fetcher_send_fetch(f);
}

static void on_backoff_over(struct timer *t)
{
    post_step(container_of(t, struct fetcher, backoff));
}

/* ---- orders ---- */

enum order_kind { ORDER_ADD, ORDER_REMOVE, ORDER_SET_ID };

struct order {
    enum order_kind kind;
    struct partition *part; /* a reference */
    struct follow how;
};

/* What is ordered together is carried out in one turn. */
struct fetcher_orders {
    struct message message;
    struct fetcher *fetcher;
    struct order *v;
    size_t count;
    size_t cap;
};

/* With truncation left to the fetch (KIP-595) it begins at our end, else at the watermark. */
static bool truncates_on_fetch(const struct fetcher *f, const struct partition *part)
{
    return f->opts.conf->ibp >= IBP_2_7_IV1 && log_latest_epoch(part->log) >= 0;
}

static void do_add(struct fetcher *f, struct partition *part, const struct follow *how)
{
    struct followed *fo;

    HASH_FIND(hh, f->by_part, &part, sizeof part, fo);
    if (fo && fo->leader_epoch == how->leader_epoch)
        return;
    if (fo)
        followed_free(fo);
    fo = followed_new(f, part);
    set_id(fo, how->topic_id);
    fo->order = how->order;
    fo->leader_epoch = how->leader_epoch;
    fo->initial_offset = how->initial_offset;
    fo->lag = -1;
    fo->sent_epoch = -1;
    fo->sent_offset = -1;
    bool on_fetch = truncates_on_fetch(f, part);
    fo->offset = on_fetch ? log_end_offset(part->log) : how->initial_offset;
    followed_next(fo, on_fetch ? STEP_FETCH : STEP_TRUNCATE);
}

static void carry_out(struct fetcher *f, const struct order *o)
{
    struct followed *fo;

    HASH_FIND(hh, f->by_part, &o->part, sizeof o->part, fo);
    if (o->kind == ORDER_ADD) {
        do_add(f, o->part, &o->how);
    } else if (fo && o->kind == ORDER_REMOVE) {
        followed_free(fo);
        post_step(f);
    } else if (fo && !uuid_eq(fo->topic_id, o->how.topic_id)) {
        followed_forget(fo);
        set_id(fo, o->how.topic_id);
        followed_next(fo, fo->step);
    }
}

static void on_orders(struct message *m)
{
    struct fetcher_orders *l = container_of(m, struct fetcher_orders, message);

    for (size_t i = 0; i < l->count; i++) {
        carry_out(l->fetcher, &l->v[i]);
        partition_unref(l->v[i].part);
    }
    free(l->v);
    free(l);
}

static void gather(struct fetcher *f, enum order_kind kind, struct partition *part,
                   const struct follow *how)
{
    if (!f->gathered) {
        f->gathered = xnew(struct fetcher_orders);
        f->gathered->message.run = on_orders;
        f->gathered->fetcher = f;
    }
    struct fetcher_orders *l = f->gathered;
    xgrow(l->v, l->cap, l->count + 1);
    l->v[l->count++] =
        (struct order){kind, partition_ref(part), how ? *how : (struct follow){.order = 0}};
}

void fetcher_add(struct fetcher *f, struct partition *part, const struct follow *how)
{
    gather(f, ORDER_ADD, part, how);
}

void fetcher_remove(struct fetcher *f, struct partition *part)
{
    gather(f, ORDER_REMOVE, part, NULL);
}

void fetcher_set_topic_id(struct fetcher *f, struct partition *part, struct uuid topic_id)
{
    struct follow how = {.topic_id = topic_id};

    gather(f, ORDER_SET_ID, part, &how);
}

void fetcher_go_on(struct fetcher *f)
{
    if (f->gathered)
        reactor_post(f->opts.reactor, &TAKE(f->gathered)->message);
}

/* ---- life ---- */

static void fetcher_free(struct fetcher *f)
{
    struct followed *fo, *tmp;

    HASH_ITER (hh, f->by_part, fo, tmp) {
        followed_free(fo);
    }
    fetcher_new_session(f);
    free(f->host);
    free(f->client_id);
    free(f);
}

/* A step that is under way in this turn still finds the fetcher: it is freed after that. */
static void on_stopped(struct message *m)
{
    fetcher_free(container_of(m, struct fetcher, stop));
}

static void on_stop(struct message *m)
{
    struct fetcher *f = container_of(m, struct fetcher, stop);

    f->is_stopped = true;
    timer_cancel(f->opts.reactor, &f->backoff);
    f->peer = peer_free(f->peer);
    f->stop.run = on_stopped;
    reactor_defer(f->opts.reactor, &f->stop);
}

void fetcher_stop(struct fetcher *f)
{
    fetcher_go_on(f);
    reactor_post(f->opts.reactor, &f->stop);
}

struct fetcher *fetcher_new(const struct fetcher_opts *opts)
{
    const struct fetcher_conf *conf = opts->conf;
    struct fetcher *f = xnew(struct fetcher);

    f->opts = *opts;
    f->host = str_dup(opts->host);
    f->client_id = xasprintf("broker-%d-fetcher-%d", conf->broker_id, opts->slot);
    f->step.run = on_step;
    f->stop.run = on_stop;
    f->backoff.fire = on_backoff_over;
    struct peer_opts peer_opts = {
        .host = f->host,
        .port = opts->port,
        .client_id = f->client_id,
        .tls = conf->tls,
        .connect_timeout_us = conf->connect_timeout_ms * 1000,
        .request_timeout_us = (conf->request_timeout_ms + conf->wait_max_ms) * 1000,
    };
    f->peer = peer_new(opts->reactor, &peer_opts);
    return f;
}

int64_t fetcher_lag(const struct fetcher *f)
{
    return atomic_load(&f->lag);
}
