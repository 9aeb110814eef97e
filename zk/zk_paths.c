#include "zk/zk_paths.h"

const char *const zk_persistent_paths[] = {
    ZK_PATH_CONSUMERS,         ZK_PATH_BROKER_IDS,        ZK_PATH_TOPICS,
    ZK_PATH_CONFIG_CHANGES,    ZK_PATH_DELETE_TOPICS,     ZK_PATH_BROKER_SEQID,
    ZK_PATH_ISR_CHANGES,       ZK_PATH_PRODUCER_IDS,      ZK_PATH_LOG_DIR_EVENTS,
    ZK_PATH_CONFIG "/topics",  ZK_PATH_CONFIG "/clients", ZK_PATH_CONFIG "/users",
    ZK_PATH_CONFIG "/brokers", ZK_PATH_CONFIG "/ips",
};
const size_t zk_persistent_paths_count = ARRAY_LEN(zk_persistent_paths);

const char *zk_path_broker(struct arena *a, int32_t id)
{
    return arena_printf(a, ZK_PATH_BROKER_IDS "/%d", id).p;
}

const char *zk_path_topic(struct arena *a, struct str topic)
{
    return arena_printf(a, ZK_PATH_TOPICS "/%.*s", STR_ARG(topic)).p;
}

const char *zk_path_partitions(struct arena *a, struct str topic)
{
    return arena_printf(a, ZK_PATH_TOPICS "/%.*s/partitions", STR_ARG(topic)).p;
}

const char *zk_path_partition(struct arena *a, struct str topic, int32_t partition)
{
    return arena_printf(a, ZK_PATH_TOPICS "/%.*s/partitions/%d", STR_ARG(topic), partition).p;
}

const char *zk_path_state(struct arena *a, struct str topic, int32_t partition)
{
    return arena_printf(a, ZK_PATH_TOPICS "/%.*s/partitions/%d/state", STR_ARG(topic), partition).p;
}

const char *zk_path_delete_topic(struct arena *a, struct str topic)
{
    return arena_printf(a, ZK_PATH_DELETE_TOPICS "/%.*s", STR_ARG(topic)).p;
}

const char *zk_path_config(struct arena *a, const char *type, struct str name)
{
    return arena_printf(a, ZK_PATH_CONFIG "/%s/%.*s", type, STR_ARG(name)).p;
}

const char *zk_path_consumer_offsets(struct arena *a, struct str group, struct str topic)
{
    return arena_printf(a, ZK_PATH_CONSUMERS "/%.*s/offsets/%.*s", STR_ARG(group), STR_ARG(topic))
        .p;
}

const char *zk_path_consumer_offset(struct arena *a, struct str group, struct str topic,
                                    int32_t partition)
{
    return arena_printf(a, ZK_PATH_CONSUMERS "/%.*s/offsets/%.*s/%d", STR_ARG(group),
                        STR_ARG(topic), partition)
        .p;
}

const char *zk_path_child(struct arena *a, const char *parent, struct str name)
{
    return arena_printf(a, "%s/%.*s", parent, STR_ARG(name)).p;
}

const char *zk_path_parent(struct arena *a, const char *path)
{
    const char *slash = strrchr(path, '/');

    if (!slash || slash == path)
        return NULL;
    return arena_strz(a, (struct str){path, (size_t)(slash - path)});
}

const char *zk_path_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}
