/*
 * group_records.h - keys and values of __consumer_offsets (disk.md 12.3 to 12.6)
 *
 * A key starts with its version: 0 and 1 an offset, 2 a group; others belong to coordinators that
 * Klamm does not have, and are passed over. Values are written in the version that the
 * inter.broker.protocol.version allows, and read in all of them.
 *
 * Values owned by one thread; what is parsed points into the record's bytes and the arena.
 */
#pragma once

#include "broker/group/commits.h"
#include "common/base/arena.h"
#include "common/conf/ibp.h"
#include "common/record/builder.h"
#include "common/wire/messages.h"

enum group_key_kind { GROUP_KEY_OFFSET, GROUP_KEY_GROUP, GROUP_KEY_UNKNOWN };

struct group_key {
    enum group_key_kind kind;
    int16_t version;
    struct str group;
    struct str topic; /* of an offset, as is: */
    int32_t partition;
};

/* -EBADMSG where the bytes are no such key. An unknown version is GROUP_KEY_UNKNOWN. */
int group_key_parse(struct slice key, struct arena *a, struct group_key *ret) MUST_CHECK;
/* ret->log_offset is the caller's to set. -EBADMSG, also for a version above 4. */
int offset_value_parse(struct slice value, struct arena *a, struct committed *ret) MUST_CHECK;
/* -EBADMSG, also for a version above 4. Of version 0 a member's rebalance timeout is its session's.
 * An empty protocol type comes as null. */
int group_value_parse(struct slice value, struct arena *a, struct group_metadata_value *ret)
    MUST_CHECK;

/* These add one record with the offset that follows the batch's last one, at time now_ms. -EINVAL
 * where a text is too long for the format. */
int offset_record_add(struct batch_builder *bb, enum ibp ibp, const struct group_key *key,
                      const struct committed *c, int64_t now_ms) MUST_CHECK;
int group_record_add(struct batch_builder *bb, enum ibp ibp, struct str group,
                     const struct group_metadata_value *value, int64_t now_ms) MUST_CHECK;
/* A null value: the offset, or the group, is gone. */
int tombstone_add(struct batch_builder *bb, const struct group_key *key, int64_t now_ms) MUST_CHECK;
