#include "tools/shell/zk_text.h"

#include "tests/support/test_main.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

static struct strbuf out;
static struct arena arena;

static void expect(const char *words)
{
    ck_assert_str_eq(out.len ? out.s : "", words);
    strbuf_reset(&out);
}

START_TEST(paths)
{
    ck_assert_int_eq(zk_path_check("/", &out), 0);
    ck_assert_int_eq(zk_path_check("/a/.b/..c", &out), 0);
    ck_assert_int_eq(zk_path_check("", &out), -EINVAL);
    expect("Path length must be > 0");
    ck_assert_int_eq(zk_path_check("a", &out), -EINVAL);
    expect("Path must start with / character");
    ck_assert_int_eq(zk_path_check("/a/", &out), -EINVAL);
    expect("Path must not end with / character");
    ck_assert_int_eq(zk_path_check("/a//b", &out), -EINVAL);
    expect("Invalid path string \"/a//b\" caused by empty node name specified @3");
    ck_assert_int_eq(zk_path_check("/a/../b", &out), -EINVAL);
    strbuf_reset(&out);
}
END_TEST

START_TEST(acl_entries)
{
    struct zk_direct_acls acls;

    zk_acl_parse("world:anyone:r,digest:u:h=:cdrwa", &arena, &acls, &out);
    expect("");
    ck_assert_uint_eq(acls.count, 2);
    ck_assert_str_eq(acls.v[1].id, "u:h=");
    zk_acl_print(&acls, &out);
    expect("'world,'anyone\n: r\n'digest,'u:h=\n: cdrwa\n");
    zk_acl_parse("bad,world:anyone:rx", &arena, &acls, &out);
    expect("bad does not have the form scheme:id:perm\nUnknown perm type: x\n");
    ck_assert_uint_eq(acls.count, 1);
}
END_TEST

START_TEST(stat_is_printed_in_local_time)
{
    const struct zk_direct_stat stat = {.czxid = 0x1f,
                                        .mzxid = 0x20,
                                        .pzxid = 0x21,
                                        .ephemeral_owner = 0x1000,
                                        .version = 1,
                                        .cversion = 2,
                                        .aversion = 3,
                                        .data_length = 4,
                                        .num_children = 5};

    setenv("TZ", "UTC", 1);
    tzset();
    zk_stat_print(&stat, &out);
    expect("cZxid = 0x1f\nctime = Thu Jan 01 00:00:00 UTC 1970\nmZxid = 0x20\n"
           "mtime = Thu Jan 01 00:00:00 UTC 1970\npZxid = 0x21\ncversion = 2\ndataVersion = 1\n"
           "aclVersion = 3\nephemeralOwner = 0x1000\ndataLength = 4\nnumChildren = 5\n");
}
END_TEST

START_TEST(errors)
{
    zk_error_print(ZK_DIRECT_NO_NODE, "/x", &out);
    expect("Node does not exist: /x");
    zk_error_print(ZK_DIRECT_INVALID_ACL, NULL, &out);
    expect("Acl is not valid : null");
    zk_error_print(ZK_DIRECT_CONNECTION_LOSS, "/x", &out);
    expect("KeeperErrorCode = ConnectionLoss for /x");
}
END_TEST

START_TEST(words)
{
    char **w;
    int n;

    zk_words(STR("  set /a  \"two words\" 'x' \n"), &arena, &w, &n);
    ck_assert_int_eq(n, 4);
    ck_assert_str_eq(w[2], "two words");
    ck_assert_str_eq(w[3], "x");
    zk_words(STR(" \n"), &arena, &w, &n);
    ck_assert_int_eq(n, 0);
    zk_words(STR("get \"/open"), &arena, &w, &n);
    ck_assert_int_eq(n, 2);
    ck_assert_str_eq(w[1], "/open");
    arena_deinit(&arena);
    strbuf_deinit(&out);
}
END_TEST

TEST_MAIN("tools/shell/zk_text", paths, acl_entries, stat_is_printed_in_local_time, errors, words)
