#include "common/base/uuid.h"

#include "tests/support/test_main.h"

#include <errno.h>

START_TEST(text_round_trip)
{
    for (int i = 0; i < 1000; i++) {
        struct uuid id = uuid_random(), back;
        char text[UUID_TEXT_LEN + 1];

        uuid_to_text(id, text);
        ck_assert_uint_eq(strlen(text), 22);
        ck_assert_int_ne(text[0], '-');
        ck_assert_int_eq(uuid_from_text(str_of(text), &back), 0);
        ck_assert(uuid_eq(id, back));
    }
}
END_TEST

START_TEST(malformed_text_is_refused)
{
    struct uuid id;

    ck_assert_int_eq(uuid_from_text(STR(""), &id), -EINVAL);
    ck_assert_int_eq(uuid_from_text(STR("AAAAAAAAAAAAAAAAAAAAA!"), &id), -EINVAL);
    ck_assert_int_eq(uuid_from_text(STR("AAAAAAAAAAAAAAAAAAAAAAAAA"), &id), -EINVAL);
    ck_assert_int_eq(uuid_from_text(STR("AAAAAAAAAAAAAAAAAAAAAA"), &id), 0);
    ck_assert(uuid_is_zero(id));
}
END_TEST

START_TEST(dashed_text_is_java_s)
{
    struct uuid id;
    char text[UUID_DASHED_LEN + 1];

    for (size_t i = 0; i < sizeof id.b; i++)
        id.b[i] = (uint8_t)(i * 17);
    uuid_to_dashed(id, text);
    ck_assert_str_eq(text, "00112233-4455-6677-8899-aabbccddeeff");
}
END_TEST

TEST_MAIN("common/base/uuid", dashed_text_is_java_s, text_round_trip, malformed_text_is_refused)
