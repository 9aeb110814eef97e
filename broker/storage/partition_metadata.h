/*
 * partition_metadata.h - partition.metadata: the topic id that a partition's directory belongs to
 * (disk.md §6.8)
 *
 *   version: 0
 *   topic_id: 3jBpTZtrRMyaAgnk0lQHxg
 *
 * Thread: any, one writer per directory.
 */
#pragma once

#include "common/base/str.h"
#include "common/base/uuid.h"

/* -EBADMSG: malformed. */
int partition_metadata_parse(struct str text, struct uuid *ret) MUST_CHECK;
/* Of the directory dir. -ENOENT: it has none; -EBADMSG; other -errno. */
int partition_metadata_read(const char *dir, struct uuid *ret) MUST_CHECK;
/* Aside, and renamed into place. */
int partition_metadata_write(const char *dir, struct uuid id) MUST_CHECK;
