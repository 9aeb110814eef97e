/*
 * node_test.h - shorthands of the codec tests
 */
#pragma once

#include "tests/support/test_main.h"
#include "zk/node.h"

static inline struct slice bytes(const char *text)
{
    return slice_of(text, strlen(text));
}

#define ck_text(slice_, expected)                                                                  \
    do {                                                                                           \
        struct slice got_ = (slice_);                                                              \
        ck_assert_msg(str_eqz(str_of_slice(got_), expected), "got %.*s", (int)got_.len,            \
                      (const char *)got_.p);                                                       \
    } while (0)

#define ck_ids(ids, ...)                                                                           \
    do {                                                                                           \
        int32_t want_[] = {__VA_ARGS__};                                                           \
        struct node_ids list_ = {want_, (int32_t)ARRAY_LEN(want_)};                                \
        ck_assert(node_ids_eq(&(ids), &list_));                                                    \
    } while (0)
