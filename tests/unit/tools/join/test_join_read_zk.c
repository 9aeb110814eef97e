#include "common/base/mem.h"
#include "common/base/say.h"
#include "tests/support/fake_zk.h"
#include "tests/support/join_world.h"

static struct join_world w;
static struct clock_fake now;
static struct fake_zk_server *server;
static struct fake_zk *zk;
static struct zk_store *s;

static void put_bytes(const char *path, struct slice data)
{
    const char *slash = strrchr(path, '/');
    char parent[128];

    snprintf(parent, sizeof parent, "%.*s", (int)(slash - path), path);
    if (*parent)
        (void)zk_store_create_deep(s, parent, (struct slice){0});
    ck_assert_int_eq(zk_store_create(s, path, data, 0), ZK_OK);
}

static void put(const char *path, const char *data)
{
    put_bytes(path, slice_of(data, strlen(data)));
}

static void start(void)
{
    say_set_level(SAY_FATAL);
    join_start(&w);
    clock_fake_init(&now, INT64_C(1796033472000));
    server = fake_zk_server_new(&now.clock);
    zk = fake_zk_new(server);
    s = fake_zk_store(zk);
}

static void end(void)
{
    fake_zk_free(zk);
    fake_zk_server_free(server);
    join_end(&w);
}

static bool is_bad(const char *path)
{
    for (size_t i = 0; i < w.f.zk.zk.bad_count; i++) {
        if (str_eqz(w.f.zk.zk.bad[i].path, path))
            return true;
    }
    return false;
}

static bool has(const struct why_texts *t, const char *text)
{
    for (size_t i = 0; i < t->count; i++) {
        if (str_eqz(t->v[i], text))
            return true;
    }
    return false;
}

START_TEST(an_empty_zookeeper_has_nothing)
{
    start();
    join_read_nodes(&w.f, s);
    ck_assert_uint_eq(w.f.zk.zk.bad_count, 0);
    ck_assert(!w.f.nodes.has_migration && !w.f.nodes.has_features);
    ck_assert_uint_eq(w.f.nodes.acls.count + w.f.nodes.tokens.count + w.f.nodes.quotas.count, 0);
    ck_assert_uint_eq(w.f.zk.unasked.count, 0);
    end();
}
END_TEST

START_TEST(what_was_done_to_the_cluster_is_read)
{
    start();
    put("/migration", "{\"version\":0,\"kraft_controller_id\":3000,\"kraft_controller_epoch\":4}");
    put("/feature", "{\"version\":2,\"status\":1,\"features\":{\"f\":{\"max_version_level\":3}}}");
    put("/latest_producer_id_block",
        "{\"version\":1,\"broker\":1,\"block_start\":\"0\",\"block_end\":\"999\"}");
    put("/admin/preferred_replica_election", "{\"version\":1,\"partitions\":[]}");
    put("/config/brokers/<default>", "{\"version\":1,\"config\":{\"a\":\"b\"}}");
    put("/config/brokers/1", "{\"version\":1,\"config\":{\"c\":\"d\"}}");
    join_read_nodes(&w.f, s);
    ck_assert(w.f.nodes.has_migration);
    ck_assert_int_eq(w.f.nodes.migration.controller_id, 3000);
    ck_assert(w.f.nodes.has_features && w.f.nodes.features.count == 1);
    ck_assert_int_eq(w.f.nodes.producer_block.end, 999);
    ck_assert(w.f.nodes.has_preferred);
    ck_assert(str_eqz(node_config_get(&w.f.nodes.of_all, "a"), "b"));
    ck_assert(str_eqz(node_config_get(&w.f.nodes.of_one, "c"), "d"));
    ck_assert_uint_eq(w.f.zk.zk.bad_count, 0);
    end();
}
END_TEST

START_TEST(null_as_the_security_tool_makes_it_is_no_migration)
{
    start();
    put_bytes("/migration", (struct slice){0});
    put_bytes("/latest_producer_id_block", (struct slice){0});
    join_read_nodes(&w.f, s);
    ck_assert(!w.f.nodes.has_migration && !w.f.nodes.has_producer_block);
    ck_assert_uint_eq(w.f.zk.zk.bad_count, 0);
    end();
}
END_TEST

START_TEST(what_users_rely_on_is_read)
{
    start();
    put("/kafka-acl/Topic/t", "{\"version\":1,\"acls\":[]}");
    put("/kafka-acl-extended/prefixed/Group/g", "{\"version\":1,\"acls\":[]}");
    put("/kafka-acl/Cluster", "");
    put("/delegation_token/tokens/abc", "{}");
    put("/config/users/alice", "{\"version\":1,\"config\":{\"SCRAM-SHA-256\":\"salt=x\"}}");
    put("/config/users/bob", "{\"version\":1,\"config\":{\"producer_byte_rate\":\"1\"}}");
    put("/config/users/bob/clients/c", "{\"version\":1,\"config\":{\"request_percentage\":\"1\"}}");
    put("/config/clients/d", "{\"version\":1,\"config\":{}}");
    put("/config/ips/1.2.3.4", "{\"version\":1,\"config\":{\"connection_creation_rate\":\"1\"}}");
    join_read_nodes(&w.f, s);
    ck_assert_uint_eq(w.f.nodes.acls.count, 2);
    ck_assert(has(&w.f.nodes.acls, "/kafka-acl-extended/prefixed/Group/g"));
    ck_assert(has(&w.f.nodes.tokens, "abc"));
    ck_assert(w.f.nodes.scram.count == 1 && has(&w.f.nodes.scram, "/config/users/alice"));
    ck_assert_uint_eq(w.f.nodes.quotas.count, 3);
    ck_assert(has(&w.f.nodes.quotas, "/config/users/bob/clients/c"));
    ck_assert(has(&w.f.nodes.quotas, "/config/ips/1.2.3.4"));
    end();
}
END_TEST

START_TEST(what_cannot_be_understood_is_put_down)
{
    CLEANUP(free_p) char *deep = xcalloc(1, 4001);
    CLEANUP(free_p) char *huge = xcalloc(1, 1 << 20);

    start();
    memset(deep, '[', 4000);
    memset(huge, '"', 1 << 20);
    put("/migration", deep);
    put("/feature", "\xff\xfe\x01");
    put_bytes("/latest_producer_id_block", slice_of(huge, 1 << 20));
    put("/admin/preferred_replica_election", "{\"version\":1}");
    put("/config/brokers/1", "{\"version\":1,\"config\":{\"a\":7}}");
    put("/config/clients/c", "{\"version\":1,\"config\":[]}");
    put("/config/changes/config_change_0000000001", "{\"version\":9}");
    put("/config/changes/config_change_0000000002", "{\"version\":2,\"entity_path\":\"topics/t\"}");
    join_read_nodes(&w.f, s);
    ck_assert(is_bad("/migration") && is_bad("/feature") && is_bad("/latest_producer_id_block"));
    ck_assert(is_bad("/admin/preferred_replica_election") && is_bad("/config/brokers/1"));
    ck_assert(is_bad("/config/clients/c") && is_bad("/config/changes/config_change_0000000001"));
    ck_assert_uint_eq(w.f.zk.zk.bad_count, 7);
    end();
}
END_TEST

START_TEST(what_may_not_be_read_is_not_taken_for_absent)
{
    start();
    put("/config/users/alice", "{\"version\":1,\"config\":{}}");
    fake_zk_fail(zk, 1, ZK_NO_AUTH);
    join_read_nodes(&w.f, s);
    ck_assert(has(&w.f.nodes.forbidden, "/config/users"));
    ck_assert(has(&w.f.nodes.forbidden, "/feature"));
    end();
    start();
    fake_zk_fail(zk, 1, ZK_SESSION_EXPIRED);
    join_read_nodes(&w.f, s);
    ck_assert_uint_gt(w.f.zk.unasked.count, 0);
    end();
}
END_TEST

START_TEST(an_ensemble_that_falls_ill_is_survived)
{
    for (int nth = 1; nth < 40; nth++) {
        start();
        put("/config/users/bob/clients/c", "{\"version\":1,\"config\":{}}");
        put("/config/changes/config_change_0000000001", "{}");
        fake_zk_fail(zk, nth, ZK_OTHER);
        join_read_nodes(&w.f, s);
        end();
    }
}
END_TEST

static uint64_t writes;

static void count_writes(const struct zk_op *op, void *ctx UNUSED)
{
    writes += op->kind != ZK_OP_GET && op->kind != ZK_OP_EXISTS && op->kind != ZK_OP_CHILDREN;
}

START_TEST(nothing_is_written)
{
    start();
    put("/config/users/alice", "{\"version\":1,\"config\":{}}");
    writes = 0;
    fake_zk_hook(zk, count_writes, NULL);
    join_read_nodes(&w.f, s);
    why_zk_read(&w.f.zk, s);
    why_zk_states(&w.f.zk, s);
    ck_assert_uint_eq(writes, 0);
    end();
}
END_TEST

TEST_MAIN("tools/join/join_read_zk", an_empty_zookeeper_has_nothing,
          what_was_done_to_the_cluster_is_read, null_as_the_security_tool_makes_it_is_no_migration,
          what_users_rely_on_is_read, what_cannot_be_understood_is_put_down,
          what_may_not_be_read_is_not_taken_for_absent, an_ensemble_that_falls_ill_is_survived,
          nothing_is_written)
