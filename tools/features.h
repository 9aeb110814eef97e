/*
 * features.h - what of `klamm features` needs no cluster: versions of metadata as numbers, updates
 * as the command line says them
 *
 * Thread: any; pure.
 */
#pragma once

#include "common/base/arena.h"
#include "common/base/strbuf.h"

#define FEATURE_METADATA "metadata.version"

enum feature_change { FEATURE_UPGRADE, FEATURE_DOWNGRADE, FEATURE_DISABLE };

struct feature_update {
    struct str name;
    int16_t level;
};

struct feature_updates {
    struct feature_update *v; /* sorted by name */
    int count;
};

/* "3.7" or "3.7-IV4" -> 19. -EINVAL with Kafka's words. */
int feature_level(const char *version, int16_t *ret, struct strbuf *why) MUST_CHECK;
/* 19 -> "3.7-IV4", and the number itself for other features and unknown levels. */
void feature_level_text(struct str feature, int16_t level, struct strbuf *ret);
/* "foo=1", or "foo" where it is to be disabled. */
int feature_parse(const char *text, enum feature_change change, struct feature_update *ret,
                  struct strbuf *why) MUST_CHECK;
/* Adds one, in its place; -EINVAL where the feature is in there. v has room. */
int feature_add(struct feature_updates *u, struct feature_update one, struct strbuf *why)
    MUST_CHECK;
/* What a client refuses to send. */
int feature_check(const struct feature_updates *u, enum feature_change change, struct strbuf *why)
    MUST_CHECK;
