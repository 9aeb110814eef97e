/*
 * zk_watch.h - handlers of znodes: one-shot watches that re-arm and become calls
 *
 * One handler per path for its data (created, changed, deleted) and one for its children.
 * Registering is local: the watch is armed by the next read of that path (zk_batch_get and _exists;
 * zk_batch_children with watch), and again by every later read while the handler stays. On an
 * absent node only exists arms. Whoever handles an event reads again, which re-arms. After an
 * unregistering a late event finds no handler and is dropped. A new session has no watches: every
 * component reads again (struct zk_listener in zk.h).
 *
 * The callback runs on the store's event thread with no lock held, and may only post a message. It
 * can still be running when zk_watches_remove() returns, so ctx lives as long as the store.
 */
#pragma once

#include "common/base/containers.h"
#include "common/base/lock.h"

enum zk_event { ZK_EVENT_CREATED, ZK_EVENT_CHANGED, ZK_EVENT_DELETED, ZK_EVENT_CHILDREN };
enum zk_watch_kind { ZK_WATCH_DATA, ZK_WATCH_CHILDREN };

typedef void (*zk_watch_fn)(enum zk_event event, const char *path, void *ctx);

struct zk_watch_entry;

/* The table of handlers; the real store and the fake one have one each. */
struct zk_watches {
    struct mutex lock; /* LOCK_ZK_WATCHES */
    struct zk_watch_entry *by_path;
    size_t path_bytes;
};

void zk_watches_init(struct zk_watches *w);
void zk_watches_deinit(struct zk_watches *w);
/* Replaces a handler that is there already. Thread: any. */
void zk_watches_add(struct zk_watches *w, enum zk_watch_kind kind, const char *path, zk_watch_fn fn,
                    void *ctx);
void zk_watches_remove(struct zk_watches *w, enum zk_watch_kind kind, const char *path);
bool zk_watches_has(struct zk_watches *w, enum zk_watch_kind kind, const char *path);
/* About what all these paths take in the message that re-arms them after a reconnect. */
size_t zk_watches_bytes(struct zk_watches *w);
/* Calls the handler that the event is for, if there is one. Thread: the store's event thread. */
void zk_watches_fire(struct zk_watches *w, enum zk_event event, const char *path);
