/*
 * boot.h - what window creation needs of the host: one communicator's exchange.
 *
 * The only calls of a host collective in the library go through here, during
 * window creation. boot_mpi.c implements it on an MPI communicator; tests and the
 * simulation have their own.
 */
#ifndef MRMA_BASE_BOOT_H
#define MRMA_BASE_BOOT_H

#include <stddef.h>

struct boot {
    int rank, nproc;
    /* Gather len bytes of every process, in rank order. Collective. Returns
     * MRMA_SUCCESS, MRMA_ERR_OTHER, or in the first call the error with which some
     * process refuses to take part; then every process gets it and none goes on. */
    int (*allgather)(struct boot *boot, const void *mine, void *all, size_t len);
    /* The highest of all values. Collective. */
    int (*allmax)(struct boot *boot, int mine, int *max);
    void *handle; /* the implementation's */
};

#endif
