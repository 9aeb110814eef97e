#include "broker/storage/cleaner_map.h"

#include "tests/support/random_msg.h"
#include "tests/support/test_main.h"

#include <stdio.h>

static struct slice key_of(char text[16], int i)
{
    return slice_of(text, (size_t)snprintf(text, 16, "%d", i));
}

START_TEST(the_last_offset_of_a_key_is_found)
{
    enum { KEYS = 5000 };
    static int64_t last[KEYS];
    struct random_source r = {5};
    struct cleaner_map m;
    char text[16];

    cleaner_map_init(&m, &(struct cleaner_map_opts){1 << 20, 0.9, KEYS});
    for (int i = 0; i < KEYS; i++)
        last[i] = -1;
    for (int64_t offset = 0; offset < 4 * KEYS; offset++) {
        int i = (int)random_to(&r, KEYS);

        ck_assert(cleaner_map_put(&m, key_of(text, i), offset));
        last[i] = offset;
        ck_assert_int_eq(m.latest, offset);
    }
    for (int i = 0; i < KEYS; i++)
        ck_assert_int_eq(cleaner_map_get(&m, key_of(text, i)), last[i]);
    ck_assert_int_eq(cleaner_map_get(&m, slice_of("", 0)), -1);
    ck_assert(cleaner_map_put(&m, slice_of("", 0), 4 * KEYS));
    ck_assert_int_eq(cleaner_map_get(&m, slice_of("", 0)), 4 * KEYS);
    cleaner_map_deinit(&m);
}
END_TEST

/* As in Kafka: memory / 24 slots, of which the load factor's share is used; what is full takes no
 * known key either. */
START_TEST(it_is_full_at_the_load_factor)
{
    struct cleaner_map m;
    char text[16];

    cleaner_map_init(&m, &(struct cleaner_map_opts){24 * 100 + 23, 0.9, INT64_MAX});
    ck_assert_uint_eq(m.limit, 90);
    for (int i = 0; i < 90; i++)
        ck_assert(cleaner_map_put(&m, key_of(text, i), i));
    ck_assert(!cleaner_map_put(&m, key_of(text, 90), 90));
    ck_assert(!cleaner_map_put(&m, key_of(text, 1), 91));
    ck_assert_int_eq(m.latest, 89);
    for (int i = 0; i < 90; i++)
        ck_assert_int_eq(cleaner_map_get(&m, key_of(text, i)), i);
    cleaner_map_deinit(&m);
}
END_TEST

START_TEST(odd_settings_are_survived)
{
    const struct cleaner_map_opts odd[] = {
        {0, 0.9, 100}, {24, 1.0, 5}, {48, 1e9, 5}, {1 << 20, -3, 5}, {-1, 0.5, -1}};
    struct cleaner_map m;
    char text[16];

    for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
        cleaner_map_init(&m, &odd[i]);
        for (int n = 0; n < 10; n++) {
            bool is_in = cleaner_map_put(&m, key_of(text, n), n);
            ck_assert_int_eq(cleaner_map_get(&m, key_of(text, n)), is_in ? n : -1);
        }
        cleaner_map_deinit(&m);
    }
}
END_TEST

START_TEST(it_takes_no_more_memory_than_the_offsets_need)
{
    struct cleaner_map m;

    cleaner_map_init(&m, &(struct cleaner_map_opts){128 << 20, 0.9, 1000});
    ck_assert_uint_gt(m.slot_count, 1000);
    ck_assert_uint_lt(m.slot_count, 2000);
    cleaner_map_deinit(&m);
}
END_TEST

TEST_MAIN("broker/storage/cleaner_map", the_last_offset_of_a_key_is_found,
          it_is_full_at_the_load_factor, odd_settings_are_survived,
          it_takes_no_more_memory_than_the_offsets_need)
