/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * boot_mpi.h - the bootstrap exchange (boot.h) on the communicator of the user.
 *
 * One value per window creation. A process that cannot create the window, say because its arguments
 * are wrong, still takes part: boot_mpi_refuse makes its next exchange carry the error, and every
 * process gets that error from the same exchange. So no process waits for one that has given up.
 */
#ifndef MRMA_BOOT_BOOT_MPI_H
#define MRMA_BOOT_BOOT_MPI_H

#include <mpi.h>

#include <stdbool.h>

#include "boot/boot.h"
#include "boot/boot_report.h"

/* The host's versions of functions that the library replaces, since a request of an exchange is the
 * host's. */
struct boot_mpi_host {
    __typeof__(PMPI_Test) *test;
    __typeof__(PMPI_Wait) *wait;
};

struct boot_mpi {
    struct boot boot; /* what is handed down */
    MPI_Comm comm;
    struct boot_mpi_host host;
    int refused;               /* enum mrma_err of this process */
    int fault;                 /* enum fault of this process, or of the lowest rank that refused */
    int refused_by;            /* lowest rank that refused, -1: nobody */
    int verdict;               /* error with which the first exchange has ended */
    bool begun;                /* it has been done */
    bool host_failed;          /* a collective of the host has failed */
    bool host_yields;          /* its blocking collectives give the processor away */
    struct boot_report report; /* zero: no reports of long waits */
};

/* boot_mpi_init sets up *bm for one window creation on comm, which is not duplicated and must live
 * until the creation is over. Local. Nothing has to be freed. The caller may set report and
 * host_yields afterwards, the second to the same value in all processes of comm. Returns
 * MRMA_SUCCESS, or MRMA_ERR_COMM if the host does not tell the rank or the size. */
int boot_mpi_init(struct boot_mpi *bm, MPI_Comm comm, struct boot_mpi_host host);

/* boot_mpi_refuse makes this process refuse the creation with err (not MRMA_SUCCESS) and that enum
 * fault: its next exchange tells the others. Local, before the first exchange. */
void boot_mpi_refuse(struct boot_mpi *bm, int err, int fault);

/* boot_mpi_leave takes part in the first exchange, if that has not been done, for a process that
 * has refused and does not call win_create. Collective. Returns the error that was given to
 * boot_mpi_refuse. */
int boot_mpi_leave(struct boot_mpi *bm);

#endif
