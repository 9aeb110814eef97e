/*
 * group_commit.h - offsets of groups: committed, and read again (protocol.md 11.12, 11.13)
 *
 * A commit is appended to the group's partition of __consumer_offsets, and shows once that is
 * acknowledged. Thread: a reactor's for commits, any for reading.
 */
#pragma once

#include "broker/group/group_append.h"

struct commit_entry {
    struct str topic;
    int32_t partition;
    struct committed c; /* log_offset is set here */
    int error;          /* in: not 0 leaves it out; out: its code */
};

/* The caller's memory, until done(). */
struct group_commit {
    struct str group_id;
    struct str member_id;
    struct str instance;
    int32_t generation; /* -1: of no member */
    struct commit_entry *entries;
    int32_t count;
    void (*done)(struct group_commit *c);
    /* Its own: */
    struct group *group;
    struct group_append append;
};

/* done() is called inside where nothing is appended, else in a later turn of this reactor. */
void group_commit_start(struct group_manager *m, struct group_commit *c);

/* One partition that is asked for, or found. */
struct offset_read {
    struct str topic;
    int32_t partition;
    int error;          /* 0, also where nothing is committed; UNSTABLE_OFFSET_COMMIT */
    struct committed c; /* offset -1 where nothing is committed; metadata in the arena */
};

struct offset_reads {
    struct offset_read *v;
    int32_t count;
};

/* Fills what is asked for: 0, or why this broker does not answer for the group.
 * needs_stable: an offset that a transaction may yet change is an error (KIP-447). */
int group_offsets_read(struct group_manager *m, struct str group_id, bool needs_stable,
                       struct arena *a, const struct offset_reads *reads) MUST_CHECK;
/* The same with everything that is committed, one topic after another. */
int group_offsets_read_all(struct group_manager *m, struct str group_id, bool needs_stable,
                           struct arena *a, struct offset_reads *ret) MUST_CHECK;
