/*
 * zk_tree.c - the paths of a subtree, asked node by node
 */
#include "common/base/mem.h"
#include "tools/shell/zk_command.h"

void zk_tree_deinit(struct zk_tree *t)
{
    free(t->paths);
    *t = (struct zk_tree){0};
}

static void add(struct zk_tree *t, const char *path)
{
    xgrow(t->paths, t->cap, t->count + 1);
    t->paths[t->count++] = path;
}

/* In the order of ZooKeeper's shell: level by level below a node, each node in front of those below
 * it. */
int zk_tree_list(struct zk_call *c, const char *path, struct zk_tree *ret, const char **ret_path)
{
    CLEANUP(zk_tree_deinit) struct zk_tree todo = {0};

    add(&todo, path);
    while (todo.count) {
        struct zk_direct_stat stat;
        struct zk_direct_names names;
        const char *at = todo.paths[--todo.count];
        int r = zk_direct_children(c->sh->zk, at, c->arena, &names, &stat);
        if (r == ZK_DIRECT_NO_NODE && ret->count)
            continue;
        if (r != 0) {
            *ret_path = at;
            return r;
        }
        add(ret, at);
        for (size_t i = names.count; i > 0; i--) { /* the first one on top */
            struct str child = arena_printf(c->arena, "%s/%.*s", strcmp(at, "/") == 0 ? "" : at,
                                            STR_ARG(names.v[i - 1]));
            add(&todo, arena_strz(c->arena, child));
        }
    }
    return 0;
}
