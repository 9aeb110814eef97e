/*
 * zk_read.c - ls, get, stat, getAcl, sync, addauth, getAllChildrenNumber
 */
#include "common/base/err.h"
#include "tools/shell/zk_command.h"

#include <jansson.h>

static void print_stat(const struct zk_direct_stat *stat)
{
    CLEANUP(strbuf_deinit) struct strbuf sb = {0};

    zk_stat_print(stat, &sb);
    fputs(sb.s, stdout);
}

static void warn_old_watch(const struct zk_call *c, const char *better)
{
    if (c->count > 2)
        fprintf(stderr, "'%s path [watch]' has been deprecated. Please use '%s' instead.\n",
                c->command->name, better);
}

static int print_json(const struct zk_call *c, json_t *v)
{
    json_dumpf(v, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(v);
    return tool_done(c->sh->inv);
}

static json_t *json_stat(const struct zk_direct_stat *s)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:i, s:i, s:i, s:I, s:i, s:i}", "czxid",
                     (json_int_t)s->czxid, "ctime", (json_int_t)s->ctime_ms, "mzxid",
                     (json_int_t)s->mzxid, "mtime", (json_int_t)s->mtime_ms, "pzxid",
                     (json_int_t)s->pzxid, "cversion", s->cversion, "data_version", s->version,
                     "acl_version", s->aversion, "ephemeral_owner", (json_int_t)s->ephemeral_owner,
                     "data_length", s->data_length, "num_children", s->num_children);
}

/* ---- ls ---- */

static int list_all(struct zk_call *c)
{
    CLEANUP(zk_tree_deinit) struct zk_tree tree = {0};
    const char *at = c->words[1];
    int r = zk_tree_list(c, at, &tree, &at);

    if (r != 0)
        return zk_call_fail(c, r, at);
    json_t *list = c->sh->json ? json_array() : NULL;
    for (size_t i = 0; i < tree.count; i++) {
        if (list)
            json_array_append_new(list, json_string(tree.paths[i]));
        else
            puts(tree.paths[i]);
    }
    return list ? print_json(c, list) : tool_done(c->sh->inv);
}

static json_t *json_names(const struct zk_direct_names *names)
{
    json_t *list = json_array();

    for (size_t i = 0; i < names->count; i++)
        json_array_append_new(list, json_stringn(names->v[i].p, names->v[i].len));
    return list;
}

int zk_do_ls(struct zk_call *c)
{
    struct zk_direct_stat stat;
    struct zk_direct_names names;

    warn_old_watch(c, "ls [-w] path");
    if (zk_call_has(c, 'R'))
        return list_all(c);
    int r = zk_direct_children(c->sh->zk, c->words[1], c->arena, &names, &stat);
    if (r != 0)
        return zk_call_fail(c, r, c->words[1]);
    if (c->sh->json)
        return print_json(c, zk_call_has(c, 's')
                                 ? json_pack("{s:o, s:o}", "children", json_names(&names), "stat",
                                             json_stat(&stat))
                                 : json_names(&names));
    putchar('[');
    for (size_t i = 0; i < names.count; i++)
        printf("%s%.*s", i ? ", " : "", STR_ARG(names.v[i]));
    puts("]");
    if (zk_call_has(c, 's'))
        print_stat(&stat);
    return tool_done(c->sh->inv);
}

/* ---- one node ---- */

int zk_do_get(struct zk_call *c)
{
    struct zk_direct_stat stat;
    struct slice data;
    int r = zk_direct_get(c->sh->zk, c->words[1], c->arena, &data, &stat);

    warn_old_watch(c, "get [-s] [-w] path");
    if (r != 0)
        return zk_call_fail(c, r, c->words[1]);
    if (c->sh->json) {
        json_t *text = data.p ? json_stringn((const char *)data.p, data.len) : json_null();
        if (!text)
            return tool_fail(c->sh->inv, "%s holds no text: --output json cannot print it",
                             c->words[1]);
        return print_json(c, json_pack("{s:s, s:o, s:o}", "path", c->words[1], "data", text, "stat",
                                       json_stat(&stat)));
    }
    if (data.p)
        fwrite(data.p, 1, data.len, stdout);
    else
        fputs("null", stdout);
    putchar('\n');
    if (zk_call_has(c, 's'))
        print_stat(&stat);
    return tool_done(c->sh->inv);
}

int zk_do_stat(struct zk_call *c)
{
    struct zk_direct_stat stat;
    int r = zk_direct_exists(c->sh->zk, c->words[1], &stat);

    warn_old_watch(c, "stat [-w] path");
    if (r != 0)
        return zk_call_fail(c, r, c->words[1]);
    if (c->sh->json)
        return print_json(c, json_stat(&stat));
    print_stat(&stat);
    return tool_done(c->sh->inv);
}

static json_t *json_acl(const struct zk_direct_acls *acls)
{
    json_t *list = json_array();

    for (size_t i = 0; i < acls->count; i++) {
        CLEANUP(strbuf_deinit) struct strbuf perms = {0};
        zk_perms_print(acls->v[i].perms, &perms);
        json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "scheme", acls->v[i].scheme, "id",
                                              acls->v[i].id, "perms", perms.len ? perms.s : ""));
    }
    return list;
}

int zk_do_get_acl(struct zk_call *c)
{
    CLEANUP(strbuf_deinit) struct strbuf sb = {0};
    struct zk_direct_acls acls;
    struct zk_direct_stat stat;
    int r = zk_direct_get_acl(c->sh->zk, c->words[1], c->arena, &acls, &stat);

    if (r != 0)
        return zk_call_fail(c, r, c->words[1]);
    if (c->sh->json)
        return print_json(c, json_acl(&acls));
    zk_acl_print(&acls, &sb);
    fputs(sb.len ? sb.s : "", stdout);
    if (zk_call_has(c, 's'))
        print_stat(&stat);
    return tool_done(c->sh->inv);
}

/* ---- the rest ---- */

int zk_do_count(struct zk_call *c)
{
    CLEANUP(zk_tree_deinit) struct zk_tree tree = {0};
    const char *at = c->words[1];
    int r = zk_tree_list(c, at, &tree, &at);

    if (r != 0)
        return zk_call_fail(c, r, at);
    printf("%zu\n", tree.count - 1);
    return tool_done(c->sh->inv);
}

int zk_do_sync(struct zk_call *c)
{
    int r = zk_direct_sync(c->sh->zk, c->words[1]);

    if (r == 0)
        puts("Sync is OK");
    else
        printf("Sync has failed. rc=%d\n", r);
    return r == 0 ? tool_done(c->sh->inv) : TOOL_FAILED;
}

int zk_do_addauth(struct zk_call *c)
{
    const char *auth = c->words[2];
    int r = zk_direct_add_auth(c->sh->zk, c->words[1], slice_of(auth, strlen(auth)));

    return r == 0 ? 0 : zk_call_fail(c, r, NULL);
}
