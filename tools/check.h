/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check.h - mpi-rma-run --check: is the library in use under this launcher, how fast is it, and
 * what is slow here?
 *
 * check_measure.c runs puts between processes of the job, check_advice.c compares that and the
 * report of this machine (info_report.h) with what there could be, check.c prints both on one
 * screen.
 */
#ifndef MRMA_TOOLS_CHECK_H
#define MRMA_TOOLS_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "info_report.h"

/* Puts from rank 0 to one target, into one kind of memory. */
struct check_row {
    const char *memory; /* "MPI_Win_allocate" */
    int target;         /* -1: this job has no such target */
    bool far;           /* the target is on another node */
    char path[32];      /* what the library says; "" if the window could not be created */
    char why[800];      /* the error or warning of the creation, "" if there was none */
    bool right;         /* what was put was there */
    double small;       /* seconds for a put of 8 bytes and a flush, median */
    double large;       /* bytes a second, puts of 1 MiB */
    double busy;        /* seconds for 8 bytes while the target computes, median */
};

enum { CHECK_ROWS = 4 };

struct check {
    char version[32]; /* of the library in use; "" if it is not */
    char file[512];   /* and where it is loaded from */
    char host[128];   /* the MPI library, as it names itself */
    int size;         /* processes of the job */
    int node;         /* of them on the node of rank 0, as the library sees it */
    int machine;      /* of them on the machine of rank 0, by the kernel's boot number */
    int units;        /* processing units that the processes of the node may use together */
    double load; /* of this machine before the check, as the kernel averages it over a minute */
    double message, message_rate; /* send and receive: half a round trip, and bytes a second */
    int message_target;
    struct check_row row[CHECK_ROWS];
    size_t nrows;
};

/* check_measure measures, and fills *check in at rank 0; at the others its contents mean nothing.
 * Collective over all processes of the job, between MPI_Init and MPI_Finalize; takes about a
 * second. */
void check_measure(struct check *check);

/* check_advise prints what is slow and how to mend it, a paragraph each. Returns how many there
 * are. */
int check_advise(const struct check *check, const struct report *report);

/* check_run does the whole check, with MPI_Init and MPI_Finalize; rank 0 prints. Returns the exit
 * code: 0, or 1 if the library is not in use, a window could not be created or data were not right.
 * The process ends with 3 and a message if the host does not go on. */
int check_run(int argc, char **argv, struct report *report);

#endif
