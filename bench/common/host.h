/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host.h - which MPI runs this program and who serves its one-sided calls.
 */
#ifndef BENCH_COMMON_HOST_H
#define BENCH_COMMON_HOST_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

struct host {
    char name[48]; /* "MPICH 4.0.2", "Open MPI v4.1.4" */
    char tag[16];  /* "mpich", "openmpi", "other": for CSV files */
    bool library;  /* libmpi-rma is in this process and not disabled */
    char rma[64];  /* "one-sided calls by libmpi-rma" */
};

void host_init(struct host *host);

/* Collective over comm. When any rank calls it with failed set, every rank
 * gets the text of the lowest such rank in reason and the call returns true;
 * so all ranks leave out what one of them could not do. */
bool host_any_failed(MPI_Comm comm, bool failed, char *reason, size_t len);

/* host_function puts the address of the process's function of that name, or NULL, into *function, a
 * pointer to a function: of libmpi-rma's extensions, with which no bench is linked. */
void host_function(const char *name, void *function);

/* "FUNCTION: text of the MPI error class and code". */
void host_error_text(const char *function, int rc, char *buf, size_t len);

#endif
