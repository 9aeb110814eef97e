#include "common/record/xxh32.h"

#include "tests/support/test_main.h"

START_TEST(known_values)
{
    static const struct {
        const char *text;
        uint32_t hash;
    } known[] = {
        {"", 0x02cc5d05},
        {"a", 0x550d7456},
        {"abc", 0x32d153ff},
        {"Nobody inspects the spammish repetition", 0xe2293b2f},
    };

    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        ck_assert_uint_eq(xxh32(slice_of(known[i].text, strlen(known[i].text))), known[i].hash);
}
END_TEST

TEST_MAIN("common/record/xxh32", known_values)
