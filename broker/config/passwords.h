/*
 * passwords.h - passwords among the settings of brokers in ZooKeeper: sealed with
 * password.encoder.secret
 *
 * The text of one is Kafka's: "name:value" pairs with commas between,
 *   keyFactoryAlgorithm, cipherAlgorithm, keyLength, salt, iterations, encryptedPassword,
 *   passwordLength, initializationVector, and authenticationTagLength for GCM,
 * bytes in base64. Thread: any; no state.
 */
#pragma once

#include "broker/config/broker_conf.h"

enum password_secret { PASSWORD_SECRET, PASSWORD_OLD_SECRET };

/* -EINVAL with the reason in why: there is no secret, or the algorithms are not known. */
int password_encode(const struct broker_conf *c, const char *password, struct strbuf *ret,
                    struct strbuf *why) MUST_CHECK;
/* -EINVAL where it cannot be read with that secret. */
int password_decode(const struct broker_conf *c, enum password_secret which, const char *text,
                    struct strbuf *ret) MUST_CHECK;

/* All passwords among the settings, in place. */
int passwords_encode(const struct broker_conf *c, struct props *p, struct strbuf *why) MUST_CHECK;
/* Those that cannot be decoded are said and left out. */
void passwords_decode(const struct broker_conf *c, struct props *p);
/* Seals again what the old secret can open; whether there was anything. */
bool passwords_renew(const struct broker_conf *c, struct props *p);
