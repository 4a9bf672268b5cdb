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
    /* allgather gathers len bytes of every process in all, in rank order. Collective. Returns
     * MRMA_SUCCESS, MRMA_ERR_OTHER, or in the first call the error with which some process refuses
     * to take part; then every process gets it and none goes on. */
    int (*allgather)(struct boot *boot, const void *mine, void *all, size_t len);
    /* gather is allgather into memory of the implementation's, which lives until it is released,
     * also when the boot is gone. NULL: boot_gather does it by allgather. */
    int (*gather)(struct boot *boot, const void *mine, size_t len, struct boot_records *out);
    /* allmax sets *max to the highest of all values. Collective, and never the first exchange.
     * Returns as allgather does. */
    int (*allmax)(struct boot *boot, int mine, int *max);
    void *handle; /* the implementation's */
};

/* boot_gather gathers len bytes of every process into *out, in rank order; boot_release gives them
 * back. Collective over the processes of boot, and waits for them. Returns MRMA_SUCCESS or an error
 * of boot->allgather, and then *out is not set. MRMA_ERR_NO_MEM of this function itself means that
 * this process has not taken part. */
int boot_gather(struct boot *boot, const void *mine, size_t len, struct boot_records *out);

/* boot_gather_again gathers once more into *recs, which boot_gather has filled with records of the
 * same length. Collective. It takes no more memory than *recs has, so that no process can fail
 * alone. */
int boot_gather_again(struct boot *boot, const void *mine, size_t len, struct boot_records *recs);

/* boot_release gives back the memory of records from boot_gather and clears *recs. Records that are
 * zero are allowed. Local. */
void boot_release(struct boot_records *recs);

#endif
