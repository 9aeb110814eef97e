/*
 * zk_test.h - a fake ensemble with two clients, set up anew for each test
 */
#pragma once

#include "common/base/say.h"
#include "tests/support/fake_zk.h"
#include "tests/support/test_main.h"
#include "zk/zk_cluster.h"
#include "zk/zk_paths.h"

struct zk_test {
    struct clock_fake clock;
    struct fake_zk_server *server;
    struct fake_zk *one, *two;
    struct zk_store *s, *t; /* of one, of two */
    struct arena a;
};

static inline void on_test_pause(int64_t ms, void *ctx)
{
    clock_fake_advance(ctx, ms);
}

static inline void zk_test_init(struct zk_test *z)
{
    *z = (struct zk_test){0};
    clock_fake_init(&z->clock, 1700000000000);
    z->server = fake_zk_server_new(&z->clock.clock);
    z->one = fake_zk_new(z->server);
    z->two = fake_zk_new(z->server);
    z->s = fake_zk_store(z->one);
    z->t = fake_zk_store(z->two);
    fake_zk_on_pause(z->one, on_test_pause, &z->clock);
    ck_assert_int_eq(zk_cluster_prepare(z->s), ZK_OK);
}

static inline void zk_test_deinit(struct zk_test *z)
{
    fake_zk_free(z->one);
    fake_zk_free(z->two);
    fake_zk_server_free(z->server);
    arena_deinit(&z->a);
}

static inline struct slice bytes(const char *text)
{
    return slice_of(text, strlen(text));
}

/* True if the node holds exactly that text. */
static inline bool zk_test_holds(struct zk_test *z, const char *path, const char *text)
{
    struct slice data;

    return zk_store_get(z->s, path, &z->a, &data, NULL) == ZK_OK &&
           str_eqz(str_of_slice(data), text);
}

/* The controller epoch of the tests: version 1. */
static inline void zk_test_epoch(struct zk_test *z)
{
    ck_assert_int_eq(zk_store_create(z->s, ZK_PATH_CONTROLLER_EPOCH, bytes("1"), 0), ZK_OK);
    ck_assert_int_eq(zk_store_set(z->s, ZK_PATH_CONTROLLER_EPOCH, bytes("2"), -1, NULL), ZK_OK);
}
