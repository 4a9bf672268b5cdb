/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * info_report.c - the report as a whole, and the environment.
 *
 * Order: the MPI library (info_host.c), environment, data paths (info_paths.c), segments
 * (info_segments.c), system, topology (info_system.c). The program has one thread, so forking is
 * safe; children only answer and _exit. Neighbours: mpi-rma-info.c prints the report.
 */
#define _GNU_SOURCE 1 /* environ */
#include "info_items.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/conf.h"
#include "base/err.h"

static const char *only_name;

static char *lookup_only(const char *name)
{
    return strcmp(name, only_name) == 0 ? getenv(name) : NULL;
}

int conf_load_only(const char *name, struct conf *conf, char *msg, size_t len)
{
    only_name = name;
    return conf_load(conf, lookup_only, msg, len);
}

/* Each variable by itself, so that one bad value does not hide the others. */
static void report_variables(struct report *report)
{
    struct conf conf;
    char msg[512], buf[256];

    for (const struct conf_var *var = conf_vars; var->name != NULL; var++) {
        const char *text = getenv(var->name);
        bool set = text != NULL && *text != '\0';
        if (conf_load_only(var->name, &conf, msg, sizeof msg) != MRMA_SUCCESS) {
            report->bad_environment = true;
            item_note(item_text(report, "environment", var->name, text), "ERROR: %s", msg);
            continue;
        }
        item_note(item_text(report, "environment", var->name,
                            conf_value(&conf, var->name, buf, sizeof buf)),
                  "%s; %s; expects %s", set ? "set" : "default", var->meaning, var->expected);
    }
}

static bool known_variable(const char *entry, size_t len)
{
    for (const struct conf_var *var = conf_vars; var->name != NULL; var++)
        if (strlen(var->name) == len && strncmp(var->name, entry, len) == 0)
            return true;
    return false;
}

/* A misspelt variable would otherwise just do nothing. */
static void report_unknown_variables(struct report *report)
{
    char names[256] = "";

    for (char **entry = environ; *entry != NULL; entry++) {
        size_t len = strcspn(*entry, "=");
        if (strncmp(*entry, "MPIRMA_", 7) != 0 || known_variable(*entry, len))
            continue;
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%.*s", used > 0 ? " " : "", (int)len,
                 *entry);
    }
    if (names[0] != '\0')
        item_note(item_text(report, "environment", "unknown", names),
                  "set, but no variables of this version");
}

void report_fill(struct report *report, bool try_host)
{
    struct conf conf;
    char msg[512];

    report->nitems = 0;
    report->bad_environment = false;
    report_host(report, try_host);
    report_variables(report);
    report_unknown_variables(report);
    const char *dir = conf_load_only("MPIRMA_SEGMENT_DIR", &conf, msg, sizeof msg) == MRMA_SUCCESS
                          ? conf.segment_dir
                          : "";
    report_paths(report, dir);
    report_segments(report, dir);
    report_futex(report);
    report_descriptors(report);
    report_topology(report);
}
