/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * boot.h - what window creation needs of the host: one communicator's exchange.
 *
 * The only calls of a host collective in the library go through here, during
 * window creation. boot_mpi.c implements it on an MPI communicator; tests and the
 * simulation have their own.
 */
#ifndef MRMA_BOOT_BOOT_H
#define MRMA_BOOT_BOOT_H

#include <stdbool.h>
#include <stddef.h>

/* What every process gave, in rank order; nobody writes to it. */
struct boot_records {
    const void *all;
    bool shared; /* one copy for all processes: to keep it costs nothing */
    void (*release)(struct boot_records *recs); /* the implementation's: use boot_release */
    void *handle; /* not shared: the same as all, for who completes them */
};

struct boot {
    int rank, nproc;
    /* Gather len bytes of every process, in rank order. Collective. Returns
     * MRMA_SUCCESS, MRMA_ERR_OTHER, or in the first call the error with which some
     * process refuses to take part; then every process gets it and none goes on. */
    int (*allgather)(struct boot *boot, const void *mine, void *all, size_t len);
    /* The same into memory of the implementation's, which outlives the boot: until
     * release. May be NULL: boot_gather does it. */
    int (*gather)(struct boot *boot, const void *mine, size_t len, struct boot_records *out);
    /* The highest of all values. Collective, and never the first exchange. */
    int (*allmax)(struct boot *boot, int mine, int *max);
    void *handle; /* the implementation's */
};

/* Gather len bytes of every process. Collective, as allgather; MRMA_ERR_NO_MEM here
 * means that this process has not taken part. */
int boot_gather(struct boot *boot, const void *mine, size_t len, struct boot_records *out);
/* The same once more, of the same length: takes no more memory, so it cannot fail alone. */
int boot_gather_again(struct boot *boot, const void *mine, size_t len, struct boot_records *recs);
void boot_release(struct boot_records *recs);

#endif
