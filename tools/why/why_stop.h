/*
 * why_stop.h - klamm can-stop: whether a broker may be stopped now
 *
 * stop_ask() looks at the cluster twice, stop_judge() is a pure function of both looks. Thread: the
 * main one.
 */
#pragma once

#include "tools/why/why.h"

enum stop_verdict { STOP_YES, STOP_NO, STOP_UNKNOWN_BROKER, STOP_IN_DOUBT };

/* Two looks, one after the other: what holds in both of them counts. */
struct stop_facts {
    const struct why_facts *first;  /* with settings, and who answers */
    const struct why_facts *second; /* Metadata only */
    int32_t broker;
    struct why_texts hidden; /* topics that lie on it and that we may not see */
};

struct stop_asker {
    struct cluster *cluster;
    struct arena *arena;
    const char *bootstrap;
    int32_t broker;
};

/* why_ask_stop.c: both looks, and what is hidden. */
void stop_ask(const struct stop_asker *s, struct why_facts *first, struct why_facts *second,
              struct why_texts *ret_hidden);
enum stop_verdict stop_judge(const struct stop_facts *s, struct why_findings *ret);
