/*
 * fuzz_validate.c - any bytes as what a client produces, their checksums made right
 *
 * Byte 0: settings of the topic. What is accepted is one valid v2 batch, or messages of an old
 * format where the topic has that, (or nothing) with the offsets it was given.
 */
#include "broker/storage/validate.h"
#include "common/base/mem.h"
#include "common/record/batch_stamp.h"
#include "common/record/record_iter.h"

#include <assert.h>

enum { FIRST_OFFSET = 1000, LEADER_EPOCH = 3, NOW_MS = 2000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fix_checksums(struct slice bytes)
{
    struct batch b;

    while (batch_next(&bytes, &b) == 1)
        batch_write_crc(&b);
}

static int64_t count_records(const struct batch *b, int64_t first)
{
    CLEANUP(record_iter_deinit) struct record_iter it = {0};
    struct record rec;
    int64_t n = 0;
    int r = record_iter_init(&it, b, RECORD_UNPACK_MAX);

    while (r == 0 && (r = record_iter_next(&it, &rec)) == 1) {
        assert(batch_is_v2(b) || rec.offset == first + n);
        n++;
        r = 0;
    }
    assert(r == 0);
    return n;
}

static void check_accepted(const struct batch_set *set, int8_t magic)
{
    struct slice rest = set->bytes;
    struct batch b;
    int64_t next = FIRST_OFFSET;

    if (set->bytes.len == 0)
        return;
    while (batch_next(&rest, &b) == 1) {
        assert(b.magic == magic && batch_is_valid(&b));
        next += count_records(&b, next);
        assert(batch_last_offset(&b) == next - 1);
    }
    assert(rest.len == 0 && next == set->last_offset + 1 && set->first_offset == FIRST_OFFSET);
    if (magic == 2)
        assert(set->batch_count == 1 && set->last_leader_epoch == LEADER_EPOCH &&
               batch_base_offset(&b) == FIRST_OFFSET);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct validated out;

    if (size < 1)
        return 0;
    struct topic_conf *conf = topic_conf_new();
    conf->compression = (enum compression)(data[0] % 6 - 1);
    conf->cleanup_policy = data[0] & 64 ? CLEANUP_COMPACT : CLEANUP_DELETE;
    conf->timestamp_type = data[0] & 128 ? TIMESTAMP_LOG_APPEND_TIME : TIMESTAMP_CREATE_TIME;
    conf->record_version = (int8_t)(2 - (data[0] & 31) / 6 % 3);
    if (data[0] & 32)
        conf->timestamp_before_max_ms = conf->timestamp_after_max_ms = NOW_MS;
    const struct validate_opts opts = {.conf = conf,
                                       .origin = APPEND_CLIENT,
                                       .leader_epoch = LEADER_EPOCH,
                                       .first_offset = FIRST_OFFSET,
                                       .now_ms = NOW_MS,
                                       .topic = "t"};
    struct slice in = slice_of_str(arena_str(&a, (struct str){(const char *)data + 1, size - 1}));
    fix_checksums(in);
    if (validate_leader(in, &opts, &a, &out) == 0)
        check_accepted(&out.set, conf->record_version);
    topic_conf_unref(conf);
    return 0;
}
