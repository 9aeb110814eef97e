/*
 * fuzz_produce_checks.c - any bytes as the records of two partitions of a Produce request
 *
 * The checks see no byte behind the records, say what they may say, and what they let through is
 * one batch of magic 2 from version 3 on. The first byte is the version, the second where the
 * second partition begins.
 */
#include "broker/replica/produce_checks.h"
#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/record/batch.h"

#include <assert.h>

enum { PARTS = 2, NEWEST_VERSION = 11 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* With nothing behind, so that reading further is seen. */
static struct slice copy(const uint8_t *p, size_t len)
{
    uint8_t *to = xmalloc(len ? len : 1);

    if (len)
        memcpy(to, p, len);
    return slice_of(to, len);
}

static void check_is_single(struct slice records)
{
    struct slice rest = records;
    struct batch first, second;
    int r = batch_next(&rest, &first);

    assert(r == 1 ? batch_is_v2(&first) : r == -EBADMSG); /* shorter than its header */
    if (r == 1)
        assert(batch_next(&rest, &second) != 1);
}

static void check(struct produce *p, int16_t version)
{
    const char *why = NULL;
    int r = produce_check_first(p, false, &why);

    assert(r == 0 || r == CORRUPT_MESSAGE || r == TRANSACTIONAL_ID_AUTHORIZATION_FAILED);
    if (r)
        return;
    for (int i = 0; i < p->count; i++) {
        r = produce_check_records(p->arena, p->parts[i].records, version, &why);
        assert(r == 0 || r == CORRUPT_MESSAGE || r == INVALID_RECORD ||
               r == UNSUPPORTED_COMPRESSION_TYPE);
        p->parts[i].error = r;
    }
    r = produce_check_batches(p, version, &why);
    assert(r == 0 || r == CORRUPT_MESSAGE || r == INVALID_PRODUCER_ID_MAPPING);
    for (int i = 0; i < p->count && r == 0; i++) {
        (void)produce_has_transactional(p->parts[i].records);
        if (p->parts[i].error == 0 && version >= 3)
            check_is_single(p->parts[i].records);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_deinit) struct arena arena = {0};
    struct produce_part parts[PARTS] = {0};
    struct produce p = {.parts = parts, .count = PARTS, .arena = &arena};

    if (size < 2)
        return 0;
    size_t second = MIN((size_t)data[1] * 8, size - 2);
    parts[0].records = copy(data + 2, second);
    parts[1].records = copy(data + 2 + second, size - 2 - second);
    check(&p, data[0] % (NEWEST_VERSION + 1));
    for (int i = 0; i < PARTS; i++)
        free((void *)(uintptr_t)parts[i].records.p);
    return 0;
}
