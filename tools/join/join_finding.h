/*
 * join_finding.h - what stands in the way: how much, where, what, and what to do
 *
 * Findings that say the same of several places are one. Texts come from ZooKeeper and from files:
 * what a terminal would take for a command is spelled out, and no text or list grows without
 * bounds. Thread: the main one.
 */
#pragma once

#include "tools/why/why_facts.h"

#include <stdio.h>

enum join_severity { JOIN_BLOCKS, JOIN_WARNING, JOIN_NOTE, JOIN_SEVERITIES };

enum { JOIN_PLACES_MAX = 1000, JOIN_FINDINGS_MAX = 2000, JOIN_TEXT_MAX = 600 };

struct join_finding {
    enum join_severity severity;
    struct why_texts where; /* the first JOIN_PLACES_MAX */
    size_t places;          /* how many there are */
    struct str what;
    struct str todo;
};

struct join_findings {
    struct arena *arena;
    struct join_finding *v;
    size_t count, cap;
    size_t counts[JOIN_SEVERITIES]; /* findings of each, left out ones included */
    size_t left_out;
};

void join_found(struct join_findings *all, enum join_severity severity, struct str where,
                struct str what, struct str todo);
/* Worst first, in the order in which they were found. */
void join_sort(struct join_findings *all);
/* Printable and short. */
struct str join_clean(struct arena *a, struct str text);

struct join_print_opts {
    bool json;
    bool lists_all; /* every place */
    int32_t broker; /* -1: none */
    const struct why_texts *unasked;
};

void join_print(const struct join_findings *all, const struct join_print_opts *o, FILE *out);
