#include "zk/node_cluster.h"

#include "tests/unit/zk/node_test.h"

static struct arena a;
static struct node_why why;

START_TEST(cluster_id_has_a_version_in_quotes)
{
    const char *text = "{\"version\":\"1\",\"id\":\"Ljr1gq0gQ0qyP-2hBQX1sQ\"}";
    struct str id;

    ck_assert_int_eq(node_cluster_id_decode(bytes(text), &a, &why, &id), 0);
    ck_text(node_cluster_id_encode(&a, id), text);
    ck_assert_int_eq(node_cluster_id_decode(bytes("{\"id\":7}"), &a, &why, &id), -EBADMSG);
}
END_TEST

START_TEST(producer_block_keeps_its_ends_in_quotes)
{
    const char *text = "{\"version\":1,\"broker\":1,\"block_start\":\"0\",\"block_end\":\"999\"}";
    struct node_producer_block b;

    ck_assert_int_eq(node_producer_block_decode(bytes(text), &why, &b), 0);
    ck_assert_int_eq(b.end, 999);
    ck_text(node_producer_block_encode(&a, &b), text);
    ck_assert_int_eq(node_producer_block_decode((struct slice){0}, &why, &b), -ENODATA);
    ck_assert_int_eq(node_producer_block_decode(bytes(""), &why, &b), -EBADMSG);
    ck_assert_int_eq(node_producer_block_decode(
                         bytes("{\"broker\":1,\"block_start\":0,\"block_end\":999}"), &why, &b),
                     -EBADMSG);
    ck_assert_int_eq(
        node_producer_block_decode(
            bytes("{\"broker\":1,\"block_start\":\"5\",\"block_end\":\"4\"}"), &why, &b),
        -EBADMSG);
}
END_TEST

START_TEST(features_of_both_versions_are_read)
{
    struct node_features f;

    ck_assert_int_eq(
        node_features_decode(bytes("{\"features\":{},\"version\":2,\"status\":1}"), &a, &why, &f),
        0);
    ck_assert(f.enabled && f.count == 0);
    ck_text(node_features_encode(&a, &f), "{\"features\":{},\"version\":2,\"status\":1}");
    ck_assert_int_eq(
        node_features_decode(bytes("{\"features\":{\"f\":{\"min_version_level\":1,"
                                   "\"max_version_level\":3}},\"version\":1,\"status\":0}"),
                             &a, &why, &f),
        0);
    ck_assert(!f.enabled && f.list[0].max_version == 3);
}
END_TEST

START_TEST(bad_features_are_refused)
{
    static const char *const bad[] = {
        "x",
        "{}",
        "{\"features\":{},\"version\":2}",
        "{\"features\":{},\"version\":3,\"status\":1}",
        "{\"features\":{},\"version\":2,\"status\":2}",
        "{\"features\":[],\"version\":2,\"status\":1}",
        "{\"features\":{\"f\":{}},\"version\":2,\"status\":1}",
        "{\"features\":{\"f\":{\"max_version_level\":0}},\"version\":2,\"status\":1}",
        "{\"features\":{\"f\":{\"max_version_level\":2}},\"version\":1,\"status\":1}",
    };
    struct node_features f;

    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        ck_assert_int_eq(node_features_decode(bytes(bad[i]), &a, &why, &f), -EBADMSG);
}
END_TEST

START_TEST(a_migration_names_its_controller)
{
    struct node_migration m;

    ck_assert_int_eq(
        node_migration_decode(bytes("{\"version\":0,\"kraft_controller_id\":3000,"
                                    "\"kraft_controller_epoch\":4,\"kraft_metadata_offset\":100,"
                                    "\"kraft_metadata_epoch\":1}"),
                              &why, &m),
        0);
    ck_assert_int_eq(m.controller_id, 3000);
    ck_assert_int_eq(m.controller_epoch, 4);
    ck_assert_int_eq(node_migration_decode((struct slice){0}, &why, &m), -ENODATA);
    ck_assert_int_eq(node_migration_decode(bytes(""), &why, &m), -EBADMSG);
    ck_assert_int_eq(node_migration_decode(bytes("nonsense"), &why, &m), -EBADMSG);
    ck_assert_int_eq(node_migration_decode(bytes("{\"kraft_controller_id\":\"3000\"}"), &why, &m),
                     -EBADMSG);
}
END_TEST

TEST_MAIN("zk/node_cluster", cluster_id_has_a_version_in_quotes,
          producer_block_keeps_its_ends_in_quotes, features_of_both_versions_are_read,
          bad_features_are_refused, a_migration_names_its_controller)
