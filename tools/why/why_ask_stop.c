/*
 * why_ask_stop.c - the two looks of can-stop at a cluster
 */
#include "tools/why/why_stop.h"

static struct why_asker begin_look(const struct stop_asker *s, struct why_facts *f)
{
    *f = (struct why_facts){.arena = s->arena,
                            .now_ms = clock_wall_ms(&clock_system),
                            .bootstrap = str_of(s->bootstrap),
                            .controller = -1,
                            .asked_broker = -1,
                            .zk = {.controller = -1}};
    return (struct why_asker){.f = f, .cluster = s->cluster, .arena = s->arena};
}

void stop_ask(const struct stop_asker *s, struct why_facts *first, struct why_facts *second,
              struct why_texts *ret_hidden)
{
    struct why_asker ask = begin_look(s, first), again = begin_look(s, second);

    if (!why_ask_metadata(&ask))
        return;
    why_ask_brokers(&ask);
    why_ask_topic_configs(&ask);
    why_ask_moves(&ask);
    why_ask_rates(&ask);
    why_ask_replicas(&ask);
    const struct why_broker *b = why_find_broker(first, s->broker);
    if (b && b->is_listed)
        why_ask_hidden(&ask, s->broker, ret_hidden);
    (void)why_ask_metadata(&again);
}
