#include "broker/server/shutdown.h"

#include "common/base/err.h"
#include "common/base/say.h"
#include "common/wire/messages.h"

#include <time.h>

/* One try; the answer comes on the link's reactor. */
struct attempt {
    struct link_call call;
    struct message over;
    struct inbox done;
    int r;
    int16_t error;
    int32_t remaining;
};

static int16_t error_of(const void *response)
{
    int16_t error = ((const struct controlled_shutdown_response *)response)->error_code;

    /* This API says STALE_CONTROLLER_EPOCH where others say NOT_CONTROLLER. */
    return error == STALE_CONTROLLER_EPOCH ? NOT_CONTROLLER : error;
}

static void on_response(struct link_call *c, int r, const void *response)
{
    struct attempt *at = container_of(c, struct attempt, call);
    const struct controlled_shutdown_response *resp = response;

    at->r = r;
    if (resp) {
        at->error = resp->error_code;
        at->remaining = resp->remaining_partitions_count;
    }
    inbox_post(&at->done, &at->over);
}

static bool attempt(const struct shutdown_opts *opts)
{
    struct controlled_shutdown_request request;
    struct attempt at = {0};

    msg_init(&controlled_shutdown_request_desc, &request);
    request.broker_id = opts->broker_id;
    request.broker_epoch = opts->broker_epoch;
    at.call = (struct link_call){
        .api_key = API_CONTROLLED_SHUTDOWN,
        .max_version = opts->ibp >= IBP_2_4_IV1   ? 3
                       : opts->ibp >= IBP_2_2_IV0 ? 2
                                                  : 1,
        .request = &request,
        .deadline_us = clock_mono_us(&clock_system) + opts->timeout_ms * 1000,
        .error_of = error_of,
        .done = on_response,
    };
    inbox_init(&at.done);
    controller_link_send(opts->link, &at.call);
    inbox_take(&at.done, INT64_MAX);
    inbox_deinit(&at.done);
    if (at.r == 0 && at.error == NONE && at.remaining == 0)
        return true;
    say_warn("controlled shutdown: %s, %d partitions are still led here",
             at.r < 0 ? err_name(at.r) : err_name(at.error), at.remaining);
    return false;
}

bool shutdown_controlled(const struct shutdown_opts *opts)
{
    const struct timespec backoff = {.tv_sec = opts->backoff_ms / 1000,
                                     .tv_nsec = opts->backoff_ms % 1000 * 1000000};

    for (int i = 0; i < opts->max_tries; i++) {
        if (i > 0) {
            say_info("controlled shutdown: asked again in %" PRId64
                     " ms (controlled.shutdown.retry.backoff.ms), try %d of %d",
                     opts->backoff_ms, i + 1, opts->max_tries);
            nanosleep(&backoff, NULL);
        }
        if (attempt(opts))
            return true;
    }
    return false;
}
