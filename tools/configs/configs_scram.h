/*
 * configs_scram.h - a SCRAM credential as it stands on the command line
 *
 * "iterations=8192,password=secret" or "password=secret". Pure: any thread.
 */
#pragma once

#include "common/base/strbuf.h"
#include "common/sasl/scram.h"

struct scram_given {
    enum scram_mechanism mechanism;
    int32_t iterations;
    struct str password; /* borrowed from the text */
};

/*
 * -EINVAL with Kafka's words. for_zookeeper: as its tool reads and words it there, where -1 is not
 * the default.
 */
int scram_parse(enum scram_mechanism m, const char *text, bool for_zookeeper,
                struct scram_given *ret, struct strbuf *why) MUST_CHECK;
/* What stands in ZooKeeper: "salt=...,stored_key=...,server_key=...,iterations=...". */
void scram_print_stored(const struct scram_given *given, struct slice salt, struct strbuf *out);
