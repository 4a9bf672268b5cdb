/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * options.h - how mpi-rma-info, mpi-rma-trace and the benches read their options: glibc's argp,
 * with one form of help and of errors.
 */
#ifndef MRMA_TOOLS_OPTIONS_H
#define MRMA_TOOLS_OPTIONS_H

#include <argp.h>

/* The last entries of a tool's table of options. The keys of others are above this one. */
enum { OPTIONS_KEY = 0x100 };
#define OPTIONS_COMMON                                                     \
    {"help", 'h', NULL, 0, "Print this text", -1},                         \
        {"usage", OPTIONS_KEY, NULL, 0, "Print all options in short", -1}, \
        {"version", 'V', NULL, 0, "Print the version only", -1},           \
    {                                                                      \
        .name = NULL                                                       \
    }

enum { OPTIONS_WRONG = 2 }; /* the exit code for wrong arguments */

/* options_read reads the arguments by argp, whose table of options ends with OPTIONS_COMMON; input
 * is for argp's parser. -h, --help and --version are looked for before all else, and end the
 * process with 0. An option that argp does not know ends it with OPTIONS_WRONG, the nearest option
 * that there is, and a line of usage; what the parser reports by argp_error ends it with
 * OPTIONS_WRONG as well. */
void options_read(const struct argp *argp, const char *name, const char *version, int argc,
                  char **argv, void *input);

enum options_outcome {
    OPTIONS_TAKEN,    /* go on */
    OPTIONS_ANSWERED, /* nothing else was wanted: end with 0 */
    OPTIONS_REFUSED,  /* end with OPTIONS_WRONG */
};

/* options_of_rank reads the arguments of an MPI program as options_read does, but returns what the
 * process has to do, since it has to call MPI_Finalize first. All processes are given the same
 * arguments, and that of rank 0 alone prints anything. argp's parser has to return an error after
 * argp_error, which returns here. */
enum options_outcome options_of_rank(int rank, const struct argp *argp, const char *name,
                                     const char *version, int argc, char **argv, void *input);

#endif
