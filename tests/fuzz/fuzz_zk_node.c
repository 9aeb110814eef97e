/*
 * fuzz_zk_node.c - every znode decoder; the first byte chooses
 *
 * Whatever the bytes, a decoder answers with 0, -EBADMSG and a reason, or -ENODATA; and what it has
 * understood, written and read again, is the same.
 */
#include "zk/node_admin.h"
#include "zk/node_broker.h"
#include "zk/node_cluster.h"
#include "zk/node_config.h"
#include "zk/node_controller.h"
#include "zk/node_state.h"
#include "zk/node_topic.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool slice_eq(struct slice a, struct slice b)
{
    return str_eq(str_of_slice(a), str_of_slice(b));
}

/* Written, read and written again: the same text. */
#define FUZZ(name, type, decode, encode)                                                           \
    static int name(struct slice data, struct arena *a, struct node_why *why)                      \
    {                                                                                              \
        type value, again;                                                                         \
        int r = decode(data, &value);                                                              \
                                                                                                   \
        if (r == 0) {                                                                              \
            struct slice text = encode(a, &value);                                                 \
            r = decode(text, &again);                                                              \
            assert(r == 0 && slice_eq(text, encode(a, &again)));                                   \
        }                                                                                          \
        return r;                                                                                  \
    }

#define DECODE_STATE(data, ret)  node_state_decode(data, a, why, ret)
#define DECODE_BROKER(data, ret) node_broker_decode(data, a, why, ret)
#define DECODE_TOPIC(data, ret)  node_topic_decode(data, a, why, ret)
#define DECODE_CONFIG(data, ret) node_config_decode(data, a, why, ret)
#define DECODE_CHANGE(data, ret) node_config_change_decode(data, a, why, ret)
#define DECODE_REASSIGN(data, r) node_reassign_decode(data, a, why, r)
#define DECODE_NAMES(data, ret)  node_partition_names_decode(data, a, why, ret)
#define DECODE_FEATURE(data, r)  node_features_decode(data, a, why, r)
#define DECODE_BLOCK(data, ret)  node_producer_block_decode(data, why, ret)
#define DECODE_LEADER(data, ret) node_controller_decode(data, why, ret)
#define DECODE_EPOCH(data, ret)  node_epoch_decode(data, why, ret)
#define DECODE_EVENT(data, ret)  node_log_dir_event_decode(data, why, ret)
#define DECODE_ID(data, ret)     node_cluster_id_decode(data, a, why, ret)
#define ENCODE_EPOCH(a, value)   node_epoch_encode(a, *(value))
#define ENCODE_EVENT(a, value)   node_log_dir_event_encode(a, *(value))
#define ENCODE_ID(a, value)      node_cluster_id_encode(a, *(value))

FUZZ(fuzz_state, struct node_state, DECODE_STATE, node_state_encode)
FUZZ(fuzz_broker, struct node_broker, DECODE_BROKER, node_broker_encode)
FUZZ(fuzz_topic, struct node_topic, DECODE_TOPIC, node_topic_encode)
FUZZ(fuzz_config, struct node_config, DECODE_CONFIG, node_config_encode)
FUZZ(fuzz_change, struct node_config_change, DECODE_CHANGE, node_config_change_encode)
FUZZ(fuzz_reassign, struct node_reassign, DECODE_REASSIGN, node_reassign_encode)
FUZZ(fuzz_names, struct node_partition_names, DECODE_NAMES, node_partition_names_encode)
FUZZ(fuzz_features, struct node_features, DECODE_FEATURE, node_features_encode)
FUZZ(fuzz_block, struct node_producer_block, DECODE_BLOCK, node_producer_block_encode)
FUZZ(fuzz_controller, struct node_controller, DECODE_LEADER, node_controller_encode)
FUZZ(fuzz_epoch, int32_t, DECODE_EPOCH, ENCODE_EPOCH)
FUZZ(fuzz_event, int32_t, DECODE_EVENT, ENCODE_EVENT)
FUZZ(fuzz_id, struct str, DECODE_ID, ENCODE_ID)

/* Only read here. */
static int fuzz_migration(struct slice data, struct arena *a UNUSED, struct node_why *why)
{
    struct node_migration m;

    return node_migration_decode(data, why, &m);
}

/* Any name survives being sanitised; any text may fail to be the other way. */
static int fuzz_name(struct slice data, struct arena *a, struct node_why *why UNUSED)
{
    struct str back, name = str_of_slice(data);

    assert(node_desanitize(a, node_sanitize(a, name), &back) == 0 && str_eq(back, name));
    return node_desanitize(a, name, &back) == 0 ? 0 : -ENODATA;
}

static int (*const targets[])(struct slice, struct arena *, struct node_why *) = {
    fuzz_state,    fuzz_broker, fuzz_topic,    fuzz_config, fuzz_change,
    fuzz_reassign, fuzz_names,  fuzz_features, fuzz_block,  fuzz_controller,
    fuzz_epoch,    fuzz_event,  fuzz_id,       fuzz_name,   fuzz_migration,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct node_why why = {""};

    if (size == 0)
        return 0;
    /* 'a' and up, so that a corpus file can be read. */
    int r = targets[(size_t)(data[0] - 'a') % ARRAY_LEN(targets)](slice_of(data + 1, size - 1), &a,
                                                                  &why);

    assert(r == 0 || r == -ENODATA || (r == -EBADMSG && why.text[0]));
    return 0;
}
