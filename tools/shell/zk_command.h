/*
 * zk_command.h - what the commands of `klamm zk` share
 *
 * A command's words include its name: words[0] is "ls", words[1] the path. Each returns its exit
 * code and has said what is wrong. Thread: the main one.
 */
#pragma once

#include "tools/shell/zk_shell.h"

enum { ZK_WORDS_MAX = 8 };

struct zk_call;

struct zk_command {
    const char *name, *usage;
    const char *flags;  /* letters */
    const char *values; /* letters of flags with a value, at most one */
    int words;          /* at least so many */
    bool changes;
    int (*run)(struct zk_call *c);
    int (*check)(struct zk_call *c); /* before there is a connection; NULL: nothing */
};

struct zk_call {
    struct zk_shell *sh;
    const struct zk_command *command;
    struct arena *arena;
    const char *words[ZK_WORDS_MAX];
    int count;
    uint64_t flags;    /* zk_flag() */
    const char *value; /* of the flag that has one */
    int64_t number;    /* the same; -1 where there is none */
};

static inline uint64_t zk_flag(char letter)
{
    return UINT64_C(1) << ((unsigned char)letter & 63);
}

static inline bool zk_call_has(const struct zk_call *c, char letter)
{
    return c->flags & zk_flag(letter);
}

/* Says that a call on a path failed; returns the exit code. */
int zk_call_fail(const struct zk_call *c, int code, const char *path);

int zk_do_addauth(struct zk_call *c);
int zk_do_count(struct zk_call *c);
int zk_do_create(struct zk_call *c);
int zk_do_delete(struct zk_call *c);
int zk_do_deleteall(struct zk_call *c);
int zk_do_get(struct zk_call *c);
int zk_do_get_acl(struct zk_call *c);
int zk_do_ls(struct zk_call *c);
int zk_do_set(struct zk_call *c);
int zk_do_set_acl(struct zk_call *c);
int zk_do_stat(struct zk_call *c);
int zk_do_sync(struct zk_call *c);
int zk_check_create(struct zk_call *c);
int zk_check_set_acl(struct zk_call *c);

/* zk_tree.c: the paths of a subtree, each behind its parent. */
struct zk_tree {
    const char **paths;
    size_t count, cap;
};

void zk_tree_deinit(struct zk_tree *t);
/* 0 or a code, and *ret_path where it happened. A node that goes meanwhile is left out. */
int zk_tree_list(struct zk_call *c, const char *path, struct zk_tree *ret, const char **ret_path)
    MUST_CHECK;
