/*
 * quota_admin.h - quotas of users, clients and addresses: checked, written to ZooKeeper, and found
 * there
 *
 * For AlterClientQuotas and DescribeClientQuotas, which any broker serves (protocol.md 11.28). They
 * stand below /config/users, /config/clients and /config/ips. All calls block on ZooKeeper: they
 * belong on a worker. No state. Errors are wire codes with a message for the client, or null.
 */
#pragma once

#include "zk/zk_store.h"

/* One half of "user alice, client c": the type's name, and a name or null for the default. */
struct quota_part {
    struct str type; /* "user", "client-id", "ip" */
    struct str name;
};

struct quota_op {
    struct str key;
    double value;
    bool is_removal;
};

struct quota_alteration {
    struct quota_part *parts; /* of each type one */
    int32_t part_count;
    const struct quota_op *ops;
    int32_t op_count;
    /* The answer. */
    int16_t error;
    struct str message;
};

struct quota_run {
    struct zk_store *zk;
    struct arena *a;
    bool is_dry_run; /* checks, and writes nothing */
};

/* Each on its own, in order. */
void quota_admin_alter(const struct quota_run *run, struct quota_alteration *list, size_t count);

enum quota_match { QUOTA_EXACT, QUOTA_DEFAULT, QUOTA_ANY };

struct quota_filter_part {
    struct str type;
    int8_t match;
    struct str name; /* QUOTA_EXACT */
};

struct quota_filter {
    const struct quota_filter_part *parts;
    int32_t part_count;
    bool is_strict; /* entities have no other part than these */
};

struct quota_value {
    struct str key;
    double value;
};

struct quota_entry {
    struct quota_part parts[2];
    int32_t part_count;
    struct quota_value *values;
    int32_t value_count;
};

struct quota_list {
    struct quota_entry *entries;
    int32_t count, cap;
};

/* Entries lie in the arena. */
int16_t quota_admin_describe(const struct quota_run *run, const struct quota_filter *f,
                             struct quota_list *ret, struct str *ret_message);
