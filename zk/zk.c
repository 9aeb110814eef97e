#include "zk/zk.h"

#include "zk/zk_private.h"

enum {
    TICK_US = 1000000,
    BACKOFF_US = 1000000,
    SAY_WAITING_EVERY_US = 10 * 1000000,
    /* The library re-arms all watches in one message; servers refuse more than jute.maxbuffer, 1 MB
     * by default. */
    MAX_REARM_BYTES = 900000,
    SHORT_LIFE_US = 2000000,
    MAX_SHORT_LIVES = 3,
    DRAIN_US = 2000000,
};

static const char *const state_names[] = {
    [ZK_STATE_CONNECTING] = "connecting",
    [ZK_STATE_CONNECTED] = "connected",
    [ZK_STATE_EXPIRED] = "expired",
    [ZK_STATE_STOPPED] = "stopped",
};

const char *zk_state_name(enum zk_state state)
{
    assert((size_t)state < ARRAY_LEN(state_names));
    return state_names[state];
}

void zk_set_state(struct zk *zk, enum zk_state state)
{
    if (zk->state != state) {
        zk->state = state;
        zk->since_ms = clock_wall_ms(&clock_system);
        zk->since_us = clock_mono_us(&clock_system);
    }
    cond_broadcast(&zk->changed);
}

/* Connections that are dropped as soon as the watches are sent again mean that there are too many
 * of these for the server: such a session can never be used again. */
static bool is_beyond_rearming(struct zk *zk) REQUIRES(zk->lock)
{
    bool short_life = clock_mono_us(&clock_system) - zk->since_us < SHORT_LIFE_US;

    zk->short_lives = short_life ? zk->short_lives + 1 : 0;
    return zk->short_lives >= MAX_SHORT_LIVES && zk_watches_bytes(&zk->watches) > MAX_REARM_BYTES;
}

static void on_connected(struct zk *zk, zhandle_t *zh, bool is_read_only) REQUIRES(zk->lock)
{
    zk->is_read_only = is_read_only;
    zk->session_id = zoo_client_id(zh)->client_id;
    zk->negotiated_timeout_ms = zoo_recv_timeout(zh);
    zk->handle->was_connected = true;
    zk->auth_failed = false;
    thread_set_name("zk-events"); /* the library's own thread */
    zk_set_state(zk, ZK_STATE_CONNECTED);
}

/* True: the session has been given up. */
static bool on_disconnected(struct zk *zk) REQUIRES(zk->lock)
{
    if (zk->state != ZK_STATE_CONNECTED)
        return false;
    zk->disconnects++;
    if (!is_beyond_rearming(zk)) {
        zk_set_state(zk, ZK_STATE_CONNECTING);
        return false;
    }
    zk->short_lives = 0;
    zk->session_id = 0;
    zk_set_state(zk, ZK_STATE_EXPIRED);
    return true;
}

static void on_expired(struct zk *zk, bool auth_failed) REQUIRES(zk->lock)
{
    zk->auth_failed = auth_failed;
    zk->session_id = 0;
    zk_set_state(zk, ZK_STATE_EXPIRED);
}

static void on_session_event(struct zk_handle *h, zhandle_t *zh, int state)
{
    struct zk *zk = h->zk;
    struct zk_runs done = {0};
    bool given_up = false;

    WITH_LOCK(&zk->lock)
    {
        if (zk->handle == h && !zk->stopping) {
            if (state == ZOO_CONNECTED_STATE || state == ZOO_READONLY_STATE)
                on_connected(zk, zh, state == ZOO_READONLY_STATE);
            else if (state == ZOO_EXPIRED_SESSION_STATE || state == ZOO_AUTH_FAILED_STATE)
                on_expired(zk, state == ZOO_AUTH_FAILED_STATE);
            else
                given_up = on_disconnected(zk);
            if (zk->state == ZK_STATE_EXPIRED)
                zk_send_fail_all(zk, zk->auth_failed ? ZK_AUTH_FAILED : ZK_SESSION_EXPIRED, &done);
            zk_send_pump(zk, &done);
        }
    }
    zk_runs_done(&done);
    if (given_up)
        say_warn("the server drops the connection whenever %zu bytes of watches are re-armed: "
                 "giving the session up for a new one; a larger jute.maxbuffer at the servers "
                 "avoids this",
                 zk_watches_bytes(&zk->watches));
}

static void on_node_event(struct zk_handle *h, int type, const char *path)
{
    struct zk *zk = h->zk;
    bool ours;

    WITH_LOCK(&zk->lock)
    ours = zk->handle == h && !zk->stopping;
    if (!ours)
        return;
    if (type == ZOO_CREATED_EVENT)
        zk_watches_fire(&zk->watches, ZK_EVENT_CREATED, path);
    else if (type == ZOO_CHANGED_EVENT)
        zk_watches_fire(&zk->watches, ZK_EVENT_CHANGED, path);
    else if (type == ZOO_DELETED_EVENT)
        zk_watches_fire(&zk->watches, ZK_EVENT_DELETED, path);
    else if (type == ZOO_CHILD_EVENT)
        zk_watches_fire(&zk->watches, ZK_EVENT_CHILDREN, path);
}

void zk_on_event(zhandle_t *zh, int type, int state, const char *path, void *ctx)
{
    struct zk_handle *h = ctx;

    zk_enter_callback();
    if (type == ZOO_SESSION_EVENT)
        on_session_event(h, zh, state);
    else
        on_node_event(h, type, path);
    zk_leave_callback();
}

/* Waits for a change, at most until then; false when stopping. */
static bool wait_until(struct zk *zk, int64_t deadline_us) REQUIRES(zk->lock)
{
    while (!zk->stopping && cond_wait_until(&zk->changed, &zk->lock, deadline_us))
        ;
    return !zk->stopping;
}

static bool back_off(struct zk *zk)
{
    LOCK_SCOPE(&zk->lock);
    return wait_until(zk, clock_mono_us(&clock_system) + BACKOFF_US);
}

static void set_trouble(struct zk *zk, const char *text)
{
    LOCK_SCOPE(&zk->lock);
    snprintf(zk->trouble, sizeof zk->trouble, "%s", text);
}

/* Fresh addresses for the library, whose next attempt takes one of them. Only while there is no
 * connection. */
static void refresh_addresses(struct zk *zk)
{
    CLEANUP(strbuf_deinit) struct strbuf addresses = {0};
    CLEANUP(strbuf_deinit) struct strbuf why = {0};

    if (zk_resolve(zk->servers, &addresses, &why) < 0) {
        set_trouble(zk, why.s);
        return;
    }
    set_trouble(zk, "no server answers");
    LOCK_SCOPE(&zk->lock);
    if (zk->state == ZK_STATE_CONNECTING && zk->handle && zk->handle->zh)
        zoo_set_servers(zk->handle->zh, addresses.s);
}

static void say_waiting(struct zk *zk, int64_t begun_us, int64_t *said_us)
{
    int64_t now = clock_mono_us(&clock_system);

    if (now - MAX(*said_us, begun_us) < SAY_WAITING_EVERY_US)
        return;
    *said_us = now;
    char trouble[sizeof zk->trouble];
    WITH_LOCK(&zk->lock)
    memcpy(trouble, zk->trouble, sizeof trouble);
    say_warn("no connection to ZooKeeper for %" PRId64 " s (%s); trying %s for ever, and going on "
             "as soon as one of them answers",
             (now - begun_us) / 1000000, trouble, zk->servers);
}

/* One turn of waiting without a connection. */
static void tick_disconnected(struct zk *zk, int64_t begun_us, int64_t *said_us)
{
    int64_t deadline = clock_mono_us(&clock_system) + TICK_US;
    bool still;

    WITH_LOCK(&zk->lock)
    {
        while (zk->state == ZK_STATE_CONNECTING && !zk->stopping &&
               cond_wait_until(&zk->changed, &zk->lock, deadline))
            ;
        still = zk->state == ZK_STATE_CONNECTING && !zk->stopping;
    }
    if (!still)
        return;
    refresh_addresses(zk);
    say_waiting(zk, begun_us, said_us);
}

static struct zk_handle *take_handle(struct zk *zk)
{
    LOCK_SCOPE(&zk->lock);
    return TAKE(zk->handle);
}

/* Ends the session. The library forgets what it has not called back when its threads end, so
 * that is answered here. */
static void close_handle(struct zk *zk)
{
    zk_handle_close(take_handle(zk));
    zk_send_abandon(zk);
}

/* A new handle with the addresses of now. False: it could not be made. */
static bool open_handle(struct zk *zk)
{
    CLEANUP(strbuf_deinit) struct strbuf addresses = {0};
    CLEANUP(strbuf_deinit) struct strbuf why = {0};

    if (zk_resolve(zk->servers, &addresses, &why) < 0) {
        set_trouble(zk, why.s);
        return false;
    }
    set_trouble(zk, "no server answers");
    struct zk_handle *h = xnew(struct zk_handle);

    /* Set first: the handle's events may come before zk_handle_open() returns. */
    h->zk = zk;
    WITH_LOCK(&zk->lock)
    {
        zk->handle = h;
        if (!zk->stopping)
            zk_set_state(zk, ZK_STATE_CONNECTING);
    }
    int r = zk_handle_open(h, addresses.s);

    if (r < 0) {
        set_trouble(zk, strerror(-r));
        close_handle(zk);
        return false;
    }
    struct zk_runs done = {0};
    WITH_LOCK(&zk->lock)
    zk_send_pump(zk, &done);
    zk_runs_done(&done);
    return true;
}

static enum zk_state state_now(struct zk *zk)
{
    LOCK_SCOPE(&zk->lock);
    return zk->stopping ? ZK_STATE_STOPPED : zk->state;
}

/* Makes a session, for ever. False: stopping. */
static bool make_session(struct zk *zk)
{
    int64_t begun = clock_mono_us(&clock_system), said = 0;

    for (;;) {
        bool opened = open_handle(zk);

        while (opened && state_now(zk) == ZK_STATE_CONNECTING)
            tick_disconnected(zk, begun, &said);
        if (state_now(zk) == ZK_STATE_CONNECTED)
            return true;
        if (state_now(zk) == ZK_STATE_STOPPED)
            return false;
        if (opened) {
            say_warn("ZooKeeper refused a session: authentication failed; trying again");
            close_handle(zk);
        }
        say_waiting(zk, begun, &said);
        if (!back_off(zk))
            return false;
    }
}

static void say_connected(struct zk *zk, const char *what)
{
    int64_t id;
    int32_t timeout;

    WITH_LOCK(&zk->lock)
    {
        id = zk->session_id;
        timeout = zk->negotiated_timeout_ms;
    }
    say_info("%s ZooKeeper servers=%s session=0x%" PRIx64 " timeout=%d ms", what, zk->servers,
             (uint64_t)id, timeout);
}

/* The session has ended: everybody is told, and a new one is made. False: stopping. */
static bool renew(struct zk *zk)
{
    const struct zk_listeners *all = &zk->listeners;
    int64_t id;

    say_warn("the ZooKeeper session has expired: this broker has left the cluster; making a new "
             "session and registering again");
    WITH_LOCK(&zk->lock)
    zk->expirations++;
    for (size_t i = 0; i < all->count; i++) {
        if (all->list[i].before_new_session)
            all->list[i].before_new_session(all->list[i].ctx);
    }
    close_handle(zk);
    if (!make_session(zk))
        return false;
    say_connected(zk, "new session with");
    WITH_LOCK(&zk->lock)
    id = zk->session_id;
    for (size_t i = 0; i < all->count; i++) {
        if (all->list[i].after_new_session)
            all->list[i].after_new_session(all->list[i].ctx, id);
    }
    return true;
}

static void tell_connection(struct zk *zk, bool connected)
{
    const struct zk_listeners *all = &zk->listeners;

    if (connected)
        say_connected(zk, "reconnected to");
    else
        say_warn("the connection to ZooKeeper is lost: requests wait, the session lives on for up "
                 "to %d ms, and is kept if a server of %s answers before",
                 zk->negotiated_timeout_ms, zk->servers);
    for (size_t i = 0; i < all->count; i++) {
        void (*fn)(void *) = connected ? all->list[i].connected : all->list[i].disconnected;

        if (fn)
            fn(all->list[i].ctx);
    }
}

/* Until the state is another than connected, or stopping. */
static void wait_while_connected(struct zk *zk)
{
    LOCK_SCOPE(&zk->lock);
    while (zk->state == ZK_STATE_CONNECTED && !zk->stopping)
        cond_wait(&zk->changed, &zk->lock);
}

static void session_main(void *arg)
{
    struct zk *zk = arg;
    bool told = true;

    if (!make_session(zk))
        return;
    say_connected(zk, "connected to");
    for (int64_t begun = 0, said = 0;;) {
        enum zk_state state = state_now(zk);

        if (state == ZK_STATE_STOPPED)
            return;
        if (state == ZK_STATE_EXPIRED) {
            if (!renew(zk))
                return;
            told = true;
            continue;
        }
        if (told != (state == ZK_STATE_CONNECTED)) {
            told = !told;
            begun = clock_mono_us(&clock_system);
            tell_connection(zk, told);
        }
        if (state == ZK_STATE_CONNECTED)
            wait_while_connected(zk);
        else
            tick_disconnected(zk, begun, &said);
    }
}

static int64_t get_session_id(struct zk_store *s)
{
    struct zk *zk = container_of(s, struct zk, store);

    LOCK_SCOPE(&zk->lock);
    return zk->session_id;
}

static void add_watch(struct zk_store *s, enum zk_watch_kind kind, const char *path, zk_watch_fn fn,
                      void *ctx)
{
    zk_watches_add(&container_of(s, struct zk, store)->watches, kind, path, fn, ctx);
}

static void remove_watch(struct zk_store *s, enum zk_watch_kind kind, const char *path)
{
    zk_watches_remove(&container_of(s, struct zk, store)->watches, kind, path);
}

static bool pause_ms(struct zk_store *s, int64_t ms)
{
    struct zk *zk = container_of(s, struct zk, store);

    LOCK_SCOPE(&zk->lock);
    return wait_until(zk, clock_mono_us(&clock_system) + ms * 1000);
}

static const struct zk_store_ops real_ops = {
    .submit = zk_send_submit,
    .run = zk_send_run,
    .session_id = get_session_id,
    .watch = add_watch,
    .unwatch = remove_watch,
    .pause_ms = pause_ms,
};

static const char *dup_or_null(const char *s)
{
    return s ? xstrdup(s) : NULL;
}

static void conf_copy(struct zk *zk, const struct zk_conf *conf)
{
    struct zk_conf *c = &zk->conf;
    const char *slash = strchr(conf->connect, '/');

    *c = *conf;
    c->connect = xstrdup(conf->connect);
    c->digest_auth = dup_or_null(conf->digest_auth);
    c->sasl_user = dup_or_null(conf->sasl_user);
    c->sasl_password_file = dup_or_null(conf->sasl_password_file);
    c->ssl_truststore = dup_or_null(conf->ssl_truststore);
    c->ssl_keystore = dup_or_null(conf->ssl_keystore);
    c->ssl_key_password = dup_or_null(conf->ssl_key_password);
    if (!c->connection_timeout_ms)
        c->connection_timeout_ms = c->session_timeout_ms;
    zk->servers =
        slash ? xstrndup(conf->connect, (size_t)(slash - conf->connect)) : xstrdup(conf->connect);
    zk->chroot = slash && slash[1] ? xstrdup(slash) : NULL;
}

static void conf_free(struct zk_conf *c)
{
    free((void *)c->connect);
    free((void *)c->digest_auth);
    free((void *)c->sasl_user);
    free((void *)c->sasl_password_file);
    free((void *)c->ssl_truststore);
    free((void *)c->ssl_keystore);
    free((void *)c->ssl_key_password);
}

struct zk *zk_new(const struct zk_conf *conf)
{
    struct zk *zk = xnew(struct zk);

    zk->store = (struct zk_store){&real_ops, conf->clock ? conf->clock : &clock_system};
    conf_copy(zk, conf);
    zk_watches_init(&zk->watches);
    mutex_init(&zk->lock, LOCK_ZK);
    cond_init(&zk->changed);
    zk->since_ms = clock_wall_ms(&clock_system);
    zk->since_us = clock_mono_us(&clock_system);
    return zk;
}

struct zk *zk_free(struct zk *zk)
{
    if (!zk)
        return NULL;
    zk_stop(zk);
    assert(zk->in_flight == 0 && !zk->queue.head);
    zk_watches_deinit(&zk->watches);
    cond_deinit(&zk->changed);
    mutex_deinit(&zk->lock);
    conf_free(&zk->conf);
    free(zk->servers);
    free(zk->chroot);
    free(zk->listeners.list);
    free(zk);
    return NULL;
}

void zk_add_listener(struct zk *zk, const struct zk_listener *l)
{
    struct zk_listeners *all = &zk->listeners;

    assert(!zk->started);
    xgrow(all->list, all->cap, all->count + 1);
    all->list[all->count++] = *l;
}

struct zk_store *zk_as_store(struct zk *zk)
{
    return &zk->store;
}

/* 0, or why there is no connection yet. */
static int wait_for_first(struct zk *zk, struct strbuf *ret_why)
{
    int64_t deadline =
        clock_mono_us(&clock_system) + zk->conf.connection_timeout_ms * (int64_t)1000;

    LOCK_SCOPE(&zk->lock);
    while (zk->state != ZK_STATE_CONNECTED && !zk->auth_failed &&
           cond_wait_until(&zk->changed, &zk->lock, deadline))
        ;
    if (zk->state == ZK_STATE_CONNECTED)
        return 0;
    if (zk->auth_failed) {
        strbuf_addf(ret_why,
                    "ZooKeeper at %s refuses our authentication: see "
                    "zookeeper.digest.auth and the servers' log",
                    zk->servers);
        return -EACCES;
    }
    strbuf_addf(ret_why,
                "no connection to ZooKeeper within %d ms (zookeeper.connection.timeout.ms): "
                "zookeeper.connect=%s: %s",
                zk->conf.connection_timeout_ms, zk->conf.connect, zk->trouble);
    return -ETIMEDOUT;
}

static int start_session(struct zk *zk, struct strbuf *ret_why)
{
    int r = thread_start(&zk->thread, "zk-session", session_main, zk);

    zk->started = r == 0;
    if (r == 0)
        r = wait_for_first(zk, ret_why);
    else
        strbuf_addf(ret_why, "no thread for the ZooKeeper session: %s", strerror(-r));
    if (r < 0)
        zk_stop(zk);
    return r;
}

/* By a session of its own, at the root: below a chroot that does not exist nothing can be made. */
static int make_chroot(struct zk *zk, struct strbuf *ret_why)
{
    struct zk_conf at_root = zk->conf;

    at_root.connect = zk->servers;
    struct zk *root = zk_new(&at_root);
    int r = start_session(root, ret_why);

    if (r == 0) {
        const char *path = zk->chroot;
        enum zk_result made = zk_store_ensure_paths(&root->store, &path, 1);

        if (made != ZK_OK) {
            strbuf_addf(ret_why, "the chroot %s of zookeeper.connect cannot be made: %s",
                        zk->chroot, zk_result_name(made));
            r = zk_result_err(made) < 0 ? zk_result_err(made) : -EIO;
        }
    }
    zk_free(root);
    return r;
}

int zk_start(struct zk *zk, struct strbuf *ret_why)
{
    int r = zk_conf_check(&zk->conf, ret_why);

    if (r == 0 && zk->chroot && !zk->conf.finds_chroot && !zk->conf.only_reads)
        r = make_chroot(zk, ret_why);
    return r == 0 ? start_session(zk, ret_why) : r;
}

void zk_stop(struct zk *zk)
{
    struct zk_runs done = {0};

    WITH_LOCK(&zk->lock)
    {
        zk->stopping = true;
        zk->session_id = 0;
        zk_set_state(zk, ZK_STATE_STOPPED);
        zk_send_fail_all(zk, ZK_CLOSING, &done);
    }
    zk_runs_done(&done);
    thread_join(&zk->thread);
    /* Answers that come while a handle is being closed are lost: see close_handle(). */
    zk_send_drain(zk, clock_mono_us(&clock_system) + DRAIN_US);
    close_handle(zk);
}

void zk_status(struct zk *zk, struct zk_status *ret)
{
    LOCK_SCOPE(&zk->lock);
    size_t queued = 0;

    for (const struct zk_run *run = zk->queue.head; run; run = run->next_run)
        queued += run->left;
    for (const struct zk_req *req = zk->retry; req; req = req->next)
        queued++;
    *ret = (struct zk_status){
        .state = zk->state,
        .is_read_only = zk->is_read_only,
        .session_id = zk->session_id,
        .negotiated_timeout_ms = zk->negotiated_timeout_ms,
        .since_ms = zk->since_ms,
        .expirations = zk->expirations,
        .disconnects = zk->disconnects,
        .queued = queued,
        .in_flight = zk->in_flight,
    };
}
