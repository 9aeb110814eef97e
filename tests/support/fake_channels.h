/*
 * fake_channels.h - the controller's way to brokers, kept for a test to look at
 *
 *   struct fake_channels ch; fake_channels_init(&ch);
 *   ... a controller with opts.channels = &ch.channels ...
 *   ck_assert_str_eq(fake_channels_trace(&ch), "UMR 1,2,3\n");     -- what was sent since the last
 *   look fake_channels_answer(&ch);                    -- brokers answer what they have got, in
 *   order
 *
 * One line per message; the same message to several brokers in a row is one line:
 *   LISR 1,2: t-0 L1 e0 isr 1,2 rs 1,2 new; t-1 ...       (+1 AR, -2 RR where there are any)
 *   UMR 1,2: t-0 L1 e0 isr 1,2 rs 1,2 off 3
 *   SR 3: t-0 e5 delete
 */
#pragma once

#include "common/base/strbuf.h"
#include "controller/channels.h"

struct fake_sent {
    int32_t broker_id;
    int64_t broker_epoch;
    bool is_seen;
    bool is_answered;
    bool is_dropped; /* the channel was removed before it was answered */
    struct control_message *m;
};

/* Error of one partition in the answers of one broker. */
struct fake_refusal {
    int32_t broker_id;
    int16_t api_key;
    char topic[64];
    int32_t partition;
    int16_t error;
};

struct fake_channels {
    struct channels channels;
    void (*on_answer)(void *ctx, struct control_answer *a);
    void *ctx;
    struct fake_sent *sent;
    size_t count;
    size_t cap;
    int32_t brokers[64];
    size_t broker_count;
    struct fake_refusal *refusals;
    size_t refusal_count;
    size_t refusal_cap;
    int16_t top_level_error; /* of every answer, while set */
    bool is_silent;          /* keeps nothing: for tests of size and cost */
    size_t silent_count;
    struct strbuf text;
};

void fake_channels_init(struct fake_channels *f);
void fake_channels_deinit(struct fake_channels *f);
/* Messages sent since the last call, as text; valid until the next call. */
const char *fake_channels_trace(struct fake_channels *f);
/* Forgets what was sent so far. */
void fake_channels_skip(struct fake_channels *f);
void fake_channels_refuse(struct fake_channels *f, struct fake_refusal r);
/* Answers what is not answered yet; true if there was anything. */
bool fake_channels_answer(struct fake_channels *f);
bool fake_channels_has(const struct fake_channels *f, int32_t broker_id);
