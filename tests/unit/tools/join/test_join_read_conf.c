#include "tests/support/certs.h"
#include "tests/support/join_world.h"

static struct join_world w;

static void read_file(const char *text)
{
    char path[512];

    snprintf(path, sizeof path, "%s/x.properties", test_tmpdir());
    ck_assert_int_eq(fs_replace_file(path, str_of(text)), 0);
    broker_conf_free(w.f.conf);
    w.f.refused = (struct why_texts){0};
    join_read_conf(&w.f, arena_strz(&w.arena, str_of(path)));
}

static bool is_refused(const char *part)
{
    for (size_t i = 0; i < w.f.refused.count; i++) {
        if (memmem(w.f.refused.v[i].p, w.f.refused.v[i].len, part, strlen(part)))
            return true;
    }
    return false;
}

START_TEST(what_a_start_would_take_is_not_refused)
{
    join_start(&w);
    read_file("broker.id=1\nzookeeper.connect=z:1/k\n");
    ck_assert_ptr_nonnull(w.f.conf);
    ck_assert_uint_eq(w.f.refused.count, 0);
    join_end(&w);
}
END_TEST

START_TEST(the_session_and_certificates_are_checked_too)
{
    join_start(&w);
    read_file("broker.id=1\nzookeeper.connect=z:1//k\n");
    ck_assert(is_refused("chroot"));
    read_file("broker.id=1\nzookeeper.connect=z:1\nlisteners=SSL://h:1\n"
              "security.inter.broker.protocol=SSL\nssl.keystore.location=/none.p12\n");
    ck_assert_ptr_nonnull(w.f.conf);
    ck_assert(is_refused("(listener SSL)"));
    ck_assert(is_refused("none.p12"));
    join_end(&w);
}
END_TEST

START_TEST(good_certificates_are_taken)
{
    CLEANUP(strbuf_deinit) struct strbuf text = {0};
    struct test_certs certs;

    join_start(&w);
    test_certs_init(&certs, "broker");
    strbuf_addf(&text,
                "broker.id=1\nzookeeper.connect=z:1\nlisteners=SSL://h:1\n"
                "security.inter.broker.protocol=SSL\nssl.keystore.location=%s\n"
                "ssl.keystore.password=secret\nssl.truststore.location=%s\n"
                "ssl.truststore.password=secret\n",
                certs.keystore, certs.truststore);
    read_file(text.s);
    ck_assert_msg(w.f.refused.count == 0, "%.*s", STR_ARG(w.f.refused.v[0]));
    strbuf_addz(&text, "ssl.keystore.password=wrong\n");
    read_file(text.s);
    ck_assert(is_refused("(listener SSL)"));
    test_certs_deinit(&certs);
    join_end(&w);
}
END_TEST

START_TEST(a_file_that_is_not_there_is_refused)
{
    join_start(&w);
    join_read_conf(&w.f, "/none/at/all");
    ck_assert_ptr_null(w.f.conf);
    ck_assert(is_refused("cannot be read"));
    join_end(&w);
}
END_TEST

START_TEST(settings_at_run_time_stand_above_the_file)
{
    join_start(&w);
    ck_assert_ptr_null(join_setting(&w.f, "min.insync.replicas"));
    ck_assert_int_eq(join_default_min_isr(&w.f), 1);
    read_file("broker.id=1\nzookeeper.connect=z:1\nmin.insync.replicas=2\n");
    ck_assert_int_eq(join_default_min_isr(&w.f), 2);
    w.f.nodes.of_all = join_config(&w, "min.insync.replicas", "3");
    ck_assert_int_eq(join_default_min_isr(&w.f), 3);
    w.f.nodes.of_one = join_config(&w, "min.insync.replicas", "4");
    ck_assert_int_eq(join_default_min_isr(&w.f), 4);
    w.f.nodes.of_one = join_config(&w, "min.insync.replicas", "x");
    ck_assert_int_eq(join_default_min_isr(&w.f), 1);
    join_end(&w);
}
END_TEST

TEST_MAIN("tools/join/join_read_conf", what_a_start_would_take_is_not_refused,
          the_session_and_certificates_are_checked_too, good_certificates_are_taken,
          a_file_that_is_not_there_is_refused, settings_at_run_time_stand_above_the_file)
