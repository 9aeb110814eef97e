/*
 * groups_view.h - what describing and the lag share: groups with a row for each partition
 *
 * Thread: the main one.
 */
#pragma once

#include "tools/groups/groups_print.h"

struct printing groups_printing(const struct groups *g);
/*
 * A row for each partition that a group has committed or reads, ret for each of v. As our own tool
 * a partition without a leader has no end, as Kafka's it is an error.
 */
int groups_rows(struct groups *g, struct group *v, size_t n, struct group_rows **ret) MUST_CHECK;
/* As our own tool: says which groups do not exist, and drops them. */
int groups_known(struct groups *g, struct group *v, size_t *n) MUST_CHECK;
