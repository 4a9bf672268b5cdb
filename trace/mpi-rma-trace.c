/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpi-rma-trace.c - where the time of one-sided communication goes: makes an OTF2 archive of what
 * traced processes have left, and reports on it or on any other archive.
 *
 * Exit code: 0, 1 if there is nothing to read, an archive is damaged or nothing can be written, 2
 * for wrong arguments.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../tools/options.h"
#include "archive.h"
#include "report.h"

struct wanted {
    const char *path, *html;
    bool archive, json, estimate;
    enum model model;
};

enum { KEY_JSON = OPTIONS_KEY + 1, KEY_HTML, KEY_MODEL, KEY_ESTIMATE, KEY_ARCHIVE };

static const struct argp_option options[] = {
    {"json", KEY_JSON, NULL, 0, "The report as one JSON object, times in nanoseconds", 0},
    {"html", KEY_HTML, "FILE", 0, "The report as one page for a browser too, with a time line", 0},
    {"model", KEY_MODEL, "M", 0,
     "Where a transfer ends: basic, where the issuing call returns; extended (default), where the "
     "standard completes it",
     0},
    {"estimate", KEY_ESTIMATE, NULL, 0,
     "Estimate what would save time also where there were more ranks than processors: good where "
     "ranks sleep, as in place of computing",
     0},
    {"archive", KEY_ARCHIVE, NULL, 0,
     "Make the archive only, in the place of one that is there. A job that was killed can be read "
     "too: calls that were open are closed at the time of their process's last record, damaged "
     "files are read as far as that goes; what was left out is said",
     0},
    {"recover", 0, NULL, OPTION_ALIAS, NULL, 0},
    OPTIONS_COMMON};

static void read_model(struct argp_state *state, struct wanted *wanted, const char *name)
{
    if (strcmp(name, "basic") == 0)
        wanted->model = MODEL_BASIC;
    else if (strcmp(name, "extended") == 0)
        wanted->model = MODEL_EXTENDED;
    else
        argp_error(state, "--model=%s: expected basic or extended", name);
}

static error_t read_option(int key, char *argument, struct argp_state *state)
{
    struct wanted *wanted = state->input;

    switch (key) {
    case KEY_JSON:
        wanted->json = true;
        return 0;
    case KEY_HTML:
        wanted->html = argument;
        return 0;
    case KEY_MODEL:
        read_model(state, wanted, argument);
        return 0;
    case KEY_ESTIMATE:
        wanted->estimate = true;
        return 0;
    case KEY_ARCHIVE:
        wanted->archive = true;
        return 0;
    case ARGP_KEY_ARG:
        if (wanted->path)
            argp_error(state, "one directory or archive at a time, not %s too", argument);
        wanted->path = argument;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "which directory or archive?");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {.options = options,
                                 .parser = read_option,
                                 .args_doc = "DIR|FILE.otf2",
                                 .doc = "Report where the time of one-sided communication (MPI "
                                        "RMA) goes: which changes would save time, a profile, "
                                        "the operations between ranks, and wait states with what "
                                        "to do about them. DIR is what the "
                                        "processes of a traced job have left; an OTF2 archive, "
                                        "DIR/traces.otf2, is made of it first where there is none, "
                                        "or an older one. FILE.otf2 is any archive with RMA "
                                        "records, other tools' too."
                                        "\v"
                                        "Exit code: 0, 1 if there is nothing to read, an archive "
                                        "is damaged, or nothing can be written, 2 wrong "
                                        "arguments.\n"};

/* archive_in returns the anchor file of the archive in dir. It makes the archive first where there
 * is none, or where a later job has left files. NULL: there is nothing to read. */
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

static bool write_page(const struct findings *findings, const char *anchor, const char *path)
{
    FILE *out = fopen(path, "w");
    bool good = out != NULL;

    if (out) {
        report_html(findings, anchor, out);
        good = !ferror(out);
        good = fclose(out) == 0 && good;
    }
    if (!good)
        say("%s: %s", path, strerror(errno));
    return good;
}

static int report(const struct wanted *options, const char *anchor, const char *way_out)
{
    struct trace trace;
    struct analysis analysis;
    struct causes causes;
    struct whatif whatif;
    const struct findings findings = {&analysis, &causes, &whatif};

    if (!trace_read(&trace, anchor, way_out))
        return 1;
    bool good = !trace.damaged;
    analyse(&analysis, &trace, options->model);
    causes_find(&causes, &analysis);
    whatif_find(&whatif, &analysis, &causes, options->estimate);
    if (options->json)
        report_json(&findings, stdout);
    else {
        printf("%s\n", anchor);
        report_text(&findings, stdout);
    }
    if (options->html)
        good = write_page(&findings, anchor, options->html) && good;
    whatif_free(&whatif);
    causes_free(&causes);
    analysis_free(&analysis);
    trace_free(&trace);
    if (fflush(stdout) == 0 && !ferror(stdout))
        return good ? 0 : 1;
    say("cannot write the report: %s", strerror(errno));
    return 1;
}

/* way_out_of returns what helps where the archive in dir is damaged, or NULL if nothing does. */
static char *way_out_of(const char *dir)
{
    return spool_is_there(dir) ? text("the files of the processes are still in %s/spool: "
                                      "\"mpi-rma-trace --archive %s\" "
                                      "makes the archive anew",
                                      dir, dir)
                               : NULL;
}

int main(int argc, char **argv)
{
    struct wanted wanted = {.model = MODEL_EXTENDED};
    struct stat info;

    options_read(&argp, "mpi-rma-trace", "mpi-rma-trace " PACKAGE_VERSION, argc, argv, &wanted);
    if (wanted.archive)
        return archive_write(wanted.path) ? 0 : 1;
    if (stat(wanted.path, &info) != 0) {
        say("%s: %s", wanted.path, strerror(errno));
        return 1;
    }
    const bool is_dir = S_ISDIR(info.st_mode);
    char *anchor = is_dir ? archive_in(wanted.path) : text("%s", wanted.path);
    char *way_out = is_dir ? way_out_of(wanted.path) : NULL;
    int result = anchor ? report(&wanted, anchor, way_out) : 1;
    free(way_out);
    free(anchor);
    return result;
}
