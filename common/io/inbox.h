/*
 * inbox.h - a queue of messages: the only door into another thread
 *
 * A message is embedded in the object that it is about, and carries what is to be done with it.
 * Reactors have an inbox built in (reactor_post); a plain thread that waits for messages, as the
 * controller does, owns one of these.
 */
#pragma once

#include "common/base/base.h"
#include "common/base/lock.h"

struct message {
    struct message *next;
    void (*run)(struct message *m);
};

struct inbox {
    struct mutex lock; /* LOCK_INBOX */
    struct cond some;
    struct message *head;
    struct message **tail;
};

void inbox_init(struct inbox *in);
void inbox_deinit(struct inbox *in);
/* Thread: any. */
void inbox_post(struct inbox *in, struct message *m);
/* The same; true if the inbox was empty before. Thread: any. */
bool inbox_post_was_empty(struct inbox *in, struct message *m);
/* The oldest message, or NULL when deadline_us (monotonic, INT64_MAX = never) passed first. Thread:
 * the owner. */
struct message *inbox_take(struct inbox *in, int64_t deadline_us);
/* All messages at once, in order, or NULL; for draining. Thread: the owner. */
struct message *inbox_take_all(struct inbox *in);
