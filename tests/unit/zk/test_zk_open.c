#include "common/base/strbuf.h"
#include "tests/support/test_main.h"
#include "zk/zk.h"

#include <errno.h>

static struct strbuf why;

static struct zk_conf good(void)
{
    return (struct zk_conf){
        .connect = "127.0.0.1:1",
        .session_timeout_ms = 18000,
        .connection_timeout_ms = 50,
        .max_in_flight = 10,
    };
}

/* Checks, and that the text names the key. */
static int check(const struct zk_conf *conf, const char *key)
{
    strbuf_reset(&why);
    int r = zk_conf_check(conf, &why);

    if (r < 0)
        ck_assert_msg(strstr(strbuf_str(&why).p, key) != NULL, "%s", strbuf_str(&why).p);
    return r;
}

START_TEST(connect_names_servers_and_one_chroot)
{
    static const char *const fine[] = {"h:1", "h:1,i:2/a", "h/a/b", "h:1/"};
    static const char *const bad[] = {"", "/a", "h:1/a/", "h:1//a", "h:1/a,i:2//b"};
    struct zk_conf conf = good();

    for (size_t i = 0; i < ARRAY_LEN(fine); i++) {
        conf.connect = fine[i];
        ck_assert_int_eq(check(&conf, ""), 0);
    }
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        conf.connect = bad[i];
        ck_assert_int_eq(check(&conf, "zookeeper.connect"), -EINVAL);
    }
    conf.connect = NULL;
    ck_assert_int_eq(check(&conf, "zookeeper.connect"), -EINVAL);
}
END_TEST

/* Where the library has them this is a matter of files, not of refusal. */
START_TEST(what_the_library_lacks_is_refused_by_name)
{
    struct zk_conf conf = good();

    conf.ssl = true;
    int tls = check(&conf, "zookeeper.ssl.client.enable");
    ck_assert(tls == -ENOTSUP || tls == -EINVAL);
    conf = good();
    conf.sasl_user = "kafka";
    int sasl = check(&conf, "SASL");
    ck_assert(sasl == -ENOTSUP || sasl == 0);
}
END_TEST

START_TEST(acls_need_an_identity)
{
    struct zk_conf conf = good();

    conf.set_acl = true;
    ck_assert_int_eq(check(&conf, "zookeeper.set.acl"), -EINVAL);
    conf.digest_auth = "user:password";
    ck_assert_int_eq(check(&conf, ""), 0);
    conf.digest_auth = "user";
    ck_assert_int_eq(check(&conf, "zookeeper.digest.auth"), -EINVAL);
}
END_TEST

START_TEST(bounds_are_checked)
{
    struct zk_conf conf = good();

    conf.max_in_flight = 0;
    ck_assert_int_eq(check(&conf, "zookeeper.max.in.flight.requests"), -EINVAL);
    conf = good();
    conf.session_timeout_ms = 0;
    ck_assert_int_eq(check(&conf, "zookeeper.session.timeout.ms"), -EINVAL);
}
END_TEST

START_TEST(requests_of_a_stopped_session_end_at_once)
{
    struct zk_conf conf = good();
    struct zk *zk = zk_new(&conf);
    CLEANUP(zk_batch_deinit) struct zk_batch empty = {0};

    strbuf_reset(&why);
    ck_assert_int_eq(zk_start(zk, &why), -ETIMEDOUT);
    ck_assert(strstr(why.s, "zookeeper.connection.timeout.ms") && strstr(why.s, "127.0.0.1:1"));
    ck_assert_int_eq(zk_store_exists(zk_as_store(zk), "/x", NULL), ZK_CLOSING);
    zk_store_run(zk_as_store(zk), &empty);
    ck_assert(!zk_store_pause_ms(zk_as_store(zk), 100000));
    ck_assert_int_eq(zk_store_session_id(zk_as_store(zk)), 0);
    ck_assert_ptr_null(zk_free(zk));
    ck_assert_ptr_null(zk_free(NULL));
}
END_TEST

TEST_MAIN("zk/zk_open", connect_names_servers_and_one_chroot,
          what_the_library_lacks_is_refused_by_name, acls_need_an_identity, bounds_are_checked,
          requests_of_a_stopped_session_end_at_once)
