/*
 * zk_malformed.h - one line for a znode that cannot be decoded
 */
#pragma once

#include "common/base/say.h"
#include "zk/node.h"
#include "zk/zk_result.h"

/* Rate-limited: whoever can write to ZooKeeper can bring this about as often as he likes. */
static inline enum zk_result zk_malformed(const char *path, const struct node_why *why)
{
    say_limited(SAY_ERROR, 50,
                "znode %s cannot be decoded: %s; it is passed over until somebody writes it again",
                path, why->text);
    return ZK_MALFORMED;
}
