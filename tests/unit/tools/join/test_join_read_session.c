#include "tests/support/join_world.h"
#include "zk/zk_direct.h"

static struct arena a;

START_TEST(each_server_is_named_with_the_chroot)
{
    struct why_texts v = join_servers_of(&a, STR("a:1, b ,,[::1]:2/x/y"));

    ck_assert_uint_eq(v.count, 3);
    ck_assert(str_eqz(v.v[0], "a:1/x/y") && str_eqz(v.v[1], "b/x/y"));
    ck_assert(str_eqz(v.v[2], "[::1]:2/x/y"));
    v = join_servers_of(&a, STR("a:1"));
    ck_assert(v.count == 1 && str_eqz(v.v[0], "a:1"));
    arena_deinit(&a);
}
END_TEST

START_TEST(what_everybody_may_change_is_not_guarded)
{
    struct zk_direct_acl v[] = {{"sasl", "kafka", ZK_PERM_ALL}, {"world", "anyone", ZK_PERM_READ}};
    struct zk_direct_acls acls = {v, 2};

    ck_assert(str_eqz(join_guard_text(&a, &acls), "sasl:kafka:rwcda,world:anyone:r"));
    v[1].perms = ZK_PERM_ALL;
    ck_assert(str_is_null(join_guard_text(&a, &acls)));
    v[1].perms = ZK_PERM_ALL & ~ZK_PERM_ADMIN;
    ck_assert(str_is_null(join_guard_text(&a, &acls)));
    v[1].perms = ZK_PERM_ALL & ~ZK_PERM_CREATE;
    ck_assert(!str_is_null(join_guard_text(&a, &acls)));
    arena_deinit(&a);
}
END_TEST

TEST_MAIN("tools/join/join_read_session", each_server_is_named_with_the_chroot,
          what_everybody_may_change_is_not_guarded)
