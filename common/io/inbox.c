#include "common/io/inbox.h"

void inbox_init(struct inbox *in)
{
    mutex_init(&in->lock, LOCK_INBOX);
    cond_init(&in->some);
    in->head = NULL;
    in->tail = &in->head;
}

void inbox_deinit(struct inbox *in)
{
    cond_deinit(&in->some);
    mutex_deinit(&in->lock);
}

bool inbox_post_was_empty(struct inbox *in, struct message *m)
{
    LOCK_SCOPE(&in->lock);
    bool was_empty = in->head == NULL;

    m->next = NULL;
    *in->tail = m;
    in->tail = &m->next;
    cond_signal(&in->some);
    return was_empty;
}

void inbox_post(struct inbox *in, struct message *m)
{
    inbox_post_was_empty(in, m);
}

struct message *inbox_take(struct inbox *in, int64_t deadline_us) NO_TSA
{
    LOCK_SCOPE(&in->lock);

    while (!in->head) {
        if (deadline_us == INT64_MAX)
            cond_wait(&in->some, &in->lock);
        else if (!cond_wait_until(&in->some, &in->lock, deadline_us))
            break;
    }
    struct message *m = in->head;
    if (m) {
        in->head = m->next;
        if (!in->head)
            in->tail = &in->head;
        m->next = NULL;
    }
    return m;
}

struct message *inbox_take_all(struct inbox *in)
{
    LOCK_SCOPE(&in->lock);
    struct message *all = in->head;

    in->head = NULL;
    in->tail = &in->head;
    return all;
}
