/*
 * fuzz_index.c - any bytes as the indexes of a sound segment after a clean stop
 *
 * The first two bytes say how many of the rest are the .index file, how many of what is left then
 * the .timeindex; the remainder is the .txnindex. No offset gets lost, whatever they say.
 */
#include "tests/support/log_files.h"

#include "broker/storage/log_manager.h"
#include "common/base/arena.h"
#include "common/base/say.h"

#include <assert.h>

enum { BATCHES = 40 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct slice cut(struct slice *rest, size_t len)
{
    struct slice part = slice_sub(*rest, 0, MIN(len, rest->len));

    *rest = slice_from(*rest, part.len);
    return part;
}

static void look_around(struct log *log)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct timestamp_offset found;
    struct aborted_txn *txns;
    int32_t count;

    assert(log_files_walk(log, BATCHES));
    for (int64_t ts = 0; ts < BATCHES * 1000; ts += 900)
        (void)!log_offset_for_time(log, ts, &found);
    (void)!log_offset_of_max_time(log, &found);
    (void)!log_aborted_txns(log, 0, INT64_MAX, &a, &txns, &count);
    (void)!log_truncate_to(log, BATCHES);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    CLEANUP(log_put_p) struct log *log = NULL;
    struct log_files f;

    if (size < 2)
        return 0;
    struct slice rest = slice_of(data + 2, size - 2);
    say_set_level(SAY_ERROR + 1);
    log_files_init(&f);
    log_files_put(&f, SEGMENT_LOG, log_files_batches(&a, BATCHES));
    log_files_put(&f, SEGMENT_INDEX, cut(&rest, data[0]));
    log_files_put(&f, SEGMENT_TIMEINDEX, cut(&rest, data[1]));
    if (rest.len > 0)
        log_files_put(&f, SEGMENT_TXNINDEX, rest);
    int r = log_files_open(&f, true, &log);
    assert(r == 0);
    assert(log_end_offset(log) == 2 * BATCHES);
    look_around(log);
    log_files_deinit(&f);
    return 0;
}
