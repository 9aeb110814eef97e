/*
 * why_ask_configs.c - settings that explain: of topics in batches, of brokers one by one
 */
#include "common/base/err.h"
#include "tools/why/why.h"

enum { RESOURCE_TOPIC = 2, RESOURCE_BROKER = 4, BATCH = 500 };

static struct str topic_keys[] = {
    {"min.insync.replicas", 19},
    {"unclean.leader.election.enable", 30},
    {"leader.replication.throttled.replicas", 37},
    {"follower.replication.throttled.replicas", 39},
};

static struct str rate_keys[] = {
    {"leader.replication.throttled.rate", 33},
    {"follower.replication.throttled.rate", 35},
};

static struct str delete_keys[] = {{"delete.topic.enable", 19}};

static enum why_known known(struct str value)
{
    if (str_eqz(value, "true"))
        return WHY_YES;
    return str_eqz(value, "false") ? WHY_NO : WHY_UNKNOWN;
}

static void take_topic_value(struct arena *a, struct why_topic *t, struct str key, struct str value)
{
    if (str_eq(key, topic_keys[0]) && str_to_i32(value, 0, INT32_MAX, &t->min_isr) < 0)
        t->min_isr = -1;
    else if (str_eq(key, topic_keys[1]))
        t->unclean = known(value);
    else if (str_eq(key, topic_keys[2]))
        t->leader_throttle = why_throttle_parse(a, value);
    else if (str_eq(key, topic_keys[3]))
        t->follower_throttle = why_throttle_parse(a, value);
}

static const struct describe_configs_response *
ask_configs(struct why_asker *ask, int32_t to, struct describe_configs_request_resource *v,
            int32_t count)
{
    struct describe_configs_request q;
    const struct cluster_call call = {"DescribeConfigs", to, API_DESCRIBE_CONFIGS, 4, &q};

    msg_init(&describe_configs_request_desc, &q);
    q.resources = v;
    q.resources_count = count;
    return why_call(ask, &call);
}

static void take_topic_configs(struct why_asker *ask, const struct describe_configs_response *resp)
{
    for (int32_t i = 0; i < resp->results_count; i++) {
        const struct describe_configs_response_result *r = &resp->results[i];
        struct why_topic *t = why_find_topic(ask->f, r->resource_name);
        if (r->error_code && r->error_code != UNKNOWN_TOPIC_OR_PARTITION)
            why_unasked(ask->f, "settings of topic %.*s: %s", STR_ARG(r->resource_name),
                        err_name(r->error_code));
        for (int32_t k = 0; t && !r->error_code && k < r->configs_count; k++)
            take_topic_value(ask->arena, t, r->configs[k].name, r->configs[k].value);
    }
}

void why_ask_topic_configs(struct why_asker *ask)
{
    struct why_facts *f = ask->f;
    struct describe_configs_request_resource *v = arena_array(ask->arena, BATCH, sizeof *v);

    for (int32_t at = 0; at < f->topics_count; at += BATCH) {
        int32_t n = MIN(f->topics_count - at, (int32_t)BATCH);
        for (int32_t i = 0; i < n; i++)
            v[i] = (struct describe_configs_request_resource){
                .resource_type = RESOURCE_TOPIC,
                .resource_name = f->topics[at + i].name,
                .configuration_keys = topic_keys,
                .configuration_keys_count = ARRAY_LEN(topic_keys)};
        const struct describe_configs_response *resp =
            ask_configs(ask, f->asked_broker >= 0 ? f->asked_broker : SEED_ANY, v, n);
        if (!resp) {
            why_unasked(f, "settings of topics: no answer");
            return;
        }
        take_topic_configs(ask, resp);
    }
}

static struct str value_of(const struct describe_configs_response *resp, struct str key)
{
    for (int32_t i = 0; resp && i < resp->results_count; i++) {
        for (int32_t k = 0; k < resp->results[i].configs_count; k++) {
            if (str_eq(resp->results[i].configs[k].name, key))
                return resp->results[i].configs[k].value;
        }
    }
    return STR_NULL;
}

static const struct describe_configs_response *ask_broker(struct why_asker *ask, int32_t id,
                                                          struct str *keys, int32_t count)
{
    struct describe_configs_request_resource one = {.resource_type = RESOURCE_BROKER,
                                                    .resource_name =
                                                        arena_printf(ask->arena, "%d", id),
                                                    .configuration_keys = keys,
                                                    .configuration_keys_count = count};
    const struct describe_configs_response *resp = ask_configs(ask, id, &one, 1);

    if (resp && resp->results_count > 0 && resp->results[0].error_code)
        why_unasked(ask->f, "settings of broker %d: %s", id, err_name(resp->results[0].error_code));
    return resp;
}

void why_ask_controller_config(struct why_asker *ask)
{
    if (ask->f->controller >= 0 && why_find_broker(ask->f, ask->f->controller))
        ask->f->deletes_topics =
            known(value_of(ask_broker(ask, ask->f->controller, delete_keys, 1), delete_keys[0]));
}

static bool is_any_throttled(const struct why_facts *f)
{
    for (int32_t i = 0; i < f->topics_count; i++) {
        const struct why_topic *t = &f->topics[i];
        if (!t->leader_throttle.is_all && t->leader_throttle.count == 0 &&
            !t->follower_throttle.is_all && t->follower_throttle.count == 0)
            continue;
        for (int32_t k = 0; k < t->count; k++) {
            if (why_is_unwell(&t->v[k]))
                return true;
        }
    }
    return false;
}

static int64_t rate_of(const struct describe_configs_response *resp, struct str key)
{
    struct str value = value_of(resp, key);
    int64_t rate = -1;

    if (value.len == 0 || str_to_i64(value, 0, INT64_MAX, &rate) < 0)
        return -1;
    return rate;
}

void why_ask_rates(struct why_asker *ask)
{
    if (!is_any_throttled(ask->f))
        return;
    for (int32_t i = 0; i < ask->f->brokers_count; i++) {
        struct why_broker *b = &ask->f->brokers[i];
        if (!b->is_listed)
            continue;
        const struct describe_configs_response *resp =
            ask_broker(ask, b->id, rate_keys, ARRAY_LEN(rate_keys));
        b->leader_rate = rate_of(resp, rate_keys[0]);
        b->follower_rate = rate_of(resp, rate_keys[1]);
    }
}
