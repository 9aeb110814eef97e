/*
 * test_server.h - the network side of a broker on loopback, with handlers made for tests, and a
 * client that blocks
 *
 * Heartbeat: answered at once; the generation comes back as the throttle time. ListGroups: parked
 * until test_server_release(). Fetch: the same, but no barrier; answered with the file range, where
 * one is set, as its only records. LeaveGroup: answered from another thread. SyncGroup: closes.
 * Produce with acks=0: no answer; else an empty one. Metadata: an answer of 100 KB.
 */
#pragma once

#include "broker/server/conn_set.h"
#include "broker/server/listener.h"
#include "common/wire/header.h"

struct test_server_opts {
    int reactors; /* 0: one */
    uint32_t max_frame_bytes;
    int64_t max_idle_ms;
    int64_t max_request_bytes;
    int64_t max_connections;
    int64_t max_rate; /* of connections, in a second */
    int64_t max_per_ip;
    const struct tls_server *tls;
};

struct test_server;

struct test_server *test_server_start(const struct test_server_opts *opts);
/* True if every request was answered and freed. */
bool test_server_stop(struct test_server *t);
int test_server_port(const struct test_server *t);
struct listener *test_server_listener(struct test_server *t);
/* How many handlers have been called; waits until there were at least so many. */
int test_server_started(struct test_server *t, int at_least);
/* Answers the parked requests, oldest first, at most count of them, from this thread; waits until
 * there are so many. */
void test_server_release(struct test_server *t, int count);
/* From now on parked requests are answered at once, and all that wait are. */
void test_server_release_all(struct test_server *t);
/* What Fetch answers: a range of a file. */
void test_server_set_file(struct test_server *t, struct file *f, uint64_t pos, uint32_t len);
/* Of the last request. */
const char *test_server_principal(const struct test_server *t);
/* Waits until so many connections are open. */
void test_server_await_connections(struct test_server *t, int count);

/* A client's socket, blocking, which gives up after 20 s. */
int client_connect(const struct test_server *t);
void client_send(int fd, struct slice bytes);
/* A request with an empty message but for what fill() sets; generation only for Heartbeat. */
void client_ask(int fd, int16_t key, int16_t version, int32_t correlation_id);
void client_heartbeat(int fd, int32_t correlation_id, int generation);
/* The next answer: its body decoded into the arena; returns the correlation id, or -1 at the end of
 * the stream. */
int32_t client_answer(int fd, int16_t key, int16_t version, struct arena *a, const void **ret);
/* Of Heartbeat: the throttle time, or -1 at the end. */
int client_beat(int fd, int32_t correlation_id);
/* Whether the server has hung up. Waits for bytes or the end. */
bool client_is_closed(int fd);
