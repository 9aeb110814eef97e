#include "broker/server/features.h"

#include "common/base/say.h"
#include "zk/zk_cluster.h"
#include "zk/zk_paths.h"

#include <errno.h>
#include <stdatomic.h>

/* Finalized features that nobody here knows would be broken silently (controller.md A15). */
static int refuse(const struct node_features *node, struct strbuf *why)
{
    strbuf_addf(why,
                "the cluster has finalized the feature %.*s (/feature in ZooKeeper), which a 3.9 "
                "broker in ZooKeeper mode does not support",
                STR_ARG(node->list[0].name));
    return -EINVAL;
}

static int read_node(struct features *f, struct strbuf *why)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct node_features node = {0};
    int32_t epoch = -1;
    enum zk_result r = zk_features_read(f->zk, &a, &epoch, &node);

    if (r == ZK_CLOSING)
        return 0;
    if (r != ZK_OK && r != ZK_NO_NODE) {
        strbuf_addf(why, "/feature cannot be read from ZooKeeper: %s", zk_result_name(r));
        return -EIO;
    }
    if (r == ZK_OK && node.enabled && node.count > 0)
        return refuse(&node, why);
    atomic_store(&f->epoch, r == ZK_OK && node.enabled ? epoch : -1);
    return 0;
}

/* On a worker. What is asked for while it reads is read again. */
static void on_job(struct job *j)
{
    struct features *f = container_of(j, struct features, job);
    int wanted = atomic_load(&f->wanted);

    do {
        CLEANUP(strbuf_deinit) struct strbuf why = {0};

        if (read_node(f, &why) < 0)
            say_error("features: %s", why.s);
    } while (!atomic_compare_exchange_strong(&f->wanted, &wanted, 0));
}

void features_read_again(struct features *f)
{
    if (atomic_fetch_add(&f->wanted, 1) == 0)
        workq_submit(f->workq, &f->job);
}

/* On ZooKeeper's thread: only passes it on. */
static void on_event(enum zk_event event UNUSED, const char *path UNUSED, void *ctx)
{
    features_read_again(ctx);
}

void features_init(struct features *f, struct zk_store *zk, struct workq *workq)
{
    *f = (struct features){.zk = zk, .workq = workq, .job = {.work = on_job}, .epoch = -1};
}

int features_start(struct features *f, struct strbuf *why)
{
    zk_store_watch_data(f->zk, ZK_PATH_FEATURE, on_event, f);
    return read_node(f, why);
}
