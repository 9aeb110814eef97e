#include "broker/server/identity.h"

#include "common/base/mem.h"
#include "common/base/say.h"
#include "zk/zk_brokers.h"
#include "zk/zk_cluster.h"

#include <errno.h>

static int settle_cluster(struct zk_store *zk, const char *stored, char **ret, struct strbuf *why)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct str id;
    enum zk_result r = zk_cluster_id_get(zk, &a, &id);

    if (r != ZK_OK) {
        strbuf_addf(why, "the cluster id cannot be read from ZooKeeper (/cluster/id): %s",
                    zk_result_name(r));
        return -EIO;
    }
    if (stored && !str_eqz(id, stored)) {
        strbuf_addf(why,
                    "cluster id %.*s of ZooKeeper (/cluster/id) differs from %s in meta.properties "
                    "of the log dirs: these logs "
                    "belong to another cluster. Either zookeeper.connect (its chroot too) points "
                    "to the wrong ensemble, or log.dirs to "
                    "the wrong disks; correct the one that is wrong. Do not delete "
                    "meta.properties: the logs would then be served as "
                    "this cluster's",
                    STR_ARG(id), stored);
        return -EINVAL;
    }
    *ret = str_dup(id);
    return 0;
}

static int settle_broker(const struct broker_conf *conf, struct zk_store *zk, int32_t stored,
                         int32_t *ret, struct strbuf *why)
{
    if (conf->broker_id >= 0 && stored >= 0 && conf->broker_id != stored) {
        strbuf_addf(why,
                    "broker.id=%d of the configuration differs from broker.id=%d in "
                    "meta.properties of the log dirs: set broker.id=%d, "
                    "or point log.dirs to the dirs of broker %d",
                    conf->broker_id, stored, stored, conf->broker_id);
        return -EINVAL;
    }
    if (conf->broker_id >= 0 || stored >= 0) {
        *ret = conf->broker_id >= 0 ? conf->broker_id : stored;
        return 0;
    }
    enum zk_result r = zk_broker_id_generate(zk, conf->reserved_broker_max_id, ret);
    if (r == ZK_OK) {
        say_info("broker id made by ZooKeeper broker=%d", *ret);
        return 0;
    }
    strbuf_addf(why, "no broker id can be made in ZooKeeper (/brokers/seqid): %s",
                zk_result_name(r));
    return -EIO;
}

int identity_settle(const struct broker_conf *conf, struct zk_store *zk, struct log_manager *logs,
                    struct identity *ret, struct strbuf *why)
{
    CLEANUP(free_p) char *stored_cluster = NULL;
    CLEANUP(free_p) char *conflict = NULL;
    int32_t stored_broker = -1;
    struct identity id = {0};
    int r = log_manager_identity(logs, &stored_broker, &stored_cluster, &conflict);

    if (r < 0) {
        strbuf_addz(why, conflict ? conflict : strerror(-r));
        return r;
    }
    r = settle_cluster(zk, stored_cluster, &id.cluster_id, why);
    if (r == 0)
        r = settle_broker(conf, zk, stored_broker, &id.broker_id, why);
    if (r == 0) {
        r = log_manager_set_identity(logs, id.broker_id, id.cluster_id);
        if (r < 0)
            strbuf_addf(why, "meta.properties cannot be written to any log dir: %s", strerror(-r));
    }
    if (r == 0)
        *ret = id;
    else
        free(id.cluster_id);
    return r;
}
