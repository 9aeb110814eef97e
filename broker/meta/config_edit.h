/*
 * config_edit.h - single changes to a set of settings: set, delete, and for lists append, subtract
 *
 * As in IncrementalAlterConfigs (protocol.md 11.25). Thread: any; no state.
 */
#pragma once

#include "common/base/arena.h"
#include "common/base/props.h"
#include "common/conf/conf.h"

enum config_op { CONFIG_OP_SET, CONFIG_OP_DELETE, CONFIG_OP_APPEND, CONFIG_OP_SUBTRACT };

struct config_edit {
    struct str key;
    struct str value; /* null: only where it is deleted */
    int8_t op;
};

struct config_keys {
    const struct conf_option *options;
    size_t count;
};

/*
 * Applies one. A list that is not set starts from the option's built-in default. 0, INVALID_CONFIG
 * with a message in the arena, or UNKNOWN_SERVER_ERROR without one (a list operation on a key that
 * no option has, or an operation that does not exist), as Kafka answers.
 */
int16_t config_edit_apply(const struct config_edit *e, struct config_keys keys, struct props *p,
                          struct arena *a, struct str *ret_message);
