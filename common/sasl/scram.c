#include "common/sasl/scram.h"

#include "common/base/random.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

static const char *const names[] = {
    [SCRAM_SHA_256] = "SCRAM-SHA-256",
    [SCRAM_SHA_512] = "SCRAM-SHA-512",
};

const char *scram_name(int mechanism)
{
    return mechanism > 0 && mechanism < (int)ARRAY_LEN(names) ? names[mechanism] : NULL;
}

int scram_mechanism(struct str name)
{
    for (int m = SCRAM_SHA_256; m <= SCRAM_SHA_512; m++) {
        if (str_eqz(name, names[m]))
            return m;
    }
    return 0;
}

static const EVP_MD *digest_of(enum scram_mechanism m)
{
    return m == SCRAM_SHA_512 ? EVP_sha512() : EVP_sha256();
}

size_t scram_key_size(enum scram_mechanism m)
{
    return m == SCRAM_SHA_512 ? 64 : 32;
}

void scram_salt(uint8_t ret[SCRAM_SALT])
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";

    for (size_t i = 0; i < SCRAM_SALT; i++)
        ret[i] = (uint8_t)digits[random_below(sizeof digits - 1)];
}

void scram_salted_password(enum scram_mechanism m, struct str password, struct slice salt,
                           int32_t iterations, uint8_t ret[SCRAM_KEY_MAX])
{
    assert(iterations > 0);
    int r = PKCS5_PBKDF2_HMAC(password.p ? password.p : "", (int)password.len, salt.p,
                              (int)salt.len, iterations, digest_of(m), (int)scram_key_size(m), ret);

    assert(r == 1);
}

static void hmac(enum scram_mechanism m, const uint8_t *key, struct str text, uint8_t *ret)
{
    const uint8_t *done = HMAC(digest_of(m), key, (int)scram_key_size(m), (const uint8_t *)text.p,
                               text.len, ret, NULL);

    assert(done);
}

void scram_stored_key(enum scram_mechanism m, const uint8_t salted[SCRAM_KEY_MAX],
                      uint8_t ret[SCRAM_KEY_MAX])
{
    uint8_t client[SCRAM_KEY_MAX];

    hmac(m, salted, STR("Client Key"), client);
    int r = EVP_Digest(client, scram_key_size(m), ret, NULL, digest_of(m), NULL);
    assert(r == 1);
}

void scram_server_key(enum scram_mechanism m, const uint8_t salted[SCRAM_KEY_MAX],
                      uint8_t ret[SCRAM_KEY_MAX])
{
    hmac(m, salted, STR("Server Key"), ret);
}
