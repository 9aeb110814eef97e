#include "broker/server/ip_limit.h"

#include "common/base/err.h"
#include "tests/support/test_main.h"

static struct sock_addr addr(const char *text)
{
    struct sock_addr a;

    ck_assert_int_eq(sock_addr_parse(text, 0, &a), 0);
    return a;
}

static struct ip_limit *new_limit(int64_t max, const char *overrides)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    struct ip_limit *l = NULL;

    ck_assert_int_eq(ip_limit_new(max, overrides, &why, &l), 0);
    return l;
}

START_TEST(each_address_has_its_own_count)
{
    struct ip_limit *l = new_limit(2, "");
    struct sock_addr a = addr("10.0.0.1"), b = addr("10.0.0.2"), six = addr("fe80::1");

    ck_assert(ip_limit_take(l, &a));
    ck_assert(ip_limit_take(l, &a));
    ck_assert(!ip_limit_take(l, &a));
    ck_assert(ip_limit_take(l, &b));
    ck_assert(ip_limit_take(l, &six));
    ip_limit_release(l, &a);
    ck_assert(ip_limit_take(l, &a));
    ip_limit_free(l);
}
END_TEST

START_TEST(an_address_is_the_same_by_both_families)
{
    struct ip_limit *l = new_limit(1, "");
    struct sock_addr four = addr("10.0.0.1"), mapped = addr("::ffff:10.0.0.1");

    ck_assert(ip_limit_take(l, &four));
    ck_assert(!ip_limit_take(l, &mapped));
    ip_limit_release(l, &mapped);
    ck_assert(ip_limit_take(l, &mapped));
    ip_limit_free(l);
}
END_TEST

START_TEST(overrides_go_before_the_limit)
{
    struct ip_limit *l = new_limit(0, "10.0.0.1:1, localhost:2");
    struct sock_addr a = addr("10.0.0.1"), local = addr("127.0.0.1"), other = addr("10.0.0.9");

    ck_assert(ip_limit_take(l, &a));
    ck_assert(!ip_limit_take(l, &a));
    ck_assert(ip_limit_take(l, &local));
    ck_assert(ip_limit_take(l, &local));
    ck_assert(!ip_limit_take(l, &local));
    ck_assert(!ip_limit_take(l, &other));
    ip_limit_free(l);
}
END_TEST

START_TEST(malformed_overrides_are_refused_by_name)
{
    static const char *const bad[] = {"10.0.0.1", "10.0.0.1:", "10.0.0.1:x", "10.0.0.1:-1",
                                      "no such host:1"};

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        CLEANUP(strbuf_deinit) struct strbuf why = {0};
        struct ip_limit *l = NULL;

        ck_assert_int_eq(ip_limit_new(1, bad[i], &why, &l), -EINVAL);
        ck_assert_ptr_nonnull(strstr(why.s, "max.connections.per.ip.overrides"));
    }
}
END_TEST

TEST_MAIN("broker/server/ip_limit", each_address_has_its_own_count,
          an_address_is_the_same_by_both_families, overrides_go_before_the_limit,
          malformed_overrides_are_refused_by_name)
