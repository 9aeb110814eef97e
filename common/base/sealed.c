#include "common/base/sealed.h"

#include <errno.h>
#include <openssl/evp.h>

enum { KEY_MAX = 32, GCM_IV = 12 };

static void free_context(EVP_CIPHER_CTX **ctx)
{
    EVP_CIPHER_CTX_free(*ctx);
}

static bool is_gcm(const struct sealed_opts *o)
{
    return strcmp(o->cipher, "GCM") == 0;
}

static const EVP_CIPHER *cipher_of(const struct sealed_opts *o)
{
    bool is_cbc = strcmp(o->cipher, "CBC") == 0;

    if (!is_cbc && !is_gcm(o))
        return NULL;
    switch (o->key_bits) {
    case 128:
        return is_cbc ? EVP_aes_128_cbc() : EVP_aes_128_gcm();
    case 192:
        return is_cbc ? EVP_aes_192_cbc() : EVP_aes_192_gcm();
    case 256:
        return is_cbc ? EVP_aes_256_cbc() : EVP_aes_256_gcm();
    default:
        return NULL;
    }
}

size_t sealed_iv_size(const struct sealed_opts *o)
{
    if (!cipher_of(o))
        return 0;
    return is_gcm(o) ? GCM_IV : SEALED_IV_MAX;
}

static int make_key(const struct sealed_opts *o, uint8_t key[KEY_MAX])
{
    const EVP_MD *digest = EVP_get_digestbyname(o->digest);

    if (!digest || o->iterations < 1 || o->salt.len > INT_MAX || o->secret.len > INT_MAX)
        return -EINVAL;
    if (PKCS5_PBKDF2_HMAC(o->secret.p, (int)o->secret.len, o->salt.p, (int)o->salt.len,
                          o->iterations, digest, o->key_bits / 8, key) != 1)
        return -EINVAL;
    return 0;
}

static int begin(const struct sealed_opts *o, struct slice iv, bool is_closing, EVP_CIPHER_CTX *ctx)
{
    const EVP_CIPHER *cipher = cipher_of(o);
    uint8_t key[KEY_MAX];

    if (!ctx || !cipher || iv.len != sealed_iv_size(o) || make_key(o, key) < 0)
        return -EINVAL;
    return EVP_CipherInit_ex(ctx, cipher, NULL, key, iv.p, is_closing) == 1 ? 0 : -EINVAL;
}

/* Java appends GCM's tag to the bytes. */
int sealed_close(const struct sealed_opts *o, struct slice iv, struct slice text, uint8_t *ret,
                 size_t *ret_len)
{
    CLEANUP(free_context) EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    int n = 0, last = 0;
    int r = begin(o, iv, true, ctx);

    if (r < 0 || text.len > INT_MAX - SEALED_BLOCK)
        return -EINVAL;
    if (EVP_CipherUpdate(ctx, ret, &n, text.p, (int)text.len) != 1 ||
        EVP_CipherFinal_ex(ctx, ret + n, &last) != 1)
        return -EINVAL;
    n += last;
    if (is_gcm(o)) {
        if (EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_GET_TAG, SEALED_TAG, ret + n) != 1)
            return -EINVAL;
        n += SEALED_TAG;
    }
    *ret_len = (size_t)n;
    return 0;
}

int sealed_open(const struct sealed_opts *o, struct slice iv, struct slice sealed, uint8_t *ret,
                size_t *ret_len)
{
    CLEANUP(free_context) EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    int n = 0, last = 0;
    int r = begin(o, iv, false, ctx);

    if (r < 0 || sealed.len > INT_MAX)
        return -EINVAL;
    if (is_gcm(o)) {
        if (sealed.len < SEALED_TAG)
            return -EINVAL;
        sealed.len -= SEALED_TAG;
        if (EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_SET_TAG, SEALED_TAG,
                                (void *)(uintptr_t)(sealed.p + sealed.len)) != 1)
            return -EINVAL;
    }
    if (EVP_CipherUpdate(ctx, ret, &n, sealed.p, (int)sealed.len) != 1 ||
        EVP_CipherFinal_ex(ctx, ret + n, &last) != 1)
        return -EINVAL;
    *ret_len = (size_t)(n + last);
    return 0;
}
