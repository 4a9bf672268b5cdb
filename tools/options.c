/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * options.c - see options.h.
 */
#include "options.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 32 }; /* of the names that are compared */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* How many letters have to be changed, added or left out to make b of the first n of a. */
static size_t distance(const char *a, size_t n, const char *b)
{
    const size_t m = least(strlen(b), LONGEST);
    size_t row[LONGEST + 1];

    n = least(n, LONGEST);
    for (size_t j = 0; j <= m; j++)
        row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            const size_t change = diagonal + (a[i - 1] != b[j - 1]);

            diagonal = row[j];
            row[j] = least(change, 1 + least(row[j], row[j - 1]));
        }
    }
    return row[m];
}

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

static const char *nearest(const struct argp_option *options, const char *word, size_t n)
{
    const char *best = "help";

    for (; !is_end(options); options++)
        if (options->name && !(options->flags & OPTION_HIDDEN) &&
            distance(word, n, options->name) < distance(word, n, best))
            best = options->name;
    return best;
}

static void answer_first(const struct argp *argp, const char *name, const char *version, int argc,
                         char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "--help") == 0) {
            argp_help(argp, stdout, ARGP_HELP_STD_HELP & ~ARGP_HELP_EXIT_OK, (char *)name);
            exit(0);
        }
        if (strcmp(argv[i], "--usage") == 0) {
            argp_help(argp, stdout, ARGP_HELP_USAGE, (char *)name);
            exit(0);
        }
        if (strcmp(argv[i], "-V") == 0 || strcmp(argv[i], "--version") == 0) {
            printf("%s\n", version);
            exit(0);
        }
    }
}

void options_read(const struct argp *argp, const char *name, const char *version, int argc,
                  char **argv, void *input)
{
    answer_first(argp, name, version, argc, argv);
    argv[0] = (char *)name;
    argp_err_exit_status = OPTIONS_WRONG;
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        const char *word = argv[i] + 2;
        const size_t n = strcspn(word, "=");
        const struct argp_option *option;

        if (strncmp(argv[i], "--", 2) != 0)
            continue;
        option = find(argp->options, word, n);
        if (!option) {
            fprintf(stderr, "%s: unknown option --%.*s; the nearest is --%s\n", name, (int)n, word,
                    nearest(argp->options, word, n));
            argp_help(argp, stderr, ARGP_HELP_SHORT_USAGE, (char *)name);
            exit(OPTIONS_WRONG);
        }
        if (option->arg && word[n] == '\0')
            i++; /* its value may look like an option */
    }
    argp_parse(argp, argc, argv, ARGP_NO_HELP, NULL, input);
}
