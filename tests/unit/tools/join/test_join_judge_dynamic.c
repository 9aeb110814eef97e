#include "broker/config/passwords.h"
#include "tests/support/join_world.h"

#define BASE                                                                                       \
    "broker.id=1\nzookeeper.connect=z:2181/k\nlisteners=PLAINTEXT://h1:9092\n"                     \
    "inter.broker.protocol.version=3.9\n"
#define DEFAULT "/config/brokers/<default>"
#define OWN     "/config/brokers/1"

static struct join_world w;

START_TEST(what_a_start_takes_is_well)
{
    join_start(&w);
    join_file(&w, BASE);
    w.f.nodes.of_all = join_config(&w, "log.cleaner.threads", "2");
    w.f.nodes.of_one = join_config(&w, "leader.replication.throttled.rate", "1000");
    EXPECT_WELL(&w);
    EXPECT_NOT(&w, "/config/brokers", NULL);
    join_end(&w);
}
END_TEST

START_TEST(what_a_start_passes_over_is_a_warning)
{
    join_start(&w);
    join_file(&w, BASE);
    w.f.nodes.of_all = join_config(&w, "log.cleaner.threads", "many");
    EXPECT(&w, JOIN_WARNING, DEFAULT, "log.cleaner.threads=many would be passed over");
    w.f.nodes.of_all = join_config(&w, "broker.id", "7");
    EXPECT(&w, JOIN_WARNING, DEFAULT, "broker.id=7 would be passed over");
    w.f.nodes.of_all = join_config(&w, "advertised.listeners", "PLAINTEXT://x:1");
    EXPECT(&w, JOIN_WARNING, DEFAULT, "would be passed over");
    w.f.nodes.of_all = (struct node_config){0};
    w.f.nodes.of_one = join_config(&w, "advertised.listeners", "PLAINTEXT://x:1");
    EXPECT_NOT(&w, OWN, NULL);
    w.f.nodes.of_one = join_config(&w, "background.threads", "5");
    EXPECT(&w, JOIN_NOTE, OWN, "background.threads has no effect");
    join_end(&w);
}
END_TEST

START_TEST(what_does_not_go_with_the_file_is_a_warning)
{
    join_start(&w);
    join_file(&w, BASE);
    w.f.nodes.of_one = join_config(&w, "listeners", "PLAINTEXT://h1:9092,SASL_SSL://h1:9093");
    EXPECT(&w, JOIN_WARNING, "/config/brokers", "together with the file they would be refused");
    join_end(&w);
}
END_TEST

START_TEST(passwords_need_their_secret)
{
    CLEANUP(strbuf_deinit) struct strbuf text = {0}, why = {0};

    join_start(&w);
    join_file(&w, BASE "password.encoder.secret=s3cret\n");
    ck_assert_int_eq(password_encode(w.f.conf, "hush", &text, &why), 0);
    w.f.nodes.of_one = join_config(&w, "listener.name.plaintext.ssl.key.password", text.s);
    EXPECT_NOT(&w, OWN, NULL);
    join_file(&w, BASE "password.encoder.secret=another\n");
    EXPECT(&w, JOIN_WARNING, OWN, "ssl.key.password cannot be decoded");
    join_file(&w, BASE "password.encoder.secret=another\npassword.encoder.old.secret=s3cret\n");
    EXPECT_NOT(&w, OWN, NULL);
    join_end(&w);
}
END_TEST

TEST_MAIN("tools/join/join_judge_dynamic", what_a_start_takes_is_well,
          what_a_start_passes_over_is_a_warning, what_does_not_go_with_the_file_is_a_warning,
          passwords_need_their_secret)
