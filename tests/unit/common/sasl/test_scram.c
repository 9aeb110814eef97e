#include "common/sasl/scram.h"

#include "common/base/base64.h"
#include "tests/support/test_main.h"

static const uint8_t salt[] = {0x5b, 0x6d, 0x99, 0x68, 0x9d, 0x12, 0x35, 0x8e,
                               0xec, 0xa0, 0x4b, 0x14, 0x12, 0x36, 0xfa, 0x81};

static const char *as_base64(const uint8_t *bytes, size_t n)
{
    static char text[BASE64_TEXT_SIZE(SCRAM_KEY_MAX)];

    base64_encode(slice_of(bytes, n), text);
    return text;
}

START_TEST(mechanisms_have_names)
{
    ck_assert_str_eq(scram_name(1), "SCRAM-SHA-256");
    ck_assert_str_eq(scram_name(2), "SCRAM-SHA-512");
    ck_assert_ptr_null(scram_name(0));
    ck_assert_ptr_null(scram_name(3));
    ck_assert_ptr_null(scram_name(-1));
    ck_assert_int_eq(scram_mechanism(STR("SCRAM-SHA-512")), SCRAM_SHA_512);
    ck_assert_int_eq(scram_mechanism(STR("SCRAM-SHA-1")), 0);
}
END_TEST

/* RFC 7677, section 3. */
START_TEST(keys_are_those_of_the_rfc)
{
    uint8_t salted[SCRAM_KEY_MAX], key[SCRAM_KEY_MAX];

    scram_salted_password(SCRAM_SHA_256, STR("pencil"), slice_of(salt, sizeof salt), 4096, salted);
    scram_stored_key(SCRAM_SHA_256, salted, key);
    ck_assert_str_eq(as_base64(key, 32), "WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=");
    scram_server_key(SCRAM_SHA_256, salted, key);
    ck_assert_str_eq(as_base64(key, 32), "wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=");
}
END_TEST

START_TEST(salts_are_texts_and_differ)
{
    uint8_t a[SCRAM_SALT], b[SCRAM_SALT];

    scram_salt(a);
    scram_salt(b);
    ck_assert_mem_ne(a, b, sizeof a);
    for (size_t i = 0; i < sizeof a; i++)
        ck_assert((a[i] >= '0' && a[i] <= '9') || (a[i] >= 'a' && a[i] <= 'z'));
}
END_TEST

TEST_MAIN("common/sasl/scram", mechanisms_have_names, keys_are_those_of_the_rfc,
          salts_are_texts_and_differ)
