#include "zk/zk_paths.h"

#include "common/base/strbuf.h"
#include "common/base/utf8.h"

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

static bool is_bad_char(uint32_t c)
{
    return c <= 0x1f || (c >= 0x7f && c <= 0x9f) || (c >= 0xd800 && c <= 0xf8ff) || c >= 0xfff0;
}

/* "" and ".", ".." between slashes are none. */
static const char *part_fault(struct str part)
{
    if (part.len == 0)
        return "empty node name specified";
    return str_eqz(part, ".") || str_eqz(part, "..") ? "relative paths not allowed" : NULL;
}

/* The first fault from the left, and where in the name's bytes Java sees it. */
static const char *name_fault(struct str name, size_t *ret_at)
{
    size_t from = 0; /* of the part just now */

    for (size_t at = 0; at <= name.len;) {
        size_t next = at;
        uint32_t c = at < name.len ? utf8_next(name, &next) : '/';
        const char *why = c == '/' ? part_fault((struct str){name.p + from, at - from}) : NULL;

        *ret_at = why && at > from ? at - 1 : at;
        if (why)
            return why;
        *ret_at = at;
        if (c != '/' && is_bad_char(c))
            return c ? "invalid character" : "null character not allowed";
        from = c == '/' ? at + 1 : from;
        at = at < name.len ? next : at + 1;
    }
    return NULL;
}

struct str zk_path_fault(struct arena *a, const char *dir, struct str name)
{
    CLEANUP(strbuf_deinit) struct strbuf sb = {0};
    size_t at;
    const char *why;

    if (name.len == 0 || name.p[name.len - 1] == '/')
        return STR("Path must not end with / character");
    why = name_fault(name, &at);
    if (!why)
        return STR_NULL;
    strbuf_addf(&sb, "Invalid path string \"%s", dir);
    strbuf_add_str(&sb, name);
    strbuf_addf(&sb, "\" caused by %s @%zu", why,
                strlen(dir) + utf8_java_length((struct str){name.p, at}));
    return arena_str(a, strbuf_str(&sb));
}
