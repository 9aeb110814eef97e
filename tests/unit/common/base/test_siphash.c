#include "common/base/siphash.h"

#include "tests/support/random_msg.h"
#include "tests/support/test_main.h"

#include <endian.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>

/* The same by OpenSSL, whose SipHash is 2-4 with 16 bytes where nothing else is asked for. */
static void openssl_siphash(const struct siphash_key *key, struct slice data, uint8_t out[16])
{
    EVP_MAC *mac = EVP_MAC_fetch(NULL, "SIPHASH", NULL);
    EVP_MAC_CTX *ctx = EVP_MAC_CTX_new(mac);
    size_t n = 0;

    ck_assert_int_eq(EVP_MAC_init(ctx, (const uint8_t *)key, sizeof *key, NULL), 1);
    ck_assert_int_eq(EVP_MAC_update(ctx, data.p, data.len), 1);
    ck_assert_int_eq(EVP_MAC_final(ctx, out, &n, 16), 1);
    ck_assert_uint_eq(n, 16);
    EVP_MAC_CTX_free(ctx);
    EVP_MAC_free(mac);
}

START_TEST(it_is_the_siphash_that_openssl_has)
{
    struct random_source r = {11};
    uint8_t text[300];

    for (size_t len = 0; len < sizeof text; len++) {
        struct siphash_key key = siphash_key_random();
        uint8_t want[16];

        for (size_t i = 0; i < len; i++)
            text[i] = (uint8_t)random_to(&r, 255);
        struct hash128 h = siphash128(&key, slice_of(text, len));
        h.v[0] = htole64(h.v[0]);
        h.v[1] = htole64(h.v[1]);
        openssl_siphash(&key, slice_of(text, len), want);
        ck_assert_mem_eq(&h, want, sizeof want);
    }
}
END_TEST

START_TEST(another_key_gives_another_hash)
{
    struct siphash_key a = siphash_key_random(), b = siphash_key_random();
    struct hash128 x = siphash128(&a, slice_of("text", 4)), y = siphash128(&b, slice_of("text", 4));

    ck_assert_mem_ne(&x, &y, sizeof x);
}
END_TEST

TEST_MAIN("common/base/siphash", it_is_the_siphash_that_openssl_has, another_key_gives_another_hash)
