/*
 * truncation.h - where a follower cuts its log so that it is a prefix of the leader's
 * (controller.md B5.3, B5.5; KIP-101, KIP-279, KIP-595)
 *
 * The rule is a pure function; the cut is made under the partition's lock and only while the
 * replica still follows in the epoch that the leader answered in. Thread: any.
 */
#pragma once

#include "broker/replica/partition.h"

struct epoch_end {
    int32_t epoch;  /* -1 undefined */
    int64_t offset; /* -1 undefined */
};

struct truncation {
    int64_t offset;
    bool is_final; /* false: the leader has to be asked again, with the epoch that is latest then */
};

/* leader: its end of the epoch that it was asked for, or the largest one below; own: ours of the
 * epoch in its answer, as log_end_offset_for_epoch() gives it. */
struct truncation truncation_point(struct epoch_end leader, struct epoch_end own, int64_t log_end,
                                   int64_t fetch_offset);

struct truncate_order {
    int32_t leader_epoch; /* of the role in which it was decided */
    int64_t offset;
    bool whole_log; /* drop everything and start again at offset */
};

/* FENCED_LEADER_EPOCH where the role or epoch has changed; < 0: the replica has failed, and its dir
 * where it was an I/O error. */
int partition_truncate(struct partition *part, const struct truncate_order *order) MUST_CHECK;
/* Decides by the rule and cuts. *ret is where it was cut. */
int partition_truncate_to_epoch(struct partition *part, int32_t leader_epoch,
                                struct epoch_end leader, int64_t fetch_offset,
                                struct truncation *ret) MUST_CHECK;
