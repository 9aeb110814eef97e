#include "zk/zk_result.h"

#include "common/base/err.h"

static const struct {
    const char *name;
    int err;
} results[] = {
    [ZK_OK] = {"OK", 0},
    [ZK_NO_NODE] = {"NO_NODE", -ENOENT},
    [ZK_NODE_EXISTS] = {"NODE_EXISTS", -EEXIST},
    [ZK_BAD_VERSION] = {"BAD_VERSION", -EAGAIN},
    [ZK_NOT_EMPTY] = {"NOT_EMPTY", -ENOTEMPTY},
    [ZK_CONTROLLER_MOVED] = {"CONTROLLER_MOVED", NOT_CONTROLLER},
    [ZK_MALFORMED] = {"MALFORMED", -EBADMSG},
    [ZK_SESSION_EXPIRED] = {"SESSION_EXPIRED", -ESTALE},
    [ZK_AUTH_FAILED] = {"AUTH_FAILED", -EACCES},
    [ZK_NO_AUTH] = {"NO_AUTH", -EACCES},
    [ZK_CLOSING] = {"CLOSING", -ECANCELED},
    [ZK_ROLLED_BACK] = {"ROLLED_BACK", -EIO},
    [ZK_REFUSED] = {"REFUSED", -EPERM},
    [ZK_OTHER] = {"OTHER", -EIO},
};

const char *zk_result_name(enum zk_result r)
{
    return (size_t)r < ARRAY_LEN(results) ? results[r].name : "UNKNOWN";
}

int zk_result_err(enum zk_result r)
{
    assert((size_t)r < ARRAY_LEN(results));
    return results[r].err;
}
