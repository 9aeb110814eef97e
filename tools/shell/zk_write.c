/*
 * zk_write.c - create, set, delete, deleteall, setAcl
 */
#include "common/base/err.h"
#include "common/base/mem.h"
#include "tools/base/progress.h"
#include "tools/base/stop.h"
#include "tools/shell/zk_command.h"

static void print_stat(const struct zk_call *c, const struct zk_direct_stat *stat)
{
    CLEANUP(strbuf_deinit) struct strbuf sb = {0};

    if (!zk_call_has(c, 's'))
        return;
    zk_stat_print(stat, &sb);
    fputs(sb.s, stdout);
}

/* ---- create ---- */

/* 0 where there is an entry; what is none is told on stderr. */
static int check_acl(const struct zk_call *c, const char *text)
{
    CLEANUP(strbuf_deinit) struct strbuf said = {0};
    struct zk_direct_acls acls;

    zk_acl_parse(text, c->arena, &acls, &said);
    if (!c->sh->inv->as_kafka && said.len)
        return tool_misused(c->sh->inv, "%.*s", (int)(said.len - 1), said.s);
    fputs(said.len ? said.s : "", stderr);
    return acls.count ? 0 : zk_call_fail(c, ZK_DIRECT_INVALID_ACL, NULL);
}

int zk_check_create(struct zk_call *c)
{
    if (zk_call_has(c, 'c') && (zk_call_has(c, 's') || zk_call_has(c, 'e')))
        return tool_misused(c->sh->inv, "-c cannot be combined with -s or -e. Containers cannot be "
                                        "ephemeral or sequential.");
    if (c->value && (zk_call_has(c, 'e') || zk_call_has(c, 'c')))
        return tool_misused(c->sh->inv, "TTLs cannot be used with %s znodes",
                            zk_call_has(c, 'e') ? "Ephemeral" : "Container");
    return c->count > 3 ? check_acl(c, c->words[3]) : 0;
}

static enum zk_create_mode mode_of(const struct zk_call *c)
{
    if (zk_call_has(c, 'c'))
        return ZK_CREATE_CONTAINER;
    if (c->value)
        return zk_call_has(c, 's') ? ZK_CREATE_TTL_SEQUENTIAL : ZK_CREATE_TTL;
    if (zk_call_has(c, 's'))
        return zk_call_has(c, 'e') ? ZK_CREATE_EPHEMERAL_SEQUENTIAL : ZK_CREATE_SEQUENTIAL;
    return zk_call_has(c, 'e') ? ZK_CREATE_EPHEMERAL : ZK_CREATE_PERSISTENT;
}

int zk_do_create(struct zk_call *c)
{
    struct zk_direct_node node = {.path = c->words[1], .mode = mode_of(c), .ttl_ms = c->number};
    CLEANUP(strbuf_deinit) struct strbuf said = {0};
    const char *path;

    if (c->count > 2)
        node.data = slice_of(c->words[2], strlen(c->words[2]));
    if (c->count > 3)
        zk_acl_parse(c->words[3], c->arena, &node.acls, &said);
    int r = zk_direct_create(c->sh->zk, &node, c->arena, &path);
    if (r != 0)
        return zk_call_fail(c, r, c->words[1]);
    fprintf(c->sh->inv->as_kafka ? stderr : stdout, "Created %s\n", path);
    return tool_done(c->sh->inv);
}

/* ---- set, delete ---- */

int zk_do_set(struct zk_call *c)
{
    const char *data = c->words[2];
    struct zk_direct_stat stat;
    int r = zk_direct_set(c->sh->zk, c->words[1], slice_of(data, strlen(data)), (int32_t)c->number,
                          &stat);

    if (r != 0)
        return zk_call_fail(c, r, c->words[1]);
    print_stat(c, &stat);
    return tool_done(c->sh->inv);
}

int zk_do_delete(struct zk_call *c)
{
    int r = zk_direct_delete(c->sh->zk, c->words[1], (int32_t)c->number);

    return r == 0 ? 0 : zk_call_fail(c, r, c->words[1]);
}

/* Children before their parents; what is gone already is as good. */
static int delete_tree(struct zk_call *c, const struct zk_tree *tree)
{
    struct progress progress;
    size_t failed = 0, left = tree->count;
    const char *at = NULL;
    int first = 0;

    stop_catch(c->sh->inv);
    progress_start(&progress, "deleted", tree->count, c->sh->inv->as_kafka);
    for (; left > 0 && !stop_wanted(); left--) {
        int r = zk_direct_delete(c->sh->zk, tree->paths[left - 1], -1);
        progress_things(&progress, "nodes", tree->count - left);
        if (r == 0 || r == ZK_DIRECT_NO_NODE)
            continue;
        failed++;
        first = first ? first : r;
        at = at ? at : tree->paths[left - 1];
        if (r == ZK_DIRECT_CONNECTION_LOSS || r == ZK_DIRECT_SESSION_EXPIRED)
            break;
    }
    progress_wipe(&progress);
    if (stop_wanted() && left > 0)
        return tool_fail(c->sh->inv, "stopped: %zu of %zu nodes below %s are still there", left,
                         tree->count, c->words[1]);
    if (failed && c->sh->inv->as_kafka)
        fputs("Failed to delete some node(s) in the subtree!\n", stderr);
    return failed ? zk_call_fail(c, first, at) : 0;
}

int zk_do_deleteall(struct zk_call *c)
{
    CLEANUP(zk_tree_deinit) struct zk_tree tree = {0};
    const char *at = c->words[1];
    int r = zk_tree_list(c, at, &tree, &at);

    if (r != 0)
        return zk_call_fail(c, r, at);
    if (!c->sh->dry_run)
        return delete_tree(c, &tree);
    for (size_t i = tree.count; i > 0; i--)
        printf("would delete %s\n", tree.paths[i - 1]);
    return tool_done(c->sh->inv);
}

/* ---- setAcl ---- */

int zk_check_set_acl(struct zk_call *c)
{
    return check_acl(c, c->words[2]);
}

/* ZooKeeper's shell goes on where a node refuses, says so without an end of line, and succeeds. */
static int set_acl_below(struct zk_call *c, const struct zk_direct_acls *acls)
{
    CLEANUP(zk_tree_deinit) struct zk_tree tree = {0};
    const char *at = c->words[1];
    int r = zk_tree_list(c, at, &tree, &at);
    size_t i = 0;

    stop_catch(c->sh->inv);
    for (; r == 0 && i < tree.count && !stop_wanted(); i++) {
        at = tree.paths[i];
        r = zk_direct_set_acl(c->sh->zk, at, (int32_t)c->number, acls);
        if (r == ZK_DIRECT_NO_NODE)
            r = 0;
        if (r == 0 || !c->sh->inv->as_kafka)
            continue;
        printf("KeeperErrorCode = %s for %s", zk_direct_name(r), at);
        r = 0;
    }
    if (r != 0)
        return zk_call_fail(c, r, at);
    if (i < tree.count)
        return tool_fail(c->sh->inv, "stopped: %zu of %zu nodes below %s have their old ACL",
                         tree.count - i, tree.count, c->words[1]);
    return tool_done(c->sh->inv);
}

int zk_do_set_acl(struct zk_call *c)
{
    CLEANUP(strbuf_deinit) struct strbuf said = {0};
    struct zk_direct_stat stat;
    struct zk_direct_acls acls;

    zk_acl_parse(c->words[2], c->arena, &acls, &said);
    if (zk_call_has(c, 'R'))
        return set_acl_below(c, &acls);
    int r = zk_direct_set_acl(c->sh->zk, c->words[1], (int32_t)c->number, &acls);
    if (r == 0 && zk_call_has(c, 's'))
        r = zk_direct_exists(c->sh->zk, c->words[1], &stat);
    if (r != 0)
        return zk_call_fail(c, r, c->words[1]);
    print_stat(c, &stat);
    return tool_done(c->sh->inv);
}
