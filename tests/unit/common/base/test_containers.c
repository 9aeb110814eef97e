#include "common/base/containers.h"

#include "tests/support/test_main.h"

enum { KEYS = 5000, PLACES = 2048 };

struct entry {
    UT_hash_handle hh;
    uint32_t key;
};

static bool is_at_place_0(uint32_t key)
{
    uint32_t hash;

    HASH_JEN(&key, sizeof key, hash);
    return hash % PLACES == 0;
}

/* Of uthash's buckets. */
static uint32_t longest_chain(const struct entry *table)
{
    const UT_hash_table *t = table->hh.tbl;
    uint32_t most = 0;

    for (uint32_t i = 0; i < t->num_buckets; i++)
        most = MAX(most, t->buckets[i].count);
    return most;
}

/* Under uthash's own hash, that anybody can compute, they would be one chain. */
START_TEST(keys_that_somebody_chose_do_not_stand_in_one_place)
{
    struct entry *table = NULL, *entries = xnew_array(struct entry, KEYS);
    uint32_t key = 0;

    for (int i = 0; i < KEYS; i++) {
        while (!is_at_place_0(key))
            key++;
        entries[i].key = key++;
        HASH_ADD(hh, table, key, sizeof entries[i].key, &entries[i]);
    }
    ck_assert_uint_eq(HASH_COUNT(table), KEYS);
    ck_assert_uint_lt(longest_chain(table), 60);
    HASH_CLEAR(hh, table);
    free(entries);
}
END_TEST

TEST_MAIN("common/base/containers", keys_that_somebody_chose_do_not_stand_in_one_place)
