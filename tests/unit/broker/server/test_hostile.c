/*
 * test_hostile.c - clients that send what no client should, or nothing: none of them crashes the
 * server, none harms another
 */
#include "broker/server/conn.h"

#include "common/base/err.h"
#include "common/base/mem.h"
#include "tests/support/random_msg.h"
#include "tests/support/test_main.h"
#include "tests/support/test_server.h"

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

static const struct test_server_opts plain;

static void assert_healthy(const struct test_server *t)
{
    int fd = client_connect(t);

    client_heartbeat(fd, 1, 4711);
    ck_assert_int_eq(client_beat(fd, 1), 4711);
    close(fd);
}

static void send_bytes(const struct test_server *t, const void *p, size_t n)
{
    int fd = client_connect(t);

    client_send(fd, slice_of(p, n));
    ck_assert(client_is_closed(fd));
    close(fd);
}

START_TEST(wrong_sizes_close_at_once)
{
    const struct test_server_opts opts = {.max_frame_bytes = 1000};
    struct test_server *t = test_server_start(&opts);

    send_bytes(t, "\xff\xff\xff\xff", 4); /* -1 */
    send_bytes(t, "\x80\0\0\0", 4);
    send_bytes(t, "\0\0\0\0", 4);     /* no header in it */
    send_bytes(t, "\0\0\x03\xe9", 4); /* one too many */
    send_bytes(t, "\0\0\0\2\0\1", 6); /* half a header */
    send_bytes(t, "GET / HTTP/1.1\r\n\r\n", 18);
    send_bytes(t, "\x16\3\1\2\0\1\0\1\xfc\3\3", 11); /* TLS at a plain listener */
    assert_healthy(t);
    ck_assert(test_server_stop(t));
}
END_TEST

/* A frame with this header, and a body that does not matter. */
static void ask_raw(const struct test_server *t, int16_t key, int16_t version)
{
    uint8_t frame[] = {0, 0, 0, 14, 0, 0, 0, 0, 0, 0, 0, 9, 0, 1, 'x', 0, 0, 0};

    be16_write(frame + 4, (uint16_t)key);
    be16_write(frame + 6, (uint16_t)version);
    send_bytes(t, frame, sizeof frame);
}

START_TEST(unknown_apis_and_versions_close)
{
    static const struct {
        int16_t key, version;
    } unknown[] = {{-1, 0},         {52, 0}, {10000, 0}, {API_HEARTBEAT, 5}, {API_HEARTBEAT, -1},
                   {API_END_TXN, 0}};
    struct test_server *t = test_server_start(&plain);

    for (size_t i = 0; i < ARRAY_LEN(unknown); i++)
        ask_raw(t, unknown[i].key, unknown[i].version);
    assert_healthy(t);
    ck_assert(test_server_stop(t));
}
END_TEST

START_TEST(api_versions_of_the_future_are_answered_in_version_0)
{
    static const uint8_t frame[] = {0, 0, 0, 14, 0, 18,  0, 99,   0,
                                    0, 0, 9, 0,  1, 'x', 0, 0xff, 0xff};
    CLEANUP(arena_deinit) struct arena a = {0};
    struct test_server *t = test_server_start(&plain);
    int fd = client_connect(t);
    const void *m = NULL;

    client_send(fd, slice_of(frame, sizeof frame));
    ck_assert_int_eq(client_answer(fd, API_API_VERSIONS, 0, &a, &m), 9);
    const struct api_versions_response *resp = m;
    ck_assert_int_eq(resp->error_code, UNSUPPORTED_VERSION);
    ck_assert_int_eq(resp->api_keys_count, 1);
    ck_assert_int_eq(resp->api_keys[0].api_key, API_API_VERSIONS);
    ck_assert_int_eq(resp->api_keys[0].max_version, 4);
    client_heartbeat(fd, 1, 5);
    ck_assert_int_eq(client_beat(fd, 1), 5);
    close(fd);
    ck_assert(test_server_stop(t));
}
END_TEST

START_TEST(random_bytes_harm_nobody)
{
    struct random_source r = {20261130};
    struct test_server *t = test_server_start(&plain);

    for (int i = 0; i < 2000; i++) {
        uint8_t bytes[300];
        size_t len = 1 + random_to(&r, sizeof bytes);
        int fd = client_connect(t);

        for (size_t k = 0; k < len; k++)
            bytes[k] = (uint8_t)random_next(&r);
        /* Half of them with a size that fits, an API that is there, and a version that may be. */
        if (i % 2 && len > 16) {
            be32_write(bytes, (uint32_t)len - 4);
            be16_write(bytes + 4, (uint16_t)random_to(&r, API_KEY_COUNT));
            be16_write(bytes + 6, (uint16_t)random_to(&r, 13));
        }
        client_send(fd, slice_of(bytes, len));
        close(fd);
    }
    assert_healthy(t);
    test_server_release_all(t);
    test_server_await_connections(t, 0);
    ck_assert_int_lt(test_server_started(t, 1), 2000);
    ck_assert(test_server_stop(t));
}
END_TEST

/* Good frames of every API in all versions, with a few bits turned over. */
START_TEST(mutated_frames_harm_nobody)
{
    struct random_source r = {77};
    struct test_server *t = test_server_start(&plain);
    int fd = -1;

    for (int i = 0; i < 6000; i++) {
        CLEANUP(arena_deinit) struct arena a = {0};
        int16_t key = (int16_t)random_to(&r, API_KEY_COUNT);
        const struct api_msgs *api = api_messages_find(key);
        struct writer w;

        if (!api)
            continue;
        if (fd < 0)
            fd = client_connect(t);
        int16_t version =
            (int16_t)(api->min_version +
                      (int)random_to(&r, (uint32_t)(api->max_version - api->min_version + 1)));
        const struct request_header h = {key, version, i, STR("mutant")};
        void *message = arena_alloc(&a, api->request->root.size);
        random_msg(api->request, version, &r, &a, message);
        writer_init(&w, &a);
        ck_assert_int_eq(request_encode(&h, message, &w), 0);
        struct slice frame = writer_flat(&w);
        uint8_t *bytes = arena_alloc(&a, frame.len);
        memcpy(bytes, frame.p, frame.len);
        for (uint32_t n = random_to(&r, 4); n > 0; n--)
            bytes[4 + random_to(&r, (uint32_t)frame.len - 4)] ^= (uint8_t)(1u << random_to(&r, 8));
        client_send(fd, slice_of(bytes, frame.len));
        if (random_to(&r, 3) == 0) {
            close(fd);
            fd = -1;
        }
    }
    if (fd >= 0)
        close(fd);
    assert_healthy(t);
    test_server_release_all(t);
    ck_assert(test_server_stop(t));
}
END_TEST

START_TEST(a_frame_that_comes_byte_by_byte_is_understood)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct test_server *t = test_server_start(&plain);
    const struct request_header h = {API_HEARTBEAT, 4, 3, STR("slow")};
    struct heartbeat_request message;
    struct writer w;
    int fd = client_connect(t);

    msg_init(&heartbeat_request_desc, &message);
    writer_init(&w, &a);
    ck_assert_int_eq(request_encode(&h, &message, &w), 0);
    struct slice frame = writer_flat(&w);
    for (size_t i = 0; i < frame.len; i++) {
        client_send(fd, slice_sub(frame, i, 1));
        assert_healthy(t);
    }
    ck_assert_int_eq(client_beat(fd, 3), 0);
    close(fd);
    ck_assert(test_server_stop(t));
}
END_TEST

START_TEST(half_frames_and_half_open_connections_are_ended_as_idle)
{
    const struct test_server_opts opts = {.max_idle_ms = 50};
    struct test_server *t = test_server_start(&opts);
    int fd[50];

    for (size_t i = 0; i < ARRAY_LEN(fd); i++) {
        fd[i] = client_connect(t);
        client_send(fd[i], slice_of("\0\0\x10\0abcdef", i % 10));
    }
    for (size_t i = 0; i < ARRAY_LEN(fd); i++) {
        ck_assert(client_is_closed(fd[i]));
        close(fd[i]);
    }
    ck_assert(test_server_stop(t));
}
END_TEST

/* As many as the limit of descriptors allows in one process, ten thousand at most. */
START_TEST(idle_connections_cost_less_than_a_kilobyte)
{
    struct test_server *t = test_server_start(&plain);
    struct rlimit limit;

    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    int count = (int)MIN((limit.rlim_cur / 8 * 7 - 100) / 2, (rlim_t)10000);
    CLEANUP(free_p) int *fd = xnew_array(int, (size_t)count);
    size_t before = mallinfo2().uordblks;
    for (int i = 0; i < count; i++)
        fd[i] = client_connect(t);
    test_server_await_connections(t, count);
    for (int i = 0; i < count; i += 97) {
        client_heartbeat(fd[i], i, i);
        ck_assert_int_eq(client_beat(fd[i], i), i);
    }
    size_t each = (mallinfo2().uordblks - before) / (size_t)count;
    if (each >= 1024)
        ck_abort_msg("%zu bytes for each of %d connections", each, count);
    for (int i = 0; i < count; i++)
        close(fd[i]);
    test_server_await_connections(t, 0);
    assert_healthy(t);
    ck_assert(test_server_stop(t));
}
END_TEST

/* Of 400 descriptors, of which each connection here takes two. */
START_TEST(connections_leave_open_files_for_the_logs)
{
    struct rlimit limit;
    int fd[190];

    getrlimit(RLIMIT_NOFILE, &limit);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &(struct rlimit){400, limit.rlim_max}), 0);
    struct test_server *t = test_server_start(&plain);
    for (size_t i = 0; i < ARRAY_LEN(fd); i++)
        fd[i] = client_connect(t);
    ck_assert(client_is_closed(fd[ARRAY_LEN(fd) - 1]));
    ck_assert_int_lt(listener_connections(test_server_listener(t)), 175);
    ck_assert_int_gt(listener_connections(test_server_listener(t)), 100);
    for (size_t i = 0; i < ARRAY_LEN(fd); i++)
        close(fd[i]);
    test_server_await_connections(t, 0);
    assert_healthy(t);
    ck_assert(test_server_stop(t));
    setrlimit(RLIMIT_NOFILE, &limit);
}
END_TEST

TEST_MAIN("broker/server/hostile", wrong_sizes_close_at_once, unknown_apis_and_versions_close,
          api_versions_of_the_future_are_answered_in_version_0, random_bytes_harm_nobody,
          mutated_frames_harm_nobody, a_frame_that_comes_byte_by_byte_is_understood,
          half_frames_and_half_open_connections_are_ended_as_idle,
          connections_leave_open_files_for_the_logs, idle_connections_cost_less_than_a_kilobyte)
