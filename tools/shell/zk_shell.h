/*
 * zk_shell.h - the commands of `klamm zk`, which are those of ZooKeeper's own shell
 *
 * cmd_zk.c has the session and reads the command, from the command line or line by line; here it is
 * taken apart and done. As ZooKeeper's shell the output is its own; as our own errors are one line,
 * and --output json and --dry-run count. Thread: the main one.
 */
#pragma once

#include "tools/base/opts.h"
#include "tools/shell/zk_text.h"

enum { ZK_UNKNOWN_COMMAND = 127 };

struct zk_shell {
    const struct invocation *inv;
    struct zk_direct *zk; /* connected by the first command that needs it */
    /* Connects; 0, or says why not and gives the exit code. */
    int (*connect)(struct zk_shell *sh);
    bool json, dry_run;
    bool leave; /* quit was given */
};

/* One command; its exit code. */
int zk_shell_run(struct zk_shell *sh, int argc, char *const *argv);
/* A line for each command. */
void zk_shell_list(FILE *out);
