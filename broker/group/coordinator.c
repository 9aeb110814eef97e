#include "broker/group/coordinator.h"

#include "common/base/err.h"

static int check(struct group_manager *m, struct str group_id)
{
    return group_id.len == 0 ? INVALID_GROUP_ID : group_manager_check(m, group_id);
}

/* ---- JoinGroup ---- */

static void refuse_join(struct join_call *c, struct str member_id, int error)
{
    c->done(c, &(struct join_answer){.error = error,
                                     .generation = -1,
                                     .protocol_type = STR_NULL,
                                     .protocol = STR_NULL,
                                     .leader = STR(""),
                                     .member_id = member_id});
}

static bool is_session_timeout(const struct group_manager *m, int32_t ms)
{
    const struct group_manager_opts *opts = group_manager_opts(m);

    return ms >= opts->min_session_timeout_ms && ms <= opts->max_session_timeout_ms;
}

/* The group to join. Only somebody who is new makes one. */
static int find_to_join(struct group_manager *m, struct str group_id,
                        const struct join_request *req, struct group **ret)
{
    int r = check(m, group_id);

    if (r == 0 && !is_session_timeout(m, req->session_timeout_ms))
        return INVALID_SESSION_TIMEOUT;
    if (r == 0)
        r = req->member_id.len == 0 ? group_manager_obtain(m, group_id, ret)
                                    : group_manager_find(m, group_id, ret);
    return r || *ret ? r : UNKNOWN_MEMBER_ID;
}

void coordinator_join(struct group_manager *m, struct str group_id, const struct join_request *req,
                      struct join_call *c)
{
    struct group *CLEANUP(group_unref_p) g = NULL;
    int r = find_to_join(m, group_id, req, &g);

    if (r)
        refuse_join(c, req->member_id, r);
    else
        rebalance_join(g, req, c);
}

/* ---- SyncGroup ---- */

void coordinator_sync(struct group_manager *m, struct str group_id, const struct sync_request *req,
                      struct sync_call *c)
{
    struct group *CLEANUP(group_unref_p) g = NULL;
    int r = check(m, group_id);

    if (r == 0)
        r = group_manager_find(m, group_id, &g);
    if (r == 0 && !g)
        r = UNKNOWN_MEMBER_ID;
    if (r == 0) {
        rebalance_sync(g, req, c);
        return;
    }
    /* While a group is loaded, its members shall join anew when that is done. */
    if (r == COORDINATOR_LOAD_IN_PROGRESS)
        r = REBALANCE_IN_PROGRESS;
    c->done(c, &(struct sync_answer){.error = r,
                                     .protocol_type = STR_NULL,
                                     .protocol = STR_NULL,
                                     .assignment = slice_of("", 0)});
}

/* ---- Heartbeat, LeaveGroup ---- */

int coordinator_heartbeat(struct group_manager *m, struct str group_id, struct str member_id,
                          struct str instance, int32_t generation)
{
    struct group *CLEANUP(group_unref_p) g = NULL;
    int r = check(m, group_id);

    if (r == 0)
        r = group_manager_find(m, group_id, &g);
    if (r == COORDINATOR_LOAD_IN_PROGRESS)
        return 0; /* nobody is expired meanwhile */
    if (r)
        return r;
    return g ? rebalance_heartbeat(g, member_id, instance, generation) : UNKNOWN_MEMBER_ID;
}

int coordinator_leave(struct group_manager *m, struct str group_id, struct leaving *v,
                      int32_t count)
{
    struct group *CLEANUP(group_unref_p) g = NULL;
    int r = check(m, group_id);

    if (r == 0)
        r = group_manager_find(m, group_id, &g);
    for (int32_t i = 0; r == 0 && i < count; i++) {
        v[i].error = g ? rebalance_leave(g, v[i].member_id, v[i].instance) : UNKNOWN_MEMBER_ID;
        if (v[i].error == COORDINATOR_NOT_AVAILABLE)
            return COORDINATOR_NOT_AVAILABLE;
    }
    return r;
}

int coordinator_find(struct group_manager *m, struct str group_id, struct group **ret)
{
    int r = group_manager_find(m, group_id, ret);

    return r || *ret ? r : GROUP_ID_NOT_FOUND;
}
