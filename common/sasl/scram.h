/*
 * scram.h - the keys of SCRAM (RFC 5802), as Kafka makes them
 *
 *   salted password = PBKDF2(password, salt, iterations)
 *   stored key = H(HMAC(salted password, "Client Key")), server key = HMAC(..., "Server Key")
 *
 * Passwords are taken as they are, in UTF-8. Thread: any; no state.
 */
#pragma once

#include "common/base/str.h"

/* Of the wire. */
enum scram_mechanism { SCRAM_SHA_256 = 1, SCRAM_SHA_512 = 2 };

enum { SCRAM_KEY_MAX = 64, SCRAM_ITERATIONS_MIN = 4096, SCRAM_SALT = 26 };

/* "SCRAM-SHA-256"; NULL for another number. */
const char *scram_name(int mechanism);
/* 0 for another name. */
int scram_mechanism(struct str name);
/* Bytes of each key. */
size_t scram_key_size(enum scram_mechanism m);
/* 26 letters and digits, 134 bits of chance: Kafka's salts are texts. */
void scram_salt(uint8_t ret[SCRAM_SALT]);
/* scram_key_size() bytes at ret. iterations > 0. */
void scram_salted_password(enum scram_mechanism m, struct str password, struct slice salt,
                           int32_t iterations, uint8_t ret[SCRAM_KEY_MAX]);
void scram_stored_key(enum scram_mechanism m, const uint8_t salted[SCRAM_KEY_MAX],
                      uint8_t ret[SCRAM_KEY_MAX]);
void scram_server_key(enum scram_mechanism m, const uint8_t salted[SCRAM_KEY_MAX],
                      uint8_t ret[SCRAM_KEY_MAX]);
