/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * boot_mpi.c - implements boot.h by MPI_Allgather and MPI_Allreduce of the host. If the host spins
 * in them even when another process needs the processor, their nonblocking forms are used, and the
 * processor is given away between tests. All processes of a job have the same host, so all use the
 * same form: the two forms don't match each other.
 *
 * The first exchange is always an allgather of fixed blocks. The first byte of a block says whether
 * the process refuses, and the second byte why. So a process that refuses for whatever reason meets
 * the others in the same collective, and all of them leave it with the error of the lowest rank
 * that refused. After that the communicator is not used any more: further exchanges return the same
 * error at once. A process that does not refuse has memory to receive into; one that refuses takes
 * it from its stack where the processes are few. With more processes all agree beforehand, in a
 * reduction, that everybody has the memory; the same reduction tells whether all give one digest,
 * and if so the allgather is left out. Every exchange but the first is the plain collective.
 *
 * Errors inside the collectives go to the error handler of the communicator, as
 * the host does it; what returns here as an error is MRMA_ERR_OTHER.
 * No locks: a value belongs to the thread that creates the window.
 *
 * Neighbours: src/mpi makes these boots; src/rma/create uses them; boot_report.c watches.
 */
#include "boot/boot_mpi.h"

#include <assert.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/fault.h"

struct block {
    unsigned char byte[BOOT_FIRST_BYTES];
};

static_assert((int)FAULT_LAST <= 256 && (int)MRMA_ERR_LAST <= 256, "bytes of a block");
static_assert(sizeof(MPI_Comm) <= sizeof(uint64_t), "a handle is a number");

enum { SPINS = 100 }; /* tests before the processor is given away; they take a few microseconds */

/* The buffers are the host's until the request is complete. So finish does not leave a request
 * behind whose test fails: a wait ends it. */
static int finish(const struct boot_mpi *bm, int err, MPI_Request *request)
{
    int done = 0;

    if (err != MPI_SUCCESS)
        return MRMA_ERR_OTHER;
    for (int i = 0; err == MPI_SUCCESS && !done; i++) {
        if (i >= SPINS)
            sched_yield();
        err = bm->host.test(request, &done, MPI_STATUS_IGNORE);
    }
    if (err != MPI_SUCCESS && *request != MPI_REQUEST_NULL)
        (void)bm->host.wait(request, MPI_STATUS_IGNORE);
    return err == MPI_SUCCESS ? MRMA_SUCCESS : MRMA_ERR_OTHER;
}

static int host_gather(const struct boot_mpi *bm, const void *mine, void *all, size_t len)
{
    const int n = (int)len;
    MPI_Request request;

    if (bm->host_yields)
        return PMPI_Allgather(mine, n, MPI_BYTE, all, n, MPI_BYTE, bm->comm) == MPI_SUCCESS
                   ? MRMA_SUCCESS
                   : MRMA_ERR_OTHER;
    return finish(bm, PMPI_Iallgather(mine, n, MPI_BYTE, all, n, MPI_BYTE, bm->comm, &request),
                  &request);
}

static int host_max(const struct boot_mpi *bm, const void *mine, void *max, int n,
                    MPI_Datatype type)
{
    MPI_Request request;

    if (bm->host_yields)
        return PMPI_Allreduce(mine, max, n, type, MPI_MAX, bm->comm) == MPI_SUCCESS
                   ? MRMA_SUCCESS
                   : MRMA_ERR_OTHER;
    return finish(bm, PMPI_Iallreduce(mine, max, n, type, MPI_MAX, bm->comm, &request), &request);
}

static int gather_all(struct boot_mpi *bm, const void *mine, void *all, size_t len)
{
    boot_report_begin(&bm->report, &bm->boot);
    const int err = host_gather(bm, mine, all, len);
    bm->host_failed = bm->host_failed || err != MRMA_SUCCESS;
    boot_report_end(&bm->report);
    return err;
}

static int max_of_all(struct boot_mpi *bm, const void *mine, void *max, int n, MPI_Datatype type)
{
    boot_report_begin(&bm->report, &bm->boot);
    const int err = host_max(bm, mine, max, n, type);
    bm->host_failed = bm->host_failed || err != MRMA_SUCCESS;
    boot_report_end(&bm->report);
    return err;
}

/* refusal returns the error of the lowest rank that refused, or MRMA_SUCCESS. */
static int refusal(struct boot_mpi *bm, const struct block *blocks)
{
    for (int i = 0; i < bm->boot.nproc; i++) {
        if (blocks[i].byte[0] != MRMA_SUCCESS) {
            bm->refused_by = i;
            bm->fault = blocks[i].byte[1];
            return blocks[i].byte[0];
        }
    }
    return MRMA_SUCCESS;
}

static int exchange_blocks(struct boot_mpi *bm, const void *mine, struct block *blocks)
{
    const int err = gather_all(bm, mine, blocks, sizeof *blocks);
    return err ? err : refusal(bm, blocks);
}

static int exchange_few(struct boot_mpi *bm, const void *mine)
{
    struct block blocks[BOOT_FEW];

    return exchange_blocks(bm, mine, blocks);
}

/* agree returns an error if some process cannot take part. It also sets boot.alike. */
static int agree(struct boot_mpi *bm, bool missing)
{
    uint64_t mine[BOOT_DIGEST_WORDS], most[BOOT_DIGEST_WORDS];

    boot_digest_words(&bm->boot, missing, mine);
    const int err = max_of_all(bm, mine, most, BOOT_DIGEST_WORDS, MPI_UINT64_T);
    return err ? err : boot_alike(&bm->boot, most) ? MRMA_ERR_NO_MEM : MRMA_SUCCESS;
}

/* all is the memory to receive into; NULL: this process refuses. */
static int first_exchange(struct boot_mpi *bm, const void *mine, void *all)
{
    struct block refusing = {{(unsigned char)bm->refused, (unsigned char)bm->fault}};
    struct block *room = NULL;
    int err;

    bm->begun = true;
    if (bm->refused) {
        mine = &refusing;
        bm->boot.digest = 0;
    }
    if (bm->boot.nproc <= BOOT_FEW)
        return all ? exchange_blocks(bm, mine, all) : exchange_few(bm, mine);
    if (!all)
        all = room = malloc((size_t)bm->boot.nproc * sizeof *room);
    err = agree(bm, all == NULL);
    if (err == MRMA_SUCCESS && !bm->boot.alike)
        err = exchange_blocks(bm, mine, all);
    free(room);
    return err;
}

static int boot_mpi_allgather(struct boot *boot, const void *mine, void *all, size_t len)
{
    struct boot_mpi *bm = boot->handle;

    if (!bm->begun && len != BOOT_FIRST_BYTES)
        return MRMA_ERR_INTERN;
    if (!bm->begun)
        return bm->verdict = first_exchange(bm, mine, all);
    if (bm->verdict != MRMA_SUCCESS)
        return bm->verdict;
    return gather_all(bm, mine, all, len);
}

static int boot_mpi_allmax(struct boot *boot, int mine, int *max)
{
    struct boot_mpi *bm = boot->handle;

    assert(bm->begun);
    if (bm->verdict != MRMA_SUCCESS)
        return bm->verdict;
    return max_of_all(bm, &mine, max, 1, MPI_INT);
}

int boot_mpi_init(struct boot_mpi *bm, MPI_Comm comm, struct boot_mpi_host host)
{
    memset(bm, 0, sizeof *bm);
    bm->comm = comm;
    bm->host = host;
    bm->refused_by = -1;
    bm->boot.allgather = boot_mpi_allgather;
    bm->boot.allmax = boot_mpi_allmax;
    bm->boot.handle = bm;
    memcpy(&bm->boot.communicator, &comm, sizeof comm);
    if (PMPI_Comm_rank(comm, &bm->boot.rank) != MPI_SUCCESS)
        return MRMA_ERR_COMM;
    if (PMPI_Comm_size(comm, &bm->boot.nproc) != MPI_SUCCESS)
        return MRMA_ERR_COMM;
    return MRMA_SUCCESS;
}

void boot_mpi_refuse(struct boot_mpi *bm, int err, int fault)
{
    assert(err != MRMA_SUCCESS);
    bm->refused = err;
    bm->fault = fault;
}

int boot_mpi_leave(struct boot_mpi *bm)
{
    if (!bm->begun)
        bm->verdict = first_exchange(bm, NULL, NULL);
    return bm->refused;
}
