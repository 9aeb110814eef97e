#include "zk/node_controller.h"

#include "zk/node_json.h"

#include <inttypes.h>

/* Readers need brokerid only; a timestamp of another form is nobody's trouble. */
int node_controller_decode(struct slice data, struct node_why *why, struct node_controller *ret)
{
    CLEANUP(json_decref_p) json_t *root = NULL;
    struct node_controller c = {.kraft_epoch = -1};
    int r = node_parse(data, why, &root);

    if (r < 0)
        return -EBADMSG;
    if ((r = node_i32(root, "brokerid", why, &c.broker_id)) < 0)
        return r;
    if (node_i64_text(root, "timestamp", NULL, &c.timestamp_ms) < 0)
        c.timestamp_ms = 0;
    if (json_object_get(root, "kraftControllerEpoch") &&
        (r = node_i32(root, "kraftControllerEpoch", why, &c.kraft_epoch)) < 0)
        return r;
    *ret = c;
    return 0;
}

struct slice node_controller_encode(struct arena *a, const struct node_controller *c)
{
    return slice_of_str(arena_printf(a,
                                     "{\"version\":2,\"brokerid\":%d,\"timestamp\":\"%" PRId64
                                     "\",\"kraftControllerEpoch\":%d}",
                                     c->broker_id, c->timestamp_ms, c->kraft_epoch));
}

int node_epoch_decode(struct slice data, struct node_why *why, int32_t *ret)
{
    struct str text = str_of_slice(data);

    if (!data.p || str_to_i32(text, INT32_MIN, INT32_MAX, ret) < 0)
        return node_wrong(why, "no decimal number: \"%.*s\"", (int)MIN(text.len, (size_t)40),
                          text.p ? text.p : "");
    return 0;
}

struct slice node_epoch_encode(struct arena *a, int32_t epoch)
{
    return slice_of_str(arena_printf(a, "%d", epoch));
}
