#include "controller/channels.h"

#include "common/base/mem.h"
#include "common/wire/messages.h"

struct control_message *control_message_new(int16_t api_key, int16_t version)
{
    struct control_message *m = xnew(struct control_message);

    atomic_init(&m->refs, 1);
    m->api_key = api_key;
    m->version = version;
    return m;
}

struct control_message *control_message_ref(struct control_message *m)
{
    atomic_fetch_add_explicit(&m->refs, 1, memory_order_relaxed);
    return m;
}

struct control_message *control_message_unref(struct control_message *m)
{
    if (m && atomic_fetch_sub_explicit(&m->refs, 1, memory_order_acq_rel) == 1) {
        arena_deinit(&m->arena);
        free(m);
    }
    return NULL;
}

size_t control_message_body_size(int16_t api_key)
{
    switch (api_key) {
    case API_LEADER_AND_ISR:
        return sizeof(struct leader_and_isr_request);
    case API_UPDATE_METADATA:
        return sizeof(struct update_metadata_request);
    default:
        assert(api_key == API_STOP_REPLICA);
        return sizeof(struct stop_replica_request);
    }
}

void control_message_set_broker_epoch(int16_t api_key, void *msg, int64_t broker_epoch)
{
    switch (api_key) {
    case API_LEADER_AND_ISR:
        ((struct leader_and_isr_request *)msg)->broker_epoch = broker_epoch;
        break;
    case API_UPDATE_METADATA:
        ((struct update_metadata_request *)msg)->broker_epoch = broker_epoch;
        break;
    default:
        assert(api_key == API_STOP_REPLICA);
        ((struct stop_replica_request *)msg)->broker_epoch = broker_epoch;
        break;
    }
}

void control_answer_free(struct control_answer *a)
{
    if (!a)
        return;
    control_message_unref(a->message);
    arena_deinit(&a->arena);
    free(a);
}
