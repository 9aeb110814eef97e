#include "common/io/lookup.h"

#include "common/base/lock.h"
#include "common/base/mem.h"
#include "common/base/thread.h"

enum { MAX_ADDRS = 8 };

/*
 * Whoever comes last frees it: the thread where the lookup was cancelled before it was posted, else
 * the message. The lock (LOCK_LOOKUP) is held while posting, so that after lookup_cancel() nothing
 * more is sent to a reactor that may go.
 */
struct lookup {
    struct message message;
    struct reactor *reactor;
    struct thread thread;
    struct mutex lock;
    bool is_cancelled;
    bool is_posted;
    char *host;
    int port;
    lookup_fn done;
    void *ctx;
    int r;
    int count;
    struct sock_addr addrs[MAX_ADDRS];
};

static void lookup_free(struct lookup *l)
{
    mutex_deinit(&l->lock);
    free(l->host);
    free(l);
}

static void run(void *arg)
{
    struct lookup *l = arg;
    bool is_mine = false;

    l->r = sock_addr_lookup(l->host, l->port, l->addrs, MAX_ADDRS, &l->count);
    WITH_LOCK(&l->lock)
    {
        is_mine = l->is_cancelled;
        if (!is_mine) {
            l->is_posted = true;
            reactor_post(l->reactor, &l->message);
        }
    }
    if (is_mine)
        lookup_free(l);
}

static void finish(struct message *m)
{
    struct lookup *l = container_of(m, struct lookup, message);

    thread_join(&l->thread);
    if (!l->is_cancelled)
        l->done(l->ctx, l->r, l->addrs, l->count);
    lookup_free(l);
}

int lookup_start(struct reactor *r, const struct lookup_opts *opts, struct lookup **ret)
{
    struct lookup *l = xnew(struct lookup);

    l->message.run = finish;
    l->reactor = r;
    l->host = xstrdup(opts->host);
    l->port = opts->port;
    l->done = opts->done;
    l->ctx = opts->ctx;
    mutex_init(&l->lock, LOCK_LOOKUP);
    int rc = thread_start(&l->thread, "lookup", run, l);
    if (rc < 0) {
        lookup_free(l);
        return rc;
    }
    *ret = l;
    return 0;
}

struct lookup *lookup_cancel(struct lookup *l)
{
    if (!l)
        return NULL;
    /* If the thread is still looking, nobody will wait for it: it frees the lookup at its end. */
    WITH_LOCK(&l->lock)
    {
        l->is_cancelled = true;
        if (!l->is_posted)
            pthread_detach(l->thread.id);
    }
    return NULL;
}
