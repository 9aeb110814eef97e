/*
 * complete.h - what could stand at the end of a command line that is being typed, from the tables
 * of flags
 *
 * Thread: any; pure.
 */
#pragma once

#include "tools/base/args.h"

enum complete_names { COMPLETE_NO_NAMES, COMPLETE_TOPICS, COMPLETE_GROUPS };

struct complete_line {
    struct tool_flags flags;
    bool as_kafka;
    int argc; /* the words behind the tool's name; the last one is being typed, perhaps empty */
    char *const *argv;
};

struct complete_found {
    struct strbuf text;         /* a line each: what could be typed, a tab, what it is */
    enum complete_names names;  /* these could, too: the cluster knows them */
    struct str start;           /* of them: what has been typed */
    struct str before;          /* of them: "--topic=", what stands in front in the same word */
    const char *bootstrap;      /* where the cluster is; NULL: not said */
    const char *command_config; /* its client properties, NULL: none */
};

void complete_found_deinit(struct complete_found *f);
void complete_find(const struct complete_line *line, struct complete_found *ret);
/* Adds a line where word begins like start. */
void complete_add(struct complete_found *f, struct str start, const char *before, const char *word,
                  const char *about);
