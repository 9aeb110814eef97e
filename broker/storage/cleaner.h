/*
 * cleaner.h - the threads that compact logs (disk.md §10)
 *
 * Each thread, turn by turn, takes the log with the largest share of dirty bytes that is due,
 * cleans it (cleaner_pass.h), and applies retention to all compacted logs; with nothing to clean it
 * sleeps log.cleaner.backoff.ms. A log whose batches cannot be read is put aside until the broker
 * starts again, with one line that says why; the thread goes on with the others.
 *
 * Belongs to the log manager. Lock order: LOCK_CLEANER_PICK, the locks of table and logs,
 * LOCK_CLEANER.
 */
#pragma once

#include "common/base/base.h"

struct cleaner;
struct cleaner_conf;
struct log;
struct log_manager;

/* Settings are those of the manager. */
struct cleaner *cleaner_new(struct log_manager *m);
int cleaner_start(struct cleaner *c) MUST_CHECK;
/* Other settings of log.cleaner.*. Where threads or buffers change, what is being cleaned ends and
 * is done again later. -errno where a thread cannot be started. One caller at a time. */
int cleaner_reconfigure(struct cleaner *c, const struct cleaner_conf *conf) MUST_CHECK;
/* Ends what is being cleaned; nothing is lost by it. NULL-safe, returns NULL. */
struct cleaner *cleaner_free(struct cleaner *c);
/* Returns when nobody cleans the log, whose is_closed is set: from then on its directory's name may
 * be another's. NULL-safe. */
void cleaner_abort(struct cleaner *c, struct log *log);
/* From now on nobody cleans the log, until cleaner_resume(); returns when nobody does any more.
 * NULL-safe. */
void cleaner_pause(struct cleaner *c, struct log *log);
void cleaner_resume(struct cleaner *c, struct log *log);
/* One turn of a thread; true where a log was cleaned. */
bool cleaner_turn(struct cleaner *c);
/* How many logs are put aside. */
int cleaner_uncleanable_count(struct cleaner *c);
