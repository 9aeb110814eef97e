#include "zk/node_state.h"

#include "common/base/strbuf.h"
#include "zk/node_json.h"

static int recovery_state(const json_t *root, struct node_why *why, int8_t *ret)
{
    int32_t state = NODE_RECOVERED;

    if (json_object_get(root, "leader_recovery_state")) {
        int r = node_i32(root, "leader_recovery_state", why, &state);

        if (r < 0)
            return r;
    }
    if (state != NODE_RECOVERED && state != NODE_RECOVERING)
        return node_wrong(why, "\"leader_recovery_state\" is %d, neither 0 nor 1", state);
    *ret = (int8_t)state;
    return 0;
}

int node_state_decode(struct slice data, struct arena *a, struct node_why *why,
                      struct node_state *ret)
{
    CLEANUP(json_decref_p) json_t *root = NULL;
    struct node_state st = {0};
    json_t *isr;
    int r = node_parse(data, why, &root);

    if (r < 0)
        return -EBADMSG;
    if ((r = node_i32(root, "leader", why, &st.leader)) < 0 ||
        (r = node_i32(root, "leader_epoch", why, &st.leader_epoch)) < 0 ||
        (r = node_i32(root, "controller_epoch", why, &st.controller_epoch)) < 0 ||
        (r = node_array(root, "isr", why, &isr)) < 0 ||
        (r = node_ids_decode(isr, "isr", a, why, &st.isr)) < 0 ||
        (r = recovery_state(root, why, &st.leader_recovery_state)) < 0)
        return r;
    *ret = st;
    return 0;
}

struct slice node_state_encode(struct arena *a, const struct node_state *st)
{
    CLEANUP(strbuf_deinit) struct strbuf sb = {0};

    strbuf_addf(
        &sb, "{\"version\":1,\"leader\":%d,\"leader_epoch\":%d,\"controller_epoch\":%d,\"isr\":[",
        st->leader, st->leader_epoch, st->controller_epoch);
    for (int32_t i = 0; i < st->isr.count; i++)
        strbuf_addf(&sb, i ? ",%d" : "%d", st->isr.list[i]);
    strbuf_add_char(&sb, ']');
    if (st->leader_recovery_state != NODE_RECOVERED)
        strbuf_addf(&sb, ",\"leader_recovery_state\":%d", st->leader_recovery_state);
    strbuf_add_char(&sb, '}');
    return slice_of_str(arena_str(a, strbuf_str(&sb)));
}

bool node_state_eq(const struct node_state *a, const struct node_state *b)
{
    return a->leader == b->leader && a->leader_epoch == b->leader_epoch &&
           a->controller_epoch == b->controller_epoch &&
           a->leader_recovery_state == b->leader_recovery_state && node_ids_eq(&a->isr, &b->isr);
}
