/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * info_report.c - the report as a whole.
 *
 * Order: the MPI library (info_host.c), environment and tuning (info_settings.c), data paths
 * (info_paths.c), segments (info_segments.c), system, topology (info_system.c). The
 * program has one thread, so forking is safe; children only answer and _exit. Neighbours:
 * mpi-rma-info.c prints the report.
 */
#include "info_items.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

void report_fill(struct report *report, bool try_host)
{
    struct conf conf;
    char msg[512];

    report->nitems = 0;
    report->bad_environment = false;
    report_host(report, try_host);
    report_settings(report);
    const char *dir = conf_load_only("MPIRMA_SEGMENT_DIR", &conf, msg, sizeof msg) == MRMA_SUCCESS
                          ? conf.segment_dir
                          : "";
    report_paths(report, dir);
    report_segments(report, dir);
    report_futex(report);
    report_descriptors(report);
    report_topology(report);
}
