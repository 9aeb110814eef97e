/*
 * opts.h - command lines as Kafka's tools take them
 *
 * `--flag value`, `--flag=value`, and with one dash as well. A value is the next word, whatever it
 * looks like; a flag without a value ignores what follows its '='. "--" ends the flags; other words
 * are kept apart. Names are never abbreviated. Whether a value is a number, and whether a flag that
 * may stand once stands once, is found out when it is asked for, as Kafka does: the order in which
 * mistakes are reported is part of what scripts see.
 *
 * Called as our own tool there are more flags (OPT_OURS) and one-letter names, and an unknown flag
 * is answered with the nearest one. Thread: any; no state but the arguments.
 */
#pragma once

#include "tools/base/tool.h"

#include <stdio.h>

enum opt_flag {
    OPT_OURS = BIT(0),     /* not a flag of Kafka's tool */
    OPT_KAFKAS = BIT(1),   /* only there for old scripts: not shown in our own help */
    OPT_OPTIONAL = BIT(2), /* the value may be missing: it is the next word where that is no flag */
    /* For args.h: */
    OPT_LETTER = BIT(3),   /* the letter is Kafka's too */
    OPT_REQUIRED = BIT(4), /* has to be there */
    OPT_ONE_OF = BIT(5),   /* of these there has to be exactly one */
    OPT_INT = BIT(6),      /* an int32 */
    OPT_LONG = BIT(7),     /* an int64 */
    OPT_DOUBLE = BIT(8),
    OPT_MANY = BIT(9), /* takes all words up to the next flag */
    OPT_METAVAR =
        BIT(10), /* arg is how Kafka's usage calls the value; else it is made of the name */
    OPT_REPEATED = BIT(11), /* may stand more than once */
};

struct opt_spec {
    const char *name;
    const char *arg; /* what its value is; NULL: it takes none */
    const char *help;
    uint16_t flags;
    char letter;         /* as our own tool: -b for --bootstrap-server */
    const char *choices; /* "0,1,-1"; NULL: any value (args.h) */
};

struct opts_def {
    const char *about; /* one line on top of the help */
    const struct opt_spec *specs;
    int count;
};

struct opt_value {
    int id; /* index into specs; -1: a word that belongs to no flag */
    const char *value;
};

struct opts {
    const struct opts_def *def;
    const struct invocation *inv;
    struct opt_value *v; /* as they stand on the command line */
    int count, cap;
};

void opts_deinit(struct opts *o);
/* -EINVAL with the reason in why; -ECANCELED where only def is wanted (tool.h). def and inv are
 * borrowed. */
int opts_parse(struct opts *o, const struct opts_def *def, const struct invocation *inv,
               struct strbuf *why) MUST_CHECK;

bool opts_has(const struct opts *o, int id);
int opts_count(const struct opts *o, int id);
/* The nth value, NULL past the last. id -1: the words that belong to no flag. */
const char *opts_nth(const struct opts *o, int id, int n);
/* The value, NULL where the flag is not there or has none; -EINVAL where there are several. */
int opts_text(const struct opts *o, int id, const char **ret, struct strbuf *why) MUST_CHECK;
/* *ret stays as it is where the flag is not there. */
int opts_i32(const struct opts *o, int id, int32_t *ret, struct strbuf *why) MUST_CHECK;
int opts_i64(const struct opts *o, int id, int64_t *ret, struct strbuf *why) MUST_CHECK;

/* The flag that is spelled most like this one, NULL where none is near. */
const char *opts_nearest(const struct opts_def *def, struct str name);
/* Appends a value, as if it stood on the command line. */
void opts_add(struct opts *o, int id, const char *value);

/* Returns r; as our own tool a reason that does not name the flag at fault gets it, with its value:
 * "... (--broker-list 1,x)". */
int opts_blame(const struct opts *o, int id, int r, struct strbuf *why);

/* --output: table, which is what goes without it, or json. */
int opts_json(const struct opts *o, int id, bool *ret, struct strbuf *why) MUST_CHECK;

/* -EINVAL and Kafka's words where the flag is missing, or used together with one of others (which
 * ends with -1). */
int opts_require(const struct opts *o, int id, struct strbuf *why) MUST_CHECK;
int opts_exclude(const struct opts *o, int id, const int *others, struct strbuf *why) MUST_CHECK;

void opts_help(const struct opts_def *def, const struct invocation *inv, FILE *out);
/* Without the line on top. */
void opts_help_flags(const struct opts_def *def, const struct invocation *inv, FILE *out);
/*
 * A mistake in the command line: as Kafka's tool the message and the help, as our own the message
 * and where help is. Returns the exit code.
 */
int opts_usage(const struct opts *o, const char *message);
/*
 * Deals with --help, --version and a command line without a word: true, and *ret_code the exit
 * code, where nothing is left to do. The ids may be OPT_NONE.
 */
enum { OPT_NONE = -2 };
bool opts_answered(const struct opts *o, int help_id, int version_id, int *ret_code);
