/*
 * args.h - command lines of those of Kafka's tools that use argparse4j (0.7.0), with commands of
 * their own and without
 *
 *   kafka-features --bootstrap-server localhost:9092 upgrade --metadata 3.7
 *   kafka-verifiable-producer --topic t --bootstrap-server localhost:9092
 *
 * In front of a command stand the tool's flags, behind it the command's. Other than opts.h reads
 * them: names of flags and commands may be cut short as long as one is meant, letters are Kafka's
 * too, a value never begins with a dash unless it is a negative number, the last of several values
 * counts, and what is missing or not understood is an error with a `usage:` line, at once and in
 * Kafka's order. The values end up in struct opts, for opts_has() and opts_nth().
 *
 * Called as our own tool there are the OPT_OURS flags as well, errors are one line, and flags of
 * the tool may stand behind the command too. Thread: any; no state but the arguments.
 */
#pragma once

#include "tools/base/opts.h"

struct args_command {
    const char *name;
    struct opts_def def; /* about: what it does */
};

struct args_def {
    const char *name; /* as Kafka calls the tool in its usage */
    struct opts_def def;
    const struct args_command *commands; /* count 0: the tool has none */
    int count;
};

struct args {
    const struct args_def *def;
    const struct invocation *inv;
    const struct args_command *command; /* NULL: none was met */
    struct opts root;                   /* the tool's flags */
    struct opts sub;                    /* the command's */
};

void args_deinit(struct args *a);
/* True, and *ret_code the exit code, where nothing is left to do: help was asked for, or the
 * command line is wrong and that has been said. def and inv are borrowed. */
bool args_answered(struct args *a, const struct args_def *def, const struct invocation *inv,
                   int *ret_code);
/* Says a mistake that only the tool could find, as those of args_answered(); the exit code. */
int args_wrong(const struct args *a, const char *message);

/* The last value; NULL where the flag is not there. */
const char *args_text(const struct opts *o, int id);
/* The same of an OPT_INT or OPT_LONG. */
int64_t args_int(const struct opts *o, int id, int64_t fallback);

/* args_help.c: as Kafka prints them. command: NULL for the tool's own. */
void args_usage(const struct args_def *def, const struct args_command *command, FILE *out);
void args_help(const struct args_def *def, const struct args_command *command, FILE *out);
/* "prog: error: MESSAGE", in lines of 75 columns. */
void args_error(const struct args_def *def, const char *message, FILE *out);
/* "Did you mean:" and those flags, or commands, that are spelled most like the word, where any is
 * near. */
void args_near_flags(const struct opts_def *def, const char *word, FILE *out);
void args_near_commands(const struct args_def *def, const char *word, FILE *out);
/* "--bootstrap-server/-b" */
void args_flag_name(const struct opt_spec *spec, struct strbuf *ret);
