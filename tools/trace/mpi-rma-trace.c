/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpi-rma-trace.c - where the time of one-sided communication goes: makes an OTF2 archive of what
 * traced processes have left, and reports on it or on any other archive.
 *
 * Exit code: 0, 1 if there is nothing to read or it cannot be written, 2 for wrong arguments.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "archive.h"
#include "report.h"

static const char usage_text[] =
    "usage: mpi-rma-trace [--json] [--html FILE] [--model=basic|extended] DIR|FILE.otf2\n"
    "       mpi-rma-trace --archive DIR\n"
    "Report where the time of one-sided communication (MPI RMA) goes: a profile, the operations\n"
    "between ranks, and wait states with what to do about them. DIR is what the processes of a\n"
    "traced job have left; an OTF2 archive, DIR/traces.otf2, is made of it first where there is\n"
    "none, or an older one. FILE.otf2 is any archive with RMA records, other tools' too.\n"
    "\n"
    "  --json      the report as one JSON object, times in nanoseconds\n"
    "  --html FILE the report as one page for a browser too, with a time line\n"
    "  --model=M   where a transfer ends: basic, where the issuing call returns; extended "
    "(default),\n"
    "              where the standard completes it\n"
    "  --archive   make the archive only, in the place of one that is there. A job that was "
    "killed\n"
    "              can be read too: calls that were open are closed at the time of their "
    "process's\n"
    "              last record, damaged files are read as far as that goes; what was left out is\n"
    "              said\n"
    "  --recover   the same\n"
    "  --version   print the version only\n"
    "  --help      this text\n"
    "\n"
    "Exit code: 0, 1 if there is nothing to read or it cannot be written, 2 wrong arguments.\n";

struct options {
    const char *path, *html;
    bool archive, json;
    enum model model;
};

static int usage(const char *argument)
{
    if (argument)
        fprintf(stderr, "mpi-rma-trace: %s is not understood\n", argument);
    fputs(usage_text, stderr);
    return 2;
}

/* False: *bad is the argument that is not understood. */
static bool read_arguments(struct options *options, int argc, char **argv, const char **bad)
{
    for (int i = 1; i < argc; i++) {
        const char *argument = argv[i];

        *bad = argument;
        if (strcmp(argument, "--archive") == 0 || strcmp(argument, "--recover") == 0)
            options->archive = true;
        else if (strcmp(argument, "--json") == 0)
            options->json = true;
        else if (strcmp(argument, "--html") == 0 && i + 1 < argc)
            options->html = argv[++i];
        else if (strncmp(argument, "--html=", 7) == 0 && argument[7])
            options->html = argument + 7;
        else if (strcmp(argument, "--model=basic") == 0)
            options->model = MODEL_BASIC;
        else if (strcmp(argument, "--model=extended") == 0)
            options->model = MODEL_EXTENDED;
        else if (argument[0] == '-' || options->path)
            return false;
        else
            options->path = argument;
    }
    *bad = NULL;
    return options->path != NULL;
}

/* The anchor file of the archive in dir, made first where there is none, or where a later job has
 * left files. NULL: there is nothing. */
static char *archive_in(const char *dir)
{
    char *anchor = text("%s/" ARCHIVE_NAME ".otf2", dir);
    struct stat info;

    if (stat(anchor, &info) == 0 && !spool_is_newer(dir, &info.st_mtim))
        return anchor;
    if (!spool_is_there(dir))
        say("%s: neither an archive (" ARCHIVE_NAME ".otf2) nor files of traced processes (spool)",
            dir);
    else if (archive_write(dir))
        return anchor;
    free(anchor);
    return NULL;
}

static bool write_page(const struct analysis *analysis, const char *anchor, const char *path)
{
    FILE *out = fopen(path, "w");
    bool good = out != NULL;

    if (out) {
        report_html(analysis, anchor, out);
        good = !ferror(out);
        good = fclose(out) == 0 && good;
    }
    if (!good)
        say("%s: %s", path, strerror(errno));
    return good;
}

static int report(const struct options *options, const char *anchor)
{
    struct trace trace;
    struct analysis analysis;
    bool good = true;

    if (!trace_read(&trace, anchor))
        return 1;
    analyse(&analysis, &trace, options->model);
    if (options->json)
        report_json(&analysis, stdout);
    else {
        printf("%s\n", anchor);
        report_text(&analysis, stdout);
    }
    if (options->html)
        good = write_page(&analysis, anchor, options->html);
    analysis_free(&analysis);
    trace_free(&trace);
    if (fflush(stdout) == 0 && !ferror(stdout))
        return good ? 0 : 1;
    say("cannot write the report: %s", strerror(errno));
    return 1;
}

int main(int argc, char **argv)
{
    struct options options = {.model = MODEL_EXTENDED};
    const char *bad;
    struct stat info;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            fputs(usage_text, stdout);
            return 0;
        }
        if (strcmp(argv[i], "--version") == 0) {
            printf("mpi-rma-trace %s\n", PACKAGE_VERSION);
            return 0;
        }
    }
    if (!read_arguments(&options, argc, argv, &bad))
        return usage(bad);
    if (options.archive)
        return archive_write(options.path) ? 0 : 1;
    if (stat(options.path, &info) != 0) {
        say("%s: %s", options.path, strerror(errno));
        return 1;
    }
    char *anchor = S_ISDIR(info.st_mode) ? archive_in(options.path) : text("%s", options.path);
    int result = anchor ? report(&options, anchor) : 1;
    free(anchor);
    return result;
}
