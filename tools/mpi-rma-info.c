/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpi-rma-info.c - prints what this build is and which data paths work here.
 *
 * One program per host's build (config.h says which); info_report.c finds out,
 * info_text.c prints it as text, this file as one JSON object: sections with items, each
 * item an object with a value and, where there is something to say, a note.
 * With --fabric it is about the network alone (info_fabric.c).
 * With --check it is an MPI program that measures as well (check.h).
 * Exit code: 0, or 1 if an MPIRMA_ variable has a value that is not understood, or nothing goes
 * over the network that --fabric tries, 2 for wrong arguments; that of --check is in check.h.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "info_items.h"
#include "info_text.h"
#include "json.h"
#include "options.h"

struct options {
    bool json, all, check, fabric;
};

enum { KEY_HOST = OPTIONS_KEY + 1, KEY_PROGRAM, KEY_JSON, KEY_ALL, KEY_CHECK, KEY_FABRIC };

static const struct argp_option options[] = {
    {"host", KEY_HOST, "HOST", 0,
     "The build for this MPI library, mpich or openmpi, or abi for all with the standard ABI; "
     "without, all that are installed report in turn",
     0},
    {"program", KEY_PROGRAM, "PROGRAM", 0,
     "The build for the MPI library that PROGRAM is linked with, and that library itself", 0},
    {"json", KEY_JSON, NULL, 0, "One JSON object in place of text", 0},
    {"all", KEY_ALL, NULL, 0,
     "Also what works, what has its default, and what matters to few; --json always has all", 0},
    {"fabric", KEY_FABRIC, NULL, 0,
     "Open the network alone, call by call, with what each call returned, what was chosen and what "
     "spoke against the others, and send a message over it",
     0},
    {"check", KEY_CHECK, NULL, 0,
     "Measure puts between the processes of the job, and say what is slow here and how to mend it; "
     "started by mpi-rma-run --check, which preloads the library",
     0},
    OPTIONS_COMMON};

static error_t read_option(int key, char *argument, struct argp_state *state)
{
    struct options *o = state->input;

    switch (key) {
    case KEY_HOST:
        if (strcmp(argument, MPIRMA_HOST) != 0)
            argp_error(state, "--host=%s: this is the build for " MPIRMA_HOST, argument);
        return 0;
    case KEY_PROGRAM:
        argp_error(state,
                   "--program=%s: the installed mpi-rma-info chooses a build by it, and this "
                   "is the program of one build",
                   argument);
        return 0;
    case KEY_JSON:
        o->json = true;
        return 0;
    case KEY_ALL:
        o->all = true;
        return 0;
    case KEY_CHECK:
        o->check = true;
        return 0;
    case KEY_FABRIC:
        o->fabric = true;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "%s: an option was expected", argument);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options = options,
    .parser = read_option,
    .doc =
        "Print the version of libmpi-rma and the MPI library it was built for, the MPI library "
        "that it met here, the MPIRMA_ environment variables that differ from their defaults, "
        "which data paths work on this machine (and why not where not), the network, and the "
        "processors."
        "\v"
        "Exit code: 0, 1 if a variable has a value that is not understood, or --fabric finds that "
        "nothing goes over the network, 2 wrong arguments. "
        "--check ends with 1 "
        "if something is wrong (mpi-rma-run(1)), and with 3 where the host does not go on.\n"};

static void json_item(const struct item *item)
{
    json_text(stdout, item->key);
    printf(": {\"value\": ");
    switch (item->kind) {
    case ITEM_TEXT:
        json_text(stdout, item->text);
        break;
    case ITEM_BOOL:
        printf("%s", item->number ? "true" : "false");
        break;
    case ITEM_COUNT:
    case ITEM_BYTES:
        printf("%" PRIu64, item->number);
        break;
    case ITEM_UNLIMITED:
        printf("null");
        break;
    }
    if (item->note[0] != '\0') {
        printf(", \"note\": ");
        json_text(stdout, item->note);
    }
    printf("}");
}

static void print_json(const struct report *report)
{
    const char *section = NULL;

    printf("{\n  \"version\": \"%s\",\n  \"host\": \"%s\",\n  \"host_version\": \"%s\"",
           PACKAGE_VERSION, MPIRMA_HOST, MPIRMA_HOST_VERSION);
    for (size_t i = 0; i < report->nitems; i++) {
        const struct item *item = &report->items[i];
        if (section == NULL || strcmp(section, item->section) != 0)
            printf("%s,\n  \"%s\": {\n    ", section == NULL ? "" : "\n  }", item->section);
        else
            printf(",\n    ");
        section = item->section;
        json_item(item);
    }
    printf("%s\n}\n", section == NULL ? "" : "\n  }");
}

int main(int argc, char **argv)
{
    static struct report report;
    struct options wanted = {.json = false};
    bool good = true;

    options_read(&argp, "mpi-rma-info",
                 "libmpi-rma " PACKAGE_VERSION " for " MPIRMA_HOST " " MPIRMA_HOST_VERSION, argc,
                 argv, &wanted);
    if (wanted.check)
        return check_run(argc, argv, &report);
    if (wanted.fabric)
        good = report_fabric(&report);
    else
        report_fill(&report, true);
    if (wanted.json)
        print_json(&report);
    else if (wanted.fabric)
        info_text_fabric(&report);
    else
        info_text_print(&report, wanted.all);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        perror("mpi-rma-info: standard output");
        return 1;
    }
    return report.bad_environment || !good ? 1 : 0;
}
