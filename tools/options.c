/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * options.c - see options.h.
 */
#include "options.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/edit_distance.h"

static bool is_end(const struct argp_option *option)
{
    return !option->name && !option->key && !option->doc;
}

/* The option of this name, or of which this is the beginning; NULL: there is none. */
static const struct argp_option *find(const struct argp_option *options, const char *word, size_t n)
{
    const struct argp_option *begins = NULL;

    for (; !is_end(options); options++)
        if (options->name && strncmp(options->name, word, n) == 0) {
            if (options->name[n] == '\0')
                return options;
            begins = options;
        }
    return begins;
}

/* The option that is nearest to word; NULL: none is near. */
static const char *nearest(const struct argp_option *options, const char *word, size_t n)
{
    const char *best = "help";

    for (; !is_end(options); options++)
        if (options->name && !(options->flags & OPTION_HIDDEN) &&
            edit_distance(word, n, options->name) < edit_distance(word, n, best))
            best = options->name;
    return nearest_is_near(word, n, best) ? best : NULL;
}

/* Answers what asks for no more than an answer, if quiet without a word. */
static bool is_answered(const struct argp *argp, const char *name, const char *version, int argc,
                        char **argv, bool quiet)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        const bool help = strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "--help") == 0;

        if (help || strcmp(argv[i], "--usage") == 0) {
            if (!quiet)
                argp_help(argp, stdout,
                          help ? ARGP_HELP_STD_HELP & ~ARGP_HELP_EXIT_OK : ARGP_HELP_USAGE,
                          (char *)name);
            return true;
        }
        if (strcmp(argv[i], "-V") == 0 || strcmp(argv[i], "--version") == 0) {
            if (!quiet)
                printf("%s\n", version);
            return true;
        }
    }
    return false;
}

/* The first option that there is not; NULL: there are all. */
static const char *unknown(const struct argp *argp, int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        const char *word = argv[i] + 2;
        const size_t n = strcspn(word, "=");
        const struct argp_option *option;

        if (strncmp(argv[i], "--", 2) != 0)
            continue;
        option = find(argp->options, word, n);
        if (!option)
            return word;
        if (option->arg && word[n] == '\0')
            i++; /* its value may look like an option */
    }
    return NULL;
}

static enum options_outcome read_by(const struct argp *argp, const char *name, const char *version,
                                    int argc, char **argv, unsigned flags, void *input)
{
    const bool quiet = flags & ARGP_NO_ERRS;
    const char *word;

    if (is_answered(argp, name, version, argc, argv, quiet))
        return OPTIONS_ANSWERED;
    argv[0] = (char *)name;
    argp_err_exit_status = OPTIONS_WRONG;
    word = unknown(argp, argc, argv);
    if (word && !quiet) {
        const size_t n = strcspn(word, "=");
        const char *near = nearest(argp->options, word, n);

        fprintf(stderr, "%s: unknown option --%.*s%s%s\n", name, (int)n, word,
                near ? "; the nearest is --" : "", near ? near : "");
        argp_help(argp, stderr, ARGP_HELP_SHORT_USAGE, (char *)name);
    }
    if (word || argp_parse(argp, argc, argv, ARGP_NO_HELP | flags, NULL, input))
        return OPTIONS_REFUSED;
    return OPTIONS_TAKEN;
}

void options_read(const struct argp *argp, const char *name, const char *version, int argc,
                  char **argv, void *input)
{
    switch (read_by(argp, name, version, argc, argv, 0, input)) {
    case OPTIONS_TAKEN:
        return;
    case OPTIONS_ANSWERED:
        exit(0);
    case OPTIONS_REFUSED:
        exit(OPTIONS_WRONG);
    }
}

enum options_outcome options_of_rank(int rank, const struct argp *argp, const char *name,
                                     const char *version, int argc, char **argv, void *input)
{
    return read_by(argp, name, version, argc, argv,
                   rank == 0 ? ARGP_NO_EXIT : ARGP_NO_EXIT | ARGP_NO_ERRS, input);
}
