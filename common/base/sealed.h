/*
 * sealed.h - text that only who knows a secret can read
 *
 * PBKDF2 makes a key of the secret, AES seals.
 *
 * The algorithms of Java's cryptography that Kafka offers for passwords in ZooKeeper. Thread: any;
 * no state.
 */
#pragma once

#include "common/base/str.h"

enum { SEALED_IV_MAX = 16, SEALED_TAG = 16, SEALED_BLOCK = 16 };

struct sealed_opts {
    const char *digest; /* "SHA512": of PBKDF2's HMAC */
    const char *cipher; /* "CBC" or "GCM", of AES */
    int key_bits;       /* 128, 192, 256 */
    int iterations;
    struct str secret;
    struct slice salt;
};

/* Length of the initialisation vector; 0 for a cipher that is not known. */
size_t sealed_iv_size(const struct sealed_opts *o);
/* Room for text.len + SEALED_BLOCK bytes at ret. -EINVAL for options that do not go. */
int sealed_close(const struct sealed_opts *o, struct slice iv, struct slice text, uint8_t *ret,
                 size_t *ret_len) MUST_CHECK;
/* Room for sealed.len bytes at ret. -EINVAL, also for another secret or damaged bytes. */
int sealed_open(const struct sealed_opts *o, struct slice iv, struct slice sealed, uint8_t *ret,
                size_t *ret_len) MUST_CHECK;
