/*
 * test_group_expire.c - the table of disk.md 12.8, row by row, at its borders
 */
#include "broker/group/group_expire.h"

#include "tests/support/random_batch.h"
#include "tests/support/test_main.h"

#include <errno.h>

enum { RETENTION = 1000, NOW = 100000 };

#define CONSUMER STR("consumer")
#define T        STR("t")

static struct committed commit(int64_t at_ms)
{
    return (struct committed){.metadata = STR(""), .commit_ms = at_ms, .expire_ms = -1};
}

static bool expires(const struct group_age *g, int64_t commit_ms)
{
    struct committed c = commit(commit_ms);
    struct group_age age = *g;

    age.now_ms = NOW;
    age.retention_ms = RETENTION;
    return offset_is_expired(&age, T, &c, false);
}

START_TEST(simple_group_expires_by_the_commit)
{
    /* Its state does not matter, nor since when. */
    for (int i = 0; i < 4; i++) {
        struct group_age g = {.is_empty = i & 1, .is_stable = i & 2, .state_ms = NOW};

        ck_assert(!expires(&g, NOW - RETENTION + 1));
        ck_assert(expires(&g, NOW - RETENTION));
    }
}
END_TEST

START_TEST(empty_group_expires_by_the_time_it_became_so)
{
    struct group_age g = {.protocol_type = STR("anything"), .is_empty = true};

    g.state_ms = NOW - RETENTION + 1;
    ck_assert(!expires(&g, 0));
    g.state_ms = NOW - RETENTION;
    ck_assert(expires(&g, 0));
    ck_assert(expires(&g, NOW));
}
END_TEST

START_TEST(empty_group_of_an_old_record_expires_by_the_commit)
{
    struct group_age g = {.protocol_type = CONSUMER, .is_empty = true, .state_ms = -1};

    ck_assert(!expires(&g, NOW - RETENTION + 1));
    ck_assert(expires(&g, NOW - RETENTION));
}
END_TEST

/* Version 0: topics t and u, no user data. */
#define SUBSCRIPTION "00 00 00 00 00 02 00 01 74 00 01 75 ff ff ff ff"

static void subscribe(struct read_topics *topics, const char *hex, int want)
{
    CLEANUP(arena_deinit) struct arena a = {0};

    ck_assert_int_eq(read_topics_add(topics, hex_bytes(&a, hex)), want);
}

START_TEST(stable_group_expires_what_nobody_reads)
{
    CLEANUP(read_topics_deinit) struct read_topics none = {0};
    CLEANUP(read_topics_deinit) struct read_topics topics = {0};
    struct group_age g = {.protocol_type = CONSUMER, .is_stable = true, .topics = &none};

    /* How long it has been stable does not matter. */
    for (g.state_ms = -1; g.state_ms <= NOW; g.state_ms += NOW + 1) {
        ck_assert(!expires(&g, NOW - RETENTION + 1));
        ck_assert(expires(&g, NOW - RETENTION));
    }
    subscribe(&topics, SUBSCRIPTION, 0);
    g.topics = &topics;
    ck_assert(!expires(&g, 0));
    g.topics = NULL;
    ck_assert(!expires(&g, 0));
}
END_TEST

START_TEST(one_broken_subscription_keeps_everything)
{
    CLEANUP(read_topics_deinit) struct read_topics topics = {0};
    struct group_age g = {.protocol_type = CONSUMER, .is_stable = true, .topics = &topics};

    subscribe(&topics, "00 00 00 00 00 00 ff ff ff ff", 0);
    ck_assert(expires(&g, 0));
    subscribe(&topics, "00 00 00 00 00 02 00 01 74", -EBADMSG);
    ck_assert(!expires(&g, 0));
    subscribe(&topics, "00 00 00 00 00 00 ff ff ff ff", 0);
    ck_assert(!expires(&g, 0));
    ck_assert(read_topics_has(&topics, STR("whatever")));
}
END_TEST

START_TEST(other_states_and_types_keep_everything)
{
    CLEANUP(read_topics_deinit) struct read_topics none = {0};
    struct group_age rebalancing = {.protocol_type = CONSUMER, .topics = &none};
    struct group_age connect = {.protocol_type = STR("connect"), .topics = &none};

    ck_assert(!expires(&rebalancing, 0));
    connect.is_stable = true;
    ck_assert(!expires(&connect, 0));
    connect.is_stable = false;
    ck_assert(!expires(&connect, 0));
    /* An empty text is a type; only null is none. */
    connect.protocol_type = STR("");
    ck_assert(!expires(&connect, 0));
}
END_TEST

START_TEST(time_that_the_client_set_goes_before_retention)
{
    CLEANUP(read_topics_deinit) struct read_topics topics = {0};
    struct committed c = commit(0);
    struct group_age g = {.retention_ms = RETENTION, .now_ms = NOW};

    c.expire_ms = NOW + 1;
    ck_assert(!offset_is_expired(&g, T, &c, false));
    c.expire_ms = NOW;
    ck_assert(offset_is_expired(&g, T, &c, false));
    c.commit_ms = NOW;
    ck_assert(offset_is_expired(&g, T, &c, false));
    ck_assert(!offset_is_expired(&g, T, &c, true));
    g.protocol_type = CONSUMER;
    g.is_empty = true;
    g.state_ms = NOW;
    ck_assert(offset_is_expired(&g, T, &c, false));
    g.is_empty = false;
    ck_assert(!offset_is_expired(&g, T, &c, false));
    /* Nor does it go before a subscription. */
    g.is_stable = true;
    g.topics = &topics;
    ck_assert(offset_is_expired(&g, T, &c, false));
    subscribe(&topics, SUBSCRIPTION, 0);
    ck_assert(!offset_is_expired(&g, T, &c, false));
}
END_TEST

START_TEST(pending_commit_keeps_the_one_before)
{
    struct committed c = commit(0);
    struct group_age g = {.retention_ms = RETENTION, .now_ms = NOW};

    ck_assert(offset_is_expired(&g, T, &c, false));
    ck_assert(!offset_is_expired(&g, T, &c, true));
}
END_TEST

START_TEST(strange_times_wrap_as_in_kafka)
{
    struct group_age g = {0};

    ck_assert(!expires(&g, INT64_MAX));
    ck_assert(!expires(&g, INT64_MIN));
    ck_assert(expires(&g, -1));
}
END_TEST

START_TEST(subscriptions_of_every_version_are_read)
{
    static const char *const versions[] = {
        SUBSCRIPTION,
        /* 1: owned partitions; 3: generation and rack; one that is yet to come. */
        "00 01 00 00 00 02 00 01 74 00 01 75 ff ff ff ff 00 00 00 01 00 01 74 00 00 00 00",
        "00 03 00 00 00 02 00 01 74 00 01 75 00 00 00 01 aa 00 00 00 00 00 00 00 05 00 01 72",
        "00 63 00 00 00 02 00 01 74 00 01 75 ff ff ff ff 01 02 03",
        "ff ff 00 00 00 02 00 01 74 00 01 75 ff ff ff ff",
    };

    for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
        CLEANUP(read_topics_deinit) struct read_topics topics = {0};

        subscribe(&topics, versions[i], 0);
        ck_assert(read_topics_has(&topics, T) && read_topics_has(&topics, STR("u")));
        ck_assert(!read_topics_has(&topics, STR("v")) && !read_topics_has(&topics, STR("")));
        ck_assert(!topics.is_unknown);
    }
}
END_TEST

START_TEST(members_add_up)
{
    CLEANUP(read_topics_deinit) struct read_topics topics = {0};

    ck_assert(!read_topics_has(&topics, T));
    subscribe(&topics, SUBSCRIPTION, 0);
    subscribe(&topics, SUBSCRIPTION, 0);
    subscribe(&topics, "00 00 00 00 00 02 00 00 00 01 76 ff ff ff ff", 0);
    ck_assert(read_topics_has(&topics, T) && read_topics_has(&topics, STR("v")));
    ck_assert(read_topics_has(&topics, STR("")));
    ck_assert(!read_topics_has(&topics, STR("w")));
}
END_TEST

START_TEST(bytes_that_are_no_subscription_are_told)
{
    static const char *const bad[] = {
        "",
        "00",
        "00 00",
        "00 00 ff ff ff ff ff ff ff ff",
        "00 00 7f ff ff ff 00 01 74",
        "00 00 00 00 00 01 ff ff ff ff ff ff",
        "00 00 00 00 00 01 00 01 74 00 00 00 05 00",
    };

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        CLEANUP(read_topics_deinit) struct read_topics topics = {0};

        subscribe(&topics, bad[i], -EBADMSG);
        ck_assert(topics.is_unknown);
    }
}
END_TEST

TEST_MAIN("broker/group/group_expire", simple_group_expires_by_the_commit,
          empty_group_expires_by_the_time_it_became_so,
          empty_group_of_an_old_record_expires_by_the_commit,
          stable_group_expires_what_nobody_reads, one_broken_subscription_keeps_everything,
          other_states_and_types_keep_everything, time_that_the_client_set_goes_before_retention,
          pending_commit_keeps_the_one_before, strange_times_wrap_as_in_kafka,
          subscriptions_of_every_version_are_read, members_add_up,
          bytes_that_are_no_subscription_are_told)
