#include "broker/meta/metadata.h"

#include "common/base/arena.h"
#include "common/wire/messages.h"
#include "tests/support/test_main.h"

static struct arena arena;
static struct update_metadata_request req;

static struct uuid id_of(int n)
{
    struct uuid id = {{0}};

    memcpy(id.b, &n, sizeof n);
    return id;
}

static void begin(int controller)
{
    msg_init(&update_metadata_request_desc, &req);
    req.controller_id = controller;
    req.topic_states = arena_new_array(&arena, struct update_metadata_request_topic_state, 16);
    req.live_brokers = arena_new_array(&arena, struct update_metadata_request_live_broker, 16);
}

static struct update_metadata_request_partition_state *state(const char *topic, int id, int index,
                                                             int leader)
{
    struct update_metadata_request_topic_state *t = &req.topic_states[req.topic_states_count++];

    *t = (struct update_metadata_request_topic_state){.topic_name = str_of(topic),
                                                      .topic_id = id_of(id)};
    t->partition_states = arena_new(&arena, struct update_metadata_request_partition_state);
    t->partition_states_count = 1;
    struct update_metadata_request_partition_state *st = t->partition_states;
    st->partition_index = index;
    st->leader = leader;
    st->leader_epoch = 5;
    st->zk_version = 7;
    st->replicas = arena_new_array(&arena, int32_t, 3);
    st->replicas_count = 3;
    for (int i = 0; i < 3; i++)
        st->replicas[i] = i + 1;
    st->isr = st->replicas;
    st->isr_count = 2;
    return st;
}

static void broker(int id, const char *rack, const char *listener, int port)
{
    struct update_metadata_request_live_broker *b = &req.live_brokers[req.live_brokers_count++];

    struct_init(&update_metadata_request_live_broker_desc, b);
    b->id = id;
    b->rack = str_of(rack);
    b->endpoints = arena_new(&arena, struct update_metadata_request_endpoint);
    b->endpoints_count = 1;
    b->endpoints[0] = (struct update_metadata_request_endpoint){
        .port = port, .host = STR("h"), .listener = str_of(listener), .security_protocol = 1};
}

START_TEST(knows_nothing_at_first)
{
    struct metadata *m = metadata_new();
    const struct metadata_snapshot *s = metadata_get(m);

    ck_assert_int_eq(metadata_controller(s), -1);
    ck_assert_int_eq(metadata_topic_count(s), 0);
    ck_assert_ptr_null(metadata_topic(s, STR("t")));
    ck_assert_ptr_null(metadata_broker(s, 1));
    metadata_put(s);
    metadata_free(m);
}
END_TEST

START_TEST(partitions_are_merged_and_brokers_replaced)
{
    struct metadata *m = metadata_new();

    begin(1);
    state("t", 9, 3, 1);
    state("t", 9, 0, 2);
    broker(2, "r2", "INT", 92);
    broker(1, NULL, "INT", 91);
    metadata_update(m, &req);
    begin(2);
    state("t", 9, 3, 3);
    broker(3, NULL, "", 93);
    metadata_update(m, &req);

    const struct metadata_snapshot *s = metadata_get(m);
    const struct meta_topic *t = metadata_topic(s, STR("t"));
    ck_assert_int_eq(t->partition_count, 2);
    ck_assert_int_eq(t->partitions[0].index, 0);
    ck_assert_int_eq(t->partitions[1].leader, 3);
    ck_assert_int_eq(t->partitions[1].partition_epoch, 7);
    ck_assert_int_eq(t->partitions[1].replicas[2], 3);
    ck_assert_int_eq(t->partitions[1].isr_count, 2);
    ck_assert_ptr_eq(metadata_topic_by_id(s, id_of(9)), t);
    ck_assert_int_eq(metadata_broker_count(s), 1);
    ck_assert_ptr_null(metadata_broker(s, 1));
    ck_assert_int_eq(meta_broker_endpoint(metadata_broker(s, 3), STR("SSL"))->port, 93);
    ck_assert_int_eq(metadata_controller(s), 2);
    ck_assert_ptr_nonnull(metadata_partition(s, STR("t"), 0));
    ck_assert_ptr_null(metadata_partition(s, STR("t"), 1));
    metadata_put(s);
    metadata_free(m);
}
END_TEST

START_TEST(reader_keeps_its_snapshot)
{
    struct metadata *m = metadata_new();

    begin(1);
    state("t", 9, 0, 1);
    metadata_update(m, &req);
    const struct metadata_snapshot *s = metadata_get(m);
    begin(1);
    state("t", 9, 0, -2);
    metadata_update(m, &req);
    ck_assert_ptr_nonnull(metadata_topic(s, STR("t")));
    metadata_put(s);
    s = metadata_get(m);
    ck_assert_ptr_null(metadata_topic(s, STR("t")));
    ck_assert_ptr_null(metadata_topic_by_id(s, id_of(9)));
    ck_assert_int_eq(metadata_topic_count(s), 0);
    metadata_put(s);
    metadata_free(m);
}
END_TEST

START_TEST(zero_id_forgets_the_id)
{
    struct metadata *m = metadata_new();

    begin(1);
    state("t", 9, 0, 1);
    metadata_update(m, &req);
    begin(1);
    state("t", 0, 0, 1);
    metadata_update(m, &req);
    const struct metadata_snapshot *s = metadata_get(m);
    ck_assert_ptr_null(metadata_topic_by_id(s, id_of(9)));
    ck_assert(uuid_is_zero(metadata_topic(s, STR("t"))->id));
    metadata_put(s);
    metadata_free(m);
}
END_TEST

START_TEST(recreated_topic_has_only_its_new_id)
{
    struct metadata *m = metadata_new();

    begin(1);
    state("t", 9, 0, 1);
    metadata_update(m, &req);
    begin(1);
    state("t", 10, 0, 1);
    metadata_update(m, &req);
    const struct metadata_snapshot *s = metadata_get(m);
    ck_assert_ptr_null(metadata_topic_by_id(s, id_of(9)));
    ck_assert_ptr_nonnull(metadata_topic_by_id(s, id_of(10)));
    metadata_put(s);
    metadata_free(m);
}
END_TEST

START_TEST(flat_list_and_plain_address_of_old_versions)
{
    struct metadata *m = metadata_new();

    begin(1);
    struct update_metadata_request_partition_state *st = state("x", 0, 4, 1);
    req.topic_states_count = 0;
    st->topic_name = STR("old");
    req.ungrouped_partition_states = st;
    req.ungrouped_partition_states_count = 1;
    broker(1, NULL, "", 1);
    req.live_brokers[0].endpoints_count = 0;
    req.live_brokers[0].v0_host = STR("plain");
    req.live_brokers[0].v0_port = 9092;
    metadata_update(m, &req);
    const struct metadata_snapshot *s = metadata_get(m);
    ck_assert_ptr_nonnull(metadata_partition(s, STR("old"), 4));
    const struct meta_endpoint *e = meta_broker_endpoint(metadata_broker(s, 1), STR("PLAINTEXT"));
    ck_assert(str_eqz(e->host, "plain"));
    ck_assert_int_eq(e->port, 9092);
    metadata_put(s);
    metadata_free(m);
}
END_TEST

TEST_MAIN("broker/meta/metadata", knows_nothing_at_first,
          partitions_are_merged_and_brokers_replaced, reader_keeps_its_snapshot,
          zero_id_forgets_the_id, recreated_topic_has_only_its_new_id,
          flat_list_and_plain_address_of_old_versions)
