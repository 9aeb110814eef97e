/*
 * join_world.h - made facts for the judges of `klamm check-join`
 *
 *   join_start(&w);                    brokers 1 to 3 are registered, all is well, nothing is found
 *   w.f.nodes.has_migration = true;
 *   EXPECT(&w, JOIN_BLOCKS, "/migration", "a migration to KRaft");
 *
 * A value of one test; join_end() frees it.
 */
#pragma once

#include "tests/support/test_main.h"
#include "tools/join/join.h"

struct join_world {
    struct arena arena;
    struct join_facts f;
    struct join_findings all;
};

/* Broker 1 is to be replaced; no file, no log dirs. */
void join_start(struct join_world *w);
void join_end(struct join_world *w);
/* server.properties; may be refused. */
void join_file(struct join_world *w, const char *text);
/* A topic with one partition. */
struct why_topic *join_topic(struct join_world *w, const char *name, const char *replicas,
                             const char *isr);
struct why_ids join_ids(struct join_world *w, const char *text);
struct node_config join_config(struct join_world *w, const char *key, const char *value);
/* A log dir of broker 1 with one log for each replica that it has. */
struct join_dir *join_dir(struct join_world *w);

/* Judges anew. */
const struct join_finding *join_find(struct join_world *w, const char *where, const char *what);
#define EXPECT(w, severity_, where, what_)                                                         \
    do {                                                                                           \
        const struct join_finding *expect_f_ = join_find(w, where, what_);                         \
        ck_assert_msg(expect_f_ != NULL, "%s does not say: %s", where, what_);                     \
        ck_assert_int_eq(expect_f_->severity, severity_);                                          \
    } while (0)
#define EXPECT_NOT(w, where, what_) ck_assert_ptr_null(join_find(w, where, what_))
/* Nothing worse than a note. */
#define EXPECT_WELL(w)                                                                             \
    do {                                                                                           \
        const struct join_finding *worst_f_ = join_find(w, NULL, NULL);                            \
        ck_assert_msg(!worst_f_ || worst_f_->severity == JOIN_NOTE, "%.*s",                        \
                      STR_ARG(worst_f_->what));                                                    \
    } while (0)
