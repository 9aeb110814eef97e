#include "common/base/say.h"
#include "tests/support/fake_zk.h"
#include "tests/support/test_main.h"
#include "tests/support/why_world.h"
#include "zk/node_broker.h"

#define BROKER                                                                                     \
    "{\"version\":5,\"host\":null,\"port\":-1,\"endpoints\":[\"SSL://s:2\",\"PLAINTEXT://h:1\"],"  \
    "\"listener_security_protocol_map\":{\"SSL\":\"SSL\",\"PLAINTEXT\":\"PLAINTEXT\"},"            \
    "\"jmx_port\":-1,\"timestamp\":\"1\"}"
#define TOPIC                                                                                      \
    "{\"version\":3,\"partitions\":{\"0\":[1,2],\"1\":[2,3]},\"adding_replicas\":{\"1\":[3]},"     \
    "\"removing_replicas\":{}}"
#define STATE "{\"controller_epoch\":7,\"leader\":1,\"version\":1,\"leader_epoch\":3,\"isr\":[1]}"

static struct why_world w;
static struct clock_fake now;
static struct fake_zk_server *server;
static struct fake_zk *zk;
static struct zk_store *s;

static void put(const char *path, const char *data, uint32_t flags)
{
    const char *slash = strrchr(path, '/');
    char parent[128];

    snprintf(parent, sizeof parent, "%.*s", (int)(slash - path), path);
    if (*parent)
        (void)zk_store_create_deep(s, parent, slice_of("", 0));
    ck_assert_int_eq(zk_store_create(s, path, slice_of(data, strlen(data)), flags), ZK_OK);
}

static void start(void)
{
    say_set_level(SAY_ERROR + 1);
    world_start(&w, 0);
    w.f.zk = (struct why_zk_facts){.answers = WHY_YES, .controller = -1};
    clock_fake_init(&now, INT64_C(1796033472000));
    server = fake_zk_server_new(&now.clock);
    zk = fake_zk_new(server);
    s = fake_zk_store(zk);
}

static void end(void)
{
    fake_zk_free(zk);
    fake_zk_server_free(server);
    world_end(&w);
}

START_TEST(the_cluster_is_read)
{
    start();
    put("/cluster/id", "{\"version\":\"1\",\"id\":\"abc\"}", 0);
    put("/controller",
        "{\"version\":2,\"brokerid\":2,\"timestamp\":\"1\",\"kraftControllerEpoch\":-1}",
        ZK_EPHEMERAL);
    put("/controller_epoch", "7", 0);
    put("/brokers/ids/2", BROKER, ZK_EPHEMERAL);
    put("/brokers/ids/1", "rubbish", ZK_EPHEMERAL);
    put("/brokers/ids/x", BROKER, 0);
    why_zk_read(&w.f, s);
    ck_assert(str_eqz(w.f.zk.cluster_id, "abc"));
    ck_assert_int_eq(w.f.zk.controller, 2);
    ck_assert_int_eq(w.f.zk.controller_epoch, 7);
    ck_assert_int_eq(w.f.zk.controller_session, zk_store_session_id(s));
    ck_assert_int_eq(w.f.zk.controller_since_ms, now.wall_ms);
    ck_assert_int_eq(w.f.brokers_count, 2);
    const struct why_broker *b = why_find_broker(&w.f, 2);
    ck_assert_int_eq(b->registered, WHY_YES);
    ck_assert(!b->is_garbled && why_find_broker(&w.f, 1)->is_garbled);
    ck_assert_int_eq(b->session, zk_store_session_id(s));
    ck_assert(str_eqz(b->address, "h:1")); /* the plain one, that a tool can use */
    ck_assert_int_eq(why_find_broker(&w.f, 1)->registered, WHY_YES);
    ck_assert_uint_eq(why_find_broker(&w.f, 1)->address.len, 0);
    end();
}
END_TEST

START_TEST(an_empty_zookeeper_has_nothing)
{
    start();
    why_zk_read(&w.f, s);
    ck_assert_int_eq(w.f.zk.answers, WHY_YES);
    ck_assert_int_eq(w.f.zk.controller, -1);
    ck_assert_int_eq(w.f.zk.controller_epoch, -1);
    ck_assert(str_is_null(w.f.zk.cluster_id));
    ck_assert_int_eq(w.f.brokers_count, 0);
    ck_assert_uint_eq(w.f.zk.deletions_count, 0);
    ck_assert(!w.f.zk.has_legacy);
    end();
}
END_TEST

START_TEST(a_controller_that_nobody_can_read_is_not_missing)
{
    start();
    why_zk_read(&w.f, s);
    ck_assert(!w.f.zk.is_controller_garbled);
    put("/controller", "rubbish", 0);
    why_zk_read(&w.f, s);
    ck_assert(w.f.zk.is_controller_garbled);
    ck_assert_int_eq(w.f.zk.controller, -1);
    end();
}
END_TEST

START_TEST(wishes_are_read)
{
    start();
    put("/admin/delete_topics/gone", "", 0);
    put("/admin/delete_topics/t", "", 0);
    put("/brokers/topics/t", TOPIC, 0);
    put("/admin/reassign_partitions",
        "{\"version\":1,\"partitions\":[{\"topic\":\"t\",\"partition\":0,\"replicas\":[1]}]}", 0);
    why_zk_read(&w.f, s);
    ck_assert_uint_eq(w.f.zk.deletions_count, 2);
    const struct why_deletion *gone = &w.f.zk.deletions[0], *t = &w.f.zk.deletions[1];
    ck_assert(str_eqz(gone->topic, "gone") && !gone->is_there && gone->nodes.count == 0);
    ck_assert(str_eqz(t->topic, "t") && t->is_there);
    ck_assert_int_eq(t->since_ms, now.wall_ms);
    ck_assert_int_eq(t->nodes.count, 2);
    ck_assert(why_has(&t->nodes.v[1].adding, 3) && !why_has(&t->nodes.v[0].adding, 3));
    ck_assert(w.f.zk.has_legacy);
    ck_assert_int_eq(w.f.zk.legacy_count, 1);
    end();
}
END_TEST

START_TEST(notifications_are_counted)
{
    start();
    put("/log_dir_event_notification/log_dir_event_0000000007", "{}", 0);
    clock_fake_advance(&now, 5000);
    put("/log_dir_event_notification/log_dir_event_0000000008", "{}", 0);
    why_zk_read(&w.f, s);
    ck_assert_uint_eq(w.f.zk.dir_events.count, 2);
    ck_assert_int_eq(w.f.zk.dir_events.since_ms, now.wall_ms - 5000);
    ck_assert_uint_eq(w.f.zk.isr_changes.count, 0);
    end();
}
END_TEST

START_TEST(a_malformed_request_is_a_request)
{
    start();
    put("/admin/reassign_partitions", "rubbish", 0);
    why_zk_read(&w.f, s);
    ck_assert(w.f.zk.has_legacy);
    ck_assert_int_eq(w.f.zk.legacy_count, 0);
    end();
}
END_TEST

START_TEST(of_what_is_unwell_it_is_known_since_when)
{
    start();
    world_topic(&w, "t", 2, 1);
    world_partition(&w, "t", 0, "1,2", "1");
    world_partition(&w, "t", 1, "1,2", "1,2");
    put("/brokers/topics/t/partitions/0/state", STATE, 0);
    put("/brokers/topics/t/partitions/1/state", STATE, 0);
    why_zk_states(&w.f, s);
    ck_assert_int_eq(why_find_partition(&w.f, STR("t"), 0)->changed_ms, now.wall_ms);
    ck_assert_int_eq(why_find_partition(&w.f, STR("t"), 1)->changed_ms, 0);
    ck_assert_int_eq(why_find_partition(&w.f, STR("t"), 0)->leader, 1);
    ck_assert(!why_find_partition(&w.f, STR("t"), 0)->is_garbled);
    ck_assert_int_eq(
        zk_store_set(s, "/brokers/topics/t/partitions/0/state", slice_of("rubbish", 7), -1, NULL),
        ZK_OK);
    why_zk_states(&w.f, s);
    ck_assert(why_find_partition(&w.f, STR("t"), 0)->is_garbled);
    end();
}
END_TEST

START_TEST(without_brokers_topics_are_read_here)
{
    start();
    w.f.brokers_answer = WHY_NO;
    put("/brokers/topics/t", TOPIC, 0);
    put("/brokers/topics/bad", "rubbish", 0);
    put("/brokers/topics/t/partitions/0/state", STATE, 0);
    put("/brokers/topics/t/partitions/1/state", "rubbish", 0);
    put("/config/topics/t",
        "{\"version\":1,\"config\":{\"min.insync.replicas\":\"2\","
        "\"unclean.leader.election.enable\":\"true\"}}",
        0);
    why_zk_states(&w.f, s);
    ck_assert_int_eq(w.f.topics_count, 1);
    const struct why_partition *p = why_find_partition(&w.f, STR("t"), 0);
    ck_assert_int_eq(p->leader, 1);
    ck_assert(p->isr.count == 1 && why_has(&p->isr, 1) && p->replicas.count == 2);
    ck_assert_int_eq(p->topic->min_isr, 2);
    ck_assert_int_eq(p->topic->unclean, WHY_YES);
    ck_assert_int_eq(why_find_partition(&w.f, STR("t"), 1)->leader, -1);
    end();
}
END_TEST

static bool is_bad(const char *path, const char *why)
{
    for (size_t i = 0; i < w.f.zk.bad_count; i++) {
        const struct why_bad_node *b = &w.f.zk.bad[i];
        if (str_eqz(b->path, path) && memmem(b->why.p, b->why.len, why, strlen(why)))
            return true;
    }
    return false;
}

START_TEST(what_cannot_be_decoded_is_put_down)
{
    start();
    w.f.brokers_answer = WHY_UNKNOWN;
    put("/cluster/id", "{}", 0);
    put("/controller", "[1]", ZK_EPHEMERAL);
    put("/controller_epoch", "x", 0);
    put("/brokers/ids/1", "rubbish", ZK_EPHEMERAL);
    put("/brokers/ids/x", BROKER, 0);
    put("/brokers/ids/2", BROKER, ZK_EPHEMERAL);
    put("/brokers/topics/t", TOPIC, 0);
    put("/brokers/topics/bad", "{\"partitions\":{\"a\":[1]}}", 0);
    put("/brokers/topics/t/partitions/1/state", "rubbish", 0);
    put("/config/topics/t", "{\"version\":1,\"config\":{\"a\":7}}", 0);
    put("/admin/reassign_partitions", "rubbish", 0);
    why_zk_read(&w.f, s);
    why_zk_states(&w.f, s);
    ck_assert(is_bad("/cluster/id", "\"id\" is missing"));
    ck_assert(is_bad("/controller", "no JSON object"));
    ck_assert(is_bad("/controller_epoch", ""));
    ck_assert(is_bad("/brokers/ids/1", "no JSON"));
    ck_assert(is_bad("/brokers/ids/x", "no broker id"));
    ck_assert(is_bad("/brokers/topics/bad", "is no number"));
    ck_assert(is_bad("/brokers/topics/t/partitions/1/state", "no JSON"));
    ck_assert(is_bad("/config/topics/t", "texts"));
    ck_assert(is_bad("/admin/reassign_partitions", "no list"));
    ck_assert_uint_eq(w.f.zk.bad_count, 9);
    ck_assert_int_eq(why_find_broker(&w.f, 2)->node->endpoint_count, 2);
    ck_assert_ptr_null(why_find_broker(&w.f, 1)->node);
    ck_assert_ptr_nonnull(why_find_topic(&w.f, STR("t"))->config);
    end();
}
END_TEST

START_TEST(nothing_is_written)
{
    start();
    put("/brokers/topics/t", TOPIC, 0);
    struct zk_stat before, after;
    ck_assert_int_eq(zk_store_exists(s, "/brokers/topics/t", &before), ZK_OK);
    w.f.brokers_answer = WHY_NO;
    why_zk_read(&w.f, s);
    why_zk_states(&w.f, s);
    ck_assert_int_eq(zk_store_exists(s, "/brokers/topics/t", &after), ZK_OK);
    ck_assert_int_eq(before.mzxid, after.mzxid);
    ck_assert_int_eq(before.cversion, after.cversion);
    end();
}
END_TEST

START_TEST(an_ensemble_that_falls_ill_is_survived)
{
    for (int nth = 1; nth < 20; nth++) {
        start();
        put("/admin/delete_topics/t", "", 0);
        put("/brokers/topics/t", TOPIC, 0);
        put("/brokers/topics/t/partitions/0/state", STATE, 0);
        put("/brokers/ids/2", BROKER, ZK_EPHEMERAL);
        w.f.brokers_answer = WHY_NO;
        fake_zk_fail(zk, nth, ZK_SESSION_EXPIRED);
        why_zk_read(&w.f, s);
        ck_assert_msg(w.f.zk.answers == WHY_NO ||
                          (w.f.brokers_count == 1 && w.f.zk.deletions_count == 1),
                      "request %d failed, and what it asked for is taken for absent", nth);
        why_zk_states(&w.f, s);
        const struct why_partition *p = why_find_partition(&w.f, STR("t"), 0);
        ck_assert_msg(!p || p->leader == 1, "request %d failed, and a leader is missed", nth);
        fake_zk_fail(zk, 1, ZK_OK);
        end();
    }
}
END_TEST

TEST_MAIN("tools/why/why_zk_read", the_cluster_is_read, an_empty_zookeeper_has_nothing,
          a_controller_that_nobody_can_read_is_not_missing, wishes_are_read,
          notifications_are_counted, a_malformed_request_is_a_request,
          of_what_is_unwell_it_is_known_since_when, without_brokers_topics_are_read_here,
          what_cannot_be_decoded_is_put_down, nothing_is_written,
          an_ensemble_that_falls_ill_is_survived)
