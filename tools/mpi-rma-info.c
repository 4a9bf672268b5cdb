/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpi-rma-info.c - prints what this build is and which data paths work here.
 *
 * One program per host's build (config.h says which); info_report.c finds out,
 * this file prints it as text or as one JSON object: sections with items, each
 * item an object with a value and, where there is something to say, a note.
 * With --check it is an MPI program that measures as well (check.h).
 * Exit code: 0, or 1 if an MPIRMA_ variable has a value that is not understood,
 * 2 for wrong arguments; that of --check is in check.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "info_report.h"

static const char usage_text[] =
    "usage: mpi-rma-info [--json]\n"
    "       mpiexec -n N mpi-rma-run --check\n"
    "Print the version of libmpi-rma and the MPI library it was built for, the MPIRMA_\n"
    "environment variables with the values in use, which data paths work on this machine\n"
    "(and why not where not), limits of shared segments, and the processors.\n"
    "\n"
    "  --host=mpich|openmpi  as the first argument: the build for this MPI library; else all\n"
    "              that are installed report in turn\n"
    "  --json      one JSON object instead of text\n"
    "  --check     measure puts between the processes of the job and say what is slow here and\n"
    "              how to mend it; started by mpi-rma-run --check, which preloads the library\n"
    "  --version   print the version and the MPI library only\n"
    "  --help      this text\n"
    "\n"
    "Exit code: 0, 1 if a variable has a value that is not understood, 2 wrong arguments.\n";

static const struct {
    const char *section;
    const char *title;
} titles[] = {
    {"environment", "Environment"}, {"data_paths", "Data paths"}, {"segments", "Shared segments"},
    {"system", "System"},           {"topology", "Topology"},
};

static const char *title_of(const char *section)
{
    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++)
        if (strcmp(titles[i].section, section) == 0)
            return titles[i].title;
    return section;
}

/* 1536 -> "1.5 KiB"; integers only, so that no locale's decimal sign gets in. */
static void format_bytes(char *buf, size_t len, uint64_t bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    unsigned unit = 0;
    uint64_t rest = 0;

    while (bytes >= 1024) {
        rest = bytes % 1024;
        bytes /= 1024;
        unit++;
    }
    if (unit == 0)
        snprintf(buf, len, "%" PRIu64 " bytes", bytes);
    else
        snprintf(buf, len, "%" PRIu64 ".%" PRIu64 " %s", bytes, rest * 10 / 1024, units[unit]);
}

static void format_value(char *buf, size_t len, const struct item *item)
{
    switch (item->kind) {
    case ITEM_TEXT:
        snprintf(buf, len, "%s", item->text[0] == '\0' ? "(unset)" : item->text);
        break;
    case ITEM_BOOL:
        snprintf(buf, len, "%s", item->number ? "yes" : "no");
        break;
    case ITEM_COUNT:
        snprintf(buf, len, "%" PRIu64, item->number);
        break;
    case ITEM_BYTES:
        format_bytes(buf, len, item->number);
        break;
    case ITEM_UNLIMITED:
        snprintf(buf, len, "unlimited");
        break;
    }
}

static void print_text(const struct report *report)
{
    const char *section = "";
    char value[300];

    printf("libmpi-rma %s for %s %s\n", PACKAGE_VERSION, MPIRMA_HOST, MPIRMA_HOST_VERSION);
    for (size_t i = 0; i < report->nitems; i++) {
        const struct item *item = &report->items[i];
        if (strcmp(section, item->section) != 0)
            printf("\n%s\n", title_of(item->section));
        section = item->section;
        format_value(value, sizeof value, item);
        if (item->note[0] == '\0')
            printf("  %-22s %s\n", item->key, value);
        else
            printf("  %-22s %-12s %s\n", item->key, value, item->note);
    }
}

/* Bytes that are no UTF-8 could come from the environment: all above ASCII are
 * escaped as if they were Latin-1, which keeps the output valid JSON. */
static void json_string(const char *text)
{
    putchar('"');
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            printf("\\%c", c);
        else if (c < ' ' || c > '~')
            printf("\\u%04x", c);
        else
            putchar(c);
    }
    putchar('"');
}

static void json_item(const struct item *item)
{
    json_string(item->key);
    printf(": {\"value\": ");
    switch (item->kind) {
    case ITEM_TEXT:
        json_string(item->text);
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
        json_string(item->note);
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
    int json = 0;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            fputs(usage_text, stdout);
            return 0;
        }
        if (strcmp(argv[i], "--version") == 0) {
            printf("libmpi-rma %s for %s %s\n", PACKAGE_VERSION, MPIRMA_HOST, MPIRMA_HOST_VERSION);
            return 0;
        }
        if (strcmp(argv[i], "--check") == 0)
            return check_run(argc, argv, &report);
        if (strcmp(argv[i], "--json") != 0) {
            fprintf(stderr, "mpi-rma-info: unknown argument %s (see mpi-rma-info --help)\n",
                    argv[i]);
            return 2;
        }
        json = 1;
    }
    report_fill(&report);
    if (json)
        print_json(&report);
    else
        print_text(&report);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        perror("mpi-rma-info: standard output");
        return 1;
    }
    return report.bad_environment ? 1 : 0;
}
