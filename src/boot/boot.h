/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * boot.h - what window creation needs of the host: exchanges over one communicator.
 *
 * The only calls of a host collective in the library go through here, during
 * window creation. boot_mpi.c implements it on an MPI communicator; tests and the
 * simulation have their own.
 */
#ifndef MRMA_BOOT_BOOT_H
#define MRMA_BOOT_BOOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first exchange of a boot carries this many bytes of each process, whatever is asked for, so
 * that even a process that does not know the record can take part. The first byte is an enum
 * mrma_err: if it is not MRMA_SUCCESS the process refuses to go on. */
enum { BOOT_FIRST_BYTES = 32 };

/* Up to so many processes take part in the first exchange without allocating memory, and do not
 * compare digests, since that would be one more exchange. */
enum { BOOT_FEW = 64 };

/* What every process has given, in rank order; nobody writes to it. */
struct boot_records {
    const void *all;
    bool shared; /* one copy for all processes, so it costs nothing to keep it */
    void (*release)(struct boot_records *recs); /* the implementation's: use boot_release */
    void *handle; /* not shared: the same memory as all, for code that completes the records */
};

struct boot {
    int rank, nproc;
    uint64_t communicator; /* a number that the communicator has as long as it lives; 0: not known.
                              Another communicator may have it later */
    /* The caller sets digest before the first exchange: to a hash of all that this process is about
     * to give, if the caller does not need the blocks of the others when all hashes are equal; else
     * to
     * 0. With more than BOOT_FEW processes the boot compares the digests first. If all are equal,
     * and not 0, it sets alike and leaves the first exchange out: its result is not written. */
    uint64_t digest;
    bool alike;
    /* allgather gathers len bytes of every process in all, in rank order. Collective. Returns
     * MRMA_SUCCESS, MRMA_ERR_OTHER, or, in the first call, the error with which some process
     * refuses to take part; then every process gets that error and none goes on. */
    int (*allgather)(struct boot *boot, const void *mine, void *all, size_t len);
    /* gather is allgather into memory of the implementation's, which lives until it is released,
     * also when the boot is gone. NULL: boot_gather does it by allgather. */
    int (*gather)(struct boot *boot, const void *mine, size_t len, struct boot_records *out);
    /* allmax sets *max to the highest of all values. Collective, and never the first exchange.
     * Results are those of allgather. */
    int (*allmax)(struct boot *boot, int mine, int *max);
    void *handle; /* the implementation's */
};

/* boot_gather gathers len bytes of every process into *out, in rank order; boot_release gives them
 * back. Collective over the processes of boot, and waits for them. Returns MRMA_SUCCESS or an error
 * of boot->allgather, and then *out is not set. MRMA_ERR_NO_MEM of this function itself means that
 * this process has not taken part. */
int boot_gather(struct boot *boot, const void *mine, size_t len, struct boot_records *out);

/* boot_gather_into is boot_gather into room, of nproc * len bytes, which stays the caller's; a boot
 * that has a better way does not use room. No process can fail alone. */
int boot_gather_into(struct boot *boot, const void *mine, size_t len, void *room,
                     struct boot_records *out);

/* So many unsigned words go through a reduction by their maximum where digests are compared. */
enum { BOOT_DIGEST_WORDS = 3 };

/* boot_digest_words is for boots that compare digests: it sets the words that this process gives to
 * the reduction. missing says that the process cannot take part in the following exchange unless
 * all are alike. */
void boot_digest_words(const struct boot *boot, bool missing, uint64_t words[BOOT_DIGEST_WORDS]);

/* boot_alike takes the result of the reduction: it sets boot->alike, and returns whether some
 * process is missing, which all learn. */
bool boot_alike(struct boot *boot, const uint64_t words[BOOT_DIGEST_WORDS]);

/* boot_release gives back the memory of records from boot_gather and clears *recs. Records that are
 * zero are allowed. Local. */
void boot_release(struct boot_records *recs);

#endif
