/*
 * why_world.h - made facts for the judges of `klamm why` and `klamm can-stop`
 *
 *   world_start(&w, 3);                                  brokers 1 to 3, all well, 1 is controller
 *   world_partition(&w, "t", 0, "1,2,3", "1,2");         replicas, ISR; its first member leads
 *   world_down(&w, 3);
 *   why_judge_all(&w.f, &w.all);
 *   EXPECT_BECAUSE(&w, "partition", "t-0", "broker 3 is not registered");
 *
 * A value of one test; world_end() frees it.
 */
#pragma once

#include "tools/why/why.h"

struct why_world {
    struct arena arena;
    struct why_facts f;
    struct why_findings all;
};

void world_start(struct why_world *w, int brokers);
void world_end(struct why_world *w);
/* Findings are gone, facts stay. */
void world_judge_anew(struct why_world *w);
/* All topics are made before the first partition of any. */
struct why_topic *world_topic(struct why_world *w, const char *name, int partitions, int min_isr);
/* Of a topic that there is; "": none; without an ISR there is no leader. */
struct why_partition *world_partition(struct why_world *w, const char *topic, int partition,
                                      const char *replicas, const char *isr);
struct why_ids world_ids(struct why_world *w, const char *text);
/* Without a znode, not in Metadata. */
void world_down(struct why_world *w, int broker);
void world_silent(struct why_world *w, int broker);
/* No --zookeeper was given. */
void world_without_zk(struct why_world *w);
/* How far the log of a replica is. */
void world_copy(struct why_world *w, struct why_partition *p, int broker, int64_t size,
                int64_t end_offset);
struct why_group *world_group(struct why_world *w, const char *name, const char *state);
void world_commit(struct why_world *w, struct why_group *g, const struct why_commit *c);
void world_member(struct why_world *w, struct why_group *g, const char *id, const char *topic,
                  const char *partitions);

/* NULL: nothing is said about it. name NULL: any. */
const struct why_finding *world_find(const struct why_world *w, const char *kind, const char *name);
bool world_because(const struct why_world *w, const char *kind, const char *name, const char *text);
bool world_unblocks(const struct why_world *w, const char *kind, const char *name,
                    const char *text);
/* Parts of the statement, or of the detail. */
bool world_says(const struct why_world *w, const char *kind, const char *name, const char *text);

#define EXPECT_SAYS(w, kind, name, text)                                                           \
    ck_assert_msg(world_says(w, kind, name, text), "%s %s does not say: %s", kind, name, text)
#define EXPECT_BECAUSE(w, kind, name, text)                                                        \
    ck_assert_msg(world_because(w, kind, name, text), "%s %s has not the reason: %s", kind, name,  \
                  text)
#define EXPECT_UNBLOCKS(w, kind, name, text)                                                       \
    ck_assert_msg(world_unblocks(w, kind, name, text), "%s %s has not the way out: %s", kind,      \
                  name, text)
