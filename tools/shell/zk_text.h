/*
 * zk_text.h - what ZooKeeper's own shell reads and prints: paths, ACLs, a node's stat, errors
 *
 * Thread: any; pure.
 */
#pragma once

#include "zk/zk_direct.h"

/* -EINVAL with the words of ZooKeeper's Java client. */
int zk_path_check(const char *path, struct strbuf *why) MUST_CHECK;
/*
 * "world:anyone:cdrwa,digest:user:hash:r". What is no entry is said in said, a line each, and left
 * out, as ZooKeeper's shell does.
 */
void zk_acl_parse(const char *text, struct arena *a, struct zk_direct_acls *ret,
                  struct strbuf *said);
void zk_acl_print(const struct zk_direct_acls *acls, struct strbuf *out);
/* "cdrwa" */
void zk_perms_print(int32_t perms, struct strbuf *out);
void zk_stat_print(const struct zk_direct_stat *stat, struct strbuf *out);
/* What a failed call on a path is called. path: NULL where none was touched. */
void zk_error_print(int code, const char *path, struct strbuf *out);
/* The words of a line: blanks between them, quotes of both kinds around what has blanks. The words
 * live in a. */
void zk_words(struct str line, struct arena *a, char ***ret, int *ret_count);
