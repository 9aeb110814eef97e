/*
 * argparse.h - command lines as those of Kafka's tools take them that use argparse4j
 *
 * `--flag value`, `--flag=value`, and any beginning of a flag that fits one only. A value does not
 * begin with a dash, unless it is a number. Values are checked as they are met, what is missing at
 * the end. What is understood is in a struct opts, as with opts_parse(). Thread: any.
 */
#pragma once

#include "tools/base/opts.h"

enum arg_type { ARG_TEXT, ARG_INT, ARG_LONG, ARG_DOUBLE, ARG_SWITCH };

struct arg_rule {
    enum arg_type type;
    bool required;
    bool many;           /* takes all words up to the next flag */
    bool one_of;         /* exactly one of the flags with this mark is there */
    const char *choices; /* "0,1,-1"; NULL: any */
};

struct argparse_def {
    const struct opts_def *opts; /* spec.arg is the metavar; NULL for a switch */
    const struct arg_rule *rules;
    const char *program; /* in usage */
};

/* -EINVAL with the reason in why. A flag that stands twice: the last one counts. */
int argparse(struct opts *o, const struct argparse_def *def, const struct invocation *inv,
             struct strbuf *why) MUST_CHECK;
/* The last value; NULL where the flag is not there. */
const char *argparse_text(const struct opts *o, int id);
/* Only for flags whose type was checked. */
int64_t argparse_int(const struct opts *o, int id, int64_t fallback);

/* No words at all, or -h: help was printed, *ret_code is the exit code. */
bool argparse_helped(const struct argparse_def *def, const struct invocation *inv, int *ret_code);
/* Usage and the mistake on stderr; the exit code. */
int argparse_fail(const struct argparse_def *def, const struct invocation *inv,
                  const char *message);
