/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * info_report.h - what mpi-rma-info finds out, apart from how it is printed.
 *
 * A report is a flat list of items in sections. Each finding is tried on this
 * machine by the functions that the library itself uses, not derived from version
 * numbers. Nothing here prints; a failure is the item's note.
 */
#ifndef MRMA_TOOLS_INFO_REPORT_H
#define MRMA_TOOLS_INFO_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum item_kind { ITEM_TEXT, ITEM_BOOL, ITEM_COUNT, ITEM_BYTES, ITEM_UNLIMITED };

struct item {
    const char *section; /* "data_paths"; items of a section follow each other */
    const char *key;     /* "cma" */
    enum item_kind kind;
    char text[256];  /* ITEM_TEXT */
    uint64_t number; /* ITEM_BOOL, ITEM_COUNT, ITEM_BYTES */
    char note[1024]; /* why, or what it means; "" if there is nothing to say */
};

#define REPORT_ITEMS 256

struct report {
    struct item items[REPORT_ITEMS];
    size_t nitems;
    bool bad_environment; /* a variable has a value that is not understood */
};

/* report_fill finds everything out, for *report; takes some ten milliseconds and forks. try_host
 * says that this process does not initialise MPI itself, so that a child may (report_host). */
void report_fill(struct report *report, bool try_host);

#endif
