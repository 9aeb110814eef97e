/*
 * fuzz_recover.c - any bytes as the .log file of a partition after a crash
 *
 * The log opens; what it kept can be read; it takes the next batch; and a second crash changes
 * nothing.
 */
#include "tests/support/log_files.h"

#include "broker/storage/log_manager.h"
#include "common/base/arena.h"
#include "common/base/say.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void append_one(struct log *log)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct slice bytes = log_files_batches(&a, 1);
    const struct log_append_opts opts = {1, APPEND_CLIENT, 1000};
    struct log_append out;
    int64_t end = log_end_offset(log);

    if (end > INT64_MAX - 10)
        return;
    int r = log_append_leader(log, bytes, &opts, &a, &out);
    assert(r == 0 && out.first_offset == end);
}

static int64_t open_and_walk(struct log_files *f, bool and_append)
{
    CLEANUP(log_put_p) struct log *log = NULL;
    int r = log_files_open(f, false, &log);

    assert(r == 0);
    assert(log_files_walk(log, 100));
    if (and_append)
        append_one(log);
    return log_end_offset(log);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct log_files f;

    say_set_level(SAY_ERROR + 1);
    log_files_init(&f);
    log_files_put(&f, SEGMENT_LOG, slice_of(data, size));
    int64_t end = open_and_walk(&f, true);
    assert(open_and_walk(&f, false) == end);
    log_files_deinit(&f);
    return 0;
}
