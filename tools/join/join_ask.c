/*
 * join_ask.c - what running brokers say of themselves: their dialect, who guards them, and whose
 * transactions they keep
 */
#include "common/base/err.h"
#include "tools/join/join.h"

enum { RESOURCE_BROKER = 4 };

static struct str keys[] = {
    {"inter.broker.protocol.version", 29},
    {"authorizer.class.name", 21},
    {"zookeeper.metadata.migration.enable", 35},
};

static void take_setting(struct join_live *l, struct str name, struct str value)
{
    if (str_eq(name, keys[0]))
        l->ibp = value;
    else if (str_eq(name, keys[1]))
        l->authorizer = value;
    else if (str_eq(name, keys[2]))
        l->migrates = value;
}

static void ask_settings(struct why_asker *ask, struct join_live *l)
{
    struct describe_configs_request_resource one = {.resource_type = RESOURCE_BROKER,
                                                    .resource_name =
                                                        arena_printf(ask->arena, "%d", l->id),
                                                    .configuration_keys = keys,
                                                    .configuration_keys_count = ARRAY_LEN(keys)};
    struct describe_configs_request q;
    const struct cluster_call call = {"DescribeConfigs", l->id, API_DESCRIBE_CONFIGS, 4, &q};

    msg_init(&describe_configs_request_desc, &q);
    q.resources = &one;
    q.resources_count = 1;
    const struct describe_configs_response *r = why_call(ask, &call);
    if (!r || r->results_count != 1)
        return;
    if (r->results[0].error_code)
        why_unasked(ask->f, "settings of broker %d: %s", l->id, err_name(r->results[0].error_code));
    for (int32_t i = 0; i < r->results[0].configs_count; i++)
        take_setting(l, r->results[0].configs[i].name, r->results[0].configs[i].value);
}

static bool has_transactions(const struct why_facts *f)
{
    return why_find_topic(f, STR("__transaction_state")) != NULL;
}

static void ask_transactions(struct why_asker *ask, struct join_live *l)
{
    struct list_transactions_request q;
    const struct cluster_call call = {"ListTransactions", l->id, API_LIST_TRANSACTIONS, 0, &q};

    msg_init(&list_transactions_request_desc, &q);
    const struct list_transactions_response *r = why_call(ask, &call);
    const struct why_broker *b = why_find_broker(ask->f, l->id);
    /* Who answers and does not serve the request is Klamm, and keeps none. */
    if (!r && b && b->answers == WHY_YES)
        l->transactional_ids = 0;
    if (!r)
        return;
    if (r->error_code)
        why_unasked(ask->f, "transactions of broker %d: %s", l->id, err_name(r->error_code));
    else
        l->transactional_ids = r->transaction_states_count;
}

void join_ask_live(struct join_facts *f, struct why_asker *ask)
{
    const struct why_facts *known = ask->f;

    f->live = arena_new_array(f->arena, struct join_live, (size_t)known->brokers_count + 1);
    for (int32_t i = 0; i < known->brokers_count; i++) {
        if (!known->brokers[i].is_listed)
            continue;
        struct join_live *l = &f->live[f->live_count++];
        *l = (struct join_live){.id = known->brokers[i].id, .transactional_ids = -1};
        ask_settings(ask, l);
        if (has_transactions(known))
            ask_transactions(ask, l);
    }
}
